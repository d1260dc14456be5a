"""Moments of f at new points, draw by draw, with the weights integrated out (Rao-Blackwell).

Given a draw's centers and parameters, f(x) is Gaussian with mean φ(x)ᵀm and variance φ(x)ᵀPφ(x); m and P come from
`conditional_weights`. The points are taken in blocks, so that memory does not grow with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, kernel
from porbnet.base.records import Record
from porbnet.kernels.state import IntArray
from porbnet.kernels.units import unit_values
from porbnet.kernels.vectors import larger, smaller
from porbnet.kernels.views import part, row_part
from porbnet.posterior.conditional_weights import Given

_BLOCK_POINTS = 2048  # new points handled at a time


class Block(Record):
    """Work space for a block of new points.

    columns : (capacity, block length) unit values
    low, high : (capacity,) windows
    mean, variance : (block length,) of f
    """

    columns: FloatArray
    low: IntArray
    high: IntArray
    mean: FloatArray
    variance: FloatArray


@hot
def block_moments(x: Any, start: int, stop: int, given: Any, draw: int, block: Any) -> None:
    """Mean and variance of f at the points [start, stop) of sorted inputs x, given a draw's units."""
    columns, packed, bias = block.columns, given.packed, given.bias
    units, weights, place = given.offsets[draw], given.offsets[draw] + draw, given.starts[draw]
    for i in range(stop - start):
        block.mean[i] = bias * given.means[weights]
        block.variance[i] = bias * packed[place]
    for d in range(given.slopes.shape[1]):
        slope, middle, along = given.slopes[draw, d], given.middle[d], row_part(x, d, start, stop)
        for i in range(stop - start):
            block.mean[i] += slope * (along[i] - middle)
    for k in range(given.offsets[draw + 1] - units):
        a, b = unit_values(x, 1, start, stop, given.centers[units + k], given.scales[units + k], columns[k])
        block.low[k], block.high[k] = a, b
        place += k + 1  # row k + 1 of P: with the bias, with the units before, its own
        weight, column = given.means[weights + k + 1], columns[k]
        own, with_bias = packed[place + k + 1], 2.0 * bias * packed[place]
        mean, variance = part(block.mean, a - start, b - start), part(block.variance, a - start, b - start)
        for i in range(b - a):
            v = column[i]
            mean[i] += weight * v
            variance[i] += v * (own * v + with_bias)
        for j in range(k):
            shift = block.low[j]
            first, last = larger(a, shift), smaller(b, block.high[j])
            if first < last:
                p = 2.0 * packed[place + j + 1]
                mine, other = (
                    row_part(columns, k, first - a, last - a),
                    row_part(columns, j, first - shift, last - shift),
                )
                variance = part(block.variance, first - start, last - start)
                for i in range(last - first):
                    variance[i] += p * mine[i] * other[i]


@kernel
def moments_kernel(given: Any, x: Any, block: Any, sums: Any, means: Any, variances: Any) -> None:
    """Moments of f over draws at new points x, shape (n_dims, n_points), sorted by the first coordinate."""
    n_points, length = x.shape[1], len(block.mean)
    for draw in range(len(given.offsets) - 1):
        for start in range(0, n_points, length):
            stop = smaller(start + length, n_points)
            block_moments(x, start, stop, given, draw, block)
            for i in range(stop - start):
                sums[0, start + i] += block.mean[i]
                sums[1, start + i] += block.mean[i] * block.mean[i]
                sums[2, start + i] += block.variance[i]
            if means.shape[0] > 0:
                for i in range(stop - start):
                    means[draw, start + i] = block.mean[i]
                    variances[draw, start + i] = block.variance[i]


def add_moments(given: Given, x: FloatArray, sums: FloatArray, means: FloatArray, variances: FloatArray) -> None:
    """Add Σ mean, Σ mean² and Σ variance of f over some draws to `sums`, shape (3, n_points).

    x : (n_dims, n_points) in standard coordinates, sorted by the first coordinate
    means, variances : (n_draws, n_points), set to those of each draw; or with no rows
    """
    capacity, length = int(np.diff(given.offsets).max(initial=0)) + 1, min(_BLOCK_POINTS, max(x.shape[1], 1))
    block = Block(
        columns=np.empty((capacity, length)),
        low=np.zeros(capacity, dtype=np.int64),
        high=np.zeros(capacity, dtype=np.int64),
        mean=np.empty(length),
        variance=np.empty(length),
    )
    moments_kernel(given, x, block, sums, means, variances)
