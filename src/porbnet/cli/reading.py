"""Tables from files: text in all usual forms, packed or not; Parquet, Feather and Excel by libraries of their own."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import os
import re
import stat
import sys
import threading
import zlib
from pathlib import Path
from typing import Any

from porbnet.base.date_text import looks_like_date
from porbnet.cli.cell_text import MISSING, is_value
from porbnet.cli.common import note
from porbnet.cli.table import TableData
from porbnet.errors import StatementError

_DELIMITERS = (",", ";", "\t", "|")
_SPACES = " "  # any number of them
_PACKED = {b"\x1f\x8b": gzip.decompress, b"BZh": bz2.decompress, b"\xfd7zXZ": lzma.decompress}
_COLUMNAR = (".parquet", ".pq", ".feather", ".arrow")
_EXCEL = (".xlsx", ".xlsm", ".xls", ".ods")
_ENDLESS = ("/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
_PATIENCE = 2.0  # seconds of silence of a pipe before one is told
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def read_table(path: str, header: bool | None = None, quiet: bool = False) -> TableData:
    """A table from a file or, for "-", from standard input; with `quiet`, it is waited for in silence."""
    suffix = Path(path).suffix.lower()
    if path != "-" and suffix in _COLUMNAR:
        return _columnar(path, suffix)
    if path != "-" and suffix in _EXCEL:
        return _excel(path, header)
    where = "standard input" if path == "-" else repr(path)
    return parse(_text(_content(path, quiet), where), header, where)


def _content(path: str, quiet: bool) -> bytes:
    """All bytes of a file, unpacked."""
    try:
        content = _waited(path, quiet) if path == "-" or stat.S_ISFIFO(_mode(path)) else Path(path).read_bytes()
    except OSError as error:
        raise StatementError(f"{path!r} cannot be read: {error.strerror or error}") from error
    unpack = next((u for magic, u in _PACKED.items() if content.startswith(magic)), None)
    if unpack is None:
        return content
    try:
        return unpack(content)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise StatementError(f"{path!r} cannot be unpacked: {error}") from error


def _mode(path: str) -> int:
    mode = os.stat(path).st_mode
    if stat.S_ISBLK(mode) or (stat.S_ISCHR(mode) and os.path.realpath(path) in _ENDLESS):
        raise StatementError(f"{path!r} is a device: it must be a file or a pipe")
    return mode


def _waited(path: str, quiet: bool) -> bytes:
    """What comes through a pipe; where nothing comes for long, one is told what is waited for."""
    what = "standard input" if path == "-" else repr(path)
    timer = threading.Timer(_PATIENCE, lambda: note(f"note: waiting for data from {what}", quiet))
    timer.daemon = True
    timer.start()
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
    finally:
        timer.cancel()


def _text(content: bytes, where: str) -> str:
    """Text from bytes: UTF-8, UTF-16 with its mark, else Latin-1 as Windows has it."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError as error:
            raise StatementError(f"{where} is not text in UTF-8, UTF-16 or Latin-1 (byte {error.start})") from error
    if content.startswith(b"PK\x03\x04"):
        raise StatementError(f"{where} is a zip archive or a spreadsheet: unpack it, or give it its suffix, as .xlsx")
    if b"\x00" in content[:100_000]:
        raise StatementError(f"{where} is not text in UTF-8, UTF-16 or Latin-1 (byte {content.index(0)} is zero)")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return content.decode("cp1252")
        except UnicodeDecodeError:
            return content.decode("latin-1")


def _columnar(path: str, suffix: str) -> TableData:
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError as error:
        raise StatementError(f"{path!r}: Parquet and Feather need pyarrow (pip install 'porbnet[tables]')") from error
    if not os.path.exists(path):
        raise StatementError(f"{path!r} cannot be read: no such file")
    try:
        reader = pyarrow.feather if suffix in (".feather", ".arrow") else pyarrow.parquet
        table = reader.read_table(path)
    except (pyarrow.ArrowException, OSError) as error:
        raise StatementError(f"{path!r} cannot be read: {str(error).splitlines()[0]}") from error
    if table.num_rows == 0:
        raise StatementError(f"{path!r} has no rows")
    names = _names([str(n) for n in table.column_names], repr(path))
    return TableData(names, list(table.columns), list(range(1, table.num_rows + 1)))


def _excel(path: str, header: bool | None) -> TableData:
    try:
        import pandas
    except ImportError as error:
        raise StatementError(f"{path!r}: spreadsheets need pandas (pip install 'porbnet[tables]')") from error
    try:
        frame = pandas.read_excel(path, header=None, dtype=object)
    except ImportError as error:
        raise StatementError(f"{path!r}: spreadsheets need openpyxl (pip install 'porbnet[tables]')") from error
    except OSError as error:
        raise StatementError(f"{path!r} cannot be read: {error.strerror or error}") from error
    except Exception as error:  # of the library's own many kinds
        raise StatementError(f"{path!r} cannot be read: {error}") from error
    rows = [(i + 1, [_as_text(c) for c in row]) for i, row in enumerate(frame.itertuples(index=False))]
    return _assembled(rows, header, repr(path), "thousands")


def _as_text(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)


def parse(text: str, header: bool | None = None, where: str = "the table") -> TableData:
    """A table from text: the delimiter, a decimal comma and a line of names are noticed."""
    delimiter = _delimiter(text)
    return _assembled(_rows(text, delimiter), header, where, "thousands" if delimiter == "," else "decimal")


def _assembled(lines: list[tuple[int, list[str]]], header: bool | None, where: str, comma: str) -> TableData:
    """A table from rows of cells with their numbers."""
    lines = [(n, [cell.strip() for cell in row]) for n, row in lines if any(cell.strip() for cell in row)]
    if not lines:
        raise StatementError(f"{where} has no rows")
    rows = [row for _, row in lines]
    width = len(rows[0])
    for number, row in lines:
        if len(row) != width:
            raise StatementError(f"line {number} of {where} has {len(row)} cells, the first has {width}")
    named = header if header is not None else not all(map(is_value, rows[0]))
    names = _names(rows[0], where) if named else [str(i + 1) for i in range(width)]
    if named:
        lines = lines[1:]
    if not lines:
        raise StatementError(f"{where} has names but no rows")
    columns = [[None if row[j].lower() in MISSING else row[j] for _, row in lines] for j in range(width)]
    return TableData(names, columns, [n for n, _ in lines], named, comma)


def _names(given: list[str], where: str) -> list[str]:
    """Names of columns, each once, without what a terminal or a page would obey instead of show."""
    names = [visible(c) or f"column {i + 1}" for i, c in enumerate(given)]
    if len(set(names)) < len(names):
        repeated = next(n for n in names if names.count(n) > 1)
        raise StatementError(f"{where} has two columns called {repeated!r}")
    return names


def visible(name: str) -> str:
    """A name with control characters replaced."""
    return _UNSEEN.sub("\ufffd", name)


def _rows(text: str, delimiter: str) -> list[tuple[int, list[str]]]:
    """Rows with the numbers of the lines they end on."""
    if delimiter == _SPACES:
        return [(n, line.split()) for n, line in enumerate(text.splitlines(), start=1)]
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
    # a comma may be a decimal comma where another one cuts too
    best = next((d for d in (";", "\t", "|", ",") if scores[d] > 1), None)
    spaces = {len(line.split()) for line in lines}
    spaced = len(spaces) == 1 and min(spaces) > 1 and not all(looks_like_date(line.strip()) for line in lines[1:])
    if best == "," and spaced and all("," in word for line in lines[1:] for word in line.split()):
        return _SPACES  # decimal commas
    if best is not None:
        return best
    present = [d for d in ("\t", ";", ",") if all(d in line for line in lines)]
    if present and lines:
        return present[0]
    return _SPACES if spaced else ","
