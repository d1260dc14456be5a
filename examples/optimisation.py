"""Bayesian optimisation by Thompson sampling: find the least value of a costly function in few evaluations.

    python examples/optimisation.py

The function (Xiong et al., 2007) wiggles on the left and is smooth on the right, which is what a lengthscale that
varies is for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import minimize

from porbnet import PoRBNetRegressor
from porbnet.errors import PorbnetWarning

BOUNDS = (0.0, 1.0)
LEAST = -0.6249989  # of the function, at 0.2755


def wiggle(x: Any) -> Any:
    """The function to minimise, on [0, 1]."""
    return np.sin(30.0 * (x - 0.9) ** 4) * np.cos(2.0 * (x - 0.9)) + 0.5 * (x - 0.9)


def least_place(function: Any, bounds: tuple[float, float], n_grid: int = 200) -> float:
    """Where a drawn function is least: the best of a grid, then downhill by its own gradient."""
    grid = np.linspace(*bounds, n_grid)[:, None]
    start = grid[np.argmin(function(grid))]
    found = minimize(
        lambda x: float(function(x[None])[0]),
        start,
        jac=lambda x: function.gradient(x[None])[0],
        bounds=[bounds],
        method="L-BFGS-B",
    )
    return float(found.x[0])


def thompson(
    costly: Callable[[Any], Any],
    bounds: tuple[float, float],
    n_start: int = 6,
    n_rounds: int = 5,
    per_round: int = 3,
    seed: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """Places tried and values found: a few at random, then where functions drawn from the posterior are least.

    Each drawn function is a whole, plausible truth; going where it is least is to explore in proportion to the chance
    of being right. Several draws per round are evaluations that could run in parallel.
    """
    rng = np.random.default_rng(seed)
    x = rng.uniform(*bounds, n_start)
    y = costly(x)
    for _ in range(n_rounds):
        model = PoRBNetRegressor(noise=0.02, n_chains=2, n_warmup=300, n_draws=100, random_state=rng, progress=False)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PorbnetWarning)  # chains are short: a rough posterior will do here
            model.fit(x[:, None], y)
        functions = model.sample_functions(per_round, random_state=rng)
        tried = np.array([least_place(f, bounds) for f in functions])
        x, y = np.concatenate([x, tried]), np.concatenate([y, costly(tried)])
    return x, y


def main() -> None:
    """Compare with as many evaluations at random."""
    x, y = thompson(wiggle, BOUNDS)
    print(f"{len(y)} evaluations; least value {y.min():.4f} at {x[y.argmin()]:.4f} (truth: {LEAST:.4f} at 0.2755)")
    rng = np.random.default_rng(1)
    best = wiggle(rng.uniform(*BOUNDS, (10_000, len(y)))).min(axis=1)
    print(f"random search does as well in {np.mean(best <= y.min()):.1%} of runs; its median is {np.median(best):.4f}")


if __name__ == "__main__":
    main()
