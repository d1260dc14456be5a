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

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.field import set_intensity
from porbnet.sampling.collapsed.process import expand
from porbnet.sampling.collapsed.state import LEVEL, NOISE, Data, Field, Hyper, Shape
from porbnet.sampling.published.hmc import finish, step_size
from porbnet.sampling.published.state import CURVE as CURVE_MOVE
from porbnet.sampling.published.state import DUAL_CURVE, Curve, Network, Settings, Thinned, Tuning
from porbnet.sampling.published.target import by_intensity, copy_network, corner_of, evaluate, sum_of_squares, unit_sums
from porbnet.sampling.published.thinning import thinned_share


@inner_kernel
def contract(field: Field, by_knot: Any, by_z: Any) -> None:
    """Transpose of `expand`: set by_z = Bᵀ by_knot, one basis after the other, axis by axis."""
    n_dims, ranks = len(field.sizes), field.ranks[0]
    left, right, start = 1, 1, 0
    for d in range(n_dims):
        left *= field.sizes[d]
        start += field.sizes[d] * ranks[d]
    source, target = 0, 1
    for i in range(left):
        field.buffers[source, i] = by_knot[i]
    for d in range(n_dims - 1, -1, -1):
        rank, size = ranks[d], field.sizes[d]
        left //= size
        start -= size * rank
        # the tensor is (left, size, right); it becomes (left, rank, right)
        for a in range(left):
            for m in range(rank):
                basis = field.bases[start + m * size : start + (m + 1) * size]
                for r in range(right):
                    total = 0.0
                    for g in range(size):
                        total += basis[g] * field.buffers[source, (a * size + g) * right + r]
                    field.buffers[target, (a * rank + m) * right + r] = total
        right *= rank
        source, target = target, source
    for i in range(len(by_z)):
        by_z[i] = field.buffers[source, i]


@inner_kernel
def spread(shape: Shape, place: Any, amount: float, by_knot: Any) -> None:
    """Add an amount at a place to the knots around it, by their shares."""
    for corner in range(1 << len(place)):
        share, index = corner_of(shape, place, corner)
        by_knot[index] += share * amount


@inner_kernel
def evaluate_curve(data: Data, hyper: Hyper, values: Any, field: Field, curve: Curve, network: Network) -> None:
    """The intensity of curve.z, and the network under it."""
    expand(field, curve.z, curve.table)
    set_intensity(curve.table, field.area, curve.shape)
    evaluate(data, curve.shape, hyper, values[LEVEL], network)


@inner_kernel
def curve_log_density(values: Any, curve: Curve, network: Network, thinned: Thinned) -> float:
    """Log p(z | units, events, y), up to a constant; all must be evaluated."""
    total = -0.5 * sum_of_squares(network) / (values[NOISE] * values[NOISE])
    for i in range(len(curve.z)):
        total -= 0.5 * curve.z[i] * curve.z[i]
    for k in range(network.n[0]):
        total += math.log(network.relative[k])
    for m in range(thinned.n[0]):
        total += math.log(thinned_share(curve.shape, thinned.places[m]))
    return float(total)


@inner_kernel
def curve_gradient(data: Data, values: Any, field: Field, curve: Curve, network: Network, thinned: Thinned) -> None:
    """Gradient of `curve_log_density` into curve.by_z."""
    precision = 1.0 / (values[NOISE] * values[NOISE])
    n_dims = data.x.shape[0]
    for i in range(len(curve.by_knot)):
        curve.by_knot[i] = 0.0
    for k in range(network.n[0]):
        second = unit_sums(data, network, k, curve.vector)[1]
        amount = by_intensity(network, k, second, precision, n_dims) + 1.0 / network.relative[k]
        spread(curve.shape, network.centers[k], amount, curve.by_knot)
    for m in range(thinned.n[0]):
        share = thinned_share(curve.shape, thinned.places[m])
        spread(curve.shape, thinned.places[m], -1.0 / share, curve.by_knot)
    for i in range(len(curve.by_knot)):
        g = curve.shape.values[i]
        curve.by_knot[i] *= g * (1.0 - g)
    contract(field, curve.by_knot, curve.by_z)
    for i in range(len(curve.z)):
        curve.by_z[i] -= curve.z[i]


@inner_kernel
def curve_kick(
    data: Data, values: Any, field: Field, curve: Curve, network: Network, thinned: Thinned, step: float
) -> None:
    """Momenta p ← p + step ∇ log p(z)."""
    curve_gradient(data, values, field, curve, network, thinned)
    for i in range(len(curve.z)):
        curve.momentum[i] += step * curve.by_z[i]


@inner_kernel
def curve_leapfrog(
    data: Data,
    hyper: Hyper,
    values: Any,
    field: Field,
    curve: Curve,
    network: Network,
    thinned: Thinned,
    n_steps: int,
    step: float,
) -> None:
    """Leapfrog steps of curve.z and curve.momentum; all must be evaluated and stay so."""
    curve_kick(data, values, field, curve, network, thinned, 0.5 * step)
    for i in range(n_steps):
        for j in range(len(curve.z)):
            curve.z[j] += step * curve.momentum[j]
        evaluate_curve(data, hyper, values, field, curve, network)
        curve_kick(data, values, field, curve, network, thinned, step if i + 1 < n_steps else 0.5 * step)


@inner_kernel
def curve_energy(values: Any, curve: Curve, network: Network, thinned: Thinned) -> float:
    """H = -log p(z | units, events, y) + ½ |p|²."""
    total = -curve_log_density(values, curve, network, thinned)
    for i in range(len(curve.momentum)):
        total += 0.5 * curve.momentum[i] * curve.momentum[i]
    return float(total)


@inner_kernel
def curve_update(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    settings: Settings,
    values: Any,
    field: Field,
    curve: Curve,
    network: Network,
    trial: Network,
    thinned: Thinned,
    tuning: Tuning,
    adapt: bool,
    rng: Any,
) -> None:
    """One trajectory of z; the network must be evaluated under `shape`, the intensity of field.z, and stays so."""
    copy_network(network, trial)
    for i in range(len(field.z)):
        curve.z[i] = field.z[i]
        curve.momentum[i] = rng.standard_normal()
    for i in range(len(field.table)):
        curve.shape.values[i] = shape.values[i]
    energy = curve_energy(values, curve, trial, thinned)
    step = step_size(tuning, DUAL_CURVE, adapt, rng)
    curve_leapfrog(data, hyper, values, field, curve, trial, thinned, settings.n_leapfrog_intensity, step)
    log_ratio = energy - curve_energy(values, curve, trial, thinned)
    if finish(tuning, DUAL_CURVE, CURVE_MOVE, log_ratio, settings.target, adapt, rng):
        for i in range(len(field.z)):
            field.z[i] = curve.z[i]
        for i in range(len(field.table)):
            field.table[i] = curve.table[i]
            shape.values[i] = curve.shape.values[i]
        shape.integral[0] = curve.shape.integral[0]
        copy_network(trial, network)
