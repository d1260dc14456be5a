"""Covariance of what units beyond the region add to f, for unit amplitude.

    k(x1, x2) = (s0² / π)^(D/2) ∫_{c outside} λ(c) exp(-½ s(c)² [‖x1 - c‖² + ‖x2 - c‖²]) dc

in closed form, as the intensity is constant on boxes there (`moments`): a box's share is what it has, less what the
region has of it. The difference is summed dimension by dimension, all terms positive: nothing is lost where it is tiny.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.intensity.continuation import Steps
from porbnet.statement.moments import scale_of

_FAR = 7.0  # sd of a normal law, beyond which it has 1e-12
_MOST_NUMBERS = 1_000_000  # of a table of draws by pairs


class OutsideCovariance:
    """k of the draws of a continuation.

    Parameters
    ----------
    steps : what the intensity of each draw is beyond the region
    region : where units beyond it are not
    s0, anisotropy : scale of a unit where the intensity is one; ratios of lengthscales
    """

    def __init__(self, steps: Steps, region: Region, s0: float, anisotropy: FloatArray) -> None:
        self.steps, self.region, self.s0, self.anisotropy = steps, region, s0, anisotropy

    @property
    def n_different(self) -> int:
        """How many draws have a k of their own; 1 if it is the same in all."""
        return len(self.steps.levels)

    @property
    def cost(self) -> int:
        """What a value costs in one draw, about."""
        return self.region.n_dims * len(self.steps.low)

    def pairs(self, X1: FloatArray, X2: FloatArray, draws: NDArray[np.int64]) -> FloatArray:
        """k(x1_i, x2_i) in some draws (of those that differ), shape (n_draws, n_pairs)."""
        result, step = np.empty((len(draws), len(X1))), max(1, _MOST_NUMBERS // max(len(draws), 1))
        levels = self.steps.levels[draws]
        for start in range(0, len(X1), step):
            some = slice(start, start + step)
            result[:, some] = self._closed(X1[some], X2[some], levels)
        return result

    def _closed(self, X1: FloatArray, X2: FloatArray, levels: FloatArray) -> FloatArray:
        n_dims, r = X1.shape[1], self.anisotropy
        distance2 = np.sum(((X1 - X2) / r) ** 2, axis=1)
        middle = 0.5 * (X1 + X2) / r
        total = np.zeros((len(levels), len(X1)))
        for low, high, level in zip(self.steps.low / r, self.steps.high / r, levels.T, strict=True):
            s = np.asarray(scale_of(level, self.s0, n_dims))[:, None]
            gap = np.max(np.maximum(np.maximum(low - middle, middle - high), 0.0), axis=1)
            near = np.flatnonzero(gap * math.sqrt(2.0) * s.min() < _FAR)  # elsewhere the box has next to nothing
            if len(near):
                total[:, near] += self._share(low, high, s, middle[near], distance2[near])
        return total

    def _share(
        self, low: FloatArray, high: FloatArray, s: FloatArray, middle: FloatArray, distance2: FloatArray
    ) -> FloatArray:
        """What a box without the region has of k, shape (n_draws, n_pairs)."""
        n_dims, r = middle.shape[1], self.anisotropy
        start, end = np.maximum(low, self.region.low / r), np.minimum(high, self.region.high / r)
        outside, inside = np.zeros((len(s), len(middle))), np.ones((len(s), len(middle)))
        # Π whole - Π inside = Σ_d (Π_{j<d} inside_j) (whole_d - inside_d) (Π_{j>d} whole_j)
        for d in range(n_dims):
            a, b, c, e = ((t - middle[:, d]) * math.sqrt(2.0) * s for t in (low[d], start[d], end[d], high[d]))
            meets = start[d] < end[d]
            beyond = _mass(a, b) + _mass(c, e) if meets else _mass(a, e)
            within = _mass(b, c) if meets else np.zeros_like(outside)
            outside = outside * (beyond + within) + inside * beyond
            inside = inside * within
        return np.asarray(np.exp(-0.25 * s * s * distance2) * outside)


def _mass(a: FloatArray, b: FloatArray) -> FloatArray:
    """P(a < N(0, 1) < b), without loss in either tail."""
    flip = a > 0.0
    return np.asarray(ndtr(np.where(flip, -a, b)) - ndtr(np.where(flip, -b, a)))
