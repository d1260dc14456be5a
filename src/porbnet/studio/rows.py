"""The observations that a page works on: from a file, an example or by hand, edited by clicks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.dates import Calendars
from porbnet.cli.reading import read_table, visible
from porbnet.cli.table import TableData, observations
from porbnet.errors import PorbnetError, StatementError
from porbnet.estimators.inputs import as_numbers
from porbnet.studio.example_data import example

MOST_ROWS = 50_000
MOST_BY_HAND = 2_000
_MOST_SHOWN = 4_000
_MOST_INPUTS = 2
_BEYOND = 0.05  # of the range, that is shown on either side


@dataclass(frozen=True, eq=False)
class Source:
    """Where rows come from.

    kind : "file", "example" or "hand"
    name : of the file or the example
    path : of the file, in the private folder
    x, y : columns that were asked for, by name; empty and None if that is left to us
    drop_missing : whether rows with missing values are left out
    """

    kind: str
    name: str = ""
    path: str = ""
    x: tuple[str, ...] = ()
    y: str | None = None
    drop_missing: bool = False


@dataclass(frozen=True, eq=False)
class Rows:
    """Observations in numbers.

    X, y : (n_rows, n_dims) and (n_rows,)
    names : of the inputs, then of the output
    columns : all that could be chosen
    calendars : of inputs that are dates
    remarks : what happened while they were read
    """

    X: FloatArray
    y: FloatArray
    names: list[str]
    columns: list[str]
    calendars: Calendars | None
    remarks: list[str]

    @property
    def n_dims(self) -> int:
        """Number of inputs."""
        return int(self.X.shape[1])

    def ends(self) -> list[tuple[float, float]]:
        """What is shown of each input: its range and a little more."""
        low, high = self.X.min(axis=0), self.X.max(axis=0)
        beyond = _BEYOND * np.where(high > low, high - low, np.maximum(np.abs(high), 1.0))
        return [(float(a), float(b)) for a, b in zip(low - beyond, high + beyond, strict=True)]

    def shown(self) -> NDArray[np.int64]:
        """Rows to draw, as indices."""
        return np.arange(0, len(self.y), max(1, -(-len(self.y) // _MOST_SHOWN)))


class Reader:
    """Reads sources; the table read last is kept, so that another column costs nothing."""

    def __init__(self) -> None:
        self._path = ""
        self._table: TableData | None = None

    def rows(self, source: Source, added: Any, removed: Any) -> Rows:
        """The rows of a source, less those removed and with those added by hand."""
        if source.kind == "file":
            found = self._from_file(source)
        elif source.kind == "example":
            data = example(source.name).load()
            found = Rows(data.X, data.y, list(data.names), list(data.names), None, [data.description])
        else:
            found = Rows(np.empty((0, 1)), np.empty(0), ["x", "y"], ["x", "y"], None, [])
        return _edited(found, added, removed)

    def _from_file(self, source: Source) -> Rows:
        try:
            table = self._read(source.path)
            chosen = observations(table, list(source.x) or _few(table, source.y), source.y, source.drop_missing)
        except PorbnetError as error:
            raise StatementError(_on_the_page(str(error), source)) from error
        if len(chosen) > MOST_ROWS:
            raise StatementError(
                f"{visible(source.name)!r} has {len(chosen):,} rows, and the page takes up to {MOST_ROWS:,}: "
                "`porbnet fit` takes any number"
            )
        X, calendars = as_numbers(chosen.X)
        X = np.asarray(X, dtype=np.float64)
        if X.shape[1] > _MOST_INPUTS:
            raise StatementError(f"{X.shape[1]} inputs are chosen, and the page shows one or two: choose fewer columns")
        remarks = list(chosen.remarks)
        if chosen.n_dropped:
            remarks.append(f"{chosen.n_dropped} rows with missing values left out")
        y = np.asarray(chosen.y, dtype=np.float64)
        return Rows(X, y, list(chosen.names), list(table.names), calendars, remarks)

    def _read(self, path: str) -> TableData:
        if self._table is None or path != self._path:
            self._table, self._path = read_table(path, quiet=True), path
        return self._table


def _few(table: TableData, y: str | None) -> list[str] | None:
    """The first column that is not the output, where there are more than the page shows."""
    others = [name for name in table.names if name != (y or table.names[-1])]
    return others[:1] if len(others) > _MOST_INPUTS else None


def _on_the_page(message: str, source: Source) -> str:
    """A complaint of the command line in the words of the page: the file's own name, no options."""
    name = visible(source.name)
    message = message.replace(repr(source.path), repr(name)).replace(source.path, name)
    message = message.replace(os.path.basename(source.path), name)
    message = message.replace("leave these rows out with --drop-missing", "tick “leave out rows with missing values”")
    return message.replace(", choose it with --y", "").replace("choose some with --x", "choose some")


def _edited(rows: Rows, added: Any, removed: Any) -> Rows:
    """Rows less some, and with points by hand at the end."""
    gone = _checks.real_array("removed", removed or [], "it must be a list of row numbers").astype(np.int64).ravel()
    if np.any((gone < 0) | (gone >= len(rows.y))):
        raise StatementError("a removed row is not there")
    points = _checks.real_array("added", added or [], "it must be a list of pairs (x, y) of finite numbers")
    points = points.reshape(-1, 2) if points.size == 0 else points
    if len(points) and rows.n_dims != 1:
        raise StatementError("points are added by hand where there is one input")
    if points.ndim != 2 or points.shape[1] != 2 or len(points) > MOST_BY_HAND or not np.all(np.isfinite(points)):
        raise StatementError(f"points by hand must be up to {MOST_BY_HAND:,} pairs (x, y) of finite numbers")
    kept = np.ones(len(rows.y), dtype=bool)
    kept[gone] = False
    X = np.concatenate([rows.X[kept], points[:, :1]]) if len(points) else rows.X[kept]
    y = np.concatenate([rows.y[kept], points[:, 1]])
    return Rows(X, y, rows.names, rows.columns, rows.calendars, rows.remarks)
