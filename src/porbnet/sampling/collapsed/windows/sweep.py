"""A sweep in windows, and what is stored of it."""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import apply, apply_to, inner, kernel
from porbnet.kernels.bridge import colour, prepare, whiten
from porbnet.kernels.gaussian import draw_weights, log_marginal, refit, residuals, weigh
from porbnet.kernels.random import is_unknown, uniform
from porbnet.kernels.tally import tally
from porbnet.kernels.trend import slope_updates
from porbnet.kernels.units import (
    append_right,
    clear,
    copy_units,
    draw_others,
    is_coarse,
    next_along,
    rebuild,
    scale_at,
    set_intensity,
)
from porbnet.kernels.vectors import copy
from porbnet.sampling.collapsed.levels import amplitude_update, level_jump, level_update, noise_update, room_needed
from porbnet.sampling.collapsed.local import JOINT, parameters_given_weights
from porbnet.sampling.collapsed.windows.aim import add_up, choose_window, expected_in, follow
from porbnet.sampling.collapsed.windows.box import measure, weigh_knots
from porbnet.sampling.collapsed.windows.curve_steps import came, curve_step, prepare_curve
from porbnet.sampling.collapsed.windows.shear import shear
from porbnet.sampling.collapsed.windows.shift import jump_level, shift_level
from porbnet.sampling.collapsed.windows.state import MOST_INSIDE, STEP_ARC
from porbnet.sampling.collapsed.windows.unit_steps import birth_or_death, move
from porbnet.sampling.collapsed.windows.visit import (
    add_bias,
    add_column,
    add_open,
    choose_neighbours,
    leave_window,
    open_window,
    put,
    refactor,
)
from porbnet.sampling.stored import adaptation, forget_counts, has_room, store_common

# kinds of moves in the order in which they are counted
KINDS = (
    "birth", "death", "local move", "level and curve", "bound alone", "bound with units", "level alone",
    "level with units", "noise", "amplitude", "intensity alone", "intensity with units", "intensity with places",
)  # fmt: skip
BIRTH_DEATH, MOVE, SHEAR, SHIFT, SHIFT_JUMP, LEVEL, LEVEL_JUMP, NOISE_SLICE, AMPLITUDE, CURVE = 0, *range(2, 11)
START, ANEW = -1, -2
SHEARS = 2
FOLLOWED = 0.03  # rate at which the table of windows follows the units, at least


@inner
def visit_window(state: Any, visit: Any, of_size: int, rng: Any) -> None:
    """Births, deaths, moves and updates of the curve inside the window."""
    component = state.components[0]
    n = choose_neighbours(state, visit)
    if n > MOST_INSIDE:
        return
    if not open_window(state, visit) or take_inside(state, visit, n) == -math.inf:
        add_open(state, visit, -1.0)
        state.tuning.forced += 1
        return
    prepare(component.curve, visit.box)
    weigh_knots(component.shape, visit)
    measure(component.shape, visit)
    wanted = expected_in(component.curve, visit)
    for _ in range(int(state.n_birth_death * 0.1 * wanted) + 2):
        tally(state, BIRTH_DEATH, birth_or_death(state, visit, rng))
    for _ in range(int(state.n_moves * 0.1 * wanted) + 1):
        tally(state, MOVE, move(state, visit, rng))
    prepare_curve(component, visit)
    log_p = log_p_inside(state, visit)
    for kind in range(3):
        n_updates = state.n_centered if kind == 0 else (state.n_marked if kind == 1 else state.n_stretched)
        for _ in range(n_updates):
            log_p = curve_step(state, visit, kind, log_p, STEP_ARC + 3 * of_size + kind, rng)
            tally(state, CURVE, came(kind))
    leave_window(state, visit, rng)


@inner
def take_inside(state: Any, visit: Any, n: int) -> float:
    """The units that are inside as a set of their own; returns their log p(y)."""
    units, own = state.units, visit.sets[visit.current]
    own.refused = 0
    for j in range(n):
        k = visit.held[j]
        put(state, visit, own, j, units.centers[k], units.relative[k], units.scales[k])
    return log_p_of(state, own, n)


@inner
def log_p_of(state: Any, own: Any, n: int) -> float:
    """Factor a set's units; returns their log p(y)."""
    component = state.components[0]
    amplitude = state.values[component.amplitude]
    return refactor(own, n, component.weight_factor * amplitude * amplitude)


@inner
def log_p_inside(state: Any, visit: Any) -> float:
    """Log p(y) of the units inside, from their factor."""
    own = visit.sets[visit.current]
    return log_p_of(state, own, own.n)


@inner
def set_outputs(state: Any, visit: Any) -> None:
    """What all units leave of the observations, given their weights."""
    rows, units, weights = state.rows, state.units, visit.weights
    copy(rows.y, visit.outputs, len(rows.y))
    if rows.has_bias == 1:
        add_bias(rows, -weights[0], visit.outputs)
    for k in range(units.n):
        add_column(units, k, -weights[k + 1], visit.outputs)


@inner
def put_together(state: Any) -> None:
    """The units from left to right, with what is cached of them, computed afresh; the intensity's integral too."""
    component = state.components[0]
    set_intensity(component.curve, component.curve.table, component.shape)
    rebuild(state.rows, state.components, state.units, -1, 0.0, state.trial)
    copy_units(state.trial, state.units)


@inner
def put_in_order(state: Any, visit: Any) -> None:
    """The same of units without their Gram matrix; their weights go with them."""
    weights, old, units = visit.weights, state.work.vector, state.units
    copy(weights, old, units.n + 1)
    state.trial.bare = 1
    put_together(state)
    state.trial.bare = 0
    for i in range(units.n):
        weights[i + 1] = old[units.order[i]]


@inner
def are_many(state: Any, visit: Any) -> bool:
    """Whether there are so many units over several inputs that one factorisation costs as much as all visits.

    By the table of windows, which warm-up settles: what a sweep does must not depend on what it changes.
    """
    return bool(len(visit.low) > 1 and visit.below[len(visit.density)] > visit.most_together)


@inner
def level_moves(state: Any, many: bool, rng: Any) -> None:
    """The level, or its translation with the curve: with units, and unless these are many alone."""
    if uniform(rng) < 0.5:
        if not many:
            tally(state, SHIFT, shift_level(state, rng))
        state.log_p = log_marginal(state, state.units)
        tally(state, SHIFT_JUMP, jump_level(state, rng))
        return
    state.log_p = log_marginal(state, state.units)
    tally(state, LEVEL_JUMP, level_jump(state, 0, rng))
    if not many:
        tally(state, LEVEL, level_update(state, 0, rng))


@inner
def parameter_moves(state: Any, rng: Any) -> None:
    """Noise, amplitude and slopes, all weights integrated out."""
    tally(state, NOISE_SLICE, noise_update(state, rng))
    tally(state, AMPLITUDE, amplitude_update(state, 0, rng))
    if len(state.rows.slopes) > 0:
        refit(state)
        slope_updates(state, rng)
        rebuild(state.rows, state.components, state.units, -1, 0.0, state.trial)
        copy_units(state.trial, state.units)


@inner
def window_sweep(state: Any, visit: Any, joint: bool, rng: Any) -> None:
    """One sweep; leaves units from left to right, and weights drawn given these.

    joint : leaves m, the factor of A and log p(y) too, as it always does unless units are many
    """
    component, many = state.components[0], are_many(state, visit)
    unknown = is_unknown(state.laws, component.level)
    if visit.drawn == 0:
        state.log_p = refit(state)
        draw_weights(state.units, rng, visit.weights)
    set_outputs(state, visit)
    for _ in range(visit.n_visits):
        of_size = choose_window(state, visit, rng)
        visit_window(state, visit, of_size, rng)
    if unknown:
        for _ in range(SHEARS):
            tally(state, SHEAR, shear(state, rng))
    if many:
        parameters_given_weights(state, visit.weights, visit.outputs, NOISE_SLICE, rng)
    if many and not joint:
        put_in_order(state, visit)
    else:
        put_together(state)
        if unknown:
            level_moves(state, many, rng)
        if not many:
            parameter_moves(state, rng)
        state.log_p = refit(state)
        draw_weights(state.units, rng, visit.weights)
    whiten(component.curve, component.curve.table, component.curve.z)
    visit.drawn = 1
    if state.tuning.adapt > 0.0:
        follow(state, visit, state.tuning.adapt if state.tuning.adapt > FOLLOWED else FOLLOWED)


@inner
def start(state: Any, rng: Any) -> None:
    """Units from the prior at the starting level and curve, as far as there is room."""
    component, center = state.components[0], state.work.center
    colour(component.curve, component.curve.z, component.curve.table)
    set_intensity(component.curve, component.curve.table, component.shape)
    clear(state.rows, state.units)
    level, shape = state.values[component.level], component.shape
    at = next_along(shape, 0.0, level * shape.bound, rng)
    while at < shape.widths[0] and state.units.n + 1 < len(state.units.scales):
        g = draw_others(shape, at, rng, center)
        if uniform(rng) * shape.bound < g:
            append_right(state.rows, state.components, state.units, 0, center, g, scale_at(component, level * g))
        at = next_along(shape, at, level * shape.bound, rng)


@inner
def is_ready(state: Any) -> bool:
    """Whether there is room for the next sweep: for half as many units more, and twice the Gram matrix."""
    units, trial = state.units, state.trial
    if units.lacking == 1 or trial.lacking == 1:
        return False
    enough = units.n + units.n // 2 + MOST_INSIDE < len(units.scales)
    return bool(enough and 2 * units.used + 4096 < len(units.gram))


@kernel
def run_windows(
    state: Any,
    visit: Any,
    stored: Any,
    first: int,
    n_sweeps: int,
    n_warmup: int,
    thin: int,
    augment: Any,
    reweigh: Any,
    rng: Any,
) -> int:
    """Sweeps as `sweep.run` makes them, in windows."""
    if first < 0:
        if reweigh is not None:
            apply_to(reweigh, state)
            weigh(state.rows)
        if first == START:
            start(state, rng)
        else:
            anew(state)
        add_up(state.components[0].curve, visit)
        return 0
    capacity = len(state.units.scales)
    for s in range(n_sweeps):
        state.room = room_needed(state)
        if is_coarse(state.rows, state.components, state.units):
            state.rows.coarse = 1
            return s
        if state.room > len(state.components[0].marks) or not is_ready(state) or not has_room(stored, capacity):
            return s
        at = first + s
        if at == n_warmup:
            forget_counts(state.tuning)
        state.tuning.adapt = adaptation(at, n_warmup)
        if augment is not None:
            if visit.drawn == 0:
                state.log_p = refit(state)
                draw_weights(state.units, rng, visit.weights)
                visit.drawn = 1
            residuals(state, visit.weights)
            apply(augment, state, rng)
            apply_to(reweigh, state)
            weigh(state.rows)
            put_in_order(state, visit)
        stores = at >= n_warmup and (at - n_warmup) % thin == thin - 1
        window_sweep(state, visit, stores or at % JOINT == JOINT - 1, rng)
        if stores:
            store(state, visit, stored)
    return n_sweeps


@inner
def anew(state: Any) -> None:
    """Columns and Gram matrix of units, from left to right, that are known by their centers and scales."""
    units, n = state.units, state.units.n
    clear(state.rows, units)
    for k in range(n):
        append_right(
            state.rows, state.components, units, units.owner[k], units.centers[k], units.relative[k], units.scales[k]
        )


@inner
def store(state: Any, visit: Any, stored: Any) -> None:
    """Keep the current state as the next draw."""
    units, weights, has_bias = state.units, visit.weights, state.rows.has_bias == 1
    store_common(state, stored, units, weights[0] if has_bias else 0.0)
    at, used = stored.n, stored.used
    stored.log_p[at] = state.log_p
    stored.mean_biases[at] = units.mean[0] if has_bias else 0.0
    for k in range(units.n):
        stored.owner[used + k] = units.owner[k]
        stored.weights[used + k] = weights[k + 1]
        stored.mean_weights[used + k] = units.mean[k + 1]
    stored.n += 1
    stored.used += units.n
