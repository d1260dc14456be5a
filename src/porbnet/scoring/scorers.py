"""Scorers: callables (estimator, X, y) that scikit-learn takes for `scoring=`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.scoring.rules import crps_of_samples, interval_score

Scorer = Callable[..., float]
N_SAMPLES = 4000  # of the predictive law, for the CRPS
SOME_POINTS = 1000  # for which they are held at a time


def log_density(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Mean log predictive density of observations, per unit of the output."""
    model, X = _model_and_inputs(estimator, X, "log_density")
    return _mean(model.log_density(X, y), sample_weight)


def neg_crps(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    """Minus the mean continuous ranked probability score of observations, in the units of the output.

    From 4,000 draws of the predictive law at each point, always the same.
    """
    model, X = _model_and_inputs(estimator, X, "sample_y")
    return -_mean(crps(model, X, _outputs(y, X)), sample_weight)


def crps(model: Any, X: Any, y: FloatArray, random_state: int = 0) -> FloatArray:
    """Continuous ranked probability score of observations under a fitted model, shape (n_points,)."""
    from sklearn.utils import _safe_indexing

    found = np.empty(len(y))
    for start in range(0, len(y), SOME_POINTS):
        rows = slice(start, start + SOME_POINTS)
        samples = model.sample_y(_safe_indexing(X, rows), N_SAMPLES, random_state=random_state)
        found[rows] = crps_of_samples(y[rows], samples)
    return found


@dataclass(frozen=True)
class IntervalScore:
    """Minus the mean interval score: the width of central intervals, with a fine where they miss.

    Parameters
    ----------
    coverage : float
        Probability of the intervals, between 0 and 1.
    """

    coverage: float = 0.9

    def __post_init__(self) -> None:
        _check_coverage(self.coverage)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score of a fitted estimator on observations."""
        model, X = _model_and_inputs(estimator, X, "predict_interval")
        found = interval_score(_outputs(y, X), model.predict_interval(X, self.coverage), self.coverage)
        return -_mean(found, sample_weight)


@dataclass(frozen=True)
class IntervalCoverage:
    """Share of observations within central intervals, which should be `coverage`: to be looked at, not maximised.

    Parameters
    ----------
    coverage : float
        Probability of the intervals, between 0 and 1.
    """

    coverage: float = 0.9

    def __post_init__(self) -> None:
        _check_coverage(self.coverage)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share for a fitted estimator."""
        model, X = _model_and_inputs(estimator, X, "predict_interval")
        interval, y = model.predict_interval(X, self.coverage), _outputs(y, X)
        return _mean((interval[:, 0] <= y) & (y <= interval[:, 1]), sample_weight)


def _check_coverage(coverage: float) -> None:
    if _checks.number("coverage", coverage) >= 1.0:
        raise _checks.fail("coverage", coverage, "it must lie between 0 and 1")


def _model_and_inputs(estimator: Any, X: Any, method: str) -> tuple[Any, Any]:
    """The model at the end of pipelines, and the inputs as it sees them."""
    from sklearn.pipeline import Pipeline

    while isinstance(estimator, Pipeline):
        X = estimator[:-1].transform(X) if len(estimator.steps) > 1 else X
        estimator = estimator.steps[-1][1]
    if not hasattr(estimator, method):
        raise StatementError(
            f"{type(estimator).__name__} has no {method}: these scorers are for PoRBNetRegressor, alone or at the end "
            "of a Pipeline; of a target that is transformed, the density is another one"
        )
    if hasattr(estimator, "predict_proba") and method != "log_density":
        raise StatementError(
            f"{type(estimator).__name__} has labels, of which there are no intervals and no CRPS: take log_density"
        )
    return estimator, X


def _outputs(y: Any, X: Any) -> FloatArray:
    """Outputs, one per row of the inputs."""
    from sklearn.utils.validation import _num_samples

    try:
        n = _num_samples(X)
    except (ValueError, TypeError):
        raise  # in scikit-learn's own words
    except Exception:  # whatever an object says when it is asked to be an array
        raise _checks.fail("X", X, "it must be numbers, a row per point") from None
    allowed = f"it must be {n} finite numbers, one per row of X"
    values = _checks.real_array("y", y, allowed).ravel()
    if len(values) != n:
        raise _checks.fail("y", y, allowed)
    return values


def _mean(values: Any, sample_weight: Any) -> float:
    if sample_weight is None:
        return float(np.mean(values))
    allowed = f"it must be {len(values)} finite numbers of at least 0, one per row of X, not all of them 0"
    weights = _checks.real_array("sample_weight", sample_weight, allowed).ravel()
    if len(weights) != len(values) or np.any(weights < 0) or not np.any(weights > 0):
        raise _checks.fail("sample_weight", sample_weight, allowed)
    return float(np.average(values, weights=weights))
