"""Chains: seeds, parallel running, progress, Ctrl-C, and when to checkpoint.

A chain is any object that `Chain` describes. Work is cut into chunks of about a tenth of a second, between which
progress is shown, an interrupt is noticed and a checkpoint may be written; how it is cut never changes the draws. Where
and how checkpoints are kept is a `Keeper`'s affair.
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
from numpy.typing import NDArray

from porbnet.base.compiled import announce
from porbnet.errors import PorbnetWarning, SamplingInterrupted
from porbnet.sampling.draws import ChainDraws

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

    def trouble(self) -> tuple[int, float]:
        """Times that lost precision was noticed and repaired, and the largest drift seen."""

    def draws(self) -> ChainDraws:
        """All draws so far."""

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that the next sweep needs beside what the chain was made from and its draws."""

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Continue from a snapshot and the draws made by then, bit for bit."""


class Recorder(Protocol):
    """Checkpoints of one chain.

    failure : why the last checkpoint could not be written; empty if it was
    """

    failure: str

    def restore(self, chain: Chain) -> float:
        """Put the chain where its last checkpoint left it, if there is one; returns the CPU seconds spent by then."""

    def due(self) -> bool:
        """Whether it is time for the next checkpoint."""

    def store(self, chain: Chain, seconds: float) -> None:
        """Write a checkpoint. A failure is noted, not raised: the chain goes on."""


class Keeper(Protocol):
    """Where checkpoints go; it may be pickled to another process."""

    @property
    def place(self) -> str:
        """Where they are, for messages."""

    def recorder(self, index: int) -> Recorder:
        """For chain number `index`."""


@dataclass(frozen=True, eq=False)
class ChainResult:
    """What is kept of a chain.

    draws : ChainDraws
    acceptance : share of accepted proposals by kind of move
    n_forced : times that lost precision was noticed and repaired
    drift : largest relative drift seen before a refresh
    seconds : CPU seconds of the chain's thread
    unsaved : why the chain's end could not be written to its checkpoint; empty if it was, or there is none
    """

    draws: ChainDraws
    acceptance: dict[str, float]
    n_forced: int
    drift: float
    seconds: float
    unsaved: str = ""


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


def run_chain(
    make: Callable[[], Chain], index: int, progress: bool, stop: Stop, keeper: Keeper | None = None
) -> ChainResult:
    """Make one chain and run it to its end or to an interrupt."""
    with stop.on_interrupt():
        started = time.thread_time()
        bar = _bar(index) if progress else None
        chain = make()
        recorder = None if keeper is None else keeper.recorder(index)
        if recorder is not None:
            started -= recorder.restore(chain)
        if bar is not None:
            bar.reset(chain.total_sweeps)
            bar.update(chain.n_sweeps)
        n_sweeps = 1
        while not chain.finished and not stop.is_set():
            before = time.perf_counter()
            made = chain.advance(n_sweeps)
            elapsed = max(time.perf_counter() - before, 1e-6)
            n_sweeps = int(np.clip(made * _CHUNK_SECONDS / elapsed, 1, 4 * n_sweeps + 1))
            if recorder is not None and (chain.finished or recorder.due()):
                recorder.store(chain, time.thread_time() - started)
            if bar is not None:
                bar.update(made)
                bar.set_postfix_str(_rates(chain), refresh=False)
        if recorder is not None and not chain.finished:
            recorder.store(chain, time.thread_time() - started)
        if bar is not None:
            bar.close()
        unsaved = "" if recorder is None else recorder.failure
        return ChainResult(chain.draws(), chain.acceptance(), *chain.trouble(), time.thread_time() - started, unsaved)


def _bar(index: int) -> Any:
    from tqdm.auto import tqdm

    return tqdm(desc=f"chain {index + 1}", position=index, unit="sweep", leave=True)


def _rates(chain: Chain) -> str:
    shown = ("network", "birth", "death", "local move")
    rates = chain.acceptance()
    phase = "warm-up" if chain.n_sweeps < chain.n_warmup else "draws"
    return phase + "".join(f", {name} {rates[name]:.2f}" for name in shown if name in rates)


def run_chains(
    makers: Sequence[Callable[[], Any]],
    n_jobs: int | None = None,
    progress: bool | None = None,
    cold: bool = False,
    keeper: Keeper | None = None,
) -> list[ChainResult]:
    """Run chains in parallel by joblib: threads unless `joblib.parallel_config` says otherwise.

    Parameters
    ----------
    makers : one callable per chain that makes it, seed included
    n_jobs : as in joblib
    progress : show a bar per chain; None shows them if standard error is a terminal
    cold : whether kernels have to be compiled first, which is then told beside the bars
    keeper : where checkpoints go, and come from if there are any

    Returns
    -------
    list of ChainResult
        All of one length; after Ctrl-C what there is, with a warning.
    """
    from joblib import Parallel, delayed

    shown = sys.stderr.isatty() if progress is None else bool(progress)
    if cold and shown:
        announce()
    stop = Stop()
    try:
        with stop.on_interrupt():
            results: list[ChainResult] = list(
                Parallel(n_jobs=n_jobs, prefer="threads")(
                    delayed(run_chain)(make, i, shown, stop, keeper) for i, make in enumerate(makers)
                )
            )
        interrupted = stop.is_set()
    finally:
        stop.forget()
    unsaved = next((r.unsaved for r in results if r.unsaved), "")
    if keeper is not None and unsaved:
        warnings.warn(
            f"the checkpoint in {keeper.place} is behind: {unsaved}; the fit is whole in memory, save it elsewhere",
            PorbnetWarning,
            stacklevel=4,
        )
    if interrupted or len({len(r.draws) for r in results}) > 1:
        results = _common(results, keeper)
        warnings.warn(
            f"interrupted: {len(results[0].draws)} draws of "
            + ("each chain" if len(results) == len(makers) else f"{len(results)} of {len(makers)} chains")
            + " are kept"
            + _how_to_go_on(keeper),
            PorbnetWarning,
            stacklevel=4,
        )
    return results


def _how_to_go_on(keeper: Keeper | None) -> str:
    return "" if keeper is None else f"; porbnet.resume({keeper.place!r}) goes on from here"


def _common(results: list[ChainResult], keeper: Keeper | None = None) -> list[ChainResult]:
    """Chains cut to one length, those that have much less than others left out: as many draws in all as can be."""
    lengths = [len(r.draws) for r in results]
    kept = max(lengths, key=lambda n: (n * sum(other >= n for other in lengths), -n))
    if kept == 0:
        raise SamplingInterrupted(
            "interrupted before any chain had stored a draw: nothing to return" + _how_to_go_on(keeper)
        )
    return [replace(r, draws=r.draws.first(kept)) for r in results if len(r.draws) >= kept]
