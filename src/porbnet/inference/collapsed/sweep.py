"""A sweep: birth, death and moves, then the hyper-parameters; and what is stored of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from porbnet._numba import inlined_kernel
from porbnet._numba import lean_kernel as kernel
from porbnet.inference.collapsed.birth_death import birth_or_death, move
from porbnet.inference.collapsed.gaussian import log_marginal, needs_refresh, refresh
from porbnet.inference.collapsed.levels import is_unknown, level_jump, room_needed, slice_update
from porbnet.inference.collapsed.state import (
    AMPLITUDE,
    NOISE,
    STEP_MOVE,
    Data,
    Hyper,
    Plan,
    Shape,
    Tuning,
    Units,
    Work,
)


class Stored(NamedTuple):
    """Room for the draws of one call.

    counts : (n,) units of each draw
    values : (n, 3) noise, amplitude, level
    log_p : (n,) log marginal likelihood
    biases, mean_biases : (n,) drawn bias and its conditional mean
    centers : (room, n_dims), relative, weights, mean_weights : (room,), one draw after the other
    """

    counts: Any
    values: Any
    log_p: Any
    biases: Any
    mean_biases: Any
    centers: Any
    relative: Any
    weights: Any
    mean_weights: Any


@inlined_kernel
def sweep(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    plan: Plan,
    units: Units,
    trial: Units,
    values: Any,
    tuning: Tuning,
    work: Work,
    adapt: float,
    rng: Any,
) -> float:
    """One sweep; leaves P and m current, the factor of A fresh, and returns log p(y).

    adapt : rate at which step sizes follow the chain, 0 once warm-up is over
    """
    for i in range(max(plan.n_birth_death, plan.n_moves)):
        if needs_refresh(units):
            refresh(data, units, hyper, values, tuning, work.vector)
        if i < plan.n_birth_death:
            birth_or_death(data, shape, hyper, units, values, tuning, work, rng)
        if i < plan.n_moves and units.updates[0] >= 0:
            move(data, shape, hyper, units, values, tuning, work, rng)
    if hyper.level_shape > 0.0:
        log_p = refresh(data, units, hyper, values, tuning, work.vector)
        level_jump(data, shape, hyper, units, trial, values, tuning, work, log_p, adapt, rng)
    for which in range(len(values)):
        if is_unknown(hyper, which):
            slice_update(which, data, shape, hyper, units, trial, values, tuning, work, adapt, rng)
    if adapt > 0.0 and units.n[0] > 0:
        typical = 0.0
        for k in range(units.n[0]):
            typical += math.log(units.scales[k])
        wanted = -typical / units.n[0]
        tuning.steps[STEP_MOVE] = math.exp((1.0 - adapt) * math.log(tuning.steps[STEP_MOVE]) + adapt * wanted)
    if needs_refresh(units):
        return refresh(data, units, hyper, values, tuning, work.vector)
    noise2, weight_variance = values[NOISE] ** 2, hyper.weight_factor * values[AMPLITUDE] ** 2
    log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance, work.vector)
    if log_p == -math.inf:  # the carried P hides it: repair now
        return refresh(data, units, hyper, values, tuning, work.vector)
    return log_p


@kernel
def run(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    plan: Plan,
    units: Units,
    trial: Units,
    values: Any,
    tuning: Tuning,
    work: Work,
    stored: Stored,
    first: int,
    n_sweeps: int,
    n_warmup: int,
    thin: int,
    room: int,
    rng: Any,
) -> tuple[int, int]:
    """Sweeps `first`, `first` + 1, ...; every `thin`-th one after warm-up is stored.

    Stops before a sweep that might need more than the capacity, or a draw that might not fit into `stored`. Returns how
    many sweeps were made and how many draws stored.
    """
    n_stored, used = 0, 0
    capacity = len(units.scales)
    for s in range(n_sweeps):
        if (
            room_needed(shape, hyper, plan.n_birth_death, units, values) > capacity
            or used + capacity > room
            or n_stored >= len(stored.counts)
        ):
            return s, n_stored
        at = first + s
        if at == n_warmup:
            for i in range(len(tuning.tried)):
                tuning.tried[i] = 0
                tuning.accepted[i] = 0
        # the rate falls as 1 / sqrt(sweep), so that the step sizes settle while warm-up lasts
        adapt = 1.0 / math.sqrt(2.0 + at) if at < n_warmup else 0.0
        log_p = sweep(data, shape, hyper, plan, units, trial, values, tuning, work, adapt, rng)
        if at < n_warmup or (at - n_warmup) % thin != thin - 1:
            continue
        n = units.n[0]
        # (b, w) = m + L⁻ᵀ z
        for i in range(n + 1):
            work.vector[i] = rng.standard_normal()
        for i in range(n, -1, -1):
            total = work.vector[i]
            for j in range(i + 1, n + 1):
                total -= units.factor[j, i] * work.vector[j]
            work.vector[i] = total * units.factor[i, i]
        stored.counts[n_stored] = n
        for i in range(len(values)):
            stored.values[n_stored, i] = values[i]
        stored.log_p[n_stored] = log_p
        stored.biases[n_stored] = (units.mean[0] + work.vector[0]) if data.has_bias == 1 else 0.0
        stored.mean_biases[n_stored] = units.mean[0] if data.has_bias == 1 else 0.0
        for k in range(n):
            for d in range(units.centers.shape[1]):
                stored.centers[used + k, d] = units.centers[k, d]
            stored.relative[used + k] = units.relative[k]
            stored.weights[used + k] = units.mean[k + 1] + work.vector[k + 1]
            stored.mean_weights[used + k] = units.mean[k + 1]
        used += n
        n_stored += 1
    return n_sweeps, n_stored
