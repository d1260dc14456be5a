"""A faster way to evaluate one-dimensional networks whose units share a scale, through a grid.

The unit is an integral of two narrower ones, whose integrand is so smooth that a sum over a grid of step h gives it to
rounding (error 2 exp(-π² / 2s²h²), 4e-16 for s h = 0.37):

    exp(-½ s² (x - c)²) = s h √(2/π) Σ_g exp(-s² (x - g)²) exp(-s² (g - c)²)

So each unit is spread over the 32 nodes around its center, and each point gathers from the 32 nodes around it. The cost
is that of 32 (units + points) products instead of units times points. The factor at the points is computed once; the
one at the centers comes from a table of polynomials in the center's place between two nodes.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import fast_exp, hot, kernel

_STEP = 0.37  # s h
_NODES = 32  # beyond 16 nodes exp(-s² (g - c)²) is below 1e-15
_SUBCELLS = 8
_TERMS = 8  # of the polynomial in each eighth of a cell: relative error 1e-16
_U = np.uint64  # unsigned indices need no test for negative ones, which would keep loops from being vectorised


class GridPlan(NamedTuple):
    """What depends on the points and the scale alone.

    origin, step : the node with index zero, and the distance between nodes
    first : shape (n_points,), index of the first of the nodes that a point gathers from
    factors : shape (n_points, 32), s h √(2/π) exp(-s² (x - g)²) at those nodes
    table : shape (8 · 8 · 32,), coefficients of exp(-s² (g - c)²) by eighth of a cell, power and node
    n_nodes : nodes in all, with room at both ends
    """

    origin: float
    step: float
    first: Any
    factors: FloatArray
    table: FloatArray
    n_nodes: int


def grid_plan(points: FloatArray, scale: float) -> GridPlan | None:
    """The plan for sorted points, or None where there are too few points for the grid to pay."""
    step = _STEP / scale
    spanned = (points[-1] - points[0]) / step if len(points) else math.inf
    if not spanned + _NODES <= len(points):
        return None
    n_nodes = math.ceil(spanned) + 3 * _NODES
    origin = float(points[0] - 1.5 * _NODES * step)
    first = np.empty(len(points), dtype=np.uint64)
    factors = np.empty((len(points), _NODES))
    gather_factors(points, origin, step, scale, first, factors)
    return GridPlan(origin, step, first, factors, spread_table(), n_nodes)


@functools.cache
def spread_table() -> FloatArray:
    """Coefficients, flat, by subcell, power and node, of exp(-s² (g - c)²) as polynomials in v, -1 ≤ v < 1.

    v is the center's place within an eighth of the cell between two nodes; fitted at Chebyshev points.
    """
    chebyshev = np.polynomial.chebyshev
    places = chebyshev.chebpts1(_TERMS)
    nodes = np.arange(_NODES) - (_NODES // 2 - 1)
    rows = []
    for subcell in range(_SUBCELLS):
        fraction = (subcell + 0.5 + 0.5 * places) / _SUBCELLS
        values = np.exp(-((_STEP * (nodes[None, :] - fraction[:, None])) ** 2))
        fitted = chebyshev.chebfit(places, values, _TERMS - 1)
        rows.append(np.stack([chebyshev.cheb2poly(fitted[:, j]) for j in range(_NODES)], axis=1))
    return np.concatenate(rows).ravel().astype(np.float64)


@kernel
def gather_factors(points: Any, origin: float, step: float, scale: float, first: Any, factors: Any) -> None:
    """Fill `first` and `factors` of the plan."""
    half = _NODES // 2 - 1
    for i in range(len(points)):
        cell = math.floor((points[i] - origin) / step)
        first[i] = _U(int(cell) - half)
        rest = (points[i] - origin) - cell * step
        for j in range(_NODES):
            distance = scale * (rest - (j - half) * step)
            factors[i, j] = _STEP * math.sqrt(2.0 / math.pi) * fast_exp(-distance * distance)


@hot
def locate(
    centers: Any, weights: Any, origin: float, step: float, n_nodes: int, node: Any, row: Any, v: Any, w: Any
) -> None:
    """First node, first row of the table, place in the eighth of a cell, and weight of every unit."""
    per_step = 1.0 / step
    last = float(n_nodes - _NODES)
    for k in range(len(weights)):
        place = centers[k, 0] - origin
        cell = math.floor(place * per_step)
        first = cell - (_NODES // 2 - 1.0)
        near = (first >= 0.0) & (first <= last)  # else too far from every point to matter
        eighths = _SUBCELLS * ((place - cell * step) * per_step)
        subcell = math.floor(min(max(eighths, 0.0), _SUBCELLS - 0.5))
        v[k] = 2.0 * (eighths - subcell) - 1.0
        row[k] = int(subcell) * (_TERMS * _NODES)
        node[k] = int(first) if near else 0
        w[k] = weights[k] if near else 0.0


@hot
def spread(grid: Any, table: Any, a: int, b: int, node: Any, row: Any, v: Any, w: Any, n_each: int) -> None:
    """Put units a to b on the grid; `n_each` is 32, as a variable so that the loop is vectorised and not unrolled."""
    for i in range(len(grid)):
        grid[i] = 0.0
    line = _U(_NODES)
    for k in range(a, b):
        vk, wk, start, r0 = v[k], w[k], _U(node[k]), _U(row[k])
        r1, r2, r3, r4 = r0 + line, r0 + _U(2) * line, r0 + _U(3) * line, r0 + _U(4) * line
        r5, r6, r7 = r4 + line, r4 + _U(2) * line, r4 + _U(3) * line
        for j in range(_U(n_each)):
            p = table[r7 + j]
            p = p * vk + table[r6 + j]
            p = p * vk + table[r5 + j]
            p = p * vk + table[r4 + j]
            p = p * vk + table[r3 + j]
            p = p * vk + table[r2 + j]
            p = p * vk + table[r1 + j]
            p = p * vk + table[r0 + j]
            grid[start + j] += wk * p


@hot
def gather(grid: Any, first: Any, factors: Any, bias: float, n_each: int, out: Any) -> None:
    """out[i] = bias + Σ_j factors[i, j] grid[first[i] + j]."""
    for i in range(len(first)):
        start = first[i]
        total = 0.0
        for j in range(_U(n_each)):
            total += grid[start + j] * factors[i, j]
        out[i] = bias + total


@kernel
def evaluate_on_grid(
    origin: float,
    step: float,
    first: Any,
    factors: Any,
    table: Any,
    n_nodes: int,
    offsets: Any,
    centers: Any,
    weights: Any,
    biases: Any,
    n_each: int,
    grid: Any,
    node: Any,
    row: Any,
    v: Any,
    w: Any,
    out: Any,
) -> None:
    """Values of networks, stored flat between offsets, at the points of a plan; out of shape (n_networks, n_points).

    grid : (n_nodes,), node, row, v, w : (n_units,) work space
    """
    locate(centers, weights, origin, step, n_nodes, node, row, v, w)
    for m in range(len(biases)):
        spread(grid, table, offsets[m], offsets[m + 1], node, row, v, w, n_each)
        gather(grid, first, factors, biases[m], n_each, out[m])


def evaluate_with(
    plan: GridPlan, offsets: Any, centers: FloatArray, weights: FloatArray, biases: FloatArray, out: FloatArray
) -> None:
    """Values of networks at the points of a plan, into `out`."""
    n = len(weights)
    places, rows = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    work = np.empty(plan.n_nodes), places, rows, np.empty(n), np.empty(n)
    evaluate_on_grid(*plan, offsets, centers, weights, biases, _NODES, *work, out)
