"""Units that are carried along by the intensity: places as integrals of it, the second non-centered form of `curve`.

Whatever the state, choose an axis, a window [a, b] between two knots of it and a cut x₀ inside. A unit of the window,
at c along the axis, is known by the intensity between it and the edge of the window on its side of the cut,

    u = ∫_a^c λ  if c ≤ x₀,      u = ∫_c^b λ  if c > x₀,      its other coordinates held.

On either side the pairs (other coordinates, u) are a unit-rate Poisson process, of which those below ∫ λ up to the cut
are seen; the rest of it, up to λ* |x₀ - edge|, are silent points, drawn for the occasion. Its law does not involve λ.
Held, they move as λ does: units come closer where λ rises, and get sharper, so that they tile the window as they did.
At the cut they come and go.

Integrals are over g = λ / λ*, as λ* is held; g is linear between knots along a line, so that they are exact.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.random import uniform
from porbnet.kernels.vectors import copy, larger, smaller


@inner
def accumulate(curve: Any, shape: Any, axis: int) -> None:
    """Set curve.sums to ∫ g along the axis from its lower end to each knot; linear between lines of knots, as g is."""
    values, sums, size = shape.values, curve.sums, shape.sizes[axis]
    half, stride = 0.5 * shape.widths[axis] / (size - 1), 1
    for d in range(axis + 1, len(shape.sizes)):
        stride *= shape.sizes[d]
    for i in range(len(values)):
        first = (i // stride) % size == 0
        sums[i] = 0.0 if first else sums[i - stride] + half * (values[i - stride] + values[i])


@inner
def on_line(shape: Any, table: Any, axis: int, knot: int, place: Any) -> float:
    """A table at a knot of the axis, the other coordinates those of `place`: multilinear."""
    sizes, n_dims = shape.sizes, len(shape.sizes)
    if n_dims == 1:
        return float(table[knot])
    total = 0.0
    for corner in range(1 << (n_dims - 1)):
        weight, index, bit = 1.0, 0, 0
        for d in range(n_dims):
            cell = knot
            if d != axis:
                cells = sizes[d] - 1
                position = smaller(larger(place[d] / shape.widths[d], 0.0), 1.0) * cells
                cell = smaller(int(position), cells - 1)
                fraction = position - cell
                upper = (corner >> bit) & 1
                weight *= fraction if upper == 1 else 1.0 - fraction
                cell += upper
                bit += 1
            index = index * sizes[d] + cell
        total += weight * table[index]
    return total


@inner
def amount(curve: Any, shape: Any, axis: int, at: float, place: Any) -> float:
    """∫ g along the axis up to a coordinate, the others those of `place`; `curve.sums` must be set."""
    step, values = shape.widths[axis] / (shape.sizes[axis] - 1), shape.values
    knot = smaller(larger(int(at / step), 0), shape.sizes[axis] - 2)
    t, g = at - knot * step, on_line(shape, values, axis, knot, place)
    slope = (on_line(shape, values, axis, knot + 1, place) - g) / step
    return float(on_line(shape, curve.sums, axis, knot, place) + t * (g + 0.5 * slope * t))


@inner
def arrival(curve: Any, shape: Any, axis: int, wanted: float, place: Any) -> float:
    """The coordinate at which that integral is as wanted.

    Between knots ∫ = g t + ½ g' t², of which the root is taken in a form without cancellation.
    """
    step, values, sums = shape.widths[axis] / (shape.sizes[axis] - 1), shape.values, curve.sums
    low, high = curve.window[axis, 0], curve.window[axis, 0] + curve.window[axis, 1] - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if on_line(shape, sums, axis, middle, place) <= wanted:
            low = middle
        else:
            high = middle
    left, g = wanted - on_line(shape, sums, axis, low, place), on_line(shape, values, axis, low, place)
    slope = (on_line(shape, values, axis, low + 1, place) - g) / step
    if left <= 0.0:
        return float(low * step)
    root = math.sqrt(larger(g * g + 2.0 * slope * left, 0.0))
    return float(low * step + smaller(2.0 * left / (g + root), step))


@inner
def draw_window(curve: Any, shape: Any, rng: Any) -> tuple[int, float]:
    """An axis and a cut; the window goes into curve.window as first knot and number of knots, others being whole."""
    n_dims = len(shape.widths)
    axis = smaller(int(uniform(rng) * n_dims), n_dims - 1)
    window = curve.window
    for d in range(n_dims):
        window[d, 0], window[d, 1] = 0, curve.sizes[d]
    low, high = int(uniform(rng) * curve.sizes[axis]), int(uniform(rng) * (curve.sizes[axis] - 1))
    high += 1 if high >= low else 0
    window[axis, 0], window[axis, 1] = smaller(low, high), abs(high - low) + 1
    step = shape.widths[axis] / (shape.sizes[axis] - 1)
    return axis, (window[axis, 0] + uniform(rng) * (window[axis, 1] - 1)) * step


@inner
def edge_of(curve: Any, shape: Any, axis: int, upper: bool) -> float:
    """Where the window ends along the axis."""
    knot = curve.window[axis, 0] + (curve.window[axis, 1] - 1 if upper else 0)
    return float(knot * (shape.widths[axis] / (shape.sizes[axis] - 1)))


@inner
def in_window(curve: Any, shape: Any, axis: int, center: Any) -> bool:
    """Whether a center lies in the window."""
    return bool(
        center[axis] >= edge_of(curve, shape, axis, False) and center[axis] <= edge_of(curve, shape, axis, True)
    )


@inner
def window_integral(curve: Any, shape: Any, axis: int) -> float:
    """∫ g over the window: by the trapezoidal rule of the whole, which at its edges counts half."""
    values, area, sizes = shape.values, curve.area, curve.sizes
    first, last = curve.window[axis, 0], curve.window[axis, 0] + curve.window[axis, 1] - 1
    inner_size = 1
    for d in range(axis + 1, len(sizes)):
        inner_size *= sizes[d]
    total = 0.0
    for i in range(len(values)):
        at = (i // inner_size) % sizes[axis]
        if at >= first and at <= last:
            edge = (at == first and first > 0) or (at == last and last < sizes[axis] - 1)
            total += values[i] * area[i] * (0.5 if edge else 1.0)
    return total


@inner
def draw_places(state: Any, owner: int, axis: int, cut: float, rng: Any) -> int:
    """Units of the window by their integrals, and the silent points beyond the cut; returns how many there are.

    marks : the integral of g, on the upper side of the cut as -1 less it; points : the other coordinates
    """
    units, component = state.units, state.components[owner]
    shape, curve, points, marks = component.shape, component.curve, component.points, component.marks
    level, n, n_dims = state.values[component.level], 0, points.shape[1]
    low, high = edge_of(curve, shape, axis, False), edge_of(curve, shape, axis, True)
    accumulate(curve, shape, axis)
    for i in range(units.n):
        k = units.order[i] - 1
        center = units.centers[k]
        if units.owner[k] == owner and in_window(curve, shape, axis, center):
            copy(center, points[n], n_dims)
            here, upper = amount(curve, shape, axis, center[axis], center), center[axis] > cut
            edge = amount(curve, shape, axis, high if upper else low, center)
            marks[n] = -1.0 - (edge - here) if upper else here - edge
            n += 1
    for side in range(2):
        end = low if side == 0 else high
        volume = abs(cut - end)
        for d in range(n_dims):
            volume *= shape.widths[d] if d != axis else 1.0
        reached = -math.log(1.0 - uniform(rng))
        while reached < level * volume:
            for d in range(n_dims):
                points[n, d] = uniform(rng) * shape.widths[d]
            wanted = uniform(rng) * abs(cut - end)
            seen = abs(amount(curve, shape, axis, cut, points[n]) - amount(curve, shape, axis, end, points[n]))
            if wanted > seen and n + 1 < len(marks):
                marks[n] = wanted if side == 0 else -1.0 - wanted
                n += 1
            reached -= math.log(1.0 - uniform(rng))
    return n


@inner
def carry(component: Any, shape: Any, axis: int, cut: float, n_points: int, place: Any) -> int:
    """Where the points are under another intensity, from left to right in component.moved; returns how many are seen.

    place : work space
    """
    points, marks, moved, curve = component.points, component.marks, component.moved, component.curve
    n_dims, n = points.shape[1], 0
    low, high = edge_of(curve, shape, axis, False), edge_of(curve, shape, axis, True)
    accumulate(curve, shape, axis)
    for i in range(n_points):
        upper = marks[i] < 0.0
        edge = amount(curve, shape, axis, high if upper else low, points[i])
        wanted = edge - (-1.0 - marks[i]) if upper else edge + marks[i]
        at_cut = amount(curve, shape, axis, cut, points[i])
        if (upper and wanted <= at_cut) or (not upper and wanted > at_cut):
            continue  # silent
        copy(points[i], place, n_dims)
        place[axis] = arrival(curve, shape, axis, wanted, points[i])
        at = n
        while at > 0 and moved[at - 1, 0] > place[0]:
            copy(moved[at - 1], moved[at], n_dims)
            at -= 1
        copy(place, moved[at], n_dims)
        n += 1
    return n
