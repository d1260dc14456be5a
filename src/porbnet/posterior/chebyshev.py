"""Interpolation by polynomials through Chebyshev points, in one dimension and on boxes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, kernel


@functools.cache
def nodes(n: int) -> FloatArray:
    """The n Chebyshev points of (-1, 1), in ascending order."""
    return np.asarray(-np.cos((2.0 * np.arange(n) + 1.0) * np.pi / (2.0 * n)))


@functools.cache
def _barycentric_weights(n: int) -> FloatArray:
    signs = np.where(np.arange(n) % 2, -1.0, 1.0)
    return np.asarray(signs * np.sin((2.0 * np.arange(n) + 1.0) * np.pi / (2.0 * n)))


@functools.cache
def coefficients(n: int) -> FloatArray:
    """The matrix that takes values at the n Chebyshev points to coefficients of Chebyshev polynomials, shape (n, n)."""
    found = 2.0 / n * np.cos(np.arange(n)[:, None] * np.arccos(nodes(n)))
    found[0] *= 0.5
    return np.asarray(found)


def box_nodes(low: FloatArray, high: FloatArray, n: int) -> FloatArray:
    """Chebyshev points of a box, n along each dimension, shape (n ** n_dims, n_dims); the last dimension runs first."""
    along = [0.5 * (a + b) + 0.5 * (b - a) * nodes(n) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*along, indexing="ij"), axis=-1).reshape(-1, len(low))


def interpolation_matrix(t: FloatArray, n: int) -> FloatArray:
    """The matrix that takes values at the n Chebyshev points to values at t in [-1, 1], shape (len(t), n).

    By the barycentric formula, l_j(t) = (w_j / (t - t_j)) / Σ_i (w_i / (t - t_i)), which is stable.
    """
    gaps = t[:, None] - nodes(n)
    hit = gaps == 0.0
    gaps[hit] = 1.0
    terms = _barycentric_weights(n) / gaps
    at_node = hit.any(axis=1)
    terms[at_node] = hit[at_node]
    return np.asarray(terms / terms.sum(axis=1, keepdims=True))


def interpolate(values: FloatArray, low: FloatArray, high: FloatArray, points: FloatArray, n: int) -> FloatArray:
    """Functions given at the Chebyshev points of a box, at other points of it.

    Parameters
    ----------
    values : (n_functions, n ** n_dims), in the order of `box_nodes`
    low, high : (n_dims,) ends of the box
    points : (n_points, n_dims)

    Returns
    -------
    ndarray of shape (n_functions, n_points)
    """
    half = 0.5 * (high - low)
    half[half == 0.0] = 1.0  # all points are alike in this dimension
    t = np.clip((points - 0.5 * (low + high)) / half, -1.0, 1.0)
    along = [interpolation_matrix(t[:, d], n) for d in range(points.shape[1])]
    if len(values) <= n:
        return np.stack([_contracted(one, along) for one in values])
    rows = along[0]  # for many functions it pays to multiply the matrices out
    for other in along[1:]:
        rows = (rows[:, :, None] * other[:, None, :]).reshape(len(t), -1)
    out = np.empty((len(values), len(t)))
    combine(np.ascontiguousarray(values), np.ascontiguousarray(rows.T), out)
    return out


@kernel
def combine(values: Any, rows: Any, out: Any) -> None:
    """Set out to the product values @ rows: for few points at a time, on one core, where a library would use all."""
    n_nodes, n_points = rows.shape
    whole = n_nodes // 4 * 4
    for f in range(len(values)):
        target = out[f]
        for p in range(n_points):
            target[p] = 0.0
        for j in range(0, whole, 4):
            add_four(values[f], rows, j, target)
        for j in range(whole, n_nodes):
            v, row = values[f, j], rows[j]
            for p in range(n_points):
                target[p] += v * row[p]


@hot
def add_four(values: Any, rows: Any, j: int, target: Any) -> None:
    """Add four rows from the j-th on, each times its value."""
    a, b, c, d = values[j], values[j + 1], values[j + 2], values[j + 3]
    first, second, third, fourth = rows[j], rows[j + 1], rows[j + 2], rows[j + 3]
    for p in range(len(target)):
        target[p] += (a * first[p] + b * second[p]) + (c * third[p] + d * fourth[p])


def _contracted(values: FloatArray, along: list[FloatArray]) -> FloatArray:
    """One function at points, shape (n_points,): its values at the nodes summed dimension by dimension."""
    n_points, n = along[0].shape
    left = along[0] @ values.reshape(n, -1)
    for matrix in along[1:]:
        left = np.einsum("pi,pij->pj", matrix, left.reshape(n_points, n, -1))
    return np.asarray(left[:, 0])
