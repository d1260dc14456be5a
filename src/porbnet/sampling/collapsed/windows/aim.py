"""Where windows are laid: around a knot, so large that a few units are expected in it.

Which window is visited must not depend on what a visit may change. Windows are therefore laid by chance, and by a table
of how many units there have been near each knot, which follows the chain in warm-up and is then settled. A knot is
chosen at random, half the time among all knots and half the time in proportion to the table: where there are few units,
curve and units are as slow to change as where there are many, and visits cost less.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.bridge import first_of, last_of, stride_of
from porbnet.kernels.random import uniform
from porbnet.kernels.vectors import larger, smaller

FEWEST, MOST = 2.0, 10.0  # units expected in a window
PER_VISIT = 6.0  # units per visit of a sweep
FEWEST_VISITS = 2
LEAST_SHARE = 0.05  # of the units, that are thought to be spread evenly
SPREAD_EVENLY = 0.5  # of the knots that are chosen at random among all


@inner
def add_up(curve: Any, visit: Any) -> None:
    """The sums that follow from the table: running ones, and over boxes of knots."""
    sizes, density, sums = curve.sizes, visit.density, visit.sums
    n_dims, total = len(sizes), 0.0
    for i in range(len(density)):
        visit.below[i] = total
        total += density[i]
    visit.below[len(density)] = total
    visit.n_visits = larger(int(total / PER_VISIT + 0.5), FEWEST_VISITS)
    for j in range(len(sums)):
        rest, inside, index, stride = j, True, 0, 1
        for d in range(n_dims - 1, -1, -1):
            place = rest % (sizes[d] + 1)
            rest //= sizes[d] + 1
            inside = inside and place > 0
            index += (place - 1) * stride
            stride *= sizes[d]
        sums[j] = density[index] if inside else 0.0
    for d in range(n_dims):
        stride = 1
        for e in range(d + 1, n_dims):
            stride *= sizes[e] + 1
        for j in range(len(sums)):
            if (j // stride) % (sizes[d] + 1) > 0:
                sums[j] += sums[j - stride]


@inner
def follow(state: Any, visit: Any, rate: float) -> None:
    """Let the table follow the units that there are."""
    component, units = state.components[0], state.units
    curve, shape, density = component.curve, component.shape, visit.density
    n_dims, n_knots = len(curve.sizes), len(density)
    even = rate * LEAST_SHARE * (units.n + 1.0) / n_knots
    for i in range(n_knots):
        density[i] = (1.0 - rate) * density[i] + even
    share = rate * (1.0 - LEAST_SHARE)
    for k in range(units.n):
        for corner in range(1 << n_dims):
            weight, index = share, 0
            for d in range(n_dims):
                cells = curve.sizes[d] - 1
                position = smaller(larger(units.centers[k, d] / shape.widths[d], 0.0), 1.0) * cells
                cell = smaller(int(position), cells - 1)
                upper = (corner >> d) & 1
                fraction = position - cell
                weight *= fraction if upper == 1 else 1.0 - fraction
                index = index * curve.sizes[d] + cell + upper
            density[index] += weight
    add_up(curve, visit)


@inner
def expected_in(curve: Any, visit: Any) -> float:
    """Units expected inside the window, those near the knots inside it."""
    sizes, n_dims, total = curve.sizes, len(curve.sizes), 0.0
    for corner in range(1 << n_dims):
        index, sign = 0, 1.0
        for d in range(n_dims):
            upper = (corner >> d) & 1
            place = visit.box.last[d] if upper == 1 else visit.box.first[d] + 1
            sign *= 1.0 if upper == 1 else -1.0
            index = index * (sizes[d] + 1) + place
        total += sign * visit.sums[index]
    return total


@inner
def choose_knot(visit: Any, rng: Any) -> int:
    """A knot at random, among all or by the table."""
    n = len(visit.density)
    if uniform(rng) < SPREAD_EVENLY:
        return int(smaller(int(uniform(rng) * n), n - 1))
    wanted, low, high = uniform(rng) * visit.below[n], 0, n
    while high - low > 1:
        middle = (low + high) >> 1
        if visit.below[middle] <= wanted:
            low = middle
        else:
            high = middle
    return low


@hot
def choose_window(state: Any, visit: Any, rng: Any) -> int:
    """A window around a random knot, grown by a knot at a time where it is shortest; returns its class of sizes."""
    component = state.components[0]
    curve, shape = component.curve, component.shape
    sizes, n_dims = curve.sizes, len(curve.sizes)
    share = uniform(rng)
    wanted = visit.size * FEWEST * math.exp(share * math.log(MOST / FEWEST))
    knot = choose_knot(visit, rng)
    for d in range(n_dims):
        place = (knot // stride_of(sizes, d)) % sizes[d]
        visit.box.first[d], visit.box.last[d] = place - 1, place + 1
    while expected_in(curve, visit) < wanted:
        chosen, shortest = -1, math.inf
        for d in range(n_dims):
            step = shape.widths[d] / (sizes[d] - 1)
            length = (visit.box.last[d] - visit.box.first[d]) * step
            if length < shortest and (visit.box.first[d] >= 0 or visit.box.last[d] < sizes[d]):
                chosen, shortest = d, length
        if chosen < 0:
            break
        visit.box.first[chosen] = larger(visit.box.first[chosen] - 1, -1)
        visit.box.last[chosen] = smaller(visit.box.last[chosen] + 1, sizes[chosen])
    for d in range(n_dims):
        step = shape.widths[d] / (sizes[d] - 1)
        visit.low[d] = first_of(visit.box.first[d]) * step
        visit.high[d] = (
            shape.widths[d] if visit.box.last[d] >= sizes[d] - 1 else last_of(visit.box.last[d], sizes[d]) * step
        )
    return int(smaller(int(3.0 * share), 2))
