"""Draws that are deformed, not drawn anew, when a prior changes: the same random numbers, whatever the statement.

For one input and a known intensity λ. Let Λ(x) be the integral of λ from the middle of the region to x. If T_1 < T_2 <
... is a Poisson process of rate one on either side of zero, the places Λ⁻¹(T_k) are a Poisson process of intensity λ
(the mapping theorem), and with weights and bias from numbers that stay the same,

    f(x) = bias · z_0 + Σ_k weight_sd · z_k · exp(-½ s(c_k)² (x - c_k)²),   c_k = Λ⁻¹(T_k)

is an exact draw of the prior (up to the table of Λ) that moves continuously with the statement: units slide, swell and
shrink; they come and go only where they no longer reach what is shown. As the intensity goes on beyond the region, so
does the table, as far as units reach into what is shown.
"""

from __future__ import annotations

import math

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.functions.network import Networks, Trend
from porbnet.intensity import FromFunction
from porbnet.kernels.units import REACH
from porbnet.statement.moments import scale_of
from porbnet.statement.prior import Prior

_CHUNK = 64  # units per side whose random numbers are made together
_KNOTS = 4097  # of the table of Λ


class Whitened:
    """The random numbers of n draws, as many as are asked for; the first ones are the same however many that are.

    Parameters
    ----------
    n : int
    seed : int
    """

    def __init__(self, n: int, seed: int = 0) -> None:
        self.n, self.seed = n, seed
        rng = np.random.default_rng([seed, 0])
        self.bias, self.amplitude, self.slope = rng.standard_normal((3, n))
        self._times = np.empty((n, 2, 0))
        self._weights = np.empty((n, 2, 0))

    def sides(self, reach: float) -> tuple[FloatArray, FloatArray]:
        """Times and weights of units on either side of the middle, shape (n, 2, many), the last beyond `reach`."""
        while self._times.shape[2] == 0 or float(self._times[:, :, -1].min()) < reach:
            rng = np.random.default_rng([self.seed, 1 + self._times.shape[2] // _CHUNK])
            gaps = rng.standard_exponential((self.n, 2, _CHUNK))
            before = self._times[:, :, -1:] if self._times.shape[2] else np.zeros((self.n, 2, 1))
            self._times = np.concatenate([self._times, before + np.cumsum(gaps, axis=2)], axis=2)
            self._weights = np.concatenate([self._weights, rng.standard_normal((self.n, 2, _CHUNK))], axis=2)
        return self._times, self._weights


def _levels(prior: Prior, x: FloatArray) -> FloatArray:
    """The intensity as it was stated, within the region and beyond, shape (n_points,)."""
    intensity = prior.intensity
    if isinstance(intensity, FromFunction):
        return np.asarray(intensity.function(x[:, None]), dtype=np.float64)
    return np.asarray(intensity.value(x[:, None]))


def _beyond(prior: Prior, at: float, sign: float) -> float:
    """The farthest place from which units reach a place."""
    width = 0.0
    for _ in range(2):  # units may be wider there than at the place itself
        places = np.linspace(at, at + sign * width, 33)
        width = REACH / float(np.min(scale_of(_levels(prior, places), prior.s0, 1)))
    return at + sign * width


def deformed(prior: Prior, numbers: Whitened, ends: tuple[float, float] | None = None) -> Networks:
    """Draws of a prior of one input with a stated lengthscale, from given random numbers.

    They are what the prior says between `ends`, which are those of the region if they are not given.
    """
    low, high = (float(v) for v in prior.region.bounds[0])
    shown = (low, high) if ends is None else (min(low, ends[0]), max(high, ends[1]))
    first, last = (_beyond(prior, at, sign) for at, sign in zip(shown, (-1.0, 1.0), strict=True))
    knots = np.linspace(first, last, _KNOTS)
    levels = _levels(prior, knots)
    steps = 0.5 * (levels[1:] + levels[:-1]) * np.diff(knots)
    before = np.concatenate([[0.0], np.cumsum(steps)])
    middle = float(np.interp(0.5 * (low + high), knots, before))
    left, right = middle, float(before[-1]) - middle
    times, z = numbers.sides(max(left, right))
    within = np.stack([times[:, 0] < left, times[:, 1] < right], axis=1)
    totals = np.stack([middle - times[:, 0], middle + times[:, 1]], axis=1)[within]
    centers = np.interp(totals, before, knots)
    amplitude = prior.amplitude
    if isinstance(amplitude, LogNormal):
        sizes = np.exp(math.log(amplitude.median) + amplitude.log_sd * numbers.amplitude)
    else:
        sizes = np.full(numbers.n, amplitude)
    counts = within.sum(axis=(1, 2))
    factor = math.sqrt(prior.weight_variance / prior.mean_square_amplitude)
    return Networks(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        centers[:, None],
        np.asarray(scale_of(np.interp(centers, knots, levels), prior.s0, 1)),
        factor * z[within] * np.repeat(sizes, counts),
        prior.bias * numbers.bias,
        np.ones(1),
        trend=None if prior.trend is None else Trend(numbers.slope[:, None] * prior.trend, prior.middle),
    )
