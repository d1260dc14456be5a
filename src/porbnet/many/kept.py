"""The folder of a run: what was asked for, rows as they were made, models in files or archives.

    many.json            what was asked for; the same folder goes on only with the same
    rows/                a line of JSON per series: of earlier runs in kept.jsonl, of a batch in a file of its own
    models/              KEY.npz, or BATCH.tar with many of them
    table.csv, table.parquet, failures.csv, report.html

A row is written when its model is safe, and only appended: a process that dies takes the series at hand with it, and
half a line at the end of a file counts as none.
"""

from __future__ import annotations

import contextlib
import json
import os
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from porbnet.base.file_system import replace
from porbnet.errors import StatementError, StorageError
from porbnet.many.series_keys import Key, file_name, in_words, key_of

ASKED, ROWS, MODELS, KEPT = "many.json", "rows", "models", "kept.jsonl"
FORMAT = 1
Row = dict[str, Any]


class Folder:
    """Where results of many series are.

    place : of the folder
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self.place = Path(place)

    # --- what was asked for ---

    def begin(self, asked: dict[str, Any]) -> dict[str, Any]:
        """Make the folder, or go on with it if it holds a run of the same; returns what it was begun with."""
        if self.place.exists() and not self.place.is_dir():
            raise StatementError(f"out={str(self.place)!r} is a file: it must be a folder")
        known = self.asked()
        if known is not None:
            _require_same(self.place, known, asked)
            return known
        try:
            for name in (ROWS, MODELS):
                (self.place / name).mkdir(parents=True, exist_ok=True)
            _write(self.place / ASKED, [json.dumps({"format": FORMAT, **asked}, indent=2), "\n"])
        except OSError as error:
            raise StorageError(f"{str(self.place)!r} could not be written: {error.strerror or error}") from error
        return asked

    def asked(self) -> dict[str, Any] | None:
        """What the folder was begun with; None if it was not."""
        try:
            found = json.loads((self.place / ASKED).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise StorageError(f"{str(self.place / ASKED)!r} could not be read: {error}") from error
        if not isinstance(found, dict) or found.pop("format", None) != FORMAT:
            raise StorageError(f"{str(self.place / ASKED)!r} is not of this version of porbnet")
        return found

    # --- rows ---

    def rows(self) -> Iterator[Row]:
        """The last row of every series, in no order."""
        last: dict[Key, tuple[Path, int]] = {}
        for path in self._logs():
            for place, row in _lines(path):
                key = key_of(row["key"])
                if "failed" in row and key in last:  # a fit outlives a failure, whichever came first
                    continue
                last[key] = (path, place)
        wanted: dict[Path, set[int]] = {}
        for path, place in last.values():
            wanted.setdefault(path, set()).add(place)
        for path, places in wanted.items():
            for place, row in _lines(path):
                if place in places:
                    yield row

    def _logs(self) -> list[Path]:
        found = sorted((self.place / ROWS).glob("*.jsonl"))
        return sorted(found, key=lambda p: p.name != KEPT)  # what was kept first

    def settle(self) -> None:
        """Put all rows into one file; only when nobody writes."""
        logs = self._logs()
        if logs and (len(logs) > 1 or logs[0].name != KEPT):
            _write(self.place / ROWS / KEPT, (json.dumps(row) + "\n" for row in self.rows()))
            for path in logs:
                if path.name != KEPT:
                    path.unlink(missing_ok=True)

    # --- models ---

    def model_bytes(self, row: Row) -> bytes:
        """The file of a model, wherever it is."""
        where = row.get("model")
        if where is None:
            raise StatementError(
                f"series {in_words(key_of(row['key']))!r} has no model: fit_many was told to keep none"
            )
        path = self.place / MODELS / str(where["file"])
        try:
            with open(path, "rb") as file:
                file.seek(int(where.get("start", 0)))
                return file.read(int(where["size"]) if "size" in where else -1)
        except OSError as error:
            raise StorageError(f"{str(path)!r} could not be read: {error.strerror or error}") from error


class Log:
    """Rows of one batch, and its models if these go into an archive.

    folder : Folder
    name : of the batch
    done : whether series were fitted that have a row already
    """

    def __init__(self, folder: Folder, name: str) -> None:
        self._path = folder.place / ROWS / f"{name}.jsonl"
        self._models, self._name = folder.place / MODELS, name
        lines = _lines(self._path) if self._path.exists() else iter(())
        self.done = {key_of(row["key"]): "failed" not in row for _, row in lines}

    def model_path(self, key: Key) -> Path:
        """Where the model of a series goes as a file of its own."""
        return self._models / f"{file_name(key)}.npz"

    def archive(self, key: Key, content: bytes) -> dict[str, Any]:
        """Append a model to the archive of the batch; returns where it is."""
        path = self._models / f"{self._name}.tar"
        info = tarfile.TarInfo(f"{file_name(key)}.npz")
        info.size = len(content)
        with open(path, "ab") as file:
            _whole_blocks(file)
            file.write(info.tobuf())
            start = file.tell()
            file.write(content)
            file.write(b"\0" * (-len(content) % tarfile.BLOCKSIZE))
            file.flush()
            os.fsync(file.fileno())
        return {"file": path.name, "start": start, "size": len(content)}

    def add(self, row: Row) -> None:
        """Append a row, and have it on disk."""
        line = json.dumps(row, allow_nan=False) + "\n"
        with open(self._path, "ab") as file:
            if file.tell() and not _ends_line(self._path):
                line = "\n" + line
            file.write(line.encode())
            file.flush()
            os.fsync(file.fileno())


def _whole_blocks(file: BinaryIO) -> None:
    """Fill up what a writer that died has left half-written, so that what follows begins where tar looks for it."""
    rest = -file.tell() % tarfile.BLOCKSIZE
    if rest:
        file.write(b"\0" * rest)


def _ends_line(path: Path) -> bool:
    with open(path, "rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _lines(path: Path) -> Iterator[tuple[int, Row]]:
    """Rows of a file with the numbers of their lines; what is no row is passed over."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for number, line in enumerate(file):
                with contextlib.suppress(ValueError):
                    row = json.loads(line)
                    if isinstance(row, dict) and isinstance(row.get("key"), list):
                        yield number, row
    except OSError as error:
        raise StorageError(f"{str(path)!r} could not be read: {error.strerror or error}") from error


def _write(path: Path, texts: Iterable[str]) -> None:
    """A file, whole or not at all."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    with open(temporary, "w", encoding="utf-8") as file:
        file.writelines(texts)
        file.flush()
        os.fsync(file.fileno())
    replace(temporary, path)


def _require_same(place: Path, known: dict[str, Any], asked: dict[str, Any]) -> None:
    """Refuse to go on with something else."""
    for name, value in asked.items():
        if name == "seed" and value is None:
            continue
        if known.get(name) != value:
            raise StatementError(
                f"out={str(place)!r} holds fits with {name}={known.get(name)!r}, where {value!r} is asked for now: "
                "choose another folder, or overwrite=True"
            )
