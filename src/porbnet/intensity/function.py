"""A known intensity given by any positive callable, with its upper bound found and verified."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet import _checks, quadrature
from porbnet._checks import FloatArray
from porbnet.errors import StatementError
from porbnet.intensity.base import Intensity, Units, segment_ids
from porbnet.region import Region

_HEADROOM = 1.02  # between the largest value found and the bound used for thinning
_SEARCH_POINTS = {1: 4097, 2: 129, 3: 41}  # of the first look, per dimension


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
        prepared = FromFunction(self.function, self.bound)
        largest = prepared._search(region)
        prepared.bound = self.bound if self.bound is not None else _HEADROOM * largest
        prepared._region = region
        return prepared

    def _search(self, region: Region) -> float:
        """Largest value on the region: a grid, then ever finer grids around the largest value found.

        For a bounded continuous function the refinements add less and less; one whose largest value still grows
        by a factor after ten refinements is taken to be unbounded.
        """
        per_dim = _SEARCH_POINTS.get(region.n_dims, 9)
        box, history = region, []
        for _ in range(12):
            X = quadrature.grid_points(box, per_dim)
            levels = self.value(X)
            best = X[np.argmax(levels)]
            history.append(float(levels.max()))
            step = box.widths / (per_dim - 1)
            box = Region(np.maximum(region.low, best - step), np.minimum(region.high, best + step))
            per_dim = min(per_dim, 33)
            if np.any(box.widths <= 1e-12 * region.widths):
                break
        largest = max(history)
        if len(history) > 6 and largest > 1.5 * max(history[: len(history) // 2 + 1]):
            raise StatementError(
                f"intensity grows without bound near {np.round(best, 6).tolist()} (reached {largest:.3g}): "
                "it must be bounded on the region"
            )
        return largest

    def value(self, X: Any) -> FloatArray:
        """The callable's value at each row of X, checked; shape (n_points,)."""
        points = np.asarray(X, dtype=np.float64)
        points = points[:, None] if points.ndim == 1 else points
        try:
            with np.errstate(all="ignore"):
                raw = np.asarray(self.function(points))
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
        bad = ~(np.isfinite(levels) & (levels > 0))
        if bad.any():
            i = int(np.argmax(bad))
            raise StatementError(
                f"intensity is {levels[i]!r} at {points[i].tolist()}: it must be positive and finite everywhere in it"
            )
        if self.bound is not None and levels.max(initial=0.0) > self.bound:
            i = int(np.argmax(levels))
            raise StatementError(
                f"bound={self.bound!r} is exceeded: the intensity is {levels[i]!r} at {points[i].tolist()}; "
                "state a bound that holds on the whole region"
            )
        return levels

    def gradient(self, X: Any) -> FloatArray:
        """Central differences of the callable, shape (n_points, n_dims); one-sided at the region's edge."""
        points = np.asarray(X, dtype=np.float64)
        points = points[:, None] if points.ndim == 1 else points
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
