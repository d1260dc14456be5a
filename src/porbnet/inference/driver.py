"""Chains: seeds, parallel running, progress, and Ctrl-C.

A chain is any object with `advance(n_sweeps)`, `n_sweeps`, `total_sweeps`, `finished`, `acceptance()` and `draws()`. Work is
cut into chunks of about a tenth of a second, between which progress is shown and an interrupt is noticed; how it is cut never
changes the draws.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Protocol

import numpy as np

from porbnet.errors import PorbnetWarning, SamplingInterrupted
from porbnet.inference.draws import ChainDraws

_CHUNK_SECONDS = 0.1


class Chain(Protocol):
    """What the driver needs of a chain."""

    n_sweeps: int
    n_warmup: int

    @property
    def total_sweeps(self) -> int: ...
    @property
    def finished(self) -> bool: ...
    def advance(self, n_sweeps: int) -> int: ...
    def acceptance(self) -> dict[str, float]: ...
    def draws(self) -> ChainDraws: ...


@dataclass(frozen=True, eq=False)
class ChainResult:
    """What is kept of a chain.

    draws : ChainDraws
    acceptance : share of accepted proposals by kind of move
    n_forced : times that lost precision was noticed and repaired
    drift : largest relative drift seen before a refresh
    seconds : CPU seconds of the chain's thread
    """

    draws: ChainDraws
    acceptance: dict[str, float]
    n_forced: int
    drift: float
    seconds: float


class _Interrupt:
    """Turns Ctrl-C into a flag while chains run; a second Ctrl-C raises as usual."""

    def __init__(self) -> None:
        self.flag = threading.Event()
        self._previous: Any = None
        self._installed = False

    def __enter__(self) -> threading.Event:
        if threading.current_thread() is threading.main_thread():
            self._previous = signal.getsignal(signal.SIGINT)
            if self._previous is not None:
                signal.signal(signal.SIGINT, self._notice)
                self._installed = True
        return self.flag

    def _notice(self, number: int, frame: FrameType | None) -> None:
        if self.flag.is_set() and callable(self._previous):
            self._previous(number, frame)
        self.flag.set()

    def __exit__(self, *details: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, self._previous)


def run_chain(make: Callable[[], Any], index: int, progress: bool, flag: threading.Event | None) -> ChainResult:
    """Make one chain and run it to its end or to an interrupt."""
    with _Interrupt() as own_flag:
        stop = own_flag if flag is None else flag
        started = time.thread_time()
        chain = make()
        bar = _bar(chain, index) if progress else None
        n_sweeps = 1
        while not chain.finished and not stop.is_set():
            before = time.perf_counter()
            made = chain.advance(n_sweeps)
            elapsed = max(time.perf_counter() - before, 1e-6)
            n_sweeps = int(np.clip(made * _CHUNK_SECONDS / elapsed, 1, 4 * n_sweeps + 1))
            if bar is not None:
                bar.update(made)
                bar.set_postfix_str(_rates(chain), refresh=False)
        if bar is not None:
            bar.close()
        trouble = chain.tuning.trouble
        return ChainResult(
            chain.draws(), chain.acceptance(), int(trouble[0]), float(trouble[1]), time.thread_time() - started
        )


def _bar(chain: Any, index: int) -> Any:
    from tqdm.auto import tqdm

    return tqdm(total=chain.total_sweeps, desc=f"chain {index + 1}", position=index, unit="sweep", leave=True)


def _rates(chain: Any) -> str:
    shown = ("birth", "death", "local move")
    rates = chain.acceptance()
    phase = "warm-up" if chain.n_sweeps < chain.n_warmup else "draws"
    return phase + "".join(f", {name} {rates[name]:.2f}" for name in shown if name in rates)


def run_chains(
    makers: list[Callable[[], Any]], n_jobs: int | None = None, progress: bool | None = None
) -> list[ChainResult]:
    """Run chains in parallel by joblib: threads unless `joblib.parallel_config` says otherwise.

    Parameters
    ----------
    makers : one callable per chain that makes it, seed included
    n_jobs : as in joblib
    progress : show a bar per chain; None shows them if standard error is a terminal

    Returns
    -------
    list of ChainResult
        All of one length: after Ctrl-C, what every chain has, with a warning.
    """
    from joblib import Parallel, delayed

    shown = sys.stderr.isatty() if progress is None else progress
    with _Interrupt() as flag:
        parallel = Parallel(n_jobs=n_jobs, prefer="threads")
        # a flag works among threads; another process sees Ctrl-C itself
        threads = parallel._backend.uses_threads or parallel._backend.supports_sharedmem
        shared = flag if threads else None
        results: list[ChainResult] = list(
            parallel(delayed(run_chain)(make, i, shown, shared) for i, make in enumerate(makers))
        )
    shortest, longest = (f(len(r.draws) for r in results) for f in (min, max))
    if flag.is_set() or shortest < longest:
        if shortest == 0:
            raise SamplingInterrupted("interrupted before every chain had stored a draw: nothing to return")
        warnings.warn(
            f"interrupted: {shortest} draws of each chain are kept", PorbnetWarning, stacklevel=3
        )
        results = [
            ChainResult(r.draws.first(shortest), r.acceptance, r.n_forced, r.drift, r.seconds) for r in results
        ]
    return results
