"""Columns of a table by name or number, as what a fit or a prediction takes; every complaint points at a row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.date_text import Dates
from porbnet.base.dates import text_of
from porbnet.cli.cell_text import Column, to_column
from porbnet.errors import StatementError
from porbnet.estimators.inputs import Columns, dates_of

_MOST_INPUTS = 100  # that are taken without being asked for
_LISTED = 8  # rows or names in a message


@dataclass(frozen=True, eq=False)
class TableData:
    """Rows of a table.

    names : of the columns
    columns : one list of cells per column, None is missing; or columns of pyarrow
    lines : line of the file that each row stands on (for binary files, its number from 1)
    named : whether the names are the file's own
    comma : what a comma in a number means where the numbers do not tell, "decimal" or "thousands"
    """

    names: list[str]
    columns: list[Any]
    lines: list[int]
    named: bool = True
    comma: str = "decimal"

    def index(self, column: str, option: str) -> int:
        """Number of a column, given by name or by its number from 1."""
        if column in self.names:
            return self.names.index(column)
        if column.isascii() and column.isdigit() and len(column) < 10 and 1 <= int(column) <= len(self.names):
            return int(column) - 1
        raise StatementError(f"{option} {column!r} is not a column: there are {listed(self.names)}")

    def column(self, index: int) -> Column:
        """A column as numbers or dates."""
        name, column = self.names[index], self.columns[index]
        if isinstance(column, list):
            return to_column(name, column, self.lines, self.comma)
        if "string" in str(column.type):  # words that a file keeps as numbers, too
            return to_column(name, column.to_pylist(), self.lines, self.comma)
        dates = dates_of(name, column, f"column {name!r}")
        if dates is not None:
            return Column(dates)
        return Column(_of_arrow(name, column, self.lines))

    def shown(self, index: int) -> list[Any]:
        """Cells of a column as they are to appear again in an answer."""
        column = self.columns[index]
        if isinstance(column, list):
            return list(column)
        dates = None if "string" in str(column.type) else dates_of(self.names[index], column)
        return list(column.to_pylist()) if dates is None else text_of(dates.instants)


def _of_arrow(name: str, column: Any, lines: list[int]) -> FloatArray:
    result = np.empty(len(lines))
    for i, cell in enumerate(column.to_pylist()):
        try:
            result[i] = np.nan if cell is None else float(cell)
        except (TypeError, ValueError):
            message = f"line {lines[i]} of column {name!r} is {str(cell)[:40]!r}: it must be a number"
            raise StatementError(message) from None
        if np.isinf(result[i]):
            raise StatementError(f"line {lines[i]} of column {name!r} is infinite")
    return result


def listed(names: list[str]) -> str:
    """Names in quotes, the first few of many."""
    shown = ", ".join(map(repr, names[:_LISTED]))
    return shown if len(names) <= _LISTED else f"{shown}, ... ({len(names):,} in all)"


@dataclass(frozen=True, eq=False)
class Observations:
    """Inputs and output of a fit, with their names.

    X : inputs, as `Columns` or as a matrix of numbers, shape (n_rows, n_inputs)
    y : (n_rows,), or None if there is no output
    names : of the inputs, then of the output if there is one
    n_dropped : rows left out because something was missing
    kept : (n_rows of the table,) which ones were not
    remarks : how columns were read, where that could be doubted
    beside : (n_rows,) exposures, if there are any
    """

    X: Any
    y: FloatArray | None
    names: list[str]
    n_dropped: int
    kept: NDArray[np.bool_]
    remarks: list[str] = field(default_factory=list)
    beside: FloatArray | None = None

    def __len__(self) -> int:
        return int(self.kept.sum())


def observations(
    table: TableData, x: list[str] | None, y: str | None, drop_missing: bool, with_output: bool = True,
    beside: str | None = None,
) -> Observations:  # fmt: skip
    """The columns of a fit; y is the last column and x all others if they are not given.

    beside : a column of exposures
    """
    names = table.names
    inputs, target = chosen(table, x, y, with_output, beside)
    extra = [] if beside is None else [table.index(beside, "--exposure")]
    places = [*inputs, *extra, *([] if target is None else [target])]
    columns = [table.column(i) for i in places]
    if target is not None and isinstance(columns[-1].values, Dates):
        raise StatementError(f"column {names[target]!r} holds dates: the output must be numbers, choose it with --y")
    absent = np.stack([_absent(c.values) for c in columns], axis=1)
    missing = np.asarray(absent.any(axis=1))
    if missing.any() and not drop_missing:
        rows = [table.lines[i] for i in np.flatnonzero(missing)]
        shown = ", ".join(map(str, rows[:_LISTED])) + (", ..." if len(rows) > _LISTED else "")
        bad = listed([names[c] for k, c in enumerate(places) if absent[:, k].any()])
        raise StatementError(
            f"{len(rows)} of {len(missing)} rows have missing values in {bad} (lines {shown}): "
            "fill them in, or leave these rows out with --drop-missing"
        )
    kept = ~missing
    if not kept.any():
        raise StatementError("no row is left: every one has a missing value")
    if with_output and kept.sum() < 2:
        raise StatementError("there is one row, but a fit needs two or more")
    values = [_taken(c.values, kept) for c in columns]
    output = None if target is None else values.pop()
    exposure = values.pop() if extra else None
    if isinstance(exposure, Dates):
        raise StatementError(f"column {beside!r} holds dates: exposures must be numbers")
    dated = any(isinstance(v, Dates) for v in values)
    X = Columns([names[i] for i in inputs], values) if dated else np.ascontiguousarray(np.stack(values, axis=1))  # type: ignore[arg-type]
    remarks = [c.remark for c in columns if c.remark]
    called = [names[i] for i in (*inputs, *([] if target is None else [target]))]
    return Observations(X, output, called, int(missing.sum()), kept, remarks, exposure)  # type: ignore[arg-type]


def chosen(
    table: TableData, x: list[str] | None, y: str | None, with_output: bool, beside: str | None = None
) -> tuple[list[int], int | None]:
    """Places of the inputs and of the output; a column of exposures is neither."""
    names, target = table.names, None
    aside = None if beside is None else table.index(beside, "--exposure")
    wanted = [table.index(c, "--x") for c in x] if x else []
    if with_output:
        target = len(names) - 1 if y is None else table.index(y, "--y")
        if y is None and wanted and wanted[-1] == target and len(names) > 1:
            target = next((i for i in range(len(names) - 1, -1, -1) if i not in wanted), target)
    if aside is not None and target == aside:
        raise StatementError(f"column {names[aside]!r} cannot be both output and exposure: choose the output with --y")
    inputs = wanted or [i for i in range(len(names)) if i not in (target, aside)]
    if not wanted and len(inputs) > _MOST_INPUTS:
        raise StatementError(f"there are {len(inputs):,} columns that could be inputs: choose some with --x")
    if not inputs:
        raise StatementError(f"there is one column ({names[0]!r}), but a fit needs an input and an output")
    if target in inputs or len(set(inputs)) != len(inputs):
        raise StatementError("a column is chosen twice: every input and the output must be another one")
    return inputs, target


def _absent(values: FloatArray | Dates) -> NDArray[np.bool_]:
    return np.isnat(values.instants) if isinstance(values, Dates) else np.isnan(values)


def _taken(values: FloatArray | Dates, kept: NDArray[np.bool_]) -> FloatArray | Dates:
    if isinstance(values, Dates):
        return Dates(values.instants[kept], values.zoned)
    return np.asarray(values[kept])
