"""What a prior over functions offers whatever its kind, so that priors can be compared in figures and tables."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.base.seeds import RandomState
from porbnet.functions import quadrature
from porbnet.functions.upcrossings import count_upcrossings, rice_rate
from porbnet.statement.moments import PointMoments

_MOST_PANELS = 12_800


class FunctionPrior(ABC):
    """A prior over functions: draws, second moments, upcrossings."""

    @property
    @abstractmethod
    def n_dims(self) -> int:
        """Number of input dimensions."""

    @abstractmethod
    def sample_chunks(self, X: Any, n: int, random_state: RandomState = None) -> Iterator[FloatArray]:
        """Function values of n draws, in chunks of rows."""

    @abstractmethod
    def covariance(self, X1: Any, X2: Any = None) -> FloatArray:
        """Prior covariance between points, shape (n1, n2)."""

    @abstractmethod
    def variance(self, X: Any) -> FloatArray:
        """Prior variance at points, shape (n_points,)."""

    @abstractmethod
    def point_moments(self, X: FloatArray) -> PointMoments:
        """Var f, Var ∂f and Cov(f, ∂f) at points."""

    def sample(self, X: Any, n: int = 1, random_state: RandomState = None) -> FloatArray:
        """Function values of n draws.

        Parameters
        ----------
        X : array of shape (n_points, n_dims)
        n : int
            Number of functions.
        random_state : int, Generator, SeedSequence, RandomState or None

        Returns
        -------
        ndarray of shape (n, n_points), in the units of the output
        """
        points = _checks.points("X", X, self.n_dims)
        result = np.empty((_checks.count("n", n), len(points)))
        start = 0
        for chunk in self.sample_chunks(points, n, random_state):
            result[start : start + len(chunk)] = chunk
            start += len(chunk)
        return result

    def upcrossings(
        self,
        interval: Any,
        *,
        level: float = 0.0,
        dimension: int = 0,
        at: Any = None,
        method: str = "rice",
        n: int = 2000,
        random_state: RandomState = None,
    ) -> float:
        """Expected number of times that f crosses `level` from below within an interval.

        Parameters
        ----------
        interval : (low, high)
            In the units of the input.
        level : float
            In the units of the output.
        dimension : int
            The input dimension along which the interval runs.
        at : array of shape (n_dims,), optional
            Where the other dimensions are held; needed in more than one dimension.
        method : {"rice", "draws"}
            Rice's formula for the Gaussian process with the same covariance, or the mean count of `n` draws. The two
            differ where few units overlap, because f is then far from Gaussian.
        n, random_state
            Of the draws.
        """
        _checks.choice("method", method, ("rice", "draws"))
        height = _checks.number("level", level, minimum=-np.inf)
        if method == "draws":
            counts = self.upcrossing_counts(
                interval, level=level, dimension=dimension, at=at, n=n, random_state=random_state
            )
            return float(counts.mean())
        box = Region.of(interval, "interval")
        n_panels, previous = 100, np.nan
        while True:
            # doubled until it settles: a steep prior has all its crossings in a small part of the interval
            nodes, weights = quadrature.panel_rule(box.low[0], box.high[0], n_panels, np.empty(0))
            m = self.point_moments(self._line(nodes, box, dimension, at))
            rate = rice_rate(m.variance, m.gradient_variance[:, dimension], m.cross[:, dimension], height)
            expected = float(weights @ rate)
            if abs(expected - previous) <= 1e-7 * expected or n_panels >= _MOST_PANELS:
                return expected
            n_panels, previous = 2 * n_panels, expected

    def upcrossing_counts(
        self,
        interval: Any,
        *,
        level: float = 0.0,
        dimension: int = 0,
        at: Any = None,
        n: int = 2000,
        n_points: int = 1000,
        random_state: RandomState = None,
    ) -> NDArray[np.int64]:
        """Upcrossings of each of n draws, counted on a grid of n_points; shape (n,). Parameters as `upcrossings`."""
        box = Region.of(interval, "interval")
        line = self._line(np.linspace(box.low[0], box.high[0], _checks.count("n_points", n_points)), box, dimension, at)
        height = _checks.number("level", level, minimum=-np.inf)
        chunks = self.sample_chunks(line, n, random_state)
        return np.concatenate([count_upcrossings(chunk, height) for chunk in chunks])

    def _line(self, places: FloatArray, box: Region, dimension: int, at: Any) -> FloatArray:
        """Points along one dimension."""
        box.require_dims(1, "interval")
        if type(dimension) is not int or dimension not in range(self.n_dims):
            raise _checks.fail("dimension", dimension, f"it must be a whole number from 0 to {self.n_dims - 1}")
        if at is None:
            if self.n_dims > 1:
                raise _checks.fail("at", at, f"in {self.n_dims} dimensions it must say where the others are held")
            return places[:, None]
        allowed = f"it must be {self.n_dims} finite numbers"
        fixed = np.atleast_2d(_checks.real_array("at", at, allowed))
        if fixed.shape != (1, self.n_dims):
            raise _checks.fail("at", at, allowed)
        X = np.repeat(fixed, len(places), axis=0)
        X[:, dimension] = places
        return X
