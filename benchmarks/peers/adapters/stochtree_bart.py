"""stochtree's BART: 200 trees, started by 10 grow-from-root sweeps, then 500 draws of one chain."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import adapter
import numpy as np
from stochtree import BARTModel

N_START, N_DRAWS = 10, 500


def fit(problem: adapter.Problem) -> BARTModel:
    model = BARTModel()
    model.sample(problem.X, problem.y, num_gfr=N_START, num_mcmc=N_DRAWS, general_params={"random_seed": problem.seed})
    return model


def predict(model: BARTModel, problem: adapter.Problem) -> dict[str, Any]:
    f = np.asarray(model.predict(problem.X_test, terms="y_hat")).T[-N_DRAWS:]
    noise = np.sqrt(np.asarray(model.global_var_samples).ravel()[-N_DRAWS:])
    return {
        "form": "mixture",
        "means": f,
        "sds": noise[:, None],
        "f_draws": f[None][:, :, adapter.places(f.shape[1])],
    }


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"stochtree {version('stochtree')}")
