"""How often a function crosses a level from below: Rice's formula for a Gaussian process, and counts from draws.

For a Gaussian process of mean zero with Var f = v, Var f' = g and Cov(f, f') = q at a point, the expected number of
upcrossings of the level a per unit length is

    (σ / 2π√v) exp(-a² / 2v) [exp(-t²/2) + √(2π) t Φ(t)],   σ² = g - q²/v,   t = a q / (v σ)

(for a = 0 or a stationary process, t = 0 and the bracket is one). With v = amplitude² + bias², g = amplitude² / ℓ² and
q = 0 this is 1 / (2πℓ) · √(amplitude² / (amplitude² + bias²)) at level zero.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from porbnet.base.checks import FloatArray


def rice_rate(variance: FloatArray, slope_variance: FloatArray, cross: FloatArray, level: float) -> FloatArray:
    """Expected upcrossings of `level` per unit length at each point."""
    alive = variance > 1e-150  # far outside the region f is zero and crosses nothing
    v = np.where(alive, variance, 1.0)
    sigma = np.sqrt(np.maximum(slope_variance - cross**2 / v, 1e-300))
    t = level * cross / (v * sigma)
    bracket = np.exp(-0.5 * t * t) + math.sqrt(2.0 * math.pi) * t * ndtr(t)
    rate = sigma / (2.0 * math.pi * np.sqrt(v)) * np.exp(-0.5 * level**2 / v) * bracket
    return np.where(alive, rate, 0.0)


def count_upcrossings(values: Any, level: float = 0.0) -> NDArray[np.int64]:
    """Upcrossings of `level` along the last axis of function values at increasing inputs."""
    above = np.asarray(values) > level
    return np.asarray(np.sum(~above[..., :-1] & above[..., 1:], axis=-1, dtype=np.int64))
