"""The documentation site: what it is made from, its links, and the command that opens it."""

import importlib.util
import json
import re
import sys
import webbrowser
from importlib import resources
from pathlib import Path

import jsonschema
import pytest
from typer.testing import CliRunner

import porbnet
from porbnet.cli import app
from porbnet.cli.commands import docs
from porbnet.errors import StorageError

ROOT = Path(__file__).parents[2]
GALLERY = sorted((ROOT / "examples" / "gallery").glob("*.py"))


def module_at(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    found = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = found
    spec.loader.exec_module(found)
    return found


check_links = module_at(ROOT / "scripts" / "check_links.py")

GOOD = (
    '<html><body id="top"><a href="b.html#here">b</a><a href="#top">up</a><a href="https://a.b/">out</a></body></html>'
)


def site(folder, first=GOOD, css=""):
    folder.mkdir()
    (folder / "index.html").write_text(first, encoding="utf-8")
    (folder / "b.html").write_text('<html><h1 id="here">b</h1><img src="p.png"></html>', encoding="utf-8")
    (folder / "p.png").write_bytes(b"")
    (folder / "s.css").write_text(css, encoding="utf-8")
    return check_links.check(folder.resolve())


def test_a_sound_site_has_no_problems(tmp_path):
    found = site(tmp_path / "site")
    assert found == check_links.Found([], 2, 4, 1)


@pytest.mark.parametrize(
    ("first", "css", "words"),
    [
        ('<a href="c.html">', "", "leads nowhere"),
        ('<a href="b.html#there">', "", "anchor"),
        ('<a href="../secret.html">', "", "leads"),
        ('<img srcset="p.png 1x, q.png 2x">', "", "q.png leads nowhere"),
        ('<script src="https://cdn.example/m.js"></script>', "", "fetched from elsewhere"),
        ('<link rel="stylesheet" href="//fonts.example/f.css">', "", "fetched from elsewhere"),
        ("", "@font-face { src: url('https://fonts.example/f.woff2') }", "fetched from elsewhere"),
        ("", "@import 'gone.css';", "leads nowhere"),
    ],
)
def test_what_is_wrong_with_a_site_is_found(tmp_path, first, css, words):
    (tmp_path / "secret.html").write_text("")
    problems = site(tmp_path / "site", first, css).problems
    assert len(problems) == 1 and words in problems[0]


def test_the_gallery_has_what_it_should():
    assert len(GALLERY) >= 12
    for path in GALLERY:
        text = path.read_text(encoding="utf-8")
        assert re.match(r'"""\n[^\n]+\n=+\n\n', text), path.name
        assert "plt.show()" in text, path.name  # a picture
        compile(text, str(path), "exec")


def test_every_page_of_code_runs_somewhere():
    """Python in the pages is run by test_docs; what is no Markdown has no code but in docstrings and examples."""
    written = {path for path in (ROOT / "docs").rglob("*.rst") if "gallery" not in path.parts}
    assert written
    for path in written:
        assert "code-block" not in path.read_text(encoding="utf-8") and ".. code" not in path.read_text(
            encoding="utf-8"
        )


def test_versions_are_one():
    assert CliRunner().invoke(app, ["--version"]).output.split() == ["porbnet", porbnet.__version__]
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert not re.search(r"^version *=", text, re.MULTILINE)
    assert f"## [{porbnet.__version__}] - 20" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"version: {porbnet.__version__}\n" in (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f'set version = "{porbnet.__version__}"' in (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")


def test_docs_opens_the_site_that_is_there(tmp_path, monkeypatch):
    page = tmp_path / "a site" / "index.html"
    page.parent.mkdir()
    page.write_text("")
    opened = []
    monkeypatch.setattr(docs, "places", lambda: [tmp_path / "no" / "index.html", page])
    monkeypatch.setattr(webbrowser, "open", opened.append)
    result = CliRunner().invoke(app, ["docs", "--json"])
    document = json.loads(result.stdout)
    schema = json.loads(resources.files("porbnet.cli").joinpath("schemas", "docs.json").read_text())
    jsonschema.validate(document, schema)
    assert opened == [document["address"]] == [page.resolve().as_uri()]
    assert CliRunner().invoke(app, ["docs", "--no-browser"]).stdout.strip() == opened[0] and len(opened) == 1


def test_docs_says_how_to_get_the_site(tmp_path, monkeypatch):
    monkeypatch.setattr(docs, "places", lambda: [tmp_path / "index.html"])
    result = CliRunner().invoke(app, ["docs"])
    assert isinstance(result.exception, StorageError) and "make docs" in str(result.exception)


def test_places_are_in_the_checkout_and_below_python():
    assert docs.places()[0] == ROOT / "site" / "index.html"
    assert docs.places()[-1].is_relative_to(sys.prefix)
