"""Settings of the documentation site, which `make docs` builds into site/: warnings are errors, no network is used."""

from __future__ import annotations

import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_extensions"))

project = "porbnet"
author = "The porbnet developers"
copyright = author
# read off the sources, so that a site is never labelled with the version of another install
_found = re.search(r'^__version__ = "([^"]+)"', (HERE.parent / "src/porbnet/__init__.py").read_text("utf-8"), re.M)
assert _found is not None
version = release = _found[1]

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "math_in_html",
    "pages_of_the_project",
    "short_lists",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_extensions", "gallery/**/*.md5"]
suppress_warnings = [
    "config.cache",  # settings of the gallery are functions
    "ref.python",  # words of a docstring's type that are names of attributes too
]
nitpicky = False
language = "en"

# --- Markdown
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = False
myst_words_per_minute = 200

# --- the reference, from docstrings
autodoc_member_order = "groupwise"
autodoc_typehints = "none"  # types stand in the docstrings, in words
autodoc_class_signature = "mixed"
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_use_ivar = True
default_role = "literal"  # docstrings write `code` as Markdown does

# --- the gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r"[\\/]\d\d_",
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "only_warn_on_example_error": False,
    "download_all_examples": False,
    "show_signature": False,
    "show_memory": False,
    "min_reported_time": 1e9,
    "write_computation_times": False,
    "remove_config_comments": True,
    "image_srcset": ["2x"],
    "thumbnail_size": (400, 280),
    "plot_gallery": "True",
    "reset_modules": ("matplotlib", "looks_of_the_gallery.reset"),
    "notebook_extensions": set(),
    "nested_sections": False,
}

# --- HTML
html_theme = "furo"
html_title = f"porbnet {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_baseurl = ""
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0072b2", "color-brand-content": "#0063a0"},
    "dark_css_variables": {"color-brand-primary": "#56b4e9", "color-brand-content": "#7cc4ee"},
    "navigation_with_keys": False,
}
pygments_style = "friendly"
pygments_dark_style = "native"
