"""Mixtures of Gaussians, one component per draw: density, distribution function and quantiles at many points."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import logsumexp, ndtr

from porbnet._checks import FloatArray


def log_density(value: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """Log density at value[i] of the mixture at point i; mean and variance of shape (n_draws, n_points)."""
    terms = -0.5 * ((value - mean) ** 2 / variance + np.log(2.0 * math.pi * variance))
    return np.asarray(logsumexp(terms, axis=0) - math.log(len(mean)))


def distribution(value: FloatArray, mean: FloatArray, variance: FloatArray) -> FloatArray:
    """P(Y ≤ value[i]) under the mixture at point i."""
    return np.asarray(ndtr((value - mean) / np.sqrt(variance)).mean(axis=0))


def quantile(probability: float, mean: FloatArray, variance: FloatArray, tolerance: float = 1e-7) -> FloatArray:
    """Quantile of the mixture at every point, shape (n_points,), by safeguarded Newton steps.

    The tolerance is relative to the mixture's spread.
    """
    sd = np.sqrt(variance)
    center = mean.mean(axis=0)
    spread = np.sqrt((variance + (mean - center) ** 2).mean(axis=0))
    reach = 1.0 / math.sqrt(min(probability, 1.0 - probability))  # Chebyshev, one-sided
    low, high = center - reach * spread, center + reach * spread
    at = np.quantile(mean + sd * _normal_quantile(probability), 0.5, axis=0).clip(low, high)
    for _ in range(60):
        z = (at - mean) / sd
        excess = ndtr(z).mean(axis=0) - probability
        low, high = np.where(excess < 0, at, low), np.where(excess < 0, high, at)
        slope = (np.exp(-0.5 * z * z) / sd).mean(axis=0) / math.sqrt(2.0 * math.pi)
        step = at - excess / np.maximum(slope, 1e-300)
        inside = (step > low) & (step < high)
        following = np.where(inside, step, 0.5 * (low + high))
        if np.all(np.abs(following - at) <= tolerance * spread):
            return np.asarray(following)
        at = following
    return np.asarray(at)


def _normal_quantile(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))
