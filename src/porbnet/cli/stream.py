"""Tables larger than memory: columns of numbers in chunks, from Parquet by batches and from text by lines."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.cli.reading import parse
from porbnet.cli.table import TableData, observations
from porbnet.errors import StatementError

LARGE = 200_000_000  # bytes of a file, from which it is read in chunks
_BATCH = 131_072  # rows of Parquet at a time
_LINES = 50_000  # of text
_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt")


@dataclass(frozen=True, eq=False)
class Stream:
    """A file in chunks.

    names : of the inputs, then of the output
    read : goes through the file, and gives X of shape (n, n_inputs) and y of shape (n,), chunk after chunk
    """

    names: list[str]
    read: Callable[[], Iterator[tuple[FloatArray, FloatArray]]]


def is_large(path: str, asked: bool) -> bool:
    """Whether a file is to be read in chunks: if that is asked for, or if it is large."""
    suffix = Path(path).suffix.lower()
    able = path != "-" and suffix in (*_PARQUET, *_TEXT)
    if asked and not able:
        raise StatementError(f"--chunked {path!r}: only files ending in {', '.join((*_PARQUET, *_TEXT))} can be")
    try:
        return able and (asked or os.path.getsize(path) > LARGE)
    except OSError as error:
        raise StatementError(f"{path!r} cannot be read: {error.strerror or error}") from error


def stream(path: str, x: list[str] | None, y: str | None, header: bool | None, drop_missing: bool) -> Stream:
    """A file in chunks; columns are chosen as in `table.observations`."""
    if Path(path).suffix.lower() in _PARQUET:
        return _parquet(path, x, y, drop_missing)
    return _text(path, x, y, header, drop_missing)


def _parquet(path: str, x: list[str] | None, y: str | None, drop_missing: bool) -> Stream:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise StatementError(f"{path!r}: Parquet needs pyarrow (pip install pyarrow)") from error
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            columns = [str(n) for n in file.schema_arrow.names]
    except (pyarrow.ArrowException, OSError) as error:
        raise StatementError(f"{path!r} cannot be read: {error}") from error
    # two rows of zeros: the columns that a table of these names would give
    names = observations(TableData(columns, [["0", "0"]] * len(columns), [1, 2]), x, y, drop_missing).names

    def read() -> Iterator[tuple[FloatArray, FloatArray]]:
        at = 0
        with pyarrow.parquet.ParquetFile(path, pre_buffer=False) as file:
            for batch in file.iter_batches(_BATCH, columns=names):
                values = np.stack([_numbers(batch.column(n), n) for n in names], axis=1)
                yield _split(values, names, drop_missing, path, at + 1)
                at += len(values)

    return Stream(names, read)


def _numbers(column: Any, name: str) -> FloatArray:
    try:
        if "date" in str(column.type) or "time" in str(column.type):
            raise TypeError("dates")
        return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise StatementError(
            f"column {name!r} has {column.type} values: in a file that is read in chunks they must be numbers"
        ) from error


def _split(
    values: FloatArray, names: list[str], drop_missing: bool, path: str, first: int
) -> tuple[FloatArray, FloatArray]:
    """Inputs and output of a batch whose first row has number `first`."""
    missing = np.isnan(values).any(axis=1)
    if missing.any() and not drop_missing:
        row = first + int(np.argmax(missing))
        raise StatementError(
            f"row {row:,} of {path!r} has a missing value in {', '.join(map(repr, names))}: "
            "fill it in, or leave such rows out with --drop-missing"
        )
    kept = values[~missing]
    return np.ascontiguousarray(kept[:, :-1]), kept[:, -1].copy()


def _text(path: str, x: list[str] | None, y: str | None, header: bool | None, drop_missing: bool) -> Stream:
    with _opened(path) as file:
        lines = list(itertools.islice(file, 200))
    first = parse("".join(lines), header, repr(path))
    named = "".join(lines).splitlines()[:1] if first.lines[0] > 1 else []
    names = observations(first, x, y, True).names

    def read() -> Iterator[tuple[FloatArray, FloatArray]]:
        with _opened(path) as file:
            if named:
                next(file)
            at = len(named)
            while lines := list(itertools.islice(file, _LINES)):
                where = f"the part of {path!r} after line {at:,}"
                at += len(lines)
                if not any(line.strip() for line in lines):
                    continue
                table = parse("".join([*(n + "\n" for n in named), *lines]), bool(named), where)
                rows = _rows(table, names, drop_missing, where)
                if rows is not None:
                    yield rows

    return Stream(names, read)


def _rows(table: TableData, names: list[str], drop_missing: bool, where: str) -> tuple[FloatArray, FloatArray] | None:
    columns = [table.column(table.names.index(n)).values for n in names]
    for name, column in zip(names, columns, strict=True):
        if not isinstance(column, np.ndarray):
            raise StatementError(f"column {name!r} has dates: in a file that is read in chunks they must be numbers")
    values = np.stack([np.asarray(c, dtype=np.float64) for c in columns], axis=1)
    missing = np.isnan(values).any(axis=1)
    if missing.all():
        return None if drop_missing else _split(values, names, drop_missing, where, 1)
    return _split(values, names, drop_missing, where, 1)


def _opened(path: str) -> Any:
    try:
        return open(path, encoding="utf-8-sig", newline="")
    except OSError as error:
        raise StatementError(f"{path!r} cannot be read: {error.strerror or error}") from error
