"""The compiled evaluator of networks: values and gradients of many networks at many points.

Points come scaled by the anisotropy and sorted by their first coordinate, so that a unit of scale s touches only the
points with |x_1 - c_1| < REACH / s. Beyond that exp(-½ REACH²) is below 1e-16.
"""

from __future__ import annotations

from typing import Any

from porbnet.base.compiled import fast_exp, hot, inner, kernel

REACH = 8.6
_LOWEST = -700.0  # fast_exp takes no less


@inner
def lower_bound(values: Any, target: float) -> int:
    """First index whose value is at least `target`, in a sorted array (np.searchsorted compiles for a second)."""
    low, high = 0, len(values)
    while low < high:
        middle = (low + high) >> 1
        if values[middle] < target:
            low = middle + 1
        else:
            high = middle
    return low


@inner
def window(first: Any, center: float, reach: float) -> tuple[int, int]:
    """Indices [low, high) of the sorted values within `reach` of `center`."""
    low = lower_bound(first, center - reach)
    return low, low + lower_bound(first[low:], center + reach)


@hot
def add_unit(first: Any, center: float, factor: float, weight: float, row: Any) -> None:
    """row[i] += w exp(factor (x_i - c)²) at one-dimensional points.

    A function of whole arrays: with a range of indices the loop would not be vectorised.
    """
    for i in range(len(row)):
        d = first[i] - center
        row[i] += weight * fast_exp(factor * d * d)


@hot
def add_half_distances(coordinate: Any, center: float, factor: float, out: Any) -> None:
    """out[i] += factor (x_i - c)² in one coordinate."""
    for i in range(len(out)):
        d = coordinate[i] - center
        out[i] += factor * d * d


@hot
def add_exponentials(exponents: Any, weight: float, row: Any) -> None:
    """row[i] += w exp(exponents[i])."""
    for i in range(len(row)):
        row[i] += weight * fast_exp(max(exponents[i], _LOWEST))


@inner
def half_distances(points: Any, center: Any, scale: float, low: int, high: int, out: Any) -> None:
    """out[i] = -½ s² ‖x_i - c‖² for i in [low, high); points of shape (n_dims, n_points)."""
    part = out[low:high]
    for i in range(len(part)):
        part[i] = 0.0
    for j in range(points.shape[0]):
        add_half_distances(points[j, low:high], center[j], -0.5 * scale * scale, part)


@kernel
def evaluate(
    points: Any, offsets: Any, centers: Any, scales: Any, weights: Any, biases: Any, buffer: Any, out: Any
) -> None:
    """out[m, i] = b_m + Σ_k w_k exp(-½ s_k² ‖x_i - c_k‖²), for networks stored flat between offsets.

    buffer : (n_points,) work space
    """
    n_dims, first = points.shape[0], points[0]
    for m in range(len(biases)):
        row = out[m]
        for i in range(len(row)):
            row[i] = biases[m]
        for k in range(offsets[m], offsets[m + 1]):
            s, w = scales[k], weights[k]
            low, high = window(first, centers[k, 0], REACH / s)
            if n_dims == 1:
                add_unit(first[low:high], centers[k, 0], -0.5 * s * s, w, row[low:high])
            else:
                half_distances(points, centers[k], s, low, high, buffer)
                add_exponentials(buffer[low:high], w, row[low:high])


@hot
def add_slopes(coordinate: Any, center: float, values: Any, row: Any) -> None:
    """row[i] += values[i] (x_i - c) in one coordinate."""
    for i in range(len(row)):
        row[i] += values[i] * (coordinate[i] - center)


@kernel
def evaluate_gradient(
    points: Any, offsets: Any, centers: Any, scales: Any, weights: Any, buffer: Any, values: Any, out: Any
) -> None:
    """out[m, j, i] += Σ_k -w_k s_k² (x_ij - c_kj) exp(-½ s_k² ‖x_i - c_k‖²).

    buffer, values : (n_points,) work space
    """
    n_dims, first = points.shape[0], points[0]
    for m in range(len(offsets) - 1):
        for k in range(offsets[m], offsets[m + 1]):
            s = scales[k]
            low, high = window(first, centers[k, 0], REACH / s)
            half_distances(points, centers[k], s, low, high, buffer)
            part = values[low:high]
            for i in range(len(part)):
                part[i] = 0.0
            add_exponentials(buffer[low:high], -weights[k] * s * s, part)
            for j in range(n_dims):
                add_slopes(points[j, low:high], centers[k, j], part, out[m, j, low:high])
