"""Dates in words: ISO 8601, and day or month first with a year of four digits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from porbnet.base.dates import Instants

_MONTH = re.compile(r"\d{4}-\d{2}")
_ISO = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{1,2}:.*)?")
_TURNED = re.compile(r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:[T ,]+(\d{1,2}:.+))?")


@dataclass(frozen=True, eq=False)
class Dates:
    """Dates of a column.

    instants : (n_points,), NaT where there was none
    zoned : whether they had a time zone; they are in UTC then
    remark : how they were read, where that could be doubted; else empty
    """

    instants: Instants
    zoned: bool = False
    remark: str = ""


class NotADate(ValueError):
    """A cell that is no date among others that are; `row` counts from 0."""

    def __init__(self, row: int, reason: str) -> None:
        super().__init__(reason)
        self.row = row


def looks_like_date(cell: str) -> bool:
    """Whether a cell has the form of a date."""
    return bool(_MONTH.fullmatch(cell) or _ISO.fullmatch(cell) or _TURNED.fullmatch(cell))


def read_dates(cells: Sequence[str | None]) -> Dates:
    """Dates from text; None is missing. Raises `NotADate` at the first cell that is not like the others."""
    given = [c for c in cells if c is not None]
    turned = [m for m in map(_TURNED.fullmatch, given) if m]
    firsts, seconds = [int(m[1]) for m in turned], [int(m[3]) for m in turned]
    month_first = bool(turned) and max(seconds) > 12 and max(firsts) <= 12
    result = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[us]")
    zones = set()
    for i, cell in enumerate(cells):
        if cell is None:
            continue
        try:
            moment = datetime.fromisoformat(_iso(cell, month_first))
        except ValueError:
            raise NotADate(i, "is not a date like 2024-03-31 or 31.03.2024") from None
        zones.add(moment.tzinfo is not None)
        if len(zones) > 1:
            raise NotADate(i, "and others differ in having a time zone: all or none must have one")
        result[i] = np.datetime64(moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment, "us")
    remark = ""
    if turned and (month_first or not any(f > 12 for f in firsts)) and any(m[2] != "." for m in turned):
        day, month = (seconds[0], firsts[0]) if month_first else (firsts[0], seconds[0])
        order = "month" if month_first else "day"
        remark = f"dates like {turned[0][0]!r} are read {order} first, as {turned[0][4]}-{month:02d}-{day:02d}"
    return Dates(result, zones == {True}, remark)


def _iso(cell: str, month_first: bool) -> str:
    """A date in a form that the standard library reads."""
    match = _TURNED.fullmatch(cell)
    if match:
        first, _, second, year, time = match.groups()
        month, day = (first, second) if month_first else (second, first)
        return f"{year}-{int(month):02d}-{int(day):02d}" + (f"T{_time(time)}" if time else "")
    if _MONTH.fullmatch(cell):
        return cell + "-01"
    if not _ISO.fullmatch(cell):
        raise ValueError(cell)
    return re.sub(r" ?UTC$", "+00:00", cell)


def _time(text: str) -> str:
    """A time of day with two digits for the hour."""
    return text if not re.match(r"\d:", text) else "0" + text
