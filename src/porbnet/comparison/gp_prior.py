"""The squared-exponential Gaussian process: what a PoRB-NET with a constant lengthscale tends to as units get dense."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import DRAWS_PER_BLOCK, RandomState, block_generators
from porbnet.functions.grid_gp import lengthscale_vector
from porbnet.statement.function_prior import FunctionPrior
from porbnet.statement.moments import PointMoments


class GaussianProcessPrior(FunctionPrior):
    """A Gaussian process of mean zero with a squared-exponential covariance.

        Cov(f(x1), f(x2)) = bias² + amplitude² exp(-½ Σ_d (x1_d - x2_d)² / lengthscale_d²)

    Parameters
    ----------
    lengthscale : float or sequence of float
        In the units of the input: one for all dimensions, or one per dimension.
    amplitude : float
        Standard deviation of f about its bias, in the units of the output.
    bias : float, default 0
        Standard deviation of the constant, in the units of the output.
    n_dims : int, default 1
        Number of input dimensions.

    Examples
    --------
    >>> gp = GaussianProcessPrior(lengthscale=0.5, amplitude=2.0)
    >>> gp.variance([0.0, 3.0])
    array([4., 4.])
    >>> gp.sample([0.0, 0.5, 1.0], n=4, random_state=1).shape
    (4, 3)
    """

    def __init__(self, lengthscale: float | Any, amplitude: float, bias: float = 0.0, n_dims: int = 1) -> None:
        self._n_dims = _checks.count("n_dims", n_dims)
        self.lengthscales = lengthscale_vector("lengthscale", lengthscale, self._n_dims)
        self.amplitude = _checks.positive("amplitude", amplitude)
        self.bias = _checks.number("bias", bias, inclusive=True)

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self._n_dims

    def covariance(self, X1: Any, X2: Any = None) -> FloatArray:
        """Prior covariance between points.

        Parameters
        ----------
        X1, X2 : array of shape (n1, n_dims) and (n2, n_dims); X2 is X1 if not given

        Returns
        -------
        ndarray of shape (n1, n2), in squared units of the output
        """
        first = _checks.points("X1", X1, self.n_dims)
        second = first if X2 is None else _checks.points("X2", X2, self.n_dims)
        return self.bias**2 + self._without_bias(first, second)

    def _without_bias(self, X1: FloatArray, X2: FloatArray) -> FloatArray:
        distance2 = np.zeros((len(X1), len(X2)))
        for d in range(self.n_dims):
            distance2 += ((X1[:, d, None] - X2[None, :, d]) / self.lengthscales[d]) ** 2
        return np.asarray(self.amplitude**2 * np.exp(-0.5 * distance2))

    def variance(self, X: Any) -> FloatArray:
        """Prior variance at points, shape (n_points,), in squared units of the output: the same everywhere."""
        return np.full(len(_checks.points("X", X, self.n_dims)), self.bias**2 + self.amplitude**2)

    def point_moments(self, X: FloatArray) -> PointMoments:
        """Var f, Var ∂f = amplitude² / lengthscale² and Cov(f, ∂f) = 0 at points."""
        slope = np.tile(self.amplitude**2 / self.lengthscales**2, (len(X), 1))
        return PointMoments(np.full(len(X), self.bias**2 + self.amplitude**2), slope, np.zeros_like(slope))

    def sample_chunks(self, X: Any, n: int, random_state: RandomState = None) -> Iterator[FloatArray]:
        """Function values of n exact draws in chunks of at most 128 draws.

        Yields
        ------
        ndarray of shape (n_chunk, n_points)
            The rows of `sample(X, n, random_state)`, in order.
        """
        points = _checks.points("X", X, self.n_dims)
        n = _checks.count("n", n)
        root = self._root(points)
        for rng, wanted in block_generators(random_state, n):
            # the whole block is drawn, so that its first draws do not depend on `wanted`
            biases = self.bias * rng.standard_normal(DRAWS_PER_BLOCK)
            values = rng.standard_normal((DRAWS_PER_BLOCK, len(points)))[:wanted] @ root
            yield values + biases[:wanted, None]

    def _root(self, points: FloatArray) -> FloatArray:
        """The symmetric square root of the covariance at points, shape (n_points, n_points).

        Needs no jitter where the covariance is singular to rounding, and, unlike a factor with eigenvectors of
        arbitrary sign, moves smoothly with the lengthscale, so that one seed gives comparable draws.
        """
        variances, vectors = np.linalg.eigh(self._without_bias(points, points))
        return np.asarray((vectors * np.sqrt(np.maximum(variances, 0.0))) @ vectors.T)

    def __repr__(self) -> str:
        same = np.all(self.lengthscales == self.lengthscales[0])
        stated = float(self.lengthscales[0]) if same else self.lengthscales.tolist()
        return (
            f"GaussianProcessPrior(lengthscale={stated!r}, amplitude={self.amplitude!r}, "
            f"bias={self.bias!r}, n_dims={self.n_dims})"
        )
