"""Chains: seeds, parallel running, progress, and Ctrl-C.

A chain is any object that `Chain` describes. Work is cut into chunks of about a tenth of a second, between which
progress is shown and an interrupt is noticed; how it is cut never changes the draws.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import tempfile
import threading
import time
import uuid
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
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
    def total_sweeps(self) -> int:
        """Sweeps to make in all."""

    @property
    def finished(self) -> bool:
        """Whether they are made."""

    def advance(self, n_sweeps: int) -> int:
        """Make at most so many sweeps; returns how many were made."""

    def acceptance(self) -> dict[str, float]:
        """Share of accepted proposals by kind of move."""

    def draws(self) -> ChainDraws:
        """All draws so far."""


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
        """Ctrl-C sets the flag; a second one does what it always does. Only the main thread can listen."""
        if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is None:
            yield
            return
        previous = signal.getsignal(signal.SIGINT)

        def notice(number: int, frame: FrameType | None) -> None:
            if self.is_set() and callable(previous):
                previous(number, frame)
            self.set()

        signal.signal(signal.SIGINT, notice)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, previous)


def run_chain(make: Callable[[], Any], index: int, progress: bool, stop: Stop, note: str = "") -> ChainResult:
    """Make one chain and run it to its end or to an interrupt; `note` is shown until its first sweep is made."""
    with stop.on_interrupt():
        started = time.thread_time()
        bar = _bar(index, note) if progress else None
        chain = make()
        if bar is not None:
            bar.reset(chain.total_sweeps)
            bar.set_postfix_str(note)
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


def _bar(index: int, note: str) -> Any:
    from tqdm.auto import tqdm

    return tqdm(desc=f"chain {index + 1}", position=index, unit="sweep", leave=True, postfix=note or None)


def _rates(chain: Any) -> str:
    shown = ("network", "birth", "death", "local move")
    rates = chain.acceptance()
    phase = "warm-up" if chain.n_sweeps < chain.n_warmup else "draws"
    return phase + "".join(f", {name} {rates[name]:.2f}" for name in shown if name in rates)


def run_chains(
    makers: Sequence[Callable[[], Any]], n_jobs: int | None = None, progress: bool | None = None, note: str = ""
) -> list[ChainResult]:
    """Run chains in parallel by joblib: threads unless `joblib.parallel_config` says otherwise.

    Parameters
    ----------
    makers : one callable per chain that makes it, seed included
    n_jobs : as in joblib
    progress : show a bar per chain; None shows them if standard error is a terminal
    note : shown beside a bar until its chain has made a sweep

    Returns
    -------
    list of ChainResult
        All of one length; after Ctrl-C what there is, with a warning.
    """
    from joblib import Parallel, delayed

    shown = sys.stderr.isatty() if progress is None else bool(progress)
    stop = Stop()
    try:
        with stop.on_interrupt():
            results: list[ChainResult] = list(
                Parallel(n_jobs=n_jobs, prefer="threads")(
                    delayed(run_chain)(make, i, shown, stop, note) for i, make in enumerate(makers)
                )
            )
        interrupted = stop.is_set()
    finally:
        stop.forget()
    if interrupted or len({len(r.draws) for r in results}) > 1:
        results = _common(results)
        warnings.warn(
            f"interrupted: {len(results[0].draws)} draws of "
            + ("each chain" if len(results) == len(makers) else f"{len(results)} of {len(makers)} chains")
            + " are kept",
            PorbnetWarning,
            stacklevel=3,
        )
    return results


def _common(results: list[ChainResult]) -> list[ChainResult]:
    """Chains cut to one length, those that have much less than others left out: as many draws in all as can be."""
    lengths = [len(r.draws) for r in results]
    kept = max(lengths, key=lambda n: (n * sum(other >= n for other in lengths), -n))
    if kept == 0:
        raise SamplingInterrupted("interrupted before any chain had stored a draw: nothing to return")
    return [replace(r, draws=r.draws.first(kept)) for r in results if len(r.draws) >= kept]
