"""Tables to files and to standard output: CSV with as many digits as mean something, Parquet and Feather in full."""

from __future__ import annotations

import csv
import io
import sys
from pathlib import Path
from typing import Any

from porbnet.errors import StatementError, StorageError

DIGITS = 7
_CSV, _TSV, _PARQUET, _FEATHER = (".csv", ".txt", ""), (".tsv", ".tab"), (".parquet", ".pq"), (".feather", ".arrow")


def check_name(path: Path | None) -> None:
    """Refuse, before any work, a name whose suffix promises what cannot be written."""
    known = (*_CSV, *_TSV, *_PARQUET, *_FEATHER)
    if path is not None and path.suffix.lower() not in known:
        raise StatementError(f"--out {str(path)!r}: the name must end in .csv, .tsv, .parquet or .feather")
    if path is not None and path.suffix.lower() in (*_PARQUET, *_FEATHER):
        _pyarrow(path)


def write_table(columns: dict[str, Any], path: Path | None, digits: int = DIGITS) -> None:
    """Columns, as lists, to a file, whose suffix says how, or to standard output as CSV."""
    if path is None:
        sys.stdout.write(csv_text(columns, digits))
        return
    suffix = path.suffix.lower()
    try:
        if suffix in (*_PARQUET, *_FEATHER):
            arrow = _pyarrow(path)
            table = arrow.table(columns)
            if suffix in _PARQUET:
                arrow.parquet.write_table(table, path)
            else:
                arrow.feather.write_feather(table, path)
        else:
            path.write_text(csv_text(columns, digits, "\t" if suffix in _TSV else ","), encoding="utf-8", newline="")
    except OSError as error:
        raise StorageError(f"{str(path)!r} could not be written: {error.strerror or error}") from error


def csv_text(columns: dict[str, Any], digits: int = DIGITS, delimiter: str = ",") -> str:
    """Columns as CSV; numbers that were computed with so many significant digits, text as it is."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n", delimiter=delimiter)
    writer.writerow(columns)
    writer.writerows([_cell(v, digits) for v in row] for row in zip(*columns.values(), strict=True))
    return file.getvalue()


def _cell(value: Any, digits: int) -> Any:
    return f"{value:.{digits}g}" if isinstance(value, float) else "" if value is None else value


def _pyarrow(path: Path) -> Any:
    try:
        import pyarrow
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise StatementError(f"--out {str(path)!r}: this needs pyarrow (pip install 'porbnet[tables]')") from error
    return pyarrow
