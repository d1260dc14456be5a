"""Dates as inputs: numbers in a unit since the first one, whatever container and resolution they came in.

A `Calendar` is what a fit remembers of a column of dates. Origin and unit depend on the instants alone:

- origin: the earliest of them;
- unit: days, or hours, minutes or seconds where less than two of the larger unit lie between first and last.

Instants with a time zone are taken in UTC. With and without a zone do not mix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError

Instants = NDArray[np.datetime64]

DAY = 86_400_000_000_000  # nanoseconds
UNITS = {"days": DAY, "hours": DAY // 24, "minutes": DAY // 1440, "seconds": DAY // 86_400}
_LEAST = 2  # units between first and last
_FARTHEST = 3_660_000  # days from 1970: ten thousand years


@dataclass(frozen=True)
class Calendar:
    """How dates of a column become numbers and back.

    day, nanosecond : the origin, as days since 1970-01-01 and nanoseconds into that day
    unit : a key of `UNITS`
    zoned : whether the dates came with a time zone; they are then in UTC
    """

    day: int
    nanosecond: int
    unit: str
    zoned: bool = False

    @classmethod
    def of(cls, instants: Instants, zoned: bool = False) -> Calendar:
        """The calendar of a column, shape (n_points,), without missing dates."""
        days, within = _parts(instants)
        first = np.lexsort((within, days))[0]
        day, nanosecond = int(days[first]), int(within[first])
        last = np.lexsort((within, days))[-1]
        span = (int(days[last]) - day) * DAY + int(within[last]) - nanosecond
        unit = next((u for u, size in UNITS.items() if span >= _LEAST * size), "seconds") if span else "days"
        return cls(day, nanosecond, unit, zoned)

    def numbers(self, instants: Instants) -> FloatArray:
        """Dates as numbers; the same for the same instant in any resolution."""
        days, within = _parts(instants)
        size = UNITS[self.unit]
        whole = (days - self.day) * float(DAY // size)  # whole numbers: no rounding
        return np.asarray(whole + (within - self.nanosecond) / size, dtype=np.float64)

    def instants(self, numbers: Any) -> Instants:
        """Numbers as dates, to the microsecond."""
        size = UNITS[self.unit]
        values = np.asarray(numbers, dtype=np.float64)
        per_day = DAY // size
        days = np.floor(values / per_day)
        rest = np.round((values - days * per_day) * (size / 1000.0) + self.nanosecond / 1000.0).astype(np.int64)
        whole = (days.astype(np.int64) + self.day).astype("datetime64[D]").astype("datetime64[us]")
        return np.asarray(whole + rest.astype("timedelta64[us]"))

    @property
    def origin(self) -> str:
        """The first date in ISO format, as short as it can be."""
        return text_of(self.instants([0.0]))[0] + ("Z" if self.zoned and self.nanosecond else "")

    @property
    def words(self) -> str:
        """What the numbers are."""
        return f"{self.unit} since {self.origin}" + (" UTC" if self.zoned and not self.nanosecond else "")


Calendars = tuple[Calendar | None, ...]


def _parts(instants: Instants) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Days since 1970 and nanoseconds into the day, which hold every date in every resolution."""
    days = instants.astype("datetime64[D]")
    within = (instants - days).astype("timedelta64[ns]").astype(np.int64)
    return days.astype(np.int64), within


def text_of(instants: Instants) -> list[str]:
    """Dates in ISO format: without a time of day where all are at midnight."""
    days = instants.astype("datetime64[D]")
    if np.all(days == instants):
        return [str(d) for d in days]
    seconds = instants.astype("datetime64[s]")
    return [str(i) for i in (seconds if np.all(seconds == instants) else instants)]


def require_within(name: str, instants: Instants) -> None:
    """Refuse missing dates and those ten thousand years away, which are slips of a resolution."""
    if np.isnat(instants).any():
        rows = np.flatnonzero(np.isnat(instants))
        raise StatementError(
            f"{name} has {len(rows)} missing date(s) (row {int(rows[0]) + 1}), as NaN among numbers: "
            "fill them in, or leave these rows out"
        )
    if len(instants) and np.abs(instants.astype("datetime64[D]").astype(np.int64)).max() > _FARTHEST:
        raise StatementError(f"{name} has a date more than ten thousand years from 1970: check its resolution")


def encode(calendars: Calendars) -> list[dict[str, Any] | None]:
    """For the header of a file."""
    return [None if c is None else dict(vars(c)) for c in calendars]


def decode(value: Any, n_dims: int) -> Calendars:
    """From the header of a file, checked."""
    wanted = {"day": int, "nanosecond": int, "unit": str, "zoned": bool}
    if not isinstance(value, list) or len(value) != n_dims:
        raise StatementError(f"dates of {n_dims} inputs are expected")
    result: list[Calendar | None] = []
    for entry in value:
        if entry is None:
            result.append(None)
            continue
        if not isinstance(entry, dict) or set(entry) != set(wanted):
            raise StatementError("dates lack origin, unit or zone")
        sound = all(type(entry[name]) is kind for name, kind in wanted.items())
        if (
            not sound
            or entry["unit"] not in UNITS
            or abs(entry["day"]) > _FARTHEST
            or not 0 <= entry["nanosecond"] < DAY
        ):
            raise StatementError("dates have an origin, unit or zone that is none")
        result.append(Calendar(**entry))
    return tuple(result)
