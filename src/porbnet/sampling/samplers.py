"""The samplers by name: which chain a fit is made of."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from porbnet.base import checks as _checks
from porbnet.base.compiled import is_cold
from porbnet.sampling.moves import Move
from porbnet.sampling.problem import Problem
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
    kernel_of : takes a problem and returns the compiled loop of its chains
    check : raises `StatementError` if it cannot fit a prior
    """

    make_chain: Callable[..., Any]
    kernel_of: Callable[[Problem], Callable[..., Any]]
    check: Callable[[Prior], None]

    def is_cold(self, problem: Problem) -> bool:
        """Whether the first sweep has to wait for the compiler."""
        return is_cold(self.kernel_of(problem))


def collapsed_chain(
    problem: Problem, seed: Any, n_warmup: int, n_draws: int, thin: int, moves: tuple[Move, ...] = ()
) -> Any:
    """The chain of the collapsed sampler for a problem: in windows where that is possible."""
    from porbnet.sampling.collapsed.chain import CollapsedChain
    from porbnet.sampling.collapsed.windows.chain import WindowChain, goes_by_windows

    if not moves and goes_by_windows(problem):
        return WindowChain(problem, seed, n_warmup, n_draws, thin)
    return CollapsedChain(problem, seed, n_warmup, n_draws, thin, moves=moves)


def _collapsed_kernel(moves: tuple[Move, ...], problem: Problem) -> Callable[..., Any]:
    from porbnet.sampling.collapsed.sweep import run
    from porbnet.sampling.collapsed.windows.chain import goes_by_windows
    from porbnet.sampling.collapsed.windows.sweep import run_windows

    return run_windows if not moves and goes_by_windows(problem) else run


def sampler_of(stated: Any) -> Sampler:
    """The sampler that a user has asked for: "collapsed", "paper", a `CollapsedSampler` or a `PaperSampler`."""
    if isinstance(stated, PaperSampler) or (isinstance(stated, str) and stated == "paper"):
        from porbnet.sampling.published import chain as paper
        from porbnet.sampling.published.sweep import run as paper_run

        options = stated if isinstance(stated, PaperSampler) else PaperSampler()
        make_chain = functools.partial(paper.PaperChain, sampler=options)
        return Sampler(make_chain, lambda problem: paper_run, paper.check_prior)
    if isinstance(stated, CollapsedSampler) or (isinstance(stated, str) and stated == "collapsed"):
        from porbnet.sampling.collapsed.plan import check_prior

        moves = stated.moves if isinstance(stated, CollapsedSampler) else ()
        make_chain = functools.partial(collapsed_chain, moves=moves)
        return Sampler(make_chain, functools.partial(_collapsed_kernel, moves), check_prior)
    allowed = "it must be 'collapsed', 'paper', a CollapsedSampler or a PaperSampler"
    raise _checks.fail("sampler", stated, allowed)
