"""porbnet's `PoRBNetRegressor` with all its defaults: chains go on until they can be trusted, or time is over."""

from __future__ import annotations

import time
import warnings
from typing import Any

import adapter
import numpy as np

import porbnet
from porbnet import PoRBNetRegressor
from porbnet.sampling import driver, rounds

N_SAMPLES = 2000  # of y, for the CRPS


class CpuClock:
    """In the place of `time` where chains look at the clock: seconds that this process has had, as for its peers."""

    monotonic = perf_counter = staticmethod(time.process_time)
    thread_time = staticmethod(time.thread_time)


def load_kernels(n_dims: int) -> None:
    """A tiny fit, which loads what is compiled, or compiles it."""
    rng = np.random.default_rng(0)
    X, y = rng.random((20, n_dims)), rng.random(20)
    short = PoRBNetRegressor(n_chains=2, n_warmup=5, n_draws=8, n_jobs=1, progress=False, random_state=0).fit(X, y)
    short.predict_interval(X, 0.9)


def fit(problem: adapter.Problem) -> PoRBNetRegressor:
    warnings.simplefilter("ignore")  # convergence is told with the scores
    load_kernels(problem.X.shape[1])
    problem.compiled()
    driver.time = rounds.time = CpuClock  # type: ignore[attr-defined]
    model = PoRBNetRegressor(random_state=problem.seed, max_seconds=problem.seconds, n_jobs=1, progress=False)
    return model.fit(problem.X, problem.y)


def predict(model: PoRBNetRegressor, problem: adapter.Problem) -> dict[str, Any]:
    posterior, at = model.posterior_, adapter.places(len(problem.X_test))
    parts = [problem.X_test[i : i + 500] for i in range(0, len(problem.X_test), 500)]
    samples = [model.sample_y(part, N_SAMPLES, random_state=problem.seed) for part in parts]
    verdict = model.diagnostics_
    return {
        "form": "samples",
        "log_density": model.log_density(problem.X_test, problem.y_test),
        "mean": model.predict(problem.X_test),
        "interval": model.predict_interval(problem.X_test, 0.9),
        "samples": np.concatenate(samples),
        "f_draws": posterior.by_chain(posterior.f(problem.X_test[at])),
        "note": "converged" if verdict.converged else
        ("predictions converged" if verdict.predictions_converged else "not converged"),
    }  # fmt: skip


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"porbnet {porbnet.__version__}")
