"""From a prior and data to what the kernels work on: standard coordinates, sorted observations, tables."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet import quadrature
from porbnet._checks import FloatArray
from porbnet.distributions import LogNormal
from porbnet.errors import PorbnetWarning, StatementError
from porbnet.inference.collapsed.state import Data, Hyper, Shape
from porbnet.intensity import Constant, FromFunction, Intensity, Piecewise, Tabulated, UnknownConstant
from porbnet.intensity.tabulated import trapezoid
from porbnet.model.prior import Prior
from porbnet.region import Region

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

    order : (n_points,) the original row of each sorted observation
    start_level : level of the intensity that chains start from
    """

    prior: Prior
    scaling: Scaling
    data: Data
    shape: Shape
    hyper: Hyper
    start_level: float
    order: NDArray[np.int64]

    @classmethod
    def of(cls, prior: Prior, X: FloatArray, y: FloatArray, weight: FloatArray | None = None) -> Problem:
        """Standardise and sort; X of shape (n_points, n_dims), y and weight of shape (n_points,)."""
        if prior.noise is None:
            raise StatementError("noise=None is not allowed in a fit: state a number or a LogNormal")
        region = prior.region
        size = math.exp(float(np.mean(np.log(region.widths))))
        y_scale = float(np.std(y)) if len(y) > 1 and np.std(y) > 0 else _median(prior.amplitude)
        scaling = Scaling(region.low, prior.anisotropy * size, size, y_scale)
        u = scaling.inputs(X)
        order = np.argsort(u[:, 0], kind="stable")
        root = np.ones(len(y)) if weight is None else np.sqrt(weight[order])
        scaled = y[order] / y_scale * root
        data = Data(np.ascontiguousarray(u[order].T), root, scaled, float(scaled @ scaled), int(prior.bias > 0))
        shape, level = _shape(prior.intensity, region, scaling)
        return cls(prior, scaling, data, shape, _hyper(prior, scaling), level, order)


def _median(value: float | LogNormal) -> float:
    return value.median if isinstance(value, LogNormal) else value


def _hyper(prior: Prior, scaling: Scaling) -> Hyper:
    def log_normal(value: float | LogNormal | None) -> tuple[float, float]:
        if value is None:
            raise StatementError("noise=None is not allowed in a fit: state a number or a LogNormal")
        sd = value.log_sd if isinstance(value, LogNormal) else 0.0
        return math.log(_median(value) / scaling.y_scale), sd

    unknown = prior.intensity if isinstance(prior.intensity, UnknownConstant) else None
    return Hyper(
        prior.s0,
        math.pow(prior.s0**2 / math.pi, prior.n_dims / 2.0),
        (prior.bias / scaling.y_scale) ** 2 if prior.bias > 0 else 1.0,
        *log_normal(prior.noise),
        *log_normal(prior.amplitude),
        unknown.square.shape if unknown else 0.0,
        unknown.square.rate / scaling.volume**2 if unknown else 0.0,
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
    if isinstance(intensity, FromFunction):
        intensity = tabulate(intensity, region)
    if isinstance(intensity, Tabulated):
        values = intensity.values
        top = float(values.max())
        integral = float(trapezoid(values[None] / top, region)[0]) / scaling.volume
        return _packed(2, widths, values / top, [np.empty(0)] * region.n_dims, integral), top * scaling.volume
    raise StatementError(
        f"lengthscale={intensity!r} is not allowed: the collapsed sampler takes Constant, UnknownConstant, Piecewise, "
        "FromFunction and Tabulated intensities"
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
        float(integral),
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
