"""The Gaussian part of a visit: weights of the units inside a window and of their neighbours, integrated out.

Split the units into those inside (i), open neighbours with the bias (o), and all others, whose weights w are held:

    y = outputs - Σ_others w φ = Φ_o w_o + Φ_i w_i + noise

With A_oo = Φ_oᵀΦ_o/σ² + D_o = L Lᵀ, E = L⁻¹ Φ_oᵀΦ_i/σ² and q = L⁻¹ Φ_oᵀy/σ²,

    log p(y) = -½ log|R v| + ½ ρᵀR⁻¹ρ + what does not depend on the units inside,
    R = Φ_iᵀΦ_i/σ² + I/v - EᵀE,      ρ = Φ_iᵀy/σ² - Eᵀq

which is the whole problem of `kernels.gaussian` for a handful of units. The neighbours are those that reach the window,
the nearest first; which they are does not depend on the units inside. When the window is left, all open weights are
drawn: with the factor [[L, 0], [Eᵀ, F]] of the joint A, F Fᵀ = R, from the units inside to the neighbours.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.random import normal
from porbnet.kernels.state import NOISE
from porbnet.kernels.units import REACH, copy_unit, fill_column, place, too_sharp, weight_variance
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.kernels.views import part, row_part
from porbnet.sampling.collapsed.windows.state import MOST_INSIDE

_BROKEN = 1e-6  # of a posterior precision below that of the prior: rounding


@inner
def is_in_window(state: Any, visit: Any, center: Any) -> bool:
    """Whether a center lies in the window; its upper edges are the next one's but for those of the region."""
    widths, inside = state.components[0].shape.widths, True
    for d in range(len(widths)):
        inside = inside and center[d] >= visit.low[d]
        inside = inside and (center[d] < visit.high[d] or (visit.high[d] == widths[d] and center[d] <= widths[d]))
    return inside


@hot
def add_column(units: Any, k: int, weight: float, out: Any) -> None:
    """Add a unit's part of f, with a weight, to weighted observations."""
    low, column = units.low[k], units.columns[k]
    reached = part(out, low, units.high[k])
    for i in range(units.high[k] - low):
        reached[i] += weight * column[i]


@hot
def add_bias(rows: Any, weight: float, out: Any) -> None:
    """Add the bias, times root precisions."""
    root = rows.root
    for i in range(len(root)):
        out[i] += weight * root[i]


@hot
def overlap(first: Any, i: int, second: Any, j: int) -> float:
    """φᵀφ of two units, each of a set of its own."""
    a, b = larger(first.low[i], second.low[j]), smaller(first.high[i], second.high[j])
    if a >= b:
        return 0.0
    total, shift, other_shift = 0.0, first.low[i], second.low[j]
    mine = row_part(first.columns, i, a - shift, b - shift)
    other = row_part(second.columns, j, a - other_shift, b - other_shift)
    for t in range(b - a):
        total += mine[t] * other[t]
    return total


@inner
def choose_neighbours(state: Any, visit: Any) -> int:
    """Units inside into visit.held, the nearest of the others into visit.neighbours; returns how many are inside."""
    units, n_dims, n, n_open = state.units, len(visit.low), 0, 0
    distances, neighbours, most = visit.distances, visit.neighbours, visit.most_open
    for k in range(units.n):
        if is_in_window(state, visit, units.centers[k]):
            if n < MOST_INSIDE:
                visit.held[n] = k
            n += 1
            continue
        square = 0.0
        for d in range(n_dims):
            gap = larger(visit.low[d] - units.centers[k, d], units.centers[k, d] - visit.high[d])
            square += gap * gap if gap > 0.0 else 0.0
        distance = units.scales[k] * math.sqrt(square)
        if distance > REACH or (n_open == most and (most == 0 or distance >= distances[0])):
            continue
        # from the farthest to the nearest; the farthest of too many falls out
        at = n_open
        if n_open == most:
            at = 0
            while at + 1 < n_open and distances[at + 1] > distance:
                distances[at], neighbours[at] = distances[at + 1], neighbours[at + 1]
                at += 1
        else:
            while at > 0 and distances[at - 1] < distance:
                distances[at], neighbours[at] = distances[at - 1], neighbours[at - 1]
                at -= 1
            n_open += 1
        distances[at], neighbours[at] = distance, k
    visit.n_open, visit.n_held = n_open, n
    return n


@hot
def open_window(state: Any, visit: Any) -> bool:
    """Integrate out the weights around the window: outputs, L and q; false if that cannot be done."""
    rows, units = state.rows, state.units
    outputs, factor, solved, n = visit.outputs, visit.factor, visit.solved, visit.n_open
    noise = state.values[NOISE]
    precision = 1.0 / (noise * noise)
    prior = 1.0 / weight_variance(state.components[0], state.values)
    add_open(state, visit, 1.0)
    root = rows.root
    for i in range(n + visit.open_bias):
        own, square = factor[i], prior / precision
        if i < n:
            k = visit.neighbours[i]
            for j in range(i + 1):
                own[j] = overlap(units, k, units, visit.neighbours[j])
            solved[i] = moment_of(units, k, outputs)
        else:
            for j in range(n):
                own[j] = moment_of(units, visit.neighbours[j], root)
            own[i], solved[i], square = 0.0, 0.0, 1.0 / (rows.bias_variance * precision)
            for t in range(len(root)):
                own[i] += root[t] * root[t]
                solved[i] += root[t] * outputs[t]
        own[i] += square
        total = solved[i] * precision
        for j in range(i):
            other, entry = factor[j], own[j] * precision
            for t in range(j):
                entry -= own[t] * other[t]
            own[j] = entry * other[j]
            total -= own[j] * solved[j]
        pivot = own[i] * precision
        for j in range(i):
            pivot -= own[j] * own[j]
        if not pivot > 0.0:
            return False
        own[i] = 1.0 / math.sqrt(pivot)
        solved[i] = total * own[i]
    return True


@inner
def add_open(state: Any, visit: Any, sign: float) -> None:
    """Add what units inside and open weights are of f to what is left of the observations, or take it off again."""
    units, weights, outputs = state.units, visit.weights, visit.outputs
    for j in range(visit.n_held):
        add_column(units, visit.held[j], sign * weights[visit.held[j] + 1], outputs)
    for j in range(visit.n_open):
        add_column(units, visit.neighbours[j], sign * weights[visit.neighbours[j] + 1], outputs)
    if visit.open_bias == 1:
        add_bias(state.rows, sign * weights[0], outputs)


@hot
def moment_of(units: Any, k: int, vector: Any) -> float:
    """φᵀ times weighted observations."""
    low, column, total = units.low[k], units.columns[k], 0.0
    reached = part(vector, low, units.high[k])
    for i in range(units.high[k] - low):
        total += column[i] * reached[i]
    return total


@hot
def put(state: Any, visit: Any, own: Any, j: int, center: Any, g: float, scale: float) -> None:
    """A unit in place j of a set: its column, E, R against those before it, and ρ; its factor is left stale."""
    rows, units, component = state.rows, state.units, state.components[0]
    noise = state.values[NOISE]
    precision, column, n = 1.0 / (noise * noise), own.columns[j], visit.n_open
    low, high = fill_column(rows, component, center, scale, column)
    if too_sharp(rows, component, center, scale, low, high):
        own.refused = 1
    place_inside(own, j, center, g, scale, low, high)
    across, factor = own.across[j], visit.factor
    first = n
    for i in range(n):
        across[i] = overlap(own, j, units, visit.neighbours[i]) * precision
        if first == n and across[i] != 0.0:
            first = i
    if visit.open_bias == 1:
        across[n] = moment_of(own, j, rows.root) * precision
        n += 1
    square, with_y = 0.0, moment_of(own, j, visit.outputs)
    for i in range(high - low):
        square += column[i] * column[i]
    square *= precision
    with_y *= precision
    for i in range(first):
        across[i] = 0.0
    solved = visit.solved
    for i in range(first, n):
        row, total = factor[i], across[i]
        for t in range(first, i):
            total -= row[t] * across[t]
        across[i] = total * row[i]
        square -= across[i] * across[i]
        with_y -= across[i] * solved[i]
    own.right[j] = with_y
    own.precision[j, j] = square + 1.0 / weight_variance(component, state.values)
    for k in range(j):
        entry, other = overlap(own, j, own, k) * precision, own.across[k]
        for i in range(first, n):
            entry -= across[i] * other[i]
        own.precision[j, k] = entry
        own.precision[k, j] = entry


@inner
def place_inside(own: Any, j: int, center: Any, g: float, scale: float, low: int, high: int) -> None:
    """Set what a unit of a set is."""
    for d in range(own.centers.shape[1]):
        own.centers[j, d] = center[d]
    own.relative[j], own.scales[j] = g, scale
    own.low[j], own.high[j] = low, high


@hot
def extend(own: Any, j: int) -> float:
    """The row of the factor for a unit in place j = n; returns its posterior precision given the others.

    The right hand side that is left for it goes into own.solved[j].
    """
    row, solved, factor = own.factor[j], own.solved, own.factor
    r, rest, wanted = own.precision[j, j], own.right[j], own.precision[j]
    for k in range(j):
        total, other = wanted[k], factor[k]
        for t in range(k):
            total -= row[t] * other[t]
        row[k] = total * other[k]
        r -= row[k] * row[k]
        rest -= row[k] * solved[k]
    solved[j] = rest
    return float(r)


@inner
def settle(own: Any, j: int, r: float) -> None:
    """Keep the unit in place j, as `extend` has left it."""
    own.factor[j, j] = 1.0 / math.sqrt(r)
    own.solved[j] *= own.factor[j, j]
    own.n = j + 1


@inner
def log_bayes_factor(r: float, rest: float, variance: float) -> float:
    """Log B of a unit with posterior precision r, given what is left of the right hand side; NaN if r is no such."""
    if not r * variance > 1.0 - _BROKEN:
        return math.nan
    return -0.5 * math.log(r * variance) + 0.5 * rest * rest / r


@inner
def refactor(own: Any, n: int, variance: float) -> float:
    """Factor the first n units anew; returns log p(y) of them over that of none, -inf if they are impossible."""
    total = 0.0
    own.n = 0
    if own.refused == 1:
        return -math.inf
    for j in range(n):
        r = extend(own, j)
        if not r * variance > 1.0 - _BROKEN:
            return -math.inf
        total += log_bayes_factor(r, own.solved[j], variance)
        settle(own, j, r)
    return total


@inner
def copy_inside(own: Any, i: int, j: int, n: int) -> None:
    """Unit i of a set of n also in place j, its products with the others included; its factor is left stale."""
    if i == j:
        return
    place_inside(own, j, own.centers[i], own.relative[i], own.scales[i], own.low[i], own.high[i])
    copy(own.columns[i], own.columns[j], own.high[i] - own.low[i])
    copy(own.across[i], own.across[j], own.across.shape[1])
    own.right[j] = own.right[i]
    square = own.precision[i, i]
    for k in range(n):
        own.precision[j, k] = own.precision[i, k]
    for k in range(n):
        own.precision[k, j] = own.precision[j, k]
    own.precision[j, j] = square


@hot
def leave_window(state: Any, visit: Any, rng: Any) -> None:
    """Draw all open weights; units and weights go back, and outputs are what all units leave again."""
    rows, units, weights, vector = state.rows, state.units, visit.weights, visit.vector
    own, factor, outputs = visit.sets[visit.current], visit.factor, visit.outputs
    n, m = visit.n_open + visit.open_bias, own.n
    for j in range(m - 1, -1, -1):  # places n, n + 1, ... of the vector: those inside
        total = own.solved[j] + normal(rng)
        for k in range(j + 1, m):
            total -= own.factor[k, j] * vector[n + k]
        vector[n + j] = total * own.factor[j, j]
        add_column(own, j, -vector[n + j], outputs)
    for i in range(n - 1, -1, -1):
        total = visit.solved[i] + normal(rng)
        for j in range(m):
            total -= own.across[j, i] * vector[n + j]
        for t in range(i + 1, n):
            total -= factor[t, i] * vector[t]
        vector[i] = total * factor[i, i]
        if i == visit.n_open:
            weights[0] = vector[i]
            add_bias(rows, -vector[i], outputs)
        else:
            weights[visit.neighbours[i] + 1] = vector[i]
            add_column(units, visit.neighbours[i], -vector[i], outputs)
    for j in range(m):
        at = visit.held[j] if j < visit.n_held else units.n
        if j >= visit.n_held:
            units.n += 1
        place(units, at, 0, own.centers[j], own.relative[j], own.scales[j], own.low[j], own.high[j])
        copy(own.columns[j], units.columns[at], own.high[j] - own.low[j])
        weights[at + 1] = vector[n + j]
    for j in range(visit.n_held - 1, m - 1, -1):  # places that are no longer needed, from the last one on
        at, last = visit.held[j], units.n - 1
        if at != last:
            copy_unit(units, last, units, at)
            weights[at + 1] = weights[last + 1]
        units.n = last
