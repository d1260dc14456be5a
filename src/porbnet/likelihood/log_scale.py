"""Positive outputs: log y has the law that another likelihood says; densities of y have the Jacobian 1/y."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.parameter import Parameter
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.likelihood.base import Drawn, Likelihood, Mixture

LARGEST_LOG = math.log(1e50)


@dataclass(frozen=True)
class LogScale(Likelihood):
    """Positive outputs whose logarithms are f and an error; chains work with the logarithms.

    Parameters
    ----------
    errors : Likelihood
        Of the logarithms; additive.

    Examples
    --------
    >>> from porbnet.likelihood import Gaussian
    >>> LogScale(Gaussian(0.1)).parameters()[0].law
    0.1
    """

    errors: Likelihood

    title: ClassVar[str] = "noise sd (log)"
    unit: ClassVar[str] = " (log)"

    def __post_init__(self) -> None:
        if not isinstance(self.errors, Likelihood) or not self.errors.additive or isinstance(self.errors, LogScale):
            raise _checks.fail("errors", self.errors, "it must be a likelihood of outputs that are f and an error")

    def __getattribute__(self, name: str) -> Any:
        """What the errors' likelihood says of itself and of the chains is said by this one, too."""
        if name in _THEIRS:
            return getattr(object.__getattribute__(self, "errors"), name)
        return object.__getattribute__(self, name)

    def parameters(self) -> tuple[Parameter, ...]:
        """Those of the errors."""
        return self.errors.parameters()

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> Record:
        """That of the errors."""
        return self.errors.record(region, scaling, X, first)

    def natural(self, values: FloatArray) -> FloatArray:
        """The exponential."""
        return np.exp(values)

    def log_density(self, y: FloatArray, f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        """Of log y, less log y where y is known and not only its limits."""
        return self.errors.log_density(np.log(y), f, sd, _logs(drawn)) - _jacobian(y, drawn)

    def log_integrated(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn
    ) -> FloatArray:
        """Of log y, less log y where y is known and not only its limits."""
        return self.errors.log_integrated(np.log(y), mean, variance, sd, _logs(drawn)) - _jacobian(y, drawn)

    def mixture(self, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn) -> Mixture:
        """Of log y."""
        return self.errors.mixture(mean, variance, sd, drawn)

    def sample(self, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """Errors of log y."""
        return self.errors.sample(sd, drawn, rng)

    def outputs(self, f: FloatArray, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """New outputs."""
        with np.errstate(over="ignore"):
            return np.exp(self.errors.outputs(f, sd, drawn, rng))

    def pseudo(self, y: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """Of log y."""
        return self.errors.pseudo(np.log(y), _logs(drawn))


_THEIRS = (
    "augment", "weigh", "additive", "beside", "keeps_outputs", "whole_weights", "compresses", "stored_as", "words",
    "varies", "observe", "start", "kinks", "sd_at", "variance_factor", "log_augmented", "kept_is_sound", "sample_kept",
    "quantities", "process",
)  # fmt: skip


def _logs(drawn: Drawn) -> Drawn:
    """The same with other ends of outputs on the log scale."""
    if drawn.beside is None:
        return drawn
    with np.errstate(divide="ignore"):
        return drawn.at(np.log(drawn.beside), drawn.counts)


def _jacobian(y: FloatArray, drawn: Drawn) -> FloatArray:
    known = 1.0 if drawn.beside is None else drawn.beside == y
    return np.asarray(np.log(y) * known)
