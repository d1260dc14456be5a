"""Rows that come in chunks, absorbed one chunk after the other: memory that does not grow with their number.

With one input the line is cut into a few thousand cells of one width, and the rows of a cell are replaced by Gauss
nodes (`compression.gauss`) whenever many have come together: nodes and new rows are again a measure, and the sums that
nodes carry are those of all rows so far. Cells keep their places, so that however often this is done, the sums are
right for polynomials on a cell: errors do not add up. Where the rows outgrow the cells, two neighbours become one.

What is read off the rows on the way does not depend on their order, nor on how they were cut into chunks: sums, ranges,
and a sample of different rows by a hash of their numbers (those with the least hashes, and how often each was there).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.sampling.compression import CARRIED_BY, gauss
from porbnet.sampling.measure import Measure, same

NODES = 12  # per cell
FEWEST_CELLS = 2048  # over the range; twice as many at most
MOST_WAITING = 1_000_000  # rows that are kept as they came
SAMPLE = 20_000  # different rows that are remembered, for a first guess


@dataclass
class Totals:
    """What is known of all rows.

    n : how many there are
    weight : Σ c, with c how often each counts
    shift : near the mean of y, so that sums of squares keep their digits
    first, second : Σ c (y - shift), Σ c (y - shift)²
    low, high : (n_dims,) ends of the inputs
    """

    n: int
    weight: float
    shift: float
    first: float
    second: float
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray, counts: FloatArray | None, shift: float | None = None) -> Totals:
        """Of one chunk."""
        shift = float(np.mean(y)) if shift is None else shift
        c = same(1.0, len(y)) if counts is None else counts
        apart = y - shift
        return cls(len(y), float(c.sum()), shift, float(c @ apart), float(c @ apart**2), X.min(axis=0), X.max(axis=0))

    def plus(self, X: FloatArray, y: FloatArray, counts: FloatArray | None) -> Totals:
        """With one chunk more."""
        new = Totals.of(X, y, counts, self.shift)
        return Totals(
            self.n + new.n,
            self.weight + new.weight,
            self.shift,
            self.first + new.first,
            self.second + new.second,
            np.minimum(self.low, new.low),
            np.maximum(self.high, new.high),
        )

    @property
    def mean(self) -> float:
        """Mean of y."""
        return self.shift + self.first / self.weight

    @property
    def sd(self) -> float:
        """Standard deviation of y."""
        return math.sqrt(max(self.second / self.weight - (self.first / self.weight) ** 2, 0.0))


class Sample:
    """The `SAMPLE` different rows with the least hashes, and how often each counts."""

    def __init__(self) -> None:
        self.X: FloatArray = np.empty((0, 0))
        self.y: FloatArray = np.empty(0)
        self.counts: FloatArray = np.empty(0)
        self._hashes: NDArray[np.uint64] = np.empty(0, dtype=np.uint64)

    def add(self, X: FloatArray, y: FloatArray, counts: FloatArray | None) -> None:
        """Look at a chunk."""
        hashes = hashed(np.column_stack([X, y]))
        few = np.ones(len(y), dtype=bool) if len(self._hashes) < SAMPLE else hashes <= self._hashes[-1]
        if not few.any():
            return
        c = np.ones(int(few.sum())) if counts is None else counts[few]
        found = np.concatenate([self._hashes, hashes[few]])
        chosen, first, at = np.unique(found, return_index=True, return_inverse=True)
        often: FloatArray = np.bincount(at.ravel(), np.concatenate([self.counts, c])).astype(np.float64)
        before = self.X if len(self.X) else np.empty((0, X.shape[1]))
        kept = first[:SAMPLE]
        self.X = np.concatenate([before, X[few]])[kept]
        self.y = np.concatenate([self.y, y[few]])[kept]
        self._hashes, self.counts = chosen[:SAMPLE], often[:SAMPLE]


def hashed(rows: FloatArray) -> NDArray[np.uint64]:
    """A number for each row, shape (n, n_columns), that depends on its numbers alone (splitmix64)."""
    result = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in rows.T:
        bits = np.ascontiguousarray(column + 0.0).view(np.uint64)  # -0 and 0 are one number
        result = (result ^ bits) * np.uint64(0xBF58476D1CE4E5B9)
        result = (result ^ (result >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        result ^= result >> np.uint64(31)
    return result


class Absorber:
    """Rows of one input, absorbed.

    Parameters
    ----------
    shift : float
        Subtracted from y.
    breaks : array, optional
        Where cells must end: the knots of a noise curve.

    Attributes
    ----------
    nodes : Measure or None
        Of the rows absorbed so far, in the units of the data, y less `shift`.
    """

    def __init__(self, shift: float, breaks: FloatArray | None = None) -> None:
        self.shift, self.breaks = shift, breaks
        self.nodes: Measure | None = None
        self._waiting: list[Measure] = []
        self._n_waiting = 0
        self._origin, self._width = 0.0, 0.0

    def add(self, x: FloatArray, y: FloatArray, counts: FloatArray | None) -> None:
        """Take in rows, shape (n,) each; counts: how often each counts, once by default."""
        c = same(1.0, len(y)) if counts is None else counts
        for start in range(0, len(y), MOST_WAITING):
            rows = slice(start, start + MOST_WAITING)
            self._waiting.append(Measure.of_rows(x[None, rows].copy(), y[rows] - self.shift, c[rows], c[rows]))
            self._n_waiting += len(self._waiting[-1])
            if self._n_waiting >= MOST_WAITING:
                self._fold()

    def measure(self) -> Measure:
        """All rows so far, as nodes."""
        if self._waiting:
            self._fold()
        assert self.nodes is not None
        return self.nodes

    def _fold(self) -> None:
        """Rows that wait become part of the nodes."""
        whole = Measure.joined([*([] if self.nodes is None else [self.nodes]), *self._waiting])
        self._waiting, self._n_waiting = [], 0
        edges = self._edges(float(whole.x[0, 0]), float(whole.x[0, -1]))
        cuts = np.searchsorted(whole.x[0], edges, side="left")
        filled = np.flatnonzero(cuts[1:] > cuts[:-1])
        parts = [
            _folded(whole.taken(slice(int(cuts[i]), int(cuts[i + 1]))), float(edges[i + 1] - edges[i])) for i in filled
        ]
        self.nodes = Measure.joined(parts)

    def _edges(self, low: float, high: float) -> FloatArray:
        """Ends of the cells from `low` to beyond `high`; they become longer if there would be too many."""
        span = high - low
        if self._width == 0.0:
            self._origin, self._width = low, span / FEWEST_CELLS
        if self._width == 0.0:  # one place so far
            return np.array([low, np.nextafter(high, math.inf)])
        while span > 2 * FEWEST_CELLS * self._width:
            self._width *= 2.0
        first, last = (math.floor((v - self._origin) / self._width) for v in (low, high))
        edges: FloatArray = self._origin + self._width * np.arange(first, last + 2, dtype=np.float64)
        edges[0], edges[-1] = min(edges[0], low), max(edges[-1], np.nextafter(high, math.inf))
        if self.breaks is None:
            return edges
        inside = self.breaks[(self.breaks > edges[0]) & (self.breaks < edges[-1])]
        return np.asarray(np.unique(np.concatenate([edges, inside])), dtype=np.float64)


def _folded(part: Measure, width: float) -> Measure:
    """The rows of a cell as nodes, if they are many."""
    if len(part) <= 2 * NODES:
        return part
    found = gauss(part, NODES)
    limit = min(CARRIED_BY[NODES] / width, float(part.limit.min()))
    return replace(found, limit=np.full(len(found), limit))
