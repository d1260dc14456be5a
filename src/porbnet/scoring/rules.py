"""Scoring rules: how good a predictive law was, given what came; one number per observation, lower is better."""

from __future__ import annotations

import math

import numpy as np

from porbnet.base.checks import FloatArray


def crps_of_samples(y: FloatArray, samples: FloatArray) -> FloatArray:
    """Continuous ranked probability score of equally probable values, shape (n_points,).

    CRPS = E|Y - y| - ½ E|Y - Y'|, the second from sorted values.

    y : (n_points,)
    samples : (n_points, n_samples)
    """
    ordered, n = np.sort(samples, axis=1), samples.shape[1]
    spread = ordered @ (2.0 * np.arange(1, n + 1) - n - 1.0) / n**2
    return np.asarray(np.mean(np.abs(ordered - y[:, None]), axis=1) - spread)


def crps_of_normal(y: FloatArray, mean: FloatArray, sd: FloatArray) -> FloatArray:
    """Continuous ranked probability score of normal laws, shape (n_points,)."""
    from scipy.special import ndtr

    z = (y - mean) / sd
    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    return np.asarray(sd * (z * (2.0 * ndtr(z) - 1.0) + 2.0 * density - 1.0 / math.sqrt(math.pi)))


def interval_score(y: FloatArray, interval: FloatArray, coverage: float) -> FloatArray:
    """Width of central intervals, and 2 / (1 - coverage) times how far off y is where it lies outside; (n_points,).

    y : (n_points,)
    interval : (n_points, 2)
    """
    low, high = interval[:, 0], interval[:, 1]
    off = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return np.asarray(high - low + 2.0 / (1.0 - coverage) * off)
