"""Standard normal variates within an interval, exactly, however far out it lies.

An interval about zero that is long: normal variates until one falls into it. One to the right of zero that is long
beside 1/low: low + an exponential variate of rate α = (low + √(low² + 4))/2, accepted with e^(-(x - α)²/2)
(Robert 1995). A short one: uniform, accepted with the density over its largest. To the left of zero: mirrored.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.random import normal, uniform

_LONG = 1.5  # of an interval, in units of its law's decay


@inner
def _right(low: float, high: float, rng: Any) -> float:
    """Within [low, high], low ≥ 0."""
    rate = 0.5 * (low + math.sqrt(low * low + 4.0))
    if rate * (high - low) > _LONG:
        while True:
            x = low - math.log(1.0 - uniform(rng)) / rate
            if x <= high and uniform(rng) < math.exp(-0.5 * (x - rate) * (x - rate)):
                return x
    while True:
        x = low + (high - low) * uniform(rng)
        if uniform(rng) < math.exp(0.5 * (low - x) * (low + x)):
            return x


@inner
def truncated_normal(low: float, high: float, rng: Any) -> float:
    """A standard normal variate within [low, high]; either end may be infinite."""
    if low >= 0.0:
        return _right(low, high, rng)
    if high <= 0.0:
        return -_right(-high, -low, rng)
    if high - low > _LONG:
        while True:
            x = normal(rng)
            if low <= x <= high:
                return x
    while True:
        x = low + (high - low) * uniform(rng)
        if uniform(rng) < math.exp(-0.5 * x * x):
            return x
