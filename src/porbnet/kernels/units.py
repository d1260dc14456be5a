"""Columns of the design matrix, the intensity at a place, and building a whole configuration of units."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.compiled import fast_exp, hot, inner
from porbnet.kernels.process import expand
from porbnet.kernels.random import uniform
from porbnet.kernels.state import CONSTANT, PIECES
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.kernels.views import part, row_part

REACH = 6.5  # in units of 1 / s: beyond it a unit's value is below 1e-9 and taken as zero
_LOWEST = -700.0


@inner
def relative_intensity(shape: Any, center: Any) -> float:
    """g(c): the intensity over its level at a center inside the box."""
    if shape.kind == CONSTANT:
        return 1.0
    widths, sizes, values = shape.widths, shape.sizes, shape.values
    n_dims = len(widths)
    if shape.kind == PIECES:
        index = 0
        for d in range(n_dims):
            start, stop = shape.break_offsets[d], shape.break_offsets[d + 1]
            piece = 0
            while start + piece < stop and center[d] >= shape.breaks[start + piece]:
                piece += 1
            index = index * sizes[d] + piece
        return float(values[index])
    total = 0.0
    for corner in range(1 << n_dims):
        weight, index = 1.0, 0
        for d in range(n_dims):
            cells = sizes[d] - 1
            position = smaller(larger(center[d] / widths[d], 0.0), 1.0) * cells
            cell = smaller(int(position), cells - 1)
            fraction = position - cell
            bit = (corner >> d) & 1
            weight *= fraction if bit == 1 else 1.0 - fraction
            index = index * sizes[d] + cell + bit
        if weight != 0.0:
            total += weight * values[index]
    return total


@hot
def set_intensity(curve: Any, table: Any, shape: Any) -> None:
    """Set g = sigmoid(h) at the knots for a table of h, and its integral."""
    total, values, area = 0.0, shape.values, curve.area
    for i in range(len(area)):
        e = fast_exp(larger(-abs(table[i]), -690.0))
        g = 1.0 / (1.0 + e) if table[i] >= 0.0 else e / (1.0 + e)
        values[i] = g
        total += area[i] * g
    shape.integral = total


@inner
def set_curve(component: Any) -> None:
    """The intensity of the curve's current coefficients, if there is a curve."""
    curve = component.curve
    if len(curve.z) > 0:
        expand(curve, curve.z, curve.table)
        set_intensity(curve, curve.table, component.shape)


@inner
def draw_center(shape: Any, rng: Any, out: Any) -> float:
    """A center from λ / Λ, by rejection from the uniform; returns g there."""
    for d in range(len(shape.widths), len(out)):
        out[d] = 0.0
    while True:
        for d in range(len(shape.widths)):
            out[d] = uniform(rng) * shape.widths[d]
        if shape.kind == CONSTANT:
            return 1.0
        g = relative_intensity(shape, out)
        if uniform(rng) * shape.bound < g:
            return g


@inner
def inside(shape: Any, center: Any) -> bool:
    """Whether a center lies in the box."""
    within = True
    for d in range(len(shape.widths)):
        within = within and center[d] >= 0.0 and center[d] <= shape.widths[d]
    return within


@inner
def scale_at(component: Any, intensity: float) -> float:
    """Scale s = s0 λ^(1/D)."""
    n_dims = component.x.shape[0]
    if n_dims == 1:
        return float(component.s0 * intensity)
    if n_dims == 2:
        return float(component.s0 * math.sqrt(intensity))
    return float(component.s0 * math.exp(math.log(intensity) / n_dims))


@inner
def weight_variance(component: Any, values: Any) -> float:
    """Weight variance v_w of a component's units."""
    amplitude = values[component.amplitude]
    return float(component.weight_factor * amplitude * amplitude)


@inner
def lower_bound(x: Any, start: int, stop: int, target: float) -> int:
    """First index in [start, stop) whose first coordinate is at least `target`; `stop` if there is none."""
    while start < stop:
        middle = (start + stop) >> 1
        if x[0, middle] < target:
            start = middle + 1
        else:
            stop = middle
    return start


@hot
def unit_values(x: Any, is_sorted: int, start: int, stop: int, center: Any, scale: float, out: Any) -> tuple[int, int]:
    """Values of a unit at those of the points [start, stop) that it reaches; returns their window [low, high).

    x : (n_dims, n_points), if sorted by the first coordinate; out[i - low] is the value at point i
    """
    low, high = start, stop
    if is_sorted == 1:
        reach = REACH / scale
        low = lower_bound(x, start, stop, center[0] - reach)
        high = lower_bound(x, low, stop, center[0] + reach)
    factor = -0.5 * scale * scale
    # loops run from zero over slices: an index that might be negative would keep them from being vectorised
    n, c, along = high - low, center[0], row_part(x, 0, low, high)
    if x.shape[0] == 1 and is_sorted == 1:
        for i in range(n):
            d = along[i] - c
            out[i] = fast_exp(factor * d * d)
        return low, high
    for i in range(n):
        d = along[i] - c
        out[i] = factor * d * d
    for j in range(1, x.shape[0]):
        c, along = center[j], row_part(x, j, low, high)
        for i in range(n):
            d = along[i] - c
            out[i] += factor * d * d
    for i in range(n):
        out[i] = fast_exp(larger(out[i], _LOWEST))
    return low, high


@hot
def fill_column(rows: Any, component: Any, center: Any, scale: float, out: Any) -> tuple[int, int]:
    """Weighted values of a unit at the observations it reaches; returns their window [low, high)."""
    # np.int64: a literal would make Numba compile the callee once more
    x = component.x
    low, high = unit_values(x, component.sorted, np.int64(0), x.shape[1], center, scale, out)  # type: ignore[arg-type]
    root = part(rows.root, low, high)
    for i in range(high - low):
        out[i] *= root[i]
    return low, high


def faded(z2: Any) -> Any:
    """How much less sharp a unit counts at a distance of z of its widths: at least exp(-z² / 32)."""
    return 1.0 / (1.0 + z2 / 32.0 * (1.0 + z2 / 64.0))


_faded = inner(faded)


@inner
def too_sharp(rows: Any, component: Any, center: Any, scale: float, low: int, high: int) -> bool:
    """Whether a unit is sharper than those that the rows in its window [low, high) stand for."""
    if scale <= rows.safe:
        return False
    limit, along, c = rows.limit, component.x[0], center[0]
    sharp = False
    for i in range(low, high):
        z = scale * (along[i] - c)
        sharp = sharp or scale * _faded(z * z) > limit[i]
    return sharp


@inner
def is_coarse(rows: Any, components: Any, units: Any) -> bool:
    """Whether units get so sharp that the rows should be made for sharper ones."""
    found = rows.coarse == 1
    for k in range(units.n):
        component, scale = components[units.owner[k]], rows.margin * units.scales[k]
        found = found or too_sharp(rows, component, units.centers[k], scale, units.low[k], units.high[k])
    return bool(found)


@hot
def products(rows: Any, units: Any, column: Any, low: int, high: int, first: int, out: Any) -> tuple[float, float]:
    """out[j] = row j of Φᵀφ for a column φ on [low, high), bias and units from `first` on; returns φᵀφ and φᵀy."""
    square, with_y, with_bias = 0.0, 0.0, 0.0
    y, root = part(rows.y, low, high), part(rows.root, low, high)
    for i in range(high - low):
        v = column[i]
        square += v * v
        with_y += v * y[i]
        with_bias += v * root[i]
    out[0] = with_bias if rows.has_bias == 1 else 0.0
    lows, highs, columns = units.low, units.high, units.columns
    for j in range(first, units.n):
        a, b = larger(low, lows[j]), smaller(high, highs[j])
        total = 0.0
        if a < b:
            shift = lows[j]
            mine, other = part(column, a - low, b - low), row_part(columns, j, a - shift, b - shift)
            for i in range(b - a):
                total += mine[i] * other[i]
        out[j + 1] = total
    return square, with_y


@hot
def clear(rows: Any, units: Any) -> None:
    """No units: the bias alone."""
    units.n = 0
    weight, moment = 0.0, 0.0
    if rows.has_bias == 1:
        root, y = rows.root, rows.y
        for i in range(len(y)):
            weight += root[i] * root[i]
            moment += root[i] * y[i]
    units.gram[0, 0] = weight
    units.moment[0] = moment
    units.updates = -1
    units.sharp = 0


@inner
def place(units: Any, k: int, owner: int, center: Any, g: float, scale: float, low: int, high: int) -> None:
    """Set what a unit is: center, intensity and scale there, and the window that it reaches."""
    for d in range(units.centers.shape[1]):  # of which a component may have fewer
        units.centers[k, d] = center[d] if d < len(center) else 0.0
    units.owner[k] = owner
    units.relative[k] = g
    units.scales[k] = scale
    units.low[k] = low
    units.high[k] = high


@inner
def append(rows: Any, components: Any, units: Any, owner: int, center: Any, g: float, scale: float, row: Any) -> None:
    """Add a unit to the columns, Gram matrix and moments; P is left stale."""
    k, gram = units.n, units.gram
    column = units.columns[k]
    low, high = fill_column(rows, components[owner], center, scale, column)
    if too_sharp(rows, components[owner], center, scale, low, high):
        units.sharp = 1
    square, with_y = products(rows, units, column, low, high, np.int64(0), row)  # type: ignore[arg-type]
    place(units, k, owner, center, g, scale, low, high)
    for j in range(k + 1):
        gram[j, k + 1] = row[j]
        gram[k + 1, j] = row[j]
    gram[k + 1, k + 1] = square
    units.moment[k + 1] = with_y
    units.n = k + 1


@inner
def append_right(rows: Any, components: Any, units: Any, owner: int, center: Any, g: float, scale: float) -> None:
    """Add a unit to the right of all there are; of the Gram matrix only what a factorisation reads.

    That is its row from the first unit it may overlap with (see `gaussian.arrange`) to itself; `complete` adds the
    rest. units.ordered[k] is how far units 0 to k reach.
    """
    k, ordered = units.n, units.ordered
    column = units.columns[k]
    low, high = fill_column(rows, components[owner], center, scale, column)
    if too_sharp(rows, components[owner], center, scale, low, high):
        units.sharp = 1
    first = k
    while first > 0 and ordered[first - 1] > low:
        first -= 1
    units.first[k] = first
    ordered[k] = larger(high, ordered[k - 1]) if k > 0 else high
    row = units.gram[k + 1]
    square, with_y = products(rows, units, column, low, high, first, row)
    place(units, k, owner, center, g, scale, low, high)
    units.gram[0, k + 1] = row[0]
    row[k + 1] = square
    units.moment[k + 1] = with_y
    units.n = k + 1


@inner
def complete(units: Any) -> None:
    """The whole Gram matrix of units that were added from left to right."""
    gram, first = units.gram, units.first
    for k in range(units.n):
        for j in range(first[k]):
            gram[k + 1, j + 1] = 0.0
        for j in range(k):
            gram[j + 1, k + 1] = gram[k + 1, j + 1]


@inner
def copy_units(source: Any, target: Any) -> None:
    """Copy the meaningful part of a configuration (P and the mean are left stale)."""
    n = source.n
    target.n = n
    for k in range(n):
        copy_unit(source, k, target, k)
    copy(source.moment, target.moment, n + 1)
    for i in range(n + 1):
        copy(source.gram[i], target.gram[i], n + 1)
    target.updates = -1


@inner
def copy_unit(source: Any, k: int, target: Any, j: int) -> None:
    """Unit k's own arrays as unit j's of another configuration, or of the same."""
    for d in range(source.centers.shape[1]):
        target.centers[j, d] = source.centers[k, d]
    target.owner[j] = source.owner[k]
    target.relative[j] = source.relative[k]
    target.scales[j] = source.scales[k]
    target.low[j] = source.low[k]
    target.high[j] = source.high[k]
    copy(source.columns[k], target.columns[j], source.high[k] - source.low[k])


@inner
def arrange(units: Any) -> None:
    """Order of factorisation: units from left to right, the bias last.

    Units overlap only with near ones, so that in this order A is banded but for the bias's row, and its factor has
    zeros left of each row's first nonzero (the envelope).
    """
    n, order, centers = units.n, units.order, units.centers
    ordered, low, high = units.ordered, units.low, units.high
    for k in range(n):
        at = k
        while at > 0 and centers[order[at - 1] - 1, 0] > centers[k, 0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k + 1
    order[n] = 0
    units.first[n] = 0
    reach = 0.0
    for i in range(n):
        k, first = order[i] - 1, i
        while first > 0 and ordered[first - 1] > low[k]:
            first -= 1
        units.first[i] = first
        reach = larger(reach, high[k])
        ordered[i] = reach  # of all units so far


@inner
def rebuild(rows: Any, components: Any, source: Any, which: int, level: float, target: Any) -> None:
    """The same centers with one component at another level, from left to right; columns and Gram matrix in `target`.

    which : of the components, whose scales follow `level`; -1 for none
    """
    arrange(source)
    clear(rows, target)
    for i in range(source.n):
        k = source.order[i] - 1
        owner, g, scale = source.owner[k], source.relative[k], source.scales[k]
        if owner == which:
            scale = scale_at(components[owner], level * g)
        append_right(rows, components, target, owner, source.centers[k], g, scale)
