"""Where series come from: frames in memory, Parquet files and folders, Dask frames; cut into batches.

A source has parts: row groups of Parquet files, partitions of a Dask frame, or the one frame that is in memory. First
each part is asked which series it holds, which needs the columns of the key alone; a cluster's workers are asked where
there is one. A batch is some series and the parts that they lie in, which are read by whoever fits them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.errors import StatementError
from porbnet.many.series_keys import Key, key_of
from porbnet.many.series_tables import Roles, column_names, grouped, is_frame, taken

_ALLOWED = (
    "it must be a frame (pandas, polars, pyarrow, Dask), a mapping of columns, or the name of a Parquet file or folder"
)
Count = tuple[tuple[Any, ...], int]  # values of a key, and how many rows have it


@dataclass(frozen=True, eq=False)
class Batch:
    """Series that are fitted one after the other.

    name : of the batch, within a run
    keys : of its series
    parts : where they lie: objects with `read`, or frames
    """

    name: str
    keys: frozenset[Key]
    parts: tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class InMemory:
    """A frame that is there, or some rows of it."""

    frame: Any

    def read(self, names: list[str]) -> Any:
        """Its columns; they are all there."""
        return self.frame

    def of(self, rows: NDArray[np.int64], names: list[str]) -> InMemory:
        """Only some rows and columns, to be sent away."""
        return InMemory(taken(self.frame, names, rows))


@dataclass(frozen=True, eq=False)
class RowGroup:
    """A part of a Parquet file; pickled, it is a name and a number."""

    fragment: Any
    schema: Any

    def read(self, names: list[str]) -> Any:
        """Some columns as a pyarrow table."""
        return self.fragment.to_table(columns=names, schema=self.schema, use_threads=False)


@dataclass(frozen=True, eq=False)
class Partition:
    """A partition of a Dask frame."""

    delayed: Any

    def read(self, names: list[str]) -> Any:
        """Compute it here."""
        return self.delayed.compute(scheduler="synchronous")[names]

    def future(self, client: Any) -> Any:
        """Let the cluster compute it, and keep it there."""
        return client.compute(self.delayed)


def counted(part: Any, by: tuple[str, ...]) -> tuple[list[Count], int]:
    """Keys of the series in a part with their numbers of rows; and how many rows have no key."""
    keys, rows, lost = grouped(part.read(list(by)) if hasattr(part, "read") else part, by)
    return [(key, len(places)) for key, places in zip(keys, rows, strict=True)], lost


@dataclass(eq=False)
class Source:
    """Parts, and which series lie in which.

    series : parts and numbers of rows of each series, by key; values : of each key, as the table has them
    n_lost : rows without a key
    """

    parts: list[Any]
    series: dict[Key, list[tuple[int, int]]] = field(default_factory=dict)
    values: dict[Key, tuple[Any, ...]] = field(default_factory=dict)
    n_lost: int = 0

    def scan(self, by: tuple[str, ...], answers: Callable[[list[Any]], Iterator[tuple[int, Any]]]) -> None:
        """Learn which series there are; `answers` asks the parts, in any order."""
        found = dict(answers(self.parts))
        for place in range(len(self.parts)):
            counts, lost = found.pop(place)
            self.n_lost += lost
            for values, n in counts:
                key = key_of(values)
                self.values.setdefault(key, values)
                self.series.setdefault(key, []).append((place, n))

    def n_rows(self, key: Key) -> int:
        """Rows of a series."""
        return sum(n for _, n in self.series[key])

    def batches(self, todo: list[Key], size: int, roles: Roles) -> Iterator[Batch]:
        """Batches of at most `size` series that begin in the same part, with what they need of it."""
        rows = _rows_of(self.parts[0], roles) if len(self.parts) == 1 and isinstance(self.parts[0], InMemory) else None
        homes: dict[int, list[Key]] = {}
        for key in todo:
            homes.setdefault(self.series[key][0][0], []).append(key)
        number = 0
        for home in sorted(homes):
            for start in range(0, len(homes[home]), size):
                keys = homes[home][start : start + size]
                if rows is not None:
                    places = np.sort(np.concatenate([rows[key] for key in keys]))
                    parts: tuple[Any, ...] = (self.parts[0].of(places, roles.names),)
                else:
                    parts = tuple(self.parts[i] for i in sorted({i for key in keys for i, _ in self.series[key]}))
                yield Batch(f"{number:06d}", frozenset(keys), parts)
                number += 1


def _rows_of(part: InMemory, roles: Roles) -> dict[Key, NDArray[np.int64]]:
    keys, rows, _ = grouped(part.frame, roles.by)
    found: dict[Key, NDArray[np.int64]] = {}
    for values, places in zip(keys, rows, strict=True):
        key = key_of(values)
        found[key] = np.concatenate([found[key], places]) if key in found else places
    return found


def source_of(frame: Any, roles: Roles) -> Source:
    """The source that a user has given; columns that are not there are noticed, nothing is read yet."""
    if isinstance(frame, str | os.PathLike):
        return _parquet(Path(frame), roles)
    if hasattr(frame, "to_delayed") and hasattr(frame, "columns"):
        roles.require(frame.columns)
        return Source([Partition(d) for d in frame[roles.names].to_delayed()])
    if hasattr(frame, "collect") and hasattr(frame, "collect_schema"):  # polars, not yet computed
        frame = frame.collect()
    if not is_frame(frame):
        raise _checks.fail("frame", frame, _ALLOWED)
    roles.require(column_names(frame))
    return Source([InMemory(frame)])


def _parquet(path: Path, roles: Roles) -> Source:
    if not path.exists():
        raise _checks.fail("frame", str(path), "there is no such file or folder")
    if not path.is_dir() and path.suffix.lower() not in (".parquet", ".pq"):
        raise _checks.fail("frame", str(path), _ALLOWED + "; read other files into a frame first")
    try:
        import pyarrow
        import pyarrow.dataset
    except ImportError as error:
        raise StatementError(f"frame={str(path)!r}: Parquet needs pyarrow (pip install 'porbnet[tables]')") from error
    try:
        found = pyarrow.dataset.dataset(path, format="parquet", partitioning="hive" if path.is_dir() else None)
        roles.require(found.schema.names)
        groups = [group for fragment in found.get_fragments() for group in fragment.split_by_row_group()]
    except (pyarrow.ArrowException, OSError) as error:
        raise StatementError(f"frame={str(path)!r} cannot be read: {str(error).splitlines()[0]}") from error
    return Source([RowGroup(group, found.schema) for group in groups])
