"""Cross-validated scores of PoRB-NET and of methods that people would use instead."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError

METHODS = ("porbnet", "porbnet-constant", "gp", "spline", "linear")
_SAMPLES = 4000  # of the predictive, for the CRPS of a mixture
_SOME_POINTS = 1000  # for which they are held at a time


@dataclass(frozen=True)
class Score:
    """Mean scores of one fold, and what it took."""

    llh: float
    rmse: float
    crps: float
    seconds: float
    converged: bool


def cross_validate(
    X: FloatArray, y: Any, folds: int, seed: int, jobs: int, sampling: dict[str, Any], only: list[str] | None = None
) -> dict[str, Any]:
    """Scores of each method over folds; folds run in parallel, and their number and order change nothing."""
    from joblib import Parallel, delayed

    names = list(only) if only else [m for m in METHODS if m != "spline" or X.shape[1] == 1]
    for name in names:
        _checks.choice("--only", name, METHODS)
    if "spline" in names and X.shape[1] > 1:
        raise StatementError("--only spline is for one input")
    if len(y) < 2 * folds:
        raise StatementError(f"--folds {folds} of {len(y)} observations are too many: two are needed in each")
    shuffled = np.random.default_rng(seed).permutation(len(y))
    parts = np.array_split(shuffled, folds)
    tasks = [(name, i) for name in names for i in range(folds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is counted; a GP at the edge of its bounds is what ML-II gives
        scores = Parallel(n_jobs=min(jobs, len(tasks)), prefer="threads")(
            delayed(_score)(name, X, y, parts[i], seed + i, sampling) for name, i in tasks
        )
    methods = []
    for name in names:
        mine = [s for (n, _), s in zip(tasks, scores, strict=True) if n == name]
        entry: dict[str, Any] = {"name": name}
        for what in ("llh", "rmse", "crps"):
            values = np.array([getattr(s, what) for s in mine])
            entry[what] = {
                "mean": float(values.mean()), "se": float(values.std(ddof=1) / math.sqrt(len(values))),
                "folds": values.tolist(),
            }  # fmt: skip
        entry["cpu_seconds"] = float(sum(s.seconds for s in mine))
        entry["not_converged"] = sum(not s.converged for s in mine)
        methods.append(entry)
    return {"folds": folds, "seed": seed, "methods": methods}


def _score(name: str, X: FloatArray, y: FloatArray, held_out: Any, seed: int, sampling: dict[str, Any]) -> Score:
    kept = np.setdiff1d(np.arange(len(y)), held_out)
    started = time.thread_time()
    if name.startswith("porbnet"):
        llh, mean, crps, converged = _porbnet(name, X[kept], y[kept], X[held_out], y[held_out], seed, sampling)
    else:
        fit: Callable[..., tuple[FloatArray, FloatArray]] = {"gp": _gp, "spline": _spline, "linear": _linear}[name]
        mean, sd = fit(X[kept], y[kept], X[held_out], seed)
        z = (y[held_out] - mean) / sd
        llh = -0.5 * z**2 - np.log(sd) - 0.5 * math.log(2.0 * math.pi)
        crps, converged = _gaussian_crps(z, sd), True
    rmse = math.sqrt(float(np.mean((y[held_out] - mean) ** 2)))
    return Score(float(np.mean(llh)), rmse, float(np.mean(crps)), time.thread_time() - started, converged)


def _porbnet(
    name: str, X: FloatArray, y: FloatArray, X_new: FloatArray, y_new: FloatArray, seed: int, sampling: dict[str, Any]
) -> tuple[Any, FloatArray, FloatArray, bool]:
    from porbnet.estimators.regressor import PoRBNetRegressor

    kind: Any = "constant" if name == "porbnet-constant" else "learned"
    model = PoRBNetRegressor(kind, **sampling, n_jobs=1, random_state=seed, progress=False).fit(X, y)
    crps = np.empty(len(y_new))
    for start in range(0, len(y_new), _SOME_POINTS):
        rows = slice(start, start + _SOME_POINTS)
        samples = np.sort(model.sample_y(X_new[rows], _SAMPLES, random_state=seed), axis=1)
        n = samples.shape[1]
        spread = samples @ (2.0 * np.arange(1, n + 1) - n - 1.0) / n**2
        crps[rows] = np.mean(np.abs(samples - y_new[rows, None]), axis=1) - spread
    return model.log_density(X_new, y_new), np.asarray(model.predict(X_new)), crps, model.diagnostics_.converged


def _gp(X: FloatArray, y: FloatArray, X_new: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    low, ranges = X.min(axis=0), np.maximum(np.ptp(X, axis=0), 1e-300)
    kernel = ConstantKernel(1.0, (1e-3, 1e3)) * RBF(np.full(X.shape[1], 0.2), (1e-3, 1e2)) + WhiteKernel(
        0.1, (1e-8, 10)
    )
    model = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=3, random_state=seed)
    mean, sd = model.fit((X - low) / ranges, y).predict((X_new - low) / ranges, return_std=True)
    return mean, sd


def _linear(X: FloatArray, y: FloatArray, X_new: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    from sklearn.linear_model import BayesianRidge

    mean, sd = BayesianRidge().fit(X, y).predict(X_new, return_std=True)
    return mean, sd


def _spline(X: FloatArray, y: FloatArray, X_new: FloatArray, seed: int) -> tuple[FloatArray, FloatArray]:
    """Readings at the same place become their mean, with a weight; the noise is the sd of residuals."""
    from scipy.interpolate import make_smoothing_spline

    x, place, counts = np.unique(X[:, 0], return_inverse=True, return_counts=True)
    if len(x) < 5:
        raise StatementError("a smoothing spline needs five different inputs in every fold")
    means = np.bincount(place.ravel(), y) / counts
    centre, width = x[0], x[-1] - x[0]
    spline = make_smoothing_spline((x - centre) / width, means, w=counts.astype(float))
    at = np.clip((X_new[:, 0] - centre) / width, 0.0, 1.0)  # flat beyond the data, where a cubic runs away
    residuals = y - spline((X[:, 0] - centre) / width)
    sd = math.sqrt(float(np.mean(residuals**2))) or 1e-12
    return np.asarray(spline(at)), np.full(len(X_new), sd)


def _gaussian_crps(z: FloatArray, sd: FloatArray) -> FloatArray:
    from scipy.special import ndtr

    density = np.exp(-0.5 * z**2) / math.sqrt(2.0 * math.pi)
    return np.asarray(sd * (z * (2.0 * ndtr(z) - 1.0) + 2.0 * density - 1.0 / math.sqrt(math.pi)))
