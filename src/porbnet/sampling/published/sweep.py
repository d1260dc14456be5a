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

from porbnet.base.compiled import inner, kernel
from porbnet.kernels.random import is_unknown, normal, poisson
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import tally
from porbnet.kernels.units import draw_center, set_curve
from porbnet.sampling.published.birth_death import birth_or_death
from porbnet.sampling.published.curve import curve_update
from porbnet.sampling.published.hmc import network_update
from porbnet.sampling.published.level import level_update
from porbnet.sampling.published.parameters import amplitude_update, noise_update
from porbnet.sampling.published.target import evaluate
from porbnet.sampling.published.thinning import draw_thinned, move_thinned, thinned_birth_or_death
from porbnet.sampling.stored import adaptation, forget_counts, has_room, store_common

START = 0.3  # weights and bias of a chain's first network, over their prior sd

# kinds of moves in the order in which they are counted; the first of each step's kinds is named below
KINDS = (
    "network", "birth", "death", "thinned birth", "thinned death", "thinned move", "intensity", "level", "noise",
    "amplitude",
)  # fmt: skip
NETWORK, BIRTH_DEATH, THINNED, THINNED_MOVE, CURVE, LEVEL, NOISE_STEP, AMPLITUDE = 0, 1, 3, 5, 6, 7, 8, 9


@inner
def start(state: Any, rng: Any) -> None:
    """A first network from the prior, its weights small, as far as there is room; and thinned events."""
    network, component, has_bias = state.network, state.components[0], state.rows.has_bias == 1
    shape, level = component.shape, state.values[component.level]
    n = min(poisson(level * shape.integral, rng), len(network.weights) - 1)
    weight_sd = START * math.sqrt(component.weight_factor) * state.values[component.amplitude]
    for k in range(n):
        draw_center(shape, rng, network.centers[k])
        network.weights[k] = weight_sd * normal(rng)
    network.n = n
    network.bias = START * math.sqrt(state.rows.bias_variance) * normal(rng) if has_bias else 0.0
    evaluate(state, shape, level, network)
    if len(component.curve.z) > 0:
        draw_thinned(shape, level, state.thinned, rng)


@inner
def refresh(state: Any) -> None:
    """Evaluate the network afresh, and note how far its residual had drifted through births and deaths."""
    network, carried = state.network, state.trial.residual
    for i in range(len(carried)):
        carried[i] = network.residual[i]
    evaluate(state, state.plug, state.values[state.components[0].level], network)
    largest, drift, residual = 1e-300, 0.0, network.residual
    for i in range(len(carried)):
        largest = max(largest, abs(residual[i]))
        drift = max(drift, abs(residual[i] - carried[i]))
    state.tuning.drift = max(state.tuning.drift, drift / largest)


@inner
def intensity_step(state: Any, rng: Any) -> None:
    """Step 3; leaves the network evaluated under `state.plug`."""
    component, network, total = state.components[0], state.network, state.path.total
    plug = state.plug
    shape, has_curve, averaged = component.shape, len(component.curve.z) > 0, state.n_average > 1
    if has_curve and averaged:
        evaluate(state, shape, state.values[component.level], network)
        for i in range(len(total)):
            total[i] = 0.0
    for _ in range(state.n_average if has_curve else 1):
        if has_curve:
            for _ in range(state.n_thinned):
                tally(state, THINNED, thinned_birth_or_death(state, rng))
            move_thinned(state, THINNED_MOVE, rng)
            tally(state, CURVE, curve_update(state, rng))
        if is_unknown(state.laws, component.level):
            tally(state, LEVEL, level_update(state, rng))
        if has_curve and averaged:
            for i in range(len(total)):
                total[i] += state.values[component.level] * shape.values[i]
    if has_curve and averaged:
        integral, level, area = 0.0, state.values[component.level], component.curve.area
        for i in range(len(total)):
            plug.values[i] = total[i] / (state.n_average * level)
            integral += area[i] * plug.values[i]
        plug.integral = integral
        evaluate(state, plug, level, network)


@inner
def sweep(state: Any, rng: Any) -> None:
    """One sweep; Steps 1 and 2 see the intensity `state.plug`, which is the component's own if the sampler is exact."""
    refresh(state)
    tally(state, NETWORK, network_update(state, rng))
    for _ in range(state.n_birth_death):
        tally(state, BIRTH_DEATH, birth_or_death(state, rng))
    intensity_step(state, rng)
    if is_unknown(state.laws, NOISE):
        noise_update(state, NOISE_STEP, rng)
    if is_unknown(state.laws, state.components[0].amplitude):
        amplitude_update(state, AMPLITUDE, rng)


@inner
def is_full(state: Any) -> bool:
    """Whether a sweep might need more room than there is; one place of each for proposals."""
    n_units = state.network.n + state.n_birth_death + 1
    n_events = state.thinned.n + state.n_average * state.n_thinned + 1
    no_places = len(state.components[0].curve.z) > 0 and n_events > len(state.thinned.places)
    return bool(no_places or n_units > len(state.network.weights))


@kernel
def run(state: Any, stored: Any, first: int, n_sweeps: int, n_warmup: int, thin: int, rng: Any) -> int:
    """Sweeps `first`, `first` + 1, ...; every `thin`-th one after warm-up is stored.

    A negative `first` is about the start: -1 sets the intensity of the current curve, -2 draws a first network.

    Stops before a sweep that might need more room than there is, or a draw that might not fit into `stored`. Returns
    how many sweeps were made.
    """
    if first == -1:
        set_curve(state.components[0])
        return 0
    if first == -2:
        start(state, rng)
        return 0
    for s in range(n_sweeps):
        if is_full(state) or not has_room(stored, len(state.network.weights)):
            return s
        at = first + s
        if at == n_warmup:
            forget_counts(state.tuning)
            state.tuning.forced = 0
        state.tuning.adapt = adaptation(at, n_warmup)
        sweep(state, rng)
        if at >= n_warmup and (at - n_warmup) % thin == thin - 1:
            store(state, stored)
    return n_sweeps


@inner
def store(state: Any, stored: Any) -> None:
    """Keep the current state as the next draw; what is left is filled by `conditional`."""
    network = state.network
    store_common(state, stored, network, network.bias if state.rows.has_bias == 1 else 0.0)
    for k in range(network.n):
        stored.owner[stored.used + k] = 0
        stored.weights[stored.used + k] = network.weights[k]
    stored.n += 1
    stored.used += network.n
