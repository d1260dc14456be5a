"""One file of arrays and a JSON header, written whole or not at all, and read with suspicion.

The file is a zip of uncompressed .npy members and `header.json`; `numpy.load` opens it. Its zip comment, the last 64
bytes, is the SHA-256 of all bytes before: whatever is cut short, flipped or edited is refused before it is looked at.
A file that was made to deceive can have the right sum, so that everything else is checked too: since members are not
compressed, none can be larger than the file, and no number in the file decides how much memory is taken.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import os
import re
import stat
import uuid
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.file_system import replace
from porbnet.errors import ModelFileError, StorageError

HEADER = "header.json"
DTYPES = ("<f8", "<f4", "<i8", "<u8", "|u1", "|b1")
_MEMBER = re.compile(r"[A-Za-z0-9_.\-]{1,100}\.npy")
_MOST_MEMBERS = 10_000
_NPY = re.compile(
    rb"\x93NUMPY\x01\x00..\{'descr': '(?P<dtype>"
    + b"|".join(re.escape(d.encode()) for d in DTYPES)
    + rb")', 'fortran_order': False, 'shape': \((?P<shape>|\d{1,20},|\d{1,20}(, \d{1,20}){1,3})\), \}",
    re.DOTALL,
)
_LONGEST = 2**40  # of an array, along a dimension
_SEAL = 64  # hexadecimal digits of the sum
_NO_SEAL = b"0" * _SEAL


@dataclass(frozen=True, eq=False)
class Archive:
    """What a file holds.

    version : of the format of this kind of file
    header : anything that JSON can hold
    arrays : by name
    """

    version: int
    header: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


# --- writing -------------------------------------------------------------------------------------------------------


def write(
    path: str | os.PathLike[str], kind: str, version: int, header: dict[str, Any], arrays: dict[str, Any]
) -> None:
    """Write a file: first under another name in the same folder, then, when it is safe on disk, under its own.

    The same content gives the same bytes.

    Raises
    ------
    StorageError
        If it cannot be written; what stood under that name before is then still there.
    """
    target = Path(path)
    if not target.name:
        raise StorageError(f"{os.fspath(path)!r} could not be written: it is a folder, and no name of a file")
    text = json.dumps({"kind": kind, "version": version, "content": header}, allow_nan=False)
    temporary = target.with_name(f".{target.name[:100]}.{uuid.uuid4().hex}.part")
    try:
        with open(temporary, "x+b") as file:
            _write_zip(file, text.encode(), arrays)
            file.flush()
            os.fsync(file.fileno())
        replace(temporary, target)
        _sync_folder(target.parent)
    except OSError as error:
        with contextlib.suppress(OSError):
            os.remove(temporary)
        raise StorageError(f"{os.fspath(path)!r} could not be written: {reason(error)}") from error


def _write_zip(file: Any, header: bytes, arrays: dict[str, Any]) -> None:
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        archive.comment = _NO_SEAL
        archive.writestr(_member(HEADER), header)
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, _plain(array), allow_pickle=False)
            archive.writestr(_member(f"{name}.npy"), buffer.getbuffer())
    digest = hashlib.sha256()
    file.seek(0)
    left = file.seek(0, os.SEEK_END) - _SEAL
    file.seek(0)
    while left > 0:
        block = file.read(min(left, 1 << 20))
        digest.update(block)
        left -= len(block)
    file.seek(-_SEAL, os.SEEK_END)
    file.write(digest.hexdigest().encode())


def _plain(array: Any) -> NDArray[Any]:
    """An array in one of the few forms that are stored."""
    given = np.asarray(array)
    kinds = {"f": "<f8", "i": "<i8", "u": "<u8", "b": "|b1"}
    kind = given.dtype.str if given.dtype.str in DTYPES else kinds[given.dtype.kind]
    return given.astype(kind, order="C", copy=False)


def _member(name: str) -> zipfile.ZipInfo:
    """With a fixed date, so that the same content gives the same bytes."""
    return zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))


def _sync_folder(folder: Path) -> None:
    """Make a new name in a folder safe, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def reason(error: OSError) -> str:
    """Why a file operation failed, in words."""
    return error.strerror or str(error) or type(error).__name__


# --- reading -------------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str], kind: str, newest: int) -> Archive:
    """Read a file of a kind; versions up to `newest` are known.

    Raises
    ------
    StorageError
        If it cannot be read.
    ModelFileError
        If it is not such a file, or not whole, or newer.
    """
    name = os.fspath(path)
    content = _bytes_of(name)
    try:
        _check_seal(content)
        header, arrays = _contents(content)
        version = _check_kind(header, kind, newest)
        if not isinstance(header.get("content"), dict):
            raise ModelFileError("its header has no content")
    except ModelFileError as error:
        raise ModelFileError(f"{name!r} is refused: {error}") from error
    return Archive(version, header["content"], arrays)


def _bytes_of(name: str) -> bytes:
    try:
        with open(name, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise StorageError(f"{name!r} could not be read: it is not a file")
            return file.read()
    except StorageError:
        raise
    except OSError as error:
        raise StorageError(f"{name!r} could not be read: {reason(error)}") from error
    except (ValueError, MemoryError) as error:  # a zero byte in the name; a file beyond the memory
        raise StorageError(f"{name!r} could not be read: {error or 'not enough memory'}") from error


def _check_seal(content: bytes) -> None:
    if not content:
        raise ModelFileError("it is empty")
    if not content.startswith(b"PK\x03\x04"):
        raise ModelFileError(f"porbnet did not write it (it begins with {content[:4]!r})")
    seal = content[-_SEAL:]
    if not re.fullmatch(rb"[0-9a-f]{64}", seal):
        raise ModelFileError("it has no check sum at its end: it was cut short, or porbnet did not write it")
    if hashlib.sha256(memoryview(content)[:-_SEAL]).hexdigest().encode() != seal:
        raise ModelFileError("its check sum does not fit its content: it was damaged or edited")


def _contents(content: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = archive.infolist()
            _check_directory(infos, len(content))
            header = _parsed(archive.read(HEADER))
            arrays = {i.filename[:-4]: _array(i.filename, archive.read(i)) for i in infos if i.filename != HEADER}
    except ModelFileError:
        raise
    except Exception as error:  # zipfile raises much more than BadZipFile on bytes made up to confuse it
        raise ModelFileError(f"it is not a sound zip file ({type(error).__name__}: {error})") from error
    return header, arrays


def _check_directory(infos: list[zipfile.ZipInfo], length: int) -> None:
    names = [i.filename for i in infos]
    if len(infos) > _MOST_MEMBERS or len(set(names)) != len(names) or HEADER not in names:
        raise ModelFileError("its list of members is not that of a file of porbnet")
    for info in infos:
        if info.filename != HEADER and not _MEMBER.fullmatch(info.filename):
            raise ModelFileError(f"it has a member {info.filename[:100]!r}, which porbnet does not write")
        if info.compress_type != zipfile.ZIP_STORED or info.compress_size != info.file_size or info.flag_bits & 1:
            raise ModelFileError(f"its member {info.filename!r} is compressed or encrypted")
    total = sum(i.file_size for i in infos)
    if total > length:
        raise ModelFileError(f"its members claim {total:,} bytes, but it has {length:,}")


def _parsed(text: bytes) -> dict[str, Any]:
    """JSON without repeated names, NaN and infinities."""

    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        result = dict(pairs)
        if len(result) != len(pairs):
            raise ModelFileError("its header says something twice")
        return result

    def refuse(word: str) -> Any:
        raise ModelFileError(f"its header has {word} for a number")

    try:
        header = json.loads(text.decode(), object_pairs_hook=unique, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise ModelFileError(f"its header is not JSON ({error})") from error
    if not isinstance(header, dict):
        raise ModelFileError("its header is not a JSON object")
    return header


def _check_kind(header: dict[str, Any], kind: str, newest: int) -> int:
    if header.get("kind") != kind:
        raise ModelFileError(f"it is a {str(header.get('kind'))[:40]!r}, not a {kind!r}")
    version = header.get("version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ModelFileError(f"its version is {str(version)[:40]}, which is none")
    if version > newest:
        raise ModelFileError(
            f"its format is version {version} and this porbnet knows up to {newest}: a newer porbnet wrote it"
        )
    return version


def _array(name: str, content: bytes) -> NDArray[Any]:
    """An array from the bytes of an .npy file: no pickles, a plain dtype, as many bytes as its shape says.

    The header is matched to the letter, as `numpy.lib.format` writes it: numpy's own reader is more lenient, and its
    warnings could be dealt with only by means that other threads would feel.
    """
    found = _NPY.match(content)
    if found is None:
        raise ModelFileError(f"its array {name!r} cannot be understood: only plain numbers are read")
    start = 10 + int.from_bytes(content[8:10], "little")
    if content[found.end() : start].strip(b" ") != b"\n" or start > len(content):
        raise ModelFileError(f"its array {name!r} has a header that porbnet does not write")
    dtype, shape = np.dtype(found["dtype"].decode()), tuple(int(n) for n in found["shape"].split(b",") if n.strip())
    wanted, there = math.prod(shape) * dtype.itemsize, len(content) - start
    if wanted != there or max(shape, default=0) > _LONGEST:
        raise ModelFileError(f"its array {name!r} claims {wanted:,} bytes and has {there:,}")
    return np.frombuffer(content, dtype, offset=start).reshape(shape).copy()
