"""Gaussian errors of outputs of which some are only known within limits.

They lie below a detection limit, beyond the end of a study, between two visits. Given f such an output is drawn from
its normal law between its limits, and then stands for a known one: given it, all is Gaussian. An output y comes with
the other end of what is known of it: itself if y is known, -∞ if the output is y at most, ∞ if it is y at least, else
the upper end of an interval of which y is the lower.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.compiled import inner
from porbnet.base.distributions import InverseGamma, LogNormal
from porbnet.base.parameter import Parameter
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.kernels.state import NOISE
from porbnet.kernels.truncated import truncated_normal
from porbnet.likelihood.base import Drawn
from porbnet.likelihood.normal import GaussianErrors, checked_level, log_normal, noise_parameter


class Limits(Record):
    """What the augmentation works on.

    kept : (n_points,) outputs, drawn where they are not known
    low, high : (n_points,) limits, the same where the output is known
    """

    kept: FloatArray
    low: FloatArray
    high: FloatArray

    CARRIED = ("kept",)


@inner
def augment(state: Any, rng: Any) -> None:
    """Outputs within their limits, given f."""
    limits, rows, noise = state.errors, state.rows, state.values[NOISE]
    kept, low, high = limits.kept, limits.low, limits.high
    for i in range(len(kept)):
        if low[i] < high[i]:
            known = rows.known_root[i]
            f, sd = rows.outputs[i] - rows.errors[i] / known, noise / known
            kept[i] = f + sd * truncated_normal((low[i] - f) / sd, (high[i] - f) / sd, rng)
            rows.errors[i] = (kept[i] - f) * known


@inner
def weigh(state: Any) -> None:
    """Outputs as they were drawn; precisions are known."""
    rows, kept = state.rows, state.errors.kept
    for i in range(len(kept)):
        rows.outputs[i] = kept[i]
        rows.root[i] = rows.known_root[i]


def limits_of(y: FloatArray, other: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lower and upper limits, from outputs and the other ends."""
    return np.minimum(y, other), np.maximum(y, other)


@dataclass(frozen=True)
class Censored(GaussianErrors):
    """Gaussian errors with one sd, some outputs known within limits only.

    Parameters
    ----------
    level : float, LogNormal or InverseGamma
        Noise sd, in the units of the output, or its law; an InverseGamma is the law of its square.

    Examples
    --------
    >>> Censored(0.1).beside
    'other end'
    """

    level: float | LogNormal | InverseGamma

    augment: ClassVar[Any] = staticmethod(augment)
    weigh: ClassVar[Any] = staticmethod(weigh)
    whole_weights: ClassVar[bool] = True
    words: ClassVar[str] = "censored outputs"
    beside: ClassVar[str] = "other end"
    keeps_outputs: ClassVar[bool] = True

    def __post_init__(self) -> None:
        if not isinstance(self.level, InverseGamma):
            object.__setattr__(self, "level", checked_level("noise", self.level))

    def parameters(self) -> tuple[Parameter, ...]:
        """The noise sd."""
        return (noise_parameter(self.level),)

    def check(self, y: FloatArray, beside: FloatArray | None) -> None:
        """Other ends are numbers or infinite."""
        if beside is not None and np.any(np.isnan(beside)):
            raise _checks.fail("censored", beside, "it must not hold NaN")

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> Limits:
        """No outputs yet."""
        return Limits(kept=np.zeros(len(X)), low=np.zeros(len(X)), high=np.zeros(len(X)))

    def observe(self, record: Any, outputs: FloatArray, beside: FloatArray | None, counts: FloatArray) -> None:
        """Limits; outputs start at the one that is finite, or between both."""
        low, high = limits_of(outputs, outputs if beside is None else beside)
        record.low[:], record.high[:] = low, high
        between = np.isfinite(low) & np.isfinite(high)
        record.kept[:] = np.where(between, 0.5 * (np.where(between, low, 0.0) + np.where(between, high, 0.0)), outputs)

    def log_density(self, y: FloatArray, f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        """Log N(y; f, σ²), or the log probability of an interval."""
        return self.log_integrated(y, f, np.zeros_like(sd), sd, drawn)

    def log_integrated(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn
    ) -> FloatArray:
        """Log N(y; mean, variance + σ²), or the log probability of an interval."""
        total = variance + sd**2
        plain = log_normal(y - mean, total)
        if drawn.beside is None or np.all(drawn.beside == y):
            return plain
        low, high = limits_of(y, drawn.beside)
        return np.where(low == high, plain, log_between((low - mean) / np.sqrt(total), (high - mean) / np.sqrt(total)))

    def pseudo(self, y: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """Outputs as they were drawn."""
        return drawn.kept, np.ones(drawn.kept.shape)


def log_between(low: FloatArray, high: FloatArray) -> FloatArray:
    """Log Φ(high) - Φ(low), low < high, without loss of digits in either tail."""
    flip = low + high > 0  # work in the left tail
    a, b = np.where(flip, -high, low), np.where(flip, -low, high)
    upper, lower = log_ndtr(b), log_ndtr(a)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(upper + np.log1p(-np.exp(np.minimum(lower - upper, -1e-300))))
