"""Cross-validated scores of PoRB-NET and of methods that people would use instead, ranked."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.cli.rivals import RIVALS, Predicted
from porbnet.errors import StatementError
from porbnet.scoring.scorers import crps

SCORES = {"llh": 1.0, "rmse": -1.0, "crps": -1.0}  # and the sign with which higher is better
DEFAULT = (("learned", "learned"), ("constant", "learned"), ("learned", "varying"), ("learned", "robust"))
_MOST_DIMS_OF_A_CURVE = 3


@dataclass(frozen=True)
class Score:
    """What came of one fold.

    gains : (n_rows,) by score: of each row that was held out, higher is better (of rmse: minus its squared error)
    """

    gains: dict[str, FloatArray]
    seconds: float
    converged: bool

    def mean(self, what: str) -> float:
        """The score of the fold as it is shown."""
        value = SCORES[what] * float(np.mean(self.gains[what]))
        return math.sqrt(value) if what == "rmse" else value


def fits_of(lengthscales: Sequence[Any], noises: Sequence[Any], n_dims: int) -> dict[str, dict[str, Any]]:
    """Statements of PoRB-NET by the name of the method: every lengthscale with every noise, if any are given."""
    pairs: Sequence[tuple[Any, Any]] = DEFAULT
    if lengthscales or noises:
        pairs = [(length, noise) for length in lengthscales or ["learned"] for noise in noises or ["learned"]]
    elif n_dims > _MOST_DIMS_OF_A_CURVE:
        pairs = [(length, noise) for length, noise in DEFAULT if noise != "varying"]
    return {
        "porbnet" + _named("lengthscale", length) + _named("noise", noise): {"lengthscale": length, "noise": noise}
        for length, noise in pairs
    }


def _named(what: str, value: Any) -> str:
    if isinstance(value, str):
        return "" if value == "learned" else f"-{value}"
    numbers = ",".join(f"{v:g}" for v in value) if isinstance(value, list) else f"{value:g}"
    return f"-{what}={numbers}"


def cross_validate(
    X: FloatArray, y: Any, folds: int, seed: int, jobs: int, sampling: dict[str, Any], fits: dict[str, dict[str, Any]],
    only: list[str] | None = None, rank_by: str = "llh",
) -> dict[str, Any]:  # fmt: skip
    """Scores of each method over folds, the best first; folds run in parallel, and their number changes nothing."""
    from joblib import Parallel, delayed

    _checks.choice("--rank-by", rank_by, tuple(SCORES))
    names = list(only) if only else [*fits, *(m for m in RIVALS if m != "spline" or X.shape[1] == 1)]
    for name in names:
        _checks.choice("--only", name, (*fits, *RIVALS))
    if "spline" in names and X.shape[1] > 1:
        raise StatementError("--only spline is for one input")
    if len(y) < 2 * folds:
        raise StatementError(f"--folds {folds} of {len(y)} observations are too many: two are needed in each")
    shuffled = np.random.default_rng(seed).permutation(len(y))
    parts = np.array_split(shuffled, folds)
    tasks = [(name, i) for name in dict.fromkeys(names) for i in range(folds)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is counted; a GP at the edge of its bounds is what ML-II gives
        scores = Parallel(n_jobs=min(jobs, len(tasks)), prefer="threads")(
            delayed(_score)(name, X, y, parts[i], seed + i, sampling, fits) for name, i in tasks
        )
    by_name: dict[str, list[Score]] = {}
    for (name, _), score in zip(tasks, scores, strict=True):
        by_name.setdefault(name, []).append(score)
    return {"folds": folds, "seed": seed, "rank_by": rank_by, "methods": _ranked(by_name, rank_by)}


def _ranked(by_name: dict[str, list[Score]], rank_by: str) -> list[dict[str, Any]]:
    """One entry per method, the best first, with how far it is behind the best on the rows that both have seen."""
    rows = {name: np.concatenate([s.gains[rank_by] for s in scores]) for name, scores in by_name.items()}
    order = sorted(by_name, key=lambda name: -_total(rows[name]))
    methods = []
    for rank, name in enumerate(order, start=1):
        scores, entry = by_name[name], {"name": name, "rank": rank}
        for what in SCORES:
            values = np.array([s.mean(what) for s in scores])
            entry[what] = {
                "mean": float(values.mean()), "se": float(values.std(ddof=1) / math.sqrt(len(values))),
                "folds": values.tolist(),
            }  # fmt: skip
        behind = rows[order[0]] - rows[name]
        entry["behind"] = {
            "mean": float(behind.mean()), "se": float(behind.std(ddof=1) / math.sqrt(len(behind))),
        }  # fmt: skip
        entry["cpu_seconds"] = float(sum(s.seconds for s in scores))
        entry["not_converged"] = sum(not s.converged for s in scores)
        methods.append(entry)
    return methods


def _total(gains: FloatArray) -> float:
    total = float(gains.sum())
    return total if math.isfinite(total) else -math.inf


def _score(
    name: str, X: FloatArray, y: FloatArray, held_out: Any, seed: int, sampling: dict[str, Any],
    fits: dict[str, dict[str, Any]],
) -> Score:  # fmt: skip
    kept = np.setdiff1d(np.arange(len(y)), held_out)
    started, converged = time.thread_time(), True
    data = X[kept], y[kept], X[held_out], y[held_out]
    if name in fits:
        found, converged = _porbnet(*data, seed, fits[name] | sampling)
    else:
        found = RIVALS[name](*data, seed)
    gains = {"llh": found.llh, "rmse": -((y[held_out] - found.mean) ** 2), "crps": -found.crps}
    return Score(gains, time.thread_time() - started, converged)


def _porbnet(
    X: FloatArray, y: FloatArray, X_new: FloatArray, y_new: FloatArray, seed: int, parameters: dict[str, Any]
) -> tuple[Predicted, bool]:
    from porbnet.estimators.regressor import PoRBNetRegressor

    model = PoRBNetRegressor(**parameters, n_jobs=1, random_state=seed, progress=False).fit(X, y)
    mean = np.asarray(model.predict(X_new))
    found = Predicted(model.log_density(X_new, y_new), mean, crps(model, X_new, y_new, seed))
    return found, model.diagnostics_.predictions_converged
