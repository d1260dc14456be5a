"""Values on a regular grid, multilinear in between: the form in which unknown intensities are drawn and stored."""

from __future__ import annotations

import itertools
import warnings
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.parameter import Parameter
from porbnet.base.region import Region
from porbnet.errors import PorbnetWarning, StatementError
from porbnet.functions import quadrature
from porbnet.functions.interpolation import locate
from porbnet.intensity.base import Intensity, Relative, Units, known_level, segment_ids

_TABLE_TOLERANCE = 1e-6
_MOST_KNOTS = {1: 65537, 2: 1025, 3: 129}


class Tabulated(Intensity):
    """Positive values at the knots of a regular grid that spans a region, multilinear in between.

    The integral is exact: the trapezoidal rule integrates a multilinear function without error.

    Parameters
    ----------
    region : (low, high) or one pair per dimension
        The box that the grid spans; the first and last knots lie on its edges.
    values : array of shape (n_knots_1, ..., n_knots_D)
        Positive levels at the knots, at least two per dimension.

    Examples
    --------
    >>> Tabulated((0.0, 2.0), [1.0, 3.0, 1.0]).value([0.5, 1.0])
    array([2., 3.])
    """

    def __init__(self, region: Any, values: Any) -> None:
        self.region = Region.of(region)
        allowed = "they must be positive finite numbers, at least two knots per dimension of the region"
        self.values = _checks.real_array("values", values, allowed)
        if self.values.ndim != self.region.n_dims or min(self.values.shape) < 2 or np.any(self.values <= 0):
            raise _checks.fail("values", values, allowed)

    def on(self, region: Region) -> Tabulated:
        """Check that the grid covers the region."""
        region.require_dims(self.region.n_dims, "Tabulated intensity")
        slack = 1e-9 * self.region.widths
        if np.any(region.low < self.region.low - slack) or np.any(region.high > self.region.high + slack):
            raise _checks.fail(
                "region", region.bounds.tolist(), f"the table of values covers only {self.region.bounds.tolist()}"
            )
        return self

    def value(self, X: Any) -> FloatArray:
        """Interpolated level, shape (n_points,); points outside the table take the value at its edge."""
        points = _checks.points("X", X, self.region.n_dims)
        return interpolate(self.values[None], self.region, points, np.zeros(len(points), dtype=np.int64))

    def gradient(self, X: Any) -> FloatArray:
        """Slope of the interpolant, shape (n_points, n_dims)."""
        points = _checks.points("X", X, self.region.n_dims)
        cells, fraction = locate(self.values.shape, self.region, points)
        spacing = self.region.widths / (np.array(self.values.shape) - 1)
        slope = np.zeros_like(points)
        for corner in itertools.product((0, 1), repeat=self.region.n_dims):
            level = self.values[tuple(cells[:, d] + corner[d] for d in range(points.shape[1]))]
            factors = np.where(np.array(corner) == 1, fraction, 1.0 - fraction)
            for d in range(points.shape[1]):
                others = np.prod(np.delete(factors, d, axis=1), axis=1)
                slope[:, d] += (1.0 if corner[d] else -1.0) / spacing[d] * others * level
        return slope

    def integral(self, region: Any = None) -> float:
        """Exact integral over the table's own region, or over a box within it."""
        if region is None:
            return float(trapezoid(self.values[None], self.region)[0])
        box, total = Region.of(region), self.values
        self.on(box)
        for d in range(box.n_dims - 1, -1, -1):
            knots = np.linspace(self.region.low[d], self.region.high[d], total.shape[-1])
            total = total @ hat_integrals(knots, float(box.low[d]), float(box.high[d]))
        return float(total)

    def upper_bound(self, region: Region) -> float:
        """The highest knot."""
        return float(self.values.max())

    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws by thinning."""
        values = np.broadcast_to(self.values, (n, *self.values.shape))
        return thinned_units(values, np.full(n, self.values.max()), self.region, rng, within=region)

    def sampled_as(self, region: Region) -> Intensity:
        """Itself."""
        return self

    def relative(self, region: Region, volume: float) -> Relative:
        """The values over the highest of them."""
        values = self.values / float(self.values.max())
        integral = float(trapezoid(values[None], region)[0]) / volume
        return Relative("table", values, [np.empty(0)] * region.n_dims, integral, float(values.max()))

    def level_parameter(self, region: Region) -> Parameter:
        """The highest value, known."""
        return known_level(float(self.values.max()))

    def __repr__(self) -> str:
        return f"Tabulated({self.region.bounds.tolist()!r}, <{'x'.join(map(str, self.values.shape))} values>)"


def interpolate(tables: FloatArray, region: Region, X: FloatArray, which: Any) -> FloatArray:
    """Multilinear interpolation at point i in table `which[i]`; tables of shape (n_tables, knots...)."""
    cells, fraction = locate(tables.shape[1:], region, X)
    total = np.zeros(len(X))
    for corner in itertools.product((0, 1), repeat=region.n_dims):
        factors = np.where(np.array(corner) == 1, fraction, 1.0 - fraction)
        index = tuple(cells[:, d] + corner[d] for d in range(region.n_dims))
        total += np.prod(factors, axis=1) * tables[(which, *index)]
    return total


def trapezoid(tables: FloatArray, region: Region) -> FloatArray:
    """Exact integral of each multilinear table over the region, shape (n_tables,)."""
    total = tables
    for d in range(region.n_dims - 1, -1, -1):
        n_knots = total.shape[-1]
        weights = np.full(n_knots, region.widths[d] / (n_knots - 1))
        weights[[0, -1]] *= 0.5
        total = total @ weights
    return total


def hat_integrals(knots: FloatArray, low: float, high: float) -> FloatArray:
    """Integrals from low to high of the functions that are one at a knot, zero at the others and linear between."""
    a, b = np.clip(low, knots[:-1], knots[1:]), np.clip(high, knots[:-1], knots[1:])
    to_right = (b - a) * (0.5 * (a + b) - knots[:-1]) / np.diff(knots)
    weights = np.zeros(len(knots))
    weights[1:] += to_right
    weights[:-1] += (b - a) - to_right
    return weights


def thinned_units(
    tables: FloatArray, bounds: FloatArray, region: Region, rng: np.random.Generator, within: Region | None = None
) -> Units:
    """One exact draw of the Poisson process per table: uniform candidates at rate `bounds`, kept by λ / bound.

    The tables span `region`; the process lives on `within`, which is the same if not given.
    """
    box = region if within is None else within
    candidates = rng.poisson(bounds * box.volume)
    X = box.uniform(int(candidates.sum()), rng)
    which = segment_ids(candidates)
    levels = interpolate(tables, region, X, which)
    kept = rng.random(len(X)) * bounds[which] < levels
    counts = np.bincount(which[kept], minlength=len(tables))
    return Units(counts, X[kept], levels[kept])


def tabulate(intensity: Intensity, region: Region) -> Tabulated:
    """A known intensity as a table, knots doubled until linear interpolation is good to 1e-6 (relative).

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
