"""Chains that go on until they can be trusted.

Sampling goes in rounds. By the end of round r every chain has made `first` GROWTH^r sweeps beyond warm-up, and a judge
looks at the draws: enough, or another round. Which sweeps a chain makes and which it keeps depends on its seed and on
their number alone, so that the same seed gives the same draws, and a chain from a checkpoint goes on to the same end:
where some chain is beyond the end of a round, that round had been judged, and was not enough.

The time there is ends it at once, with what there is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from porbnet.base.compiled import announce
from porbnet.sampling.driver import ChainResult, Keeper, Leg, Run, gathered, one_leg, time_each
from porbnet.sampling.stop import Stop

GROWTH = 1.5  # of the sweeps of all chains from one round to the next
MOST_ROUNDS = 60


@dataclass(frozen=True)
class Judgement:
    """What a judge says of the chains so far.

    enough : whether to stop
    skip : of each chain's draws, how many of the first to leave out
    words : a line for people who wait
    """

    enough: bool
    skip: int
    words: str


Judge = Callable[[list[ChainResult], float], Judgement]


@dataclass(frozen=True)
class Rounds:
    """How long chains go on.

    n_warmup : sweeps of warm-up
    first : sweeps beyond it in the first round
    max_seconds : that all of it may take, or None
    """

    n_warmup: int
    first: int
    max_seconds: float | None

    def goal(self, number: int) -> int:
        """Sweeps in all by the end of a round, counted from 0."""
        return self.n_warmup + int(self.first * GROWTH**number)

    def until(self, n_sweeps: int) -> int:
        """The first round that does not end before so many sweeps."""
        return next(number for number in range(MOST_ROUNDS) if self.goal(number) >= n_sweeps)


def run_in_rounds(
    makers: Sequence[Callable[[], Any]],
    rounds: Rounds,
    judge: Judge,
    n_jobs: int | None = None,
    progress: bool | None = None,
    cold: bool = False,
    keeper: Keeper | None = None,
) -> Run:
    """Run chains until the judge has enough of them, or time or patience is over.

    Parameters
    ----------
    makers : one callable per chain that makes it, seed included
    rounds : Rounds
    judge : takes the results of all chains, of one length, and the seconds so far
    n_jobs, progress, cold, keeper : as in `driver.run_chains`

    Returns
    -------
    Run
    """
    shown = sys.stderr.isatty() if progress is None else bool(progress)
    if cold and shown:
        announce()
    began, stop, number = time.monotonic(), Stop(), 0
    carried: list[ChainResult | None] = [None] * len(makers)
    skip = 0
    try:
        while True:
            left = None if rounds.max_seconds is None else rounds.max_seconds - (time.monotonic() - began)
            each, goal = time_each(left, len(makers), n_jobs), rounds.goal(number)
            legs = [Leg(goal, each, c) for c in carried]
            results = one_leg(makers, legs, n_jobs, shown, stop, keeper)
            carried = list(results)
            number = rounds.until(max(r.n_sweeps for r in results))  # of a checkpoint it may be a later one
            if stop.is_set() or not all(r.finished for r in results):
                break
            if any(r.n_sweeps < rounds.goal(number) for r in results):
                continue
            judged = judge(results, time.monotonic() - began)
            skip = judged.skip
            if judged.words and shown:
                print(judged.words, file=sys.stderr, flush=True)
            if judged.enough or number + 1 == MOST_ROUNDS:
                break
            number += 1
        interrupted = stop.is_set()
    finally:
        stop.forget()
    run = gathered(results, len(makers), keeper, interrupted, rounds.max_seconds)
    return run.without_first(skip) if not (interrupted or run.out_of_time) else run
