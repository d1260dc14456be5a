"""NumPyro: a Gaussian process with Gibbs's kernel, log lengthscale a Gaussian process at 20 knots; NUTS."""

from __future__ import annotations

from typing import Any

import adapter
import gibbs_kernel
import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
import numpyro_nuts

KNOTS = np.linspace(0.0, 1.0, 20)
ROOT = np.linalg.cholesky(np.exp(-0.5 * (np.subtract.outer(KNOTS, KNOTS) / 0.15) ** 2) + 1e-8 * np.eye(len(KNOTS)))


def interpolation(x: np.ndarray) -> np.ndarray:
    """Weights of linear interpolation from the knots, shape (len(x), len(KNOTS))."""
    return np.column_stack([np.interp(x, KNOTS, row) for row in np.eye(len(KNOTS))])


def log_lengthscale(xp: Any, weights: Any, level: Any, spread: Any, values: Any) -> Any:
    return level + spread * (weights @ (xp.asarray(ROOT) @ values))


def model(x: Any, y: Any, weights: Any) -> None:
    level = numpyro.sample("level", dist.Normal(np.log(0.2), 1.0))
    spread = numpyro.sample("spread", dist.HalfNormal(1.0))
    values = numpyro.sample("values", dist.Normal(0.0, 1.0).expand([len(KNOTS)]).to_event(1))
    amplitude = numpyro.sample("amplitude", dist.LogNormal(np.log(0.5), 0.7))
    noise = numpyro.sample("noise", dist.LogNormal(np.log(0.1), 1.0))
    length = jnp.exp(log_lengthscale(jnp, weights, level, spread, values))
    covariance = amplitude**2 * gibbs_kernel.kernel(jnp, x, length, x, length)
    covariance = covariance + (noise**2 + gibbs_kernel.JITTER) * jnp.eye(len(x))
    numpyro.sample("y", dist.MultivariateNormal(jnp.zeros(len(x)), covariance_matrix=covariance), obs=y)


def fit(problem: adapter.Problem) -> dict[str, np.ndarray]:
    x = problem.X[:, 0]
    arrays = tuple(jnp.asarray(each) for each in (x, problem.y, interpolation(x)))
    return numpyro_nuts.draws(model, arrays, problem)


def predict(found: dict[str, np.ndarray], problem: adapter.Problem) -> dict[str, Any]:
    def lengthscale(i: int, x: np.ndarray) -> np.ndarray:
        curve = (found["level"][i], found["spread"][i], found["values"][i])
        return np.exp(log_lengthscale(np, interpolation(x), *curve))

    return gibbs_kernel.law(problem, lengthscale, found["amplitude"], found["noise"])


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"NumPyro {numpyro.__version__}, JAX {jax.__version__}")
