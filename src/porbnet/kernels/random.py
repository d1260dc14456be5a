"""Randomness in kernels: the accept rule, Poisson counts, Gamma variates; and the laws of parameters.

The law of a parameter stands in a row of `laws`: a kind and three numbers. All are laws of positive numbers, given by
the density of the logarithm, up to a constant.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import PLAIN, apart, inner
from porbnet.base.parameter import KNOWN, LOG_NORMAL, SQUARE_INVERSE_GAMMA

try:
    if PLAIN:
        raise ImportError
    # what NumPy's generator does, straight from its bits: its methods in Numba take half a second to compile
    from numba.np.random.distributions import random_standard_normal
    from numba.np.random.generator_core import next_double

    _from_bits = inner(random_standard_normal)

    @inner
    def uniform(rng: Any) -> float:
        """A number between 0 and 1, as `rng.random()`."""
        return next_double(rng.bit_generator)  # type: ignore[no-any-return]

    @apart
    def normal(rng: Any) -> float:
        """A standard normal number, as `rng.standard_normal()`."""
        return _from_bits(rng.bit_generator)  # type: ignore[no-any-return]

except ImportError:  # plain Python, or a Numba that keeps them elsewhere

    @inner
    def uniform(rng: Any) -> float:
        """A number between 0 and 1, as `rng.random()`."""
        return rng.random()  # type: ignore[no-any-return]

    @inner
    def normal(rng: Any) -> float:
        """A standard normal number, as `rng.standard_normal()`."""
        return rng.standard_normal()  # type: ignore[no-any-return]


@inner
def accept(log_ratio: float, rng: Any) -> bool:
    """The one accept rule: with probability min(1, exp(log_ratio)); NaN is never accepted."""
    return bool(math.log(1.0 - uniform(rng)) < log_ratio)


@inner
def poisson(mean: float, rng: Any) -> int:
    """A Poisson count, as points of a unit-rate process on [0, mean] (the generator's own needs an array)."""
    n, reached = 0, -math.log(1.0 - uniform(rng))
    while reached < mean:
        n += 1
        reached -= math.log(1.0 - uniform(rng))
    return n


@inner
def gamma(shape: float, rng: Any) -> float:
    """Gamma(shape, 1), by Marsaglia and Tsang's method; below 1 by boosting."""
    boost = 1.0
    if shape < 1.0:
        boost = math.exp(math.log(1.0 - uniform(rng)) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = normal(rng)
        v = (1.0 + c * z) * (1.0 + c * z) * (1.0 + c * z)
        if v <= 0.0:
            continue
        u, z2 = 1.0 - uniform(rng), z * z
        # a bound that needs no logarithm says yes nearly always
        if u < 1.0 - 0.0331 * z2 * z2 or math.log(u) < 0.5 * z2 + d - d * v + d * math.log(v):
            return float(boost * d * v)


@inner
def is_unknown(laws: Any, which: int) -> bool:
    """Whether a parameter is learned."""
    return bool(laws[which, 0] != KNOWN)


@inner
def log_law(laws: Any, which: int, value: float, log_value: float) -> float:
    """Log density of the logarithm of a parameter θ, up to a constant; it is given with its logarithm.

    LOG_NORMAL, log θ ~ N(mean, sd²):               -½ ((log θ - mean) / sd)², from a least log θ on
    SQUARE_INVERSE_GAMMA, θ² ~ InverseGamma(α, β):  -2 α log θ - β / θ²
    POWER_GAMMA, θ^p ~ Gamma(α, β):                 p α log θ - β θ^p
    """
    kind, a, b = laws[which, 0], laws[which, 1], laws[which, 2]
    c = laws[which, 3]
    if kind == LOG_NORMAL:
        if log_value < c:
            return -math.inf
        z = (log_value - a) / b
        return float(-0.5 * z * z)
    if kind == SQUARE_INVERSE_GAMMA:
        return float(-2.0 * a * log_value - b * math.exp(-2.0 * log_value))
    power = value if c == 1.0 else value * value
    return float(c * a * math.log(value) - b * power)
