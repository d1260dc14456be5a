"""Tables from files: columns of numbers by name, with every complaint pointing at a row."""

from __future__ import annotations

import csv
import io
import math
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", ".", "?"})
_DELIMITERS = (",", ";", "\t")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
_LISTED = 8  # rows named in a message


@dataclass(frozen=True, eq=False)
class TableData:
    """Rows of a table as text or numbers.

    names : of the columns
    columns : one list of cells per column; None is missing
    lines : line of the file that each row stands on (for binary files, its number from 1)
    """

    names: list[str]
    columns: list[list[Any]]
    lines: list[int]

    def index(self, column: str, option: str) -> int:
        """Number of a column, given by name or by its number from 1."""
        if column in self.names:
            return self.names.index(column)
        if column.isdigit() and 1 <= int(column) <= len(self.names):
            return int(column) - 1
        known = ", ".join(repr(n) for n in self.names)
        raise StatementError(f"{option} {column!r} is not a column: there are {known}")

    def numbers(self, index: int) -> FloatArray:
        """A column as numbers, NaN where it is missing."""
        result = np.empty(len(self.columns[index]))
        for i, cell in enumerate(self.columns[index]):
            try:
                result[i] = math.nan if cell is None else float(cell)
            except (TypeError, ValueError):
                raise StatementError(
                    f"line {self.lines[i]} of column {self.names[index]!r} is {str(cell)[:40]!r}: it must be a number"
                ) from None
            if math.isinf(result[i]):
                raise StatementError(f"line {self.lines[i]} of column {self.names[index]!r} is infinite")
        return result


@dataclass(frozen=True, eq=False)
class Observations:
    """Inputs and output of a fit, with their names.

    X : (n_rows, n_inputs), y : (n_rows,), or None if there is no output
    names : of the inputs, then of the output if there is one
    n_dropped : rows left out because something was missing
    """

    X: FloatArray
    y: FloatArray | None
    names: list[str]
    n_dropped: int


def read_table(path: str, header: bool | None = None) -> TableData:
    """A table from a file or, for "-", from standard input."""
    suffix = Path(path).suffix.lower()
    if path != "-" and suffix in (".parquet", ".pq", ".feather", ".arrow"):
        return _columnar(path, suffix)
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    except OSError as error:
        raise StatementError(f"{path!r} cannot be read: {error.strerror or error}") from error
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise StatementError(f"{_where(path)} is not text in UTF-8 (byte {error.start})") from error
    return parse(text, header, _where(path))


def _where(path: str) -> str:
    return "standard input" if path == "-" else repr(path)


def _columnar(path: str, suffix: str) -> TableData:
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise StatementError(f"{path!r}: Parquet and Feather need pyarrow (pip install pyarrow)") from error
    if not os.path.exists(path):
        raise StatementError(f"{path!r} cannot be read: no such file")
    try:
        reader = pyarrow.feather if suffix in (".feather", ".arrow") else pyarrow.parquet
        table = reader.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise StatementError(f"{path!r} cannot be read: {error}") from error
    columns = [[None if v != v else v for v in column.to_pylist()] for column in table.columns]
    return TableData([str(n) for n in table.column_names], columns, list(range(1, table.num_rows + 1)))


def parse(text: str, header: bool | None = None, where: str = "the table") -> TableData:
    """A table from text: the delimiter, a decimal comma and a line of names are noticed."""
    delimiter = _delimiter(text)
    lines = [(n, row) for n, row in _rows(text, delimiter) if any(cell.strip() for cell in row)]
    if not lines:
        raise StatementError(f"{where} has no rows")
    rows = [[cell.strip() for cell in row] for _, row in lines]
    if delimiter != ",":
        rows = [[cell.replace(",", ".") if _DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]
    width = len(rows[0])
    for (number, _), row in zip(lines, rows, strict=True):
        if len(row) != width:
            raise StatementError(f"line {number} of {where} has {len(row)} cells, the first has {width}")
    named = header if header is not None else not all(_is_number(c) or c.lower() in MISSING for c in rows[0])
    names = [c or f"column {i + 1}" for i, c in enumerate(rows[0])] if named else [str(i + 1) for i in range(width)]
    repeated = next((n for n in names if names.count(n) > 1), None)
    if repeated is not None:
        raise StatementError(f"{where} has two columns called {repeated!r}")
    body = rows[1:] if named else rows
    if not body:
        raise StatementError(f"{where} has names but no rows")
    columns = [[None if row[j].lower() in MISSING else row[j] for row in body] for j in range(width)]
    return TableData(names, columns, [n for n, _ in (lines[1:] if named else lines)])


def _rows(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Rows with the numbers of the lines they end on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    rows = []
    try:
        for row in reader:
            rows.append((reader.line_num, row))
    except csv.Error as error:
        raise StatementError(f"line {reader.line_num} cannot be understood: {error}") from error
    return rows


def _delimiter(text: str) -> str:
    """The one that cuts the first lines into the most cells, the same number each."""
    lines = [line for line in text.splitlines()[:200] if line.strip()][:50]

    def cells(delimiter: str) -> int:
        counts = {len(row) for row in csv.reader(lines, delimiter=delimiter)}
        return min(counts) if len(counts) == 1 else 0

    try:
        scores = {d: cells(d) for d in _DELIMITERS}
    except csv.Error:
        return ","
    # a comma may be a decimal comma where a semicolon or tab cuts too
    best = next((d for d in (";", "\t") if scores[d] > 1), ",")
    if scores[best] > 1:
        return best
    present = [d for d in ("\t", ";", ",") if all(d in line for line in lines)]
    return present[0] if present and lines else ","


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def observations(
    table: TableData, x: list[str] | None, y: str | None, drop_missing: bool, with_output: bool = True
) -> Observations:
    """The columns of a fit; y is the last column and x all others if they are not given."""
    names = table.names
    target = None
    if with_output:
        target = len(names) - 1 if y is None else table.index(y, "--y")
        if y is None and x and table.index(x[-1], "--x") == target and len(names) > 1:
            target = next(i for i in range(len(names) - 1, -1, -1) if i not in [table.index(c, "--x") for c in x])
    inputs = [table.index(c, "--x") for c in x] if x else [i for i in range(len(names)) if i != target]
    if not inputs:
        raise StatementError(f"there is one column ({names[0]!r}), but a fit needs an input and an output")
    if target in inputs or len(set(inputs)) != len(inputs):
        raise StatementError("a column is chosen twice: every input and the output must be another one")
    chosen = [*inputs, *([] if target is None else [target])]
    values = np.stack([table.numbers(i) for i in chosen], axis=1)
    missing = np.isnan(values).any(axis=1)
    if missing.any() and not drop_missing:
        rows = [table.lines[i] for i in np.flatnonzero(missing)]
        shown = ", ".join(map(str, rows[:_LISTED])) + (", ..." if len(rows) > _LISTED else "")
        bad = ", ".join(repr(names[c]) for k, c in enumerate(chosen) if np.isnan(values[:, k]).any())
        raise StatementError(
            f"{len(rows)} of {len(values)} rows have missing values in {bad} (lines {shown}): "
            "fill them in, or leave these rows out with --drop-missing"
        )
    kept = values[~missing]
    if len(kept) == 0:
        raise StatementError("no row is left: every one has a missing value")
    X = np.ascontiguousarray(kept[:, : len(inputs)])
    return Observations(
        X, None if target is None else kept[:, -1].copy(), [names[i] for i in chosen], int(missing.sum())
    )
