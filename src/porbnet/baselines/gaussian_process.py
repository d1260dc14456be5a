"""The squared-exponential Gaussian process, by maximal marginal likelihood (scikit-learn) or by NUTS."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState, seed_sequence
from porbnet.baselines._nuts import jax_modules, sample
from porbnet.baselines.base import Baseline, Predictive, choose

_JITTER = 1e-8


class GPRegressor(Baseline):
    """A Gaussian process with a squared-exponential kernel, one lengthscale per input, and constant noise.

    Parameters
    ----------
    method : {"ml", "hmc"}
        Hyper-parameters by maximal marginal likelihood (scikit-learn), or sampled by NUTS under log-normal priors:
        amplitude about the sd of y (factor 2), lengthscales about 0.2 ranges (factor 2.5), noise about 0.3 sd of y
        (factor 3), the defaults of PoRB-NET.
    n_warmup, n_draws, n_chains : int
        Of NUTS; draws are per chain.
    random_state : int, Generator, SeedSequence, RandomState or None

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 20)
    >>> model = GPRegressor().fit(x, np.sin(6 * x))
    >>> bool(abs(model.predict([0.5])[0] - np.sin(3.0)) < 0.05)
    True
    """

    def __init__(
        self, method: str = "ml", *, n_warmup: int = 300, n_draws: int = 300, n_chains: int = 2,
        random_state: RandomState = 0,
    ) -> None:  # fmt: skip
        self.method = _checks.choice("method", method, ("ml", "hmc"))
        self.n_warmup, self.n_draws = _checks.count("n_warmup", n_warmup), _checks.count("n_draws", n_draws)
        self.n_chains, self.random_state = _checks.count("n_chains", n_chains), random_state

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        self._X, self._offset = X, float(y.mean())
        self._y = y - self._offset
        low_spread, ranges = float(np.std(y)) or 1.0, np.ptp(X, axis=0)
        if self.method == "ml":
            self._theta = self._most_likely(X, self._y, low_spread, ranges, seed)
        else:
            data = {"X": X, "y": self._y, "centers": np.array([low_spread, *(0.2 * ranges), 0.3 * low_spread])}
            z = sample(_program(X.shape[1]), data, self.n_warmup, self.n_draws, self.n_chains, 7, seed)["z"]
            self._theta = data["centers"] * np.exp(z * _factors(X.shape[1]))
        self._solved = [self._solve(t) for t in self._theta]

    def _most_likely(self, X: FloatArray, y: FloatArray, spread: float, ranges: FloatArray, seed: int) -> FloatArray:
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

        s2 = spread**2
        kernel = (
            ConstantKernel(s2, (1e-4 * s2, 1e3 * s2)) * RBF(0.2 * ranges, [(1e-3 * r, 1e2 * r) for r in ranges])
            + WhiteKernel(0.1 * s2, (1e-7 * s2, 1e1 * s2))
        )  # fmt: skip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # parameters at their bounds
            best = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=seed % 2**31).fit(X, y).kernel_
        lengths = np.broadcast_to(best.k1.k2.length_scale, ranges.shape)
        amplitude, noise = math.sqrt(best.k1.k1.constant_value), math.sqrt(best.k2.noise_level)
        return np.array([[amplitude, *lengths, noise]])

    def _kernel(self, theta: FloatArray, A: FloatArray, B: FloatArray) -> FloatArray:
        distance2 = np.sum(((A[:, None] - B[None]) / theta[1:-1]) ** 2, axis=2)
        return np.asarray(theta[0] ** 2 * np.exp(-0.5 * distance2))

    def _solve(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Cholesky factor of the covariance of y, and its inverse times y."""
        from scipy.linalg import cho_solve

        covariance = self._kernel(theta, self._X, self._X)
        covariance[np.diag_indices(len(covariance))] += theta[-1] ** 2 + _JITTER * theta[0] ** 2
        factor = np.asarray(np.linalg.cholesky(covariance), dtype=np.float64)
        return factor, cho_solve((factor, True), self._y)

    def _conditional(self, X: FloatArray, i: int) -> tuple[FloatArray, FloatArray]:
        """Mean of f, shape (n_points,), and the part of its covariance that is taken away, as a factor."""
        from scipy.linalg import solve_triangular

        factor, weights = self._solved[i]
        cross = self._kernel(self._theta[i], self._X, X)
        return self._offset + weights @ cross, solve_triangular(factor, cross, lower=True)

    def _predictive(self, X: FloatArray) -> Predictive:
        mean, variance = np.empty((2, len(self._theta), len(X)))
        for i, theta in enumerate(self._theta):
            mean[i], taken = self._conditional(X, i)
            variance[i] = np.maximum(theta[0] ** 2 - np.sum(taken**2, axis=0), 1e-14)
        return Predictive(mean, variance, np.repeat(self._theta[:, -1:] ** 2, len(X), axis=1))

    def _functions(self, X: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        result = np.empty((len(X), n))
        for j, i in enumerate(choose(n, len(self._theta), rng)):
            mean, taken = self._conditional(X, int(i))
            result[:, j] = mean + normal_draw(self._kernel(self._theta[i], X, X) - taken.T @ taken, rng)
        return result


def normal_draw(covariance: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw of mean zero; a covariance that is singular to rounding will do."""
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(values))))


def _factors(n_dims: int) -> FloatArray:
    return np.log([2.0, *([2.5] * n_dims), 3.0])


@functools.cache
def _program(n_dims: int) -> Callable[..., None]:
    jax, numpyro = jax_modules()
    dist, jnp = numpyro.distributions, jax.numpy

    def program(X: Any, y: Any, centers: Any) -> None:
        z = numpyro.sample("z", dist.Normal(0.0, 1.0).expand([n_dims + 2]).to_event(1))
        theta = centers * jnp.exp(z * jnp.asarray(_factors(n_dims)))
        distance2 = jnp.sum(((X[:, None] - X[None]) / theta[1:-1]) ** 2, axis=2)
        covariance = theta[0] ** 2 * jnp.exp(-0.5 * distance2)
        covariance += (theta[-1] ** 2 + _JITTER * theta[0] ** 2) * jnp.eye(len(y))
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(y)), covariance_matrix=covariance), obs=y)

    return program
