"""Draws of a likelihood that stands in for another, resampled by the ratio of both (`Likelihood.log_correction`).

Draws of each chain are kept in their order and repeated as often as their weights say, by systematic resampling:
nothing is random about it. Weights are bounded; how far they can be trusted is told by the Pareto k of their largest
(Vehtari et al. 2024).
"""

from __future__ import annotations

import math
import warnings
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.errors import PorbnetWarning
from porbnet.posterior.pointwise import observed
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.draws import PER_UNIT, ChainDraws

_HIGHEST_K = 0.7
_FEWEST = 100  # draws to judge by
KIND = "weighed"  # how the share of effective draws is called among those of accepted proposals


def reweighed(posterior: Posterior) -> Posterior:
    """The posterior of the likelihood itself, from draws of the one that stands in for it; it knows the Pareto k."""
    logs = log_weights(posterior).reshape(posterior.n_chains, -1)
    k = pareto_k(logs.ravel())
    results = []
    for result, log_own in zip(posterior.results, logs, strict=True):
        best = float(log_own.max())
        own = np.exp(log_own - best) if best > -np.inf else np.ones(len(log_own))  # none is possible: as they are
        share = float(own.sum() ** 2 / np.sum(own**2)) / len(own)
        acceptance = result.acceptance | {KIND: share}
        results.append(replace(result, draws=taken(result.draws, systematic(own)), acceptance=acceptance))
    found = Posterior(posterior.problem, results, posterior.offset)
    found.weights_k = k
    return found


def pareto_k(logs: FloatArray) -> float:
    """Pareto k of the largest weights, given their logarithms; NaN if there are too few or they are all the same."""
    from arviz_stats.base import array_stats

    if len(logs) < _FEWEST or not np.ptp(logs) > 1e-6:
        return math.nan
    try:
        return float(array_stats.psislw(-logs)[1])
    except ValueError:  # the largest are one and the same number
        return math.nan


def warn_of_weights(posterior: Posterior) -> None:
    """Warn if the weights of draws vary too much."""
    k = posterior.weights_k
    if k is not None and k > _HIGHEST_K:
        warnings.warn(
            f"the weights that make draws those of a Poisson law vary too much (Pareto k {k:.2f}, {_HIGHEST_K} at "
            "most): take law='negative binomial'",
            PorbnetWarning,
            stacklevel=4,
        )


def log_weights(posterior: Posterior) -> FloatArray:
    """Logarithms of the weights of all draws, shape (n_draws,), up to a constant."""
    found, likelihood = observed(posterior), posterior.problem.likelihood
    networks, total = posterior.networks, np.zeros(len(posterior))
    stand_in = likelihood.stand_in(found.X, found.y, found.beside)
    for rows in posterior.chunks(len(found)):
        drawn = posterior.drawn.at(None if found.beside is None else found.beside[rows])
        values = likelihood.log_correction(found.y[rows], networks(found.X[rows]), drawn, stand_in[rows])
        total += np.sum(found.counts[rows] * values, axis=1)
    return total


def systematic(weights: FloatArray) -> NDArray[np.int64]:
    """As many places as there are weights, in order, each as often as its weight says to within one."""
    edges = np.cumsum(weights) / weights.sum()
    n = len(weights)
    return np.minimum(np.searchsorted(edges, (np.arange(n) + 0.5) / n), n - 1).astype(np.int64)


def taken(draws: ChainDraws, rows: NDArray[np.int64]) -> ChainDraws:
    """Some draws, some of them several times; weights are their own means, being no longer Gaussian."""
    offsets = draws.offsets
    units = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in rows])
    found = {f.name: getattr(draws, f.name)[units if f.name in PER_UNIT else rows] for f in fields(draws)}
    return ChainDraws(**found | {"mean_weights": found["weights"], "mean_biases": found["biases"]})
