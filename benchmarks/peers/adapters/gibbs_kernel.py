"""Predictions of a Gaussian process with Gibbs's kernel, given draws of its lengthscale, amplitude and noise; NumPy.

With ℓ = ℓ(x) and ℓ' = ℓ(x'):

    Cov(f(x), f(x')) = a² √(2 ℓ ℓ' / (ℓ² + ℓ'²)) exp(-(x - x')² / (ℓ² + ℓ'²))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import adapter
import numpy as np

JITTER = 1e-6


def kernel(xp: Any, x: Any, length: Any, other: Any, other_length: Any) -> Any:
    """Correlations between points with their lengthscales, shape (len(x), len(other)); xp is numpy or jax.numpy."""
    squares = length[:, None] ** 2 + other_length[None] ** 2
    overlap = xp.sqrt(2.0 * length[:, None] * other_length[None] / squares)
    return overlap * xp.exp(-((x[:, None] - other[None]) ** 2) / squares)


def law(
    problem: adapter.Problem, lengthscale: Callable[[int, np.ndarray], np.ndarray], amplitude: np.ndarray,
    noise: np.ndarray,
) -> dict[str, Any]:  # fmt: skip
    """The predictive law: one normal law per draw; f at some test points, drawn with each draw.

    lengthscale : of draw i at points
    amplitude, noise : one per draw
    """
    rng = np.random.default_rng(problem.seed)
    x, at = problem.X[:, 0], problem.X_test[:, 0]
    chosen = adapter.places(len(at))
    means, sds = np.empty((2, len(noise), len(at)))
    f = np.empty((1, len(noise), len(chosen)))
    for i in range(len(noise)):
        own, there, a2 = lengthscale(i, x), lengthscale(i, at), amplitude[i] ** 2
        covariance = a2 * kernel(np, x, own, x, own)
        covariance[np.diag_indices(len(x))] += noise[i] ** 2 + JITTER
        root = np.linalg.cholesky(covariance)
        cross = np.linalg.solve(root, a2 * kernel(np, x, own, at, there))
        means[i] = np.linalg.solve(root, problem.y) @ cross
        variance = np.maximum(a2 - np.sum(cross**2, axis=0), 1e-14)
        sds[i] = np.sqrt(variance + noise[i] ** 2)
        f[0, i] = means[i, chosen] + np.sqrt(variance[chosen]) * rng.standard_normal(len(chosen))
    return {"form": "mixture", "means": means, "sds": sds, "f_draws": f}
