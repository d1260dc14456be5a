"""What likelihoods share whose outcomes are no sums of f and an error: labels and counts, given f by a link.

They have no noise sd: σ is one. Their log p(y | f) is concave in f, so that

    p(y) = ∫ p(y | f)^c N(f; m, s²) df

has an integrand with one mode, at which Newton's method arrives, and tails that fall at least as fast as e^(-|f|) or
those of the normal law. It is integrated by the trapezoidal rule about the mode, out to where nothing is left, in steps
that are short beside both its width there and the distance from the real line, π/2, at which exp(-e^f) ceases to fall.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import ClassVar, NoReturn

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.parameter import Parameter
from porbnet.errors import StatementError
from porbnet.likelihood.base import Drawn, Likelihood

_NEWTON = 25
_NEGLIGIBLE = 34.0  # below the largest, in log units
_STEP, _LONGEST_STEP = 0.4, 0.6  # over the width at the mode, and in f
_REACH = 6.0  # widths from the mode to where the search for the ends begins


class Latent(Likelihood):
    """A likelihood of outcomes that f gives by a link; `derivatives` is all that differs."""

    additive: ClassVar[bool] = False
    stored_as: ClassVar[str] = "<f4"
    title: ClassVar[str] = ""

    def parameters(self) -> tuple[Parameter, ...]:
        """σ, which is one."""
        return (Parameter("noise", 1.0, diagnosed=False),)

    @abstractmethod
    def derivatives(self, y: FloatArray, f: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p(y | f), its slope in f and the negative of its curvature, shape (n_draws, n_points) each."""

    def log_density(self, y: FloatArray, f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        """Log p(y | f)."""
        return self.derivatives(y, f, drawn)[0]

    def log_integrated(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn
    ) -> FloatArray:
        """By the trapezoidal rule about the mode, see the module's docstring; p(y | f) to the power of `counts`."""
        power = 1.0 if drawn.counts is None else drawn.counts
        variance = np.maximum(variance, 1e-18)

        def log_integrand(f: FloatArray) -> FloatArray:
            return np.asarray(power * self.derivatives(y, f, drawn)[0] - 0.5 * (f - mean) ** 2 / variance)

        mode, width = self._mode(y, mean, variance, drawn, power)
        top = log_integrand(mode)
        left, right = (_end(log_integrand, mode, sign * width, top) for sign in (-1.0, 1.0))
        step = np.minimum(_STEP * width, _LONGEST_STEP)
        n = int(np.max(np.ceil((right - left) / step), initial=1.0)) + 1
        step = (right - left) / (n - 1)
        total = np.zeros(mean.shape)
        for j in range(n):
            total += np.exp(log_integrand(left + j * step) - top)
        return np.asarray(top + np.log(total * step) - 0.5 * np.log(2.0 * math.pi * variance))

    def _mode(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, drawn: Drawn, power: FloatArray | float
    ) -> tuple[FloatArray, FloatArray]:
        """The mode of the integrand and its width there, by Newton's method with steps of bounded length."""
        f, longest = mean.copy(), np.maximum(2.0, np.sqrt(variance))
        curvature = 1.0 / variance
        for _ in range(_NEWTON):
            _, slope, bend = self.derivatives(y, f, drawn)
            curvature = power * bend + 1.0 / variance
            step = np.clip((power * slope - (f - mean) / variance) / curvature, -longest, longest)
            f = f + step
            if np.all(np.abs(step) < 0.05 / np.sqrt(curvature)):
                break
            longest = np.where(np.abs(step) < longest, longest, 0.9 * longest)
        return f, 1.0 / np.sqrt(curvature)

    def mixture(self, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn) -> NoReturn:
        """There is none: these outcomes have no density."""
        raise StatementError(f"{self.words} are no mixture of normal laws: ask for f")

    def sample(self, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> NoReturn:
        """There are no errors: `outputs` draws the outcomes themselves."""
        raise StatementError(f"{self.words} are not f and an error: ask for outputs")

    def kept_is_sound(self, kept: FloatArray) -> bool:
        """Precisions are above zero."""
        return bool(np.all(kept > 0))


def _end(
    log_integrand: Callable[[FloatArray], FloatArray], mode: FloatArray, width: FloatArray, top: FloatArray
) -> FloatArray:
    """Where the integrand is negligible: from the mode outwards by widths (signed), in growing strides."""
    end, stride = mode + _REACH * width, 2.0 * width
    for _ in range(80):
        far = log_integrand(end) < top - _NEGLIGIBLE
        if np.all(far):
            break
        end = np.where(far, end, end + stride)
        stride = 1.25 * stride
    return end


def average(
    function: Callable[[FloatArray], FloatArray], mean: FloatArray, variance: FloatArray, step: float = 0.8
) -> FloatArray:
    """∫ function(f) N(f; mean, variance) df by the trapezoidal rule, to 1e-9 for bounded functions.

    step : the longest in f; by default for functions with poles no nearer to the real line than π
    """
    sd = np.sqrt(np.maximum(variance, 0.0))
    h = min(0.8, step / max(float(np.max(sd, initial=0.0)), 1e-12))
    n = math.ceil(6.5 / h)
    total, mass = np.zeros(mean.shape), 0.0
    for j in range(-n, n + 1):
        weight = math.exp(-0.5 * (j * h) ** 2)
        total += weight * function(mean + j * h * sd)
        mass += weight
    return np.asarray(total / mass)
