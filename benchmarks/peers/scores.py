"""Scores of predictive laws in the three forms that adapters write (`adapters/adapter.py`); all in the same way.

LLH: mean log predictive density of a test observation (high is good). CRPS: mean continuous ranked probability score
(low). RMSE of the predictive mean (low). cover90: share of test rows within the central 90 % interval (0.9).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, ndtr

from porbnet.scoring.rules import crps_of_samples

Array = NDArray[np.float64]
SCORES = ("LLH", "CRPS", "RMSE", "cover90")
N_SAMPLES = 2000
LEAST_WIDTH = 0.01  # between two quantiles, of the mean width: boosting gives the same value for several


def score(law: Mapping[str, Any], y: Array, seed: int = 0) -> dict[str, float]:
    """All scores of one law."""
    density, mean, crps, interval = rows_of(law, y, seed)
    found = {
        "LLH": float(np.mean(density)),
        "CRPS": float(np.mean(crps)),
        "RMSE": float(np.sqrt(np.mean((y - mean) ** 2))),
        "cover90": float(np.mean((y >= interval[:, 0]) & (y <= interval[:, 1]))),
        "median_log_density": float(np.median(density)),
        "least_log_density": float(np.min(density)),
        "width90": float(np.mean(interval[:, 1] - interval[:, 0])),
    }
    if not all(np.isfinite(value) for value in found.values()):
        raise ValueError(f"scores that are no numbers: {found}")
    return found


def rows_of(law: Mapping[str, Any], y: Array, seed: int = 0) -> tuple[Array, Array, Array, Array]:
    """Log density, mean, CRPS and 90 % interval of each row."""
    form = str(law["form"])
    if form == "mixture":
        density, mean, crps, interval = _mixture(np.asarray(law["means"]), np.asarray(law["sds"]), y, seed)
    elif form == "quantiles":
        levels, quantiles, mean = (np.asarray(law[name]) for name in ("levels", "quantiles", "mean"))
        density, crps, interval = _quantiles(levels, quantiles, y)
    elif form == "samples":
        density, mean, interval = (np.asarray(law[name]) for name in ("log_density", "mean", "interval"))
        crps = crps_of_samples(y, np.asarray(law["samples"]))
    else:
        raise ValueError(f"form={form!r}: it must be 'mixture', 'quantiles' or 'samples'")
    return density, mean, crps, interval


def _mixture(means: Array, sds: Array, y: Array, seed: int) -> tuple[Array, Array, Array, Array]:
    """Log density, mean, CRPS and 90 % interval of equally probable normal laws, shapes (k, m)."""
    sds = np.broadcast_to(sds, means.shape)
    z = (y - means) / sds
    density = logsumexp(-0.5 * z**2 - np.log(sds), axis=0) - 0.5 * np.log(2.0 * np.pi) - np.log(len(means))
    if len(means) == 1:
        phi = np.exp(-0.5 * z[0] ** 2) / np.sqrt(2.0 * np.pi)
        crps = sds[0] * (z[0] * (2.0 * ndtr(z[0]) - 1.0) + 2.0 * phi - 1.0 / np.sqrt(np.pi))
    else:
        crps = crps_of_samples(y, _samples(means, sds, seed))
    ends = [mixture_quantile(means, sds, level) for level in (0.05, 0.95)]
    return np.asarray(density), means.mean(axis=0), np.asarray(crps), np.column_stack(ends)


def _samples(means: Array, sds: Array, seed: int) -> Array:
    """Samples of y, shape (m, N_SAMPLES), each normal law as often as the others where there are fewer of them."""
    rng = np.random.default_rng(seed)
    chosen = np.arange(N_SAMPLES) % len(means) if len(means) <= N_SAMPLES else rng.permutation(len(means))[:N_SAMPLES]
    return np.asarray((means[chosen] + sds[chosen] * rng.standard_normal((N_SAMPLES, means.shape[1]))).T)


def mixture_quantile(means: Array, sds: Array, level: float) -> Array:
    """Quantile of equally probable normal laws, shape (m,), by bisection."""
    low, high = (means - 9.0 * sds).min(axis=0), (means + 9.0 * sds).max(axis=0)
    for _ in range(50):
        middle = 0.5 * (low + high)
        below = ndtr((middle - means) / sds).mean(axis=0) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return 0.5 * (low + high)


def _quantiles(levels: Array, quantiles: Array, y: Array) -> tuple[Array, Array, Array]:
    """Log density, CRPS and 90 % interval from some quantiles per point, shape (m, q).

    Between quantiles the law is uniform; beyond the first and the last it has exponential tails, as wide as an
    exponential law that has the median and this quantile. Quantiles that cross are put in order, and such that are
    equal are moved apart, by LEAST_WIDTH of the mean width between two. Some level must be ½.
    """
    x = np.sort(quantiles, axis=1)
    least = LEAST_WIDTH * np.maximum(x[:, -1:] - x[:, :1], 1e-6) / (len(levels) - 1) * np.arange(len(levels))
    x = np.maximum.accumulate(x - least, axis=1) + least
    heights = np.diff(levels) / np.diff(x, axis=1)
    place = np.sum(y[:, None] >= x, axis=1)
    rows, inside = np.arange(len(y)), (place > 0) & (place < len(levels))
    density = np.empty(len(y))
    density[inside] = np.log(heights[rows[inside], place[inside] - 1])
    crps = np.zeros(len(y))
    middle = x[:, int(np.argmin(np.abs(levels - 0.5)))]
    for tail, mass, end in ((place == 0, levels[0], x[:, 0]), (place == len(levels), 1.0 - levels[-1], x[:, -1])):
        rate = np.log(0.5 / mass) / np.abs(end - middle)
        off = np.abs(y - end)
        density[tail] = (np.log(mass * rate) - rate * off)[tail]
        # ∫ (F - 1[y ≤ ·])² over this tail, F = mass e^{-rate t} at a distance t beyond the end
        full = mass**2 / (2.0 * rate)
        decay = np.exp(-rate * off)
        crps += np.where(tail, off - 2.0 * mass * (1.0 - decay) / rate + full, full)
    for j in range(len(levels) - 1):  # F is linear between two quantiles
        low, high, p, q = x[:, j], x[:, j + 1], levels[j], levels[j + 1]
        cut = np.clip(y, low, high)
        at = p + (q - p) * (cut - low) / (high - low)
        crps += (cut - low) * (p * p + p * at + at * at) / 3.0
        crps += (high - cut) * ((1 - at) ** 2 + (1 - at) * (1 - q) + (1 - q) ** 2) / 3.0
    return density, crps, np.column_stack([_at(0.05, levels, x), _at(0.95, levels, x)])


def _at(level: float, levels: Array, quantiles: Array) -> Array:
    """Quantiles of one level, linear between those that are there."""
    return np.array([np.interp(level, levels, row) for row in quantiles])


def effective_draws(f_draws: Array) -> dict[str, float]:
    """Least and median bulk effective sample size and largest R-hat of f over places, of (chains, draws, places)."""
    from arviz_stats.base import array_stats

    draws = np.asarray(f_draws, dtype=np.float64)
    ess = [float(array_stats.ess(draws[:, :, j], chain_axis=0, draw_axis=1)) for j in range(draws.shape[2])]
    chains = draws
    if len(draws) == 1:  # its halves
        chains = draws[0, : draws.shape[1] // 2 * 2].reshape(2, -1, draws.shape[2])
    rhat = [float(array_stats.rhat(chains[:, :, j], chain_axis=0, draw_axis=1)) for j in range(draws.shape[2])]
    return {
        "n_chains": float(draws.shape[0]),
        "n_draws": float(draws.shape[0] * draws.shape[1]),
        "ess_least": float(np.min(ess)),
        "ess_median": float(np.median(ess)),
        "rhat": float(np.max(rhat)),
    }
