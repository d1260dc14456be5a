"""A sweep: birth, death and moves, then hyper-parameters and curves; and what is stored of it."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from porbnet.base.compiled import inlined_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.birth_death import birth_or_death, move
from porbnet.sampling.collapsed.field import elliptical_update
from porbnet.sampling.collapsed.gaussian import log_marginal, needs_refresh, refit, refresh
from porbnet.sampling.collapsed.levels import is_unknown, level_jump, room_needed, slice_update
from porbnet.sampling.collapsed.residuals import draw_weights, errors_update
from porbnet.sampling.collapsed.state import (
    AMPLITUDE,
    FIELD_CENTERED,
    FIELD_MARKED,
    NOISE,
    STEP_MOVE,
    Data,
    Hyper,
    Plan,
    Shape,
    Trial,
    Tuning,
    Units,
    Varying,
    Work,
)


class Stored(NamedTuple):
    """Room for the draws of one call.

    counts : (n,) units of each draw
    values : (n, 4) noise, amplitude, level, degrees of freedom
    log_p : (n,) log marginal likelihood
    biases, mean_biases : (n,) drawn bias and its conditional mean
    intensity_z, noise_z : (n, n_coefficients) of the curves
    row_weight : (n, n_points) of Student-t errors, or (n, 0)
    centers : (room, n_dims), relative, weights, mean_weights : (room,), one draw after the other
    """

    counts: Any
    values: Any
    log_p: Any
    biases: Any
    mean_biases: Any
    intensity_z: Any
    noise_z: Any
    row_weight: Any
    centers: Any
    relative: Any
    weights: Any
    mean_weights: Any


@inlined_kernel
def update_values_and_curve(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    plan: Plan,
    units: Units,
    varying: Varying,
    trial: Trial,
    values: Any,
    tuning: Tuning,
    work: Work,
    adapt: float,
    rng: Any,
) -> None:
    """Hyper-parameters, the intensity's curve and its law."""
    if hyper.level_shape > 0.0:
        log_p = refit(data, units, hyper, values, tuning)
        level_jump(data, shape, hyper, units, trial.units, values, tuning, work, log_p, adapt, rng)
    for which in range(len(values)):
        if is_unknown(hyper, which):
            slice_update(which, data, shape, hyper, units, trial.units, values, tuning, adapt, rng)
    if len(varying.intensity.z) == 0:
        return
    noise2 = values[NOISE] * values[NOISE]
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance)
    n_updates = plan.n_centered + plan.n_marked
    for i in range(n_updates + (2 if varying.intensity.spreads.shape[1] > 0 else 0)):
        of_law = i >= n_updates
        # those of the law are of the first and the last kind
        kind = i if not of_law else (0 if i == n_updates else n_updates - 1)
        which = FIELD_CENTERED if kind < plan.n_centered else FIELD_MARKED
        log_p = elliptical_update(which, of_law, data, shape, hyper, units, varying, trial, values, tuning, log_p, rng)


@inlined_kernel
def sweep(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    plan: Plan,
    units: Units,
    varying: Varying,
    trial: Trial,
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
            refresh(data, units, hyper, values, tuning)
        if i < plan.n_birth_death:
            birth_or_death(data, shape, hyper, units, values, tuning, work, rng)
        if i < plan.n_moves and units.updates[0] >= 0:
            move(data, shape, hyper, units, values, tuning, work, rng)
    update_values_and_curve(data, shape, hyper, plan, units, varying, trial, values, tuning, work, adapt, rng)
    if adapt > 0.0 and units.n[0] > 0:
        typical = 0.0
        for k in range(units.n[0]):
            typical += math.log(units.scales[k])
        wanted = -typical / units.n[0]
        tuning.steps[STEP_MOVE] = math.exp((1.0 - adapt) * math.log(tuning.steps[STEP_MOVE]) + adapt * wanted)
    log_p = -math.inf
    if not needs_refresh(units):
        noise2 = values[NOISE] * values[NOISE]
        weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
        log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance)
    if log_p == -math.inf:  # P is stale, or carried updates hide that A is not positive definite
        log_p = refresh(data, units, hyper, values, tuning)
    return log_p


@kernel
def run(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    plan: Plan,
    units: Units,
    varying: Varying,
    trial: Trial,
    values: Any,
    tuning: Tuning,
    work: Work,
    stored: Stored,
    first: int,
    n_sweeps: int,
    n_warmup: int,
    thin: int,
    with_errors: Any,
    rng: Any,
) -> tuple[int, int]:
    """Sweeps `first`, `first` + 1, ...; every `thin`-th one after warm-up is stored.

    with_errors : None, or anything to update the noise curve or the tails of the errors

    Stops before a sweep that might need more than the capacity, or a draw that might not fit into `stored`. Returns how
    many sweeps were made and how many draws stored.
    """
    n_stored, used = 0, 0
    capacity, room = len(units.scales), len(stored.weights)
    for s in range(n_sweeps):
        need = room_needed(shape, hyper, plan.n_birth_death, units, values, len(varying.intensity.z) > 0)
        if need > capacity or used + capacity > room or n_stored >= len(stored.counts):
            return s, n_stored
        at = first + s
        if at == n_warmup:
            for i in range(len(tuning.tried)):
                tuning.tried[i] = 0
                tuning.accepted[i] = 0
        # the rate falls as 1 / sqrt(sweep), so that the step sizes settle while warm-up lasts
        adapt = 1.0 / math.sqrt(2.0 + at) if at < n_warmup else 0.0
        if with_errors is not None:
            # a constant None is seen when compiling: without a noise curve or heavy tails this is left out
            refresh(data, units, hyper, values, tuning)
            errors_update(data, hyper, units, varying, trial, values, work, rng)
        log_p = sweep(data, shape, hyper, plan, units, varying, trial, values, tuning, work, adapt, rng)
        if at >= n_warmup and (at - n_warmup) % thin == thin - 1:
            draw_weights(units, rng, work.vector)
            store(data, units, varying, values, log_p, work.vector, stored, n_stored, used)
            used += units.n[0]
            n_stored += 1
    return n_sweeps, n_stored


@inlined_kernel
def store(
    data: Data,
    units: Units,
    varying: Varying,
    values: Any,
    log_p: float,
    weights: Any,
    stored: Stored,
    at: int,
    used: int,
) -> None:
    """Keep the current state as draw `at`, its units from place `used` on."""
    n = units.n[0]
    stored.counts[at] = n
    stored.log_p[at] = log_p
    stored.biases[at] = weights[0] if data.has_bias == 1 else 0.0
    stored.mean_biases[at] = units.mean[0] if data.has_bias == 1 else 0.0
    for i in range(len(values)):
        stored.values[at, i] = values[i]
    for i in range(len(varying.intensity.z)):
        stored.intensity_z[at, i] = varying.intensity.z[i]
    for i in range(len(varying.noise.z)):
        stored.noise_z[at, i] = varying.noise.z[i]
    for i in range(len(varying.row_weight)):
        stored.row_weight[at, i] = varying.row_weight[i]
    for k in range(n):
        for d in range(units.centers.shape[1]):
            stored.centers[used + k, d] = units.centers[k, d]
        stored.relative[used + k] = units.relative[k]
        stored.weights[used + k] = weights[k + 1]
        stored.mean_weights[used + k] = units.mean[k + 1]
