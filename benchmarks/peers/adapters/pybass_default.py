"""pyBASS's Bayesian adaptive spline surfaces, all defaults: 9,000 sweeps of warm-up and 1,000 draws."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import adapter
import matplotlib
import numpy as np

matplotlib.use("Agg")
import pyBASS


def fit(problem: adapter.Problem) -> Any:
    np.random.seed(problem.seed)  # noqa: NPY002 - it draws from the global generator
    return pyBASS.bass(problem.X, problem.y, verbose=False)


def predict(model: Any, problem: adapter.Problem) -> dict[str, Any]:
    f = np.asarray(model.predict(problem.X_test))
    return {
        "form": "mixture",
        "means": f,
        "sds": np.sqrt(np.asarray(model.samples.s2))[:, None],
        "f_draws": f[None][:, :, adapter.places(f.shape[1])],
    }


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"pyBASS {version('pyBASS')}")
