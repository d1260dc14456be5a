"""Cells of a table's column as numbers or dates: decimal commas, thousands separators, True and False, dates."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.date_text import Dates, NotADate, looks_like_date, read_dates
from porbnet.errors import StatementError

MISSING = frozenset({"", "na", "n/a", "nan", "nat", "null", "none", ".", "?"})
_TRUTH = {"true": 1.0, "false": 0.0}
_SPACED = re.compile(r"[+-]?\d{1,3}([ '’\u00a0\u2009\u202f])\d{3}(\1\d{3})*([.,]\d+)?")
_SEPARATED = re.compile(r"[+-]?[\d.,]+([eE][+-]?\d+)?")
_GROUPS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")  # which may be thousands
_ENCODE = "encode it as numbers, one column of 0 and 1 per category, or choose others with --x"


@dataclass(frozen=True, eq=False)
class Column:
    """A column as numbers (NaN is missing) or dates, and how it was read where that could be doubted."""

    values: FloatArray | Dates
    remark: str = ""


def is_value(cell: str) -> bool:
    """Whether a cell looks like data, not like the name of a column."""
    return (
        cell.lower() in MISSING
        or cell.lower() in _TRUTH
        or _float(cell) is not None
        or looks_like_date(cell)
        or bool(re.fullmatch(r"[+-]?\d[\d.,]*", cell) or _SPACED.fullmatch(cell))
    )


def to_column(name: str, cells: Sequence[str | None], lines: Sequence[int], comma: str) -> Column:
    """A column from its cells; None is missing.

    lines : of the file, for complaints
    comma : what a comma means where the cells do not tell, "decimal" or "thousands"
    """
    given = [c for c in cells if c is not None]
    remark = ""
    if given and looks_like_date(given[0]) and _float(given[0]) is None:
        try:
            dates = read_dates(cells)
        except NotADate as error:
            odd = str(cells[error.row])[:40]
            raise StatementError(f"line {lines[error.row]} of column {name!r} is {odd!r}: it {error}") from None
        return Column(dates, f"{dates.remark} in column {name!r}" if dates.remark else "")
    if given and all(c.lower() in _TRUTH for c in given):
        return Column(np.array([math.nan if c is None else _TRUTH[c.lower()] for c in cells]))
    if any("," in c or _SPACED.fullmatch(c) for c in given):
        cells, remark = _without_separators(name, cells, lines, comma)
    result = np.empty(len(cells))
    for i, cell in enumerate(cells):
        number = math.nan if cell is None else _float(cell)
        if number is None:
            raise _no_number(name, cells, i, lines[i])
        if math.isinf(number):
            raise StatementError(f"line {lines[i]} of column {name!r} is infinite")
        result[i] = number
    return Column(result, remark)


def _no_number(name: str, cells: Sequence[str | None], i: int, line: int) -> StatementError:
    words = all(c is None or _float(c) is None for c in cells)
    more = f"; the column holds text: {_ENCODE}" if words and len(cells) > 1 else ""
    return StatementError(f"line {line} of column {name!r} is {str(cells[i])[:40]!r}: it must be a number{more}")


def _without_separators(
    name: str, cells: Sequence[str | None], lines: Sequence[int], comma: str
) -> tuple[list[str | None], str]:
    """Cells with a decimal point and no thousands separators; what a comma is, the whole column decides."""
    plain = [c if c is None or not _SPACED.fullmatch(c) else re.sub(r"[^\d.,+-]", "", c) for c in cells]
    found = [c for c in plain if c is not None and "," in c and _SEPARATED.fullmatch(c)]
    if not found:
        return plain, ""
    thousands = [c for c in found if _has_thousands(c)]
    decimal = [c for c in found if not _has_thousands(c) and ("." in c or not _GROUPS.fullmatch(c))]
    if decimal and thousands:
        i = plain.index(thousands[0])
        raise StatementError(
            f"line {lines[i]} of column {name!r} is {thousands[0]!r}, where {decimal[0]!r} has a decimal comma: "
            "commas must mean one thing"
        )
    is_decimal = bool(decimal) or (not thousands and comma == "decimal")
    remark = ""
    if not decimal and not thousands:
        kind = "decimal commas" if is_decimal else "thousands separators"
        remark = f"commas in column {name!r}, as in {found[0]!r}, are read as {kind}"
    return [None if c is None else _pointed(c, is_decimal) for c in plain], remark


def _has_thousands(cell: str) -> bool:
    return cell.count(",") > 1 or cell.rfind(".") > cell.find(",")


def _pointed(cell: str, is_decimal: bool) -> str:
    if not _SEPARATED.fullmatch(cell):
        return cell
    return cell.replace(".", "").replace(",", ".") if is_decimal and "," in cell else cell.replace(",", "")


def _float(cell: Any) -> float | None:
    try:
        return float(cell)
    except (TypeError, ValueError):
        return None
