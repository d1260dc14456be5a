"""What estimators share whose outcomes are given by a link: f is on a scale of its own, log-odds or a log rate."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.errors import StatementError
from porbnet.estimators.chunks import are_chunks
from porbnet.estimators.inputs import in_numbers
from porbnet.estimators.regressor import PoRBNetRegressor
from porbnet.likelihood.base import Likelihood
from porbnet.statement.defaults import Scales, default_prior
from porbnet.statement.prior import Prior


class OutcomeModel(PoRBNetRegressor):
    """A fit whose likelihood is no matter of noise; subclasses say which, and what the scale of f is by default."""

    noise: Any = "learned"  # not a parameter: there is none
    trend: Any = None  # nor is this: a line is of real outputs
    _default_amplitude: ClassVar[LogNormal]
    _default_bias: ClassVar[float]

    @abstractmethod
    def _likelihood(self, center: float) -> Likelihood:
        """The likelihood, f about a center."""

    @abstractmethod
    def _seen(self, y: FloatArray, counts: FloatArray | None, beside: FloatArray | None) -> tuple[float, FloatArray]:
        """A center for f, and outputs that vary as f does, for a first guess of the lengthscale."""

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None, beside: Any = None) -> Any:
        if are_chunks(X, y):
            raise StatementError("X comes in chunks, which only PoRBNetRegressor can read: give arrays or a frame")
        return super()._prepare(X, y, sample_weight, beside)

    def _statement(
        self, X: FloatArray, y: FloatArray, noise: Any, counts: FloatArray | None, scales: Scales | None = None,
        beside: FloatArray | None = None,
    ) -> tuple[Prior, float]:  # fmt: skip
        center, seen = self._seen(y, counts, beside)
        if self.prior is not None:
            prior, _ = super()._statement(X, y, noise, counts, scales)
            if prior.trend is not None:
                raise _checks.fail("prior", self.prior, "it must have no trend, which is for PoRBNetRegressor")
            wanted = self._likelihood(0.0)
            if prior.likelihood is None:
                prior = prior.with_noise(wanted)
            likelihood = prior.likelihood
            if not isinstance(likelihood, type(wanted)):
                raise _checks.fail("prior", self.prior, f"its noise must be None or a {type(wanted).__name__}")
            if prior.trend is not None and not likelihood.integrates:
                raise _checks.fail("prior", self.prior, "with a Poisson law it must have no trend")
            return prior, likelihood.middle
        amplitude, bias = self.amplitude, self.bias
        stated = in_numbers(self.lengthscale, self.region, getattr(self, "dates_", None))
        prior, _ = default_prior(
            X,
            seen,
            amplitude=self._default_amplitude if isinstance(amplitude, str) else amplitude,
            bias=self._default_bias if isinstance(bias, str) else bias,
            noise=self._likelihood(center),
            units_per_lengthscale=self.units_per_lengthscale,
            counts=counts,
            **stated,
        )
        return prior, center


def weighted_mean(values: FloatArray, counts: FloatArray | None) -> float:
    """Mean of values, each as often as it counts."""
    return float(np.average(values, weights=counts))
