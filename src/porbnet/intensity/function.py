"""A known intensity given by any positive callable, with its upper bound found and verified."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.functions import quadrature
from porbnet.intensity.base import Intensity, Units, segment_ids

_HEADROOM = 1.02  # between the largest value found and the bound used for thinning
_SEARCH_POINTS = {1: 4097, 2: 129, 3: 41}  # of the first look, per dimension


def _rows(X: Any) -> FloatArray:
    array = _checks.real_array("X", X, "it must be an array of finite numbers of shape (n_points, n_dims)")
    return array[:, None] if array.ndim == 1 else np.atleast_2d(array)


class FromFunction(Intensity):
    """An intensity given by a callable.

    Parameters
    ----------
    function : callable
        Takes an array of shape (n_points, n_dims) and returns n_points positive finite numbers.
    bound : float, optional
        A level that the function does not exceed on the region. Found by search if not given. Every value met
        later is checked against it, so a wrong bound is an error, never a wrong draw.

    Examples
    --------
    >>> import numpy as np
    >>> wave = FromFunction(lambda X: 3.0 + np.sin(X[:, 0]))
    >>> round(wave.integral((0.0, 2.0 * np.pi)), 6)
    18.849556
    """

    def __init__(self, function: Callable[[FloatArray], Any], bound: float | None = None) -> None:
        if not callable(function):
            raise _checks.fail("function", function, "it must be a callable of an array of shape (n_points, n_dims)")
        self.function = function
        self.bound = None if bound is None else _checks.positive("bound", bound)
        self._region: Region | None = None

    def on(self, region: Region) -> FromFunction:
        """Look at the function all over the region: positive, finite, bounded; returns a copy that knows its bound."""
        if self._region == region:
            return self
        if region.n_dims not in _SEARCH_POINTS:
            raise StatementError(
                f"region={_checks.show(region.bounds.tolist())} has {region.n_dims} dimensions: "
                "for a callable there must be 1, 2 or 3"
            )
        prepared = FromFunction(self.function, self.bound)
        largest = prepared._extreme(region, highest=True)
        prepared._extreme(region, highest=False)
        prepared.bound = self.bound if self.bound is not None else _HEADROOM * largest
        prepared._region = region
        return prepared

    def _extreme(self, region: Region, highest: bool) -> float:
        """Largest (or smallest) value on the region: a grid, then ever finer grids around the best place found."""
        per_dim = _SEARCH_POINTS[region.n_dims]
        box, best, extreme = region, region.low, np.nan
        for _ in range(12):
            X = quadrature.grid_points(box, per_dim)
            levels = self.value(X)
            i = int(np.argmax(levels) if highest else np.argmin(levels))
            best, extreme = X[i], float(levels[i])
            step = box.widths / (per_dim - 1)
            box = Region(np.maximum(region.low, best - step), np.minimum(region.high, best + step))
            per_dim = min(per_dim, 17)
            if np.any(box.widths <= 1e-12 * region.widths):
                break
        if (self.bound is None or not highest) and self._keeps_growing(region, best, highest):
            what = "grows without bound" if highest else "falls to zero"
            raise StatementError(
                f"intensity {what} near {np.round(best, 6).tolist()} (it is {extreme:.3g} there): "
                f"it must be {'bounded' if highest else 'positive'} all over the region"
            )
        return extreme

    def _keeps_growing(self, region: Region, best: FloatArray, highest: bool) -> bool:
        """Whether λ (or 1 / λ) goes on growing as a place is approached, from 1e-2 to 1e-10 of the region's width.

        A bounded continuous function settles: it grows less over the last four powers of ten than over the first four.
        """
        radii = 10.0 ** -np.arange(2.0, 11.0)
        directions = np.array([v for v in itertools.product((-1.0, 0.0, 1.0), repeat=region.n_dims) if any(v)])
        X = np.clip(best + radii[:, None, None] * directions * region.widths, region.low, region.high)
        levels = self.value(X.reshape(-1, region.n_dims)).reshape(len(radii), len(directions))
        height = levels if highest else 1.0 / levels
        early, late = height[4] - height[0], height[8] - height[4]
        return bool(np.any(late > np.maximum(0.6 * early, 0.02 * height[4])))

    def value(self, X: Any) -> FloatArray:
        """The callable's value at each row of X, checked; shape (n_points,)."""
        points = _rows(X)
        try:
            with np.errstate(all="ignore"):
                raw = np.asarray(self.function(points))
        except StatementError:
            raise
        except Exception as error:
            raise StatementError(
                f"intensity function {_checks.show(self.function)} raised {type(error).__name__}: {error} "
                f"for an array of shape {points.shape}: it must accept an array of shape (n_points, n_dims)"
            ) from error
        if raw.dtype.kind not in "iuf" or raw.size not in (1, len(points)):
            raise StatementError(
                f"intensity function {_checks.show(self.function)} returned {_checks.show(raw)} for {len(points)} "
                "points: it must return one number per point"
            )
        levels = np.broadcast_to(raw.astype(np.float64).ravel(), (len(points),)).copy()
        bad = ~((levels >= 1.0 / _checks.LARGEST) & (levels <= _checks.LARGEST))
        if bad.any():
            i = int(np.argmax(bad))
            raise StatementError(
                f"intensity is {float(levels[i])!r} at {points[i].tolist()}: "
                f"it must be positive and finite all over the region ({1.0 / _checks.LARGEST:g} to {_checks.LARGEST:g})"
            )
        if self.bound is not None and levels.max(initial=0.0) > self.bound:
            i = int(np.argmax(levels))
            raise StatementError(
                f"bound={self.bound!r} is exceeded: the intensity is {float(levels[i])!r} at {points[i].tolist()}; "
                "the bound must hold all over the region"
            )
        return levels

    def beyond(self, X: FloatArray, region: Region) -> FloatArray:
        """The callable's value anywhere, shape (n_points,).

        Where that is no positive number, the value at the nearest place of the region.
        """
        try:
            with np.errstate(all="ignore"):
                raw = np.asarray(self.function(X), dtype=np.float64).ravel()
            levels = np.broadcast_to(raw, (len(X),)).copy()
        except Exception:  # it was made for the region
            return self.value(np.clip(X, region.low, region.high))
        unsound = ~((levels >= 1.0 / _checks.LARGEST) & (levels <= _checks.LARGEST))
        if unsound.any():
            levels[unsound] = self.value(np.clip(X[unsound], region.low, region.high))
        return levels

    def gradient(self, X: Any) -> FloatArray:
        """Central differences of the callable, shape (n_points, n_dims); one-sided at the region's edge."""
        points = _rows(X)
        widths = self._region.widths if self._region is not None else np.maximum(np.abs(points).max(axis=0), 1.0)
        slope = np.empty_like(points)
        for d in range(points.shape[1]):
            step = 6e-6 * widths[d]
            after, before = points.copy(), points.copy()
            after[:, d] += step
            before[:, d] -= step
            if self._region is not None:
                after[:, d] = np.minimum(after[:, d], np.maximum(self._region.high[d], points[:, d]))
                before[:, d] = np.maximum(before[:, d], np.minimum(self._region.low[d], points[:, d]))
            slope[:, d] = (self.value(after) - self.value(before)) / (after[:, d] - before[:, d])
        return slope

    def integral(self, region: Any) -> float:
        """Integral by adaptive Gauss-Legendre quadrature."""
        return float(quadrature.integrate(self.value, Region.of(region)))

    def upper_bound(self, region: Region) -> float:
        """The verified bound."""
        prepared = self.on(region)
        if prepared.bound is None:
            raise RuntimeError("a prepared intensity has a bound")
        return prepared.bound

    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws by thinning a homogeneous process at the bound."""
        bound = self.upper_bound(region)
        candidates = rng.poisson(bound * region.volume, size=n)
        X = region.uniform(int(candidates.sum()), rng)
        levels = self.value(X) if len(X) else np.empty(0)
        kept = rng.random(len(X)) * bound < levels
        counts = np.bincount(segment_ids(candidates)[kept], minlength=n)
        return Units(counts, X[kept], levels[kept])

    def __repr__(self) -> str:
        return f"FromFunction({self.function!r})"
