"""Formulas as MathML, made when the site is built: browsers show it by themselves, with no script."""

from __future__ import annotations

import html
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert


def mathml(formula: str, display: str) -> str:
    """A formula in LaTeX as MathML; what cannot be read ends the build, with the formula."""
    try:
        return convert(formula, display=display)
    except Exception as error:
        raise ValueError(f"the formula {formula!r} cannot be made into MathML: {error}") from error


def inline(self: Any, node: nodes.Element) -> None:
    """A formula in a line of text."""
    self.body.append(f'<span class="math">{mathml(node.astext(), "inline")}</span>')
    raise nodes.SkipNode


def block(self: Any, node: nodes.Element) -> None:
    """A formula by itself."""
    label = html.escape(node["ids"][0]) if node.get("ids") else ""
    opening = f'<div class="math" id="{label}">' if label else '<div class="math">'
    self.body.append(f"{opening}{mathml(node.astext(), 'block')}</div>\n")
    raise nodes.SkipNode


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (inline, None), (block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
