"""What operating systems do each in their own way: locks on files, and replacing a file."""

from __future__ import annotations

import errno
import os
import time
from typing import IO, Any

_PATIENCE = 2.0  # seconds until a refusal to replace a file counts; virus scanners and indexers let go by then
_STEP = 0.05


def lock(file: IO[Any], wait: bool = False) -> None:
    """Hold an open file for this process alone; the system lets go of it when the file is closed or the process ends.

    wait : until it can be had, if another process has it

    Raises
    ------
    BlockingIOError
        If another process has it.
    OSError
        If the file system knows no locks.
    """
    if os.name == "nt":
        _lock_on_windows(file, wait)
        return
    import fcntl

    fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)


def _lock_on_windows(file: IO[Any], wait: bool) -> None:
    import msvcrt

    system: Any = msvcrt  # typed for Windows alone
    while True:
        file.seek(0)  # the first byte stands for the file; it may lie beyond its end
        try:
            system.locking(file.fileno(), system.LK_NBLCK, 1)
            return
        except OSError as error:
            if error.errno not in (errno.EACCES, errno.EDEADLK, errno.EAGAIN):
                raise
            if not wait:
                raise BlockingIOError(error.errno, "another process has it") from error
        time.sleep(_STEP)


def replace(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> None:
    """Give a file the name of another, which goes, in one step.

    Windows refuses while another program has the other open, as virus scanners do for a moment: it is tried for two
    seconds before that is an error.
    """
    until = time.monotonic() + _PATIENCE
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if os.name != "nt" or time.monotonic() > until:
                raise
        time.sleep(_STEP)


def user_mark() -> str:
    """What tells users of one temporary folder apart; empty where everybody has one of their own, as on Windows."""
    return str(os.getuid()) if hasattr(os, "getuid") else ""
