"""Parameters: the single positive numbers of a model, each with a name, a law and a unit.

Everything that treats parameters loops over a list of these: kernels (through a table of laws), draws, files, ArviZ,
diagnostics, summaries. A new parameter is one more entry.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import Gamma, InverseGamma, LogNormal
from porbnet.base.scaling import Scaling

Law = float | LogNormal | InverseGamma | Gamma

KNOWN, LOG_NORMAL, SQUARE_INVERSE_GAMMA, POWER_GAMMA = range(4)  # kinds of laws, in the table of the kernels
OUTPUT, INTENSITY, NUMBER = "output", "intensity", "number"  # units: of the output, per unit of input, none
LEAST_NOISE = 1e-5  # over the standard deviation of y: below it rounding decides what units are worth
_LEAST_LOG = math.log(LEAST_NOISE)  # of a bounded parameter


@dataclass(frozen=True)
class Parameter:
    """A positive number of the model.

    name : in files, ArviZ and diagnostics
    law : a number if it is known, else a distribution: LogNormal of the parameter, Gamma or InverseGamma of its `power`
    unit : OUTPUT, INTENSITY or NUMBER
    power : of the parameter, that a Gamma or InverseGamma is the law of
    start : where chains start, where that is not the median of the law
    scattered : whether chains start apart from each other
    bounded : whether a LogNormal ends at 1e-5 of a standard deviation of y (or a thousandth of its median, if that is
        less): outputs that a network can match exactly would else send the noise to where rounding decides
    diagnosed : whether its own R-hat says something that others do not
    """

    name: str
    law: Law
    unit: str = NUMBER
    power: int = 1
    start: float | None = None
    scattered: bool = True
    bounded: bool = False
    diagnosed: bool = True

    @property
    def known(self) -> bool:
        """Whether it was stated, not learned."""
        return isinstance(self.law, float)

    def natural(self, values: FloatArray, scaling: Scaling) -> FloatArray:
        """From standard coordinates to its own units."""
        if self.unit == OUTPUT:
            return values * scaling.y_scale
        return values / scaling.volume if self.unit == INTENSITY else values

    def row(self, scaling: Scaling) -> list[float]:
        """Its law in standard coordinates, as kernels take it: see `porbnet.kernels.random`."""
        law, one = self.law, self._one(scaling)
        if isinstance(law, LogNormal):
            mean = math.log(law.median / one)
            return [LOG_NORMAL, mean, law.log_sd, min(_LEAST_LOG, mean - 7.0) if self.bounded else -math.inf]
        if isinstance(law, InverseGamma):
            return [SQUARE_INVERSE_GAMMA, law.shape, law.scale / one**2, 0.0]
        if isinstance(law, Gamma):
            return [POWER_GAMMA, law.shape, law.rate / scaling.volume**self.power, float(self.power)]
        return [KNOWN, 0.0, 0.0, 0.0]

    def _one(self, scaling: Scaling) -> float:
        """What is one in standard coordinates, for what is not an intensity."""
        return scaling.y_scale if self.unit == OUTPUT else 1.0

    def start_value(self, scaling: Scaling, rng: np.random.Generator) -> float:
        """A value to start a chain from, in standard coordinates: scattered about the median of the law."""
        law, one = self.law, self._one(scaling)
        if self.unit == INTENSITY:
            value = float(self.start or 0.0) * scaling.volume
            return value * float(np.exp(0.2 * np.clip(rng.standard_normal(), -2.0, 2.0))) if self.scattered else value
        if isinstance(law, InverseGamma):
            mean, sd = 0.5 * math.log(law.mode / one**2), min(0.5 / math.sqrt(law.shape), 1.0)
        elif isinstance(law, LogNormal):
            mean, sd = math.log(law.median / one), law.log_sd
        else:
            mean, sd = math.log(float(law) / one), 0.0  # type: ignore[arg-type]
        return float(np.exp(mean + 0.5 * sd * rng.standard_normal()) if self.scattered else np.exp(mean))

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws from its law, in its own units, shape (n,)."""
        if isinstance(self.law, float):
            return np.full(n, self.law)
        drawn = self.law.sample(n, rng)
        return drawn if self.power == 1 else drawn ** (1.0 / self.power)

    def log_density(self, values: FloatArray, scaling: Scaling) -> FloatArray:
        """Log density of the logarithm of values in standard coordinates, up to a constant."""
        kind, a, b, c = self.row(scaling)
        logs = np.log(values)
        if kind == KNOWN:
            return np.zeros(len(values))
        if kind == LOG_NORMAL:
            return np.asarray(np.where(logs < c, -np.inf, -0.5 * ((logs - a) / b) ** 2))
        if kind == SQUARE_INVERSE_GAMMA:
            return np.asarray(-2.0 * a * logs - b * np.exp(-2.0 * logs))
        return np.asarray(c * a * logs - b * values**c)


def law_of(value: Any) -> Law:
    """A statement as a law: distributions as they are, numbers as floats."""
    return value if isinstance(value, LogNormal | InverseGamma | Gamma) else float(value)
