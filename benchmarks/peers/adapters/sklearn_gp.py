"""scikit-learn's Gaussian process: squared-exponential kernel, one lengthscale per input, noise; maximal likelihood."""

from __future__ import annotations

import warnings
from typing import Any

import adapter
import sklearn
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel


def fit(problem: adapter.Problem) -> GaussianProcessRegressor:
    n_dims = problem.X.shape[1]
    kernel = ConstantKernel(0.25, (1e-4, 1e2)) * RBF([0.2] * n_dims, (1e-3, 1e2)) + WhiteKernel(0.05, (1e-8, 1e1))
    model = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=problem.seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parameters at their bounds
        return model.fit(problem.X, problem.y)


def predict(model: GaussianProcessRegressor, problem: adapter.Problem) -> dict[str, Any]:
    mean, sd = model.predict(problem.X_test, return_std=True)
    return {"form": "mixture", "means": mean[None], "sds": sd[None]}


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"scikit-learn {sklearn.__version__}")
