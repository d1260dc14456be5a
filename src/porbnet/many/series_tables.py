"""Tables that hold many series: columns of any kind of frame, cut into series."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.date_text import Dates
from porbnet.errors import StatementError
from porbnet.estimators.inputs import Columns, dates_of
from porbnet.many.series_keys import Key, key_of, plain

_SHOWN = 8


@dataclass(frozen=True)
class Roles:
    """Which column does what.

    by : columns that tell series apart; x : inputs; y : output
    also : further columns for `fit`, by the name of its argument, as {"sample_weight": "weight"}
    drop_missing : whether rows with something missing are left out
    """

    by: tuple[str, ...]
    x: tuple[str, ...]
    y: str
    also: Mapping[str, str] = field(default_factory=dict)
    drop_missing: bool = False

    def __post_init__(self) -> None:
        used = [*self.by, *self.x, self.y]
        if len(set(used)) < len(used):
            twice = next(name for name in used if used.count(name) > 1)
            raise StatementError(f"column {twice!r} has two roles: by, x and y must be different columns")

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        return list(dict.fromkeys([*self.by, *self.x, self.y, *self.also.values()]))

    def require(self, there: Iterable[Any]) -> None:
        """Refuse a table without one of the columns."""
        names = [str(n) for n in there]
        missing = [n for n in self.names if n not in names]
        if missing:
            shown = ", ".join(map(repr, names[:_SHOWN])) + (", ..." if len(names) > _SHOWN else "")
            raise StatementError(f"there is no column {', '.join(map(repr, missing))}: there are {shown}")


@dataclass(frozen=True, eq=False)
class Series:
    """One series, as `fit` takes it.

    X : shape (n_rows, n_inputs), or `Columns` if some are dates
    y : (n_rows,)
    also : further arguments of `fit`
    n_given : rows, with those that were left out
    """

    X: Any
    y: Any
    also: dict[str, Any]
    n_given: int


def column_names(frame: Any) -> list[str]:
    """Names of the columns of a frame (pandas, polars, pyarrow, Dask) or of a mapping."""
    if isinstance(frame, Mapping):
        return [str(n) for n in frame]
    found = getattr(frame, "column_names", None)
    return [str(n) for n in (frame.columns if found is None else found)]


def column(frame: Any, name: str) -> Any:
    """A column as the frame has it; of a mapping as an array."""
    if isinstance(frame, Mapping):
        values = frame[name]
        return values if hasattr(values, "dtype") or isinstance(values, Dates) else np.asarray(values)
    return frame.column(name) if hasattr(frame, "column_names") else frame[name]


def is_frame(value: Any) -> bool:
    """Whether a value is a table in memory."""
    return isinstance(value, Mapping) or hasattr(value, "columns") or hasattr(value, "column_names")


def grouped(frame: Any, by: Sequence[str]) -> tuple[list[tuple[Any, ...]], list[NDArray[np.int64]], int]:
    """Values of each key and the rows that have it, in order of first appearance; and rows without a key."""
    import pandas

    codes, values = np.zeros(0, dtype=np.int64), []
    lost: Any = False
    for place, name in enumerate(by):
        found, unique = pandas.factorize(pandas.Series(as_array(column(frame, name))))
        lost = lost | (found < 0)
        values.append(unique)
        codes = found.astype(np.int64) if place == 0 else codes * (len(unique) + 1) + found
    kept = np.flatnonzero(~np.asarray(lost))
    numbers, firsts = pandas.factorize(codes[kept])
    order = np.argsort(numbers, kind="stable")
    ends = np.cumsum(np.bincount(numbers, minlength=len(firsts)))[:-1]
    rows = np.split(kept[order], ends) if len(firsts) else []
    keys = [_values_at(code, values) for code in firsts.tolist()]
    return keys, rows, len(codes) - len(kept)


def _values_at(code: int, values: list[Any]) -> tuple[Any, ...]:
    found: list[Any] = []
    for unique in reversed(values[1:]):
        code, place = divmod(code, len(unique) + 1)
        found.append(plain(unique[place]))
    return (plain(values[0][code]), *reversed(found))


def as_array(values: Any) -> NDArray[Any]:
    """A column of any kind of frame as an array; what is missing among numbers becomes NaN."""
    if isinstance(values, np.ndarray):
        return values
    if hasattr(values, "isna") and str(values.dtype).startswith(("Int", "UInt", "Float")) and values.isna().any():
        return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))  # pandas' own kinds of numbers
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    return np.asarray(values)


def taken(frame: Any, names: Iterable[str], rows: NDArray[np.int64]) -> dict[str, Any]:
    """Some rows of some columns, as arrays."""
    found: dict[str, Any] = {}
    for name in names:
        values = column(frame, name)
        dates = values if isinstance(values, Dates) else _dates(name, values)
        found[name] = as_array(values)[rows] if dates is None else Dates(dates.instants[rows], dates.zoned)
    return found


def _dates(name: str, values: Any) -> Dates | None:
    """Dates with a time zone, which an array cannot hold; None for anything else."""
    kind = str(getattr(values, "dtype", getattr(values, "type", "")))
    zoned = "tz=" in kind or "time_zone=" in kind or (kind.startswith("datetime64[") and "," in kind)
    return dates_of(name, values) if zoned else None


def split(
    frames: Sequence[Any], roles: Roles, wanted: frozenset[Key]
) -> Iterator[tuple[tuple[Any, ...], Series | StatementError]]:
    """Series of some frames with their keys' values, those that lie in several put together in the order of the frames.

    wanted : keys; the others are passed over
    """
    parts: dict[Key, list[tuple[Any, NDArray[np.int64]]]] = {}
    named: dict[Key, tuple[Any, ...]] = {}
    for frame in frames:
        values, rows, _ = grouped(frame, roles.by)
        for value, places in zip(values, rows, strict=True):
            key = key_of(value)
            if key in wanted:
                named.setdefault(key, value)
                parts.setdefault(key, []).append((frame, places))
    used = [n for n in roles.names if n not in roles.by or n in roles.also.values()]
    for key, pieces in parts.items():
        try:
            yield named[key], _series([taken(frame, used, places) for frame, places in pieces], roles)
        except StatementError as error:
            yield named[key], error


def _series(tables: list[dict[str, Any]], roles: Roles) -> Series:
    joined = {name: _joined([table[name] for table in tables]) for name in tables[0]}
    inputs = [_input(name, joined[name]) for name in roles.x]
    y, also = joined[roles.y], {name: joined[source] for name, source in roles.also.items()}
    n_given = len(y)
    if roles.drop_missing:
        kept = ~_missing([*inputs, y, *also.values()])
        inputs = [Dates(v.instants[kept], v.zoned) if isinstance(v, Dates) else v[kept] for v in inputs]
        y, also = y[kept], {name: v[kept] for name, v in also.items()}
    if any(isinstance(v, Dates) for v in inputs):
        return Series(Columns(list(roles.x), inputs), y, also, n_given)
    return Series(np.ascontiguousarray(np.stack(inputs, axis=1)), y, also, n_given)  # type: ignore[arg-type]


def _joined(pieces: list[Any]) -> Any:
    if len(pieces) == 1:
        return pieces[0]
    if isinstance(pieces[0], Dates):
        return Dates(np.concatenate([p.instants for p in pieces]), pieces[0].zoned)
    return np.concatenate(pieces)


def _input(name: str, values: Any) -> FloatArray | Dates:
    """An input as numbers or dates; words and categories are refused."""
    found = values if isinstance(values, Dates) else dates_of(name, values)
    if found is not None:
        return found
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise _checks.fail(f"x={name!r}", values, "it must be a column of numbers or of dates") from None


def _missing(values: list[Any]) -> NDArray[np.bool_]:
    result = np.zeros(len(values[0].instants if isinstance(values[0], Dates) else values[0]), dtype=bool)
    for v in values:
        if isinstance(v, Dates):
            result |= np.isnat(v.instants)
        elif v.dtype.kind == "f":
            result |= np.isnan(v)
        elif v.dtype.kind == "O":
            result |= np.array([cell is None or cell != cell for cell in v])
    return result
