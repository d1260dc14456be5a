"""Step 1: all weights, centers and the bias together, by Hamiltonian Monte Carlo.

θ = (w, c, b) is moved in whitened coordinates, w / √v_w, c s and b / σ_b, s being the scale of a unit at the level of
the intensity (none of which this step changes), and momenta p ~ N(0, I). A trajectory makes L leapfrog steps

    p ← p + ½ ε ∇ log p(θ | y, K, λ),   θ ← θ + ε p,   p ← p + ½ ε ∇ log p(θ | y, K, λ)

and is accepted with probability min(1, exp(H(θ, p) - H(θ', p'))), H = -log p(θ | y, K, λ) + ½ |p|². A center that
leaves the region is reflected at its edge, its momentum turned round. Every part of a step shears or reflects, so that
volume is kept, and going back from (θ', -p') with the same steps ends in (θ, -p): hence the ratio. Where the
intensity jumps the leapfrog does not see the jump, and the ratio does.

ε is tuned in warm-up by dual averaging (Hoffman and Gelman 2014) until trajectories are accepted as often as is wanted,
and varies by up to a fifth from one trajectory to the next, whatever the state, lest an orbit return to its start.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.random import accept, normal, uniform
from porbnet.kernels.tally import IDLE, outcome
from porbnet.kernels.units import scale_at
from porbnet.sampling.published.state import DUAL_NETWORK
from porbnet.sampling.published.target import copy_network, evaluate, gradient, log_density

JITTER = 0.2  # of the step size
MOST_WIDTHS = 1000.0  # that a center may travel in one step; beyond, the trajectory has diverged
SHRINKAGE, DELAY, FORGETTING, PULL = 0.05, 10.0, 0.75, 0.5  # γ, t0, κ and exp(μ) of dual averaging


@inner
def reflect(place: float, width: float) -> tuple[float, float]:
    """A coordinate folded back into [0, width], and the sign of its momentum."""
    sign = 1.0
    while place < 0.0 or place > width:
        place = -place if place < 0.0 else 2.0 * width - place
        sign = -sign
    return place, sign


@inner
def lengths(state: Any) -> tuple[float, float, float]:
    """Units of the whitened coordinates of centers, weights and bias."""
    component, values = state.components[0], state.values
    weight_sd = math.sqrt(component.weight_factor) * values[component.amplitude]
    return 1.0 / scale_at(component, values[component.level]), weight_sd, math.sqrt(state.rows.bias_variance)


@inner
def draw_momenta(state: Any, network: Any, rng: Any) -> None:
    """Fresh momenta p ~ N(0, I)."""
    motion = state.motion
    motion.bias = normal(rng) if state.rows.has_bias == 1 else 0.0
    for k in range(network.n):
        motion.weight[k] = normal(rng)
        for d in range(network.centers.shape[1]):
            motion.center[k, d] = normal(rng)


@inner
def kinetic(network: Any, motion: Any) -> float:
    """½ |p|²."""
    total = motion.bias * motion.bias
    for k in range(network.n):
        total += motion.weight[k] * motion.weight[k]
        for d in range(network.centers.shape[1]):
            total += motion.center[k, d] * motion.center[k, d]
    return float(0.5 * total)


@inner
def kick(state: Any, network: Any, step: float) -> None:
    """Momenta p ← p + step ∇ log p(θ)."""
    motion = state.motion
    gradient(state, network, motion)
    of_center, of_weight, of_bias = lengths(state)
    motion.bias += step * of_bias * motion.by_bias
    for k in range(network.n):
        motion.weight[k] += step * of_weight * motion.by_weight[k]
        for d in range(network.centers.shape[1]):
            motion.center[k, d] += step * of_center * motion.by_center[k, d]


@inner
def drift(state: Any, network: Any, step: float) -> bool:
    """θ ← θ + step p, centers reflected at the edge; False if a center has gone too far to follow."""
    motion, widths = state.motion, state.plug.widths
    of_center, of_weight, of_bias = lengths(state)
    network.bias += step * of_bias * motion.bias
    for k in range(network.n):
        network.weights[k] += step * of_weight * motion.weight[k]
        for d in range(network.centers.shape[1]):
            way, width = step * of_center * motion.center[k, d], widths[d]
            if not abs(way) < MOST_WIDTHS * width:  # NaN too
                return False
            place, sign = reflect(network.centers[k, d] + way, width)
            network.centers[k, d] = place
            motion.center[k, d] *= sign
    return True


@inner
def leapfrog(state: Any, network: Any, n_steps: int, step: float) -> bool:
    """Leapfrog steps of an evaluated network, which is left evaluated; False if it has diverged."""
    level = state.values[state.components[0].level]
    kick(state, network, 0.5 * step)
    for i in range(n_steps):
        if not drift(state, network, step):
            return False
        evaluate(state, state.plug, level, network)
        # the half kicks of neighbouring steps are one
        kick(state, network, step if i + 1 < n_steps else 0.5 * step)
    return True


@inner
def step_size(state: Any, row: int, rng: Any) -> float:
    """The step of the next trajectory: the last tried in warm-up, their average afterwards; a little different each."""
    log_step = state.dual[row, 0] if state.tuning.adapt > 0.0 else state.dual[row, 1]
    return float(math.exp(log_step) * (1.0 + JITTER * (2.0 * uniform(rng) - 1.0)))


@inner
def dual_average(dual: Any, row: int, probability: float, target: float) -> None:
    """Move a step size towards the wanted acceptance, given the probability of the last trajectory's."""
    state = dual[row]
    state[3] += 1.0
    share = 1.0 / (state[3] + DELAY)
    state[2] = (1.0 - share) * state[2] + share * (target - probability)
    state[0] = math.log(PULL) - math.sqrt(state[3]) / SHRINKAGE * state[2]
    share = state[3] ** -FORGETTING
    state[1] = share * state[0] + (1.0 - share) * state[1]


@inner
def finish(state: Any, row: int, log_ratio: float, rng: Any) -> bool:
    """Accept a trajectory or not, and tune its step."""
    if not abs(log_ratio) < math.inf:  # NaN too: somewhere the numbers ended
        state.tuning.forced += 1
        log_ratio = -math.inf
    accepted = accept(log_ratio, rng)
    if state.tuning.adapt > 0.0:
        dual_average(state.dual, row, math.exp(min(log_ratio, 0.0)), state.target)
    return accepted


@inner
def network_update(state: Any, rng: Any) -> int:
    """One trajectory of all weights, centers and the bias; the network must be evaluated and stays so."""
    network, trial, motion = state.network, state.trial, state.motion
    if network.n == 0 and state.rows.has_bias == 0:
        return IDLE
    copy_network(network, trial)
    draw_momenta(state, trial, rng)
    energy = kinetic(trial, motion) - log_density(state, trial)
    step = step_size(state, DUAL_NETWORK, rng)
    log_ratio = math.nan
    if leapfrog(state, trial, state.n_leapfrog, step):
        log_ratio = energy - kinetic(trial, motion) + log_density(state, trial)
    accepted = finish(state, DUAL_NETWORK, log_ratio, rng)
    if accepted:
        copy_network(trial, network)
    return outcome(0, accepted)
