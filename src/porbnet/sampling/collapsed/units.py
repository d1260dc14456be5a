"""Columns of the design matrix, the intensity at a place, and building a whole configuration of units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.compiled import fast_exp, inlined_kernel, inner_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.gaussian import arrange
from porbnet.sampling.collapsed.state import Data, Hyper, Shape, Units, Work

REACH = 6.5  # in units of 1 / s: beyond it a unit's value is below 1e-9 and taken as zero
_LOWEST = -700.0


@inner_kernel
def relative_intensity(shape: Shape, center: Any) -> float:
    """g(c): the known part of the intensity at a center inside the box."""
    if shape.kind == 0:
        return 1.0
    n_dims = len(center)
    if shape.kind == 1:
        index = 0
        for d in range(n_dims):
            start, stop = shape.break_offsets[d], shape.break_offsets[d + 1]
            piece = 0
            while start + piece < stop and center[d] >= shape.breaks[start + piece]:
                piece += 1
            index = index * shape.sizes[d] + piece
        return float(shape.values[index])
    total = 0.0
    for corner in range(1 << n_dims):
        weight, index = 1.0, 0
        for d in range(n_dims):
            cells = shape.sizes[d] - 1
            position = min(max(center[d] / shape.widths[d], 0.0), 1.0) * cells
            cell = min(int(position), cells - 1)
            fraction = position - cell
            bit = (corner >> d) & 1
            weight *= fraction if bit == 1 else 1.0 - fraction
            index = index * shape.sizes[d] + cell + bit
        if weight != 0.0:
            total += weight * shape.values[index]
    return total


@inner_kernel
def draw_center(shape: Shape, rng: Any, out: Any) -> float:
    """A center from λ / Λ, by rejection from the uniform; returns g there."""
    while True:
        for d in range(len(out)):
            out[d] = rng.random() * shape.widths[d]
        if shape.kind == 0:
            return 1.0
        g = relative_intensity(shape, out)
        if rng.random() * shape.bound < g:
            return g


@inner_kernel
def poisson(mean: float, rng: Any) -> int:
    """A Poisson count, as points of a unit-rate process on [0, mean] (the generator's own needs an array)."""
    n, reached = 0, -math.log(1.0 - rng.random())
    while reached < mean:
        n += 1
        reached -= math.log(1.0 - rng.random())
    return n


@inner_kernel
def inside(shape: Shape, center: Any) -> bool:
    """Whether a center lies in the box."""
    within = True
    for d in range(len(center)):
        within = within and center[d] >= 0.0 and center[d] <= shape.widths[d]
    return within


@inner_kernel
def scale_at(hyper: Hyper, intensity: float, n_dims: int) -> float:
    """Scale s = s0 λ^(1/D)."""
    if n_dims == 1:
        return hyper.s0 * intensity
    if n_dims == 2:
        return hyper.s0 * math.sqrt(intensity)
    return hyper.s0 * math.exp(math.log(intensity) / n_dims)


@inner_kernel
def lower_bound(x: Any, start: int, stop: int, target: float) -> int:
    """First index in [start, stop) whose first coordinate is at least `target`; `stop` if there is none."""
    while start < stop:
        middle = (start + stop) >> 1
        if x[0, middle] < target:
            start = middle + 1
        else:
            stop = middle
    return start


@inner_kernel
def unit_values(x: Any, start: int, stop: int, center: Any, scale: float, out: Any) -> tuple[int, int]:
    """Values of a unit at those of the points [start, stop) that it reaches; returns their window [low, high).

    x : (n_dims, n_points), sorted by the first coordinate; out[i - low] is the value at point i
    """
    reach = REACH / scale
    low = lower_bound(x, start, stop, center[0] - reach)
    high = lower_bound(x, low, stop, center[0] + reach)
    factor = -0.5 * scale * scale
    # loops run from zero over slices: an index that might be negative would keep them from being vectorised
    n, c, along = high - low, center[0], x[0, low:high]
    if x.shape[0] == 1:
        for i in range(n):
            d = along[i] - c
            out[i] = fast_exp(factor * d * d)
        return low, high
    for i in range(n):
        d = along[i] - c
        out[i] = factor * d * d
    for j in range(1, x.shape[0]):
        c, along = center[j], x[j, low:high]
        for i in range(n):
            d = along[i] - c
            out[i] += factor * d * d
    for i in range(n):
        out[i] = fast_exp(max(out[i], _LOWEST))
    return low, high


@inner_kernel
def fill_column(data: Data, center: Any, scale: float, out: Any) -> tuple[int, int]:
    """Weighted values of a unit at the observations it reaches; returns their window [low, high)."""
    # np.int64: a literal would make Numba compile the callee once more
    low, high = unit_values(data.x, np.int64(0), data.x.shape[1], center, scale, out)  # type: ignore[arg-type]
    root = data.root_weight[low:high]
    for i in range(high - low):
        out[i] *= root[i]
    return low, high


@inner_kernel
def products(data: Data, units: Units, column: Any, low: int, high: int, first: int, out: Any) -> tuple[float, float]:
    """out[j] = row j of Φᵀφ for a column φ on [low, high), bias and units from `first` on; returns φᵀφ and φᵀy."""
    square, with_y, with_bias = 0.0, 0.0, 0.0
    y, root = data.y[low:high], data.root_weight[low:high]
    for i in range(high - low):
        v = column[i]
        square += v * v
        with_y += v * y[i]
        with_bias += v * root[i]
    out[0] = with_bias if data.has_bias == 1 else 0.0
    for j in range(first, units.n[0]):
        a, b = max(low, units.low[j]), min(high, units.high[j])
        total = 0.0
        if a < b:
            shift = units.low[j]
            mine, other = column[a - low : b - low], units.columns[j, a - shift : b - shift]
            for i in range(b - a):
                total += mine[i] * other[i]
        out[j + 1] = total
    return square, with_y


@inner_kernel
def clear(data: Data, units: Units) -> None:
    """No units: the bias alone."""
    units.n[0] = 0
    weight, moment = 0.0, 0.0
    if data.has_bias == 1:
        for i in range(len(data.y)):
            weight += data.root_weight[i] * data.root_weight[i]
            moment += data.root_weight[i] * data.y[i]
    units.gram[0, 0] = weight
    units.moment[0] = moment
    units.updates[0] = -1


@inner_kernel
def place(units: Units, k: int, center: Any, g: float, scale: float, low: int, high: int) -> None:
    """Set what a unit is: center, intensity and scale there, and the window that it reaches."""
    for d in range(len(center)):
        units.centers[k, d] = center[d]
    units.relative[k] = g
    units.scales[k] = scale
    units.low[k] = low
    units.high[k] = high


@inner_kernel
def append(data: Data, units: Units, center: Any, g: float, scale: float, row: Any) -> None:
    """Add a unit to the columns, Gram matrix and moments; P is left stale."""
    k = units.n[0]
    low, high = fill_column(data, center, scale, units.columns[k])
    square, with_y = products(data, units, units.columns[k], low, high, np.int64(0), row)  # type: ignore[arg-type]
    place(units, k, center, g, scale, low, high)
    for j in range(k + 1):
        units.gram[j, k + 1] = row[j]
        units.gram[k + 1, j] = row[j]
    units.gram[k + 1, k + 1] = square
    units.moment[k + 1] = with_y
    units.n[0] = k + 1


@inner_kernel
def append_right(data: Data, units: Units, center: Any, g: float, scale: float) -> None:
    """Add a unit to the right of all there are; of the Gram matrix only what a factorisation reads.

    That is its row from the first unit it may overlap with (see `gaussian.arrange`) to itself; `complete` adds the
    rest. units.ordered[k] is how far units 0 to k reach.
    """
    k = units.n[0]
    low, high = fill_column(data, center, scale, units.columns[k])
    first = k
    while first > 0 and units.ordered[first - 1] > low:
        first -= 1
    units.first[k] = first
    units.ordered[k] = max(high, units.ordered[k - 1]) if k > 0 else high
    row = units.gram[k + 1]
    square, with_y = products(data, units, units.columns[k], low, high, first, row)
    place(units, k, center, g, scale, low, high)
    units.gram[0, k + 1] = row[0]
    row[k + 1] = square
    units.moment[k + 1] = with_y
    units.n[0] = k + 1


@inner_kernel
def complete(units: Units) -> None:
    """The whole Gram matrix of units that were added from left to right."""
    gram = units.gram
    for k in range(units.n[0]):
        for j in range(units.first[k]):
            gram[k + 1, j + 1] = 0.0
        for j in range(k):
            gram[j + 1, k + 1] = gram[k + 1, j + 1]


@inner_kernel
def copy_units(source: Units, target: Units) -> None:
    """Copy the meaningful part of a configuration (P and the mean are left stale)."""
    n = source.n[0]
    target.n[0] = n
    for k in range(n):
        for d in range(source.centers.shape[1]):
            target.centers[k, d] = source.centers[k, d]
        target.relative[k] = source.relative[k]
        target.scales[k] = source.scales[k]
        target.low[k] = source.low[k]
        target.high[k] = source.high[k]
        for i in range(source.high[k] - source.low[k]):
            target.columns[k, i] = source.columns[k, i]
    for i in range(n + 1):
        target.moment[i] = source.moment[i]
        for j in range(n + 1):
            target.gram[i, j] = source.gram[i, j]
    target.updates[0] = -1


@inlined_kernel
def rebuild(data: Data, hyper: Hyper, source: Units, level: float, target: Units) -> None:
    """The same centers at another level, from left to right: new scales, columns and Gram matrix in `target`."""
    arrange(source)
    clear(data, target)
    for i in range(source.n[0]):
        k = source.order[i] - 1
        g = source.relative[k]
        append_right(data, target, source.centers[k], g, scale_at(hyper, level * g, data.x.shape[0]))


@kernel
def start_units(data: Data, shape: Shape, hyper: Hyper, units: Units, level: float, work: Work, rng: Any) -> float:
    """Units from the prior at a level, as far as there is room; returns the scale that the level itself has."""
    n_dims = data.x.shape[0]
    clear(data, units)
    for _ in range(min(poisson(level * shape.integral[0], rng), len(units.scales) - 1)):
        g = draw_center(shape, rng, work.center)
        append(data, units, work.center, g, scale_at(hyper, level * g, n_dims), work.cross)
    return scale_at(hyper, level, n_dims)
