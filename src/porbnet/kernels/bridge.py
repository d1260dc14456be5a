"""A curve with the exponential kernel inside a box of knots, given what it is on the box's edges and beyond.

Along a dimension the process is a Markov chain with correlation a between neighbours. Given h at both ends of a
stretch of n steps, at k steps from the first,

    mean        a^k (1 - a^(2(n-k))) / (1 - a^(2n)) h_first + a^(n-k) (1 - a^(2k)) / (1 - a^(2n)) h_last
    one by one  x_i | x_(i-1) ~ N(c x_(i-1), s²),   c = a q,  s² = (1 - a²) q,  q = (1 - a^(2r)) / (1 - a^(2(r+1)))

for the deviation x from it, r steps before the last (h without its mean, x without its sd). At an edge of the region an
end may be free: then r is infinite, or the first x has variance 1 - a^(2r). With several dimensions the covariance is a
product of those along each, and so is that of the knots inside given all others: deviations are taken, and drawn, along
one dimension after the other.

A box of knots is given by the last one before it and the first one after it along each dimension, which are held; -1
and the number of knots stand for a free end (`Box`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, inner
from porbnet.base.records import Record
from porbnet.kernels.random import normal
from porbnet.kernels.state import IntArray
from porbnet.kernels.vectors import larger, smaller


class Box(Record):
    """A box of knots with its edges; the first n of lists of knots count.

    first, last : (n_dims,) the last knot before it and the first one after it, -1 and the number of knots if it is open
        there
    n : knots in it and on its edges
    knots : (n_knots,) where they stand in a flat table, in order
    places : (n_dims, n_knots) which they are along each dimension
    n_inside : knots that are not on an edge
    inside : (n_knots,) where these stand
    shares : (4, n_dims, most knots) for each knot inside: of the mean, that of the first end and that of the last; of a
        draw, that of the knot before and that of what is new
    at : (n_dims,) work space
    """

    first: IntArray
    last: IntArray
    n: int
    knots: IntArray
    places: IntArray
    n_inside: int
    inside: IntArray
    shares: FloatArray
    at: IntArray


def empty_box(sizes: Any) -> Box:
    """A box of knots; sizes : (n_dims,) how many there are along each dimension."""
    n_dims, n_knots = len(sizes), math.prod(int(n) for n in sizes)
    return Box(
        first=np.zeros(n_dims, dtype=np.int64),
        last=np.zeros(n_dims, dtype=np.int64),
        n=0,
        knots=np.zeros(n_knots, dtype=np.int64),
        places=np.zeros((n_dims, n_knots), dtype=np.int64),
        n_inside=0,
        inside=np.zeros(n_knots, dtype=np.int64),
        shares=np.zeros((4, n_dims, int(max(sizes)))),
        at=np.zeros(n_dims, dtype=np.int64),
    )


@inner
def stride_of(sizes: Any, d: int) -> int:
    """From one knot to the next along a dimension, in a flat table."""
    stride = 1
    for j in range(d + 1, len(sizes)):
        stride *= sizes[j]
    return stride


@hot
def colour(curve: Any, z: Any, table: Any) -> None:
    """Set the table to the values of whitened coefficients z: the chain along one dimension after the other."""
    sizes, n = curve.sizes, len(table)
    for i in range(n):
        table[i] = curve.sd * z[i]
    for d in range(len(sizes)):
        stride, a = stride_of(sizes, d), curve.correlations[d]
        step, whole = math.sqrt(1.0 - a * a), stride * sizes[d]
        for start in range(0, n, whole):
            for i in range(start + stride, start + whole):
                table[i] = a * table[i - stride] + step * table[i]
    for i in range(n):
        table[i] += curve.mean


@hot
def whiten(curve: Any, table: Any, z: Any) -> float:
    """Set z to the whitened coefficients of a table of values; returns Σ z²."""
    sizes, total, n, scale = curve.sizes, 0.0, len(table), 1.0 / curve.sd
    for i in range(n):
        z[i] = (table[i] - curve.mean) * scale
    for d in range(len(sizes)):
        stride, a = stride_of(sizes, d), curve.correlations[d]
        step, whole = 1.0 / math.sqrt(1.0 - a * a), stride * sizes[d]
        for start in range(0, n, whole):
            for i in range(start + whole - 1, start + stride - 1, -1):
                z[i] = (z[i] - a * z[i - stride]) * step
    for i in range(n):
        total += z[i] * z[i]
    return total


@inner
def first_of(low: int) -> int:
    """The first knot of a box with its edge."""
    return int(larger(low, 0))


@inner
def last_of(high: int, size: int) -> int:
    """The last knot of a box with its edge."""
    return int(smaller(high, size - 1))


@inner
def next_in(sizes: Any, box: Any) -> bool:
    """The next knot of a box, box.at being its places; false after the last."""
    at = box.at
    for d in range(len(sizes) - 1, -1, -1):
        if at[d] < last_of(box.last[d], sizes[d]):
            at[d] += 1
            return True
        at[d] = first_of(box.first[d])
    return False


@inner
def list_knots(sizes: Any, box: Any) -> None:
    """Set the lists of knots of a box whose ends are known."""
    n_dims, n, n_inside, at = len(sizes), 0, 0, box.at
    for d in range(n_dims):
        at[d] = first_of(box.first[d])
    more = True
    while more:
        index, is_inside = 0, True
        for d in range(n_dims):
            index = index * sizes[d] + at[d]
            box.places[d, n] = at[d]
            is_inside = is_inside and at[d] > box.first[d] and at[d] < box.last[d]
        box.knots[n] = index
        n += 1
        if is_inside:
            box.inside[n_inside] = index
            n_inside += 1
        more = next_in(sizes, box)
    box.n, box.n_inside = n, n_inside


@inner
def prepare(curve: Any, box: Any) -> None:
    """Lists and shares of a box whose ends are known."""
    list_knots(curve.sizes, box)
    shares = box.shares
    for d in range(len(curve.sizes)):
        a, size, first, last = curve.correlations[d], curve.sizes[d], box.first[d], box.last[d]
        log_a, n = math.log(a), last - first
        for i in range(first + 1, last):
            k, r = i - first, last - i
            left, right, kept = math.exp(k * log_a), math.exp(r * log_a), 1.0
            if last < size:
                kept = math.expm1(2.0 * r * log_a) / math.expm1(2.0 * (r + 1) * log_a)
            new = (1.0 - a * a) * kept
            if first >= 0 and last < size:
                whole = math.expm1(2.0 * n * log_a)
                left *= math.expm1(2.0 * r * log_a) / whole
                right *= math.expm1(2.0 * k * log_a) / whole
            if i == 0:  # a free end: there is none before it
                new = -math.expm1(2.0 * r * log_a) if last < size else 1.0
            shares[0, d, i] = left if first >= 0 else 0.0
            shares[1, d, i] = right if last < size else 0.0
            shares[2, d, i] = a * kept if i > first + 1 else 0.0
            shares[3, d, i] = math.sqrt(new)


@hot
def deviations(curve: Any, table: Any, box: Any, out: Any) -> None:
    """Set `out` inside a box to the table's deviation from its mean given all knots outside."""
    knots, n = box.knots, box.n
    for j in range(n):
        out[knots[j]] = table[knots[j]] - curve.mean
    for d in range(len(curve.sizes)):
        stride, first, last = stride_of(curve.sizes, d), box.first[d], box.last[d]
        left, right, place = box.shares[0, d], box.shares[1, d], box.places[d]
        from_first, from_last = first >= 0, last < curve.sizes[d]
        for j in range(n):
            k, i = place[j], knots[j]
            if k > first and k < last:
                if from_first:
                    out[i] -= left[k] * out[i - (k - first) * stride]
                if from_last:
                    out[i] -= right[k] * out[i + (last - k) * stride]


@hot
def draw_deviations(curve: Any, box: Any, out: Any, rng: Any) -> None:
    """Set `out` inside a box to a draw of the deviation."""
    inside, n = box.inside, box.n_inside
    for j in range(n):
        out[inside[j]] = curve.sd * normal(rng)
    for d in range(len(curve.sizes)):
        stride, size = stride_of(curve.sizes, d), curve.sizes[d]
        kept, new = box.shares[2, d], box.shares[3, d]
        for j in range(n):
            i = inside[j]
            k = (i // stride) % size
            out[i] *= new[k]
            if kept[k] != 0.0:
                out[i] += kept[k] * out[i - stride]
