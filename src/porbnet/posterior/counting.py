"""Predictions of counts: moments, distribution function and quantiles of a new one, over draws and f together."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.likelihood.base import Drawn
from porbnet.likelihood.counted import MOST_LOG, Counted
from porbnet.posterior.function_moments import Rows
from porbnet.posterior.posterior import FMoments, Posterior

MOST_DRAWS = 800  # evenly spaced, that the distribution function is made of
# f ~ N(m, s²) by three nodes, exact for polynomials of degree 5
_NODES, _WEIGHTS = (-math.sqrt(3.0), 0.0, math.sqrt(3.0)), (1.0 / 6.0, 2.0 / 3.0, 1.0 / 6.0)
_MOST_STEPS = 200


def mean_and_sd(posterior: Posterior, moments: FMoments) -> FloatArray:
    """Averages of the rate, of its square and of what a count varies more than a Poisson one, shape (3, n_points)."""
    likelihood: Counted = posterior.problem.likelihood  # type: ignore[assignment]
    rate = np.exp(np.minimum(moments.mean + 0.5 * moments.variance, MOST_LOG))
    root = np.exp(np.minimum(moments.mean + moments.variance, MOST_LOG))  # of the average of its square
    excess = likelihood.excess(root, posterior.drawn)
    return np.stack([rate.mean(axis=0), np.mean(root * root, axis=0), excess.mean(axis=0)])


def _nodes(
    posterior: Posterior, points: FloatArray, exposure: FloatArray | None
) -> Iterator[tuple[Rows, list[FloatArray], Drawn]]:
    """Points some at a time: f at each node, shape (n_draws, n_rows), and what draws say."""
    few = max(1, len(posterior) // MOST_DRAWS)
    chosen = slice(few - 1, None, few)
    for rows, moments in posterior.f_moments(points):
        mean, sd = moments.mean[chosen], np.sqrt(moments.variance[chosen])
        drawn = posterior.drawn.taken(chosen).at(None if exposure is None else exposure[rows])
        yield rows, [mean + node * sd for node in _NODES], drawn


def _distribution(likelihood: Counted, k: FloatArray, nodes: list[FloatArray], drawn: Drawn) -> FloatArray:
    total = np.zeros(len(k))
    for weight, f in zip(_WEIGHTS, nodes, strict=True):
        total += weight * likelihood.distribution(k, f, drawn).mean(axis=0)
    return total


def distribution_at(
    posterior: Posterior, points: FloatArray, k: FloatArray, exposure: FloatArray | None = None
) -> FloatArray:
    """P(new count ≤ k) at points, shape (n_functions, n_points), k of the same shape."""
    likelihood: Counted = posterior.problem.likelihood  # type: ignore[assignment]
    result = np.empty(k.shape)
    for rows, nodes, drawn in _nodes(posterior, points, exposure):
        for i in range(len(k)):
            result[i, rows] = _distribution(likelihood, k[i, rows], nodes, drawn)
    return result


def quantiles(
    posterior: Posterior, points: FloatArray, q: FloatArray, exposure: FloatArray | None, of_f: FloatArray
) -> FloatArray:
    """Least whole numbers k with P(new count ≤ k) ≥ q, shape (n_points, n_quantiles).

    of_f : (n_points, n_quantiles) quantiles of f, from which the search begins
    """
    likelihood: Counted = posterior.problem.likelihood  # type: ignore[assignment]
    result = np.empty(of_f.shape)
    for rows, nodes, drawn in _nodes(posterior, points, exposure):
        e = 1.0 if drawn.beside is None else drawn.beside
        for j, p in enumerate(q):
            start = np.minimum(e * np.exp(np.minimum(of_f[rows, j], 60.0)), 1e15)
            result[rows, j] = _least(lambda k, n=nodes, d=drawn: _distribution(likelihood, k, n, d), float(p), start)
    return result


def _least(distribution, probability: float, start: FloatArray) -> FloatArray:  # type: ignore[no-untyped-def]
    """Least whole k with distribution(k) ≥ probability at each point: brackets that grow, then halves."""
    low, width = np.floor(start), np.maximum(1.0, np.floor(2.0 * np.sqrt(start)))
    high = low.copy()
    above = distribution(high) >= probability
    low = np.where(above, low, high)
    for _ in range(_MOST_STEPS):  # outwards on the side where the quantile is not
        if np.all(above):
            break
        low = np.where(above, low, high)
        high = np.where(above, high, high + width)
        width *= 2.0
        above = above | (distribution(high) >= probability)
    low = np.where(low < high, low, np.floor(start) - 1.0)
    width = np.maximum(1.0, np.floor(2.0 * np.sqrt(start)))
    for _ in range(_MOST_STEPS):
        still = (low >= 0) & (distribution(low) >= probability)
        if not np.any(still):
            break
        high = np.where(still, low, high)
        low = np.where(still, np.maximum(low - width, -1.0), low)
        width *= 2.0
    while True:
        middle = np.floor(0.5 * (low + high))
        if not np.any((low < middle) & (middle < high)):  # beyond 2^53 whole numbers are more than one apart
            break
        enough = distribution(middle) >= probability
        high, low = np.where(enough, middle, high), np.where(enough, low, middle)
    return high
