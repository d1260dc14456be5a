"""When a fit may stop: the judge of chains that go on until they can be trusted.

They are enough when everything has converged, or when predictions have with `SPARE` times the effective draws that are
asked for and only what describes them (the lengthscale, the width) is open, which would take more than `PATIENCE` times
as many draws, as the verdict says. If all draws are not good enough, the second half of them may be: the first then
counts as warm-up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from porbnet.base.checks import FloatArray
from porbnet.posterior.diagnostics import ESS_PER_CHAIN, Diagnostics, Effort, diagnose, lacking
from porbnet.posterior.posterior import Posterior
from porbnet.posterior.reweighing import reweighed
from porbnet.sampling.driver import ChainResult, Run
from porbnet.sampling.problem import Problem
from porbnet.sampling.rounds import Judgement

FIRST_DRAWS = 400  # of each chain before it is looked at
SPARE, PATIENCE = 2.0, 3.0
MAX_SECONDS = 120.0  # of a fit whose number of draws is not stated


class Trust:
    """The judge of one fit.

    Parameters
    ----------
    problem : Problem
    offset : float
        Subtracted from y.
    describe : callable
        Takes a point of shape (n_dims,), returns its name as in "x = 3.2".
    n_draws : int or None
        That were asked for; None: as many as it takes.
    n_warmup, thin : int
        As stated.
    """

    def __init__(
        self,
        problem: Problem,
        offset: float,
        describe: Callable[[FloatArray], str],
        n_draws: int | None,
        n_warmup: int,
        thin: int,
    ) -> None:
        self.problem, self.offset, self.describe = problem, offset, describe
        self.n_draws, self.n_warmup, self.thin = n_draws, n_warmup, thin

    def _effort(self, results: list[ChainResult], seconds: float, out_of_time: bool = False) -> Effort:
        made = max(0, results[0].n_sweeps - self.n_warmup) // self.thin
        return Effort(seconds, self.n_draws, made, out_of_time)

    def judge(self, results: list[ChainResult], seconds: float) -> Judgement:
        """Whether the chains so far are enough."""
        (_, found), skip = self._better(results, self._effort(results, seconds))
        wanted = ESS_PER_CHAIN * len(results)
        open_ = [r for r in found.rows if not math.isnan(r.least_ess)]
        enough = is_enough(found, wanted)
        worst = min(open_, key=lambda r: r.least_ess, default=None)
        words = ""
        if worst is not None and not enough:
            left = seconds * (lacking(open_, wanted) - 1.0)
            words = (
                f"after {seconds:.0f} s: {worst.words} has R-hat {worst.rhat:.3f} and {worst.least_ess:,.0f} effective "
                f"draws of {wanted:,.0f}; about {in_words(left)} more"
            )
        return Judgement(enough, skip, words)

    def conclude(self, run: Run, seconds: float) -> tuple[Posterior, Diagnostics]:
        """The posterior of a run that is over, and what may be said of it."""
        effort = self._effort(run.results, seconds, run.out_of_time)
        if self.n_draws is None and run.out_of_time:
            return self._better(run.results, effort)[0]
        return self._diagnosed(run.results, effort)

    def _diagnosed(self, results: list[ChainResult], effort: Effort) -> tuple[Posterior, Diagnostics]:
        posterior = Posterior(self.problem, results, self.offset)
        if not self.problem.likelihood.integrates:
            posterior = reweighed(posterior)
        return posterior, diagnose(posterior, effort, self.describe)

    def _better(self, results: list[ChainResult], effort: Effort) -> tuple[tuple[Posterior, Diagnostics], int]:
        """All draws or their second half, whichever can be trusted more, and how many draws that leaves out."""
        every = self._diagnosed(results, effort)
        skip = len(results[0].draws) // 2
        if every[1].converged or skip < 2:
            return every, 0
        half = self._diagnosed([replace(r, draws=r.draws.after(skip)) for r in results], effort)
        return (half, skip) if _rank(half[1]) > _rank(every[1]) else (every, 0)


def is_enough(found: Diagnostics, wanted: float) -> bool:
    """Whether chains may stop; `wanted` effective draws are asked for."""
    if found.converged or not found.predictions_converged:
        return found.converged
    checked = [r for r in found.rows if not math.isnan(r.least_ess)]
    spare = all(r.least_ess >= SPARE * wanted for r in checked if r.predicts)
    return spare and lacking(checked, wanted) > PATIENCE


def _rank(found: Diagnostics) -> tuple[bool, bool, float]:
    """The better the larger; by R-hat in coarse steps, so that draws are not given away for chance."""
    rhat = found.worst_rhat.rhat  # NaN if there are too few draws
    steps = -math.inf if math.isnan(rhat) else -float(math.ceil(20.0 * math.log(max(rhat, 1.0))))
    return found.converged, found.predictions_converged, steps


def in_words(seconds: float) -> str:
    """A time for people."""
    if seconds < 90.0:
        return f"{max(seconds, 1.0):.0f} s"
    return f"{seconds / 60.0:.0f} minutes" if seconds < 5400.0 else f"{seconds / 3600.0:.0f} hours"
