"""celerite2: a Gaussian process on a line in linear time, Matérn-3/2 kernel and noise, by maximal likelihood."""

from __future__ import annotations

from typing import Any

import adapter
import celerite2
import numpy as np
from celerite2 import GaussianProcess, terms
from scipy.optimize import minimize

CHUNK = 50  # test points whose variance is computed at a time: memory is rows times this
LOW, HIGH = np.log([1e-2, 1e-3, 1e-4]), np.log([1e1, 1e2, 1e1])  # amplitude, lengthscale, noise sd
STARTS = np.log([[0.5, 0.3, 0.2], [0.5, 0.05, 0.1], [0.5, 0.01, 0.05]])


def process(theta: np.ndarray, x: np.ndarray) -> GaussianProcess:
    amplitude, lengthscale, noise = np.exp(theta)
    model = GaussianProcess(terms.Matern32Term(sigma=amplitude, rho=lengthscale), mean=0.0)
    model.compute(x, diag=np.full(len(x), noise**2), check_sorted=False)
    return model


def fit(problem: adapter.Problem) -> tuple[GaussianProcess, np.ndarray, np.ndarray]:
    order = np.argsort(problem.X[:, 0], kind="stable")
    x, y = problem.X[order, 0], problem.y[order]

    def loss(theta: np.ndarray) -> float:
        try:
            return -process(theta, x).log_likelihood(y) / len(y)
        except celerite2.driver.LinAlgError:
            return 1e3

    few = slice(None, None, max(1, len(y) // 10_000))  # the best start is looked for on some rows
    starts = STARTS
    if len(y) > 10_000:
        whole, x, y = (x, y), x[few], y[few]
        starts = [_best(loss, STARTS)]
        x, y = whole
    theta = _best(loss, starts)
    return process(theta, x), y, theta


def _best(loss: Any, starts: Any) -> np.ndarray:
    bounds = list(zip(LOW, HIGH, strict=True))
    found = [minimize(loss, start, method="L-BFGS-B", bounds=bounds) for start in starts]
    return np.asarray(min(found, key=lambda each: each.fun).x)


def predict(fitted: tuple[GaussianProcess, np.ndarray, np.ndarray], problem: adapter.Problem) -> dict[str, Any]:
    model, y, theta = fitted
    x = problem.X_test[:, 0]
    order = np.argsort(x, kind="stable")  # it predicts along the line
    mean, variance = np.empty((2, len(x)))
    for i in range(0, len(x), CHUNK):
        some = order[i : i + CHUNK]
        mean[some], variance[some] = model.predict(y, x[some], return_var=True)
    sd = np.sqrt(np.maximum(variance, 0.0) + np.exp(2.0 * theta[2]))
    return {"form": "mixture", "means": mean[None], "sds": sd[None]}


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"celerite2 {celerite2.__version__}")
