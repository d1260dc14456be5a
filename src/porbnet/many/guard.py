"""The other end of `child`: starts processes that fit, hands series to them, and ends those that take too long."""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

_COMPILE_SECONDS = 300.0  # beside the time of a series, for kernels that have to be compiled first
_ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


class Guard:
    """One process that fits series, whatever estimators they are for."""

    def __init__(self) -> None:
        home = str(Path(__file__).parents[2])  # where the package is
        before = os.environ.get("PYTHONPATH")
        environment = os.environ | dict.fromkeys(_ONE_THREAD, "1")
        environment["PYTHONPATH"] = home if not before else os.pathsep.join([home, before])
        command = [sys.executable, "-m", "porbnet.many.child"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
        )
        self._prepared_for = b""
        self._late = False
        with contextlib.suppress(OSError):
            self._send({"path": sys.path})

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def fit(self, estimator: bytes, request: dict[str, Any], most_seconds: float | None) -> dict[str, Any] | None:
        """What came of a series: its row, {"failed": why} if it took too long; None if the process has died.

        estimator : pickled
        request : arguments of `one_fit.fit_series`
        """
        try:
            self._send(request | {"estimator": estimator})
            if estimator != self._prepared_for:
                self._answer(None if most_seconds is None else most_seconds + _COMPILE_SECONDS)
                self._prepared_for = estimator
            return self._answer(most_seconds)
        except (EOFError, OSError, pickle.UnpicklingError):
            self.end()
            if self._late:
                return {"failed": f"it was not done after {most_seconds:g} seconds", "seconds": most_seconds}
            return None

    @property
    def ended(self) -> bool:
        """Whether the process has ended."""
        return self._process.poll() is not None

    def kill(self) -> None:
        """End the process; whoever waits for its answer notices, and tidies up."""
        with contextlib.suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """End the process and tidy up."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(OSError):
                if pipe is not None:
                    pipe.close()
        self._process.wait()

    def how_it_died(self) -> str:
        """In words."""
        code = self._process.returncode
        return f"was ended by signal {-code}" if code is not None and code < 0 else f"ended with code {code}"

    def _send(self, message: dict[str, Any]) -> None:
        if self._process.stdin is None:
            raise EOFError
        pickle.dump(message, self._process.stdin)
        self._process.stdin.flush()

    def _answer(self, seconds: float | None) -> dict[str, Any]:
        """The next answer; time in which kernels are compiled, as is done once per machine, does not count."""
        left, compiling = seconds, False
        while True:
            began = time.monotonic()
            answer = self._next(left if seconds is None or not compiling else _COMPILE_SECONDS)
            if left is not None and not compiling:
                left = max(left - (time.monotonic() - began), 0.01)
            if "compiling" not in answer:
                return answer
            compiling = bool(answer["compiling"])

    def _next(self, seconds: float | None) -> dict[str, Any]:
        if self._process.stdout is None:
            raise EOFError
        timer = None if seconds is None else threading.Timer(seconds, self._too_late)
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            return dict(pickle.load(self._process.stdout))
        finally:
            if timer is not None:
                timer.cancel()

    def _too_late(self) -> None:
        self._late = True
        self.kill()


_IDLE: list[Guard] = []  # they end by themselves after a while; the next run may have use for them before
_LOCK = threading.Lock()


def _idle() -> Guard | None:
    """One that has nothing to do; those that have ended by themselves are tidied up."""
    while True:
        with _LOCK:
            if not _IDLE:
                return None
            guard = _IDLE.pop()
        if not guard.ended:
            return guard
        guard.end()


class Guards:
    """Processes that work for one run."""

    def __init__(self) -> None:
        self._busy: set[Guard] = set()
        self.closed = False

    def take(self) -> Guard:
        """An idle one, or a new one."""
        guard = _idle() or Guard()
        with _LOCK:
            self._busy.add(guard)
        if self.closed:
            guard.kill()
        return guard

    def give_back(self, guard: Guard) -> None:
        """For the next series, of this run or another."""
        with _LOCK:
            self._busy.discard(guard)
            _IDLE.append(guard)

    def drop(self, guard: Guard) -> None:
        """One that has died."""
        guard.end()
        with _LOCK:
            self._busy.discard(guard)

    def close(self) -> None:
        """End those that are at work."""
        self.closed = True
        with _LOCK:
            for guard in self._busy:
                guard.kill()


_RUNS: dict[str, Guards] = {}


def guards_of(run: str) -> Guards:
    """Those of a run in this process."""
    with _LOCK:
        return _RUNS.setdefault(run, Guards())


def close_run(run: str) -> None:
    """End what is under way for a run in this process."""
    with _LOCK:
        found = _RUNS.pop(run, None)
    if found is not None:
        found.close()


def end_idle() -> None:
    """End processes that have nothing to do."""
    with _LOCK:
        found = list(_IDLE)
        _IDLE.clear()
    for guard in found:
        guard.end()


atexit.register(end_idle)
