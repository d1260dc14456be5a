"""A million sweeps: does anything creep? Halves of one long chain against each other, and what is cached against anew.

The chain keeps an inverse and a mean that are updated by rank one and refreshed now and then. Rounding that piled up
would show as a drift of what is cached, which the chain measures at every refresh, and sooner or later in the draws.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.datasets import load_motorcycle
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.sampling.samplers import sampler_of
from porbnet.statement.defaults import default_prior

WARMUP, THIN = 2000, 100
LIMIT = 4.0  # standard errors; one of ten comparisons leaves it once in 1,600 runs
STATED: dict[str, Any] = {
    "lengthscale": "learned", "amplitude": "learned", "noise": "learned", "bias": "auto", "region": "auto",
    "units_per_lengthscale": "auto", "trend": None,
}  # fmt: skip


def long_chain(sweeps: int, seed: int = 0) -> dict[str, Any]:
    """One chain of so many sweeps on the motorcycle data, defaults throughout. A task of the validation."""
    data = load_motorcycle()
    X, y = np.asarray(data.X, dtype=np.float64), np.asarray(data.y, dtype=np.float64)
    prior, offset = default_prior(X, y, **STATED)
    problem = Problem.of(prior, X, y - offset)
    chain = sampler_of("collapsed").make_chain(problem, np.random.SeedSequence(seed), WARMUP, sweeps // THIN, THIN)
    chain.advance(chain.total_sweeps)
    n_forced, drift = chain.trouble()
    result = ChainResult(
        draws=chain.draws(), acceptance=chain.acceptance(), n_forced=n_forced, drift=drift, seconds=0.0
    )
    posterior = Posterior(problem, [result], offset)
    at = np.quantile(X[:, 0], [0.2, 0.5, 0.8])[:, None]
    named = {
        "K": posterior.n_units.astype(float), "log noise": np.log(posterior.noise),
        "log amplitude": np.log(posterior.amplitude), "log p(y)": posterior.log_likelihood,
    } | {f"f at {x:.1f}": v for x, v in zip(at[:, 0], posterior.f(at).T, strict=True)} | {
        f"log lengthscale at {x:.1f}": v for x, v in zip(at[:, 0], np.log(posterior.lengthscale(at)).T, strict=True)
    }  # fmt: skip
    return {
        "sweeps": sweeps,
        "drift": float(drift),
        "forced_refreshes": int(n_forced),
        "halves": {name: compared(values) for name, values in named.items()},
        "command": f"python -m porbnet.validation drift --sweeps {sweeps}",
    }


def compared(values: FloatArray) -> dict[str, float]:
    """Means of the halves of a chain, and their difference in standard errors."""
    from arviz_stats.base import array_stats

    halves = np.array_split(values, 2)
    ess = [float(array_stats.ess(half[None], method="mean")) for half in halves]
    errors = [float(half.std()) / math.sqrt(e) for half, e in zip(halves, ess, strict=True)]
    means = [float(half.mean()) for half in halves]
    return {
        "first": round(means[0], 5),
        "second": round(means[1], 5),
        "effective_draws": round(sum(ess)),
        "z": round((means[1] - means[0]) / math.hypot(*errors), 2),
    }
