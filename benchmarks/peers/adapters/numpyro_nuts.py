"""NumPyro's NUTS for the adapters: one chain, compiled once, stopped when the time is over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adapter
import jax
import numpy as np
from numpyro.infer import NUTS

N_WARMUP, MOST_DRAWS, LEAST_DRAWS, CHUNK = 300, 500, 50, 25


def draws(model: Callable[..., None], arrays: tuple[Any, ...], problem: adapter.Problem) -> dict[str, np.ndarray]:
    """Draws of all that the model samples, in its own units; shape (n_draws, ...) each."""
    kernel = NUTS(model, max_tree_depth=8)
    state = kernel.init(jax.random.PRNGKey(problem.seed), N_WARMUP, None, arrays, {})
    constrain = kernel.postprocess_fn(arrays, {})

    def step(state: Any, _: Any) -> Any:
        state = kernel.sample(state, arrays, {})
        return state, constrain(state.z)

    chunk = jax.jit(lambda state: jax.lax.scan(step, state, None, length=CHUNK)).lower(state).compile()
    problem.compiled()
    for _ in range(N_WARMUP // CHUNK):
        state, _ = jax.block_until_ready(chunk(state))
    kept: list[Any] = []
    while len(kept) * CHUNK < MOST_DRAWS and (len(kept) * CHUNK < LEAST_DRAWS or not problem.time_is_over()):
        state, found = jax.block_until_ready(chunk(state))
        kept.append(found)
    return {name: np.concatenate([np.asarray(each[name]) for each in kept]) for name in kept[0]}
