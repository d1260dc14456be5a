"""Updates of the noise, the amplitude and an unknown level of the intensity, weights integrated out.

Each is updated on the log scale by slice sampling of

    log p(y | centers, σ, σ_w, λ) + log law,

which needs one factorisation of A per evaluation, the Gram matrix being kept.

The level λ (of a constant intensity, λ² ~ Gamma(α, β) as in the paper; of a sigmoid-GP intensity, λ* ~ Gamma(α, β))
is updated twice:

- level alone (centered): the centers stay; K log λ - λ ∫g joins the target, and every unit's scale follows λ.
- level with units (non-centered): give every unit a mark t_k ~ U(0, λ g(c_k)) and think of a unit-rate process of
  marked points above the region, of which those below λ g are the units. Move log λ by a symmetric step with the
  marked points held: raising λ switches on the silent points between, which are Poisson with mean (λ' - λ) ∫g and
  density g; lowering it switches off each unit with probability 1 - λ'/λ. The points' own law is untouched, so the
  ratio is p(y | λ') p(log λ') / p(y | λ) p(log λ).
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.gaussian import count_of, log_marginal
from porbnet.kernels.random import accept, is_unknown, log_law, normal, uniform
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import IDLE, outcome
from porbnet.kernels.units import (
    append_right,
    arrange,
    clear,
    copy_units,
    draw_others,
    fits,
    next_along,
    rebuild,
    scale_at,
)
from porbnet.kernels.vectors import larger, smaller
from porbnet.sampling.collapsed.state import STEP_AMPLITUDE, STEP_LEVEL, STEP_LEVEL_JUMP, STEP_NOISE

MOST_SHRINKS = 60
WIDTH_FACTOR = 15.0  # of a slice's interval, over the mean distance travelled (a third of it if nothing shrinks)
# of the level in one update: larger jumps are rejected either way, which keeps the step symmetric, and the slice's
# interval is no longer than that
MOST_GROWTH = 2.5


@inner
def room_needed(state: Any) -> int:
    """Marked points that one sweep may need room for; more are drawn with probability below 1e-30."""
    need = 0
    for c in range(len(state.components)):
        component, growth = state.components[c], 1.0
        if len(component.curve.z) > 0:
            if is_unknown(state.laws, component.level):
                growth = MOST_GROWTH * MOST_GROWTH  # two updates of the level before marks are drawn
            most = growth * state.values[component.level]
            need = larger(need, state.units.n + state.n_birth_death + int(most + 12.0 * math.sqrt(most)) + 60)
    return int(need)


@inner
def log_target(state: Any, owner: int, which: int, log_value: float) -> float:
    """Log density of one parameter on the log scale, the others and the centers held; the value itself is left set.

    owner : of the components, whose level it is; -1 if it is no level. The units are then rebuilt into `trial`.
    """
    value = math.exp(log_value)
    state.values[which] = value
    prior = log_law(state.laws, which, value, log_value)
    if owner < 0:
        return log_marginal(state, state.units) + prior
    n_units = count_of(state.units, owner, len(state.components))
    rebuild(state.rows, state.components, state.units, owner, value, state.trial)
    log_p = log_marginal(state, state.trial)  # as many units as there are: they fit
    return float(log_p + prior + n_units * log_value - value * state.components[owner].shape.integral)


@inner
def slice_update(state: Any, owner: int, which: int, step: int, rng: Any) -> int:
    """Slice sampling (Neal 2003): an interval of a fixed width at a random place around the current value, shrinking.

    Without steps out the width decides how far it can go in one update, which warm-up sets to several times the typical
    distance. A level update leaves the units rebuilt at the new level.
    """
    values, tuning = state.values, state.tuning
    width, old = tuning.steps[step], values[which]
    if owner >= 0:
        width = smaller(width, math.log(MOST_GROWTH))
    current = math.log(old)
    left = current - width * uniform(rng)
    right = left + width
    # one loop with one call of the target, which is large and compiled where it is called: first time for the height
    at, proposal, height = current, current, 0.0
    shrinks = -1
    while shrinks < MOST_SHRINKS:
        value = log_target(state, owner, which, at)
        if shrinks < 0:
            if value == -math.inf:
                break  # A cannot be factored: nothing to compare with
            height = value + math.log(1.0 - uniform(rng))
        elif value > height:
            proposal = at
            break
        elif at < current:
            left = at
        else:
            right = at
        at = left + uniform(rng) * (right - left)
        shrinks += 1
    if tuning.adapt > 0.0:
        wanted = WIDTH_FACTOR * abs(proposal - current) + 1e-3
        tuning.steps[step] = (1.0 - tuning.adapt) * width + tuning.adapt * wanted
    if proposal == current:
        values[which] = old
        return outcome(0, False)
    values[which] = math.exp(proposal)
    state.units.updates = -1
    if owner >= 0:
        copy_units(state.trial, state.units)
    return outcome(0, True)


@inner
def noise_update(state: Any, rng: Any) -> int:
    """The noise sd."""
    return slice_update(state, -1, NOISE, STEP_NOISE, rng) if is_unknown(state.laws, NOISE) else IDLE


@inner
def amplitude_update(state: Any, owner: int, rng: Any) -> int:
    """The amplitude of a component."""
    which = state.components[owner].amplitude
    return slice_update(state, -1, which, STEP_AMPLITUDE, rng) if is_unknown(state.laws, which) else IDLE


@inner
def level_update(state: Any, owner: int, rng: Any) -> int:
    """The level of a component's intensity, its centers held."""
    which = state.components[owner].level
    return slice_update(state, owner, which, STEP_LEVEL, rng) if is_unknown(state.laws, which) else IDLE


@inner
def level_jump(state: Any, owner: int, rng: Any) -> int:
    """Level with units: the non-centered step; state.log_p must be current.

    From left to right: units that stay, and in between what is switched on, a Poisson process of intensity (λ' - λ) g.
    """
    rows, units, trial = state.rows, state.units, state.trial
    center, tuning = state.work.center, state.tuning
    component = state.components[owner]
    which, shape = component.level, component.shape
    old = state.values[which]
    new = old * math.exp(tuning.steps[STEP_LEVEL_JUMP] * normal(rng))
    if new > MOST_GROWTH * old or old > MOST_GROWTH * new:
        return outcome(0, False)
    arrange(units)
    clear(rows, trial)
    rate = (new - old) * shape.bound
    at = next_along(shape, 0.0, rate, rng)
    place = 0
    while place < units.n or at < shape.widths[0]:
        k = units.order[place] - 1
        if place < units.n and units.centers[k, 0] <= at:
            place += 1
            g, scale, stays = units.relative[k], units.scales[k], True
            if units.owner[k] == owner:
                stays = new >= old or uniform(rng) * old < new
                scale = scale_at(component, new * g)
            if stays:
                append_right(rows, state.components, trial, units.owner[k], units.centers[k], g, scale)
            continue
        g = draw_others(shape, at, rng, center)
        if uniform(rng) * shape.bound < g:
            append_right(rows, state.components, trial, owner, center, g, scale_at(component, new * g))
        at = next_along(shape, at, rate, rng)
    log_prior = log_law(state.laws, which, new, math.log(new)) - log_law(state.laws, which, old, math.log(old))
    accepted = accept(log_marginal(state, trial) - state.log_p + log_prior, rng) and fits(trial, units)
    if accepted:
        state.values[which] = new
        copy_units(trial, units)
    if tuning.adapt > 0.0:
        change = tuning.adapt * ((1.0 if accepted else 0.0) - 0.35)
        tuning.steps[STEP_LEVEL_JUMP] = smaller(larger(tuning.steps[STEP_LEVEL_JUMP] * math.exp(change), 1e-3), 3.0)
    return outcome(0, accepted)
