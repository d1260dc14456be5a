"""GPJax: collapsed variational Gaussian process (Titsias 2009), 100 inducing points, Matérn-5/2 kernel.

Kernel, noise and inducing points maximise the bound for at most 10,000 of the rows; predictions are given all rows.
"""

from __future__ import annotations

from typing import Any

import adapter
import gpjax as gpx
import jax.numpy as jnp
import numpy as np

N_INDUCING, MOST_ROWS, CHUNK = 100, 10_000, 100


def inducing_inputs(X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """With one input half-way between quantiles and equal distances, else some of the rows."""
    n = min(N_INDUCING, len(X))
    if X.shape[1] == 1:
        share = np.linspace(0.0, 1.0, n)
        return 0.5 * (np.quantile(X[:, :1], share, axis=0) + share[:, None])
    return X[rng.choice(len(X), n, replace=False)]


def fit(problem: adapter.Problem) -> tuple[Any, Any]:
    rng = np.random.default_rng(problem.seed)
    X, y = problem.X, problem.y[:, None]
    few = rng.choice(len(X), MOST_ROWS, replace=False) if len(X) > MOST_ROWS else np.arange(len(X))
    kernel = gpx.kernels.Matern52(lengthscale=jnp.full(X.shape[1], 0.2), variance=0.25)
    prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Constant(), kernel=kernel)
    posterior = prior * gpx.likelihoods.Gaussian(obs_stddev=0.2)
    family = gpx.variational_families.CollapsedVariationalGaussian(
        model=posterior, inducing_inputs=jnp.asarray(inducing_inputs(X[few], rng))
    )
    family, _ = gpx.fit_scipy(
        model=family,
        objective=lambda q, data: -gpx.objectives.collapsed_elbo(q, data),
        train_data=gpx.Dataset(X=jnp.asarray(X[few]), y=jnp.asarray(y[few])),
        max_iters=200,
        verbose=False,
    )
    return family, family.condition(gpx.Dataset(X=jnp.asarray(X), y=jnp.asarray(y)))


def predict(fitted: tuple[Any, Any], problem: adapter.Problem) -> dict[str, Any]:
    family, posterior = fitted
    mean, variance = [], []
    for i in range(0, len(problem.X_test), CHUNK):
        law = family.model.likelihood(posterior(jnp.asarray(problem.X_test[i : i + CHUNK])))
        mean.append(np.asarray(law.mean).ravel())
        variance.append(np.asarray(law.variance).ravel())
    return {"form": "mixture", "means": np.concatenate(mean)[None], "sds": np.sqrt(np.concatenate(variance))[None]}


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"GPJax {gpx.__version__}")
