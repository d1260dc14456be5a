"""Do the residuals of a fit with one noise sd look like it? Two tests, each with a false-alarm rate of about 1e-4.

Residuals are divided by what they should be, σ √(1 - v_i / σ²) with v_i the posterior variance of f at row i: a fit is
drawn towards its rows, the more the fewer there are around.

Changing noise: normal scores of the ranks of |z| against cosines of the ranks of the inputs (and of the fit), by an F
test. Ranks make it blind to outliers. Heavy tails: the kurtosis of z, by Anscombe and Glynn's test; it is asked second,
as noise that changes gives tails too. Both also ask for a size that one would call plain, whatever the number of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.likelihood.normal import Gaussian
from porbnet.posterior.pointwise import observed
from porbnet.posterior.posterior import Posterior

FALSE_ALARMS = 1e-4  # of each test
LEAST_RATIO = 1.5  # of the typical sizes of residuals in two fifths of the rows
LEAST_KURTOSIS = 1.0  # beyond that of the normal law
FEWEST_ROWS, MOST_ROWS = 30, 2000
_SOME_DRAWS = 200
_WAVES_ALONE, _WAVES, _WAVES_OF_FIT, _MOST_INPUTS = 5, 3, 2, 6
_LEAST_SHARE = 0.2  # of σ² that a residual's variance is taken for


@dataclass(frozen=True, eq=False)
class Changing:
    """Residuals that are larger in some places than in others.

    ratio : of their typical sizes in the fifth of the rows where they are largest, and where they are smallest
    largest, smallest : (n_dims,) places in these fifths
    """

    ratio: float
    largest: FloatArray
    smallest: FloatArray


@dataclass(frozen=True)
class HeavyTails:
    """Residuals with outliers.

    n_far, n_rows : residuals beyond three sd, and all of them
    """

    n_far: int
    n_rows: int


def look(posterior: Posterior) -> Changing | HeavyTails | None:
    """What the residuals of a fit with one Gaussian noise sd plainly show; None if nothing, or if it cannot be told."""
    problem = posterior.problem
    if type(problem.likelihood) is not Gaussian or not problem.has_all_rows:
        return None
    found = observed(posterior)
    # a row that was given several times counts once; their order is that of the inputs
    _, rows = np.unique(found.rows, return_index=True)
    if len(rows) < FEWEST_ROWS or np.any(found.counts != 1.0):
        return None
    rows = np.sort(rows)[:: -(-len(rows) // MOST_ROWS)]
    X, y, root = found.X[rows], found.y[rows], found.known_root[rows]
    draws = np.unique(np.linspace(0, len(posterior) - 1, _SOME_DRAWS).astype(np.int64))
    f = posterior.subset(draws)(X)
    mean, variance = f.mean(axis=0), f.var(axis=0)
    sd = float(np.median(posterior.noise)) / root
    z = (y - mean) / (sd * np.sqrt(np.maximum(1.0 - variance / sd**2, _LEAST_SHARE)))
    return judge(z, X, mean)


def judge(z: FloatArray, X: FloatArray, fitted: FloatArray) -> Changing | HeavyTails | None:
    """The tests, on residuals that should be standard normal, shape (n,), at X of shape (n, n_dims)."""
    if len(z) < FEWEST_ROWS or not np.all(np.isfinite(z)) or np.ptp(z) == 0.0:
        return None
    return _changing(np.abs(z), X, fitted) or _heavy_tails(z)


def _changing(sizes: FloatArray, X: FloatArray, fitted: FloatArray) -> Changing | None:
    from scipy.special import fdtrc, ndtri

    n, basis = len(sizes), _waves(X, fitted)
    p = basis.shape[1]
    if p == 0 or n < 5 * (p + 1):
        return None
    scores = ndtri((_ranks(sizes) + 0.5) / n)
    scores -= scores.mean()
    smooth = basis @ np.linalg.lstsq(basis, scores, rcond=None)[0]
    explained = min(float(smooth @ smooth) / float(scores @ scores), 1.0 - 1e-12)
    chance = float(fdtrc(p, n - p - 1, explained / p / ((1.0 - explained) / (n - p - 1))))
    order, fifth = np.argsort(smooth, kind="stable"), n // 5
    low, high = order[:fifth], order[-fifth:]
    ratio = float(np.median(sizes[high])) / max(float(np.median(sizes[low])), 1e-300)
    if chance > FALSE_ALARMS or ratio < LEAST_RATIO:
        return None
    return Changing(ratio, X[order[-1 - fifth // 2]], X[order[fifth // 2]])


def _heavy_tails(z: FloatArray) -> HeavyTails | None:
    from scipy.stats import kurtosistest

    centered = (z - z.mean()) / z.std()
    if float(np.mean(centered**4)) - 3.0 < LEAST_KURTOSIS:
        return None
    if float(kurtosistest(centered, alternative="greater").pvalue) > FALSE_ALARMS:
        return None
    return HeavyTails(int(np.sum(np.abs(centered) > 3.0)), len(z))


def _waves(X: FloatArray, fitted: FloatArray) -> FloatArray:
    """Cosines over the ranks of each input, and with several inputs of the fit; centered, shape (n, n_waves)."""
    alone = X.shape[1] == 1
    columns = [(X[:, d], _WAVES_ALONE if alone else _WAVES) for d in range(min(X.shape[1], _MOST_INPUTS))]
    if not alone:
        columns.append((fitted, _WAVES_OF_FIT))
    waves: list[Any] = [
        np.cos(math.pi * k * (_ranks(values) + 0.5) / len(X))
        for values, most in columns
        if np.ptp(values) > 0.0
        for k in range(1, most + 1)
    ]
    found = np.stack(waves, axis=1) if waves else np.empty((len(X), 0))
    return np.asarray(found - found.mean(axis=0))


def _ranks(values: FloatArray) -> FloatArray:
    """From 0; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends: NDArray[np.int64] = np.cumsum(counts)
    return np.asarray((ends - 0.5 * (counts + 1))[place])
