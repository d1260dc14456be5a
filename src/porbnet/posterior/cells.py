"""Where moments of f are computed: at the nodes of cells that are short beside the units near them, or at the points.

f is smooth on the scale of its sharpest unit. Where many points share a cell that is shorter than that, values at the
cell's Chebyshev nodes give those at the points, by polynomials. How sharp units are differs over the input, so that
cells do too: a box around the points is halved as long as it is long beside the sharpest unit that reaches it.

The nodes are twice as many as f itself needs, since the variance of f is a product: it then comes out as exact as f
even where the data leave a spread of f that is thousands of times smaller than its amplitude.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.kernels.units import REACH
from porbnet.posterior.chebyshev import box_nodes, interpolate

N_NODES = 24  # per dimension
LONGEST = 3.0  # edge of a cell, in widths 1 / s of the sharpest unit near it


@dataclass(frozen=True, eq=False)
class Cell:
    """A box, and which of the points lie in it.

    low, high : (n_dims,) in standard coordinates
    rows : (n_inside,) indices of points
    """

    low: FloatArray
    high: FloatArray
    rows: NDArray[np.int64]

    def nodes(self) -> FloatArray:
        """Where functions are to be computed, shape (n_nodes, n_dims)."""
        return box_nodes(self.low, self.high, N_NODES)

    def values(self, at_nodes: FloatArray, points: FloatArray) -> FloatArray:
        """Functions at points of the cell, shape (n_functions, n_points), from (n_functions, n_nodes) at the nodes."""
        return interpolate(at_nodes, self.low, self.high, points, N_NODES)


@dataclass(frozen=True, eq=False)
class Layout:
    """Cells for many points, and the points of no cell, which are left as they are.

    points : (n_points, n_dims) in standard coordinates; those that no unit reaches are moved to where none does either
    """

    points: FloatArray
    cells: list[Cell]
    rest: NDArray[np.int64]


def layout(points: FloatArray, centers: FloatArray, scales: FloatArray, least_gain: float) -> Layout:
    """Cells for points, given all units of all draws.

    Parameters
    ----------
    points : (n_points, n_dims), in standard coordinates
    centers : (n_units, n_dims); scales : (n_units,)
    least_gain : how many times fewer its nodes must be than its points for a cell to be worth while
    """
    n, n_dims = points.shape
    fewest = least_gain * N_NODES**n_dims
    if n < fewest or not len(scales):
        return Layout(points, [], np.arange(n))
    reach = (REACH / scales)[:, None]
    points = np.clip(points, (centers - reach).min(axis=0), (centers + reach).max(axis=0))
    cells: list[Cell] = []
    rest: list[NDArray[np.int64]] = []
    whole = Cell(points.min(axis=0), points.max(axis=0), np.arange(n))
    waiting = [(whole, np.arange(len(scales)))]
    while waiting:
        cell, units = waiting.pop()
        if len(cell.rows) < fewest:
            rest.append(cell.rows)
            continue
        units = units[_reaches(cell, centers[units], scales[units])]
        longest = int(np.argmax(cell.high - cell.low))
        edge = float(cell.high[longest] - cell.low[longest])
        if edge * scales[units].max(initial=0.0) <= LONGEST:
            cells.append(cell)
        else:
            waiting += [(part, units) for part in _halves(cell, longest, points)]
    return Layout(points, cells, np.sort(np.concatenate([np.empty(0, np.int64), *rest])))


def _reaches(cell: Cell, centers: FloatArray, scales: FloatArray) -> NDArray[np.bool_]:
    """Which units are not zero everywhere in a cell."""
    gaps = np.maximum(np.maximum(cell.low - centers, centers - cell.high), 0.0)
    return np.asarray(np.sum(gaps * gaps, axis=1) * scales * scales < REACH * REACH)


def _halves(cell: Cell, dim: int, points: FloatArray) -> list[Cell]:
    middle = 0.5 * (cell.low[dim] + cell.high[dim])
    left = points[cell.rows, dim] < middle
    low, high = cell.low.copy(), cell.high.copy()
    low[dim] = high[dim] = middle
    return [Cell(cell.low, high, cell.rows[left]), Cell(low, cell.high, cell.rows[~left])]
