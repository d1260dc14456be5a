"""Second moments of the network under the prior, by quadrature over centers anywhere: within the region and beyond.

The intensity goes on beyond its region (`intensity.continuation`), and every center that reaches a point counts. Points
are taken in groups that are near each other, so that no integral is over a box that is large beside the units.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.functions import quadrature
from porbnet.intensity import Intensity
from porbnet.intensity.continuation import Steps
from porbnet.statement.moments import PointMoments, covariance_sums, point_sums, scale_of, settle

FAR = 6.0  # widths 1 / s from its center, beyond which a unit is below 2e-8 and left out
_LOOKED_AT = {1: 1025, 2: 65}  # places per dimension to look for the highest level
_LOOKED_AT_BEYOND = 17

Sums = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]


def unbounded_covariance(
    X1: FloatArray, X2: FloatArray, intensity: Intensity, region: Region, s0: float, anisotropy: FloatArray
) -> FloatArray:
    """Cov_w, shape (n1, n2)."""
    result = np.empty((len(X1), len(X2)))
    for rows in near_each_other(X1, region):
        sums = functools.partial(covariance_sums, X1[rows], X2, s0, anisotropy, True)
        result[rows] = _refined(sums, X1[rows], intensity, region, s0, anisotropy)
    return result


def unbounded_point_moments(
    X: FloatArray, intensity: Intensity, region: Region, s0: float, anisotropy: FloatArray
) -> PointMoments:
    """Moments at points."""
    n_dims = X.shape[1]
    found = np.empty((1 + 2 * n_dims, len(X)))
    for rows in near_each_other(X, region):
        sums = functools.partial(point_sums, X[rows], s0, anisotropy, True)
        found[:, rows] = _refined(sums, X[rows], intensity, region, s0, anisotropy)
    return PointMoments(found[0], found[1 + n_dims :].T.copy(), found[1 : 1 + n_dims].T.copy())


def near_each_other(X: FloatArray, region: Region) -> list[NDArray[np.int64]]:
    """Indices of points in groups, each within a box of the region's size."""
    if not len(X):
        return []
    tiles = np.floor((X - region.low) / region.widths)
    group = np.unique(tiles, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(group, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(group[order])) + 1)


class Continued:
    """A known intensity anywhere, for quadrature."""

    def __init__(self, known: Intensity, region: Region) -> None:
        self.known, self.region = known, region

    def value(self, X: FloatArray) -> FloatArray:
        """Level at points."""
        return self.known.beyond(X, self.region)

    def upper_bound(self, region: Region) -> float:
        """About the highest level in a box."""
        continuation = self.known.continuation(self.region)
        if isinstance(continuation, Steps):
            return max(self.known.upper_bound(self.region), float(continuation.levels.max()))
        some = quadrature.grid_points(region, _LOOKED_AT.get(region.n_dims, _LOOKED_AT_BEYOND))
        return max(self.known.upper_bound(self.region), float(self.value(some).max()))

    def breaks(self, dimension: int) -> FloatArray:
        """Jumps, and the region's edges, where an intensity may bend."""
        edges = [self.region.low[dimension], self.region.high[dimension]]
        return np.unique(np.concatenate([self.known.breaks(dimension), edges]))

    def around(self, X: FloatArray, s0: float, anisotropy: FloatArray) -> Region:
        """The box of all centers that reach some points."""
        continuation, n_dims = self.known.continuation(self.region), X.shape[1]
        lowest = self.known.upper_bound(self.region) if continuation is None else float(continuation.lowest(1).min())
        reach = FAR * anisotropy / float(scale_of(lowest, s0, n_dims))
        return Region(X.min(axis=0) - reach, X.max(axis=0) + reach)


def _refined(
    sums: Sums, X: FloatArray, intensity: Intensity, region: Region, s0: float, anisotropy: FloatArray
) -> FloatArray:
    """Sum over the marginal law of the intensity of integrals over all centers that reach points X."""
    factor = (s0 * s0 / math.pi) ** (region.n_dims / 2.0)
    parts = []
    for probability, known in intensity.marginal(region):
        continued = Continued(known, region)
        box = continued.around(X, s0, anisotropy)
        parts.append(probability * factor * settle(sums, continued, box, s0, anisotropy, True))
    return np.asarray(sum(parts[1:], start=parts[0]))
