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
    """A center from λ / Λ in the part of the box in which units are moved, by rejection; returns g there."""
    for d in range(len(shape.widths), len(out)):
        out[d] = 0.0
    while True:
        for d in range(len(shape.widths)):
            out[d] = shape.low[d] + uniform(rng) * (shape.high[d] - shape.low[d])
        if shape.kind == CONSTANT:
            return 1.0
        g = relative_intensity(shape, out)
        if uniform(rng) * shape.bound < g:
            return g


@inner
def next_along(shape: Any, at: float, rate: float, rng: Any) -> float:
    """The first coordinate of the next point of a Poisson process of `rate` points in the box, which has volume one."""
    return at - shape.widths[0] * math.log(1.0 - uniform(rng)) / rate if rate > 0.0 else math.inf


@inner
def draw_others(shape: Any, at: float, rng: Any, out: Any) -> float:
    """A place with a first coordinate, the others uniform; returns g there."""
    out[0] = at
    for d in range(1, len(out)):
        out[d] = uniform(rng) * shape.widths[d] if d < len(shape.widths) else 0.0
    return relative_intensity(shape, out)


@inner
def inside(shape: Any, center: Any) -> bool:
    """Whether a center lies in the part of the box in which units are moved."""
    within = True
    for d in range(len(shape.widths)):
        within = within and center[d] >= shape.low[d] and center[d] <= shape.high[d]
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
def products(
    rows: Any, units: Any, column: Any, low: int, high: int, first: int, out: Any
) -> tuple[float, float, float]:
    """out[j - first] = φ_jᵀφ for a column φ on [low, high) and units j from `first` on; returns φᵀφ, φᵀy and φᵀ1."""
    square, with_y, with_bias = 0.0, 0.0, 0.0
    y, root = part(rows.y, low, high), part(rows.root, low, high)
    for i in range(high - low):
        v = column[i]
        square += v * v
        with_y += v * y[i]
        with_bias += v * root[i]
    lows, highs, columns = units.low, units.high, units.columns
    for j in range(first, units.n):
        a, b = larger(low, lows[j]), smaller(high, highs[j])
        total = 0.0
        if a < b:
            shift = lows[j]
            mine, other = part(column, a - low, b - low), row_part(columns, j, a - shift, b - shift)
            for i in range(b - a):
                total += mine[i] * other[i]
        out[j - first] = total
    return square, with_y, with_bias if rows.has_bias == 1 else 0.0


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
    units.gram[0] = weight
    units.moment[0] = moment
    units.used = 1
    units.updates = -1
    units.refused = 0


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
    """Add a unit to the columns, Gram matrix (a whole square) and moments; P is left stale, `row` is work space."""
    k = units.n
    column = units.columns[k]
    low, high = fill_column(rows, components[owner], center, scale, column)
    if too_sharp(rows, components[owner], center, scale, low, high):
        units.refused = 1
    square, with_y, with_bias = products(rows, units, column, low, high, np.int64(0), row)  # type: ignore[arg-type]
    place(units, k, owner, center, g, scale, low, high)
    add_row(units, row, square, with_y, with_bias)


@inner
def add_row(units: Any, row: Any, square: float, with_y: float, with_bias: float) -> None:
    """One more unit in the Gram matrix, a whole square: its products with the others, itself, the outputs, the bias."""
    k, gram, at = units.n, units.gram, units.at
    for j in range(k):
        gram[at[j + 1] + k + 1] = row[j]
        gram[at[k + 1] + j + 1] = row[j]
    gram[at[k + 1] + k + 1] = square
    units.with_bias[k] = with_bias
    units.moment[k + 1] = with_y
    units.n = k + 1


@inner
def append_right(rows: Any, components: Any, units: Any, owner: int, center: Any, g: float, scale: float) -> None:
    """Add a unit to the right of all there are, packed: of the Gram matrix its row from the first it may overlap with.

    units.ordered[k] is how far units 0 to k reach. Without room nothing is added, and the units are refused.
    """
    k, ordered = units.n, units.ordered
    if k >= len(units.scales):
        units.refused, units.lacking = 1, 1
        return
    column = units.columns[k]
    low, high = fill_column(rows, components[owner], center, scale, column)
    if too_sharp(rows, components[owner], center, scale, low, high):
        units.refused = 1
    if units.bare == 1:
        place(units, k, owner, center, g, scale, low, high)
        units.n = k + 1
        return
    first = k
    while first > 0 and ordered[first - 1] > low:
        first -= 1
    used, length = units.used, k - first + 1
    if used + length > len(units.gram):
        units.refused, units.lacking = 1, 1
        return
    units.first[k] = first
    units.at[k + 1] = used - first - 1
    ordered[k] = larger(high, ordered[k - 1]) if k > 0 else high
    row = part(units.gram, used, used + length)
    square, with_y, with_bias = products(rows, units, column, low, high, first, row)
    place(units, k, owner, center, g, scale, low, high)
    row[length - 1] = square
    units.with_bias[k] = with_bias
    units.moment[k + 1] = with_y
    units.used = used + length
    units.n = k + 1


@inner
def fits(source: Any, target: Any) -> bool:
    """Whether proposed units have room where the current ones are; if not, that is noted, and they are refused."""
    if source.n < len(target.scales) and (target.packed == 0 or source.used <= len(target.gram)):
        return True
    target.lacking = 1
    return False


@inner
def copy_units(source: Any, target: Any) -> None:
    """Copy the meaningful part of a configuration; P and the mean are left stale. Packed ones may become a square."""
    n = source.n
    target.n = n
    for k in range(n):
        copy_unit(source, k, target, k)
        target.with_bias[k] = source.with_bias[k]
    copy(source.moment, target.moment, n + 1)
    target.gram[0] = source.gram[0]
    if target.packed == 1:
        copy(source.gram, target.gram, source.used)
        copy(source.at, target.at, n + 1)
        target.used = source.used
    elif source.packed == 1:
        spread(source, target)
    else:
        for i in range(1, n + 1):
            for j in range(1, n + 1):
                target.gram[target.at[i] + j] = source.gram[source.at[i] + j]
    target.updates = -1


@inner
def spread(source: Any, target: Any) -> None:
    """The Gram matrix of packed units as a whole square."""
    gram, at, first = target.gram, target.at, source.first
    for k in range(source.n):
        for j in range(first[k]):
            gram[at[k + 1] + j + 1] = 0.0
            gram[at[j + 1] + k + 1] = 0.0
        for j in range(first[k], k + 1):
            value = source.gram[source.at[k + 1] + j + 1]
            gram[at[k + 1] + j + 1] = value
            gram[at[j + 1] + k + 1] = value


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
    if units.packed == 1:
        total = 0
        for i in range(n + 1):
            units.factor_at[i] = total - units.first[i]
            total += i - units.first[i] + 1


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
