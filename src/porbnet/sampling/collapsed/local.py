"""Parameters and curve given the weights of most units: sweeps over many units with several inputs.

With several inputs every unit overlaps with many, and one factorisation of A costs as much as all of `blocks`. So
between two joint draws of all weights (whenever a draw is stored, and in warm-up every `JOINT`-th sweep) the weights
are part of the state:

- noise given the errors, amplitude given the weights, bias given both: one-dimensional, and next to nothing.
- the curve of the intensity with the weights in one box integrated out and those outside it held. Elliptical slice
  sampling as in `curve`, along curves that keep their values at places around the box, so that little changes outside:

      log L = log p(y - b - Σ_outside w_k φ_k | units inside) + Σ_outside log λ(c_k) - ∫_outside λ

  Inside, the units are marked points below λ that switch on and off with it (or held too, with their Σ log λ - ∫λ).
  Outside, every unit's scale follows λ, its weight stays.
- the level λ*, likewise with the weights in a box integrated out, together with a shift of the curve: log λ* + δ and
  h - δ, which leaves λ where it is as far as the sigmoid is not saturated. A translation: no Jacobian; the ratio has
  the curve's N(z; 0, I) and the level's law beside the above.

Boxes depend on chance alone, and on a number of cuts that warm-up settles.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.gaussian import draw_weights, log_marginal, refit
from porbnet.kernels.process import MOST_SHRINKS, draw_ellipse_around, expand, expand_given
from porbnet.kernels.random import accept, is_unknown, log_law, normal, uniform
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import outcome, tally
from porbnet.kernels.trend import slopes_given_weights
from porbnet.kernels.units import (
    append,
    clear,
    copy_units,
    fill_column,
    rebuild,
    relative_intensity,
    scale_at,
    set_intensity,
    too_sharp,
)
from porbnet.kernels.vectors import combine, copy, larger, smaller
from porbnet.kernels.views import part
from porbnet.sampling.collapsed.blocks import add_weighted, belongs, cut, gather, integral_over, put_together
from porbnet.sampling.collapsed.curve import ARC_FACTOR, CENTERED, LOG_ARCS, MARKED
from porbnet.sampling.collapsed.state import STEP_ARC, STEP_CUTS, STEP_LEVEL_JUMP

JOINT = 8  # sweeps from one joint draw of all weights to the next, unless one is stored before
JUMP, NOISE_SLICE, CURVE = 4, 6, 8  # places of kinds
_SLICE = 3.0  # width of a slice's interval on the log scale, over the conditional's sd
_ALL = 1e300


@inner
def joint_weights(state: Any, blocks: Any, rng: Any) -> None:
    """Draw bias and weights of all units together; leaves m, the factor of A and log p(y)."""
    state.trial.bare = 0
    rebuild(state.rows, state.components, state.units, -1, 0.0, state.trial)
    copy_units(state.trial, state.units)
    state.trial.bare = 1
    state.log_p = refit(state)
    draw_weights(state.units, rng, blocks.weights)
    blocks.drawn = 1


@inner
def parameters_given_weights(state: Any, weights: Any, residual: Any, kind: int, rng: Any) -> None:
    """Bias, slopes, noise and amplitude; `residual`, what these weights leave, must be current, and is left so.

    kind : place of the noise among kinds; the amplitude is the next one
    """
    rows, values, units, component = state.rows, state.values, state.units, state.components[0]
    precision = 1.0 / (values[NOISE] * values[NOISE])
    if rows.has_bias == 1:
        along, size = 0.0, 0.0
        for i in range(len(rows.y)):
            along += rows.root[i] * residual[i]
            size += rows.root[i] * rows.root[i]
        total = size * precision + 1.0 / rows.bias_variance
        new = (along + weights[0] * size) * precision / total + normal(rng) / math.sqrt(total)
        for i in range(len(rows.y)):
            residual[i] -= (new - weights[0]) * rows.root[i]
        weights[0] = new
    if len(rows.slopes) > 0:
        slopes_given_weights(state, residual, rng)
    square = 0.0
    for i in range(len(rows.y)):
        square += residual[i] * residual[i] + rows.within[i] * rows.root[i] * rows.root[i]
    tally(state, kind, scale_given(state, NOISE, rows.count, square, rng))
    square = 0.0
    for k in range(units.n):
        square += weights[k + 1] * weights[k + 1] / component.weight_factor
    tally(state, kind + 1, scale_given(state, component.amplitude, units.n, square, rng))


@inner
def scale_given(state: Any, which: int, n: float, square: float, rng: Any) -> int:
    """A parameter θ that is the sd of n normal numbers with a given sum of squares: slice sampling of log θ."""
    if not is_unknown(state.laws, which):
        return -1
    current = math.log(state.values[which])
    width = _SLICE / math.sqrt(2.0 * n + 0.5)
    left = current - width * uniform(rng)
    right, at, height = left + width, current, 0.0
    for shrinks in range(MOST_SHRINKS):
        value = -n * at - 0.5 * square * math.exp(-2.0 * at) + log_law(state.laws, which, math.exp(at), at)
        if shrinks == 0:
            height = value + math.log(1.0 - uniform(rng))
        elif value > height:
            state.values[which] = math.exp(at)
            return outcome(0, True)
        elif at < current:
            left = at
        else:
            right = at
        at = left + uniform(rng) * (right - left)
    return outcome(0, False)


@inner
def choose_box(state: Any, block: Any, blocks: Any, rng: Any) -> None:
    """A box by chance, into the block's shape; in warm-up the number of cuts follows the number of units."""
    whole, box, boxes = state.components[0].shape, block.components[0].shape, blocks.boxes
    steps, n_dims = state.tuning.steps, len(whole.widths)
    if state.tuning.adapt > 0.0:
        wanted = larger(math.log2(larger(state.units.n, 1) / blocks.target), 0.0)
        steps[STEP_CUTS] += state.tuning.adapt * (wanted - steps[STEP_CUTS])
    for d in range(n_dims):
        box.low[d], box.high[d] = whole.low[d], whole.high[d]
    for _ in range(int(steps[STEP_CUTS] + uniform(rng))):
        cut(box, boxes, 0, rng)
        half = 0 if uniform(rng) < 0.5 else 1
        for d in range(n_dims):
            box.low[d], box.high[d] = boxes[half, d], boxes[half, n_dims + d]


@inner
def box_marks(state: Any, block: Any, rng: Any) -> int:
    """Marks of the units inside, and the silent points of the box above λ; returns how many points there are."""
    units, component, box = state.units, state.components[0], block.components[0].shape
    points, marks, level = component.points, component.marks, state.values[component.level]
    n, n_dims, volume = 0, points.shape[1], 1.0
    for d in range(n_dims):
        volume *= box.high[d] - box.low[d]
    for k in range(units.n):
        if belongs(box, component.shape, units.centers[k]):
            copy(units.centers[k], points[n], n_dims)
            marks[n] = uniform(rng) * level * units.relative[k]
            n += 1
    reached = -math.log(1.0 - uniform(rng))
    while reached < level * volume:
        for d in range(n_dims):
            points[n, d] = box.low[d] + uniform(rng) * (box.high[d] - box.low[d])
        mark = uniform(rng) * level
        if mark >= level * relative_intensity(component.shape, points[n]) and n + 1 < len(marks):
            marks[n] = mark
            n += 1
        reached -= math.log(1.0 - uniform(rng))
    return n


@inner
def box_log_likelihood(state: Any, block: Any, blocks: Any, kind: int, n_marked: int) -> float:
    """Log L for the intensity in component.trial and the current level, see the module's docstring.

    Leaves the units inside as the block's, and in its rows what those outside leave of the outputs.
    """
    rows, units, component, work = state.rows, state.units, state.components[0], block.work
    own, inside, box, whole = block.rows, block.units, block.components[0].shape, component.shape
    trial, level, weights = component.trial, state.values[component.level], blocks.weights
    for i in range(len(rows.y)):
        own.y[i] = rows.y[i] - (weights[0] * rows.root[i] if rows.has_bias == 1 else 0.0)
    total = -level * trial.integral
    for k in range(units.n):
        if belongs(box, whole, units.centers[k]):
            continue
        g = relative_intensity(trial, units.centers[k])
        scale = scale_at(component, level * g)
        low, high = fill_column(rows, component, units.centers[k], scale, work.column)
        if too_sharp(rows, component, units.centers[k], scale, low, high):
            return -math.inf
        w, reached = weights[k + 1], part(own.y, low, high)
        for i in range(high - low):
            reached[i] -= w * work.column[i]
        total += math.log(level * g)
    clear(own, inside)
    if kind == MARKED:
        total += level * integral_over(trial, blocks.hats, box.low, box.high)
        for i in range(n_marked):
            g = relative_intensity(trial, component.points[i])
            if component.marks[i] < level * g:
                if inside.n + 2 >= len(inside.scales):
                    return -math.inf
                append(
                    own, block.components, inside, 0, component.points[i], g, scale_at(component, level * g), work.cross
                )
    else:
        for k in range(units.n):
            if belongs(box, whole, units.centers[k]):
                if inside.n + 2 >= len(inside.scales):
                    return -math.inf
                g = relative_intensity(trial, units.centers[k])
                append(
                    own, block.components, inside, 0, units.centers[k], g, scale_at(component, level * g), work.cross
                )
                total += math.log(level * g)
    square = 0.0
    for i in range(len(rows.y)):
        square += own.y[i] * own.y[i]
    own.square = square
    return float(log_marginal(block, inside) + total)


@inner
def keep(state: Any, block: Any, blocks: Any, rng: Any) -> None:
    """Keep what `box_log_likelihood` has left: units inside with fresh weights, scales outside that follow λ."""
    units, component, own = state.units, state.components[0], block.units
    trial, level, weights = component.trial, state.values[component.level], block.work.vector
    copy(trial.values, component.shape.values, len(trial.values))
    component.shape.integral = trial.integral
    refit(block)
    draw_weights(own, rng, weights)
    add_weighted(own, weights, -1.0, block.rows.y)
    copy(block.rows.y, blocks.residual, len(state.rows.y))
    blocks.n = 0
    for k in range(units.n):
        if not belongs(block.components[0].shape, component.shape, units.centers[k]):
            g = relative_intensity(trial, units.centers[k])
            push(blocks, units.centers[k], g, scale_at(component, level * g), blocks.weights[k + 1])
    for k in range(own.n):
        push(blocks, own.centers[k], own.relative[k], own.scales[k], weights[k + 1])
    put_together(state, blocks)


@inner
def push(blocks: Any, center: Any, g: float, scale: float, weight: float) -> None:
    """One more unit of those to be put together."""
    n = blocks.n
    if n < len(blocks.scales):
        copy(center, blocks.centers[n], blocks.centers.shape[1])
        blocks.relative[n], blocks.scales[n], blocks.fresh[n] = g, scale, weight
        blocks.n = n + 1


@inner
def curve_in_box(state: Any, block: Any, blocks: Any, kind: int, rng: Any) -> int:
    """One elliptical slice update of the curve around a box."""
    component, box = state.components[0], block.components[0].shape
    curve, shape, tuning = component.curve, component.shape, state.tuning
    choose_box(state, block, blocks, rng)
    gather(state, block, blocks, _ALL)
    for d in range(len(shape.widths)):
        step = shape.widths[d] / (curve.sizes[d] - 1)
        first, last = int(box.low[d] / step), smaller(int(box.high[d] / step) + 1, curve.sizes[d] - 1)
        curve.window[d, 0], curve.window[d, 1] = first, last - first + 1
    n_marked = box_marks(state, block, rng) if kind == MARKED else 0
    draw_ellipse_around(curve, rng)
    z, axes, tables = curve.z, curve.axes, curve.tables
    for j in range(2):
        expand_given(curve, axes[j], z, tables[j])
    at = STEP_ARC + kind
    width = smaller(tuning.steps[at] * math.exp((2.0 * uniform(rng) - 1.0) * LOG_ARCS), 2.0 * math.pi)
    low = -width * uniform(rng)
    high, angle, height = low + width, 0.0, 0.0
    for shrinks in range(MOST_SHRINKS + 1):
        cosine, sine = math.cos(angle) - 1.0, math.sin(angle)
        combine(curve.trial_z, z, cosine, axes[0], sine, axes[1])
        combine(curve.trial_table, curve.table, cosine, tables[0], sine, tables[1])
        set_intensity(curve, curve.trial_table, component.trial)
        value = box_log_likelihood(state, block, blocks, kind, n_marked)
        if shrinks == 0:
            if value == -math.inf:
                return outcome(kind, False)  # nothing to compare with
            height = value + math.log(1.0 - uniform(rng))
        elif value > height:
            break
        elif angle < 0.0:
            low = angle
        else:
            high = angle
        if shrinks == MOST_SHRINKS:
            return outcome(kind, False)
        angle = low + uniform(rng) * (high - low)
    if tuning.adapt > 0.0:
        tuning.steps[at] += tuning.adapt * (ARC_FACTOR * abs(angle) + 0.05 - tuning.steps[at])
    copy(curve.trial_z, z, len(z))
    copy(curve.trial_table, curve.table, len(curve.table))
    keep(state, block, blocks, rng)
    return outcome(kind, True)


@inner
def level_in_box(state: Any, block: Any, blocks: Any, rng: Any) -> int:
    """The level with a shift of the curve, by a symmetric step."""
    component, tuning = state.components[0], state.tuning
    curve, which, trial = component.curve, component.level, component.trial
    old, step = state.values[which], tuning.steps[STEP_LEVEL_JUMP]
    choose_box(state, block, blocks, rng)
    gather(state, block, blocks, _ALL)
    copy(component.shape.values, trial.values, len(trial.values))
    trial.integral = component.shape.integral
    before = box_log_likelihood(state, block, blocks, CENTERED, 0) + log_law(state.laws, which, old, math.log(old))
    change = step * normal(rng)
    new, log_ratio = old * math.exp(change), 0.0
    if len(curve.z) > 0:
        for i in range(len(curve.z)):
            shifted = curve.z[i] - change * curve.flat[i]
            log_ratio += 0.5 * (curve.z[i] * curve.z[i] - shifted * shifted)
            curve.trial_z[i] = shifted
        expand(curve, curve.trial_z, curve.trial_table)
        set_intensity(curve, curve.trial_table, trial)
    state.values[which] = new
    after = box_log_likelihood(state, block, blocks, CENTERED, 0) + log_law(state.laws, which, new, math.log(new))
    accepted = accept(after - before + log_ratio, rng)
    if accepted:
        if len(curve.z) > 0:
            copy(curve.trial_z, curve.z, len(curve.z))
            copy(curve.trial_table, curve.table, len(curve.table))
        keep(state, block, blocks, rng)
    else:
        state.values[which] = old
    if tuning.adapt > 0.0:
        tuning.steps[STEP_LEVEL_JUMP] = smaller(
            larger(step * math.exp(tuning.adapt * ((1.0 if accepted else 0.0) - 0.35)), 1e-4), 3.0
        )
    return outcome(0, accepted)


@inner
def local_moves(state: Any, block: Any, blocks: Any, rng: Any) -> None:
    """All parameters and the curve, after births, deaths and moves in blocks."""
    component = state.components[0]
    parameters_given_weights(state, blocks.weights, blocks.residual, NOISE_SLICE, rng)
    if is_unknown(state.laws, component.level):
        tally(state, JUMP, level_in_box(state, block, blocks, rng))
    if len(component.curve.z) > 0:
        for i in range(state.n_centered + state.n_marked):
            kind = CENTERED if i < state.n_centered else MARKED
            tally(state, CURVE, curve_in_box(state, block, blocks, kind, rng))
