"""A process that fits series one after the other, at the word of the process that has started it.

It is told by its standard input, and answers by its standard output, pickled; both ends are of this package. What hangs
or dies here costs the series at hand and nothing else. It ends when it is told nothing more, or when the process that
has started it is gone.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import signal
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Iterator
from typing import Any

_IDLE_SECONDS = 60.0  # without a word, after which it ends
_KERNELS = {"n_chains": 1, "n_warmup": 1, "n_draws": 1, "thin": 1, "random_state": 0, "checkpoint": None}


def main() -> None:
    """Read what to do, do it, tell what came of it."""
    inlet, outlet = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what others print is no answer
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that has started this one
    watch = _Watch()
    sys.path[:] = list(dict.fromkeys([*sys.path, *pickle.load(inlet)["path"]]))
    pickled, estimator = b"", None
    while True:
        watch.busy = False
        try:
            request = pickle.load(inlet)
        except EOFError:
            return
        watch.busy = True
        asked = request.pop("estimator")
        if not pickled:
            _tell_of_compiling(outlet)
        if asked != pickled:
            pickled, estimator = asked, pickle.loads(asked)
            _compile(estimator, pickled, request["series"])
            _tell(outlet, {"ready": True})
        from porbnet.many.one_fit import fit_series

        _tell(outlet, fit_series(estimator, **request))


def _tell(outlet: Any, answer: dict[str, Any]) -> None:
    pickle.dump(answer, outlet)
    outlet.flush()


def _tell_of_compiling(outlet: Any) -> None:
    """Have it told when kernels are being compiled: series with many units need further ones, in the midst of a fit."""
    from numba.core import event

    class Teller(event.Listener):  # type: ignore[misc]
        depth = 0

        def on_start(self, event: Any) -> None:
            if not self.depth:
                _tell(outlet, {"compiling": True})
            self.depth += 1

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if not self.depth:
                _tell(outlet, {"compiling": False})

    event.register("numba:compile", Teller())  # type: ignore[no-untyped-call]


class _Watch(threading.Thread):
    """Ends the process when it is an orphan, or has been idle for long."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.busy = True
        self._parent = os.getppid()
        self.start()

    def run(self) -> None:
        """Look every half second."""
        idle_since = time.monotonic()
        while True:
            time.sleep(0.5)
            if self.busy:
                idle_since = time.monotonic()
            if os.getppid() != self._parent or time.monotonic() - idle_since > _IDLE_SECONDS:
                os._exit(0)


def _compile(estimator: Any, pickled: bytes, series: Any) -> None:
    """Have kernels in memory before the first fit, whose time may be limited; compiled once per machine."""
    from porbnet.many.one_fit import alone

    with _turn(pickled + str(_shape(series)).encode()), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # what is wrong with the series is told when it is fitted
        alone(estimator, **_KERNELS).fit(series.X, series.y, **series.also).posterior_.loo()


def _shape(series: Any) -> int:
    return int(series.X.shape[1]) if hasattr(series.X, "shape") else len(series.X.names)


@contextlib.contextmanager
def _turn(what: bytes) -> Iterator[None]:
    """The first process of a user on this machine to need something alone, others meanwhile wait; then all at once.

    Where the system has no locks nobody waits.
    """
    from importlib import metadata

    from porbnet.base.file_system import lock as hold
    from porbnet.base.file_system import user_mark

    done, lock = None, None
    with contextlib.suppress(OSError):
        place = os.path.join(tempfile.gettempdir(), f"porbnet-compiled-{user_mark()}")
        os.makedirs(place, mode=0o700, exist_ok=True)
        name = hashlib.sha256(f"{__file__} {metadata.version('porbnet')} ".encode() + what).hexdigest()[:24]
        done = os.path.join(place, name)
        if not os.path.exists(done):
            lock = open(os.path.join(place, "lock"), "ab")  # noqa: SIM115
            hold(lock, wait=True)
    try:
        yield
        if done is not None and lock is not None:
            with contextlib.suppress(OSError), open(done, "ab"):
                pass
    finally:
        if lock is not None:
            lock.close()


if __name__ == "__main__":
    main()
