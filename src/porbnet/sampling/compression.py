"""Rows compressed without loss: many observations become few pseudo-rows that no likelihood of f can tell apart.

With Gaussian errors the rows are seen only through sums of smooth functions of the input: ΦᵀΦ, Φᵀy, Σ y², and with a
noise curve the same sums weighted by exp(-2 h(x)). On a cell that is short beside the sharpest unit a unit is a
polynomial to many digits. So the rows of a cell are replaced by q nodes ξ_j with weights W_j and outputs Y_j such that

    Σ_i ω_i p(x_i)     = Σ_j W_j p(ξ_j)        for polynomials of degree 2q - 1 (the Gram matrix)
    Σ_i ω_i u_i p(x_i) = Σ_j W_j U_j p(ξ_j)    for degree q - 1, u being y (the moments), y² (the sum of squares) or 1

With one input these are the Gauss nodes of the rows' own measure Σ ω_i δ_{x_i}: Lanczos' recursion on diag(x) from the
vector √ω gives polynomials p_0, p_1, ... that are orthonormal on the rows, and the eigenvectors V of its tridiagonal
matrix the nodes, W_j = V_0j² Σω, and U_j = Σ_m ⟨p_m, u⟩ p_m(ξ_j). With several inputs positive weights on some of the
rows do the same (`porbnet.sampling.recombination`). Rows at one place are one row with a count, whatever the units.

How short is short: q nodes carry units up to scale s on a cell of width w if w s is at most `CARRIED_BY[q]`, where
what is left of a unit beyond degree q - 1 is below 5e-9. What is left goes as (w s)^q, and with the height of the unit
in the cell: at z = s · distance from its center that is exp(-½ z²), and a cell exp(z² / 2q) times as long will do. Each
row knows the largest scale that it stands for (`limit`); a unit beyond it is refused (`kernels.units.too_sharp`), and
before the chain gets there it asks for shorter cells.

Chunks may be compressed one after the other and the results together once more: the equations above are those of sums.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eigh_tridiagonal

from porbnet.base.checks import FloatArray
from porbnet.kernels.units import REACH, faded
from porbnet.sampling.measure import Measure
from porbnet.sampling.recombination import n_nodes, recombined

# nodes per cell: largest product of a cell's width and a unit's scale; where the Chebyshev coefficient of degree q of a
# unit, (w s / 4)^q / (q / 2)! / 2^(q/2), is 5e-9
CARRIED_BY = {4: 0.08, 6: 0.31, 8: 0.77, 10: 1.35, 12: 2.0, 16: 3.3}
MOST_NODES = {1: 16, 2: 12, 3: 8}  # per dimension: beyond, nodes take longer to find than they save
# and at least so many where a noise curve multiplies the units: exp(-2 h) between two knots, of which a lengthscale has
# 16 with one input and 8 with two, is a polynomial of that degree to 1e-8 where h is three times as steep as usual
CARRY_CURVE = {1: 6, 2: 8, 3: 8}
MIXED = 1.2  # with several inputs a unit changes most along the diagonal, and terms of mixed degrees add up
GAIN = 1.5  # rows per node from which a cell is compressed
LEAST_SHARE = 1e-20  # of a cell's weight, below which a node is none


@dataclass(frozen=True, eq=False)
class Sharpness:
    """How sharp units may be, and where: near places[i], and so everywhere in reach of a unit there, scales[i].

    places : (n_places, n_dims) in standard coordinates
    scales : (n_places,)
    near : (n_dims,) distance from a place within which units may lie
    """

    places: FloatArray
    scales: FloatArray
    near: FloatArray

    @classmethod
    def everywhere(cls, scale: float, n_dims: int) -> Sharpness:
        """The same scale all over."""
        return cls(np.zeros((1, n_dims)), np.array([scale]), np.full(n_dims, np.inf))

    def raised(self, other: FloatArray) -> Sharpness:
        """The larger of the scales and of others at the same places."""
        return replace(self, scales=np.maximum(self.scales, other))

    def over(self, low: FloatArray, high: FloatArray) -> float:
        """The largest scale of a unit that touches a box; one that only its tail touches counts as less sharp."""
        gap = np.maximum(np.maximum(low - self.places, self.places - high) - self.near, 0.0)
        distance2 = np.sum(gap * gap, axis=1) * self.scales**2
        sharp = np.where(distance2 <= REACH * REACH, self.scales * faded(distance2), 0.0)
        return float(sharp.max(initial=0.0))


def nodes_for(product: float, n_dims: int) -> int:
    """Nodes per dimension for a cell whose width times the sharpest scale is `product`; 0 if no number will do."""
    return next((q for q, most in CARRIED_BY.items() if product <= most and q <= MOST_NODES[n_dims]), 0)


def compressed(
    fine: Measure, sharpness: Sharpness, breaks: list[FloatArray] | None = None, coarse: Measure | None = None
) -> Measure:
    """Fewer rows that say the same to units as sharp as stated.

    Parameters
    ----------
    fine : the rows
    sharpness : of the units
    breaks : along each dimension where cells must end: kinks of what else multiplies the units, such as a noise curve
    coarse : the same rows compressed already, which are taken instead where they are good enough: quicker
    """
    source = fine if coarse is None else coarse
    n_dims = len(fine.x)
    fewest = min(CARRIED_BY) if breaks is None else CARRY_CURVE[n_dims]
    parts, work = [], _first_cells(source, breaks)
    while work:
        cell = work.pop()
        scale = sharpness.over(cell.low, cell.high)
        part = source.taken(cell.rows)
        if coarse is not None and scale > part.limit.min():
            inside = _Cell.of(fine, cell.low, cell.high)
            parts.append(compressed(fine.taken(inside.rows), sharpness, breaks))
            continue
        part = part if n_dims == 1 else merged(part)
        q = nodes_for(cell.width * scale, n_dims)
        q = max(q, fewest) if q > 0 else q
        found = _nodes(part, q, cell.width) if q > 0 else None
        # too long for any number of nodes, or rounding was in the way
        if found is None and len(part) > GAIN * n_nodes(q if q > 0 else fewest, n_dims):
            work += cell.halves(source)
            continue
        parts.append(merged(part) if found is None else found)
    return Measure.joined(parts)


@dataclass(frozen=True, eq=False)
class _Cell:
    """A box [low, high) and the rows in it: a slice if there is one dimension, in which rows are in order."""

    low: FloatArray
    high: FloatArray
    rows: Any

    @classmethod
    def of(cls, measure: Measure, low: FloatArray, high: FloatArray) -> _Cell:
        """A box, and which rows of a measure lie in it."""
        start, stop = np.searchsorted(measure.x[0], [low[0], high[0]], side="left")
        rows: Any = slice(int(start), int(stop))
        if len(measure.x) > 1:
            inside = np.all((low[1:] <= measure.x[1:, rows].T) & (high[1:] > measure.x[1:, rows].T), axis=1)
            rows = start + np.flatnonzero(inside)
        return cls(low, high, rows)

    @property
    def width(self) -> float:
        """The side of a cell with one input on which as much is left of a unit beyond a total degree."""
        sides = self.high - self.low
        return float(sides[0]) if len(sides) == 1 else MIXED * float(np.linalg.norm(sides))

    @property
    def is_empty(self) -> bool:
        """Whether no row lies in it."""
        return bool(self.rows.stop <= self.rows.start if isinstance(self.rows, slice) else len(self.rows) == 0)

    def halves(self, measure: Measure) -> list[_Cell]:
        """Cut in two along its longest side; empty ones left out."""
        d = int(np.argmax(self.high - self.low))
        middle = 0.5 * (self.low[d] + self.high[d])
        high, low = self.high.copy(), self.low.copy()
        high[d] = low[d] = middle
        cells = [_Cell.of(measure, self.low, high), _Cell.of(measure, low, self.high)]
        return [c for c in cells if not c.is_empty]


def _first_cells(measure: Measure, breaks: list[FloatArray] | None) -> list[_Cell]:
    """The box around all rows, cut at the breaks."""
    low, high = measure.x.min(axis=1), np.nextafter(measure.x.max(axis=1), np.inf)
    edges = [np.array([lo, hi]) for lo, hi in zip(low, high, strict=True)]
    if breaks is not None:
        edges = [np.unique([e[0], *b[(b > e[0]) & (b < e[1])], e[1]]) for e, b in zip(edges, breaks, strict=True)]
    corners = itertools.product(*(itertools.pairwise(e) for e in edges))
    cells = [_Cell.of(measure, *np.array(box).T) for box in corners]
    return [c for c in cells if not c.is_empty]


def _nodes(part: Measure, q: int, width: float) -> Measure | None:
    """The rows of a cell as nodes; None if that is not worth it, or a node would stand for a negative count."""
    n_dims = len(part.x)
    if len(part) < GAIN * n_nodes(q, n_dims):
        return None
    found = gauss(part, q) if n_dims == 1 else recombined(part, q)
    if found is None or len(part) < GAIN * len(found) or not np.all(found.counts > 0):
        return None
    limit = min(CARRIED_BY[q] / width, float(part.limit.min()))
    return replace(found, limit=np.full(len(found), limit))


def gauss(part: Measure, q: int) -> Measure:
    """The q Gauss nodes of rows with one input, see the module's docstring; fewer if they lie at fewer places."""
    x, total = part.x[0], float(part.weights.sum())
    middle, half = 0.5 * (x.min() + x.max()), max(0.5 * float(np.ptp(x)), 1e-300)
    t, root = (x - middle) / half, np.sqrt(part.weights)
    basis = np.empty((q, len(t)))
    basis[0] = root / math.sqrt(total)
    diagonal, beside = np.zeros(q), np.zeros(q - 1)
    used = q
    for m in range(q):
        following = t * basis[m]
        diagonal[m] = following @ basis[m]
        for _ in range(2):  # twice is enough for orthogonality to rounding
            following -= (basis[: m + 1] @ following) @ basis[: m + 1]
        size = math.sqrt(following @ following)
        if m + 1 == q:
            break
        if size < 1e-13:  # as many polynomials as there are places
            used = m + 1
            break
        beside[m] = size
        basis[m + 1] = following / size
    nodes, vectors = eigh_tridiagonal(diagonal[:used], beside[: used - 1])
    kept = vectors[0] ** 2 > LEAST_SHARE
    vectors = vectors[:, kept]
    carried = np.stack([part.outputs, part.outputs**2 + part.within, part.counts / part.weights])
    outputs, squares, counts = ((carried * root) @ basis[:used].T) @ vectors / (vectors[0] * math.sqrt(total))
    weights = vectors[0] ** 2 * total
    places = np.clip(middle + half * nodes[kept], x.min(), x.max())
    return Measure(
        places[None], weights, outputs, squares - outputs**2, counts * weights, np.full(len(weights), np.inf)
    )


def merged(part: Measure) -> Measure:
    """Rows at one place as one row: exact for units of any scale."""
    places, at = np.unique(part.x, axis=1, return_inverse=True)
    if places.shape[1] == len(part):
        return part
    at = at.ravel()
    weights, counts = (np.asarray(np.bincount(at, v), dtype=np.float64) for v in (part.weights, part.counts))
    outputs = np.bincount(at, part.weights * part.outputs) / weights
    within = np.bincount(at, part.weights * (part.within + (part.outputs - outputs[at]) ** 2)) / weights
    limit = np.full(len(weights), np.inf)
    np.minimum.at(limit, at, part.limit)
    return Measure(places, weights, outputs, within, counts, limit)
