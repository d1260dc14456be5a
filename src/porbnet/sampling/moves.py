"""Moves from outside: a kernel of your own, made once a sweep beside those there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba.extending import overload

from porbnet.base import checks as _checks
from porbnet.base.compiled import OPTIONS, Passed, apply
from porbnet.kernels.tally import tally


@dataclass(frozen=True)
class Move:
    """A move of the collapsed sampler that is not part of the package.

    Parameters
    ----------
    name : str
        Under which its acceptance is shown.
    kernel : callable
        An `inner` kernel `move(state, rng)` over `porbnet.sampling.collapsed.state.State`, which leaves the posterior
        invariant and returns what came of it (`porbnet.kernels.tally`). P is current when it is called, or
        `state.units.updates` is negative; it leaves P current, or marks it stale by a negative number there.
    """

    name: str
    kernel: Callable[..., int]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise _checks.fail("name", self.name, "it must be a word")
        if not callable(self.kernel):
            raise _checks.fail("kernel", self.kernel, "it must be a kernel that takes (state, rng)")

    def counted(self, place: int) -> tuple[Passed, int]:
        """The kernel as an argument of others, with the place where it is counted."""
        return Passed(self.kernel), place


def make_moves(moves: Any, state: Any, rng: Any) -> None:
    """Make every one of a tuple of counted moves, and count it."""
    for move, place in moves:
        tally(state, place, move(state, rng))


@overload(make_moves, jit_options=OPTIONS)  # type: ignore[untyped-decorator]
def _make_moves(moves, state, rng):  # type: ignore[no-untyped-def]
    if len(moves) == 0:
        return lambda moves, state, rng: None

    def one_and_the_others(moves, state, rng):  # type: ignore[no-untyped-def]
        tally(state, moves[0][1], apply(moves[0][0], state, rng))
        make_moves(moves[1:], state, rng)

    return one_and_the_others
