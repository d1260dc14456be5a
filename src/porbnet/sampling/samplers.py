"""The samplers by name: which chain a fit is made of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from porbnet.base import checks as _checks
from porbnet.base.compiled import is_cold
from porbnet.sampling.moves import Move
from porbnet.sampling.published.options import PaperSampler
from porbnet.statement.prior import Prior


@dataclass(frozen=True)
class CollapsedSampler:
    """The default sampler, with moves of your own; `sampler="collapsed"` has none.

    Parameters
    ----------
    moves : sequence of Move
        Each is made once a sweep, beside the sampler's own; see `porbnet.sampling.moves`.

    Examples
    --------
    >>> CollapsedSampler().moves
    ()
    """

    moves: Any = ()

    def __post_init__(self) -> None:
        moves = tuple(self.moves) if isinstance(self.moves, list | tuple) else (self.moves,)
        if not all(isinstance(m, Move) for m in moves):
            raise _checks.fail("moves", self.moves, "it must be a sequence of Move")
        object.__setattr__(self, "moves", moves)


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
    def is_cold(self) -> bool:
        """Whether the first sweep has to wait for the compiler."""
        return is_cold(self.kernel)


def sampler_of(stated: Any) -> Sampler:
    """The sampler that a user has asked for: "collapsed", "paper", a `CollapsedSampler` or a `PaperSampler`."""
    if isinstance(stated, PaperSampler) or (isinstance(stated, str) and stated == "paper"):
        from porbnet.sampling.published import chain as paper
        from porbnet.sampling.published.sweep import run as paper_run

        options = stated if isinstance(stated, PaperSampler) else PaperSampler()
        return Sampler(functools.partial(paper.PaperChain, sampler=options), paper_run, paper.check_prior)
    if isinstance(stated, CollapsedSampler) or (isinstance(stated, str) and stated == "collapsed"):
        from porbnet.sampling.collapsed.chain import CollapsedChain, check_prior
        from porbnet.sampling.collapsed.sweep import run

        moves = stated.moves if isinstance(stated, CollapsedSampler) else ()
        return Sampler(functools.partial(CollapsedChain, moves=moves), run, check_prior)
    allowed = "it must be 'collapsed', 'paper', a CollapsedSampler or a PaperSampler"
    raise _checks.fail("sampler", stated, allowed)
