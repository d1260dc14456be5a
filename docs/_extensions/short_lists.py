"""Lists of names in docstrings, a line each (`name : words`), as lists of the reference."""

from __future__ import annotations

import re
from typing import Any

_NAMED = re.compile(r"^(\w+(?:, \w+)*) : (.+)$")


def listed(lines: list[str]) -> list[str]:
    """Lines of a docstring, sections already gone, with lists of names in the form that Sphinx knows.

    >>> listed(["A box.", "", "low, high : its ends,", "    in order", "width"])
    ['A box.', '', '- ``low``, ``high``: its ends,', '  in order', '', 'width']
    """
    found: list[str] = []
    inside = False
    for line in lines:
        named = _NAMED.match(line)
        if named is not None:
            if not inside and found and found[-1].strip():
                found.append("")
            names = ", ".join(f"``{name}``" for name in named[1].split(", "))
            found.append(f"- {names}: {named[2]}")
            inside = True
        elif inside and line.startswith(" ") and line.strip():
            found.append(f"  {line.strip()}")
        else:
            if inside and line.strip():
                found.append("")
            inside = False
            found.append(line)
    return found


def process(app: Any, what: str, name: str, member: Any, options: Any, lines: list[str]) -> None:
    """Called by Sphinx for each docstring, after numpydoc sections have been read."""
    lines[:] = listed(lines)


def setup(app: Any) -> dict[str, Any]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process, priority=900)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
