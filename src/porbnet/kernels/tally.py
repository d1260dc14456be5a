"""What came of a move, and the counting of it.

A move `move(state, rng)` returns what came of it: IDLE if there was nothing to try, else `rejected(kind)` or
`accepted(kind)`, kind 0 unless the move is of several kinds. The sweep counts it.
"""

from __future__ import annotations

from typing import Any

from porbnet.base.compiled import inner

IDLE = -1


@inner
def outcome(kind: int, was_accepted: bool) -> int:
    """What came of a proposal of a kind."""
    return 2 * kind + (1 if was_accepted else 0)


@inner
def tally(state: Any, first: int, came: int) -> None:
    """Count what came of a move whose first kind has the place `first`."""
    if came >= 0:
        state.tuning.tried[first + came // 2] += 1
        state.tuning.accepted[first + came // 2] += came % 2
