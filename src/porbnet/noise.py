"""Noise that is more than one number: a curve over the input, or errors with heavy tails."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, TypeAlias

from porbnet.base import checks as _checks
from porbnet.base.distributions import InverseGamma, LogNormal


def _level(value: Any) -> float | LogNormal:
    return value if isinstance(value, LogNormal) else _checks.positive("level", value)


@dataclass(frozen=True)
class VaryingNoise:
    """Noise sd that varies over the input, σ(x) = level · exp(h(x)) with h a Gaussian process of mean zero.

    Parameters
    ----------
    level : float or LogNormal
        Typical noise sd, in the units of the output.
    variance : float
        Variance of h: with 1, the noise differs by a factor 2.7 either way in two thirds of places.
    lengthscale : float or sequence of float
        Lengthscale of h, in the units of the input, one or one per dimension.

    Examples
    --------
    >>> VaryingNoise(LogNormal(0.1, 3.0), variance=1.0, lengthscale=0.3).variance
    1.0
    """

    level: float | LogNormal
    variance: float
    lengthscale: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", _level(self.level))
        object.__setattr__(self, "variance", _checks.positive("variance", self.variance))
        allowed = "it must be a positive finite number, or one per dimension"
        stated = _checks.real_array("lengthscale", self.lengthscale, allowed)
        if stated.ndim > 1 or stated.size == 0 or (stated <= 0).any():
            raise _checks.fail("lengthscale", self.lengthscale, allowed)
        object.__setattr__(self, "lengthscale", float(stated) if stated.ndim == 0 else tuple(stated.tolist()))


@dataclass(frozen=True)
class RobustNoise:
    """Student-t errors: y = f(x) + level · t, with unknown or given degrees of freedom.

    Parameters
    ----------
    level : float or LogNormal
        Scale of the errors, in the units of the output (for many degrees of freedom, their sd).
    freedom : float or LogNormal
        Degrees of freedom; small ones make outliers likely.

    Examples
    --------
    >>> RobustNoise(0.1).freedom
    LogNormal(median=5.0, factor=2.0)
    """

    level: float | LogNormal
    freedom: float | LogNormal = field(default_factory=lambda: LogNormal(5.0, 2.0))

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", _level(self.level))
        if not isinstance(self.freedom, LogNormal):
            object.__setattr__(self, "freedom", _checks.positive("freedom", self.freedom))


Noise: TypeAlias = float | LogNormal | InverseGamma | VaryingNoise | RobustNoise


def noise_level(noise: Noise) -> float | LogNormal | InverseGamma:
    """What any statement of noise says of its level: the noise sd, its law, or the law of its square."""
    return noise.level if isinstance(noise, VaryingNoise | RobustNoise) else noise
