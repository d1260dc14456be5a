"""The learned intensity λ(c) = λ* sigmoid(h(c)); and what it shares with the noise curve (errors.py).

h is a Gaussian process at knots with whitened coefficients z ~ N(0, I) (`grid_gp`), updated by elliptical slice
sampling (Murray, Adams and MacKay 2010), which leaves N(0, I) times any likelihood L(z) invariant. λ is multilinear
between knots, so that its integral is exact. Two likelihoods:

- intensity alone (centered): the centers stay; log L = Σ_k log λ(c_k) - ∫λ + log p(y | c, scales of λ).
- intensity with units (marked, non-centered): give unit k a mark t_k ~ U(0, λ(c_k)) and draw the silent points of a
  unit-rate process on region x [0, λ*], those with t ≥ λ(c). Points and marks together have a law that does not
  involve z, and the units are the points below λ. Holding the points, log L = log p(y | points with t < λ(c)):
  units switch on and off as λ moves.

The angle is sought on an arc of random width placed at random around the current state: the whole circle, as in the
original, wastes most evaluations where the data say much. The ellipse runs through all curves, or through those with
the same values at a few places (`draw_ellipse`).

The law of the curve: an unknown variance v and lengthscale ℓ of h are functions of coefficients ζ ~ N(0, I) of their
own, independent of z a priori, h = √v(ζ) B(ℓ(ζ)) z. Given z, the target is N(ζ; 0, I) L(z, ζ) with either L above, so
that the same slice sampling on an ellipse through ζ leaves it invariant: the ellipse takes care of N(0, I), z stays,
and the map to h acts through L alone. L jumps where ℓ goes over to its next value, which a slice does not mind. Where
the data say much about the curve, it is the curve that should stay: what is held is z for some coefficients and their
part of h for the others, chosen at random, whatever the state (`follow_law`); its density given ζ joins L.

Either intensity update alone is exact but slow; alternated, width and intensity move together and apart.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import fast_exp, inlined_kernel, inner_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.gaussian import arrange, log_marginal
from porbnet.sampling.collapsed.process import draw_ellipse, expand, expand_given, follow_law
from porbnet.sampling.collapsed.state import (
    AMPLITUDE,
    FIELD_CENTERED,
    FIELD_MARKED,
    LEVEL,
    NOISE,
    Data,
    Field,
    Hyper,
    Shape,
    Trial,
    Tuning,
    Units,
    Varying,
)
from porbnet.sampling.collapsed.units import (
    append_right,
    clear,
    complete,
    copy_units,
    relative_intensity,
    scale_at,
)

MOST_SHRINKS = 100
LOG_SPREADS = math.log(1e4)  # from the largest to the smallest that counts
LOG_ARCS = 2.0  # arcs searched are between exp(-2) of the circle and all of it


@kernel
def set_intensity(table: Any, area: Any, shape: Shape) -> None:
    """Set g = sigmoid(h) at the knots, and its integral."""
    total = 0.0
    for i in range(len(area)):
        e = fast_exp(max(-abs(table[i]), -690.0))
        g = 1.0 / (1.0 + e) if table[i] >= 0.0 else e / (1.0 + e)
        shape.values[i] = g
        total += area[i] * g
    shape.integral[0] = total


@kernel
def reweight(data: Data, varying: Varying, table: Any, target: Data) -> None:
    """Weights and weighted outputs for a noise field's table (if there is one) and the row weights (if any)."""
    squares, logs = 0.0, 0.0
    for i in range(len(data.outputs)):
        root = data.known_root[i]
        if len(varying.noise.z) > 0:
            h = 0.0
            for j in range(varying.knots.shape[1]):
                h += varying.shares[i, j] * table[varying.knots[i, j]]
            root *= math.exp(-h)
        if len(varying.row_weight) > 0:
            root *= math.sqrt(varying.row_weight[i])
        logs += data.counts[i] * math.log(root)
        root *= math.sqrt(data.counts[i])
        y = data.outputs[i] * root
        target.root_weight[i] = root
        target.y[i] = y
        squares += y * y
    target.totals[0] = squares
    target.totals[1] = logs


@inner_kernel
def draw_marks(shape: Shape, units: Units, varying: Varying, level: float, rng: Any) -> int:
    """Marks of the units and the silent points above them, from left to right; returns how many points there are.

    Along the first coordinate the points of the unit-rate process are λ* to a width of the box, whose volume is one.
    """
    n_units, n_dims = units.n[0], units.centers.shape[1]
    n, place = 0, 0
    at = -shape.widths[0] * math.log(1.0 - rng.random()) / level
    while place < n_units or at < shape.widths[0]:
        if place < n_units and units.centers[units.order[place] - 1, 0] <= at:
            k = units.order[place] - 1
            for d in range(n_dims):
                varying.points[n, d] = units.centers[k, d]
            varying.marks[n] = rng.random() * level * units.relative[k]
            place += 1
            n += 1
            continue
        varying.points[n, 0] = at
        for d in range(1, n_dims):
            varying.points[n, d] = rng.random() * shape.widths[d]
        at -= shape.widths[0] * math.log(1.0 - rng.random()) / level
        mark = rng.random() * level
        if mark >= level * relative_intensity(shape, varying.points[n]):
            varying.marks[n] = mark
            n += 1
    return int(n)


@inner_kernel
def centers_log_density(shape: Shape, units: Units, level: float) -> float:
    """Log density Σ_k log λ(c_k) - ∫λ of the centers, without K log λ*."""
    total = -level * shape.integral[0]
    for k in range(units.n[0]):
        total += math.log(units.relative[k])
    return float(total)


@inlined_kernel
def log_likelihood(
    which: int,
    field: Field,
    n_marked: int,
    data: Data,
    hyper: Hyper,
    units: Units,
    varying: Varying,
    trial: Trial,
    values: Any,
) -> float:
    """The log L of the curve in trial.table, see the module's docstring; leaves the proposed state in `trial`."""
    level, n_dims = values[LEVEL], data.x.shape[0]
    set_intensity(trial.table, field.area, trial.shape)
    clear(data, trial.units)
    for p in range(units.n[0] if which == FIELD_CENTERED else n_marked):
        center = units.centers[units.order[p] - 1] if which == FIELD_CENTERED else varying.points[p]
        g = relative_intensity(trial.shape, center)
        if which == FIELD_CENTERED or varying.marks[p] < level * g:
            append_right(data, trial.units, center, g, scale_at(hyper, level * g, n_dims))
    noise2 = values[NOISE] * values[NOISE]
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    log_p = log_marginal(data, trial.units, noise2, weight_variance, hyper.bias_variance)
    return log_p + centers_log_density(trial.shape, trial.units, level) if which == FIELD_CENTERED else log_p


@inner_kernel
def elliptical_update(
    which: int,
    of_law: bool,
    data: Data,
    shape: Shape,
    hyper: Hyper,
    units: Units,
    varying: Varying,
    trial: Trial,
    values: Any,
    tuning: Tuning,
    log_p: float,
    rng: Any,
) -> float:
    """One elliptical slice update of the intensity's curve, held at a few places, or of its law; P is left stale.

    Takes the current log p(y) and returns the new one.
    """
    if log_p == -math.inf:
        return log_p  # A cannot be factored: nothing to compare with
    field = varying.intensity
    height = log_p + math.log(1.0 - rng.random())
    if which == FIELD_CENTERED:
        height += centers_log_density(shape, units, values[LEVEL])
    arrange(units)
    n_marked = draw_marks(shape, units, varying, values[LEVEL], rng) if which == FIELD_MARKED else 0
    n = len(field.z)
    draw_ellipse(field, of_law, trial.axes, trial.window, rng)
    if not of_law:  # the curve is linear in its coefficients: on an ellipse it is a combination of three
        for j in range(2):
            expand_given(field, trial.axes[j], field.z, trial.tables[j])
    least = math.exp(LOG_SPREADS * (1.0 - 2.0 * rng.random())) if of_law else 0.0  # half the time above all
    tuning.tried[which] += 1
    width = 2.0 * math.pi * math.exp(-rng.random() * LOG_ARCS)
    low = -width * rng.random()
    high, value, change = low + width, 0.0, 0.0
    for shrinks in range(MOST_SHRINKS + 1):
        if shrinks == MOST_SHRINKS:
            return log_p
        angle = low + rng.random() * (high - low)
        cosine, sine = math.cos(angle) - 1.0, math.sin(angle)
        for i in range(n):
            trial.z[i] = field.z[i] + cosine * trial.axes[0, i] + sine * trial.axes[1, i]
        if of_law:
            change = follow_law(field, least, trial.z)
            expand(field, trial.z, trial.table)
        else:
            for i in range(len(field.table)):
                trial.table[i] = field.table[i] + cosine * trial.tables[0, i] + sine * trial.tables[1, i]
        value = log_likelihood(which, field, n_marked, data, hyper, units, varying, trial, values)
        if value + change > height:
            break
        if angle < 0.0:
            low = angle
        else:
            high = angle
    tuning.accepted[which] += 1
    for i in range(n):
        field.z[i] = trial.z[i]
    for i in range(len(field.table)):
        field.table[i] = trial.table[i]
    for i in range(len(field.table)):
        shape.values[i] = trial.shape.values[i]
    shape.integral[0] = trial.shape.integral[0]
    complete(trial.units)
    copy_units(trial.units, units)
    if which == FIELD_CENTERED:
        value -= centers_log_density(shape, units, values[LEVEL])
    return value
