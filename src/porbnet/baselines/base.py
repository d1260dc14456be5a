"""The interface of all baselines, and what they read off a mixture over draws."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState, generator
from porbnet.errors import StatementError
from porbnet.posterior import mixture


class Predictive(NamedTuple):
    """Moments at points given each draw of the parameters, shape (n_draws, n_points) each.

    mean, variance : of f; noise_variance : of y about f
    """

    mean: FloatArray
    variance: FloatArray
    noise_variance: FloatArray


class Baseline(ABC):
    """A regression model whose predictive density is a mixture of Gaussians, one per draw of its parameters."""

    _n_dims: int | None = None

    def fit(self, X: Any, y: Any) -> Baseline:
        """Fit to inputs of shape (n_points, n_dims) and outputs of shape (n_points,); returns the model."""
        allowed = "it must be an array of finite numbers of shape (n_points, n_dims)"
        inputs = _checks.real_array("X", X, allowed)
        inputs = inputs[:, None] if inputs.ndim == 1 else inputs
        outputs = _checks.real_array("y", y, "it must be finite numbers, one per row of X").ravel()
        if inputs.ndim != 2 or len(inputs) < 2:
            raise StatementError(f"X has shape {np.shape(X)}: {allowed}, with at least 2 points")
        if len(outputs) != len(inputs):
            raise StatementError(f"y has {len(outputs)} values: there must be one per row of X ({len(inputs)})")
        self._fit(inputs, outputs)
        self._n_dims = inputs.shape[1]
        return self

    @abstractmethod
    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        """Fit to checked data."""

    @abstractmethod
    def _predictive(self, X: FloatArray) -> Predictive:
        """Moments at checked points."""

    @abstractmethod
    def _functions(self, X: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        """Functions from the posterior at checked points, shape (n_points, n)."""

    def _points(self, X: Any) -> FloatArray:
        if self._n_dims is None:
            from sklearn.exceptions import NotFittedError

            raise NotFittedError(f"{type(self).__name__} is not fitted yet: call fit first")
        return _checks.points("X", X, self._n_dims)

    def predict(self, X: Any, return_std: bool = False, *, of: str = "y") -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean at points, and the standard deviation of y (default) or of f.

        Parameters
        ----------
        X : array of shape (n_points, n_dims)
        return_std : bool
        of : {"y", "f"}
            Whether the spread is that of a new observation or of the function.
        """
        _checks.choice("of", of, ("y", "f"))
        parts = self._predictive(self._points(X))
        mean = np.asarray(parts.mean.mean(axis=0))
        if not return_std:
            return mean
        noise = parts.noise_variance if of == "y" else 0.0
        return mean, np.sqrt((parts.variance + noise).mean(axis=0) + parts.mean.var(axis=0))

    def predict_interval(self, X: Any, coverage: float = 0.9, *, of: str = "y") -> FloatArray:
        """Central interval of y (default) or of f at points, shape (n_points, 2)."""
        _checks.choice("of", of, ("y", "f"))
        parts = self._predictive(self._points(X))
        variance = np.maximum(parts.variance + (parts.noise_variance if of == "y" else 0.0), 1e-14)
        ends = [0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)]
        return np.stack([mixture.quantile(p, parts.mean, variance, None) for p in ends], axis=1)

    def sample_f(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """Functions from the posterior at points, shape (n_points, n_samples)."""
        return self._functions(self._points(X), _checks.count("n_samples", n_samples), generator(random_state))

    def log_density(self, X: Any, y: Any) -> FloatArray:
        """Log predictive density of each observation, shape (n_points,), per unit of the output."""
        points = self._points(X)
        values = _checks.real_array("y", y, "it must be finite numbers, one per row of X").ravel()
        if len(values) != len(points):
            raise StatementError(f"y has {len(values)} values: there must be one per row of X ({len(points)})")
        parts = self._predictive(points)
        return mixture.log_density(values, parts.mean, parts.variance + parts.noise_variance, None)


def choose(n: int, n_draws: int, rng: np.random.Generator) -> Any:
    """Rows of n of n_draws at random, without repeats as long as there are enough."""
    return rng.permutation(n_draws)[:n] if n <= n_draws else rng.integers(0, n_draws, n)
