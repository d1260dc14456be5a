"""A sweep: birth, death and moves, then parameters and curves; and what is stored of it.

A move is one file with a kernel `move(state, rng)`, and here one line that makes and counts it.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import apply, apply_to, inner, kernel
from porbnet.kernels.gaussian import draw_weights, log_marginal, needs_refresh, refit, refresh, residuals, weigh
from porbnet.kernels.random import is_unknown, uniform
from porbnet.kernels.tally import tally
from porbnet.kernels.trend import slope_updates
from porbnet.kernels.units import (
    append,
    append_right,
    clear,
    copy_units,
    draw_others,
    is_coarse,
    next_along,
    rebuild,
    scale_at,
    set_curve,
)
from porbnet.kernels.vectors import copy, smaller
from porbnet.sampling.collapsed.blocks import in_blocks, unit_moves
from porbnet.sampling.collapsed.curve import CENTERED, MARKED, STRETCHED, curve_update
from porbnet.sampling.collapsed.levels import amplitude_update, level_jump, level_update, noise_update, room_needed
from porbnet.sampling.collapsed.local import JOINT, joint_weights, local_moves
from porbnet.sampling.collapsed.state import STEP_MOVE
from porbnet.sampling.moves import make_moves
from porbnet.sampling.stored import adaptation, forget_counts, has_room, store_common

# kinds of moves in the order in which they are counted; the first of each move's kinds is named below
KINDS = (
    "birth", "death", "local move", "long move", "level with units", "level alone", "noise", "amplitude",
    "intensity alone", "intensity with units", "intensity with places",
)  # fmt: skip
JUMP, LEVEL, NOISE_SLICE, AMPLITUDE, CURVE = 4, 5, 6, 7, 8  # births, deaths and moves before them: `blocks`
START, ANEW = -1, -2


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
        n_held, n_marked = state.n_centered, state.n_centered + state.n_marked
        n_updates = n_marked + state.n_stretched
        for i in range(n_updates + (2 if curve.spreads.shape[1] > 0 else 0)):
            of_law = i >= n_updates
            at = i if not of_law else (0 if i == n_updates else n_marked - 1)
            kind = CENTERED if at < n_held else (MARKED if at < n_marked else STRETCHED)
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
def others(state: Any, rng: Any) -> None:
    """What comes after births, deaths and moves."""
    parameter_moves(state, rng)
    curve_moves(state, rng)
    adapt_step(state)


@inner
def sweep(state: Any, extra: Any, rng: Any) -> None:
    """One sweep; leaves P and m current, the factor of A fresh, and log p(y) in state.log_p."""
    if len(state.rows.slopes) > 0:
        if needs_refresh(state):
            refresh(state)
        else:
            log_marginal(state, state.units)  # for the factor of A
        slope_updates(state, rng)
    unit_moves(state, rng)
    make_moves(extra, state, rng)
    others(state, rng)
    state.log_p = -math.inf
    if not needs_refresh(state):
        state.log_p = log_marginal(state, state.units)
    if state.log_p == -math.inf:  # P is stale, or carried updates hide that A is not positive definite
        state.log_p = refresh(state)


@inner
def packed_sweep(state: Any, block: Any, blocks: Any, joint: bool, rng: Any) -> None:
    """The same for packed units; there is no P.

    joint : with several inputs m, the factor and log p(y) are left to `joint_weights`, made if this is true
    """
    if state.trial.bare == 1:
        if blocks.drawn == 0:
            joint_weights(state, blocks, rng)
        in_blocks(state, block, blocks, rng)
        local_moves(state, block, blocks, rng)
        adapt_step(state)
        if joint:
            joint_weights(state, blocks, rng)
        return
    refit(state)
    if len(state.rows.slopes) > 0:
        slope_updates(state, rng)
        rebuild(state.rows, state.components, state.units, -1, 0.0, state.trial)  # to the last digit, as after a pause
        copy_units(state.trial, state.units)
        refit(state)
    draw_weights(state.units, rng, blocks.weights)
    in_blocks(state, block, blocks, rng)
    others(state, rng)
    state.log_p = refit(state)


@inner
def draw_errors(state: Any, rng: Any) -> None:
    """Errors of the rows for a draw of the weights, which are forgotten after it."""
    refit(state)
    draw_weights(state.units, rng, state.work.vector)
    residuals(state, state.work.vector)


@inner
def errors_given_weights(state: Any, blocks: Any, rng: Any) -> None:
    """The same for packed units, whose weights may be known."""
    if state.trial.bare == 1 and blocks.drawn == 1:
        residuals(state, blocks.weights)
    else:
        draw_errors(state, rng)


@inner
def augmented(state: Any, augment: Any, reweigh: Any, rng: Any) -> None:
    """The likelihood's own update given the errors, and rows weighted by it: a Gibbs step."""
    apply(augment, state, rng)
    apply_to(reweigh, state)
    weigh(state.rows)
    rebuild(state.rows, state.components, state.units, -1, 0.0, state.trial)
    copy_units(state.trial, state.units)


@inner
def marks_room(state: Any) -> int:
    """Marked points there is room for; as many as wanted where there are none."""
    room = state.room
    for c in range(len(state.components)):
        if len(state.components[c].curve.z) > 0:
            room = smaller(room, len(state.components[c].marks))
    return int(room)


@inner
def is_ready(state: Any) -> bool:
    """Whether there is room for the next sweep, in the form that pays for so many units.

    Boxes may add as many units as births are tried, one in each box at least; the Gram matrix of packed units may grow
    to twice what it is.
    """
    units, trial = state.units, state.trial
    need = units.n + state.n_birth_death + 2
    if units.lacking == 1 or trial.lacking == 1:
        return False
    if units.packed == 0:
        return bool(need < len(units.scales) and units.n <= state.most_square)
    enough = need + units.n // 8 + 64 < len(units.scales)
    enough = enough and (trial.bare == 1 or 2 * units.used + 4096 < len(units.gram))
    return bool(enough and units.n >= state.least_packed)


@inner
def anew(state: Any) -> None:
    """Columns and Gram matrix of units that are known by their centers and scales (from left to right if packed)."""
    units, n = state.units, state.units.n
    clear(state.rows, units)
    for k in range(n):
        add(state, units.owner[k], units.centers[k], units.relative[k], units.scales[k])


@inner
def add(state: Any, owner: int, center: Any, g: float, scale: float) -> None:
    """Add a unit; to the right of all there are, if they are packed."""
    if state.units.packed == 1:
        append_right(state.rows, state.components, state.units, owner, center, g, scale)
    else:
        append(state.rows, state.components, state.units, owner, center, g, scale, state.work.cross)


@inner
def start(state: Any, rng: Any) -> None:
    """Units from the prior at the starting levels, as far as there is room: a component's from left to right."""
    clear(state.rows, state.units)
    for c in range(len(state.components)):
        component, center = state.components[c], state.work.center
        set_curve(component)
        level, shape = state.values[component.level], component.shape
        at = next_along(shape, 0.0, level * shape.bound, rng)
        while at < shape.widths[0] and state.units.n + 1 < len(state.units.scales):
            g = draw_others(shape, at, rng, center)
            if uniform(rng) * shape.bound < g:
                add(state, c, center, g, scale_at(component, level * g))
            at = next_along(shape, at, level * shape.bound, rng)
        state.tuning.steps[STEP_MOVE] = 1.0 / scale_at(component, level)


@kernel
def run(
    state: Any,
    block: Any,
    blocks: Any,
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
    block, blocks : work space of births, deaths and moves in blocks, or None
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
        if state.room > marks_room(state) or not is_ready(state) or not has_room(stored, capacity):
            return s
        at = first + s
        if at == n_warmup:
            forget_counts(state.tuning)
        state.tuning.adapt = adaptation(at, n_warmup)
        if augment is not None:
            if blocks is not None:
                errors_given_weights(state, blocks, rng)
            else:
                draw_errors(state, rng)
            augmented(state, augment, reweigh, rng)
        stores = at >= n_warmup and (at - n_warmup) % thin == thin - 1
        joint = stores or (at % JOINT == JOINT - 1 and (at < n_warmup or thin > JOINT))
        if blocks is not None:
            packed_sweep(state, block, blocks, joint, rng)
        else:
            sweep(state, extra, rng)
        if stores:
            if state.trial.bare == 0:
                draw_weights(state.units, rng, state.work.vector)
            elif blocks is not None:
                copy(blocks.weights, state.work.vector, state.units.n + 1)
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
