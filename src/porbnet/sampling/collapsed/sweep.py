"""A sweep: birth, death and moves, then parameters and curves; and what is stored of it.

A move is one file with a kernel `move(state, rng)`, and here one line that makes and counts it.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import apply, apply_to, inner, kernel
from porbnet.kernels.gaussian import draw_weights, log_marginal, needs_refresh, refit, refresh, residuals, weigh
from porbnet.kernels.random import is_unknown, poisson
from porbnet.kernels.tally import tally
from porbnet.kernels.units import (
    append,
    clear,
    complete,
    copy_units,
    draw_center,
    is_coarse,
    rebuild,
    scale_at,
    set_curve,
)
from porbnet.kernels.vectors import larger, smaller
from porbnet.sampling.collapsed.birth_death import birth_or_death, move
from porbnet.sampling.collapsed.curve import CENTERED, MARKED, curve_update
from porbnet.sampling.collapsed.levels import amplitude_update, level_jump, level_update, noise_update, room_needed
from porbnet.sampling.collapsed.state import STEP_MOVE
from porbnet.sampling.moves import make_moves
from porbnet.sampling.stored import adaptation, forget_counts, has_room, store_common

# kinds of moves in the order in which they are counted; the first of each move's kinds is named below
KINDS = (
    "birth", "death", "local move", "long move", "level with units", "level alone", "noise", "amplitude",
    "intensity alone", "intensity with units",
)  # fmt: skip
START, ANEW = -1, -2
BIRTH_DEATH, MOVE, JUMP, LEVEL, NOISE_SLICE, AMPLITUDE, CURVE = 0, 2, 4, 5, 6, 7, 8


@inner
def unit_moves(state: Any, rng: Any) -> None:
    """Births, deaths and moves of units, in turns."""
    units = state.units
    for i in range(larger(state.n_birth_death, state.n_moves)):
        if needs_refresh(units):
            refresh(state)
        if i < state.n_birth_death:
            tally(state, BIRTH_DEATH, birth_or_death(state, rng))
        if i < state.n_moves and units.updates >= 0:
            tally(state, MOVE, move(state, rng))


@inner
def parameter_moves(state: Any, rng: Any) -> None:
    """Levels together with units, then noise, amplitudes and levels one by one."""
    for c in range(len(state.components)):
        if is_unknown(state.laws, state.components[c].level):
            state.log_p = refit(state)
            tally(state, JUMP, level_jump(state, c, rng))
    tally(state, NOISE_SLICE, noise_update(state, rng))
    for c in range(len(state.components)):
        tally(state, AMPLITUDE, amplitude_update(state, c, rng))
        tally(state, LEVEL, level_update(state, c, rng))


@inner
def curve_moves(state: Any, rng: Any) -> None:
    """The intensities' curves, and their laws."""
    for c in range(len(state.components)):
        curve = state.components[c].curve
        if len(curve.z) == 0:
            continue
        state.log_p = log_marginal(state, state.units)
        n_updates = state.n_centered + state.n_marked
        for i in range(n_updates + (2 if curve.spreads.shape[1] > 0 else 0)):
            of_law = i >= n_updates
            # those of the law are of the first and the last kind
            at = i if not of_law else (0 if i == n_updates else n_updates - 1)
            kind = CENTERED if at < state.n_centered else MARKED
            tally(state, CURVE, curve_update(state, c, kind, of_law, rng))


@inner
def adapt_step(state: Any) -> None:
    """In warm-up the reference width of moves follows that of the units."""
    units, tuning = state.units, state.tuning
    if tuning.adapt > 0.0 and units.n > 0:
        typical = 0.0
        for k in range(units.n):
            typical += math.log(units.scales[k])
        wanted = -typical / units.n
        steps = tuning.steps
        steps[STEP_MOVE] = math.exp((1.0 - tuning.adapt) * math.log(steps[STEP_MOVE]) + tuning.adapt * wanted)


@inner
def sweep(state: Any, extra: Any, rng: Any) -> None:
    """One sweep; leaves P and m current, the factor of A fresh, and log p(y) in state.log_p."""
    unit_moves(state, rng)
    make_moves(extra, state, rng)
    parameter_moves(state, rng)
    curve_moves(state, rng)
    adapt_step(state)
    state.log_p = -math.inf
    if not needs_refresh(state.units):
        state.log_p = log_marginal(state, state.units)
    if state.log_p == -math.inf:  # P is stale, or carried updates hide that A is not positive definite
        state.log_p = refresh(state)


@inner
def augmented(state: Any, augment: Any, reweigh: Any, rng: Any) -> None:
    """The likelihood's own update given a draw of the weights, which are forgotten after it: a Gibbs step."""
    refresh(state)
    draw_weights(state.units, rng, state.work.vector)
    residuals(state, state.work.vector)
    apply(augment, state, rng)
    apply_to(reweigh, state)
    weigh(state.rows)
    rebuild(state.rows, state.components, state.units, -1, 0.0, state.trial)
    complete(state.trial)
    copy_units(state.trial, state.units)


@inner
def anew(state: Any) -> None:
    """Columns and Gram matrix of units that are known by their centers and scales, for rows that are new."""
    units, trial = state.units, state.trial
    clear(state.rows, trial)
    for k in range(units.n):
        owner, g, scale = units.owner[k], units.relative[k], units.scales[k]
        append(state.rows, state.components, trial, owner, units.centers[k], g, scale, state.work.cross)
    copy_units(trial, units)


@inner
def start(state: Any, rng: Any) -> None:
    """Units from the prior at the starting levels, as far as there is room."""
    for c in range(len(state.components)):
        set_curve(state.components[c])
    clear(state.rows, state.units)
    for c in range(len(state.components)):
        component = state.components[c]
        level, shape, center = state.values[component.level], component.shape, state.work.center
        room = len(state.units.scales) - 1 - state.units.n
        for _ in range(smaller(poisson(level * shape.integral, rng), room)):
            g = draw_center(shape, rng, center)
            scale = scale_at(component, level * g)
            append(state.rows, state.components, state.units, c, center, g, scale, state.work.cross)
        state.tuning.steps[STEP_MOVE] = 1.0 / scale_at(component, level)


@kernel
def run(
    state: Any,
    stored: Any,
    first: int,
    n_sweeps: int,
    n_warmup: int,
    thin: int,
    augment: Any,
    reweigh: Any,
    extra: Any,
    rng: Any,
) -> int:
    """Sweeps `first`, `first` + 1, ...; every `thin`-th one after warm-up is stored.

    first : or START, to start; or ANEW, for what is cached of units whose rows are new
    augment, reweigh : the likelihood's kernels, or None: that is seen when compiling, and nothing is left of them
    extra : a tuple of further moves, with the places where they are counted

    Stops before a sweep that might need more than the capacity or shorter cells of compressed rows, or a draw that
    might not fit into `stored`. Returns how many sweeps were made; none if there is no room to begin with.
    """
    if first < 0:
        if reweigh is not None:
            apply_to(reweigh, state)
            weigh(state.rows)
        if first == START:
            start(state, rng)
        else:
            anew(state)
        return 0
    capacity = len(state.units.scales)
    for s in range(n_sweeps):
        state.room = room_needed(state)
        if is_coarse(state.rows, state.components, state.units):
            state.rows.coarse = 1
            return s
        if state.room > capacity or not has_room(stored, capacity):
            return s
        at = first + s
        if at == n_warmup:
            forget_counts(state.tuning)
        state.tuning.adapt = adaptation(at, n_warmup)
        if augment is not None:
            augmented(state, augment, reweigh, rng)
        sweep(state, extra, rng)
        if at >= n_warmup and (at - n_warmup) % thin == thin - 1:
            draw_weights(state.units, rng, state.work.vector)
            store(state, stored)
    return n_sweeps


@inner
def store(state: Any, stored: Any) -> None:
    """Keep the current state, with weights drawn into work.vector, as the next draw."""
    units, weights, has_bias = state.units, state.work.vector, state.rows.has_bias == 1
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
