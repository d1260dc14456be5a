"""The log density of the network given its width and the intensity, and its gradient (the target of Step 1).

With e_n = y_n - f(x_n), r_nk² = ‖x_n - c_k‖², φ_nk = exp(-½ s_k² r_nk²) and s_k = s0 (λ* g(c_k))^(1/D),

    log p(w, c, b | y, K, λ) = -½ Σ e_n² / σ² - ½ b² / σ_b² - ½ Σ w_k² / v_w + Σ log g(c_k) + constant

    ∂/∂b    = Σ_n e_n / σ² - b / σ_b²
    ∂/∂w_k  = Σ_n e_n φ_nk / σ² - w_k / v_w
    ∂/∂s_k  = -(w_k s_k / σ²) Σ_n e_n φ_nk r_nk²
    ∂/∂c_k  = (w_k s_k² / σ²) Σ_n e_n φ_nk (x_n - c_k) + ∂/∂s_k · (s_k / D g) ∇g(c_k) + ∇g(c_k) / g(c_k)

The second term of the last line is the scale's dependence on the center where the intensity varies. An observation
of weight ω counts with √ω e_n and √ω φ_nk in place of e_n and φ_nk.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.state import AMPLITUDE, NOISE, Data, Hyper, Shape
from porbnet.sampling.collapsed.units import fill_column, relative_intensity, scale_at
from porbnet.sampling.published.state import Motion, Network


@inner_kernel
def intensity_and_slope(shape: Shape, center: Any, slope: Any) -> float:
    """Relative intensity g at a center in the box; its derivative into `slope` (of a step function zero)."""
    n_dims = len(center)
    for d in range(n_dims):
        slope[d] = 0.0
    if shape.kind != 2:
        return relative_intensity(shape, center)
    total = 0.0
    for corner in range(1 << n_dims):
        share, value = corner_of(shape, center, corner)
        knot = shape.values[value]
        total += share * knot
        for d in range(n_dims):
            slope[d] += knot * corner_slope(shape, center, corner, d)
    return total


@inner_kernel
def corner_of(shape: Shape, center: Any, corner: int) -> tuple[float, int]:
    """Share and place in the table of one of the 2^D knots around a center."""
    share, index = 1.0, 0
    for d in range(len(center)):
        cells = shape.sizes[d] - 1
        position = min(max(center[d] / shape.widths[d], 0.0), 1.0) * cells
        cell = min(int(position), cells - 1)
        bit = (corner >> d) & 1
        share *= position - cell if bit == 1 else 1.0 - (position - cell)
        index = index * shape.sizes[d] + cell + bit
    return share, index


@inner_kernel
def corner_slope(shape: Shape, center: Any, corner: int, along: int) -> float:
    """Derivative of a knot's share by one coordinate of the center."""
    product = 1.0
    for d in range(len(center)):
        cells = shape.sizes[d] - 1
        bit = (corner >> d) & 1
        if d == along:
            rate = cells / shape.widths[d]
            product *= rate if bit == 1 else -rate
        else:
            position = min(max(center[d] / shape.widths[d], 0.0), 1.0) * cells
            cell = min(int(position), cells - 1)
            product *= position - cell if bit == 1 else 1.0 - (position - cell)
    return float(product)


@inner_kernel
def place_unit(data: Data, shape: Shape, hyper: Hyper, level: float, network: Network, k: int) -> None:
    """Intensity, scale and column of unit k, from its center."""
    g = intensity_and_slope(shape, network.centers[k], network.slope[k])
    scale = scale_at(hyper, level * g, network.centers.shape[1])
    network.relative[k] = g
    network.scales[k] = scale
    low, high = fill_column(data, network.centers[k], scale, network.columns[k])
    network.low[k] = low
    network.high[k] = high


@inner_kernel
def add_unit(network: Network, k: int, weight: float) -> None:
    """Add a weight times unit k's column to f: take it from the residual."""
    low = network.low[k]
    part, column = network.residual[low : network.high[k]], network.columns[k]
    for i in range(len(part)):
        part[i] -= weight * column[i]


@inner_kernel
def evaluate(data: Data, shape: Shape, hyper: Hyper, level: float, network: Network) -> None:
    """Everything that follows from centers, weights and bias under an intensity."""
    bias = network.bias[0] if data.has_bias == 1 else 0.0
    for i in range(len(data.y)):
        network.residual[i] = data.y[i] - bias * data.root_weight[i]
    for k in range(network.n[0]):
        place_unit(data, shape, hyper, level, network, k)
        add_unit(network, k, network.weights[k])


@inner_kernel
def sum_of_squares(network: Network) -> float:
    """Squared length of the residual."""
    total = 0.0
    for i in range(len(network.residual)):
        total += network.residual[i] * network.residual[i]
    return total


@inner_kernel
def log_density(data: Data, hyper: Hyper, values: Any, network: Network) -> float:
    """Log p(w, c, b | y, K, λ), up to a constant; the network must be evaluated."""
    squares, logs = 0.0, 0.0
    for k in range(network.n[0]):
        squares += network.weights[k] * network.weights[k]
        logs += math.log(network.relative[k])
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    bias = network.bias[0] if data.has_bias == 1 else 0.0
    return float(
        -0.5 * sum_of_squares(network) / (values[NOISE] * values[NOISE])
        - 0.5 * squares / weight_variance
        - 0.5 * bias * bias / hyper.bias_variance
        + logs
    )


@inner_kernel
def unit_sums(data: Data, network: Network, k: int, first: Any) -> tuple[float, float]:
    """Sums over the observations: Σ e φ and Σ e φ r² of unit k, and Σ e φ (x - c) into `first`."""
    low, high = network.low[k], network.high[k]
    e, column = network.residual[low:high], network.columns[k]
    total, second = 0.0, 0.0
    for i in range(len(e)):
        total += e[i] * column[i]
    for d in range(len(first)):
        x, c = data.x[d, low:high], network.centers[k, d]
        moment = 0.0
        for i in range(len(e)):
            gap = x[i] - c
            v = e[i] * column[i] * gap
            moment += v
            second += v * gap
        first[d] = moment
    return total, second


@inner_kernel
def by_intensity(network: Network, k: int, second: float, precision: float, n_dims: int) -> float:
    """∂ log L / ∂g of unit k, through its scale: ∂/∂s_k · s_k / (D g)."""
    s = network.scales[k]
    return float(-network.weights[k] * s * s * precision * second / (n_dims * network.relative[k]))


@inner_kernel
def gradient(data: Data, hyper: Hyper, values: Any, network: Network, motion: Motion) -> None:
    """Gradient of `log_density` into `motion`; the network must be evaluated."""
    precision = 1.0 / (values[NOISE] * values[NOISE])
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    n_dims = data.x.shape[0]
    motion.by_bias[0] = 0.0
    if data.has_bias == 1:
        total = 0.0
        for i in range(len(data.y)):
            total += network.residual[i] * data.root_weight[i]
        motion.by_bias[0] = total * precision - network.bias[0] / hyper.bias_variance
    for k in range(network.n[0]):
        w, s = network.weights[k], network.scales[k]
        total, second = unit_sums(data, network, k, motion.by_center[k])
        motion.by_weight[k] = total * precision - w / weight_variance
        along = w * s * s * precision
        through_g = by_intensity(network, k, second, precision, n_dims) + 1.0 / network.relative[k]
        for d in range(n_dims):
            motion.by_center[k, d] = along * motion.by_center[k, d] + through_g * network.slope[k, d]


@inner_kernel
def copy_unit(source: Network, k: int, target: Network, j: int) -> None:
    """Unit k of one network as unit j of another."""
    for d in range(source.centers.shape[1]):
        target.centers[j, d] = source.centers[k, d]
        target.slope[j, d] = source.slope[k, d]
    target.weights[j] = source.weights[k]
    target.relative[j] = source.relative[k]
    target.scales[j] = source.scales[k]
    target.low[j] = source.low[k]
    target.high[j] = source.high[k]
    for i in range(source.high[k] - source.low[k]):
        target.columns[j, i] = source.columns[k, i]


@inner_kernel
def copy_network(source: Network, target: Network) -> None:
    """A whole network."""
    target.n[0] = source.n[0]
    target.bias[0] = source.bias[0]
    for k in range(source.n[0]):
        copy_unit(source, k, target, k)
    for i in range(len(source.residual)):
        target.residual[i] = source.residual[i]
