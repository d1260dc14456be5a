"""A likelihood from outside the package: Laplace errors, y = f(x) + σ L with density ½ e^(-|L|), in one file.

A scale mixture of Gaussians: L | v ~ N(0, v) with v ~ Exponential of mean 2. Given a residual e = y - f the relative
precision r = 1/v has the inverse Gaussian law of mean σ/|e| and shape 1 (Michael, Schucany and Haas 1976 draw it).
"""

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_ndtr

from porbnet.base.compiled import inner
from porbnet.base.records import Record
from porbnet.kernels.random import normal, uniform
from porbnet.kernels.state import NOISE
from porbnet.likelihood import Likelihood, register
from porbnet.likelihood.base import Mixture
from porbnet.likelihood.normal import checked_level, noise_parameter


class Precisions(Record):
    """kept : (n_points,) relative precisions."""

    kept: np.ndarray


@inner
def augment(state, rng):
    errors, kept, noise = state.rows.errors, state.errors.kept, state.values[NOISE]
    for i in range(len(errors)):
        mean = noise / max(abs(errors[i]), 1e-12 * noise)
        square = normal(rng) ** 2
        x = (
            mean
            + 0.5 * mean * mean * square
            - 0.5 * mean * math.sqrt(4.0 * mean * square + mean * mean * square * square)
        )
        x = max(x, 1e-12 * mean)
        kept[i] = x if uniform(rng) * (mean + x) <= mean else mean * mean / x


@inner
def weigh(state):
    root, known, kept = state.rows.root, state.rows.known_root, state.errors.kept
    for i in range(len(root)):
        root[i] = known[i] * math.sqrt(kept[i])


@register
@dataclass(frozen=True)
class Laplace(Likelihood):
    """Laplace errors of a scale that is a number or a LogNormal."""

    level: Any

    augment: ClassVar[Any] = staticmethod(augment)
    weigh: ClassVar[Any] = staticmethod(weigh)
    whole_weights: ClassVar[bool] = True
    words: ClassVar[str] = "Laplace errors"

    def __post_init__(self):
        object.__setattr__(self, "level", checked_level("level", self.level))

    def parameters(self):
        return (noise_parameter(self.level),)

    def record(self, region, scaling, X, first):
        return Precisions(kept=np.ones(len(X)))

    def variance_factor(self, drawn):
        return np.full(len(drawn), 2.0)

    def log_density(self, y, f, sd, drawn):
        return -np.abs(y - f) / sd - np.log(2.0 * sd)

    def log_integrated(self, y, mean, variance, sd, drawn):
        s, d = np.sqrt(variance), y - mean
        right = -d / sd + log_ndtr(d / s - s / sd)
        left = d / sd + log_ndtr(-d / s - s / sd)
        return np.logaddexp(right, left) + 0.5 * variance / sd**2 - np.log(2.0 * sd)

    def mixture(self, mean, variance, sd, drawn):
        nodes, weights = np.polynomial.laguerre.laggauss(20)
        means = np.repeat(mean, len(nodes), axis=0)
        spread = variance[:, None, :] + sd[:, None, :] ** 2 * 2.0 * nodes[:, None]
        return Mixture(means, spread.reshape(means.shape), np.tile(weights / weights.sum(), len(mean)) / len(mean))

    def sample(self, sd, drawn, rng):
        return rng.laplace(scale=sd)

    def pseudo(self, y, drawn):
        return np.broadcast_to(y, drawn.kept.shape), drawn.kept
