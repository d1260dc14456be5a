"""The learned intensity λ(c) = λ* sigmoid(h(c)) of a component.

h is a Gaussian process at knots with whitened coefficients z ~ N(0, I) (`functions.grid_gp`), updated by elliptical
slice sampling (Murray, Adams and MacKay 2010), which leaves N(0, I) times any likelihood L(z) invariant. λ is
multilinear between knots, so that its integral is exact. Three likelihoods:

- intensity alone (centered): the centers stay; log L = Σ_k log λ(c_k) - ∫λ + log p(y | c, scales of λ).
- intensity with units (marked, non-centered): give unit k a mark t_k ~ U(0, λ(c_k)) and draw the silent points of a
  unit-rate process on region x [0, λ*], those with t ≥ λ(c). Points and marks together have a law that does not
  involve z, and the units are the points below λ. Holding the points, log L = log p(y | points with t < λ(c)):
  units switch on and off as λ moves.
- intensity with places (stretched, non-centered too): units of a window are known by integrals of λ (`stretch`) and
  held as such, those outside it as they are; log L = log p(y | units) + Σ_outside log λ(c_k) - ∫_outside λ: units
  move along as λ does.

The angle is sought on an arc of random width placed at random around the current state, several times the typical angle
travelled in warm-up: the whole circle, as in the original, wastes most evaluations where the data say much. The ellipse
runs through all curves, or through those with the same values at a few places (`process.draw_ellipse`).

The law of the curve: an unknown variance v and lengthscale ℓ of h are functions of coefficients ζ ~ N(0, I) of their
own, independent of z a priori, h = √v(ζ) B(ℓ(ζ)) z. Given z, the target is N(ζ; 0, I) L(z, ζ) with either L above, so
that the same slice sampling on an ellipse through ζ leaves it invariant: the ellipse takes care of N(0, I), z stays,
and the map to h acts through L alone. L jumps where ℓ goes over to its next value, which a slice does not mind. Where
the data say much about the curve, it is the curve that should stay: what is held is z for some coefficients and their
part of h for the others, chosen at random, whatever the state (`process.follow_law`); its density given ζ joins L.

Each update alone is exact but slow; alternated, width, places and intensity move together and apart.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.gaussian import log_marginal
from porbnet.kernels.process import (
    MOST_SHRINKS,
    draw_ellipse,
    draw_ellipse_around,
    expand,
    expand_given,
    follow_law,
)
from porbnet.kernels.random import uniform
from porbnet.kernels.tally import IDLE, outcome
from porbnet.kernels.units import (
    append_right,
    arrange,
    clear,
    copy_units,
    fits,
    relative_intensity,
    scale_at,
    set_intensity,
)
from porbnet.kernels.vectors import combine, copy, smaller
from porbnet.sampling.collapsed.state import STEP_ARC
from porbnet.sampling.collapsed.stretch import carry, draw_places, draw_window, in_window, window_integral

CENTERED, MARKED, STRETCHED = range(3)
LOG_ARCS = 1.0  # arcs searched are up to this longer or shorter than what warm-up has found, on the log scale
ARC_FACTOR = 12.0  # of what it looks for, over the mean angle travelled
LOG_SPREADS = math.log(1e4)  # from the largest to the smallest that counts


@inner
def draw_marks(state: Any, owner: int, rng: Any) -> int:
    """Marks of a component's units and the silent points above them, from left to right; returns how many there are.

    Along the first coordinate the points of the unit-rate process are λ* to a width of the box, whose volume is one.
    """
    units, component = state.units, state.components[owner]
    shape, points, marks = component.shape, component.points, component.marks
    level = state.values[component.level]
    n_dims, n, place = points.shape[1], 0, 0
    width = shape.widths[0]
    at = -width * math.log(1.0 - uniform(rng)) / level
    while place < units.n or at < width:
        if place < units.n and units.owner[units.order[place] - 1] != owner:
            place += 1
            continue
        if place < units.n and units.centers[units.order[place] - 1, 0] <= at:
            k = units.order[place] - 1
            for d in range(n_dims):
                points[n, d] = units.centers[k, d]
            marks[n] = uniform(rng) * level * units.relative[k]
            place += 1
            n += 1
            continue
        points[n, 0] = at
        for d in range(1, n_dims):
            points[n, d] = uniform(rng) * shape.widths[d]
        at -= width * math.log(1.0 - uniform(rng)) / level
        mark = uniform(rng) * level
        if mark >= level * relative_intensity(shape, points[n]):
            marks[n] = mark
            n += 1
    return int(n)


@inner
def held_log_density(component: Any, shape: Any, units: Any, owner: int, level: float, kind: int, axis: int) -> float:
    """Log density Σ_k log λ(c_k) - ∫λ of those of a component's centers that are held, without their number · log λ*.

    All of them, none (marked), or those outside the window (stretched).
    """
    if kind == MARKED:
        return 0.0
    total = shape.integral
    if kind == STRETCHED:
        total -= window_integral(component.curve, shape, axis)
    total *= -level
    for k in range(units.n):
        if units.owner[k] == owner and not (
            kind == STRETCHED and in_window(component.curve, shape, axis, units.centers[k])
        ):
            total += math.log(units.relative[k])
    return float(total)


@inner
def log_likelihood(state: Any, owner: int, kind: int, n_marked: int, axis: int, cut: float) -> float:
    """The log L of the curve in curve.trial_table, see the module's docstring; leaves the proposed units in `trial`."""
    rows, units, trial = state.rows, state.units, state.trial
    component = state.components[owner]
    level, points, marks, shape = state.values[component.level], component.points, component.marks, component.shape
    set_intensity(component.curve, component.curve.trial_table, component.trial)
    clear(rows, trial)
    mark, unit = 0, 0  # both from left to right: of the marked points, of the units
    n_marks = n_marked
    if kind == STRETCHED:
        n_marks = carry(component, component.trial, axis, cut, n_marked, state.work.center)
        points = component.moved
    while mark < n_marks or unit < units.n:
        k = units.order[unit] - 1 if unit < units.n else 0
        own = unit < units.n and kind != CENTERED and units.owner[k] == owner
        if own and (kind == MARKED or in_window(component.curve, shape, axis, units.centers[k])):
            unit += 1  # stands among the marked points
            continue
        if unit < units.n and (mark >= n_marks or units.centers[k, 0] <= points[mark, 0]):
            unit += 1
            scale, g = units.scales[k], units.relative[k]
            if units.owner[k] == owner:
                g = relative_intensity(component.trial, units.centers[k])
                scale = scale_at(component, level * g)
            append_right(rows, state.components, trial, units.owner[k], units.centers[k], g, scale)
            continue
        g = relative_intensity(component.trial, points[mark])
        if kind == STRETCHED or marks[mark] < level * g:
            append_right(rows, state.components, trial, owner, points[mark], g, scale_at(component, level * g))
        mark += 1
    log_p = log_marginal(state, trial)
    return log_p + held_log_density(component, component.trial, trial, owner, level, kind, axis)


@inner
def curve_update(state: Any, owner: int, kind: int, of_law: bool, rng: Any) -> int:
    """One elliptical slice update of the intensity's curve, held at a few places, or of its law; P is left stale.

    state.log_p must be current, and is left so.
    """
    if state.log_p == -math.inf:
        return IDLE  # A cannot be factored: nothing to compare with
    units, component = state.units, state.components[owner]
    curve, shape, level = component.curve, component.shape, state.values[component.level]
    height, axis, cut, n_marked = state.log_p + math.log(1.0 - uniform(rng)), 0, 0.0, 0
    arrange(units)
    if kind == MARKED:
        n_marked = draw_marks(state, owner, rng)
    if kind == STRETCHED:
        axis, cut = draw_window(curve, shape, rng)
        n_marked = draw_places(state, owner, axis, cut, rng)
        draw_ellipse_around(curve, rng)
    else:
        draw_ellipse(curve, of_law, rng)
    height += held_log_density(component, shape, units, owner, level, kind, axis)
    z, axes, table = curve.z, curve.axes, curve.table
    tables, trial_z, trial_table = curve.tables, curve.trial_z, curve.trial_table
    if not of_law:  # the curve is linear in its coefficients: on an ellipse it is a combination of three
        for j in range(2):
            expand_given(curve, axes[j], z, tables[j])
    least = math.exp(LOG_SPREADS * (1.0 - 2.0 * uniform(rng))) if of_law else 0.0  # half the time above all
    step = STEP_ARC + kind
    width = smaller(state.tuning.steps[step] * math.exp((2.0 * uniform(rng) - 1.0) * LOG_ARCS), 2.0 * math.pi)
    low = -width * uniform(rng)
    high, value, change = low + width, 0.0, 0.0
    angle = 0.0
    for shrinks in range(MOST_SHRINKS + 1):
        if shrinks == MOST_SHRINKS:
            return outcome(kind, False)
        angle = low + uniform(rng) * (high - low)
        cosine, sine = math.cos(angle) - 1.0, math.sin(angle)
        combine(trial_z, z, cosine, axes[0], sine, axes[1])
        if of_law:
            change = follow_law(curve, least, trial_z)
            expand(curve, trial_z, trial_table)
        else:
            combine(trial_table, table, cosine, tables[0], sine, tables[1])
        value = log_likelihood(state, owner, kind, n_marked, axis, cut)
        if value + change > height and fits(state.trial, units):
            break
        if angle < 0.0:
            low = angle
        else:
            high = angle
    if state.tuning.adapt > 0.0 and not of_law:
        wanted = ARC_FACTOR * abs(angle) + 0.05
        state.tuning.steps[step] += state.tuning.adapt * (wanted - state.tuning.steps[step])
    copy(trial_z, z, len(z))
    copy(trial_table, table, len(table))
    copy(component.trial.values, shape.values, len(table))
    shape.integral = component.trial.integral
    copy_units(state.trial, units)
    state.log_p = value - held_log_density(component, shape, units, owner, level, kind, axis)
    return outcome(kind, True)
