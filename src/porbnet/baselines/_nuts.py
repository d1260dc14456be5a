"""NumPyro's NUTS on one core and in double precision; equal models with data of equal shapes share one program."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray

_ONE_CORE = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"


def jax_modules() -> tuple[Any, Any]:
    """The modules jax and numpyro; the error says how to get them."""
    if "jax" not in sys.modules and "xla_cpu_multi_thread_eigen" not in os.environ.get("XLA_FLAGS", ""):
        # small matrices: threads cost more than they bring, and the cores are busy with other fits
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_ONE_CORE}".strip()
    try:
        import jax
        import numpyro
    except ImportError as error:
        raise ImportError("this baseline needs NumPyro and JAX: pip install 'porbnet[paper]'") from error
    return jax, numpyro


def sample(
    model: Callable[..., None], data: dict[str, Any], n_warmup: int, n_draws: int, n_chains: int, depth: int, seed: int
) -> dict[str, FloatArray]:
    """Draws of every sampled quantity of a NumPyro model, chains joined, shape (n_chains * n_draws, ...).

    `model` is called with `data` as keywords. All it samples must be without constraints, since draws are not mapped.
    """
    jax, _ = jax_modules()
    with jax.enable_x64(True):
        kernel, run = _sampler(model, n_warmup, n_draws, depth)
        arrays = {name: jax.numpy.asarray(value) for name, value in data.items()}
        chains = [
            run(kernel.init(key, n_warmup, None, (), arrays), arrays)
            for key in jax.random.split(jax.random.PRNGKey(seed), n_chains)
        ]
        return {
            name: np.concatenate([np.asarray(chain[name], dtype=np.float64) for chain in chains]) for name in chains[0]
        }


@functools.lru_cache(maxsize=16)
def _sampler(model: Callable[..., None], n_warmup: int, n_draws: int, depth: int) -> tuple[Any, Any]:
    """The kernel, and a compiled function from its first state and the data to the draws.

    NumPyro's own driver compiles its loop anew at every call, which takes longer than a small fit.
    """
    jax, _ = jax_modules()
    from numpyro.infer import NUTS

    kernel = NUTS(model, max_tree_depth=depth)

    def run(state: Any, data: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            state = kernel.sample(state, (), data)
            return state, state.z

        # warm-up is kept too and left out at the end: one loop takes half the time to compile that two take
        draws = jax.lax.scan(step, state, None, length=n_warmup + n_draws)[1]
        return {name: values[n_warmup:] for name, values in draws.items()}

    return kernel, jax.jit(run)
