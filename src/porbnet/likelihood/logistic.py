"""Yes or no, P(y = 1) = 1 / (1 + e^(-η)) with the log-odds η = f: exactly Gaussian given Pólya-Gamma variates.

With κ = y - ½ and an observation that counts c times (Polson, Scott and Windle 2013),

    p(y | η)^c = e^(cκη) / (e^(η/2) + e^(-η/2))^c ∝ e^(cκη) ∫ e^(-ωη²/2) PG(ω; c, 0) dω,

so that given f the variates are ω ~ PG(c, η), and given them η has the pseudo-output cκ/ω with precision ω. The prior
of f may have another mean than zero, `center`: the sampler works with η - center.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, inner
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.kernels.polya_gamma import polya_gamma
from porbnet.likelihood.base import Drawn
from porbnet.likelihood.latent import Latent


class Labels(Record):
    """What the augmentation works on.

    kept : (n_points,) Pólya-Gamma variates ω
    halves : (n_points,) cκ, which is half of what an observation counts, with the sign of its label
    center : prior mean of the log-odds
    """

    kept: FloatArray
    halves: FloatArray
    center: float

    CARRIED = ("kept",)


@hot
def augment(state: Any, rng: Any) -> None:
    """ω_n ~ PG(c_n, η_n)."""
    labels, rows = state.errors, state.rows
    kept, counts, outputs, errors = labels.kept, rows.counts, rows.outputs, rows.errors
    for i in range(len(kept)):
        kept[i] = polya_gamma(counts[i], outputs[i] - errors[i] + labels.center, rng)


@inner
def weigh(state: Any) -> None:
    """Pseudo-outputs cκ/ω less the center, with precision ω (over the count, which rows are multiplied by)."""
    labels, rows = state.errors, state.rows
    kept, counts, outputs, root = labels.kept, rows.counts, rows.outputs, rows.root
    for i in range(len(kept)):
        outputs[i] = labels.halves[i] / kept[i] - labels.center
        root[i] = math.sqrt(kept[i] / counts[i])


@dataclass(frozen=True)
class Logistic(Latent):
    """Outcomes 0 and 1 whose log-odds are f: P(y = 1) = 1 / (1 + exp(-f)).

    Parameters
    ----------
    center : float
        Prior mean of f, in log-odds.

    Examples
    --------
    >>> Logistic().parameters()[0].known
    True
    """

    center: float = 0.0

    augment: ClassVar[Any] = staticmethod(augment)
    weigh: ClassVar[Any] = staticmethod(weigh)
    words: ClassVar[str] = "labels"
    unit: ClassVar[str] = " (log-odds)"

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _checks.number("center", self.center, minimum=-np.inf, largest=100.0))

    @property
    def middle(self) -> float:
        """The center."""
        return self.center

    def check(self, y: FloatArray, beside: FloatArray | None) -> None:
        """Labels are 0 or 1."""
        if not np.all((y == 0.0) | (y == 1.0)):
            raise _checks.fail("y", y, "with labels it must be 0 or 1 in every row")

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> Labels:
        """Variates at their mean for log-odds of zero."""
        return Labels(kept=np.full(len(X), 0.25), halves=np.zeros(len(X)), center=self.center)

    def observe(self, record: Any, outputs: FloatArray, beside: FloatArray | None, counts: FloatArray) -> None:
        """Halves of the counts, signed."""
        record.halves[:] = counts * (outputs - 0.5)
        record.kept[:] = 0.25 * counts

    def derivatives(self, y: FloatArray, f: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p = y f - log(1 + e^f)."""
        p = expit(f)
        return y * f - np.logaddexp(0.0, f), y - p, p * (1.0 - p)

    def outputs(self, f: FloatArray, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """New labels."""
        return np.asarray(rng.random(f.shape) < expit(f), dtype=np.float64)

    def pseudo(self, y: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """cκ/ω with precision ω, over what the row counts."""
        omega = drawn.kept.astype(np.float64)
        counts = 1.0 if drawn.counts is None else drawn.counts
        return counts * (y - 0.5) / omega, omega / counts
