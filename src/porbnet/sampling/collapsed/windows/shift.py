"""The level λ* of a learned intensity, raised where the intensity has reached it and nowhere else.

(log λ*, h) -> (log λ* + δ, h - δ) at every knot leaves λ = λ* sigmoid(h) as it is where sigmoid(h) is small, and lets
it follow λ* where it is near one. It is a translation: slice sampling along it, of

    log law(log λ*) - ½ |z|² + Σ_k log λ(c_k) - ∫λ + log p(y | centers, scales of λ)

with z the whitened h, leaves the posterior invariant. Centers are held, scales follow λ, weights are integrated out.

The same with units (`jump_level`): marks under λ and the silent points above it are held, as in `levels`. For δ > 0 the
new λ' is nowhere below λ, and units are switched on with intensity λ' - λ; for δ < 0 each stays with probability λ'/λ.
The step is symmetric, and the ratio that of p(y), of the law of λ* and of exp(-½ |z|²).
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.bridge import whiten
from porbnet.kernels.gaussian import log_marginal
from porbnet.kernels.random import accept, log_law, normal, uniform
from porbnet.kernels.tally import outcome
from porbnet.kernels.units import (
    append_right,
    clear,
    copy_units,
    draw_others,
    fits,
    next_along,
    relative_intensity,
    scale_at,
    set_intensity,
)
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.sampling.collapsed.levels import MOST_GROWTH, WIDTH_FACTOR
from porbnet.sampling.collapsed.windows.state import STEP_SHIFT, STEP_SHIFT_JUMP

MOST_SHRINKS = 40


@inner
def along(state: Any) -> tuple[float, float]:
    """Slope and half the curvature of ½ |z|² along the translation: at δ it is larger by slope δ + half δ²."""
    curve = state.components[0].curve
    one, slope, ones = curve.trial_table, 0.0, 0.0
    for i in range(len(one)):
        one[i] = curve.mean + 1.0
    whiten(curve, one, curve.trial_z)
    for i in range(len(one)):
        one[i] = curve.trial_z[i]
    whiten(curve, curve.table, curve.trial_z)
    for i in range(len(one)):
        slope -= curve.trial_z[i] * one[i]
        ones += one[i] * one[i]
    return slope, 0.5 * ones


@inner
def translate(state: Any, delta: float, slope: float, half: float) -> float:
    """The curve at δ in curve.trial_table, its intensity in component.trial; returns the log prior of both.

    slope, half : what `along` has found; the prior is over that at the curve as it is
    """
    component = state.components[0]
    curve, level = component.curve, state.values[component.level] * math.exp(delta)
    for i in range(len(curve.table)):
        curve.trial_table[i] = curve.table[i] - delta
    set_intensity(curve, curve.trial_table, component.trial)
    total = log_law(state.laws, component.level, level, math.log(level))
    return float(total - (slope + half * delta) * delta)


@inner
def keep(state: Any, delta: float) -> None:
    """What `translate` has left, and the units in `trial`, become the current ones."""
    component = state.components[0]
    curve, shape = component.curve, component.shape
    copy(curve.trial_table, curve.table, len(curve.table))
    copy(component.trial.values, shape.values, len(curve.table))
    shape.integral = component.trial.integral
    state.values[component.level] *= math.exp(delta)
    copy_units(state.trial, state.units)


@inner
def log_target(state: Any, delta: float, slope: float, half: float) -> float:
    """Log density along the translation; leaves units and λ in `trial`. The units must stand from left to right."""
    component, units, trial = state.components[0], state.units, state.trial
    shape, level = component.trial, state.values[component.level] * math.exp(delta)
    total = translate(state, delta, slope, half) - level * shape.integral
    clear(state.rows, trial)
    for k in range(units.n):
        g = relative_intensity(shape, units.centers[k])
        total += math.log(level * g)
        append_right(state.rows, state.components, trial, 0, units.centers[k], g, scale_at(component, level * g))
    return float(total + log_marginal(state, trial))


@inner
def shift_level(state: Any, rng: Any) -> int:
    """One slice along the translation."""
    tuning = state.tuning
    width = smaller(tuning.steps[STEP_SHIFT], math.log(MOST_GROWTH))
    low = -width * uniform(rng)
    high, delta, height = low + width, 0.0, 0.0
    slope, half = along(state)
    for shrinks in range(MOST_SHRINKS):
        value = log_target(state, delta, slope, half)
        if shrinks == 0:
            if value == -math.inf:
                return outcome(0, False)  # nothing to compare with
            height = value + math.log(1.0 - uniform(rng))
        elif value > height:
            if tuning.adapt > 0.0:
                wanted = WIDTH_FACTOR * abs(delta) + 1e-3
                tuning.steps[STEP_SHIFT] = (1.0 - tuning.adapt) * width + tuning.adapt * wanted
            keep(state, delta)
            return outcome(0, True)
        elif delta < 0.0:
            low = delta
        else:
            high = delta
        delta = low + uniform(rng) * (high - low)
    return outcome(0, False)


@inner
def jump_level(state: Any, rng: Any) -> int:
    """One symmetric step along the translation, with units; state.log_p must be current."""
    component, units, trial, tuning = state.components[0], state.units, state.trial, state.tuning
    old, shape, new, center = component.shape, component.shape, component.trial, state.work.center
    before = state.values[component.level]
    delta = tuning.steps[STEP_SHIFT_JUMP] * normal(rng)
    accepted = False
    if abs(delta) < math.log(MOST_GROWTH):
        slope, half = along(state)
        log_ratio = translate(state, delta, slope, half) - log_law(
            state.laws, component.level, before, math.log(before)
        )
        after, most = before * math.exp(delta), 0.0
        for i in range(len(old.values)):
            most = larger(most, after * new.values[i] - before * old.values[i])
        clear(state.rows, trial)
        at = next_along(shape, 0.0, most, rng)
        k = 0
        while k < units.n or at < shape.widths[0]:
            if k < units.n and units.centers[k, 0] <= at:
                g = relative_intensity(new, units.centers[k])
                if delta > 0.0 or uniform(rng) * before * units.relative[k] < after * g:
                    append_right(
                        state.rows, state.components, trial, 0, units.centers[k], g, scale_at(component, after * g)
                    )
                k += 1
                continue
            current = draw_others(shape, at, rng, center)
            g = relative_intensity(new, center)
            if uniform(rng) * most < after * g - before * current:
                append_right(state.rows, state.components, trial, 0, center, g, scale_at(component, after * g))
            at = next_along(shape, at, most, rng)
        value = log_marginal(state, trial)
        accepted = accept(value - state.log_p + log_ratio, rng) and fits(trial, units)
        if accepted:
            keep(state, delta)
            state.log_p = value
    if tuning.adapt > 0.0:
        change = tuning.adapt * ((1.0 if accepted else 0.0) - 0.35)
        tuning.steps[STEP_SHIFT_JUMP] = smaller(larger(tuning.steps[STEP_SHIFT_JUMP] * math.exp(change), 1e-3), 3.0)
    return outcome(0, accepted)
