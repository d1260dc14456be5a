"""MC dropout (Gal and Ghahramani 2016): a network trained with dropout, whose predictions keep it on.

One hidden layer of rectified units; inputs and outputs are standardised. Dropout before both layers, weight decay
l² (1 - p) / (2 n τ) with l = 0.01, Adam. The dropout rate p and the precision τ = 1 / noise² are those of the highest
predictive log density on a held-out fifth of the training rows.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState, seed_sequence
from porbnet.baselines._nuts import jax_modules
from porbnet.baselines.base import Baseline, Predictive, choose

RATES = (0.0005, 0.001, 0.005, 0.01)
_NOISES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.7)  # over the sd of y
_PRIOR_LENGTH, _HELD_OUT, _STEP = 0.01, 0.2, 0.01


class DropoutRegressor(Baseline):
    """A network with MC dropout; rate and noise by cross-validation.

    Parameters
    ----------
    n_units : int
        Width of the hidden layer.
    rates : sequence of float
        Dropout rates to choose from.
    n_epochs : int
        Passes over the training rows.
    n_passes : int
        Predictions with units dropped at random, which make the mixture.
    random_state : int, Generator, SeedSequence, RandomState or None
    """

    def __init__(
        self, n_units: int = 50, rates: Any = RATES, *, n_epochs: int = 4000, n_passes: int = 1000,
        random_state: RandomState = 0,
    ) -> None:  # fmt: skip
        self.n_units, self.n_epochs = _checks.count("n_units", n_units), _checks.count("n_epochs", n_epochs)
        self.n_passes, self.random_state = _checks.count("n_passes", n_passes), random_state
        allowed = "they must be numbers above 0 and below 1"
        self.rates = np.atleast_1d(_checks.positive_array("rates", rates, allowed))
        if np.any(self.rates >= 1):
            raise _checks.fail("rates", rates, allowed)

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        root = seed_sequence(self.random_state)
        seed = int(root.generate_state(1)[0])
        self._x = (X.mean(axis=0), np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0))
        self._y = (float(y.mean()), float(y.std()) or 1.0)
        inputs, outputs = (X - self._x[0]) / self._x[1], (y - self._y[0]) / self._y[1]
        order = np.random.default_rng(root).permutation(len(y))
        held, kept = np.split(order, [max(1, int(_HELD_OUT * len(y)))])
        scores = np.empty((len(self.rates), len(_NOISES)))
        for i, rate in enumerate(self.rates):
            trained = self._train(inputs[kept], outputs[kept], float(rate), 0.3, seed)
            self._weights, self.rate_ = trained, float(rate)
            values = self._passes(inputs[held], seed, 200)
            for j, noise in enumerate(_NOISES):
                terms = -0.5 * ((outputs[held] - values) / noise) ** 2 - np.log(noise)
                scores[i, j] = np.mean(np.logaddexp.reduce(terms, axis=0))
        i, j = divmod(int(np.argmax(scores)), len(_NOISES))
        self.rate_, self.noise_ = float(self.rates[i]), _NOISES[j] * self._y[1]
        self._weights, self._seed = self._train(inputs, outputs, self.rate_, _NOISES[j], seed), seed

    def _train(self, X: FloatArray, y: FloatArray, rate: float, noise: float, seed: int) -> list[Any]:
        return list(_trainer(self.n_units, self.n_epochs)(X, y, rate, noise, seed))

    def _passes(self, X: FloatArray, seed: int, n: int) -> FloatArray:
        """Standardised predictions with units dropped at random, the same units at every point; shape (n, n_points)."""
        w1, b1, w2, b2 = self._weights
        rng = np.random.default_rng([seed, 1])
        keep = 1.0 - self.rate_
        inputs = (rng.random((n, X.shape[1])) < keep) / keep
        hidden = (rng.random((n, self.n_units)) < keep) / keep
        result = np.empty((n, len(X)))
        for s in range(n):
            layer = np.maximum((X * inputs[s]) @ w1 + b1, 0.0)
            result[s] = (layer * hidden[s]) @ w2 + b2
        return result

    def _predictive(self, X: FloatArray) -> Predictive:
        values = self._passes((X - self._x[0]) / self._x[1], self._seed, self.n_passes)
        mean = self._y[0] + self._y[1] * values
        return Predictive(mean, np.zeros_like(mean), np.full_like(mean, self.noise_**2))

    def _functions(self, X: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        return np.asarray(self._predictive(X).mean[choose(n, self.n_passes, rng)].T)


@functools.lru_cache(maxsize=8)
def _trainer(n_units: int, n_epochs: int) -> Any:
    """A function that trains a network and returns its weights; compiled once per shape of the data."""
    jax, _ = jax_modules()
    try:
        import optax
    except ImportError as error:
        raise ImportError("this baseline needs optax: pip install 'porbnet[paper]'") from error
    jnp, optimizer = jax.numpy, optax.adam(_STEP)

    def loss(weights: Any, key: Any, X: Any, y: Any, rate: Any, noise: Any) -> Any:
        w1, b1, w2, b2 = weights
        first, second = jax.random.split(key)
        keep = 1.0 - rate
        inputs = X * jax.random.bernoulli(first, keep, X.shape) / keep
        layer = jax.nn.relu(inputs @ w1 + b1)
        f = (layer * jax.random.bernoulli(second, keep, layer.shape) / keep) @ w2 + b2
        decay = _PRIOR_LENGTH**2 * keep * noise**2 / (2.0 * len(y))
        return jnp.mean((y - f) ** 2) + decay * (jnp.sum(w1**2) + jnp.sum(w2**2))

    @jax.jit  # type: ignore[misc, untyped-decorator]
    def train(key: Any, X: Any, y: Any, rate: Any, noise: Any) -> Any:
        start, first, second, bend = jax.random.split(key, 4)
        w1 = jax.random.normal(first, (X.shape[1], n_units)) * jnp.sqrt(2.0 / X.shape[1])
        b1 = jax.random.uniform(bend, (n_units,), minval=-2.0, maxval=2.0)
        w2 = jax.random.normal(second, (n_units,)) * jnp.sqrt(2.0 / n_units)
        weights = (w1, b1, w2, jnp.zeros(()))

        def step(state: Any, key: Any) -> Any:
            weights, memory = state
            slope = jax.grad(loss)(weights, key, X, y, rate, noise)
            change, memory = optimizer.update(slope, memory, weights)
            return (optax.apply_updates(weights, change), memory), None

        keys = jax.random.split(start, n_epochs)
        return jax.lax.scan(step, (weights, optimizer.init(weights)), keys)[0][0]

    def run(X: FloatArray, y: FloatArray, rate: float, noise: float, seed: int) -> list[FloatArray]:
        with jax.enable_x64(True):
            found = train(jax.random.PRNGKey(seed), jnp.asarray(X), jnp.asarray(y), rate, noise)
            return [np.asarray(w) for w in found]

    return run
