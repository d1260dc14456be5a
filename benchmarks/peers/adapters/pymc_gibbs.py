"""PyMC: `pm.gp.Marginal` with the Gibbs kernel, log lengthscale by ten smooth bumps with normal weights; NUTS."""

from __future__ import annotations

import logging
import warnings
from typing import Any

import adapter
import gibbs_kernel
import numpy as np

warnings.simplefilter("ignore")
import pymc as pm  # noqa: E402 - ArviZ warns at import
import pytensor.tensor as pt  # noqa: E402

N_WARMUP, MOST_DRAWS = 300, 500
BUMPS, WIDTH = np.linspace(0.0, 1.0, 10), 0.12


def bumps(x: np.ndarray) -> np.ndarray:
    """Gaussian bumps that sum to one at every point, shape (len(x), len(BUMPS))."""
    height = np.exp(-0.5 * (np.subtract.outer(x, BUMPS) / WIDTH) ** 2)
    return height / height.sum(axis=1, keepdims=True)


def lengthscale(x: Any, level: Any, spread: Any, values: Any) -> Any:
    height = pt.exp(-0.5 * ((x - BUMPS[None]) / WIDTH) ** 2)
    return pt.exp(level + spread * pt.dot(height / pt.sum(height, axis=1, keepdims=True), values))


def fit(problem: adapter.Problem) -> dict[str, np.ndarray]:
    logging.getLogger("pymc").setLevel(logging.ERROR)
    with pm.Model():
        level = pm.Normal("level", np.log(0.2), 1.0)
        spread = pm.HalfNormal("spread", 1.0)
        values = pm.Normal("values", 0.0, 1.0, shape=len(BUMPS))
        amplitude = pm.LogNormal("amplitude", np.log(0.5), 0.7)
        noise = pm.LogNormal("noise", np.log(0.1), 1.0)
        covariance = amplitude**2 * pm.gp.cov.Gibbs(1, lengthscale, args=(level, spread, values))
        pm.gp.Marginal(cov_func=covariance).marginal_likelihood("y", X=problem.X, y=problem.y, sigma=noise)
        started = False

        def look(trace: Any, draw: Any) -> None:
            nonlocal started
            if not started:
                started = True
                problem.compiled()
            if not draw.tuning and problem.time_is_over():
                raise KeyboardInterrupt  # which PyMC answers with the draws so far

        found = pm.sample(
            MOST_DRAWS, tune=N_WARMUP, chains=1, cores=1, random_seed=problem.seed, progressbar=False, callback=look,
            compute_convergence_checks=False,
        )  # fmt: skip
    return {name: found.posterior[name].values[0] for name in ("level", "spread", "values", "amplitude", "noise")}


def predict(found: dict[str, np.ndarray], problem: adapter.Problem) -> dict[str, Any]:
    def at(i: int, x: np.ndarray) -> np.ndarray:
        return np.exp(found["level"][i] + found["spread"][i] * (bumps(x) @ found["values"][i]))

    return gibbs_kernel.law(problem, at, found["amplitude"], found["noise"])


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"PyMC {pm.__version__}")
