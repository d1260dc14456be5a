"""A straight line (a plane) in f: slopes β_d ~ N(0, τ_d²), taken off the outputs that the units explain.

    f(x) = b + Σ_d β_d (x_d - middle_d) + Σ_k w_k φ_k(x)

Given the units, bias and weights are integrated out, and what is left is Gaussian in one slope at a time. With x the
weighted column of the slope, y the weighted outputs less the current line, g = Φᵀx, and A = LLᵀ, m of `gaussian`, an
increment δ of β has

    precision  r = xᵀx/σ² - |L⁻¹ g/σ²|² + 1/τ²,      mean  (xᵀy/σ² - gᵀm/σ² - β/τ²) / r

and is drawn from that: a Gibbs step. The line leaves A as it is; m moves by -δ A⁻¹ g/σ².

Rows that stand for several observations do so for a line too: sums of x², of x and y and of both with a unit are among
those that they keep (`sampling.compression`).
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner, kernel
from porbnet.kernels.factor import solve, solve_transposed
from porbnet.kernels.random import normal
from porbnet.kernels.state import NOISE
from porbnet.kernels.views import part


@hot
def take_line_off(rows: Any, component: Any) -> None:
    """Set rows.line to that of the slopes, and weighted outputs and their square to what it leaves."""
    x, widths, line, slopes = component.x, component.shape.widths, rows.line, rows.slopes
    y, root, outputs = rows.y, rows.root, rows.outputs
    for i in range(len(line)):
        line[i] = 0.0
    for d in range(len(slopes)):
        along, slope, middle = x[d], slopes[d], 0.5 * widths[d]
        for i in range(len(line)):
            line[i] += slope * (along[i] - middle)
    square, within = 0.0, rows.within
    for i in range(len(line)):
        value = (outputs[i] - line[i]) * root[i]
        y[i] = value
        square += value * value + within[i] * root[i] * root[i]
    rows.square = square


@kernel
def line_taken_off(rows: Any, component: Any) -> None:
    """The same, from Python."""
    take_line_off(rows, component)


@hot
def with_slope(state: Any, d: int, out: Any) -> tuple[float, float]:
    """Out = Φᵀx for the weighted column x of a slope; returns xᵀx and xᵀy."""
    rows, units, component = state.rows, state.units, state.components[0]
    along, middle = component.x[d], 0.5 * component.shape.widths[d]
    column, root, y = state.work.column, rows.root, rows.y
    square, with_y, with_bias = 0.0, 0.0, 0.0
    for i in range(len(y)):
        v = (along[i] - middle) * root[i]
        column[i] = v
        square += v * v
        with_y += v * y[i]
        with_bias += v * root[i]
    out[0] = with_bias if rows.has_bias == 1 else 0.0
    for k in range(units.n):
        low, values, total = units.low[k], units.columns[k], 0.0
        mine = part(column, low, units.high[k])
        for i in range(units.high[k] - low):
            total += values[i] * mine[i]
        out[k + 1] = total
    return square, with_y


@inner
def slope_updates(state: Any, rng: Any) -> None:
    """Every slope given the others and the units; m and the factor of A must be current, and are left so."""
    rows, units, cross = state.rows, state.units, state.work.cross
    precision = 1.0 / (state.values[NOISE] * state.values[NOISE])
    for d in range(len(rows.slopes)):
        square, with_y = with_slope(state, d, cross)
        n, ordered, order, mean = units.n + 1, units.ordered, units.order, units.mean
        fit, taken = 0.0, 0.0
        for i in range(n):
            ordered[i] = cross[order[i]] * precision
            fit += cross[i] * mean[i]
        solve(units, ordered)
        for i in range(n):
            taken += ordered[i] * ordered[i]
        spread2 = rows.slope_sd[d] * rows.slope_sd[d]
        r = square * precision - taken + 1.0 / spread2
        if not r > 0.0:  # rounding has won: it stays as it is
            continue
        step = ((with_y - fit) * precision - rows.slopes[d] / spread2) / r + normal(rng) / math.sqrt(r)
        solve_transposed(units, ordered)
        for i in range(n):
            mean[order[i]] -= step * ordered[i]
            units.moment[i] -= step * cross[i]
        rows.slopes[d] += step
        take_line_off(rows, state.components[0])


@inner
def slopes_given_weights(state: Any, residual: Any, rng: Any) -> None:
    """Every slope given bias and weights; `residual`, of the weighted outputs, must be current, and is left so."""
    rows, component = state.rows, state.components[0]
    precision = 1.0 / (state.values[NOISE] * state.values[NOISE])
    root = rows.root
    for d in range(len(rows.slopes)):
        along, middle = component.x[d], 0.5 * component.shape.widths[d]
        square, with_rest = 0.0, 0.0
        for i in range(len(root)):
            v = (along[i] - middle) * root[i]
            square += v * v
            with_rest += v * residual[i]
        spread2 = rows.slope_sd[d] * rows.slope_sd[d]
        r = square * precision + 1.0 / spread2
        step = (with_rest * precision - rows.slopes[d] / spread2) / r + normal(rng) / math.sqrt(r)
        for i in range(len(root)):
            residual[i] -= step * (along[i] - middle) * root[i]
        rows.slopes[d] += step
    take_line_off(rows, component)
