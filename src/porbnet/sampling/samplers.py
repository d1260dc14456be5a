"""The samplers by name: which chain a fit is made of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from porbnet.base import checks as _checks
from porbnet.base.compiled import is_cold
from porbnet.sampling.published.options import PaperSampler
from porbnet.statement.prior import Prior


@dataclass(frozen=True)
class Sampler:
    """A way to reach the posterior.

    make_chain : takes (problem, seed, n_warmup, n_draws, thin) and returns a `porbnet.sampling.driver.Chain`
    kernel : its compiled loop
    check : raises `StatementError` if it cannot fit a prior
    """

    make_chain: Callable[..., Any]
    kernel: Callable[..., Any]
    check: Callable[[Prior], None]

    @property
    def note(self) -> str:
        """What to show until the first sweep is made."""
        return "compiling kernels, once" if is_cold(self.kernel) else ""


def _anything(prior: Prior) -> None:
    pass


def sampler_of(stated: Any) -> Sampler:
    """The sampler that a user has asked for: "collapsed", "paper" or a `PaperSampler`."""
    if isinstance(stated, PaperSampler) or (isinstance(stated, str) and stated == "paper"):
        from porbnet.sampling.published import chain as paper
        from porbnet.sampling.published.sweep import run as paper_run

        options = stated if isinstance(stated, PaperSampler) else PaperSampler()
        return Sampler(functools.partial(paper.PaperChain, sampler=options), paper_run, paper.check_prior)
    if isinstance(stated, str) and stated == "collapsed":
        from porbnet.sampling.collapsed.chain import CollapsedChain
        from porbnet.sampling.collapsed.sweep import run

        return Sampler(CollapsedChain, run, _anything)
    raise _checks.fail("sampler", stated, "it must be 'collapsed', 'paper' or a PaperSampler")
