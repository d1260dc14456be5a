"""The frame of a page that holds all it shows: head, common style, footer."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

_CSS = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, sans-serif; color: #1a1a1a; background: #fff; margin: 2rem auto; padding: 0 1rem; }
h1 { margin-bottom: .2rem; } figcaption, caption { color: #444; }
table { border-collapse: collapse; width: 100%; } caption { text-align: left; padding-bottom: .3rem; }
th, td { border-bottom: 1px solid #ddd; } thead th { border-bottom: 2px solid #666; }
.scroll { overflow-x: auto; } figure { margin: 1rem 0; } figure svg, img { max-width: 100%; height: auto; }
"""


def page(title: str, css: str, body: Iterable[str], footer: str) -> str:
    """A whole page: `css` after the common style, `body` below the title and `footer` as HTML."""
    parts = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_CSS}{css}</style></head><body><main>",
        f"<h1>{escape(title)}</h1>",
        *body,
        f"<footer><p>{footer}</p></footer>",
        "</main></body></html>",
    ]
    return "\n".join(parts) + "\n"
