"""Compiled kernels on disk: one file for each, found again only by the very thing it was made from.

A file's name is a digest of all that decides what the machine code does: the sources of this package, the code of the
kernel and of what it calls, the types of its arguments, the versions of Python, Numba, llvmlite and NumPy, the
processor, and Numba's settings. So a file under the wrong name cannot come about, whenever a process is killed or a
disk is full. What it holds stands behind a check sum: a damaged file is dropped, and the kernel is compiled again. It
is written under another name first.

Files lie in NUMBA_CACHE_DIR if that is set, else beside the sources, else in the user's cache folder, whichever can be
written to. If none can, kernels are compiled in every process, and a warning says so once.

(Numba's own cache keeps an index and, apart from it, the kernels: a disk that is full between the two leaves the name
of a new kernel on an old one.)
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import pickle
import re
import shutil
import sys
import time
import uuid
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np

from porbnet.base.file_system import replace
from porbnet.base.fingerprint import fingerprint
from porbnet.errors import PorbnetWarning

UNKEPT = "unkept"  # in the name of a type: kernels that it is an argument of are not kept
_MAGIC = b"porbnet kernel 1\n"
_SUM = 32  # bytes of a SHA-256
_MOST_VERSIONS = 8  # of which kernels are kept in one place
_MOST_FILES = 500  # of one version
_ABANDONED = 3600.0  # seconds after which a file that was begun is nobody's any more
# rooms to the right of all kernels: no constant of theirs can be part of one
WITHOUT_KERNELS = {
    "baselines", "cli", "comparison", "datasets", "estimators", "interop", "many", "paper", "plot", "show", "storage",
    "studio", "work",
}  # fmt: skip
# settings of Numba that change what is compiled
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML")


# --- what a kernel was made from ------------------------------------------------------------------------------------


def _sources() -> list[str]:
    """Files of this package that can be part of a kernel."""
    package, found = Path(__file__).parents[1], []
    for folder, inside, files in os.walk(package):
        inside[:] = [name for name in inside if name != "__pycache__"]
        if Path(folder) == package:
            inside[:] = [name for name in inside if name not in WITHOUT_KERNELS]
        found += [os.path.join(folder, name) for name in files if name.endswith(".py")]
    return sorted(found)


def _dates() -> list[tuple[int, int]]:
    return [(state.st_mtime_ns, state.st_size) for state in map(os.stat, _SOURCES)]


def _text() -> str:
    """A digest of the sources; empty if there are none to read, as in a zip file."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        content = Path(name).read_bytes()
        digest.update(f"{os.path.basename(name)} {len(content)}\n".encode() + content)
    return digest.hexdigest() if _SOURCES else ""


# as this process has loaded them
_SOURCES = _sources()
try:
    _DATES, _TEXT = _dates(), _text()
except OSError:
    _DATES, _TEXT = [], ""


def _as_loaded() -> bool:
    """Whether the sources are still those that this process began with: a newer version may have been installed."""
    global _DATES
    try:
        dates = _dates()
        if dates != _DATES and _text() == _TEXT:
            _DATES = dates
    except OSError:
        return False
    return bool(_TEXT) and dates == _DATES


def _version(codegen: Any) -> str:
    """What is the same for all kernels of a process: sources, versions, processor, settings."""
    software = (sys.version, sys.implementation.cache_tag, numba.__version__, llvmlite.__version__, np.__version__)
    settings = tuple((name, getattr(numba.config, name, None)) for name in _SETTINGS)
    return repr((_TEXT, software, codegen.magic_tuple(), settings))


# --- where they are -------------------------------------------------------------------------------------------------


def folders() -> list[Path]:
    """Where kernels may lie, the preferred place first."""
    package = Path(__file__).parents[1]
    stated = getattr(numba.config, "CACHE_DIR", "")
    # two installations must not clear away each other's
    own = f"porbnet-{_short(os.path.abspath(package))}"
    if stated:
        return [Path(stated) / own]
    users = _users() / own
    return [package / "__pycache__" / "kernels", *([users] if users.is_absolute() else [])]


def _users() -> Path:
    """The user's folder for such things."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or os.path.expanduser("~"))
    if sys.platform == "darwin":
        return Path(os.path.expanduser("~/Library/Caches"))
    return Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


# --- the cache of one kernel ----------------------------------------------------------------------------------------


class KernelFiles:
    """The files of one kernel, one for each of its signatures, as Numba's dispatchers ask for them.

    Parameters
    ----------
    function : the kernel, as plain Python
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._name = re.sub(r"\W+", "_", f"{function.__module__}.{function.__qualname__}")[-60:]
        self._enabled = True

    @property
    def cache_path(self) -> str:
        """Where files are written, if they can be."""
        return str(folders()[0])

    def enable(self) -> None:
        """Use files, as at first."""
        self._enabled = True

    def disable(self) -> None:
        """Use no files."""
        self._enabled = False

    def flush(self) -> None:
        """Forget what is kept."""
        for path in self._all():
            _drop(path)

    def any(self) -> bool:
        """Whether there is a file of this kernel, for whatever signature."""
        return next(iter(self._all()), None) is not None

    def _all(self) -> Iterable[Path]:
        from numba.core.registry import cpu_target

        version = _short(_version(cpu_target.target_context.codegen()))
        for folder in folders():
            yield from (folder / version).glob(f"{self._name}-*.kernel")

    def _key(self, signature: Any, codegen: Any) -> str | None:
        """What the machine code is made from, in full; None if that cannot be told."""
        arguments = repr(signature)
        if not self._enabled or UNKEPT in arguments or not _as_loaded():
            return None
        made_from = fingerprint(self._function)
        return None if made_from is None else repr((_version(codegen), made_from, arguments))

    def _paths(self, key: str, codegen: Any) -> list[Path]:
        name = f"{self._name}-{_short(key)}.kernel"
        return [folder / _short(_version(codegen)) / name for folder in folders()]

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled kernel, or None if there is none that is sound."""
        context.refresh()
        codegen = context.codegen()
        key = self._key(signature, codegen)
        if key is None:
            return None
        for path in self._paths(key, codegen):
            with contextlib.suppress(OSError):
                content = _content(path, key)
                try:
                    if content is not None:
                        _used(path.parent)
                        return _rebuilt(content, context)
                except Exception:  # whatever is wrong with it, compiling does without
                    content = None
                _drop(path)
        return None

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Keep a compiled kernel, if there is a place for it."""
        codegen = compiled.codegen
        key = self._key(signature, codegen)
        if key is None or compiled.library.has_dynamic_globals or any(not p.can_cache for p in compiled.lifted):
            return
        from numba.core.serialize import dumps

        content = dumps(compiled._reduce())
        failures = []
        for path in self._paths(key, codegen):
            try:
                _write(path, key, content)
            except OSError as error:
                failures.append(f"{path.parent.parent}: {error.strerror or error}")
            else:
                _tidy(path.parent)
                return
        _tell("; ".join(failures))


def _content(path: Path, key: str) -> bytes | None:
    """What a file holds; None if it is damaged. A file that is not there is an OSError."""
    whole = path.read_bytes()
    start = len(_MAGIC) + _SUM
    sound = whole.startswith(_MAGIC) and hashlib.sha256(whole[start:]).digest() == whole[len(_MAGIC) : start]
    own = key.encode() + b"\n"
    return whole[start + len(own) :] if sound and whole[start:].startswith(own) else None


def _rebuilt(content: bytes, context: Any) -> Any:
    from numba.core.compiler import CompileResult

    return CompileResult._rebuild(context, *pickle.loads(content))


def _write(path: Path, key: str, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    body = key.encode() + b"\n" + content
    temporary = path.with_name(f"{path.stem}.{uuid.uuid4().hex[:12]}.part")
    try:
        temporary.write_bytes(_MAGIC + hashlib.sha256(body).digest() + body)
        replace(temporary, path)
    except OSError:
        _drop(temporary)
        raise


def _drop(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()


def _tidy(folder: Path) -> None:
    """Clear away files that were begun and left, the oldest of too many, and versions not used for the longest."""
    with contextlib.suppress(OSError):
        for path in folder.glob("*.part"):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                _drop(path)
        for path in _oldest(folder.glob("*.kernel"), _MOST_FILES):
            _drop(path)
        for path in _oldest((p for p in folder.parent.iterdir() if p.is_dir() and p != folder), _MOST_VERSIONS - 1):
            shutil.rmtree(path, ignore_errors=True)


def _oldest(paths: Iterable[Path], kept: int) -> list[Path]:
    """All but the newest."""
    dated = sorted((p.stat().st_mtime, p) for p in paths)
    return [p for _, p in dated[: max(0, len(dated) - kept)]]


@functools.cache
def _used(folder: Path) -> None:
    """Date a version, once in a process: the one that is not used for the longest is cleared away first."""
    with contextlib.suppress(OSError):
        os.utime(folder)


_told = False


def _tell(why: str) -> None:
    """Say that kernels are not kept, once in the life of a process."""
    global _told
    if not _told:
        _told = True
        warnings.warn(
            f"compiled code cannot be kept, so that every process compiles anew ({why}); "
            "NUMBA_CACHE_DIR=FOLDER names another place for it",
            PorbnetWarning,
            stacklevel=2,
        )
