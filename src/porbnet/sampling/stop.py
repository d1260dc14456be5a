"""When to stop: Ctrl-C, or the end of the time there is, told to chains in threads and in processes."""

from __future__ import annotations

import contextlib
import os
import signal
import tempfile
import threading
import uuid
from collections.abc import Iterator
from types import FrameType


class Stop:
    """Tells chains to stop: a flag among threads, a file among processes of one machine (made when it is pickled)."""

    def __init__(self, path: str | None = None) -> None:
        self._event = threading.Event()
        self._path = path

    def set(self) -> None:
        """Ask chains to stop."""
        self._event.set()
        if self._path is not None:
            with contextlib.suppress(OSError):
                open(self._path, "x").close()

    def is_set(self) -> bool:
        """Whether chains are to stop."""
        return self._event.is_set() or (self._path is not None and os.path.exists(self._path))

    def forget(self) -> None:
        """Remove the file."""
        if self._path is not None:
            with contextlib.suppress(OSError):
                os.remove(self._path)
            self._path = None

    def __reduce__(self) -> tuple[type[Stop], tuple[str]]:
        if self._path is None:
            self._path = os.path.join(tempfile.gettempdir(), f"porbnet-stop-{uuid.uuid4().hex}")
            if self._event.is_set():
                self.set()
        return Stop, (self._path,)

    @contextlib.contextmanager
    def on_interrupt(self) -> Iterator[None]:
        """Ctrl-C sets the flag; a second one does what it always does. Only the main thread can listen.

        Where Ctrl-C is ignored, as in a job that a script put in the background, it is meant for others: it stays so.
        """
        previous = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or previous in (None, signal.SIG_IGN):
            yield
            return

        def notice(number: int, frame: FrameType | None) -> None:
            if self.is_set() and callable(previous):
                previous(number, frame)
            self.set()

        signal.signal(signal.SIGINT, notice)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)
