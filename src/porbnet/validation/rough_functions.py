"""Ten functions that no draw of the model is like: jumps, kinks, cusps, spikes, fractals; and how fits of them fare.

Coverage here is that of a frequentist: the function is fixed, the noise is new in every repetition. Nothing promises
that 90 % intervals of f hold it in 90 % of places: the prior is a statement about functions, and these break it.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.estimators.regressor import PoRBNetRegressor

NOISE = 0.2  # over the standard deviation of f
COVERAGE = 0.9
GRID = 401


def _brownian(x: FloatArray) -> FloatArray:
    """One path of Brownian motion."""
    steps = np.random.default_rng(1827).standard_normal(4096)
    return np.asarray(np.interp(x, np.linspace(0.0, 1.0, 4097), np.concatenate([[0.0], np.cumsum(steps) / 64.0])))


def _staircase(x: FloatArray) -> FloatArray:
    """The Cantor function, to 30 ternary digits."""
    result, rest, open_ = np.zeros_like(x), np.clip(x, 0.0, 1.0 - 1e-12), np.ones(len(x), dtype=bool)
    for k in range(1, 31):
        digit = np.floor(3.0 * rest)
        rest = 3.0 * rest - digit
        result += np.where(open_, np.minimum(digit, 1.0) * 0.5**k, 0.0)
        open_ &= digit != 1.0
    return result


def _weierstrass(x: FloatArray) -> FloatArray:
    return np.asarray(sum(0.5**k * np.cos(3.0**k * math.pi * x) for k in range(12)))


def _peaks(x: FloatArray) -> FloatArray:
    places, heights = np.array([0.1, 0.23, 0.4, 0.65, 0.78]), np.array([4.0, 5.0, 4.2, 4.3, 5.1])
    widths = np.array([0.01, 0.01, 0.03, 0.02, 0.01])
    return np.asarray((heights / (1.0 + np.abs((x[:, None] - places) / widths)) ** 4).sum(axis=1))


FUNCTIONS: dict[str, Callable[[FloatArray], FloatArray]] = {
    "step": lambda x: np.where(x < 0.5, 0.0, 1.0),
    "kink": lambda x: np.abs(x - 0.4),
    "cusp": lambda x: np.sqrt(np.abs(x - 0.6)),
    "sawtooth": lambda x: np.mod(3.0 * x, 1.0),
    "peaks": _peaks,
    "Doppler": lambda x: np.sqrt(x * (1.0 - x)) * np.sin(2.1 * math.pi / (x + 0.05)),
    "wave with jumps": lambda x: 4.0 * np.sin(4.0 * math.pi * x) - np.sign(x - 0.3) - np.sign(0.72 - x),
    "Brownian path": _brownian,
    "Weierstrass": _weierstrass,
    "Cantor": _staircase,
}


def fit_once(function: str, n: int, repetition: int) -> dict[str, Any]:
    """A fit with default settings and 2 x 500 draws to n rows: error and coverage. A task of the validation."""
    rng = np.random.default_rng([list(FUNCTIONS).index(function), n, repetition])
    grid = np.linspace(0.0, 1.0, GRID)
    truth = FUNCTIONS[function](grid)
    middle, size = float(truth.mean()), float(truth.std())
    x = np.sort(rng.uniform(size=n))
    y = (FUNCTIONS[function](x) - middle) / size + NOISE * rng.standard_normal(n)
    truth = (truth - middle) / size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoRBNetRegressor(n_chains=2, n_draws=500, n_jobs=1, progress=False, random_state=repetition)
        model.fit(x[:, None], y)
        low, high = model.predict_interval(grid[:, None], COVERAGE, of="f").T
        low_y, high_y = model.predict_interval(grid[:, None], COVERAGE).T
        mean = np.asarray(model.predict(grid[:, None]))
    new = truth + NOISE * rng.standard_normal(GRID)
    return {
        "rmse": float(np.sqrt(np.mean((mean - truth) ** 2))),
        "of_f": float(np.mean((low <= truth) & (truth <= high))),
        "of_y": float(np.mean((low_y <= new) & (new <= high_y))),
        "width": float(np.mean(high - low)),
        "rhat": float(model.diagnostics_.worst_rhat.rhat),
    }


def row(function: str, n: int, found: list[dict[str, Any]]) -> dict[str, Any]:
    """A row of the table: means over repetitions, with their standard errors."""

    def mean(name: str) -> float:
        return round(float(np.mean([f[name] for f in found])), 4)

    errors = np.array([f["of_f"] for f in found])
    return {
        "function": function,
        "n": n,
        "repetitions": len(found),
        "rmse": mean("rmse"),
        "coverage_of_f": mean("of_f"),
        "coverage_of_f_se": round(float(errors.std(ddof=1) / math.sqrt(len(errors))), 4) if len(errors) > 1 else None,
        "coverage_of_y": mean("of_y"),
        "width_of_f": mean("width"),
        "worst_rhat": round(max(f["rhat"] for f in found), 3),
        "command": f"python -m porbnet.validation coverage --only '{function}' --repetitions {len(found)}",
    }
