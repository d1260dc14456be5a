"""Where moments of f are computed: at the nodes of cells that are short beside the units near them, or at the points.

f is smooth on the scale of its sharpest unit. Where many points share a cell that is shorter than that, values at the
cell's Chebyshev nodes give those at the points, by polynomials. How sharp units are differs over the input, so that
cells do too: a box around the points is halved as long as it is long beside the sharpest unit that reaches it.

The nodes are twice as many as f itself needs, since the variance of f is a product: it then comes out as exact as f
even where the data leave a spread of f that is thousands of times smaller than its amplitude.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.kernels.units import REACH
from porbnet.posterior.chebyshev import box_nodes, coefficients, interpolate

N_NODES = 24  # per dimension
LONGEST = 3.0  # edge of a cell, in widths 1 / s of the sharpest unit near it

_MOST_HALVINGS = 3  # of cells that prove too long
_LAST = 4  # coefficients that tell whether a cell is
_MOST_NUMBERS = 500_000  # of a matrix of interpolation


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


def layout(
    points: FloatArray, centers: FloatArray, scales: FloatArray, least_gain: float, bounded: bool = True
) -> Layout:
    """Cells for points, given all units of all draws.

    Parameters
    ----------
    points : (n_points, n_dims), in standard coordinates
    centers : (n_units, n_dims); scales : (n_units,)
    least_gain : how many times fewer its nodes must be than its points for a cell to be worth while
    bounded : whether f is the same wherever no unit reaches, so that points there may be moved
    """
    n, n_dims = points.shape
    fewest = least_gain * N_NODES**n_dims
    if n < fewest or not len(scales):
        return Layout(points, [], np.arange(n))
    reach = (REACH / scales)[:, None]
    if bounded:
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


def through_cells(
    found: Layout,
    n_functions: int,
    compute: Callable[[FloatArray], FloatArray],
    is_smooth: Callable[[FloatArray], bool] | None = None,
) -> FloatArray:
    """Functions at points, shape (n_functions, n_points): by way of the nodes in cells, else computed.

    Parameters
    ----------
    found : Layout
    compute : takes places, shape (n_places, n_dims), to values, shape (n_functions, n_places)
    is_smooth : whether values at the nodes of a cell, shape (n_functions, n_nodes), are those of polynomials for all
        that matters, for functions that may be rougher than f; other cells are halved, and given up in the end
    """
    if not found.cells:
        return compute(found.points)
    result = np.empty((n_functions, len(found.points)))
    cells, rest = found.cells, [found.rest]
    for halvings in range(_MOST_HALVINGS, -1, -1):
        rough: list[Cell] = []
        nodes = [cell.nodes() for cell in cells]
        values = compute(np.concatenate([np.empty((0, found.points.shape[1])), *nodes]))
        for i, cell in enumerate(cells):
            at_nodes = values[:, i * len(nodes[0]) : (i + 1) * len(nodes[0])]
            if is_smooth is None or is_smooth(at_nodes):
                _fill(result, cell, at_nodes, found.points)
            elif halvings and len(cell.rows) > 4 * len(nodes[0]):
                rough += _halves(cell, int(np.argmax(cell.high - cell.low)), found.points)
            else:
                rest.append(cell.rows)
        cells = rough
        if not cells:
            break
    left = np.sort(np.concatenate(rest))
    result[:, left] = compute(found.points[left])
    return result


def tail(values: FloatArray, n_dims: int) -> FloatArray:
    """The largest of the last Chebyshev coefficients along any dimension, shape (n_functions,): what is cut off."""
    boxes = values.reshape(-1, *[N_NODES] * n_dims)
    last = coefficients(N_NODES)[-_LAST:]
    found = [np.abs(np.moveaxis(boxes, d + 1, -1) @ last.T).reshape(len(boxes), -1) for d in range(n_dims)]
    return np.asarray(np.concatenate(found, axis=1).max(axis=1))


def _fill(result: FloatArray, cell: Cell, at_nodes: FloatArray, points: FloatArray) -> None:
    """Functions at the points of a cell, so many at a time that the matrix of interpolation stays small."""
    for some in slices(len(cell.rows), max(1, _MOST_NUMBERS // at_nodes.shape[1])):
        inside = cell.rows[some]
        result[:, inside] = cell.values(at_nodes, points[inside])


def slices(n: int, length: int) -> Iterator[slice]:
    """[0, n) in pieces."""
    return (slice(start, min(start + length, n)) for start in range(0, n, length))
