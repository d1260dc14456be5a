"""Moments of f over all draws at any number of points, in standard coordinates and in memory that stays small.

Where points are more than twice the nodes that f needs (`cells`), moments are computed at the nodes and interpolated,
else at the points. Both ways agree to 1e-9 of the amplitude in mean and sd.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.functions.network import Networks
from porbnet.posterior.cells import N_NODES, Layout, layout, slices, through_cells
from porbnet.posterior.conditional_moments import add_moments
from porbnet.posterior.conditional_weights import ConditionalWeights
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem
from porbnet.statement.moments import scale_of

Rows = slice | NDArray[np.int64]

_LEAST_GAIN = 2.0  # points of a cell over its nodes
_MOST_POINTS = 65_536  # whose sums over draws are kept at a time
_MOST_BYTES = 32_000_000  # of tables of draws by points
_NEAR_BYTES = 2_000_000  # of those handed on at a time, few enough to stay near the processor
_EXPONENTIAL = 10.0  # what a unit's value costs, in products of two of them
_READING = 3.0  # what a node's part in a polynomial costs
_SOME_POINTS, _SOME_DRAWS = 8192, 128  # whose values are kept at a time for a mean alone
_STACKED = 2000  # rows of design matrices multiplied at a time


def table_length(n_draws: int, most_bytes: int | None = None) -> int:
    """So many points that two tables of draws by points stay small."""
    return max(1, (_MOST_BYTES if most_bytes is None else most_bytes) // (16 * max(n_draws, 1)))


class FunctionMoments:
    """Moments of f given each draw's units and over all draws.

    Parameters
    ----------
    problem : Problem
    draws : ChainDraws

    Points are given as u, shape (n_points, n_dims), in standard coordinates; results are in those of the outputs.
    """

    def __init__(self, problem: Problem, draws: ChainDraws) -> None:
        self.problem, self.draws = problem, draws
        self.weights = ConditionalWeights(problem, draws)

    def _scales(self) -> FloatArray:
        (component,) = self.problem.components
        levels = self.draws.relative * np.repeat(self.draws.values[:, component.level], self.draws.counts)
        return np.asarray(scale_of(levels, component.s0, self.problem.scaling.n_dims))

    # --- over all draws ----------------------------------------------------------------------------------------

    def mean(self, u: FloatArray) -> FloatArray:
        """Mean of f, shape (n_points,), from the conditional means of the weights that draws come with."""
        draws = self.draws
        networks = Networks(
            draws.offsets, draws.centers, self._scales(), draws.mean_weights, draws.mean_biases, np.ones(u.shape[1])
        )
        line = self._mean_line(u)

        def compute(places: FloatArray) -> FloatArray:
            total = np.zeros((1, len(places)))
            for rows in slices(len(places), _SOME_POINTS):
                for some in slices(len(networks), _SOME_DRAWS):
                    total[0, rows] += networks[some](places[rows]).sum(axis=0)
            return total / len(networks)

        return np.asarray(through_cells(self.layout(u), 1, compute)[0]) + line

    def _mean_line(self, u: FloatArray) -> FloatArray | float:
        """Mean of the straight line, shape (n_points,); zero without one."""
        slopes = self.draws.slopes
        return (u - 0.5 * self.problem.components[0].widths) @ slopes.mean(axis=0) if slopes.shape[1] else 0.0

    def mean_and_variance(self, u: FloatArray, n_jobs: int | None) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of f, shape (n_points,) each."""

        def compute(places: FloatArray) -> FloatArray:
            result, n = np.empty((2, len(places))), len(self.draws)
            for rows in slices(len(places), _MOST_POINTS):
                sums = self._sums(places[rows], n_jobs, None)
                result[0, rows] = mean = sums[0] / n
                result[1, rows] = sums[2] / n + np.maximum(sums[1] / n - mean**2, 0.0)
            return result

        mean, variance = through_cells(self.layout(u), 2, compute)
        return mean, np.maximum(variance, 0.0)

    def layout(self, u: FloatArray) -> Layout:
        """Cells in which moments of f are smooth, for points."""
        return layout(u, self.draws.centers, self._scales(), _LEAST_GAIN, bounded=self.draws.slopes.shape[1] == 0)

    # --- draw by draw ------------------------------------------------------------------------------------------

    def tables(self, u: FloatArray, n_jobs: int | None) -> Iterator[tuple[Rows, FloatArray, FloatArray]]:
        """Mean and variance of f given each draw's units: rows of u, and tables of shape (n_draws, n_rows).

        Rows come in order, as slices, where no cell is worth while; else as indices, cell by cell.
        """
        length = table_length(len(self.draws))
        # noise that varies over the input is not looked up for few points at a time
        few = length if self.problem.likelihood.varies else table_length(len(self.draws), _NEAR_BYTES)
        found = self._table_layout(u)
        if not found.cells:
            for rows in slices(len(u), length):
                mean, variance = self._tables(u[rows], n_jobs)
                for some in slices(rows.stop - rows.start, few):
                    yield slice(rows.start + some.start, rows.start + some.stop), mean[:, some], variance[:, some]
            return
        for rows in slices(len(found.rest), length):
            inside = found.rest[rows]
            mean, variance = self._tables(found.points[inside], n_jobs)
            for some in slices(len(inside), few):
                yield inside[some], mean[:, some], variance[:, some]
        yield from self._cell_tables(found, length, few, n_jobs)

    def _cell_tables(
        self, found: Layout, length: int, few: int, n_jobs: int | None
    ) -> Iterator[tuple[Rows, FloatArray, FloatArray]]:
        """Tables for the points of cells, few of them at a time; `length` nodes are computed together."""
        per_cell = N_NODES ** found.points.shape[1]
        for group in slices(len(found.cells), max(1, length // per_cell)):
            cells = found.cells[group]
            tables = self._tables(np.concatenate([c.nodes() for c in cells]), n_jobs)
            for i, cell in enumerate(cells):
                at_nodes = [np.ascontiguousarray(t[:, i * per_cell : (i + 1) * per_cell]) for t in tables]
                for some in slices(len(cell.rows), few):
                    inside = cell.rows[some]
                    mean, variance = (cell.values(t, found.points[inside]) for t in at_nodes)
                    yield inside, mean, np.maximum(variance, 0.0, out=variance)

    def _table_layout(self, u: FloatArray) -> Layout:
        """Cells, if reading a polynomial off costs less than the moments of an average draw."""
        counts = self.draws.counts
        if _READING * N_NODES ** u.shape[1] < np.mean(_EXPONENTIAL * counts + 0.5 * counts**2):
            return self.layout(u)
        return Layout(u, [], np.arange(len(u)))

    def _tables(self, places: FloatArray, n_jobs: int | None) -> tuple[FloatArray, FloatArray]:
        shape = (len(self.draws), len(places))
        mean, variance = np.empty(shape), np.empty(shape)
        self._sums(places, n_jobs, (mean, variance))
        return mean, np.maximum(variance, 0.0, out=variance)

    def _sums(self, places: FloatArray, n_jobs: int | None, keep: tuple[FloatArray, FloatArray] | None) -> FloatArray:
        """Σ mean, Σ mean² and Σ variance over draws, shape (3, n_places); and tables, draw by draw, if asked for."""
        from joblib import Parallel, delayed

        order = np.argsort(places[:, 0], kind="stable")
        x = np.ascontiguousarray(places[order].T)
        tables = None if keep is None else tuple(np.empty_like(table) for table in keep)

        def part(first: int, last: int) -> FloatArray:
            sums, empty = np.zeros((3, x.shape[1])), np.empty((0, 0))
            for start, given in self.weights.groups(first, last):
                rows = slice(start, start + len(given.offsets) - 1)
                means, variances = (empty, empty) if tables is None else (table[rows] for table in tables)
                add_moments(given, x, sums, means, variances)
            return sums

        parts = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
            delayed(part)(first, last) for first, last in self.weights.parts()
        )
        if keep is not None and tables is not None:
            for target, table in zip(keep, tables, strict=True):
                target[:, order] = table
        result = np.empty((3, len(order)))
        result[:, order] = sum(parts[1:], start=parts[0])
        return result

    # --- between points ----------------------------------------------------------------------------------------

    def covariance(self, u: FloatArray) -> FloatArray:
        """Covariance of f between points, shape (n_points, n_points): E[Φ P Φᵀ] + Cov[Φ m]."""
        mean, total = np.zeros(len(u)), np.zeros((len(u), len(u)))
        left: list[FloatArray] = []  # Φ P and Φ m of some draws, so that one product of large matrices adds them all
        right: list[FloatArray] = []
        for _, given in itertools.chain.from_iterable(self.weights.groups(*part) for part in self.weights.parts()):
            for i in range(len(given.offsets) - 1):
                centers, scales, m, P = given.draw(i)
                design = np.empty((len(m), len(u)))
                design[0] = given.bias
                distance2 = np.zeros((len(scales), len(u)))
                for d in range(u.shape[1]):
                    distance2 += np.subtract.outer(centers[:, d], u[:, d]) ** 2
                np.exp(-0.5 * scales[:, None] ** 2 * distance2, out=design[1:])
                conditional = m @ design
                if given.slopes.shape[1]:
                    conditional = conditional + (u - given.middle) @ given.slopes[i]
                mean += conditional
                left += [P @ design, conditional[None]]
                right += [design, conditional[None]]
                if sum(map(len, left)) > _STACKED:
                    total += np.concatenate(left).T @ np.concatenate(right)
                    left, right = [], []
        if left:
            total += np.concatenate(left).T @ np.concatenate(right)
        mean /= len(self.draws)
        covariance = total / len(self.draws) - np.outer(mean, mean)
        return np.asarray(0.5 * (covariance + covariance.T))
