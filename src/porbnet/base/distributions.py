"""Priors for single positive quantities: an intensity's level, an amplitude, a noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import special

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray

_LARGEST_DRAW = 1e200


@dataclass(frozen=True)
class Gamma:
    """Gamma distribution with density proportional to t^(shape - 1) exp(-rate t).

    Parameters
    ----------
    shape, rate : float
        Both positive (shape at least 1e-6); the mean is shape / rate.

    Examples
    --------
    >>> Gamma(4.0, 2.0).mean
    2.0
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _checks.number("shape", self.shape, minimum=1e-6, inclusive=True))
        # the law of a squared density: a volume to the power of two
        object.__setattr__(self, "rate", _checks.number("rate", self.rate, largest=_checks.LARGEST**2))

    @property
    def mean(self) -> float:
        """Expected value."""
        return self.shape / self.rate

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws, shape (n,)."""
        return rng.gamma(self.shape, 1.0 / self.rate, size=n)

    def quantile(self, probability: FloatArray | float) -> FloatArray:
        """Inverse of the distribution function."""
        return np.asarray(special.gammaincinv(self.shape, probability) / self.rate, dtype=np.float64)

    def log_density(self, value: float) -> float:
        """Logarithm of the density at one value."""
        if value <= 0:
            return -math.inf
        return (
            self.shape * math.log(self.rate)
            - math.lgamma(self.shape)
            + (self.shape - 1.0) * math.log(value)
            - self.rate * value
        )


@dataclass(frozen=True)
class InverseGamma:
    """Inverse-gamma distribution with density proportional to t^(-shape - 1) exp(-scale / t), for a variance.

    Parameters
    ----------
    shape, scale : float
        Both positive (shape at least 1e-6); the mode is scale / (shape + 1), and the mean scale / (shape - 1) if the
        shape exceeds 1.

    Examples
    --------
    A noise variance as good as known from 2 * 3 observations with a mean square of 0.04:

    >>> round(InverseGamma(3.0, 3.0 * 0.04).mean, 12)
    0.06
    """

    shape: float
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "shape", _checks.number("shape", self.shape, minimum=1e-6, inclusive=True))
        # the scale of a variance: a square
        object.__setattr__(self, "scale", _checks.number("scale", self.scale, largest=_checks.LARGEST**2))

    @property
    def mean(self) -> float:
        """Expected value; infinite for a shape of at most 1."""
        return self.scale / (self.shape - 1.0) if self.shape > 1.0 else math.inf

    @property
    def mode(self) -> float:
        """Where the density is largest."""
        return self.scale / (self.shape + 1.0)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws, shape (n,); none above 1e200, where a small shape has some."""
        return self._over(rng.gamma(self.shape, size=n))

    def quantile(self, probability: FloatArray | float) -> FloatArray:
        """Inverse of the distribution function, 1e200 at most."""
        return self._over(special.gammainccinv(self.shape, probability))

    def _over(self, gamma: FloatArray) -> FloatArray:
        """Scale over what may be as good as zero."""
        with np.errstate(divide="ignore", over="ignore"):
            return np.asarray(np.minimum(self.scale / gamma, _LARGEST_DRAW), dtype=np.float64)

    def log_density(self, value: float) -> float:
        """Logarithm of the density at one value."""
        if value <= 0:
            return -math.inf
        return (
            self.shape * math.log(self.scale)
            - math.lgamma(self.shape)
            - (self.shape + 1.0) * math.log(value)
            - self.scale / value
        )


def spread_factor(value: object) -> float:
    """A factor by which a quantity may be off, checked."""
    factor = _checks.number("factor", value, minimum=1.0)
    if factor > 1e6:
        raise _checks.fail("factor", value, "it must be greater than 1 and at most 1e6")
    return factor


@dataclass(frozen=True)
class LogNormal:
    """About `median`, give or take a factor of `factor`: log t ~ N(log median, (log factor)²).

    Parameters
    ----------
    median : float
        Positive, in the units of the quantity.
    factor : float
        Above 1 and up to a million: about two thirds of the mass lies between median / factor and median * factor.

    Examples
    --------
    >>> LogNormal(0.1, factor=3.0).quantile(0.5).item()
    0.1
    """

    median: float
    factor: float = 3.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "median", _checks.positive("median", self.median))
        object.__setattr__(self, "factor", spread_factor(self.factor))

    @property
    def log_sd(self) -> float:
        """Standard deviation of the logarithm."""
        return math.log(self.factor)

    @property
    def mean_square(self) -> float:
        """Expected value of the square, E[t²]."""
        return self.median**2 * math.exp(2.0 * self.log_sd**2)

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws, shape (n,)."""
        return self.median * np.exp(self.log_sd * rng.standard_normal(n))

    def quantile(self, probability: FloatArray | float) -> FloatArray:
        """Inverse of the distribution function."""
        return np.asarray(self.median * np.exp(self.log_sd * special.ndtri(probability)), dtype=np.float64)

    def log_density(self, value: float) -> float:
        """Logarithm of the density at one value."""
        if value <= 0:
            return -math.inf
        z = math.log(value / self.median) / self.log_sd
        return -0.5 * z * z - math.log(value * self.log_sd * math.sqrt(2.0 * math.pi))
