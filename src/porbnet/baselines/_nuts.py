"""NumPyro's NUTS, set up once per model and shape, on one core and in double precision."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet._checks import FloatArray

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

    `model` is called with `data` as keywords; arrays of the same shapes use the same compiled program.
    """
    jax, _ = jax_modules()
    with jax.enable_x64(True):
        mcmc = _mcmc(model, n_warmup, n_draws, n_chains, depth)
        arrays = {name: jax.numpy.asarray(value) for name, value in data.items()}
        mcmc.run(jax.random.PRNGKey(seed), **arrays)
        return {name: np.asarray(values, dtype=np.float64) for name, values in mcmc.get_samples().items()}


@functools.lru_cache(maxsize=8)
def _mcmc(model: Callable[..., None], n_warmup: int, n_draws: int, n_chains: int, depth: int) -> Any:
    from numpyro.infer import MCMC, NUTS

    return MCMC(
        NUTS(model, max_tree_depth=depth), num_warmup=n_warmup, num_samples=n_draws, num_chains=n_chains,
        chain_method="sequential", progress_bar=False, jit_model_args=True,
    )  # fmt: skip
