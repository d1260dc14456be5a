"""The compiled evaluator of networks: values and gradients of many networks at many points.

Points come scaled by the anisotropy and sorted by their first coordinate, so that a unit of scale s touches only the
points with |x_1 - c_1| < REACH / s. Beyond that exp(-½ REACH²) is below 1e-16.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet._numba import fast_exp, kernel

REACH = 8.6
_LOWEST = -700.0  # fast_exp takes no less


@kernel
def window(first: Any, center: float, reach: float) -> tuple[int, int]:
    """Indices [low, high) of the sorted values within `reach` of `center`."""
    low = np.searchsorted(first, center - reach, side="left")
    high = np.searchsorted(first, center + reach, side="right")
    return int(low), int(high)


@kernel
def half_distances(points: Any, center: Any, scale: float, low: int, high: int, out: Any) -> None:
    """out[i] = -½ s² ‖x_i - c‖² for i in [low, high); points of shape (n_dims, n_points)."""
    factor = -0.5 * scale * scale
    for i in range(low, high):
        d = points[0, i] - center[0]
        out[i] = factor * d * d
    for j in range(1, points.shape[0]):
        for i in range(low, high):
            d = points[j, i] - center[j]
            out[i] += factor * d * d


@kernel
def evaluate(points: Any, offsets: Any, centers: Any, scales: Any, weights: Any, biases: Any, out: Any) -> None:
    """out[m, i] = b_m + Σ_k w_k exp(-½ s_k² ‖x_i - c_k‖²), for networks stored flat between offsets."""
    n_dims, n_points = points.shape
    first = points[0]
    buffer = np.empty(n_points)
    for m in range(len(biases)):
        row = out[m]
        row[:] = biases[m]
        for k in range(offsets[m], offsets[m + 1]):
            s, w = scales[k], weights[k]
            low, high = window(first, centers[k, 0], REACH / s)
            if n_dims == 1:
                c, factor = centers[k, 0], -0.5 * s * s
                for i in range(low, high):
                    d = first[i] - c
                    row[i] += w * fast_exp(factor * d * d)
            else:
                half_distances(points, centers[k], s, low, high, buffer)
                for i in range(low, high):
                    row[i] += w * fast_exp(max(buffer[i], _LOWEST))


@kernel
def evaluate_gradient(points: Any, offsets: Any, centers: Any, scales: Any, weights: Any, out: Any) -> None:
    """out[m, j, i] = Σ_k -w_k s_k² (x_ij - c_kj) exp(-½ s_k² ‖x_i - c_k‖²)."""
    n_dims, n_points = points.shape
    first = points[0]
    buffer = np.empty(n_points)
    for m in range(len(offsets) - 1):
        out[m] = 0.0
        for k in range(offsets[m], offsets[m + 1]):
            s = scales[k]
            factor = -weights[k] * s * s
            low, high = window(first, centers[k, 0], REACH / s)
            half_distances(points, centers[k], s, low, high, buffer)
            for i in range(low, high):
                buffer[i] = factor * fast_exp(max(buffer[i], _LOWEST))
            for j in range(n_dims):
                c = centers[k, j]
                for i in range(low, high):
                    out[m, j, i] += buffer[i] * (points[j, i] - c)
