"""What the page shows of a prior: draws, curves, and what the statement means in numbers and words."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.cli.common import gathered_warnings
from porbnet.errors import StatementError
from porbnet.functions.upcrossings import rice_rate
from porbnet.statement.prior import Prior
from porbnet.studio.deformation import Whitened, deformed

MOST_DRAWN = 5000.0  # units in expectation
_SD_POINTS, _RICE_POINTS = 41, 129
_BAND = (0.05, 0.5, 0.95)


@functools.lru_cache(maxsize=4)
def _numbers(n: int, seed: int) -> Whitened:
    return Whitened(n, seed)


def line(prior: Prior, ends: Any, n_points: int) -> FloatArray:
    """Points along the first input, shape (n_points, n_dims), the others in the middle of the region."""
    middle = 0.5 * (prior.region.low + prior.region.high)
    X = np.repeat(middle[None], n_points, axis=0)
    X[:, 0] = np.linspace(float(ends[0]), float(ends[1]), n_points)
    return X


def drawn_units(prior: Prior) -> float:
    """Units that the prior expects, if they are not too many to draw."""
    expected = prior.expected_units
    if expected > MOST_DRAWN:
        raise StatementError(
            f"the prior expects {expected:,.0f} units, and the page draws up to {MOST_DRAWN:,.0f}: "
            "raise the lengthscale, shrink the region or lower units_per_lengthscale"
        )
    return expected


def draws(prior: Prior, X: FloatArray, n: int, seed: int) -> FloatArray:
    """Functions of the prior at points, shape (n, n_points); deformed when the prior changes, where they can be."""
    if prior.n_dims == 1 and prior.intensity.known:
        return deformed(prior, _numbers(n, seed), (float(X[0, 0]), float(X[-1, 0])))(X)
    return prior.sample(X, n, random_state=seed)


def curves(prior: Prior, X: FloatArray) -> dict[str, FloatArray]:
    """The lengthscale along the line, and the sd of f at fewer places; with the prior's band if it is unknown."""
    some = X[np.linspace(0, len(X) - 1, _SD_POINTS).round().astype(int)]
    found = {"sd": np.sqrt(prior.variance(some)), "sd_x": some[:, 0]}
    if prior.intensity.known:
        return found | {"lengthscale": prior.lengthscale_at(X)}
    low, middle, high = prior.lengthscale_at(X[:1], quantiles=_BAND)[0]
    return found | {
        "lengthscale": np.full(len(X), middle),
        "lengthscale_low": np.full(len(X), low),
        "lengthscale_high": np.full(len(X), high),
    }


def upcrossings(prior: Prior, ends: Any) -> float:
    """Expected upcrossings of the mean along the first input, by Rice's formula on a grid: three digits, and quick."""
    X = line(prior, ends, _RICE_POINTS)
    m = prior.point_moments(X)
    rate = rice_rate(m.variance, m.gradient_variance[:, 0], m.cross[:, 0], 0.0)
    return float(np.trapezoid(rate, X[:, 0]))


def facts(prior: Prior, ends: Any, X: FloatArray | None) -> dict[str, Any]:
    """Sd, upcrossings and expected units, and the advice of `prior.check` where there are inputs."""
    with gathered_warnings() as said:
        advice = [] if X is None else prior.check(X)
    inside = line(prior, ends, 41)
    sd = np.sqrt(prior.variance(inside))
    return {
        "expected_units": float(prior.expected_units),
        "sd": [float(sd.min()), float(sd.max())],
        "upcrossings": upcrossings(prior, ends),
        "interval": [float(ends[0]), float(ends[1])],
        "noise": None if prior.noise is None or not isinstance(prior.noise, float) else prior.noise,
        "signal_to_noise": _ratio(prior),
        "advice": list(dict.fromkeys([*advice, *said])),
    }


def _ratio(prior: Prior) -> float | None:
    if not isinstance(prior.noise, float):
        return None
    return math.sqrt(prior.mean_square_amplitude) / prior.noise
