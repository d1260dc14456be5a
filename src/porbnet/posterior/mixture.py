"""Mixtures of Gaussians, a component or more per draw: density, distribution function and quantiles at many points."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp, ndtr

from porbnet.base.checks import FloatArray


def log_mean_exp(terms: FloatArray) -> FloatArray:
    """Logarithm of the mean over rows of exp(terms), shape (n_points,); terms of shape (n_components, n_points)."""
    top = terms.max(axis=0)
    top = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(terms - top).mean(axis=0)) + top)


def log_density(
    value: FloatArray, mean: FloatArray, variance: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """Log density at value[i] of the mixture at point i; mean and variance of shape (n_components, n_points)."""
    terms = -0.5 * ((value - mean) ** 2 / variance + np.log(2.0 * math.pi * variance))
    if weights is None:
        return log_mean_exp(terms)
    return np.asarray(logsumexp(terms + np.log(weights)[:, None], axis=0))


def _average(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    return np.asarray(values.mean(axis=0) if weights is None else weights @ values)


def spread(mean: FloatArray, variance: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Standard deviation of the mixture at every point, shape (n_points,)."""
    center = _average(mean, weights)
    return np.sqrt(_average(variance + (mean - center) ** 2, weights))


def distribution(
    value: FloatArray, mean: FloatArray, variance: FloatArray, weights: FloatArray | None = None
) -> FloatArray:
    """P(Y ≤ value[i]) under the mixture at point i."""
    return _average(ndtr((value - mean) / np.sqrt(variance)), weights)


def quantile(
    probability: float,
    mean: FloatArray,
    variance: FloatArray,
    weights: FloatArray | None = None,
    tolerance: float = 1e-7,
) -> FloatArray:
    """Quantile of the mixture at every point, shape (n_points,), by safeguarded Newton steps.

    The tolerance is relative to the mixture's spread.
    """
    sd = np.sqrt(variance)
    center = _average(mean, weights)
    width = spread(mean, variance, weights)
    reach = 1.0 / math.sqrt(min(probability, 1.0 - probability))  # Chebyshev, one-sided
    low, high = center - reach * width, center + reach * width
    at = (center + _average(sd, weights) * _normal_quantile(probability)).clip(low, high)
    for _ in range(60):
        z = (at - mean) / sd
        excess = _average(ndtr(z), weights) - probability
        low, high = np.where(excess < 0, at, low), np.where(excess < 0, high, at)
        slope = _average(np.exp(-0.5 * z * z) / sd, weights) / math.sqrt(2.0 * math.pi)
        step = at - excess / np.maximum(slope, 1e-300)
        inside = (step > low) & (step < high)
        following = np.where(inside, step, 0.5 * (low + high))
        if np.all(np.abs(following - at) <= tolerance * width):
            return np.asarray(following)
        at = following
    return np.asarray(at)


def _normal_quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
