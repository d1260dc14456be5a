"""A Gaussian process whose lengthscale varies over the input (Heinonen et al. 2016), by NUTS; one input.

    Cov(f(x), f(x')) = a(x) a(x') √(2 ℓ ℓ' / (ℓ² + ℓ'²)) exp(-(x - x')² / (ℓ² + ℓ'²)),   ℓ = ℓ(x), ℓ' = ℓ(x')

with log ℓ a Gaussian process about log 0.2 ranges; in variants so are the log noise and the log amplitude. The curves
live at equally spaced knots and are interpolated linearly; knots, levels and curves are sampled in whitened form.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState, seed_sequence
from porbnet.baselines._nuts import jax_modules, sample
from porbnet.baselines.base import Baseline, Predictive, choose
from porbnet.baselines.gaussian_process import normal_draw
from porbnet.errors import StatementError

_JITTER = 1e-6
_KNOTS = 25
_CURVE_LENGTH = {"lengthscale": 0.2, "noise": 0.15, "amplitude": 0.2}  # of the curves, in ranges of x
_CURVE_SD = {"lengthscale": 1.0, "noise": 1.0, "amplitude": 0.7}  # of their logarithms
_CENTERS = {"lengthscale": 0.2, "noise": 0.3, "amplitude": 1.0}  # in ranges of x, sd of y, sd of y
_FACTORS = {"lengthscale": 2.5, "noise": 3.0, "amplitude": 2.0}
NAMES = ("lengthscale", "noise", "amplitude")


class LGPRegressor(Baseline):
    """A Gaussian process with an input-dependent lengthscale, all else learned too.

    Parameters
    ----------
    varying : sequence of {"lengthscale", "noise", "amplitude"}
        Which of them vary over the input; the others are one unknown number each.
    n_warmup, n_draws, n_chains : int
        Of NUTS; draws are per chain.
    max_depth : int
        Of NUTS's trees.
    random_state : int, Generator, SeedSequence, RandomState or None
    """

    def __init__(
        self, varying: Any = ("lengthscale",), *, n_warmup: int = 300, n_draws: int = 300, n_chains: int = 1,
        max_depth: int = 6, random_state: RandomState = 0,
    ) -> None:  # fmt: skip
        chosen = (varying,) if isinstance(varying, str) else tuple(varying)
        for name in chosen:
            _checks.choice("varying", name, NAMES)
        self.varying = tuple(name for name in NAMES if name in chosen)
        self.n_warmup, self.n_draws = _checks.count("n_warmup", n_warmup), _checks.count("n_draws", n_draws)
        self.n_chains, self.max_depth = _checks.count("n_chains", n_chains), _checks.count("max_depth", max_depth)
        self.random_state = random_state

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        if X.shape[1] != 1:
            raise StatementError(f"X has {X.shape[1]} inputs: LGPRegressor is for one")
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        self._low, self._range = float(X.min()), float(np.ptp(X)) or 1.0
        self._offset, self._scale = float(y.mean()), float(np.std(y)) or 1.0
        self._x, self._y = (X[:, 0] - self._low) / self._range, (y - self._offset) / self._scale
        data = {"x": self._x, "y": self._y, "weights": _interpolation(self._x)}
        draws = sample(_program(self.varying), data, self.n_warmup, self.n_draws, self.n_chains, self.max_depth, seed)
        self._draws = [{k: v[i] for k, v in draws.items()} for i in range(len(draws["levels"]))]
        self._solved = [self._solve(d) for d in self._draws]

    def _solve(self, draw: dict[str, FloatArray]) -> tuple[FloatArray, FloatArray, Curves]:
        from scipy.linalg import cho_solve

        curves = curves_of(np, draw, _interpolation(self._x), self.varying)
        covariance = kernel(np, self._x, curves, self._x, curves)
        covariance[np.diag_indices(len(covariance))] += curves.noise**2 + _JITTER
        factor = np.linalg.cholesky(covariance)
        return factor, cho_solve((factor, True), self._y), curves

    def _conditional(self, x: FloatArray, i: int) -> tuple[FloatArray, FloatArray, Curves]:
        from scipy.linalg import solve_triangular

        factor, weights, own = self._solved[i]
        curves = curves_of(np, self._draws[i], _interpolation(x), self.varying)
        cross = kernel(np, self._x, own, x, curves)
        return weights @ cross, solve_triangular(factor, cross, lower=True), curves

    def _predictive(self, X: FloatArray) -> Predictive:
        x, s2 = (X[:, 0] - self._low) / self._range, self._scale**2
        mean, variance, noise = np.empty((3, len(self._draws), len(x)))
        for i in range(len(self._draws)):
            value, taken, curves = self._conditional(x, i)
            mean[i] = self._offset + self._scale * value
            variance[i] = s2 * np.maximum(curves.amplitude**2 - np.sum(taken**2, axis=0), 1e-14)
            noise[i] = s2 * curves.noise**2
        return Predictive(mean, variance, noise)

    def _functions(self, X: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        x = (X[:, 0] - self._low) / self._range
        result = np.empty((len(x), n))
        for j, i in enumerate(choose(n, len(self._draws), rng)):
            value, taken, curves = self._conditional(x, int(i))
            covariance = kernel(np, x, curves, x, curves) - taken.T @ taken
            result[:, j] = self._offset + self._scale * (value + normal_draw(covariance, rng))
        return result

    def lengthscale_at(self, X: Any) -> FloatArray:
        """Lengthscale of every draw at points, shape (n_draws, n_points), in the units of the input."""
        x = (self._points(X)[:, 0] - self._low) / self._range
        weights = _interpolation(x)
        return self._range * np.array([curves_of(np, d, weights, self.varying).lengthscale for d in self._draws])


class Curves(NamedTuple):
    """Lengthscale, noise sd and amplitude at points, shape (n_points,) each, in units of the standardised data."""

    lengthscale: Any
    noise: Any
    amplitude: Any


def kernel(xp: Any, x1: Any, c1: Curves, x2: Any, c2: Curves) -> Any:
    """The covariance of f between points (Gibbs 1997), shape (n1, n2)."""
    squares = c1.lengthscale[:, None] ** 2 + c2.lengthscale[None] ** 2
    overlap = xp.sqrt(2.0 * c1.lengthscale[:, None] * c2.lengthscale[None] / squares)
    return c1.amplitude[:, None] * c2.amplitude[None] * overlap * xp.exp(-((x1[:, None] - x2[None]) ** 2) / squares)


def curves_of(xp: Any, draw: dict[str, Any], weights: Any, varying: tuple[str, ...]) -> Curves:
    """The curves of one draw at points with interpolation weights of shape (n_points, n_knots)."""
    found = []
    for i, name in enumerate(NAMES):
        level = xp.log(_CENTERS[name]) + np.log(_FACTORS[name]) * draw["levels"][i]
        if name in varying:
            level = level + weights @ (_root(name) @ draw[name])
        found.append(xp.exp(level) * xp.ones(len(weights)))
    return Curves(*found)


@functools.cache
def _root(name: str) -> FloatArray:
    """Square root of the covariance of a curve at the knots."""
    knots = np.linspace(0.0, 1.0, _KNOTS)
    distance = (knots[:, None] - knots) / _CURVE_LENGTH[name]
    root = np.linalg.cholesky(np.exp(-0.5 * distance**2) + 1e-8 * np.eye(_KNOTS))
    return np.asarray(_CURVE_SD[name] * root, dtype=np.float64)


def _interpolation(x: FloatArray) -> FloatArray:
    """Linear interpolation from knots on [0, 1], constant beyond; shape (n_points, n_knots)."""
    place = np.clip(x, 0.0, 1.0) * (_KNOTS - 1)
    left = np.minimum(place.astype(int), _KNOTS - 2)
    weights = np.zeros((len(x), _KNOTS))
    rows = np.arange(len(x))
    weights[rows, left], weights[rows, left + 1] = 1.0 - (place - left), place - left
    return weights


@functools.cache
def _program(varying: tuple[str, ...]) -> Callable[..., None]:
    jax, numpyro = jax_modules()
    dist, jnp = numpyro.distributions, jax.numpy

    def program(x: Any, y: Any, weights: Any) -> None:
        def normal(name: str, n: int) -> Any:
            return numpyro.sample(name, dist.Normal(0.0, 1.0).expand([n]).to_event(1))

        draw = {"levels": normal("levels", len(NAMES))} | {name: normal(name, _KNOTS) for name in varying}
        curves = curves_of(jnp, draw, weights, varying)
        covariance = kernel(jnp, x, curves, x, curves) + jnp.diag(curves.noise**2 + _JITTER)
        numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(y)), covariance_matrix=covariance), obs=y)

    return program
