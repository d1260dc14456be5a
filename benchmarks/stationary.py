"""What does learning a lengthscale that varies cost where it does not? Data sets drawn from a Gaussian process.

Each data set is a draw from a squared-exponential process (amplitude 1, lengthscale 0.15 on [0, 1], noise 0.2): 100
readings to fit and 100 to test. The estimator with all its defaults, and with one constant lengthscale, against the
exact posterior with the true hyper-parameters, which nothing can beat on average. The target is a mean test LLH within
0.03 of it.

    python benchmarks/stationary.py --jobs 2
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import machine
import numpy as np

from porbnet import PoRBNetRegressor

AMPLITUDE, LENGTHSCALE, NOISE = 1.0, 0.15, 0.2
N_TRAIN, N_TEST = 100, 100
TARGET = 0.03


def data_set(seed: int) -> tuple[np.ndarray, ...]:
    """Inputs and outputs to fit, inputs and outputs to test."""
    rng = np.random.default_rng([2026, 11, seed])
    x = rng.random(N_TRAIN + N_TEST)
    covariance = AMPLITUDE**2 * np.exp(-0.5 * (np.subtract.outer(x, x) / LENGTHSCALE) ** 2)
    values, vectors = np.linalg.eigh(covariance)
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(x)))
    y = f + NOISE * rng.standard_normal(len(x))
    return x[:N_TRAIN, None], y[:N_TRAIN], x[N_TRAIN:, None], y[N_TRAIN:]


def exact(X: np.ndarray, y: np.ndarray, X_test: np.ndarray, y_test: np.ndarray) -> float:
    """Mean log predictive density of the process itself."""
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel

    kernel = ConstantKernel(AMPLITUDE**2) * RBF(LENGTHSCALE)
    model = GaussianProcessRegressor(kernel, alpha=NOISE**2, optimizer=None).fit(X, y)
    mean, sd = model.predict(X_test, return_std=True)
    return float(norm.logpdf(y_test, mean, np.sqrt(sd**2 + NOISE**2)).mean())


def one(seed: int, settings: list[str]) -> dict[str, Any]:
    """All models on one data set."""
    from threadpoolctl import threadpool_limits

    X, y, X_test, y_test = data_set(seed)
    scores: dict[str, Any] = {}
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        scores["exact"] = exact(X, y, X_test, y_test)
        for lengthscale in settings:
            model = PoRBNetRegressor(lengthscale, random_state=seed, n_jobs=1, progress=False).fit(X, y)
            scores[lengthscale] = float(model.log_density(X_test, y_test).mean())
    return scores


def main() -> int:
    from joblib import Parallel, delayed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write every data set's scores there")
    options = parser.parse_args()
    settings = ["learned", "constant"]
    found = machine.describe()
    print(machine.line(found))
    rows = Parallel(n_jobs=options.jobs)(delayed(one)(seed, settings) for seed in range(options.sets))
    print(f"exact process: mean test LLH {np.mean([r['exact'] for r in rows]):.3f}")
    for name in settings:
        loss = np.array([r["exact"] - r[name] for r in rows])
        error = loss.std(ddof=1) / np.sqrt(len(loss))
        print(f"lengthscale {name}: {loss.mean():.3f} below it (standard error {error:.3f}); target {TARGET}")
    machine.save(options.json, {"sets": rows}, found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
