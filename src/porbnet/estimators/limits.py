"""Positive outputs and outputs known within limits: how `PoRBNetRegressor` takes them, and predicts them."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtr

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.estimators.inputs import refuse_masked
from porbnet.likelihood.censored import Censored
from porbnet.likelihood.log_scale import LARGEST_LOG, LogScale
from porbnet.likelihood.normal import Gaussian
from porbnet.likelihood.student_t import RobustNoise
from porbnet.posterior.posterior import Posterior
from porbnet.statement.prior import Prior

OUTCOMES = ("real", "positive")
_WORDS = {"left": -1.0, "right": 1.0, "": 0.0, "none": 0.0}


def fitted_outputs(outcome: str, y: FloatArray, censored: Any) -> tuple[FloatArray, FloatArray | None]:
    """Outputs as they are fitted, and the other end of what is known of each; None if all are known."""
    other_end: FloatArray | None = None
    if censored is not None:
        y, other_end = other_ends(y, censored, least=0.0 if outcome == "positive" else -np.inf)
    if outcome == "real":
        return y, other_end
    bad = y[~(y > 0)]
    if len(bad):
        allowed = "with outcome='positive' it must be above zero in every row"
        raise _checks.fail("y", float(bad[0]), allowed + " (below a detection limit: give the limit, and censored)")
    if other_end is None:
        return np.log(y), None
    with np.errstate(divide="ignore"):
        return np.log(y), np.log(np.maximum(other_end, 0.0))


def other_ends(y: FloatArray, censored: Any, least: float = -np.inf) -> tuple[FloatArray, FloatArray]:
    """A finite end of what is known of each output, and the other one; none is below `least`."""
    refuse_masked("censored", censored)
    allowed = (
        f"it must be one of 'left', 'right' and '' (or -1, 1 and 0) for each of {len(y)} rows, or {len(y)} pairs of "
        "ends, the lower one first"
    )
    given = np.asarray(censored)
    if given.dtype.kind in "UO" and given.ndim == 1:
        given = np.array([_WORDS.get(str(v).strip().lower(), np.nan) if v is not None else 0.0 for v in given])
    if given.dtype.kind not in "biuf" or given.shape not in ((len(y),), (len(y), 2)):
        raise _checks.fail("censored", censored, allowed)
    given = given.astype(np.float64)
    if given.ndim == 1:
        if not np.all(np.isin(given, (-1.0, 0.0, 1.0))):
            raise _checks.fail("censored", censored, allowed)
        return y, np.where(given == 0.0, y, np.copysign(np.inf, given))
    low, high = given.T
    low = np.where(low <= least, -np.inf, low)
    if np.any(np.isnan(given)) or np.any(low > high) or np.any(np.isinf(low) & np.isinf(high)):
        wrong = int(np.flatnonzero(np.isnan(given).any(axis=1) | ~(low <= high) | np.isinf(given).all(axis=1))[0])
        raise _checks.fail("censored", given[wrong].tolist(), f"{allowed} (row {wrong}), one of which must be finite")
    return np.where(np.isfinite(low), low, high), np.where(np.isfinite(low), high, low)


def stated_for(prior: Prior, outcome: str, censored: bool) -> Prior:
    """The prior with the likelihood of such outputs."""
    likelihood = prior.likelihood
    if likelihood is None or (outcome == "real" and not censored):
        return prior
    inside = likelihood.errors if isinstance(likelihood, LogScale) else likelihood
    if censored and not isinstance(inside, Gaussian | Censored):
        raise _checks.fail("noise", prior.noise, "with censored outputs it must be 'learned', a number or its law")
    if censored and isinstance(inside, Gaussian):
        inside = Censored(inside.level)
    if outcome == "real":
        return prior.with_noise(inside)
    if isinstance(inside, RobustNoise):
        allowed = "with outcome='positive' it must not be 'robust': outputs would have no mean"
        raise _checks.fail("noise", prior.noise, allowed)
    return prior.with_noise(LogScale(inside))


def positive_moments(
    posterior: Posterior, points: FloatArray, of: str, n_jobs: int | None
) -> tuple[FloatArray, FloatArray]:
    """Mean and sd of positive outputs (or of their median, exp(f)) at points, shape (n_points,) each."""
    likelihood, drawn = posterior.problem.likelihood, posterior.drawn
    mean, square = np.empty(len(points)), np.empty(len(points))
    for rows, moments in posterior.f_moments(points, n_jobs):
        spread = moments.variance
        if of == "y":
            spread = spread + likelihood.sd_at(drawn, points[rows]) ** 2
        mean[rows] = np.exp(np.minimum(moments.mean + 0.5 * spread, LARGEST_LOG)).mean(axis=0)
        square[rows] = np.exp(np.minimum(2.0 * moments.mean + 2.0 * spread, 2.0 * LARGEST_LOG)).mean(axis=0)
    return mean, np.sqrt(np.maximum(square - mean**2, 0.0))


def survival(posterior: Posterior, points: FloatArray, times: FloatArray, n_jobs: int | None) -> FloatArray:
    """P(new output > time) at points, shape (n_points, n_times); times on the scale of f."""
    result = np.empty((len(points), len(times)))
    for rows, parts in posterior.predictive(points, "y", n_jobs):
        sd = np.sqrt(parts.variance)
        weights = np.full(len(sd), 1.0 / len(sd)) if parts.weights is None else parts.weights
        for j, time in enumerate(times):
            result[rows, j] = weights @ ndtr((parts.mean - time) / sd)
    return result
