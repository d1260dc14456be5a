"""The fit of one series: what a row of the table holds, and the file of its model."""

from __future__ import annotations

import math
import os
import time
import warnings
from typing import Any

from sklearn.base import clone

from porbnet.errors import ConvergenceWarning, PorbnetError, PorbnetWarning
from porbnet.many.series_tables import Series
from porbnet.posterior.record import learned

_ALONE = {"n_jobs": 1, "progress": False, "checkpoint": None}  # chains one after the other: series run in parallel


def alone(estimator: Any, **parameters: Any) -> Any:
    """A copy that fits on one core and in silence, with other parameters if it has these."""
    wanted, known = _ALONE | parameters, estimator.get_params(deep=False)
    return clone(estimator).set_params(**{name: value for name, value in wanted.items() if name in known})


def fit_series(
    estimator: Any, series: Series, seed: int, labels: list[str], loo: bool, path: str | os.PathLike[str] | None
) -> dict[str, Any]:
    """Fit one series and write its model; returns its row, or {"failed": why}. Nothing is raised but interrupts."""
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = alone(estimator, random_state=seed)
            model.labels_ = labels
            model.fit(series.X, series.y, **series.also)
            row = described(model, loo)
            if path is not None:
                model.save(path)
    except Exception as error:  # whatever is wrong with a series is its own affair
        return {"failed": why(error), "seconds": time.perf_counter() - wall}
    row["warnings"] = list(
        dict.fromkeys(
            str(w.message)
            for w in caught
            if issubclass(w.category, PorbnetWarning) and not issubclass(w.category, ConvergenceWarning)
        )
    )
    return row | {"cpu_seconds": time.process_time() - cpu, "seconds": time.perf_counter() - wall}


def why(error: BaseException) -> str:
    """An error as a reason, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if isinstance(error, PorbnetError | ValueError) else f"{type(error).__name__}: {text}"


def described(model: Any, loo: bool) -> dict[str, Any]:
    """What a row tells of a fit: verdict, what was learned as median and 90 % interval, leave-one-out."""
    posterior, diagnostics = model.posterior_, model.diagnostics_
    row: dict[str, Any] = {
        "converged": bool(diagnostics.converged),
        "predictions_converged": bool(diagnostics.predictions_converged),
        "out_of_time": bool(getattr(model, "_out_of_time", False)),
        "verdict": diagnostics.verdict,
        "rhat": _finite(diagnostics.worst_rhat.rhat),
        "ess": _finite(diagnostics.least_ess.least_ess),
        "n_chains": posterior.n_chains,
        "n_draws": posterior.n_draws_per_chain,
    }
    for quantity in learned(posterior):
        row[quantity.name] = _finite(quantity.median)
        row[f"{quantity.name}_lower"], row[f"{quantity.name}_upper"] = _finite(quantity.lower), _finite(quantity.upper)
    return row | (_left_out(model) if loo else {})


def _left_out(model: Any) -> dict[str, Any]:
    """Leave-one-out, where there are draws enough for it."""
    try:
        found = model.posterior_.loo(r_eff=_efficiency(model))
    except ValueError as error:
        warnings.warn(f"there is no leave-one-out: {error}", PorbnetWarning, stacklevel=2)
        return {"elpd": None, "elpd_se": None, "n_high_k": None}
    return {"elpd": _finite(found.elpd), "elpd_se": _finite(found.se), "n_high_k": found.n_high_k}


def _efficiency(model: Any) -> float | None:
    """Effective draws over draws, on average over what was diagnosed: (sd / Monte Carlo error)², which is at hand."""
    n = len(model.posterior_)
    shares = [n / (n - 1) * (r.sd / r.mcse) ** 2 / n for r in model.diagnostics_.rows if r.mcse > 0 and n > 1]
    known = [share for share in shares if math.isfinite(share)]
    return sum(known) / len(known) if known and model.posterior_.n_chains > 1 else None


def _finite(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
