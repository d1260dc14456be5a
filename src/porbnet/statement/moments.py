"""Second moments of the network under the prior, for unit amplitude: closed form and quadrature.

For a constant level λ on a box, with s = s0 λ^(1/D), m the midpoint of x1 and x2, and Φ the normal cdf,

    Cov_w(x1, x2) = exp(-¼ s² ‖x1 - x2‖²) · Π_d [Φ((high_d - m_d) √2 s) - Φ((low_d - m_d) √2 s)]

which, times amplitude² and plus bias², is the covariance of f (the paper's appendix, corrected). Any other known
intensity needs the integral over the box,

    Cov_w(x1, x2) = (s0² / π)^(D/2) ∫ λ(c) exp(-½ s(c)² [‖x1 - c‖² + ‖x2 - c‖²]) dc.

With `tied=False` the scales do not follow the intensity, s = s0 everywhere, and the closed form of a piece is
multiplied by its level: this is what the B-RBFN of `porbnet.comparison` needs.

All coordinates are divided by the anisotropy first; its entries have product one, so volumes stay as they are.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from scipy.special import ndtr

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.errors import PorbnetWarning, StatementError
from porbnet.functions import quadrature
from porbnet.intensity import Intensity, Piece

_TOLERANCE = 1e-8
_MOST_NODES = {1: 40_000, 2: 400_000, 3: 1_500_000}
_MOST_PANELS = 2_000_000  # to begin with


class Known(Protocol):
    """A known intensity, as far as quadrature wants to know it."""

    def value(self, X: FloatArray) -> FloatArray: ...  # noqa: D102

    def upper_bound(self, region: Region) -> float: ...  # noqa: D102

    def breaks(self, dimension: int) -> FloatArray: ...  # noqa: D102


class PointMoments(NamedTuple):
    """Moments at single points for unit amplitude.

    variance : shape (n_points,), Var f_w
    gradient_variance : shape (n_points, n_dims), Var ∂f/∂x_d
    cross : shape (n_points, n_dims), Cov(f, ∂f/∂x_d)
    """

    variance: FloatArray
    gradient_variance: FloatArray
    cross: FloatArray


def scale_of(level: FloatArray | float, s0: float, n_dims: int, tied: bool = True) -> FloatArray:
    """S = s0 λ^(1/D), or s0 if scales are not tied to the intensity."""
    if not tied:
        return np.full(np.shape(level), s0)
    return np.asarray(s0 * np.asarray(level, dtype=np.float64) ** (1.0 / n_dims))


def closed_covariance(
    X1: FloatArray,
    X2: FloatArray,
    pieces: list[Piece],
    s0: float,
    anisotropy: FloatArray,
    *,
    tied: bool = True,
) -> FloatArray:
    """Cov_w, shape (n1, n2), summed over constant pieces."""
    u1, u2 = X1 / anisotropy, X2 / anisotropy
    n_dims = u1.shape[1]
    distance2 = np.zeros((len(u1), len(u2)))
    middle = []
    for d in range(n_dims):
        distance2 += (u1[:, d, None] - u2[None, :, d]) ** 2
        middle.append(0.5 * (u1[:, d, None] + u2[None, :, d]))
    total = np.zeros_like(distance2)
    for probability, level, box in pieces:
        s = float(scale_of(level, s0, n_dims, tied))
        term = (probability if tied else probability * level) * np.exp(-0.25 * s * s * distance2)
        for d in range(n_dims):
            low, high = box.low[d] / anisotropy[d], box.high[d] / anisotropy[d]
            term *= ndtr((high - middle[d]) * math.sqrt(2.0) * s) - ndtr((low - middle[d]) * math.sqrt(2.0) * s)
        total += term
    return total


def closed_point_moments(
    X: FloatArray, pieces: list[Piece], s0: float, anisotropy: FloatArray, *, tied: bool = True
) -> PointMoments:
    """Moments at points, summed over constant pieces.

    With u = (c - x) √2 s the integrals over a piece are of φ(u), u φ(u) and u² φ(u), φ the normal density.
    """
    u = X / anisotropy
    n_points, n_dims = u.shape
    variance, gradient, cross = np.zeros(n_points), np.zeros((n_points, n_dims)), np.zeros((n_points, n_dims))
    for probability, level, box in pieces:
        s = float(scale_of(level, s0, n_dims, tied))
        share = probability if tied else probability * level
        a = (box.low / anisotropy - u) * math.sqrt(2.0) * s
        b = (box.high / anisotropy - u) * math.sqrt(2.0) * s
        at_a, at_b = (np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi) for t in (a, b))
        mass = ndtr(b) - ndtr(a)
        first = at_a - at_b
        with np.errstate(invalid="ignore"):  # nothing of a bell is left at the end of a box without one
            second = mass + np.where(at_a > 0.0, a * at_a, 0.0) - np.where(at_b > 0.0, b * at_b, 0.0)
        variance += share * np.prod(mass, axis=1)
        for d in range(n_dims):
            others = share * np.prod(np.delete(mass, d, axis=1), axis=1)
            cross[:, d] += others * first[:, d] * s / math.sqrt(2.0) / anisotropy[d]
            gradient[:, d] += others * second[:, d] * s * s / 2.0 / anisotropy[d] ** 2
    return PointMoments(variance, gradient, cross)


def quadrature_covariance(
    X1: FloatArray,
    X2: FloatArray,
    intensity: Intensity,
    region: Region,
    s0: float,
    anisotropy: FloatArray,
    *,
    tied: bool = True,
) -> FloatArray:
    """Cov_w, shape (n1, n2), by quadrature over the centers."""
    at = functools.partial(covariance_sums, X1, X2, s0, anisotropy, tied)
    return _refined(at, intensity, region, s0, anisotropy, tied)


def quadrature_point_moments(
    X: FloatArray, intensity: Intensity, region: Region, s0: float, anisotropy: FloatArray, *, tied: bool = True
) -> PointMoments:
    """Moments at points by quadrature over the centers."""
    n_dims = region.n_dims
    at = functools.partial(point_sums, X, s0, anisotropy, tied)
    rows = _refined(at, intensity, region, s0, anisotropy, tied)
    return PointMoments(rows[0], rows[1 + n_dims :].T.copy(), rows[1 : 1 + n_dims].T.copy())


def covariance_sums(
    X1: FloatArray, X2: FloatArray, s0: float, anisotropy: FloatArray, tied: bool, nodes: FloatArray,
    weights: FloatArray, levels: FloatArray,
) -> FloatArray:  # fmt: skip
    """Σ_q weight_q λ_q φ_q(x1) φ_q(x2) over nodes, shape (n1, n2)."""
    s = scale_of(levels, s0, X1.shape[1], tied)
    left = unit_values(X1, nodes, s, anisotropy)
    right = left if X2 is X1 else unit_values(X2, nodes, s, anisotropy)
    return np.asarray((left * (weights * levels)) @ right.T)


def point_sums(
    X: FloatArray, s0: float, anisotropy: FloatArray, tied: bool, nodes: FloatArray, weights: FloatArray,
    levels: FloatArray,
) -> FloatArray:  # fmt: skip
    """Sums over nodes of φ², φ ∂_d φ and (∂_d φ)², shape (1 + 2 n_dims, n_points)."""
    n_dims = X.shape[1]
    s = scale_of(levels, s0, n_dims, tied)
    squared = unit_values(X, nodes, s, anisotropy) ** 2 * (weights * levels)
    rows = [squared.sum(axis=1)]
    for power in (1, 2):
        for d in range(n_dims):
            slope = s**2 * (nodes[None, :, d] - X[:, d, None]) / anisotropy[d] ** 2
            rows.append((squared * slope**power).sum(axis=1))
    return np.stack(rows)


def unit_values(X: FloatArray, nodes: FloatArray, s: FloatArray, anisotropy: FloatArray) -> FloatArray:
    """exp(-½ s_q² ‖x_i - c_q‖²), shape (n_points, n_nodes)."""
    exponent = np.zeros((len(X), len(nodes)))
    for d in range(X.shape[1]):
        exponent += ((X[:, d, None] - nodes[None, :, d]) / anisotropy[d]) ** 2
    exponent *= -0.5 * s * s
    return np.exp(exponent, out=exponent)


def _refined(
    at: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    intensity: Intensity,
    region: Region,
    s0: float,
    anisotropy: FloatArray,
    tied: bool,
) -> FloatArray:
    """Sum over the marginal law of the intensity of integrals over the centers, each refined until it settles."""
    factor = (s0 * s0 / math.pi) ** (region.n_dims / 2.0)
    total: FloatArray | None = None
    for probability, known in intensity.marginal(region):
        part = probability * factor * settle(at, known, region, s0, anisotropy, tied)
        total = part if total is None else total + part
    if total is None:
        raise RuntimeError("an intensity has at least one level")
    return total


def settle(
    at: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    known: Known,
    region: Region,
    s0: float,
    anisotropy: FloatArray,
    tied: bool,
) -> FloatArray:
    """An integral over the centers in a box, with panels doubled until it settles."""
    narrowest = float(scale_of(known.upper_bound(region), s0, region.n_dims, tied))
    # panels about as wide as the narrowest unit, then doubled until nothing changes
    n_panels = [math.ceil(w * narrowest / 2.0) + 1 for w in region.widths / anisotropy]
    if math.prod(n_panels) > _MOST_PANELS:
        raise StatementError(
            f"the narrowest units are {narrowest * float(np.max(region.widths / anisotropy)):,.0f} times narrower than "
            f"the region, and {math.prod(n_panels):,} boxes of their size are too many to integrate over: raise the "
            "lengthscale, shrink the region or state the intensity as Piecewise"
        )
    breaks = [known.breaks(d) for d in range(region.n_dims)]
    previous: FloatArray | None = None
    while True:
        nodes, weights = quadrature.box_rule(region, n_panels, breaks)
        result = _in_chunks(at, nodes, weights, known)
        change = np.inf if previous is None else float(np.max(np.abs(result - previous)))
        if change <= _TOLERANCE * float(np.max(np.abs(result))):
            return result
        if len(nodes) * 2**region.n_dims > _MOST_NODES[min(region.n_dims, 3)]:
            if previous is not None and change > 1e-4 * float(np.max(np.abs(result))):
                warnings.warn(
                    f"quadrature over the centers settled only to {change:.1e}: the intensity has jumps; "
                    "state it as Piecewise if it has",
                    PorbnetWarning,
                    stacklevel=2,
                )
            return result
        n_panels, previous = [2 * n for n in n_panels], result


def _in_chunks(
    at: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
    nodes: FloatArray,
    weights: FloatArray,
    known: Known,
    size: int = 20_000,
) -> FloatArray:
    parts = [
        at(nodes[i : i + size], weights[i : i + size], known.value(nodes[i : i + size]))
        for i in range(0, len(nodes), size)
    ]
    return np.asarray(sum(parts[1:], start=parts[0]))
