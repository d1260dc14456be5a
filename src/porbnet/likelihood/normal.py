"""Gaussian errors with one sd, y = f(x) + N(0, σ²); known precisions of rows and weights are the sampler's affair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import InverseGamma, LogNormal
from porbnet.base.parameter import OUTPUT, Law, Parameter
from porbnet.likelihood.base import Drawn, Likelihood, Mixture


def checked_level(name: str, value: Any) -> float | LogNormal:
    """A statement of σ: a positive number, or its law."""
    return value if isinstance(value, LogNormal) else _checks.positive(name, value)


def noise_parameter(level: Law, diagnosed: bool = True) -> Parameter:
    """σ, stated as a number, as its law, or by the law of its square."""
    power = 2 if isinstance(level, InverseGamma) else 1
    return Parameter("noise", level, OUTPUT, power, bounded=True, diagnosed=diagnosed)


def log_normal(z: FloatArray, variance: FloatArray | float) -> FloatArray:
    """Log density of N(0, variance) at z."""
    return np.asarray(-0.5 * (z * z / variance + np.log(2.0 * np.pi * variance)))


class GaussianErrors(Likelihood):
    """What likelihoods with Gaussian errors share, whatever their sd."""

    def log_density(self, y: FloatArray, f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        """Log N(y; f, σ²)."""
        return log_normal((y - f) / sd, 1.0) - np.log(sd)

    def log_integrated(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn
    ) -> FloatArray:
        """Log N(y; mean, variance + σ²)."""
        return log_normal(y - mean, variance + sd**2)

    def mixture(self, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn) -> Mixture:
        """One component per draw."""
        return Mixture(mean, variance + sd**2, None)

    def sample(self, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """Normal errors."""
        return np.asarray(sd * rng.standard_normal(sd.shape))


@dataclass(frozen=True)
class Gaussian(GaussianErrors):
    """Gaussian errors with one sd; what a number, a LogNormal or an InverseGamma as `noise` means.

    Parameters
    ----------
    level : float, LogNormal or InverseGamma
        Noise sd, in the units of the output, or its law; an InverseGamma is the law of its square.

    Examples
    --------
    >>> Gaussian(0.1).parameters()[0].known
    True
    """

    level: float | LogNormal | InverseGamma

    compresses: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.level, InverseGamma):
            object.__setattr__(self, "level", checked_level("noise", self.level))

    def parameters(self) -> tuple[Parameter, ...]:
        """The noise sd."""
        return (noise_parameter(self.level),)
