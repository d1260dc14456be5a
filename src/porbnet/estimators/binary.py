"""A fit of labels 0 and 1: what a classifier is made of, one for two classes, else one for each against the rest."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import expit

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.seeds import RandomState
from porbnet.estimators.outcomes import OutcomeModel, weighted_mean
from porbnet.estimators.regressor import Lengthscale
from porbnet.likelihood.latent import average
from porbnet.likelihood.logistic import Logistic
from porbnet.posterior.posterior import FMoments
from porbnet.statement.prior import Prior

AMPLITUDE = LogNormal(2.0, 2.5)  # of log-odds about their bias
BIAS = 2.0


class BinaryFit(OutcomeModel):
    """Log-odds of a label as a function of the inputs; parameters and methods are those of the classifier.

    Attributes
    ----------
    class_ : list
        Classes of the whole classifier, and the place of the one whose log-odds f is.
    """

    _stored_as = "PoRBNetClassifier"
    _default_amplitude: ClassVar[LogNormal] = AMPLITUDE
    _default_bias: ClassVar[float] = BIAS

    def __init__(
        self,
        lengthscale: Lengthscale = "learned",
        amplitude: Literal["learned"] | float | LogNormal = "learned",
        bias: Literal["auto"] | float = "auto",
        region: Literal["auto"] | Sequence[Any] = "auto",
        units_per_lengthscale: Literal["auto"] | float = "auto",
        *,
        prior: Prior | None = None,
        n_chains: int = 4,
        n_warmup: int = 500,
        n_draws: Literal["auto"] | int = "auto",
        thin: int = 4,
        max_seconds: Literal["auto"] | float | None = "auto",
        n_jobs: int | None = -1,
        random_state: RandomState = None,
        progress: bool | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
        checkpoint_seconds: float = 5.0,
    ) -> None:
        self.lengthscale = lengthscale
        self.amplitude = amplitude
        self.bias = bias
        self.region = region
        self.units_per_lengthscale = units_per_lengthscale
        self.prior = prior
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.max_seconds = max_seconds
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds

    sampler: Any = "collapsed"  # not a parameter: the published one knows Gaussian errors only

    def _likelihood(self, center: float) -> Logistic:
        return Logistic(center)

    def _seen(self, y: FloatArray, counts: FloatArray | None, beside: FloatArray | None) -> tuple[float, FloatArray]:
        total = float(len(y)) if counts is None else float(counts.sum())
        yes = weighted_mean(y, counts) * total
        return float(np.log((yes + 0.5) / (total - yes + 0.5))), y

    def probability(self, points: FloatArray) -> FloatArray:
        """Posterior predictive probability of label 1 at points, shape (n_points,)."""

        def compute(moments: FMoments) -> FloatArray:
            return np.asarray(average(expit, moments.mean, moments.variance).mean(axis=0)[None])

        return np.asarray(np.clip(self.posterior_.averages(points, compute, 1, self._jobs(64))[0], 0.0, 1.0))
