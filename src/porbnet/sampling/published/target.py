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

from porbnet.base.compiled import hot, inner
from porbnet.kernels.state import NOISE, TABLE
from porbnet.kernels.units import fill_column, relative_intensity, scale_at, weight_variance
from porbnet.kernels.views import part, row_part


@inner
def intensity_and_slope(shape: Any, center: Any, slope: Any) -> float:
    """Relative intensity g at a center in the box; its derivative into `slope` (of a step function zero)."""
    n_dims = len(center)
    for d in range(n_dims):
        slope[d] = 0.0
    if shape.kind != TABLE:
        return relative_intensity(shape, center)
    total = 0.0
    for corner in range(1 << n_dims):
        share, value = corner_of(shape, center, corner)
        knot = shape.values[value]
        total += share * knot
        for d in range(n_dims):
            slope[d] += knot * corner_slope(shape, center, corner, d)
    return total


@inner
def corner_of(shape: Any, center: Any, corner: int) -> tuple[float, int]:
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


@inner
def corner_slope(shape: Any, center: Any, corner: int, along: int) -> float:
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


@inner
def place_unit(state: Any, shape: Any, level: float, network: Any, k: int) -> None:
    """Intensity, scale and column of unit k, from its center."""
    component = state.components[0]
    g = intensity_and_slope(shape, network.centers[k], network.slope[k])
    scale = scale_at(component, level * g)
    network.relative[k] = g
    network.scales[k] = scale
    low, high = fill_column(state.rows, component, network.centers[k], scale, network.columns[k])
    network.low[k] = low
    network.high[k] = high


@hot
def add_unit(network: Any, k: int, weight: float) -> None:
    """Add a weight times unit k's column to f: take it from the residual."""
    low = network.low[k]
    reached, column = part(network.residual, low, network.high[k]), network.columns[k]
    for i in range(len(reached)):
        reached[i] -= weight * column[i]


@hot
def evaluate(state: Any, shape: Any, level: float, network: Any) -> None:
    """Everything that follows from centers, weights and bias under an intensity."""
    rows, residual = state.rows, network.residual
    bias = network.bias if rows.has_bias == 1 else 0.0
    y, root = rows.y, rows.root
    for i in range(len(y)):
        residual[i] = y[i] - bias * root[i]
    for k in range(network.n):
        place_unit(state, shape, level, network, k)
        add_unit(network, k, network.weights[k])


@hot
def sum_of_squares(network: Any) -> float:
    """Squared length of the residual."""
    total, residual = 0.0, network.residual
    for i in range(len(residual)):
        total += residual[i] * residual[i]
    return total


@inner
def log_density(state: Any, network: Any) -> float:
    """Log p(w, c, b | y, K, λ), up to a constant; the network must be evaluated."""
    squares, logs = 0.0, 0.0
    for k in range(network.n):
        squares += network.weights[k] * network.weights[k]
        logs += math.log(network.relative[k])
    rows, noise = state.rows, state.values[NOISE]
    bias = network.bias if rows.has_bias == 1 else 0.0
    return float(
        -0.5 * sum_of_squares(network) / (noise * noise)
        - 0.5 * squares / weight_variance(state.components[0], state.values)
        - 0.5 * bias * bias / rows.bias_variance
        + logs
    )


@hot
def unit_sums(x: Any, network: Any, k: int, first: Any) -> tuple[float, float]:
    """Sums over the observations: Σ e φ and Σ e φ r² of unit k, and Σ e φ (x - c) into `first`."""
    low, high = network.low[k], network.high[k]
    e, column = part(network.residual, low, high), network.columns[k]
    total, second = 0.0, 0.0
    for i in range(len(e)):
        total += e[i] * column[i]
    for d in range(len(first)):
        along, c = row_part(x, d, low, high), network.centers[k, d]
        moment = 0.0
        for i in range(len(e)):
            gap = along[i] - c
            v = e[i] * column[i] * gap
            moment += v
            second += v * gap
        first[d] = moment
    return total, second


@inner
def by_intensity(network: Any, k: int, second: float, precision: float, n_dims: int) -> float:
    """∂ log L / ∂g of unit k, through its scale: ∂/∂s_k · s_k / (D g)."""
    s = network.scales[k]
    return float(-network.weights[k] * s * s * precision * second / (n_dims * network.relative[k]))


@hot
def gradient(state: Any, network: Any, motion: Any) -> None:
    """Gradient of `log_density` into `motion`; the network must be evaluated."""
    rows, component, noise = state.rows, state.components[0], state.values[NOISE]
    precision = 1.0 / (noise * noise)
    variance, n_dims = weight_variance(component, state.values), component.x.shape[0]
    motion.by_bias = 0.0
    if rows.has_bias == 1:
        total, residual, root = 0.0, network.residual, rows.root
        for i in range(len(residual)):
            total += residual[i] * root[i]
        motion.by_bias = total * precision - network.bias / rows.bias_variance
    for k in range(network.n):
        w, s = network.weights[k], network.scales[k]
        total, second = unit_sums(component.x, network, k, motion.by_center[k])
        motion.by_weight[k] = total * precision - w / variance
        along = w * s * s * precision
        through_g = by_intensity(network, k, second, precision, n_dims) + 1.0 / network.relative[k]
        for d in range(n_dims):
            motion.by_center[k, d] = along * motion.by_center[k, d] + through_g * network.slope[k, d]


@inner
def copy_unit(source: Any, k: int, target: Any, j: int) -> None:
    """Unit k of one network as unit j of another."""
    for d in range(source.centers.shape[1]):
        target.centers[j, d] = source.centers[k, d]
        target.slope[j, d] = source.slope[k, d]
    target.weights[j] = source.weights[k]
    target.relative[j] = source.relative[k]
    target.scales[j] = source.scales[k]
    target.low[j] = source.low[k]
    target.high[j] = source.high[k]
    old, new = source.columns[k], target.columns[j]
    for i in range(source.high[k] - source.low[k]):
        new[i] = old[i]


@inner
def copy_network(source: Any, target: Any) -> None:
    """A whole network."""
    target.n = source.n
    target.bias = source.bias
    for k in range(source.n):
        copy_unit(source, k, target, k)
    old, new = source.residual, target.residual
    for i in range(len(old)):
        new[i] = old[i]
