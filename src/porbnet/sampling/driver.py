"""Chains: parallel running, progress, Ctrl-C, time, and when to checkpoint.

A chain is any object that `Chain` describes. Work is cut into chunks of about a tenth of a second, between which
progress is shown, an interrupt is noticed and a checkpoint may be written; how it is cut never changes the draws. Where
and how checkpoints are kept is a `Keeper`'s affair.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from porbnet.base.compiled import announce
from porbnet.errors import PorbnetWarning, SamplingInterrupted
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.stop import Stop

_CHUNK_SECONDS = 0.1


class Chain(Protocol):
    """What the driver needs of a chain."""

    n_sweeps: int
    n_warmup: int
    thin: int
    goal: int | None

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
        """The draws that are kept so far."""

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that the next sweep needs beside what the chain was made from and its draws."""

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Continue from a snapshot and the draws made by then, bit for bit."""


class Recorder(Protocol):
    """Checkpoints of one chain.

    failure : why the last checkpoint could not be written; empty if it was
    written : what is on disk by now, for the recorder that goes on with the same chain
    """

    failure: str
    written: Any

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

    def recorder(self, index: int, written: Any = None) -> Recorder:
        """For chain number `index`, of which this much is on disk already; None: to be looked up by `restore`."""


@dataclass(frozen=True, eq=False)
class ChainResult:
    """What is kept of a chain.

    draws : ChainDraws
    acceptance : share of accepted proposals by kind of move
    n_forced : times that lost precision was noticed and repaired
    drift : largest relative drift seen before a refresh
    seconds : CPU seconds of the chain's thread
    unsaved : why the chain's end could not be written to its checkpoint; empty if it was, or there is none
    n_sweeps : made so far; finished : whether these are all it was to make
    state : where the chain stands, if it may have to go on; written : what is on disk of it
    """

    draws: ChainDraws
    acceptance: dict[str, float]
    n_forced: int
    drift: float
    seconds: float
    unsaved: str = ""
    n_sweeps: int = 0
    finished: bool = True
    state: dict[str, NDArray[Any]] | None = None
    written: Any = None


@dataclass(frozen=True, eq=False)
class Leg:
    """How far a chain is to go.

    goal : sweeps in all; None: as many as the chain was made for, after which it does not go on
    seconds : that it may take
    carried : what it has made before, or None to make it anew or from its checkpoint
    """

    goal: int | None = None
    seconds: float = math.inf
    carried: ChainResult | None = None


def run_chain(
    make: Callable[[], Chain],
    index: int,
    progress: bool,
    stop: Stop,
    keeper: Keeper | None = None,
    leg: Leg | None = None,
) -> ChainResult:
    """Make one chain and run it to its end, to an interrupt, or to the end of its time."""
    leg = Leg() if leg is None else leg
    with stop.on_interrupt():
        started, deadline = time.thread_time(), time.monotonic() + leg.seconds
        bar = _bar(index) if progress else None
        chain = make()
        chain.goal = leg.goal
        before, carried = None, leg.carried
        if carried is not None and carried.state is not None:
            chain.restore(carried.state, carried.draws)
            started, before = started - carried.seconds, carried.written
        recorder = None if keeper is None else keeper.recorder(index, before)
        if recorder is not None and carried is None:
            started -= recorder.restore(chain)
        if bar is not None:
            bar.reset(chain.total_sweeps)
            bar.update(chain.n_sweeps)
        n_sweeps = 1
        while not chain.finished and not stop.is_set() and time.monotonic() < deadline:
            began = time.perf_counter()
            made = chain.advance(n_sweeps)
            elapsed = max(time.perf_counter() - began, 1e-6)
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
        state = chain.snapshot() if leg.goal is not None else None
        seconds = time.thread_time() - started
        written = None if recorder is None else recorder.written
        return ChainResult(
            chain.draws(), chain.acceptance(), *chain.trouble(), seconds, unsaved, chain.n_sweeps, chain.finished,
            state, written,
        )  # fmt: skip


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
    max_seconds: float | None = None,
) -> Run:
    """Run chains in parallel by joblib: threads unless `joblib.parallel_config` says otherwise.

    Parameters
    ----------
    makers : one callable per chain that makes it, seed included
    n_jobs : as in joblib
    progress : show a bar per chain; None shows them if standard error is a terminal
    cold : whether kernels have to be compiled first, which is then told beside the bars
    keeper : where checkpoints go, and come from if there are any
    max_seconds : that it may take, or None

    Returns
    -------
    Run
        All chains of one length; after Ctrl-C what there is, with a warning.
    """
    shown = sys.stderr.isatty() if progress is None else bool(progress)
    if cold and shown:
        announce()
    stop = Stop()
    try:
        results = one_leg(makers, [Leg(seconds=time_each(max_seconds, len(makers), n_jobs))] * len(makers),
                          n_jobs, shown, stop, keeper)  # fmt: skip
        interrupted = stop.is_set()
    finally:
        stop.forget()
    return gathered(results, len(makers), keeper, interrupted, max_seconds)


def time_each(seconds: float | None, n_chains: int, n_jobs: int | None) -> float:
    """Of a time for all chains, what each may take: they wait for each other where there are fewer jobs than chains."""
    from joblib import effective_n_jobs

    if seconds is None:
        return math.inf
    at_once = max(1, min(int(effective_n_jobs(n_jobs)), n_chains))
    return max(seconds, 0.0) / math.ceil(n_chains / at_once)


def one_leg(
    makers: Sequence[Callable[[], Any]], legs: Sequence[Leg], n_jobs: int | None, shown: bool, stop: Stop,
    keeper: Keeper | None,
) -> list[ChainResult]:  # fmt: skip
    """Every chain as far as its leg says."""
    from joblib import Parallel, delayed

    with stop.on_interrupt():
        return list(
            Parallel(n_jobs=n_jobs, prefer="threads")(
                delayed(run_chain)(make, i, shown, stop, keeper, leg)
                for i, (make, leg) in enumerate(zip(makers, legs, strict=True))
            )
        )


@dataclass(frozen=True, eq=False)
class Run:
    """What came of running chains.

    results : one per chain, all of one length
    interrupted : whether Ctrl-C ended it
    out_of_time : whether its time did
    """

    results: list[ChainResult]
    interrupted: bool
    out_of_time: bool

    def without_first(self, n: int) -> Run:
        """The same with the first n draws of every chain left out."""
        return replace(self, results=[replace(r, draws=r.draws.after(n)) for r in self.results])


def gathered(
    results: list[ChainResult], n_chains: int, keeper: Keeper | None, interrupted: bool, max_seconds: float | None
) -> Run:
    """Chains cut to one length, with a warning if that was not planned or if a checkpoint is behind."""
    results = [replace(r, state=None, written=None) for r in results]
    unsaved = next((r.unsaved for r in results if r.unsaved), "")
    if keeper is not None and unsaved:
        warnings.warn(
            f"the checkpoint in {keeper.place} is behind: {unsaved}; the fit is whole in memory, save it elsewhere",
            PorbnetWarning,
            stacklevel=5,
        )
    out_of_time = not interrupted and not all(r.finished for r in results)
    if interrupted or len({len(r.draws) for r in results}) > 1 or len(results[0].draws) == 0:
        results = common_length(results, keeper, max_seconds if out_of_time else None)
    if interrupted or len(results) < n_chains:
        warnings.warn(
            ("interrupted" if interrupted else f"max_seconds={max_seconds:g} are over")
            + f": {len(results[0].draws)} draws of "
            + ("each chain" if len(results) == n_chains else f"{len(results)} of {n_chains} chains")
            + " are kept"
            + _how_to_go_on(keeper),
            PorbnetWarning,
            stacklevel=5,
        )
    return Run(results, interrupted, out_of_time)


def _how_to_go_on(keeper: Keeper | None) -> str:
    return "" if keeper is None else f"; porbnet.resume({keeper.place!r}) goes on from here"


def common_length(
    results: list[ChainResult], keeper: Keeper | None = None, max_seconds: float | None = None
) -> list[ChainResult]:
    """Chains cut to one length, those that have much less than others left out: as many draws in all as can be."""
    lengths = [len(r.draws) for r in results]
    kept = max(lengths, key=lambda n: (n * sum(other >= n for other in lengths), -n))
    if kept == 0:
        why = "interrupted" if max_seconds is None else f"max_seconds={max_seconds:g} were over"
        raise SamplingInterrupted(
            f"{why} before any chain had stored a draw: nothing to return" + _how_to_go_on(keeper)
        )
    return [replace(r, draws=r.draws.first(kept)) for r in results if len(r.draws) >= kept]
