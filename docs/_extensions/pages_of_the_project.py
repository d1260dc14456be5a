"""Pages that live outside docs/ (contributing, changes), and the kept run of the paper's results, as parts of the site.

Markdown pages are written for readers of the repository too, so that their links lead to files; here they are led to
the pages that these files become.
"""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

# in Markdown: from the link as it is written to the one in the site
_LINKS = {
    "../CONTRIBUTING.md": "contributing.md",
    "../CHANGELOG.md": "changes.md",
    "../README.md": "index.md",
    "../examples/gallery": "gallery/index.rst",
}
_MADE = ("validation", "validation/*", "benchmarks")  # by scripts: each has its place, and may not be made yet
_KEPT = ("paper/index.html", "paper/results.json")  # no pages of Sphinx: copied as they are


def lead(app: Any, name: str, source: list[str]) -> None:
    """Lead links of a page to where they go in the site."""
    text = source[0]
    for written, meant in _LINKS.items():
        text = text.replace(f"]({written}", f"]({meant}")
    for kept in _KEPT:
        text = re.sub(rf"\[([^\]]+)\]\({re.escape(kept)}\)", rf'<a href="{kept}">\1</a>', text)
    if name == "index":
        for made in _MADE:
            if not any(Path(app.srcdir).glob(f"{made}.md")):
                text = text.replace(f"\n{made}\n", "\n")
    source[0] = text


def lead_included(app: Any, relative: Path, parent: str, content: list[str]) -> None:
    """Lead links of a page from outside docs/, which is included into one of the site."""
    text = content[0]
    if parent in ("contributing", "changes"):
        text = text.replace("](docs/", "](").replace("](CHANGELOG.md", "](changes.md")
        text = text.replace("](CONTRIBUTING.md", "](contributing.md")
    content[0] = text


def is_left_out(app: Any, what: str, name: str, member: Any, skip: bool, options: Any) -> bool | None:
    """Methods that scikit-learn adds to every estimator, to route metadata, are explained by its own pages."""
    if name == "get_metadata_routing" or (name.startswith("set_") and name.endswith("_request")):
        return True
    return None


def copy_kept(app: Any, error: Exception | None) -> None:
    """The kept run of the paper's results."""
    if error is None and app.builder.format == "html":
        source, target = Path(app.srcdir) / "paper", Path(app.outdir) / "paper"
        target.mkdir(exist_ok=True)
        for kept in _KEPT:
            shutil.copyfile(source / Path(kept).name, target / Path(kept).name)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("source-read", lead)
    app.connect("include-read", lead_included)
    app.connect("autodoc-skip-member", is_left_out)
    app.connect("build-finished", copy_kept)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
