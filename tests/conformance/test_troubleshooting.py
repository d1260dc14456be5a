"""The page on troubleshooting has every warning and verdict of the package, in the words of the package."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
TREES = {path: ast.parse(path.read_text("utf-8")) for path in sorted((ROOT / "src" / "porbnet").rglob("*.py"))}
# what stands in code on the page, cut where it leaves something open
QUOTED = [part.strip(" ;:,") for code in re.findall(r"`([^`\n]+)`", PAGE) for part in code.split("...")]


def constants(node):
    """All words of an expression that are fixed, one after the other."""
    return " ".join(n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str))


def warned():
    """(where, fixed words) of each warning whose words stand where it is given."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "warn"):
                continue
            words = constants(node.args[0])
            if len(words) > 10:
                yield f"{path.name}:{node.lineno}", words


@pytest.mark.parametrize(("where", "words"), list(warned()), ids=lambda value: value.split(" ")[0])
def test_the_page_has_every_warning(where, words):
    assert any(len(part) > 8 and part in words for part in QUOTED), where


def test_there_are_warnings_to_look_for():
    assert len(list(warned())) > 12


def test_headings_quote_the_package():
    everything = " ".join(constants(tree) for tree in TREES.values())
    everything = re.sub(r"\s+", " ", everything)
    headings = [line for line in PAGE.splitlines() if line.startswith("### ")]
    quoted = [code for line in headings for code in re.findall(r"`([^`]+)`", line)]
    assert len(quoted) > 25
    for code in quoted:
        parts = [part.strip(" ;:,") for part in re.split(r"\.\.\.|\d+", code)]
        longest = max(parts, key=len)
        assert longest in everything, code
