"""A sweep, one iteration of the paper's algorithm, and what is stored of it.

    Step 1   weights, centers and bias: one trajectory (`hmc`)
    Step 2   width: births and deaths (`birth_death`)
    Step 3   intensity: the level of a constant one (`level`); or, where it is unknown and varies, thinned events
             (`thinning`), a trajectory of the Gaussian process (`curve`) and the level λ*
    beyond   noise and amplitude (`noise`)

Exact: Steps 1 and 2 hold the current intensity, and every step leaves the joint law of network, events, intensity,
noise and amplitude invariant. Plug-in: Step 3 is made several times, and the average λ̂ of the intensities drawn holds
in Steps 1 and 2 of the next sweep. Then no law is left invariant to the letter.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inlined_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.state import AMPLITUDE, LEVEL, Data, Hyper, Shape
from porbnet.sampling.collapsed.sweep import Stored
from porbnet.sampling.collapsed.units import draw_center, poisson
from porbnet.sampling.published.birth_death import birth_or_death
from porbnet.sampling.published.curve import curve_update
from porbnet.sampling.published.hmc import network_update
from porbnet.sampling.published.level import level_update
from porbnet.sampling.published.noise import amplitude_update, noise_update
from porbnet.sampling.published.state import Settings, State, Tuning
from porbnet.sampling.published.target import evaluate
from porbnet.sampling.published.thinning import draw_thinned, move_thinned, thinned_birth_or_death

START = 0.3  # weights and bias of a chain's first network, over their prior sd


@kernel
def start(data: Data, shape: Shape, hyper: Hyper, state: State, values: Any, rng: Any) -> None:
    """A first network from the prior, its weights small, as far as there is room; and thinned events."""
    network, level = state.network, values[LEVEL]
    n = min(poisson(level * shape.integral[0], rng), len(network.weights) - 1)
    weight_sd = START * math.sqrt(hyper.weight_factor) * values[AMPLITUDE]
    for k in range(n):
        draw_center(shape, rng, network.centers[k])
        network.weights[k] = weight_sd * rng.standard_normal()
    network.n[0] = n
    network.bias[0] = START * math.sqrt(hyper.bias_variance) * rng.standard_normal() if data.has_bias == 1 else 0.0
    evaluate(data, shape, hyper, level, network)
    if len(state.field.z) > 0:
        draw_thinned(shape, level, state.thinned, rng)


@inlined_kernel
def refresh(data: Data, hyper: Hyper, state: State, level: float, tuning: Tuning) -> None:
    """Evaluate the network afresh, and note how far its residual had drifted through births and deaths."""
    network, carried = state.network, state.trial.residual
    for i in range(len(carried)):
        carried[i] = network.residual[i]
    evaluate(data, state.plug, hyper, level, network)
    largest, drift = 1e-300, 0.0
    for i in range(len(carried)):
        largest = max(largest, abs(network.residual[i]))
        drift = max(drift, abs(network.residual[i] - carried[i]))
    tuning.trouble[1] = max(tuning.trouble[1], drift / largest)


@inlined_kernel
def intensity_step(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    settings: Settings,
    state: State,
    values: Any,
    tuning: Tuning,
    adapt: float,
    rng: Any,
) -> None:
    """Step 3; leaves the network evaluated under `state.plug`."""
    network, thinned, curve, total = state.network, state.thinned, state.curve, state.curve.total
    has_curve, averaged = len(state.field.z) > 0, settings.n_average > 1
    if has_curve and averaged:
        evaluate(data, shape, hyper, values[LEVEL], network)
        for i in range(len(total)):
            total[i] = 0.0
    for _ in range(settings.n_average if has_curve else 1):
        if has_curve:
            for _ in range(settings.n_thinned):
                thinned_birth_or_death(shape, values[LEVEL], thinned, tuning, rng)
            move_thinned(shape, thinned, tuning, rng)
            curve_update(
                data, shape, hyper, settings, values, state.field, curve, network, state.trial, thinned, tuning,
                adapt > 0.0, rng,
            )  # fmt: skip
        if hyper.level_shape > 0.0:
            level_update(data, shape, hyper, values, network, state.trial, thinned, has_curve, tuning, adapt, rng)
        if has_curve and averaged:
            for i in range(len(total)):
                total[i] += values[LEVEL] * shape.values[i]
    if has_curve and averaged:
        integral = 0.0
        for i in range(len(total)):
            state.plug.values[i] = total[i] / (settings.n_average * values[LEVEL])
            integral += state.field.area[i] * state.plug.values[i]
        state.plug.integral[0] = integral
        evaluate(data, state.plug, hyper, values[LEVEL], network)


@inlined_kernel
def sweep(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    settings: Settings,
    state: State,
    values: Any,
    tuning: Tuning,
    adapt: float,
    rng: Any,
) -> None:
    """One sweep.

    shape : the intensity as it is drawn; `state.plug` is the one that Steps 1 and 2 see, the same if exact
    adapt : rate at which random walks' steps follow the chain, 0 once warm-up is over
    """
    refresh(data, hyper, state, values[LEVEL], tuning)
    network_update(
        data, state.plug, hyper, settings, values, state.network, state.trial, state.motion, tuning, adapt > 0.0, rng
    )
    uniform = len(state.field.z) > 0
    for _ in range(settings.n_birth_death):
        birth_or_death(data, state.plug, hyper, values, uniform, state.network, tuning, rng)
    intensity_step(data, shape, hyper, settings, state, values, tuning, adapt, rng)
    if hyper.noise_log_sd > 0.0:
        noise_update(hyper, values, state.network, data.totals[2], tuning, adapt, rng)
    if hyper.amplitude_log_sd > 0.0:
        amplitude_update(hyper, values, state.network, tuning, adapt, rng)


@inlined_kernel
def room_needed(settings: Settings, state: State) -> tuple[int, int]:
    """Units and thinned events that a sweep may need room for, one place of each for proposals."""
    return state.network.n[0] + settings.n_birth_death + 1, (
        state.thinned.n[0] + settings.n_average * settings.n_thinned + 1
    )


@kernel
def run(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    settings: Settings,
    state: State,
    values: Any,
    tuning: Tuning,
    stored: Stored,
    first: int,
    n_sweeps: int,
    n_warmup: int,
    thin: int,
    rng: Any,
) -> tuple[int, int]:
    """Sweeps `first`, `first` + 1, ...; every `thin`-th one after warm-up is stored.

    Stops before a sweep that might need more room than there is, or a draw that might not fit into `stored`. Returns
    how many sweeps were made and how many draws stored.
    """
    n_stored, used = 0, 0
    capacity, room = len(state.network.weights), len(stored.weights)
    for s in range(n_sweeps):
        n_units, n_events = room_needed(settings, state)
        if n_units > capacity or used + capacity > room or n_stored >= len(stored.counts):
            return s, n_stored
        if len(state.field.z) > 0 and n_events > len(state.thinned.places):
            return s, n_stored
        at = first + s
        if at == n_warmup:
            for i in range(len(tuning.tried)):
                tuning.tried[i] = 0
                tuning.accepted[i] = 0
            tuning.trouble[0] = 0.0
        adapt = 1.0 / math.sqrt(2.0 + at) if at < n_warmup else 0.0
        sweep(data, shape, hyper, settings, state, values, tuning, adapt, rng)
        if at >= n_warmup and (at - n_warmup) % thin == thin - 1:
            store(data, state, values, stored, n_stored, used)
            used += state.network.n[0]
            n_stored += 1
    return n_sweeps, n_stored


@inlined_kernel
def store(data: Data, state: State, values: Any, stored: Stored, at: int, used: int) -> None:
    """Keep the current state as draw `at`, its units from place `used` on; what is left is filled by `conditional`."""
    network, n = state.network, state.network.n[0]
    stored.counts[at] = n
    stored.biases[at] = network.bias[0] if data.has_bias == 1 else 0.0
    for i in range(len(values)):
        stored.values[at, i] = values[i]
    for i in range(len(state.field.z)):
        stored.intensity_z[at, i] = state.field.z[i]
    for k in range(n):
        for d in range(network.centers.shape[1]):
            stored.centers[used + k, d] = network.centers[k, d]
        stored.relative[used + k] = network.relative[k]
        stored.weights[used + k] = network.weights[k]
