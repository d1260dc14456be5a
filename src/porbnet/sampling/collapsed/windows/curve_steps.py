"""The curve inside a window, by elliptical slice sampling given its edges; three ways to treat the units inside.

The law of the curve inside given all of it outside is Gaussian (`kernels.bridge`), with h = mean + deviation: slice
sampling on the ellipse of deviations cos θ x + sin θ ν, ν a draw, leaves it times a likelihood L invariant. As in
`curve`, with everything restricted to the window:

- intensity alone: the units stay; log L = Σ_inside log λ(c_k) - ∫_window λ + log p(y).
- intensity with units: marks t_k ~ U(0, λ(c_k)) and silent points above λ are held; the units are the points below it,
  and log L = log p(y).
- intensity with places, for one input: units are known by the integral of λ between them and the edge on their side of
  a cut (`stretch`), and move as λ does; log L = log p(y).

log p(y) is that of the units inside with the weights around them integrated out (`visit`).
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import fast_exp, hot, inner
from porbnet.kernels.bridge import deviations, draw_deviations
from porbnet.kernels.random import uniform
from porbnet.kernels.tally import outcome
from porbnet.kernels.units import relative_intensity, scale_at, weight_variance
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.sampling.collapsed.windows.box import draw_inside, measure, volume
from porbnet.sampling.collapsed.windows.unit_steps import has_room
from porbnet.sampling.collapsed.windows.visit import put, refactor

ALONE, WITH_UNITS, WITH_PLACES = range(3)
MOST_SHRINKS = 60
LOG_ARCS = 1.0  # arcs searched are up to this longer or shorter than what warm-up has found, on the log scale
ARC_FACTOR = 12.0  # of what it looks for, over the mean angle travelled


@inner
def sigmoid(h: float) -> float:
    """1 / (1 + e^-h)."""
    e = fast_exp(larger(-abs(h), -690.0))
    return 1.0 / (1.0 + e) if h >= 0.0 else e / (1.0 + e)


@hot
def bend(component: Any, visit: Any, cosine: float, sine: float) -> None:
    """A point of the ellipse: the curve inside into curve.trial_table, its intensity into component.trial."""
    inside, rest, noise = visit.box.inside, visit.rest, visit.noise
    table, trial, values = component.curve.table, component.curve.trial_table, component.trial.values
    for j in range(visit.box.n_inside):
        i = inside[j]
        trial[i] = table[i] + (cosine - 1.0) * rest[i] + sine * noise[i]
        values[i] = sigmoid(trial[i])


@hot
def keep(component: Any, visit: Any) -> None:
    """What `bend` has left becomes the curve."""
    curve, shape, inside = component.curve, component.shape, visit.box.inside
    table, trial, values, trial_values = curve.table, curve.trial_table, shape.values, component.trial.values
    for j in range(visit.box.n_inside):
        i = inside[j]
        table[i] = trial[i]
        shape.integral += curve.area[i] * (trial_values[i] - values[i])
        values[i] = trial_values[i]


@inner
def mark_points(state: Any, visit: Any, rng: Any) -> int:
    """Marks of the units inside and the silent points above them; returns how many points there are."""
    own, component = visit.sets[visit.current], state.components[0]
    points, marks, level, n_dims = component.points, component.marks, state.values[component.level], len(visit.low)
    for k in range(own.n):
        copy(own.centers[k], points[k], n_dims)
        marks[k] = uniform(rng) * level * own.relative[k]
    n, reached, most = own.n, -math.log(1.0 - uniform(rng)), level * volume(visit)
    while reached < most and n + 1 < len(marks):
        draw_inside(visit, rng, points[n])
        marks[n] = uniform(rng) * level
        if marks[n] >= level * relative_intensity(component.shape, points[n]):
            n += 1
        reached -= math.log(1.0 - uniform(rng))
    return int(n)


@inner
def up_to(shape: Any, visit: Any, x: float) -> float:
    """∫ g from the window's lower edge to x, one input."""
    step, values = shape.widths[0] / (shape.sizes[0] - 1), shape.values
    start = larger(visit.box.first[0], 0)
    cell, total = smaller(int(x / step), shape.sizes[0] - 2), 0.0
    for i in range(start, cell):
        total += 0.5 * step * (values[i] + values[i + 1])
    t = x - cell * step
    return float(total + t * (values[cell] + 0.5 * (values[cell + 1] - values[cell]) / step * t))


@inner
def hold_places(state: Any, visit: Any, cut: float, rng: Any) -> int:
    """Units by their integrals, and the silent points beyond the cut; returns how many points there are.

    marks : the integral of g between unit and edge, points : 0 below the cut, 1 above it
    """
    own, component = visit.sets[visit.current], state.components[0]
    shape, points, marks, level = component.shape, component.points, component.marks, state.values[component.level]
    whole, at_cut = up_to(shape, visit, visit.high[0]), up_to(shape, visit, cut)
    for k in range(own.n):
        here, above = up_to(shape, visit, own.centers[k, 0]), own.centers[k, 0] > cut
        points[k, 0] = 1.0 if above else 0.0
        marks[k] = whole - here if above else here
    n = own.n
    for side in range(2):
        length, seen = (cut - visit.low[0], at_cut) if side == 0 else (visit.high[0] - cut, whole - at_cut)
        reached = -math.log(1.0 - uniform(rng))
        while reached < level * length and n + 1 < len(marks):
            marks[n] = uniform(rng) * length
            if marks[n] > seen:
                points[n, 0] = float(side)
                n += 1
            reached -= math.log(1.0 - uniform(rng))
    return int(n)


@inner
def place_of(shape: Any, sums: Any, first: int, last: int, wanted: float) -> float:
    """Where the integral of g from knot `first` on is as wanted, given it at the knots; see `stretch.arrival`."""
    step, low, high = shape.widths[0] / (shape.sizes[0] - 1), first, last
    while high - low > 1:
        middle = (low + high) >> 1
        if sums[middle] <= wanted:
            low = middle
        else:
            high = middle
    left, g = wanted - sums[low], shape.values[low]
    if left <= 0.0:
        return float(low * step)
    slope = (shape.values[low + 1] - g) / step
    root = math.sqrt(larger(g * g + 2.0 * slope * left, 0.0))
    return float(low * step + smaller(2.0 * left / (g + root), step))


@inner
def log_likelihood(state: Any, visit: Any, kind: int, n_points: int, cut: float) -> float:
    """The log L of the intensity in component.trial; leaves the proposed units in the other set."""
    own, other = visit.sets[visit.current], visit.sets[1 - visit.current]
    component = state.components[0]
    trial, level = component.trial, state.values[component.level]
    points, marks, center = component.points, component.marks, state.work.center
    first, last, total, at_cut = 0, 0, 0.0, 0.0
    if kind == ALONE:
        n_points = own.n
        measure(trial, visit)
        total -= level * visit.mass
    elif kind == WITH_PLACES:
        sums, step = component.curve.sums, trial.widths[0] / (trial.sizes[0] - 1)
        first, last = larger(visit.box.first[0], 0), smaller(visit.box.last[0], trial.sizes[0] - 1)
        sums[first] = 0.0
        for i in range(first, last):
            sums[i + 1] = sums[i] + 0.5 * step * (trial.values[i] + trial.values[i + 1])
        at_cut = up_to(trial, visit, cut)
    n = 0
    other.refused = 0
    for i in range(n_points):
        if kind == WITH_PLACES:
            above = points[i, 0] > 0.5
            wanted = component.curve.sums[last] - marks[i] if above else marks[i]
            if (wanted <= at_cut) if above else (wanted > at_cut):
                continue  # silent
            center[0] = place_of(trial, component.curve.sums, first, last, wanted)
        else:
            source = own.centers[i] if kind == ALONE else points[i]
            copy(source, center, len(visit.low))
        g = relative_intensity(trial, center)
        if kind == WITH_UNITS and marks[i] >= level * g:
            continue
        if not has_room(state, visit, n + 1):
            return -math.inf
        put(state, visit, other, n, center, g, scale_at(component, level * g))
        n += 1
        if kind == ALONE:
            total += math.log(g)
    return refactor(other, n, weight_variance(component, state.values)) + total


@inner
def curve_step(state: Any, visit: Any, kind: int, log_p: float, arc: int, rng: Any) -> float:
    """One update of the curve; returns log p(y) of the units inside then. Counted by the caller as accepted.

    log_p : that of the units as they are
    arc : place of the arc searched among the step sizes
    """
    own, component, tuning = visit.sets[visit.current], state.components[0], state.tuning
    curve, shape, level = component.curve, component.shape, state.values[component.level]
    height, n_points, cut = log_p + math.log(1.0 - uniform(rng)), 0, 0.0
    if kind == ALONE:
        measure(shape, visit)
        height -= level * visit.mass
        for k in range(own.n):
            height += math.log(own.relative[k])
    elif kind == WITH_UNITS:
        n_points = mark_points(state, visit, rng)
    else:
        cut = visit.low[0] + uniform(rng) * (visit.high[0] - visit.low[0])
        n_points = hold_places(state, visit, cut, rng)
    deviations(curve, curve.table, visit.box, visit.rest)
    draw_deviations(curve, visit.box, visit.noise, rng)
    width = smaller(tuning.steps[arc] * math.exp((2.0 * uniform(rng) - 1.0) * LOG_ARCS), 2.0 * math.pi)
    low = -width * uniform(rng)
    high, angle, value = low + width, 0.0, -math.inf
    for _shrinks in range(MOST_SHRINKS):
        angle = low + uniform(rng) * (high - low)
        bend(component, visit, math.cos(angle), math.sin(angle))
        value = log_likelihood(state, visit, kind, n_points, cut)
        if value > height:
            break
        if angle < 0.0:
            low = angle
        else:
            high = angle
    if not value > height:
        measure(shape, visit)
        return log_p
    if tuning.adapt > 0.0:
        tuning.steps[arc] += tuning.adapt * (ARC_FACTOR * abs(angle) + 0.05 - tuning.steps[arc])
    keep(component, visit)
    visit.current = 1 - visit.current
    measure(shape, visit)
    if kind == ALONE:
        value += level * visit.mass
        for k in range(own.n):
            value -= math.log(visit.sets[visit.current].relative[k])
    return value


@inner
def prepare_curve(component: Any, visit: Any) -> None:
    """What updates of the curve in this window need: nothing but the curve inside differs in what is proposed."""
    knots, values, trial = visit.box.knots, component.shape.values, component.trial.values
    for j in range(visit.box.n):
        trial[knots[j]] = values[knots[j]]


@inner
def came(kind: int) -> int:
    """What came of an update: slices always end somewhere."""
    return outcome(kind, True)
