"""Moments of f at new points, draw by draw, with the weights integrated out (Rao-Blackwell).

Given a draw's centers and parameters, f(x) is Gaussian with mean φ(x)ᵀm and variance φ(x)ᵀPφ(x). m and P are computed
anew from the observations, once per draw; the points are taken in blocks, so that memory does not grow with them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import Passed, apply_to, hot, inner, kernel
from porbnet.base.records import Record
from porbnet.kernels.gaussian import refresh, weigh
from porbnet.kernels.state import IntArray, State
from porbnet.kernels.units import unit_values
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.kernels.views import part, row_part
from porbnet.sampling.draw_state import StoredDraws, conditional_state, put_draw, stored_draws
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.lean import lean_for_draws
from porbnet.sampling.problem import Problem

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
def block_moments(x: Any, start: int, stop: int, state: Any, block: Any) -> None:
    """Mean and variance of f at the points [start, stop) of sorted inputs x, for the current m and P."""
    units, columns, inverse = state.units, block.columns, state.units.inverse
    bias = 1.0 if state.rows.has_bias == 1 else 0.0
    for i in range(stop - start):
        block.mean[i] = bias * units.mean[0]
        block.variance[i] = bias * inverse[0, 0]
    for k in range(units.n):
        a, b = unit_values(x, 1, start, stop, units.centers[k], units.scales[k], columns[k])
        block.low[k], block.high[k] = a, b
        weight, column = units.mean[k + 1], columns[k]
        own, with_bias = inverse[k + 1, k + 1], 2.0 * bias * inverse[k + 1, 0]
        mean, variance = part(block.mean, a - start, b - start), part(block.variance, a - start, b - start)
        for i in range(b - a):
            v = column[i]
            mean[i] += weight * v
            variance[i] += v * (own * v + with_bias)
        for j in range(k):
            shift = block.low[j]
            first, last = larger(a, shift), smaller(b, block.high[j])
            if first < last:
                p = 2.0 * inverse[k + 1, j + 1]
                mine, other = (
                    row_part(columns, k, first - a, last - a),
                    row_part(columns, j, first - shift, last - shift),
                )
                variance = part(block.variance, first - start, last - start)
                for i in range(last - first):
                    variance[i] += p * mine[i] * other[i]


@inner
def prepare(state: Any, draws: Any, draw: int) -> None:
    """Units, m and P of one stored draw, for rows weighted as it says."""
    put_draw(state, draws, draw, draws.offsets[draw], draws.offsets[draw + 1])
    refresh(state)


@kernel
def moments_kernel(
    state: Any, draws: Any, first: int, last: int, reweigh: Any, x: Any, block: Any, sums: Any, means: Any,
    variances: Any,
) -> None:  # fmt: skip
    """Moments of f over draws [first, last) at new points x, shape (n_dims, n_points), sorted by the first coordinate.

    Without points, the last of the draws is left in `state`.
    """
    n_points, length = x.shape[1], len(block.mean)
    for draw in range(first, last):
        if reweigh is not None:  # seen when compiling
            copy(draws.kept[draw], state.errors.kept, len(state.errors.kept))
            apply_to(reweigh, state)
            weigh(state.rows)
        prepare(state, draws, draw)
        for start in range(0, n_points, length):
            stop = smaller(start + length, n_points)
            block_moments(x, start, stop, state, block)
            for i in range(stop - start):
                sums[0, start + i] += block.mean[i]
                sums[1, start + i] += block.mean[i] * block.mean[i]
                sums[2, start + i] += block.variance[i]
            if means.shape[0] > 0:
                for i in range(stop - start):
                    means[draw - first, start + i] = block.mean[i]
                    variances[draw - first, start + i] = block.variance[i]


class DrawMoments:
    """Moments of f given the units of some draws.

    Parameters
    ----------
    problem : Problem
    draws : ChainDraws
    first, last : the draws [first, last)
    """

    def __init__(self, problem: Problem, draws: ChainDraws, first: int, last: int) -> None:
        self.first, self.last = first, last
        self.capacity = int(draws.counts[first:last].max(initial=0)) + 1
        problem = lean_for_draws(problem, draws)
        self.state: State = conditional_state(problem, self.capacity)
        self.draws: StoredDraws = stored_draws(draws)
        weigh_kernel = problem.likelihood.weigh
        self.reweigh = None if weigh_kernel is None else Passed(weigh_kernel)

    def _block(self, length: int) -> Block:
        return Block(
            columns=np.empty((self.capacity, length)),
            low=np.zeros(self.capacity, dtype=np.int64),
            high=np.zeros(self.capacity, dtype=np.int64),
            mean=np.empty(length),
            variance=np.empty(length),
        )

    def sums(self, x: FloatArray, keep: tuple[FloatArray, FloatArray] | None = None) -> FloatArray:
        """Σ mean, Σ mean² and Σ variance over the draws, shape (3, n_points), at points in standard coordinates.

        x : (n_dims, n_points), sorted by the first coordinate
        keep : mean and variance of all draws of the posterior, of which the rows of these draws are set
        """
        empty, sums = np.empty((0, 0)), np.zeros((3, x.shape[1]))
        block = self._block(min(_BLOCK_POINTS, max(x.shape[1], 1)))
        means, variances = (empty, empty) if keep is None else (k[self.first : self.last] for k in keep)
        moments_kernel(self.state, self.draws, self.first, self.last, self.reweigh, x, block, sums, means, variances)
        return sums

    def at(self, draw: int) -> State:
        """The state of one draw, with m and P."""
        none = np.empty((self.state.units.centers.shape[1], 0))
        nothing, empty = np.zeros((3, 0)), np.empty((0, 0))
        moments_kernel(
            self.state, self.draws, draw, draw + 1, self.reweigh, none, self._block(1), nothing, empty, empty
        )
        return self.state
