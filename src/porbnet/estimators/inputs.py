"""Inputs as users have them: dates become numbers; masks, categories and words are refused by name.

What is left to scikit-learn: everything about plain numbers.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray, show
from porbnet.base.date_text import Dates, NotADate, looks_like_date, read_dates
from porbnet.base.dates import UNITS, Calendar, Calendars, require_within
from porbnet.errors import StatementError

_ENCODE = "encode it as numbers (pandas.get_dummies or sklearn's OneHotEncoder give one column of 0 and 1 per category)"

_SAME = 1e-14  # spread over size below which values are the same
_FEW = 5  # observations


@dataclass(frozen=True, eq=False)
class Columns:
    """Named columns of equal length, as arrays of numbers or as `Dates`: how the command line hands over a table."""

    names: list[str]
    values: list[FloatArray | Dates]


def refuse_masked(name: str, value: Any) -> None:
    """Refuse a masked array with something masked, as a mask would be dropped on the way, and what will be no array."""
    if hasattr(value, "__array__") and not isinstance(value, np.ndarray):
        try:
            np.asarray(value)
        except (ValueError, TypeError):  # of which scikit-learn has words
            pass
        except Exception as error:
            raise _checks.fail(name, value, "it must be an array of numbers") from error
    if isinstance(value, np.ma.MaskedArray) and np.ma.getmaskarray(value).any():
        n = int(np.ma.getmaskarray(value).sum())
        raise StatementError(
            f"{name} is a masked array with {n} masked value{'' if n == 1 else 's'}: masks are not honoured; leave "
            f"these rows out, as in {name}[~mask.any(axis=1)] or .compressed()"
        )


def as_numbers(X: Any, known: Calendars | None = None, *, fitted: bool = False) -> tuple[Any, Calendars | None]:
    """X with its dates as numbers, in the same kind of container; and the calendars of its columns.

    Parameters
    ----------
    X : array, frame (pandas, polars, pyarrow), nested sequence or Columns
    known : calendars of a fit, None if it had no dates
    fitted : whether there was a fit, whose calendars are to be used

    Returns
    -------
    X, calendars
        Calendars are None if no column holds dates.
    """
    refuse_masked("X", X)
    if isinstance(X, np.ndarray) and X.dtype.kind in "biufc":
        return X, known
    columns = _columns(X)
    if columns is None:
        return X, known
    names, values = columns
    found = [dates_of(name, column) for name, column in zip(names, values, strict=True)]
    if isinstance(X, Columns):
        numeric = [c if isinstance(c, np.ndarray) else np.empty(0) for c in X.values]
        calendars = _calendars(names, found, known, fitted)
        return _matrix(numeric, found, calendars), calendars
    if all(dates is None for dates in found):
        return X, known
    calendars = _calendars(names, found, known, fitted)
    if calendars is not None:
        for i, dates in enumerate(found):
            calendar = calendars[i] if i < len(calendars) else None
            if dates is not None and calendar is not None:
                X = _replaced(X, i, calendar.numbers(dates.instants))
    return X, calendars


def refuse_words(y: Any) -> None:
    """Refuse an output of dates, spans, categories or words."""
    refuse_masked("y", y)
    if isinstance(y, list | tuple) and any(isinstance(v, str | datetime.date) for v in y):
        y = np.asarray(y)
    kind = str(getattr(y, "dtype", ""))
    if kind.startswith(("category", "Categorical", "Enum")):
        raise StatementError("y is categorical: it must be numbers; this is regression, not classification")
    if kind.startswith(("datetime", "timedelta", "Date", "Duration", "period", "<M8", "<m8")):
        raise StatementError(f"y holds dates or time spans ({kind}): it must be numbers; divide spans by one of a unit")
    values = np.asarray(y, dtype=object).ravel() if kind in ("str", "string", "String", "object") else ()
    if kind.startswith("<U"):
        values = np.asarray(y).ravel()
    if any(isinstance(v, datetime.date) for v in values):
        raise StatementError("y holds dates: it must be numbers")
    words = next((v for v in values if isinstance(v, str) and not _is_number(v)), None)
    if words is not None:
        raise StatementError(f"y holds text ({show(str(words), 40)}): it must be numbers")


def thin_data(X: FloatArray, y: FloatArray) -> list[str]:
    """Sentences on data that cannot tell much: constant outputs, constant inputs, very few rows."""
    said = []
    if np.ptp(y) <= _SAME * abs(float(y[0])):
        said.append(
            f"y is {float(y[0]):.6g} in every row: the fit is that constant, and how certain it is the prior's say"
        )
    same = np.flatnonzero(np.ptp(X, axis=0) <= _SAME * np.abs(X[0]))
    if len(same) == X.shape[1]:
        said.append("X is the same in every row: the fit tells mean and noise there, and elsewhere only the prior")
    elif len(same):
        which = ", ".join(str(i + 1) for i in same[:8])
        said.append(
            f"X has the same value in every row of column(s) {which}: nothing is learned about them, leave them out"
        )
    if len(y) < _FEW:
        said.append(f"{len(y)} observations are few: most of what the fit says is the prior")
    return said


def in_numbers(lengthscale: Any, region: Any, calendars: Calendars | None) -> dict[str, Any]:
    """Lengthscale and region in numbers, where they are stated as a time span and as dates."""
    span = isinstance(lengthscale, datetime.timedelta | np.timedelta64)
    calendar = None if calendars is None or len(calendars) != 1 else calendars[0]
    if span and calendar is None:
        raise _checks.fail("lengthscale", lengthscale, "a time span needs one input, of dates")
    result = {"lengthscale": lengthscale, "region": region}
    if span and calendar is not None:
        result["lengthscale"] = float(np.timedelta64(lengthscale) / np.timedelta64(UNITS[calendar.unit], "ns"))
    if calendars is not None and not isinstance(region, str):
        pairs = [region] if len(calendars) == 1 and np.ndim(region) == 1 else list(region)
        if len(pairs) == len(calendars):
            result["region"] = [_ends(pair, c) for pair, c in zip(pairs, calendars, strict=True)]
    return result


def _ends(pair: Any, calendar: Calendar | None) -> Any:
    """Ends of a region, where they are dates as numbers."""
    if calendar is None or not isinstance(pair, list | tuple | np.ndarray):
        return pair
    dates = dates_of("region", np.asarray(list(pair), dtype=object))
    if dates is None:
        return pair
    if dates.zoned != calendar.zoned:
        raise _checks.fail("region", pair, "its dates must have a time zone if those of X have, and none else")
    return calendar.numbers(dates.instants).tolist()


def numbers_of_columns(columns: Columns) -> FloatArray:
    """A table as a matrix of numbers, dates by the rule of a fit."""
    return np.asarray(as_numbers(columns)[0], dtype=np.float64)


def _matrix(numeric: Sequence[Any], found: Sequence[Dates | None], calendars: Calendars | None) -> FloatArray:
    parts = []
    for i, dates in enumerate(found):
        calendar = None if calendars is None or i >= len(calendars) else calendars[i]
        parts.append(numeric[i] if dates is None or calendar is None else calendar.numbers(dates.instants))
    return np.ascontiguousarray(np.stack(parts, axis=1))


def _calendars(
    names: list[str], found: Sequence[Dates | None], known: Calendars | None, fitted: bool
) -> Calendars | None:
    for name, dates in zip(names, found, strict=True):
        if dates is not None:
            require_within(f"column {name!r} of X", dates.instants)
    if not fitted:
        if all(d is None for d in found):
            return None
        return tuple(None if d is None or not len(d.instants) else Calendar.of(d.instants, d.zoned) for d in found)
    for i, (name, dates) in enumerate(zip(names, found, strict=True)):
        calendar = None if known is None or i >= len(known) else known[i]
        if dates is None:
            continue
        if calendar is None:
            raise StatementError(f"column {name!r} of X holds dates, but it held numbers in the fit")
        if calendar.zoned != dates.zoned:
            has, had = ("a", "none") if dates.zoned else ("no", "one")
            raise StatementError(
                f"column {name!r} of X has {has} time zone, but there was {had} in the fit: "
                + ("convert to the zone of the fit and drop it" if dates.zoned else "say in which one it is")
                + " (tz_localize, tz_convert)"
            )
    return known


def _columns(X: Any) -> tuple[list[str], list[Any]] | None:
    """Names and columns of what may hold dates or words; None for anything else, which scikit-learn judges."""
    if isinstance(X, Columns):
        return X.names, list(X.values)
    if hasattr(X, "iloc") and hasattr(X, "columns"):  # pandas
        return [str(n) for n in X.columns], [X.iloc[:, i] for i in range(X.shape[1])]
    if hasattr(X, "get_columns"):  # polars
        return [str(n) for n in X.columns], list(X.get_columns())
    if hasattr(X, "column_names") and hasattr(X, "itercolumns"):  # pyarrow
        return [str(n) for n in X.column_names], list(X.itercolumns())
    if hasattr(X, "toarray") or not (isinstance(X, np.ndarray | list | tuple) or hasattr(X, "__array__")):
        return None
    try:
        array = np.asarray(X)
    except (ValueError, TypeError):
        return None
    if array.dtype.kind not in "MmUSO" or array.ndim != 2:
        if array.ndim == 1 and array.dtype.kind in "Mm":
            raise StatementError(
                f"X={show(array)} has one dimension: it must have two, (n_points, n_features), as X[:, None] or a frame"
            )
        return None
    return [f"{i + 1}" for i in range(array.shape[1])], [array[:, i] for i in range(array.shape[1])]


def _replaced(X: Any, i: int, numbers: FloatArray) -> Any:
    """The container with column i as numbers."""
    if hasattr(X, "isetitem"):
        result = X.copy(deep=False)
        result.isetitem(i, numbers)
        return result
    if hasattr(X, "get_columns"):
        column = X.get_columns()[i]
        return X.with_columns(type(column)(column.name, numbers))
    if hasattr(X, "set_column"):
        return X.set_column(i, X.column_names[i], [numbers])
    array = np.asarray(X)
    if array.dtype.kind != "O":
        array = array.astype(object) if array.shape[1] > 1 else np.empty(array.shape)
    else:
        array = array.copy()
    array[:, i] = numbers
    return array


def dates_of(name: str, column: Any, where: str | None = None) -> Dates | None:
    """The dates of a column; None if it may hold numbers. Time spans, categories and words are refused.

    where : how messages call it
    """
    if isinstance(column, Dates):
        return column
    kind = str(getattr(column, "dtype", getattr(column, "type", "")))
    where = f"column {name!r} of X" if where is None else where
    if kind.startswith(("category", "Categorical", "Enum", "dictionary")):
        raise StatementError(f"{where} is categorical: {_ENCODE}, or leave it out")
    if kind.startswith(("timedelta", "duration", "Duration", "<m8", "time32", "time64", "Time")):
        raise StatementError(
            f"{where} holds time spans ({kind}): divide them by one of a unit, as in column / numpy.timedelta64(1, 'D')"
        )
    if kind.startswith("period"):
        raise StatementError(f"{where} holds periods ({kind}): make dates of them by .dt.to_timestamp()")
    if kind.startswith(("datetime64", "timestamp", "Datetime", "date32", "date64", "Date", "<M8")):
        return _instants(column, kind)
    if kind in ("str", "string", "String", "large_string", "object", "Object") or kind.startswith(
        ("<U", "|S", "string")
    ):
        return _of_objects(where, np.asarray(column, dtype=object))
    return None


def _instants(column: Any, kind: str) -> Dates:
    """A column that is of dates by its type; a time zone is taken out by going to UTC."""
    zoned = any(word in kind for word in (", tz=", "time_zone='", 'time_zone="')) or (
        kind.startswith("datetime64[") and "," in kind
    )
    if zoned and hasattr(column, "dt") and hasattr(column.dt, "tz_convert"):
        column = column.dt.tz_convert("UTC").dt.tz_localize(None)
    values = column.to_numpy() if hasattr(column, "to_numpy") else np.asarray(column)
    if values.dtype.kind != "M":
        values = np.asarray(values, dtype="datetime64[us]")
    return Dates(values, zoned)


def _of_objects(where: str, cells: Any) -> Dates | None:
    """A column of Python objects: dates, or text that says dates."""
    given = [c for c in cells if c is not None and c == c]  # NaN and NaT are not themselves
    if not given:
        return None
    if all(isinstance(c, datetime.date | np.datetime64) for c in given):
        return _of_moments(where, cells)
    if not all(isinstance(c, str) for c in given):
        words = next((c for c in given if isinstance(c, str) and not _is_number(c)), None)
        if words is not None:
            raise StatementError(f"{where} holds text ({show(str(words), 40)}): {_ENCODE}, or leave it out")
        return None
    if all(looks_like_date(c.strip()) for c in given):
        try:
            return read_dates([c.strip() if isinstance(c, str) else None for c in cells])
        except NotADate as error:
            raise StatementError(
                f"{where} has {show(str(cells[error.row]), 40)} in row {error.row + 1}: it {error}"
            ) from None
    words = next((c for c in given if not _is_number(c)), None)
    if words is not None:
        raise StatementError(f"{where} holds text ({show(str(words), 40)}): {_ENCODE}, or leave it out")
    return None


def _of_moments(where: str, cells: Any) -> Dates:
    """Python's and pandas' own objects for dates."""
    values, zones = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[ns]"), set()
    coarse = np.full(len(cells), np.datetime64("NaT"), dtype="datetime64[us]")
    for i, cell in enumerate(cells):
        if cell is None or cell != cell:
            continue
        zone = getattr(cell, "tzinfo", None)
        zones.add(zone is not None)
        if zone is not None:
            cell = cell.astimezone(datetime.UTC).replace(tzinfo=None)
        values[i] = cell.to_datetime64() if hasattr(cell, "to_datetime64") else np.datetime64(cell)
        coarse[i] = np.datetime64(cell, "us") if not hasattr(cell, "to_datetime64") else cell.to_datetime64()
    if len(zones) > 1:
        raise StatementError(f"{where} has dates with and without a time zone: all or none must have one")
    far = np.abs(coarse.astype("datetime64[D]").astype(np.int64)[~np.isnat(coarse)]) > 100_000  # nanoseconds overflow
    return Dates(coarse if far.any() else values, zones == {True})


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
