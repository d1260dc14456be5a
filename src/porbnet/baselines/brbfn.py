"""The B-RBFN of Andrieu et al. (2001) as a regression model, by this package's own sampler.

With a known constant intensity the scales of PoRB-NET are one constant too, so that its posterior is that of a B-RBFN
with that scale, whatever amplitude it is given; what differs between the two is how the prior is stated. Here scale and
intensity are stated, and the sd of the weights is learned (as the amplitude weight_sd √(λ √π / s)).
"""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState
from porbnet.baselines.base import Baseline, Predictive
from porbnet.errors import PorbnetWarning
from porbnet.statement.defaults import default_prior
from porbnet.statement.prior import Prior


class BRBFNRegressor(Baseline):
    """A Poisson-process network whose units all have one stated scale; for one input.

    Parameters
    ----------
    lengthscale : "auto" or float
        √2 over the scale, in the units of the input. "auto": matched to the default PoRB-NET prior in expected
        upcrossings over the range of the inputs.
    units_per_lengthscale : float
        Intensity times lengthscale.
    random_state : int, Generator, SeedSequence, RandomState or None
    **sampling
        Of `PoRBNetRegressor`: n_chains, n_warmup, n_draws, thin, n_jobs.
    """

    def __init__(
        self, lengthscale: Any = "auto", units_per_lengthscale: float = 1.5, *, random_state: RandomState = 0,
        **sampling: Any,
    ) -> None:  # fmt: skip
        if isinstance(lengthscale, str):
            _checks.choice("lengthscale", lengthscale, ("auto",))
        else:
            lengthscale = _checks.positive("lengthscale", lengthscale)
        self.lengthscale = lengthscale
        self.units_per_lengthscale = _checks.positive("units_per_lengthscale", units_per_lengthscale)
        self.random_state, self.sampling = random_state, sampling

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        from porbnet.estimators.regressor import PoRBNetRegressor

        length = self._matched(X, y) if isinstance(self.lengthscale, str) else self.lengthscale
        settings = {"progress": False, "n_jobs": 1} | self.sampling
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PorbnetWarning)  # a baseline's convergence is read off `model_`
            self.model_ = PoRBNetRegressor(
                length, units_per_lengthscale=self.units_per_lengthscale, random_state=self.random_state, **settings
            ).fit(X, y)

    def _matched(self, X: FloatArray, y: FloatArray) -> float:
        from porbnet.comparison import match_upcrossings

        net, _ = default_prior(X, y)
        ends, width = (float(X.min()), float(X.max())), float(np.ptp(X))

        def make(length: float) -> Prior:
            return Prior(length, math.sqrt(net.mean_square_amplitude), bias=net.bias, region=net.region,
                         units_per_lengthscale=self.units_per_lengthscale)  # fmt: skip

        return match_upcrossings(make, net, ends, (0.005 * width, 2.0 * width)).value

    def _predictive(self, X: FloatArray) -> Predictive:
        posterior = self.model_.posterior_
        mean, variance, noise2 = (np.empty((len(posterior), len(X))) for _ in range(3))
        for rows, moments in posterior.f_moments(X, 1):
            mean[:, rows], variance[:, rows] = moments.mean, moments.variance
            noise2[:, rows] = posterior.noise_at(X[rows]) ** 2
        return Predictive(mean, variance, noise2)

    def _functions(self, X: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        return self.model_.sample_f(X, n, rng)
