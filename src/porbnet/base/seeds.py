"""Random streams: everything random starts from a `random_state`, and blocks of draws get spawned seeds.

Draws are made in blocks of a fixed size, each from its own child of the seed, so that the same seed gives the
same draws whatever the chunk size or the number of draws asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np

from porbnet.base.checks import fail

RandomState: TypeAlias = int | np.random.Generator | np.random.SeedSequence | np.random.RandomState | None

DRAWS_PER_BLOCK = 256


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """The root seed of a call.

    A whole number or None gives a fresh root. A generator (new or legacy) is advanced by four words, so that
    a second call with the same generator gives other draws.
    """
    if random_state is None or (
        isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and random_state >= 0
    ):
        return np.random.SeedSequence(None if random_state is None else int(random_state))
    if isinstance(random_state, np.random.SeedSequence):
        # a fresh copy: spawning from it would change what the same seed gives next time
        return np.random.SeedSequence(
            random_state.entropy, spawn_key=random_state.spawn_key, pool_size=random_state.pool_size
        )
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(0, 2**32, size=4, dtype=np.uint32).tolist())
    if isinstance(random_state, np.random.RandomState):
        return np.random.SeedSequence(random_state.randint(0, 2**32, size=4, dtype=np.uint32).tolist())
    raise fail(
        "random_state",
        random_state,
        "it must be a whole number of at least 0, a numpy Generator, SeedSequence or RandomState, or None",
    )


def generator(random_state: RandomState) -> np.random.Generator:
    """One generator for a call that draws once."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    return np.random.default_rng(seed_sequence(random_state))


def block_generators(random_state: RandomState, n_draws: int) -> Iterator[tuple[np.random.Generator, int]]:
    """Generators of successive blocks, with how many of the block's draws are wanted."""
    root = seed_sequence(random_state)
    for start in range(0, n_draws, DRAWS_PER_BLOCK):
        bits = np.random.SFC64(root.spawn(1)[0])  # the fastest of NumPy's generators
        yield np.random.Generator(bits), min(DRAWS_PER_BLOCK, n_draws - start)
