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

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.birth_death import accept
from porbnet.sampling.collapsed.state import AMPLITUDE, LEVEL, Data, Hyper, Shape
from porbnet.sampling.collapsed.units import scale_at
from porbnet.sampling.published.state import DUAL_NETWORK, NETWORK, Motion, Network, Settings, Tuning
from porbnet.sampling.published.target import copy_network, evaluate, gradient, log_density

JITTER = 0.2  # of the step size
MOST_WIDTHS = 1000.0  # that a center may travel in one step; beyond, the trajectory has diverged
SHRINKAGE, DELAY, FORGETTING, PULL = 0.05, 10.0, 0.75, 0.5  # γ, t0, κ and exp(μ) of dual averaging


@inner_kernel
def reflect(place: float, width: float) -> tuple[float, float]:
    """A coordinate folded back into [0, width], and the sign of its momentum."""
    sign = 1.0
    while place < 0.0 or place > width:
        place = -place if place < 0.0 else 2.0 * width - place
        sign = -sign
    return place, sign


@inner_kernel
def lengths(hyper: Hyper, values: Any, n_dims: int) -> tuple[float, float, float]:
    """Units of the whitened coordinates of centers, weights and bias."""
    weight_sd = math.sqrt(hyper.weight_factor) * values[AMPLITUDE]
    return 1.0 / scale_at(hyper, values[LEVEL], n_dims), weight_sd, math.sqrt(hyper.bias_variance)


@inner_kernel
def draw_momenta(data: Data, network: Network, motion: Motion, rng: Any) -> None:
    """Fresh momenta p ~ N(0, I)."""
    motion.bias[0] = rng.standard_normal() if data.has_bias == 1 else 0.0
    for k in range(network.n[0]):
        motion.weight[k] = rng.standard_normal()
        for d in range(network.centers.shape[1]):
            motion.center[k, d] = rng.standard_normal()


@inner_kernel
def kinetic(network: Network, motion: Motion) -> float:
    """½ |p|²."""
    total = motion.bias[0] * motion.bias[0]
    for k in range(network.n[0]):
        total += motion.weight[k] * motion.weight[k]
        for d in range(network.centers.shape[1]):
            total += motion.center[k, d] * motion.center[k, d]
    return float(0.5 * total)


@inner_kernel
def kick(data: Data, hyper: Hyper, values: Any, network: Network, motion: Motion, step: float) -> None:
    """Momenta p ← p + step ∇ log p(θ)."""
    gradient(data, hyper, values, network, motion)
    of_center, of_weight, of_bias = lengths(hyper, values, network.centers.shape[1])
    motion.bias[0] += step * of_bias * motion.by_bias[0]
    for k in range(network.n[0]):
        motion.weight[k] += step * of_weight * motion.by_weight[k]
        for d in range(network.centers.shape[1]):
            motion.center[k, d] += step * of_center * motion.by_center[k, d]


@inner_kernel
def drift(shape: Shape, hyper: Hyper, values: Any, network: Network, motion: Motion, step: float) -> bool:
    """θ ← θ + step p, centers reflected at the edge; False if a center has gone too far to follow."""
    of_center, of_weight, of_bias = lengths(hyper, values, network.centers.shape[1])
    network.bias[0] += step * of_bias * motion.bias[0]
    for k in range(network.n[0]):
        network.weights[k] += step * of_weight * motion.weight[k]
        for d in range(network.centers.shape[1]):
            way, width = step * of_center * motion.center[k, d], shape.widths[d]
            if not abs(way) < MOST_WIDTHS * width:  # NaN too
                return False
            place, sign = reflect(network.centers[k, d] + way, width)
            network.centers[k, d] = place
            motion.center[k, d] *= sign
    return True


@inner_kernel
def leapfrog(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    values: Any,
    network: Network,
    motion: Motion,
    n_steps: int,
    step: float,
) -> bool:
    """Leapfrog steps of an evaluated network, which is left evaluated; False if it has diverged."""
    kick(data, hyper, values, network, motion, 0.5 * step)
    for i in range(n_steps):
        if not drift(shape, hyper, values, network, motion, step):
            return False
        evaluate(data, shape, hyper, values[LEVEL], network)
        # the half kicks of neighbouring steps are one
        kick(data, hyper, values, network, motion, step if i + 1 < n_steps else 0.5 * step)
    return True


@inner_kernel
def step_size(tuning: Tuning, row: int, adapt: bool, rng: Any) -> float:
    """The step of the next trajectory: the last tried in warm-up, their average afterwards; a little different each."""
    log_step = tuning.dual[row, 0] if adapt else tuning.dual[row, 1]
    return float(math.exp(log_step) * (1.0 + JITTER * (2.0 * rng.random() - 1.0)))


@inner_kernel
def dual_average(tuning: Tuning, row: int, probability: float, target: float) -> None:
    """Move a step size towards the wanted acceptance, given the probability of the last trajectory's."""
    state = tuning.dual[row]
    state[3] += 1.0
    share = 1.0 / (state[3] + DELAY)
    state[2] = (1.0 - share) * state[2] + share * (target - probability)
    state[0] = math.log(PULL) - math.sqrt(state[3]) / SHRINKAGE * state[2]
    share = state[3] ** -FORGETTING
    state[1] = share * state[0] + (1.0 - share) * state[1]


@inner_kernel
def finish(tuning: Tuning, row: int, kind: int, log_ratio: float, target: float, adapt: bool, rng: Any) -> bool:
    """Accept a trajectory or not, count it, and tune its step."""
    tuning.tried[kind] += 1
    if not abs(log_ratio) < math.inf:  # NaN too: somewhere the numbers ended
        tuning.trouble[0] += 1.0
        log_ratio = -math.inf
    accepted = accept(log_ratio, rng)
    if accepted:
        tuning.accepted[kind] += 1
    if adapt:
        dual_average(tuning, row, math.exp(min(log_ratio, 0.0)), target)
    return accepted


@inner_kernel
def network_update(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    settings: Settings,
    values: Any,
    network: Network,
    trial: Network,
    motion: Motion,
    tuning: Tuning,
    adapt: bool,
    rng: Any,
) -> None:
    """One trajectory of all weights, centers and the bias; the network must be evaluated and stays so."""
    if network.n[0] == 0 and data.has_bias == 0:
        return
    copy_network(network, trial)
    draw_momenta(data, trial, motion, rng)
    energy = kinetic(trial, motion) - log_density(data, hyper, values, trial)
    step = step_size(tuning, DUAL_NETWORK, adapt, rng)
    log_ratio = math.nan
    if leapfrog(data, shape, hyper, values, trial, motion, settings.n_leapfrog, step):
        log_ratio = energy - kinetic(trial, motion) + log_density(data, hyper, values, trial)
    if finish(tuning, DUAL_NETWORK, NETWORK, log_ratio, settings.target, adapt, rng):
        copy_network(trial, network)
