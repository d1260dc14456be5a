"""Methods that people would use instead of PoRB-NET, each with a whole predictive law: normal, or by its quantiles."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.scoring.rules import crps_of_normal, crps_of_samples

LEVELS = np.array([0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])  # of boosted quantiles
_SAMPLES = 2000  # of such a law, for its CRPS
_LEAST_GAP = 1e-2  # between quantiles that are next to each other, per probability, in sds of the output


class Predicted(NamedTuple):
    """Of each new observation: log density, mean of the predictive law, CRPS, shape (n_points,) each."""

    llh: FloatArray
    mean: FloatArray
    crps: FloatArray


def normal(y: FloatArray, mean: FloatArray, sd: FloatArray) -> Predicted:
    """The scores of normal laws."""
    llh = -0.5 * ((y - mean) / sd) ** 2 - np.log(sd) - 0.5 * math.log(2.0 * math.pi)
    return Predicted(llh, mean, crps_of_normal(y, mean, sd))


def gaussian_process(X: FloatArray, y: FloatArray, X_new: FloatArray, y_new: FloatArray, seed: int) -> Predicted:
    """Squared-exponential, hyper-parameters by maximum likelihood."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    low, ranges = X.min(axis=0), np.maximum(np.ptp(X, axis=0), 1e-300)
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(np.full(X.shape[1], 0.2), (1e-3, 1e2)) + WhiteKernel(
        0.1, (1e-8, 10)
    )
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=3, random_state=seed)
    return normal(y_new, *model.fit((X - low) / ranges, y).predict((X_new - low) / ranges, return_std=True))


def linear(X: FloatArray, y: FloatArray, X_new: FloatArray, y_new: FloatArray, seed: int) -> Predicted:
    """Bayesian linear regression."""
    from sklearn.linear_model import BayesianRidge

    return normal(y_new, *BayesianRidge().fit(X, y).predict(X_new, return_std=True))


def spline(X: FloatArray, y: FloatArray, X_new: FloatArray, y_new: FloatArray, seed: int) -> Predicted:
    """Readings at the same place become their mean, with a weight; the noise is the sd of residuals."""
    from scipy.interpolate import make_smoothing_spline

    x, place, counts = np.unique(X[:, 0], return_inverse=True, return_counts=True)
    if len(x) < 5:
        raise StatementError("a smoothing spline needs five different inputs in every fold")
    means = np.bincount(place.ravel(), y) / counts
    centre, width = x[0], x[-1] - x[0]
    curve = make_smoothing_spline((x - centre) / width, means, w=counts.astype(float))
    at = np.clip((X_new[:, 0] - centre) / width, 0.0, 1.0)  # flat beyond the data, where a cubic runs away
    residuals = y - curve((X[:, 0] - centre) / width)
    sd = math.sqrt(float(np.mean(residuals**2))) or 1e-12
    return normal(y_new, np.asarray(curve(at)), np.full(len(X_new), sd))


def boosting(X: FloatArray, y: FloatArray, X_new: FloatArray, y_new: FloatArray, seed: int) -> Predicted:
    """Gradient boosting of trees with scikit-learn's settings: one fit per quantile, and one for the mean."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):  # folds run beside each other
        mean = HistGradientBoostingRegressor(random_state=seed).fit(X, y).predict(X_new)
        fits = [HistGradientBoostingRegressor(loss="quantile", quantile=q, random_state=seed) for q in LEVELS]
        quantiles = np.stack([fit.fit(X, y).predict(X_new) for fit in fits], axis=1)
    least = _LEAST_GAP * (float(np.std(y)) or 1e-12)
    knots = apart(np.sort(quantiles, axis=1), least)  # quantiles that were fitted one by one may cross
    probabilities = (np.arange(_SAMPLES) + 0.5) / _SAMPLES
    samples = quantile_function(knots, probabilities)
    return Predicted(log_density(knots, y_new), np.asarray(mean), crps_of_samples(y_new, samples))


def apart(quantiles: FloatArray, least: float) -> FloatArray:
    """Quantiles at `LEVELS` in order, shape (n_points, n_levels), at least `least` apart per probability."""
    gaps = np.maximum(np.diff(quantiles, axis=1), least * np.diff(LEVELS))
    middle = len(LEVELS) // 2  # the median stays
    up = np.concatenate([np.zeros((len(quantiles), 1)), np.cumsum(gaps, axis=1)], axis=1)
    return np.asarray(quantiles[:, middle : middle + 1] + up - up[:, middle : middle + 1])


def quantile_function(knots: FloatArray, probabilities: FloatArray) -> FloatArray:
    """Quantiles at any probabilities, (n_points, n_probabilities): straight lines between knots, exponential tails."""
    found = np.stack([np.interp(probabilities, LEVELS, row) for row in knots])
    low, high = _tail_scales(knots)
    left, right = probabilities < LEVELS[0], probabilities > LEVELS[-1]
    found[:, left] = knots[:, :1] + low[:, None] * np.log(probabilities[left] / LEVELS[0])
    found[:, right] = knots[:, -1:] - high[:, None] * np.log((1.0 - probabilities[right]) / (1.0 - LEVELS[-1]))
    return found


def log_density(knots: FloatArray, y: FloatArray) -> FloatArray:
    """Log density of observations under such laws, shape (n_points,)."""
    heights = np.log(np.diff(LEVELS) / np.diff(knots, axis=1))
    place = np.sum(y[:, None] > knots, axis=1)
    inside = np.take_along_axis(heights, np.clip(place - 1, 0, len(LEVELS) - 2)[:, None], axis=1)[:, 0]
    low, high = _tail_scales(knots)
    left = math.log(LEVELS[0]) - np.log(low) - (knots[:, 0] - y) / low
    right = math.log(1.0 - LEVELS[-1]) - np.log(high) - (y - knots[:, -1]) / high
    return np.where(place == 0, left, np.where(place == len(LEVELS), right, inside))


def _tail_scales(knots: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of exponential tails that would reach the median: quantiles further out are too uncertain to tell."""
    middle = knots[:, len(LEVELS) // 2]
    low = (middle - knots[:, 0]) / math.log(0.5 / LEVELS[0])
    high = (knots[:, -1] - middle) / math.log(0.5 / (1.0 - LEVELS[-1]))
    return low, high


Method = Callable[[FloatArray, FloatArray, FloatArray, FloatArray, int], Predicted]
RIVALS: dict[str, Method] = {"gp": gaussian_process, "boosting": boosting, "spline": spline, "linear": linear}
