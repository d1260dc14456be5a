"""Few of many weighted points, with new positive weights, that integrate polynomials alike (Tchakaloff, Carathéodory).

If N points have weights w > 0 and A holds M functions at the points, A w does not change along a null vector v of A.
Going along it until the first weight is zero takes out one point; what is left is again of that kind, with N - 1
points. So M points remain in the end. With many points, 2 M groups of them are treated so, each as one point at its
mean: half of the groups are out, whatever their size, and what is left is grouped anew (Maalouf, Jubran and Feldman
2019).
"""

from __future__ import annotations

import itertools
import math

import numpy as np
from scipy.linalg import lstsq
from scipy.linalg.blas import dger

from porbnet.base.checks import FloatArray
from porbnet.sampling.measure import Measure

_SLACK = 1e-13  # of the largest weight, below which one is none
_RIGHT = 1e-12  # of the weight in all: largest error of a sum


def n_polynomials(degree: int, n_dims: int) -> int:
    """Polynomials of total degree up to `degree`."""
    return math.comb(degree + n_dims, n_dims)


def n_nodes(q: int, n_dims: int) -> int:
    """Nodes that carry products of two polynomials of degree q - 1: q with one input, more with several."""
    return q if n_dims == 1 else n_polynomials(2 * (q - 1), n_dims)


def polynomials(t: FloatArray, degree: int) -> FloatArray:
    """Products of Chebyshev polynomials of total degree up to `degree` at points t in [-1, 1], shape (n_dims, n).

    Shape (n_polynomials, n).
    """
    along = np.cos(np.arange(degree + 1)[:, None, None] * np.arccos(np.clip(t, -1.0, 1.0)))  # (degree, n_dims, n)
    powers = [p for p in itertools.product(range(degree + 1), repeat=len(t)) if sum(p) <= degree]
    return np.stack([np.prod([along[p, d] for d, p in enumerate(chosen)], axis=0) for chosen in powers])


def lightened(weights: FloatArray, functions: FloatArray) -> FloatArray:
    """Weights of at most as many points as there are functions, with the same sums functions @ weights; others zero.

    weights : (n,) positive
    functions : (n_functions, n)
    """
    most, left = len(functions), weights.copy()
    kept = np.arange(len(left))
    while len(kept) > most:
        n_groups = min(2 * most, len(kept))
        edges = np.linspace(0, len(kept), n_groups + 1).astype(np.int64)[:-1]
        mass = np.add.reduceat(left[kept], edges)
        means = np.add.reduceat(functions[:, kept] * left[kept], edges, axis=1) / mass
        factor = _eliminated(mass, means) / mass
        left[kept] *= np.repeat(factor, np.diff(np.append(edges, len(kept))))
        fewer = kept[left[kept] > 0.0]
        if len(fewer) == len(kept):
            break
        kept = fewer
    return left


def _eliminated(weights: FloatArray, functions: FloatArray) -> FloatArray:
    """The same with one point less for every null vector."""
    weights = weights.copy()
    null = np.asfortranarray(np.linalg.qr(functions.T, mode="complete")[0][:, len(functions) :])
    for n in range(null.shape[1] - 1, -1, -1):
        along = null[:, n] if null[:, n].max() >= -null[:, n].min() else -null[:, n]
        out = _first_out(weights, along)
        weights = np.maximum(weights - weights[out] / along[out] * along, 0.0)
        weights[out] = 0.0
        if n > 0:  # in place: the others no longer involve the point that is out
            dger(-1.0 / along[out], along, null[out, :n].copy(), a=null[:, :n], overwrite_a=True)
    return weights


def _first_out(weights: FloatArray, along: FloatArray) -> int:
    """The point whose weight is the first to vanish along a null vector.

    Of those that vanish at one time but for rounding, the one that moves most: to divide by next to nothing would
    spoil the null vectors that are left (Harris 1973).
    """
    upward = along > 1e-9 * along.max()  # not the rounding at points that are out already
    slack = _SLACK * weights.max()
    latest = np.divide(weights + slack, along, where=upward, out=np.full(len(weights), np.inf)).min()
    return int(np.argmax(np.where(upward & (weights <= latest * along), along, 0.0)))


def _polished(weights: FloatArray, functions: FloatArray, sums: FloatArray) -> FloatArray | None:
    """The weights with rounding taken out of their sums; None if these are then still not right."""
    kept = weights > 0.0
    total = float(weights.sum())
    for _ in range(2):
        missing = sums - functions[:, kept] @ weights[kept]
        better = weights.copy()
        better[kept] += lstsq(functions[:, kept], missing, lapack_driver="gelsy")[0]
        if not np.all(better[kept] > 0.0):
            break
        weights = better
    return weights if np.abs(functions @ weights - sums).max() <= _RIGHT * total else None


def recombined(part: Measure, q: int) -> Measure | None:
    """Some of the rows of a box, with weights and outputs that carry polynomials of degree q - 1 and their products.

    None if rounding gets in the way: rows should lie at different places.
    """
    low, high = part.x.min(axis=1, keepdims=True), part.x.max(axis=1, keepdims=True)
    t = (2.0 * part.x - low - high) / np.maximum(high - low, 1e-300)
    functions = polynomials(t, 2 * (q - 1))
    found = _polished(lightened(part.weights, functions), functions, functions @ part.weights)
    if found is None:
        return None
    weights, kept = found, found > 0.0
    design, root = polynomials(t, q - 1).T, np.sqrt(part.weights)[:, None]
    carried = np.stack([part.outputs, part.outputs**2 + part.within, part.counts / part.weights], axis=1)
    coefficients = lstsq(root * design, root * carried, lapack_driver="gelsy")[0]
    outputs, squares, counts = (design[kept] @ coefficients).T
    weights = weights[kept]
    return Measure(
        part.x[:, kept], weights, outputs, squares - outputs**2, counts * weights, np.full(len(weights), np.inf)
    )
