"""scikit-learn's histogram gradient boosting: one model per quantile and one of the mean, all with their defaults."""

from __future__ import annotations

from typing import Any

import adapter
import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor

LEVELS = np.array([0.01, 0.025, 0.05, *np.arange(0.1, 0.91, 0.1), 0.95, 0.975, 0.99])


def fit(problem: adapter.Problem) -> list[HistGradientBoostingRegressor]:
    settings = [{"loss": "quantile", "quantile": level} for level in LEVELS] + [{"loss": "squared_error"}]
    return [
        HistGradientBoostingRegressor(random_state=problem.seed, **each).fit(problem.X, problem.y) for each in settings
    ]


def predict(models: list[HistGradientBoostingRegressor], problem: adapter.Problem) -> dict[str, Any]:
    found = np.column_stack([model.predict(problem.X_test) for model in models])
    return {"form": "quantiles", "levels": LEVELS, "quantiles": found[:, :-1], "mean": found[:, -1]}


if __name__ == "__main__":
    adapter.run(fit, predict, lambda: f"scikit-learn {sklearn.__version__}")
