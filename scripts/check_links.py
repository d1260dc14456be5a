"""Whether links of a built site lead somewhere, and whether it needs a network: `python scripts/check_links.py site`.

Looked at: every href and src of every page, with its anchor; every url() of every style sheet. Links to other sites are
counted and left alone; a style, script, picture or font from elsewhere is an error: the site works without a network.
"""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

_URL = re.compile(r"""url\(\s*['"]?([^'")]+)|@import\s+['"]([^'"]+)""")
_LOADED = {"script": "src", "img": "src", "iframe": "src", "source": "src", "audio": "src", "video": "src"}


class Found(NamedTuple):
    """What a check has seen."""

    problems: list[str]
    n_pages: int
    n_links: int
    n_elsewhere: int


class Page(HTMLParser):
    """Names and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.names: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # and whether the browser loads it by itself
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Called for each tag."""
        given = {name: value or "" for name, value in attrs}
        self.names |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append((given["href"], False))
        elif tag == "link" and "href" in given:
            self.links.append((given["href"], "canonical" not in given.get("rel", "")))
        elif tag in _LOADED and _LOADED[tag] in given:
            self.links.append((given[_LOADED[tag]], True))
        if "srcset" in given:
            self.links += [(part.split()[0], True) for part in given["srcset"].split(",") if part.split()]


def check(site: Path) -> Found:
    """Check all pages and style sheets of a site."""
    pages = {path: Page(path.read_text("utf-8")) for path in sorted(site.rglob("*.html"))}
    problems, n_links, n_elsewhere = [], 0, 0
    places = [(path, link, loaded) for path, page in pages.items() for link, loaded in page.links]
    for sheet in sorted(site.rglob("*.css")):
        places += [(sheet, a or b, True) for a, b in _URL.findall(sheet.read_text("utf-8"))]
    for path, link, loaded in places:
        parts = urlsplit(link)
        if parts.scheme in ("data", "mailto", "javascript"):
            continue
        n_links += 1
        if parts.scheme or parts.netloc:
            n_elsewhere += 1
            if loaded:
                problems.append(f"{path.relative_to(site)}: {link} is fetched from elsewhere")
            continue
        problem = _problem(site, path, unquote(parts.path), unquote(parts.fragment), pages)
        if problem:
            problems.append(f"{path.relative_to(site)}: {link} {problem}")
    return Found(problems, len(pages), n_links, n_elsewhere)


def _problem(site: Path, path: Path, target: str, anchor: str, pages: dict[Path, Page]) -> str:
    """What is wrong with a link within the site; empty if nothing is."""
    meant = path if not target else (path.parent / target).resolve()
    if meant.is_dir():
        meant = meant / "index.html"
    if not meant.is_file():
        return "leads nowhere"
    if not meant.is_relative_to(site):
        return "leads out of the site"
    if anchor and meant.suffix == ".html" and anchor not in pages[meant].names:
        return "names an anchor that is not there"
    return ""


def main() -> int:
    """Check the site that the command names."""
    if len(sys.argv) != 2 or not (Path(sys.argv[1]) / "index.html").is_file():
        print("usage: python scripts/check_links.py FOLDER, a folder with a built site", file=sys.stderr)
        return 2
    found = check(Path(sys.argv[1]).resolve())
    for problem in found.problems:
        print(problem, file=sys.stderr)
    print(
        f"{found.n_pages} pages, {found.n_links:,} links, {found.n_elsewhere} of them to other sites: "
        f"{len(found.problems)} problems"
    )
    return 1 if found.problems or not found.n_pages else 0


if __name__ == "__main__":
    sys.exit(main())
