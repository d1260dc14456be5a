"""Gaussian errors whose sd is a function of the input, σ(x) = σ exp(h(x)).

Given the function, the residuals e_n are known, and the whitened coefficients of h are updated by elliptical slice
sampling with log L = Σ_n -h_n - ½ e_n² e^(-2 h_n) / σ², each term as often as its observation counts. The h_n are
linear in the coefficients: along an ellipse they are combined from those of its half axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.compiled import fast_exp, hot
from porbnet.base.distributions import LogNormal
from porbnet.base.parameter import Parameter
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.functions.grid_gp import GridGP, lengthscale_vector
from porbnet.functions.interpolation import interpolation_weights
from porbnet.kernels.curves import curve_record
from porbnet.kernels.process import LOG_ARCS, MOST_SHRINKS, draw_ellipse, expand, expand_given
from porbnet.kernels.random import uniform
from porbnet.kernels.state import NOISE, Curve
from porbnet.likelihood.base import Drawn
from porbnet.likelihood.normal import GaussianErrors, checked_level, noise_parameter

NOISE_PLACES = 5  # at which the noise is diagnosed
CURVE_UPDATES = 12  # of the noise curve per step: cheap, and where the noise is least it is slow to move
CURVE_VARIANCE, CURVE_SHARE = 2.0, 0.15  # by default: variance of h, its lengthscale over the range
CURVE_SHARE_OF_THREE = 0.2  # whatever the region, which has two ranges at most


class NoiseCurve(Record):
    """What the augmentation works on.

    kept : (n_whitened,) the coefficients of h, the same array as curve.z
    curve : h at knots
    knots, shares : (n_points, 2^D) knots around each observation, and their shares
    along : (4, n_points) at the observations: h, both half axes of an ellipse, and squared residuals
    """

    kept: FloatArray
    curve: Curve
    knots: NDArray[np.int64]
    shares: FloatArray
    along: FloatArray

    CARRIED = ("curve",)


@hot
def at_observations(noise: Any, table: Any, out: Any) -> None:
    """A noise curve at the observations, from its values at the knots."""
    knots, shares = noise.knots, noise.shares
    for i in range(len(knots)):
        h = 0.0
        for j in range(knots.shape[1]):
            h += shares[i, j] * table[knots[i, j]]
        out[i] = h


@hot
def curve_log_likelihood(rows: Any, cosine: float, sine: float, squares: Any) -> float:
    """-½ Σ_n squares_n exp(-2 h_n), the part of log L that is not linear in the curve.

    rows : (4, n_points) with h = rows[0] + cosine · rows[1] + sine · rows[2]
    squares : (n_points,) counts_n e_n² / σ²
    """
    total = 0.0
    own, along, across = rows[0], rows[1], rows[2]
    for i in range(len(squares)):
        h = own[i] + cosine * along[i] + sine * across[i]
        total += squares[i] * fast_exp(min(max(-2.0 * h, -600.0), 600.0))
    return -0.5 * float(total)


@hot
def curve_update(noise: Any, counts: Any, squares: Any, rng: Any) -> None:
    """One elliptical slice update of the noise curve given the residuals; its table is left stale.

    The curve at the observations, noise.along[0], is linear in the coefficients: on an ellipse it is a combination of
    what both half axes are there, and no proposal needs the curve at its knots.
    """
    curve, rows = noise.curve, noise.along
    draw_ellipse(curve, False, rng)
    for j in range(2):
        expand_given(curve, curve.axes[j], curve.z, curve.tables[j])
        at_observations(noise, curve.tables[j], rows[1 + j])
    along, across = 0.0, 0.0  # Σ_n counts_n h_n, of both half axes
    for i in range(len(squares)):
        along += counts[i] * rows[1, i]
        across += counts[i] * rows[2, i]
    height = curve_log_likelihood(rows, 0.0, 0.0, squares) + math.log(1.0 - uniform(rng))
    width = 2.0 * math.pi * math.exp(-uniform(rng) * LOG_ARCS)
    low = -width * uniform(rng)
    high = low + width
    for _ in range(MOST_SHRINKS):
        angle = low + uniform(rng) * (high - low)
        cosine, sine = math.cos(angle) - 1.0, math.sin(angle)
        if curve_log_likelihood(rows, cosine, sine, squares) - cosine * along - sine * across > height:
            z, axes = curve.z, curve.axes
            for i in range(len(z)):
                z[i] += cosine * axes[0, i] + sine * axes[1, i]
            for i in range(len(squares)):
                rows[0, i] += cosine * rows[1, i] + sine * rows[2, i]
            return
        if angle < 0.0:
            low = angle
        else:
            high = angle


@hot
def augment(state: Any, rng: Any) -> None:
    """Several updates of the noise curve; its table, which `weigh` sets, must be of the current coefficients."""
    noise, errors, counts = state.errors, state.rows.errors, state.rows.counts
    known, within = state.rows.known_root, state.rows.within
    squares, precision = noise.along[3], 1.0 / (state.values[NOISE] * state.values[NOISE])
    for i in range(len(errors)):
        squares[i] = counts[i] * (errors[i] * errors[i] + known[i] * known[i] * within[i]) * precision
    at_observations(noise, noise.curve.table, noise.along[0])
    for _ in range(CURVE_UPDATES):
        curve_update(noise, counts, squares, rng)


@hot
def weigh(state: Any) -> None:
    """Relative precisions e^(-2 h_n), times what is known of them; and the table of h."""
    noise, rows = state.errors, state.rows
    root, known = rows.root, rows.known_root
    expand(noise.curve, noise.curve.z, noise.curve.table)
    at_observations(noise, noise.curve.table, noise.along[0])
    for i in range(len(root)):
        root[i] = known[i] * math.exp(-noise.along[0, i])


@dataclass(frozen=True)
class VaryingNoise(GaussianErrors):
    """Noise sd that varies over the input, σ(x) = level · exp(h(x)) with h a Gaussian process of mean zero.

    Parameters
    ----------
    level : float or LogNormal
        Typical noise sd, in the units of the output.
    variance : float
        Variance of h: with 1, the noise differs by a factor 2.7 either way in two thirds of places.
    lengthscale : float or sequence of float
        Lengthscale of h, in the units of the input, one or one per dimension.

    Examples
    --------
    >>> from porbnet import LogNormal
    >>> VaryingNoise(LogNormal(0.1, 3.0), variance=1.0, lengthscale=0.3).variance
    1.0
    """

    level: float | LogNormal
    variance: float
    lengthscale: Any

    augment: ClassVar[Any] = staticmethod(augment)
    weigh: ClassVar[Any] = staticmethod(weigh)
    word: ClassVar[str] = "varying"
    compresses: ClassVar[bool] = True
    varies: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", checked_level("level", self.level))
        object.__setattr__(self, "variance", _checks.positive("variance", self.variance))
        allowed = "it must be a positive finite number, or one per dimension"
        stated = _checks.real_array("lengthscale", self.lengthscale, allowed)
        if stated.ndim > 1 or stated.size == 0 or (stated <= 0).any():
            raise _checks.fail("lengthscale", self.lengthscale, allowed)
        object.__setattr__(self, "lengthscale", float(stated) if stated.ndim == 0 else tuple(stated.tolist()))

    @classmethod
    def from_data(cls, level: Any, ranges: FloatArray) -> VaryingNoise:
        """The default: a curve with a lengthscale of 0.15 ranges; with three inputs 0.2, as knots are dear."""
        return cls(level, CURVE_VARIANCE, (CURVE_SHARE if len(ranges) < 3 else CURVE_SHARE_OF_THREE) * ranges)

    def parameters(self) -> tuple[Parameter, ...]:
        """The level of the noise; whether it has settled shows in the noise at places."""
        return (noise_parameter(self.level, diagnosed=False),)

    def process(self, region: Region) -> GridGP:
        """The Gaussian process h."""
        return GridGP(region, self.variance, lengthscale_vector("lengthscale", self.lengthscale, region.n_dims))

    def kinks(self, region: Region) -> list[FloatArray]:
        """The knots, between which h is linear."""
        shape = self.process(region).shape
        return [np.linspace(lo, hi, n) for lo, hi, n in zip(region.low, region.high, shape, strict=True)]

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> NoiseCurve:
        """The curve at its prior mean."""
        process = self.process(region)
        curve = curve_record(process, scaling)
        knots, shares = interpolation_weights(process.shape, region, np.clip(X, region.low, region.high))
        knots, shares = np.ascontiguousarray(knots, dtype=np.int64), np.ascontiguousarray(shares)
        return NoiseCurve(kept=curve.z, curve=curve, knots=knots, shares=shares, along=np.zeros((4, len(X))))

    def start(self, record: Any, rng: np.random.Generator) -> None:
        """Curves scattered about their prior mean."""
        record.kept[:] = 0.3 * rng.standard_normal(len(record.kept))

    def sd_at(self, drawn: Drawn, X: FloatArray) -> FloatArray:
        """Level times exp(h)."""
        return np.asarray(drawn["noise"][:, None] * np.exp(self.process(drawn.region).values_at(drawn.kept, X)))

    def sample_kept(self, n: int, region: Region, rng: np.random.Generator) -> FloatArray:
        """Coefficients of h."""
        return rng.standard_normal((n, self.process(region).n_whitened))

    def log_augmented(self, drawn: Drawn) -> FloatArray:
        """Of the coefficients, N(0, I)."""
        return np.asarray(-0.5 * np.sum(drawn.kept**2, axis=1))

    def quantities(self, drawn: Drawn, anchors: FloatArray) -> dict[str, FloatArray]:
        """The logarithm of the noise at a few places."""
        logs = np.log(self.sd_at(drawn, anchors[:: max(1, len(anchors) // NOISE_PLACES)])).T
        return {f"log noise[{i}]": column for i, column in enumerate(logs)}
