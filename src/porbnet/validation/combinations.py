"""What is calibrated: every likelihood with every intensity, by every sampler, with one input and with two.

All are small problems, so that thousands of data sets can be drawn and fitted; nothing about the model is left out.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import InverseGamma, LogNormal
from porbnet.intensity import Constant, FromFunction, Intensity, Piecewise, SigmoidGP, UnknownConstant
from porbnet.likelihood import (
    Censored,
    Gaussian,
    Likelihood,
    Logistic,
    LogScale,
    NegativeBinomial,
    Poisson,
    RobustNoise,
    VaryingNoise,
)
from porbnet.statement.prior import Prior

NOISE = LogNormal(0.6, 1.4)
AMPLITUDE = LogNormal(1.2, 1.4)
BIAS = 0.5
LIMITS = (-0.6, 0.8)  # outputs beyond them are known to be that, with censored outputs
REGIONS: dict[int, Any] = {1: (-0.5, 2.0), 2: [(0.0, 10.0), (-5.0, 5.0)]}
ROWS = 10
SAMPLERS = ("collapsed", "boxes", "paper")


def rising(X: FloatArray) -> FloatArray:
    """An intensity that rises along the first input, over a range of about 2.5."""
    return np.asarray(0.8 + 0.5 * X[:, 0])


def rising_plane(X: FloatArray) -> FloatArray:
    """The same over a range of 10, with two inputs."""
    return np.asarray(0.02 + 0.004 * X[:, 0])


INTENSITIES: dict[int, dict[str, Intensity]] = {
    1: {
        "constant": Constant(1.6),
        "piecewise": Piecewise([0.7], [0.9, 2.4]),
        "function": FromFunction(rising),
        "unknown": UnknownConstant(4.0, 3.0),
        "curve": SigmoidGP(2.5, 2.0, 0.8),
        "curve and its law": SigmoidGP(2.5, LogNormal(2.0, 2.0), LogNormal(0.8, 1.5)),
    },
    2: {
        "constant": Constant(0.03),
        "piecewise": Piecewise([[4.0], [1.0]], [[0.02, 0.04], [0.03, 0.06]]),
        "function": FromFunction(rising_plane),
        "unknown": UnknownConstant(4.0, 4000.0),
        "curve": SigmoidGP(0.08, 1.5, 5.0),
        "curve and its law": SigmoidGP(0.08, LogNormal(1.5, 2.0), LogNormal(5.0, 1.5)),
    },
}

LIKELIHOODS: dict[str, Likelihood] = {
    "Gaussian": Gaussian(NOISE),
    "Gaussian, inverse gamma": Gaussian(InverseGamma(6.0, 2.0)),
    "Gaussian, known sd": Gaussian(0.5),
    "varying": VaryingNoise(NOISE, 0.7, 0.8),
    "Student-t": RobustNoise(NOISE, LogNormal(3.0, 1.6)),
    "positive": LogScale(Gaussian(NOISE)),
    "censored": Censored(NOISE),
    "labels": Logistic(0.4),
    "counts": NegativeBinomial(LogNormal(3.0, 1.5), 0.3),
    "Poisson": Poisson(0.3),
}
_FOR_PAPER = ("Gaussian", "Gaussian, inverse gamma", "Gaussian, known sd")


@dataclass(frozen=True)
class Combination:
    """A likelihood, an intensity, a sampler and a number of inputs."""

    likelihood: str
    intensity: str
    sampler: str
    n_dims: int

    @property
    def name(self) -> str:
        """In words, as options of commands name it."""
        return f"{self.likelihood} / {self.intensity} / {self.sampler} / {self.n_dims}-D"

    @property
    def prior(self) -> Prior:
        """The statement."""
        noise = LIKELIHOODS[self.likelihood]
        if self.n_dims == 2 and isinstance(noise, VaryingNoise):
            noise = VaryingNoise(NOISE, 0.7, 4.0)
        return Prior(
            INTENSITIES[self.n_dims][self.intensity],
            AMPLITUDE,
            region=REGIONS[self.n_dims],
            bias=BIAS,
            noise=noise,
            units_per_lengthscale=1.2 if self.n_dims == 1 else 0.9,
        )

    @property
    def exposure(self) -> FloatArray | None:
        """Of the rows of counts."""
        return np.geomspace(0.5, 3.0, ROWS) if self.likelihood in ("counts", "Poisson") else None


def combinations() -> list[Combination]:
    """All that there are, those first that have each part at least once; the paper's sampler knows fewer."""
    every = [
        Combination(likelihood, intensity, sampler, n_dims)
        for n_dims, sampler in itertools.product((1, 2), SAMPLERS)
        for likelihood, intensity in itertools.product(LIKELIHOODS, INTENSITIES[n_dims])
        if sampler != "paper" or (likelihood in _FOR_PAPER and intensity != "curve and its law")
    ]
    return sorted(every, key=lambda c: (_departures(c), c.n_dims))


def _departures(combination: Combination) -> int:
    """In how many parts it differs from the plainest one with its sampler and its inputs."""
    return (combination.likelihood != "Gaussian") + (combination.intensity != "unknown")


@contextlib.contextmanager
def sampling_by(sampler: str) -> Iterator[None]:
    """Let chains make births, deaths and moves in boxes however few units there are, if so named."""
    from porbnet.sampling.collapsed import blocks, chain

    before = chain.MOST_SQUARE, chain.MOST_SQUARE_BEYOND, blocks.TARGET
    if sampler == "boxes":
        chain.MOST_SQUARE, chain.MOST_SQUARE_BEYOND, blocks.TARGET = -1, -1, 1.0
    try:
        yield
    finally:
        chain.MOST_SQUARE, chain.MOST_SQUARE_BEYOND, blocks.TARGET = before
