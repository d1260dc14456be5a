"""From a prior and data to what the kernels work on: standard coordinates, sorted observations, tables."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import Gamma, InverseGamma, LogNormal
from porbnet.base.region import Region
from porbnet.errors import PorbnetWarning, StatementError
from porbnet.functions import quadrature
from porbnet.functions.grid_gp import LENGTHSCALE_STEP, GridGP, lengthscale_vector
from porbnet.intensity import Constant, FromFunction, Intensity, Piecewise, SigmoidGP, Tabulated, UnknownConstant
from porbnet.intensity.tabulated import interpolation_weights, trapezoid
from porbnet.noise import RobustNoise, VaryingNoise, noise_level
from porbnet.sampling.collapsed.state import Data, Field, Hyper, Shape
from porbnet.statement.defaults import mean_and_sd
from porbnet.statement.prior import Prior

_TABLE_TOLERANCE = 1e-6
_MOST_KNOTS = {1: 65537, 2: 1025, 3: 129}


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standard coordinates: u = (x - low) / divisor has a box of volume one; outputs are y / y_scale.

    low, divisor : (n_dims,)
    size : geometric mean of the region's widths; intensities are multiplied by size ** n_dims
    """

    low: FloatArray
    divisor: FloatArray
    size: float
    y_scale: float

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return len(self.low)

    @property
    def volume(self) -> float:
        """Volume of the region in the units of the input."""
        return self.size**self.n_dims

    def inputs(self, X: FloatArray) -> FloatArray:
        """Standard coordinates, shape (n_points, n_dims)."""
        return (X - self.low) / self.divisor

    def centers(self, u: FloatArray) -> FloatArray:
        """Back to the units of the input."""
        return self.low + u * self.divisor


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and prior in standard coordinates, ready for the kernels.

    intensity, noise : the curves at their prior mean, or empty
    knots, shares : knots of the noise curve around each observation, and their shares
    order : (n_points,) the original row of each sorted observation
    start_level : level of the intensity that chains start from
    X, y, weight, counts : what the problem was made from, in its own units; see `of`
    """

    prior: Prior
    scaling: Scaling
    data: Data
    shape: Shape
    hyper: Hyper
    intensity: Field
    noise: Field
    knots: NDArray[np.int64]
    shares: FloatArray
    start_level: float
    order: NDArray[np.int64]
    X: FloatArray
    y: FloatArray
    weight: FloatArray | None
    counts: FloatArray | None

    @classmethod
    def of(
        cls,
        prior: Prior,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        counts: FloatArray | None = None,
    ) -> Problem:
        """Standardise and sort; X of shape (n_points, n_dims), the others of shape (n_points,).

        weight : relative precision of each observation (its noise variance is σ² / weight), 1 by default
        counts : how often each observation counts, 1 by default: its likelihood is raised to that power
        """
        region = prior.region
        size = math.exp(float(np.mean(np.log(region.widths))))
        spread = mean_and_sd(y, counts)[1] if len(y) > 1 else 0.0
        y_scale = spread if spread > 0 else _median(prior.amplitude)
        scaling = Scaling(region.low, prior.anisotropy * size, size, y_scale)
        u = scaling.inputs(X)
        order = np.argsort(u[:, 0], kind="stable")
        known = np.ones(len(y)) if weight is None else np.sqrt(weight[order])
        times = np.ones(len(y)) if counts is None else counts[order]
        root, outputs = known * np.sqrt(times), y[order] / y_scale
        totals = np.array([np.sum((outputs * root) ** 2), np.sum(times * np.log(known)), np.sum(times)])
        x = np.ascontiguousarray(u[order].T)
        data = Data(x, times, root, outputs * root, known, outputs, totals, int(prior.bias > 0))
        shape, level = _shape(prior.intensity, region, scaling)
        intensity = empty_field()
        if isinstance(prior.intensity, SigmoidGP):
            intensity = field_of(prior.intensity.process(region), scaling)
        noise, knots, shares = empty_field(), np.zeros((0, 1), dtype=np.int64), np.zeros((0, 1))
        if isinstance(prior.noise, VaryingNoise):
            lengthscales = lengthscale_vector("lengthscale", prior.noise.lengthscale, region.n_dims)
            process = GridGP(region, prior.noise.variance, lengthscales)
            noise = field_of(process, scaling)
            knots, shares = interpolation_weights(process.shape, region, np.clip(X[order], region.low, region.high))
        return cls(
            prior, scaling, data, shape, _hyper(prior, scaling), intensity, noise, knots, shares, level, order, X, y,
            weight, counts,
        )  # fmt: skip


def _median(value: float | LogNormal) -> float:
    return value.median if isinstance(value, LogNormal) else value


def _hyper(prior: Prior, scaling: Scaling) -> Hyper:
    def log_normal(value: float | LogNormal, unit: float) -> tuple[float, float]:
        return math.log(_median(value) / unit), value.log_sd if isinstance(value, LogNormal) else 0.0

    if prior.noise is None:
        raise StatementError("noise=None is not allowed in a fit: state a number, a LogNormal or a noise model")
    shape, rate, power = 0.0, 0.0, 1.0
    if isinstance(prior.intensity, UnknownConstant):
        shape, rate, power = prior.intensity.square.shape, prior.intensity.square.rate / scaling.volume**2, 2.0
    elif isinstance(prior.intensity, SigmoidGP) and isinstance(prior.intensity.upper, Gamma):
        shape, rate = prior.intensity.upper.shape, prior.intensity.upper.rate / scaling.volume
    freedom = log_normal(prior.noise.freedom, 1.0) if isinstance(prior.noise, RobustNoise) else (0.0, 0.0)
    level, inverse = noise_level(prior.noise), (0.0, 0.0)
    if isinstance(level, InverseGamma):
        noise = (0.5 * math.log(level.mode / scaling.y_scale**2), min(0.5 / math.sqrt(level.shape), 1.0))
        inverse = (level.shape, level.scale / scaling.y_scale**2)
    else:
        noise = log_normal(level, scaling.y_scale)
    return Hyper(
        prior.s0,
        math.pow(prior.s0**2 / math.pi, prior.n_dims / 2.0),
        (prior.bias / scaling.y_scale) ** 2 if prior.bias > 0 else 1.0,
        *noise,
        *log_normal(prior.amplitude, scaling.y_scale),
        shape,
        rate,
        power,
        *freedom,
        *inverse,
    )


def empty_field() -> Field:
    """No curve."""
    none, counts = np.zeros(0), np.zeros(0, dtype=np.int64)
    ranks = np.zeros((1, 0), dtype=np.int64)
    wide = np.zeros((2, 0))
    return Field(none, none.copy(), none.copy(), ranks, counts, none.copy(), wide, wide[:1].copy(), 0.0, 1.0)


def field_of(process: GridGP, scaling: Scaling) -> Field:
    """A Gaussian process at knots as the kernels take it, with all coefficients zero."""
    bases = [
        (b * math.sqrt(process.variance) if d == 0 else b).T.ravel() for row in process.bases for d, b in enumerate(row)
    ]
    area = np.ones(1)
    for width, size in zip(process.region.widths / scaling.divisor, process.shape, strict=True):
        weights = np.full(size, width / (size - 1))
        weights[[0, -1]] *= 0.5
        area = np.multiply.outer(area, weights).ravel()
    # largest tensor on the way from coefficients to knots
    room, sizes = process.n_whitened, list(process.coefficient_shape)
    for d, size in enumerate(process.shape):
        sizes[d] = size
        room = max(room, math.prod(sizes))
    return Field(
        np.zeros(process.n_whitened),
        np.zeros(math.prod(process.shape)),
        np.concatenate(bases),
        np.array([[b.shape[1] for b in row] for row in process.bases], dtype=np.int64),
        np.array(process.shape, dtype=np.int64),
        area,
        np.zeros((2, room)),
        process.spreads() if process.n_unknown else np.zeros((1, 0)),
        0.5 * process.variance_log_sd,
        LENGTHSCALE_STEP,
    )


def _shape(intensity: Intensity, region: Region, scaling: Scaling) -> tuple[Shape, float]:
    """The intensity as level times a table, in standard coordinates."""
    widths = region.widths / scaling.divisor
    if isinstance(intensity, Constant | UnknownConstant):
        level = intensity.mean_level * scaling.volume
        return _packed(0, widths, np.ones((1,) * region.n_dims), [np.empty(0)] * region.n_dims, 1.0), level
    if isinstance(intensity, Piecewise):
        top = float(intensity.values.max())
        breaks = [(b - lo) / f for b, lo, f in zip(intensity.grid, region.low, scaling.divisor, strict=True)]
        integral = intensity.integral(region) / (top * scaling.volume)
        return _packed(1, widths, intensity.values / top, breaks, integral), top * scaling.volume
    if isinstance(intensity, SigmoidGP):
        half = np.full(intensity.process(region).shape, 0.5)
        shape = _packed(2, widths, half, [np.empty(0)] * region.n_dims, 0.5)
        return shape._replace(bound=1.0), intensity.mean_upper * scaling.volume
    if isinstance(intensity, FromFunction):
        intensity = tabulate(intensity, region)
    if isinstance(intensity, Tabulated):
        values = intensity.values
        top = float(values.max())
        integral = float(trapezoid(values[None] / top, region)[0]) / scaling.volume
        return _packed(2, widths, values / top, [np.empty(0)] * region.n_dims, integral), top * scaling.volume
    raise StatementError(
        f"lengthscale={intensity!r} is not allowed: the collapsed sampler takes Constant, UnknownConstant, Piecewise, "
        "FromFunction, Tabulated and SigmoidGP intensities"
    )


def _packed(kind: int, widths: FloatArray, table: FloatArray, breaks: list[FloatArray], integral: float) -> Shape:
    offsets = np.concatenate([[0], np.cumsum([len(b) for b in breaks])]).astype(np.int64)
    return Shape(
        kind,
        np.ascontiguousarray(widths),
        np.ascontiguousarray(table, dtype=np.float64).ravel(),
        np.array(table.shape, dtype=np.int64),
        np.concatenate([*breaks, np.empty(0)]),
        offsets,
        float(table.max()),
        np.array([float(integral)]),
    )


def tabulate(intensity: FromFunction, region: Region) -> Tabulated:
    """A callable intensity as a table, knots doubled until linear interpolation is good to 1e-6 (relative).

    The sampler's posterior is exact for the table; a warning says so where the tolerance cannot be met.
    """
    if region.n_dims not in _MOST_KNOTS:
        raise StatementError(f"region has {region.n_dims} dimensions: a callable lengthscale needs 1, 2 or 3")
    most, per_dim = _MOST_KNOTS[region.n_dims], 17
    while True:
        table = Tabulated(
            region, intensity.value(quadrature.grid_points(region, per_dim)).reshape((per_dim,) * region.n_dims)
        )
        half = region.widths / (per_dim - 1) / 2.0
        middles = quadrature.grid_points(Region(region.low + half, region.high - half), per_dim - 1)
        truth = intensity.value(middles)
        error = float(np.max(np.abs(table.value(middles) / truth - 1.0)))
        if error <= _TABLE_TOLERANCE:
            return table
        if 2 * (per_dim - 1) + 1 > most:
            if error > 0.01:
                warnings.warn(
                    f"the lengthscale function changes so fast that its table is off by {error:.0%} somewhere: "
                    "state jumps by Piecewise",
                    PorbnetWarning,
                    stacklevel=2,
                )
            return table
        per_dim = 2 * (per_dim - 1) + 1
