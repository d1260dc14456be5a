"""Step 3 ii): the Gaussian process h of the intensity, by Hamiltonian Monte Carlo in whitened form.

The paper moves the values of h at all events, K units and M thinned ones, whitened. Here h is the same finite process
as everywhere in the package (`functions.grid_gp`): h at the knots of a grid is linear in coefficients z ~ N(0, I), and
g = sigmoid(h) is multilinear between them. The trajectory is one of z, which is white already and has the same
length whatever the number of events; the model is then to the letter that of the collapsed sampler. The target is

    log p(z | units, events, y) = -½ |z|² + Σ_k log g(c_k) + Σ_m log(1 - g(c̃_m)) - ½ Σ_n e_n² / σ²,

the likelihood depending on z through the scales. Its gradient runs back along the same way: by g at each event (for a
unit ∂ log L / ∂g + 1/g, see `target`; for a thinned event -1/(1 - g)), spread over the knots around it, times g (1 - g)
at the knots, times the transposed basis.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.process import expand
from porbnet.kernels.random import normal
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import outcome
from porbnet.kernels.units import set_intensity
from porbnet.kernels.views import part
from porbnet.sampling.published.hmc import finish, step_size
from porbnet.sampling.published.state import DUAL_CURVE
from porbnet.sampling.published.target import by_intensity, copy_network, corner_of, evaluate, sum_of_squares, unit_sums
from porbnet.sampling.published.thinning import thinned_share


@hot
def contract(curve: Any, by_knot: Any, by_z: Any) -> None:
    """Transpose of `expand`: set by_z = Bᵀ by_knot, one basis after the other, axis by axis."""
    n_dims, ranks = len(curve.sizes), curve.ranks[0]
    left, right, start = 1, 1, 0
    for d in range(n_dims):
        left *= curve.sizes[d]
        start += curve.sizes[d] * ranks[d]
    source, target = 0, 1
    for i in range(left):
        curve.buffers[source, i] = by_knot[i]
    for d in range(n_dims - 1, -1, -1):
        rank, size = ranks[d], curve.sizes[d]
        left //= size
        start -= size * rank
        # the tensor is (left, size, right); it becomes (left, rank, right)
        for a in range(left):
            for m in range(rank):
                basis = part(curve.bases, start + m * size, start + (m + 1) * size)
                for r in range(right):
                    total = 0.0
                    for g in range(size):
                        total += basis[g] * curve.buffers[source, (a * size + g) * right + r]
                    curve.buffers[target, (a * rank + m) * right + r] = total
        right *= rank
        source, target = target, source
    for i in range(len(by_z)):
        by_z[i] = curve.buffers[source, i]


@inner
def spread(shape: Any, place: Any, amount: float, by_knot: Any) -> None:
    """Add an amount at a place to the knots around it, by their shares."""
    for corner in range(1 << len(place)):
        share, index = corner_of(shape, place, corner)
        by_knot[index] += share * amount


@inner
def evaluate_curve(state: Any, network: Any) -> None:
    """The intensity of path.z, and the network under it."""
    component, path = state.components[0], state.path
    expand(component.curve, path.z, path.table)
    set_intensity(component.curve, path.table, path.shape)
    evaluate(state, path.shape, state.values[component.level], network)


@inner
def curve_log_density(state: Any, network: Any) -> float:
    """Log p(z | units, events, y), up to a constant; all must be evaluated."""
    path, thinned, noise = state.path, state.thinned, state.values[NOISE]
    total, z = -0.5 * sum_of_squares(network) / (noise * noise), path.z
    for i in range(len(z)):
        total -= 0.5 * z[i] * z[i]
    for k in range(network.n):
        total += math.log(network.relative[k])
    for m in range(thinned.n):
        total += math.log(thinned_share(path.shape, thinned.places[m]))
    return float(total)


@hot
def curve_gradient(state: Any, network: Any) -> None:
    """Gradient of `curve_log_density` into path.by_z."""
    component, path, thinned = state.components[0], state.path, state.thinned
    noise = state.values[NOISE]
    precision, x, by_knot = 1.0 / (noise * noise), component.x, path.by_knot
    for i in range(len(by_knot)):
        by_knot[i] = 0.0
    for k in range(network.n):
        second = unit_sums(x, network, k, path.vector)[1]
        amount = by_intensity(network, k, second, precision, x.shape[0]) + 1.0 / network.relative[k]
        spread(path.shape, network.centers[k], amount, by_knot)
    for m in range(thinned.n):
        share = thinned_share(path.shape, thinned.places[m])
        spread(path.shape, thinned.places[m], -1.0 / share, by_knot)
    values = path.shape.values
    for i in range(len(by_knot)):
        g = values[i]
        by_knot[i] *= g * (1.0 - g)
    contract(component.curve, by_knot, path.by_z)
    for i in range(len(path.z)):
        path.by_z[i] -= path.z[i]


@inner
def curve_kick(state: Any, network: Any, step: float) -> None:
    """Momenta p ← p + step ∇ log p(z)."""
    curve_gradient(state, network)
    path = state.path
    for i in range(len(path.z)):
        path.momentum[i] += step * path.by_z[i]


@inner
def curve_leapfrog(state: Any, network: Any, n_steps: int, step: float) -> None:
    """Leapfrog steps of path.z and path.momentum; all must be evaluated and stay so."""
    curve_kick(state, network, 0.5 * step)
    path = state.path
    for i in range(n_steps):
        for j in range(len(path.z)):
            path.z[j] += step * path.momentum[j]
        evaluate_curve(state, network)
        curve_kick(state, network, step if i + 1 < n_steps else 0.5 * step)


@inner
def curve_energy(state: Any, network: Any) -> float:
    """H = -log p(z | units, events, y) + ½ |p|²."""
    total, momentum = -curve_log_density(state, network), state.path.momentum
    for i in range(len(momentum)):
        total += 0.5 * momentum[i] * momentum[i]
    return float(total)


@inner
def curve_update(state: Any, rng: Any) -> int:
    """One trajectory of z; the network must be evaluated under the current intensity, and stays so."""
    network, trial, component = state.network, state.trial, state.components[0]
    path = state.path
    curve, shape = component.curve, component.shape
    copy_network(network, trial)
    for i in range(len(curve.z)):
        path.z[i] = curve.z[i]
        path.momentum[i] = normal(rng)
    for i in range(len(curve.table)):
        path.shape.values[i] = shape.values[i]
    energy = curve_energy(state, trial)
    step = step_size(state, DUAL_CURVE, rng)
    curve_leapfrog(state, trial, state.n_leapfrog_curve, step)
    log_ratio = energy - curve_energy(state, trial)
    accepted = finish(state, DUAL_CURVE, log_ratio, rng)
    if accepted:
        for i in range(len(curve.z)):
            curve.z[i] = path.z[i]
        for i in range(len(curve.table)):
            curve.table[i] = path.table[i]
            shape.values[i] = path.shape.values[i]
        shape.integral = path.shape.integral
        copy_network(trial, network)
    return outcome(0, accepted)
