"""The observations that a page works on: from a file, an example or by hand, edited by clicks."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.dates import Calendars
from porbnet.cli.kinds import hint, outcome_of
from porbnet.cli.reading import read_table, visible
from porbnet.cli.table import TableData, chosen, observations
from porbnet.errors import PorbnetError, StatementError
from porbnet.estimators.inputs import as_numbers
from porbnet.studio.example_data import example

MOST_ROWS = 50_000
MOST_BY_HAND = 2_000
_MOST_SHOWN = 4_000
MOST_INPUTS = 20
_FEW_INPUTS = 2  # that are taken without being asked for
_BEYOND = 0.05  # of the range, that is shown on either side


@dataclass(frozen=True, eq=False)
class Source:
    """Where rows come from.

    kind : "file", "example" or "hand"
    name : of the file or the example
    path : of the file, in the private folder
    x, y : columns that were asked for, by name; empty and None if that is left to us
    drop_missing : whether rows with missing values are left out
    outcome : what the output is, one of `OUTCOMES`
    exposure : column of exposures of counts, or None
    """

    kind: str
    name: str = ""
    path: str = ""
    x: tuple[str, ...] = ()
    y: str | None = None
    drop_missing: bool = False
    outcome: str = "auto"
    exposure: str | None = None


@dataclass(frozen=True, eq=False)
class Rows:
    """Observations in numbers.

    X, y : (n_rows, n_dims) and (n_rows,)
    names : of the inputs, then of the output
    columns : all that could be chosen
    calendars : of inputs that are dates
    remarks : what happened while they were read
    kind : of outcomes: "real", "binary", "counts" or "positive"
    classes : of labels, no before yes, in the words of the file; None if they are 0 and 1
    beside : (n_rows,) exposures, or None
    exposure : what exposures are called; empty if there are none
    """

    X: FloatArray
    y: FloatArray
    names: list[str]
    columns: list[str]
    calendars: Calendars | None
    remarks: list[str]
    kind: str = "real"
    classes: list[str] | None = None
    beside: FloatArray | None = None
    exposure: str = ""

    @property
    def yes(self) -> str:
        """The label that is yes."""
        return "1" if self.classes is None else self.classes[1]

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
            return _edited(self._from_file(source), added, removed)
        kind = "real" if source.outcome == "auto" else source.outcome
        if source.kind == "hand":
            rows = Rows(np.empty((0, 1)), np.empty(0), ["x", "y"], ["x", "y"], None, [], kind)
            return _edited(rows, added, removed)
        one = example(source.name)
        data, hours = one.load(), None if one.exposure is None else one.exposure()
        kind, names = one.outcome if source.outcome == "auto" else kind, list(data.names)
        beside, called = (hours, one.exposure_name) if kind == "counts" and hours is not None else (None, "")
        rows = Rows(data.X, data.y, names, names, None, [data.description], kind, None, beside, called)
        return _edited(rows, added, removed)

    def _from_file(self, source: Source) -> Rows:
        exposure = source.exposure if source.outcome == "counts" else None
        try:
            table = self._read(source.path)
            names, said = (list(source.x), "") if source.x else _few(table, source.y, exposure)
            inputs, target = chosen(table, names, source.y, True, exposure)
            called = [table.names[i] for i in inputs], table.names[int(target or 0)]
            outcome = outcome_of(table, int(target or 0), source.outcome)
            found = observations(outcome.table, *called, source.drop_missing, beside=exposure)
        except PorbnetError as error:
            words, name = _on_the_page(str(error), source), visible(source.name)
            raise StatementError(words if name in words else f"{name!r}: {words}") from error
        if len(found) > MOST_ROWS:
            raise StatementError(
                f"{visible(source.name)!r} has {len(found):,} rows, and the page takes up to {MOST_ROWS:,}: "
                "`porbnet fit` takes any number"
            )
        X, calendars = as_numbers(found.X)
        X, y = np.asarray(X, dtype=np.float64), np.asarray(found.y, dtype=np.float64)
        if X.shape[1] > MOST_INPUTS:
            raise StatementError(
                f"{X.shape[1]} inputs are chosen, and the page takes up to {MOST_INPUTS}: choose fewer columns"
            )
        words = outcome.words or hint(y, source.outcome)
        remarks = [text for text in (said, *found.remarks, _on_the_page(words, source)) if text]
        if found.n_dropped:
            remarks.append(f"{found.n_dropped} rows with missing values left out")
        return Rows(
            X, y, list(found.names), list(table.names), calendars, remarks, outcome.kind, outcome.classes, found.beside,
            exposure or "",
        )  # fmt: skip

    def _read(self, path: str) -> TableData:
        if self._table is None or path != self._path:
            self._table, self._path = read_table(path, quiet=True), path
        return self._table


def _few(table: TableData, y: str | None, exposure: str | None) -> tuple[list[str], str]:
    """Inputs that nobody chose: all if they are few, else the first; and what is to be said about it."""
    others = [name for name in table.names if name not in (y or table.names[-1], exposure)]
    if len(others) <= _FEW_INPUTS:
        return others, ""
    return others[:1], f"Of {len(others)} columns that could be inputs the first is taken: choose others above"


def _on_the_page(message: str, source: Source) -> str:
    """A complaint of the command line in the words of the page: the file's own name, no options."""
    name = visible(source.name)
    message = message.replace(repr(source.path), repr(name)).replace(source.path, name)
    message = message.replace(os.path.basename(source.path), name)
    message = message.replace("leave these rows out with --drop-missing", "tick “leave out rows with missing values”")
    for option, words in _ON_THE_PAGE.items():
        message = message.replace(option, words)
    return message


_ON_THE_PAGE = {
    ", choose it with --y": "", "choose the output with --y": "choose another output",
    "choose some with --x": "choose some", " (--outcome real fits the numbers)": "; “numbers” fits the numbers",
    "if they are counts: --outcome counts": "if they are counts, choose that as outcome",
    "--outcome positive fits its logarithm": "the outcome “above zero” fits its logarithm",
    "--outcome binary: column": "as yes or no, column", "--exposure": "exposure", "--x": "input", "--y": "output",
}  # fmt: skip


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
    beside = None if rows.beside is None else np.concatenate([rows.beside[kept], np.ones(len(points))])
    return replace(rows, X=X, y=y, beside=beside)
