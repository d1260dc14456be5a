"""`PoRBNetCountRegressor`: counts, with exposures."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.seeds import RandomState, generator
from porbnet.estimators.inputs import refuse_masked
from porbnet.estimators.outcomes import OutcomeModel
from porbnet.estimators.regressor import Lengthscale
from porbnet.likelihood.counted import Counted, NegativeBinomial, Poisson
from porbnet.posterior.counting import distribution_at, mean_and_sd, quantiles
from porbnet.posterior.posterior import FMoments
from porbnet.statement.prior import Prior

LAWS = ("negative binomial", "poisson")
AMPLITUDE = LogNormal(1.0, 3.0)  # of log rates about their bias
BIAS = 1.0
SIZE = LogNormal(10.0, 5.0)
_OF = ("y", "rate", "f")
_MOST_COUNT = 1e12


class PoRBNetCountRegressor(OutcomeModel):
    """Bayesian regression of counts: log rates that are a Poisson-process radial basis function network.

    y ~ negative binomial with mean exposure · exp(f(x)) and variance mean + mean² / size; or Poisson.

    Parameters
    ----------
    lengthscale : "learned", float, sequence of float, callable or Intensity, default "learned"
        As in `PoRBNetRegressor`: an unknown function of the input by default.
    amplitude : "learned", float or LogNormal
        Standard deviation of f about its bias, in log rates. "learned": log-normal, median 1 and factor 3.
    size : "learned", float or LogNormal
        Of the negative binomial law: the larger, the nearer it is to a Poisson law. "learned": log-normal, median 10
        and factor 5. Of no meaning with law="poisson".
    bias : "auto" or float
        Standard deviation of the constant in f, about the log of the mean rate; 1 by default.
    region, units_per_lengthscale
        As in `PoRBNetRegressor`.
    law : {"negative binomial", "poisson"}
        Negative binomial by default: counts vary more than a Poisson law says in most data. Poisson fits are those of a
        law that is nearly Poisson, made exact by importance sampling.
    fractional : bool, default False
        Whether counts that are no whole numbers are taken, by the same formulas (a quasi-likelihood), or refused.
    prior : Prior, optional
        A whole statement in place of the ones above, of log rates; its `noise` is None or a likelihood of counts.
    n_chains, n_warmup, n_draws, thin, max_seconds, n_jobs, random_state, progress, checkpoint, checkpoint_seconds
        As in `PoRBNetRegressor`.

    Attributes
    ----------
    posterior_, prior_, diagnostics_
        As in `PoRBNetRegressor`, f being the log rate.
    offset_ : float
        Prior mean of f.

    Examples
    --------
    >>> import numpy as np
    >>> from porbnet import PoRBNetCountRegressor
    >>> rng = np.random.default_rng(0)
    >>> X, hours = rng.uniform(size=(120, 1)), rng.uniform(1.0, 5.0, 120)
    >>> y = rng.poisson(hours * np.exp(1.0 + np.sin(6.0 * X[:, 0])))
    >>> model = PoRBNetCountRegressor("constant", n_draws=500, random_state=0).fit(X, y, exposure=hours)
    >>> low, high = model.predict_interval([[0.25]], of="rate")[0]
    >>> bool(low < np.exp(1.0 + np.sin(1.5)) < high)
    True
    """

    _stored_as = "PoRBNetCountRegressor"
    sampler: Any = "collapsed"  # not a parameter: the published one knows Gaussian errors only
    _default_amplitude: ClassVar[LogNormal] = AMPLITUDE
    _default_bias: ClassVar[float] = BIAS

    def __init__(
        self,
        lengthscale: Lengthscale = "learned",
        amplitude: Literal["learned"] | float | LogNormal = "learned",
        size: Literal["learned"] | float | LogNormal = "learned",
        bias: Literal["auto"] | float = "auto",
        region: Literal["auto"] | Sequence[Any] = "auto",
        units_per_lengthscale: Literal["auto"] | float = "auto",
        *,
        law: Literal["negative binomial", "poisson"] = "negative binomial",
        fractional: bool = False,
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
        self.size = size
        self.bias = bias
        self.region = region
        self.units_per_lengthscale = units_per_lengthscale
        self.law = law
        self.fractional = fractional
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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = True
        tags.regressor_tags.poor_score = True  # on outputs that vary less than counts do, as scikit-learn's checks have
        return tags

    # --- fit ---------------------------------------------------------------------------------------------------

    def fit(  # type: ignore[override]
        self, X: Any, y: Any, sample_weight: Any = None, *, exposure: Any = None
    ) -> PoRBNetCountRegressor:
        """Draw from the posterior.

        Parameters
        ----------
        X : array or frame of shape (n_points, n_features)
        y : array of shape (n_points,)
            Counts: whole numbers of at least 0.
        sample_weight : array of shape (n_points,), optional
            How often each row counts, any numbers of at least 0.
        exposure : array of shape (n_points,), optional
            How long, or how much, was looked at in each row; rates are per unit of it. 1 by default.

        Returns
        -------
        self
        """
        self._sample(*self._prepare(X, y, sample_weight, exposure))
        return self

    def _check_running(self) -> None:
        super()._check_running()
        _checks.choice("law", self.law, LAWS)
        if not isinstance(self.fractional, bool | np.bool_):
            raise _checks.fail("fractional", self.fractional, "it must be True or False")
        if isinstance(self.size, str):
            _checks.choice("size", self.size, ("learned",))
        elif not isinstance(self.size, LogNormal):
            _checks.positive("size", self.size)
        if self.law == "poisson" and not isinstance(self.size, str):
            raise _checks.fail("size", self.size, "a Poisson law has none: leave it 'learned'")

    def _outcomes(self, y: FloatArray, beside: Any) -> tuple[FloatArray, FloatArray | None]:
        return self._counts(y, len(y)), self._exposures(beside, len(y))

    def _counts(self, y: Any, n: int) -> FloatArray:
        """Counts, checked."""
        allowed = "it must be whole numbers of at least 0" + (" (or fractional=True)" if not self.fractional else "")
        counts = _checks.real_array("y", y, allowed).ravel()
        if len(counts) != n:
            raise _checks.fail("y", y, f"it must be {n} counts, one per row of X")
        bad = counts[(counts < 0) | (counts > _MOST_COUNT) | ((counts != np.floor(counts)) & (not self.fractional))]
        if len(bad):
            raise _checks.fail("y", float(bad[0]), f"{allowed}, {_MOST_COUNT:.0e} at most")
        return counts

    def _exposures(self, exposure: Any, n: int) -> FloatArray | None:
        """Exposures, checked; None if all are one."""
        if exposure is None:
            return None
        refuse_masked("exposure", exposure)
        allowed = f"it must be {n} finite numbers above zero, one per row of X"
        found = _checks.positive_array("exposure", exposure, allowed)
        if found.shape not in ((), (n,)):
            raise _checks.fail("exposure", exposure, allowed)
        return np.ascontiguousarray(np.broadcast_to(found, (n,)))

    def _likelihood(self, center: float) -> Counted:
        if self.law == "poisson":
            return Poisson(center)
        return NegativeBinomial(SIZE if isinstance(self.size, str) else self.size, center)

    def _seen(self, y: FloatArray, counts: FloatArray | None, beside: FloatArray | None) -> tuple[float, FloatArray]:
        exposure = np.ones(len(y)) if beside is None else beside
        weight = np.ones(len(y)) if counts is None else counts
        rate = max(float(weight @ y), 0.5) / float(weight @ exposure)
        return float(np.log(rate)), np.log((y + 0.5) / (exposure * rate + 0.5))

    # --- predictions -------------------------------------------------------------------------------------------

    def _given(self, X: Any, exposure: Any, of: str) -> tuple[FloatArray, FloatArray | None]:
        points = self._points(X)
        _checks.choice("of", of, _OF)
        if of != "y" and exposure is not None:
            raise _checks.fail("exposure", exposure, f"it must be left out with of={of!r}, which is per unit of it")
        return points, self._exposures(exposure, len(points))

    def predict(  # type: ignore[override]
        self, X: Any, return_std: bool = False, *, exposure: Any = None, of: str = "y"
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean of the count, of the rate or of f, and its standard deviation.

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        return_std : bool
        exposure : array of shape (n_points,) or float, optional
            Of new counts; 1 by default.
        of : {"y", "rate", "f"}
            A new count, the rate per unit of exposure, or its logarithm.

        Returns
        -------
        mean : ndarray of shape (n_points,)
        sd : ndarray of shape (n_points,), if asked for
        """
        points, exposures = self._given(X, exposure, of)
        posterior = self.posterior_
        if of == "f":
            mean, variance = posterior.mean_and_variance(points, self._jobs(64))
            return (mean, np.sqrt(variance)) if return_std else mean

        def compute(moments: FMoments) -> FloatArray:
            return mean_and_sd(posterior, moments)

        rate, rate_square, excess = posterior.averages(points, compute, 3, self._jobs(64))
        e = 1.0 if exposures is None else exposures
        mean = e * rate
        if not return_std:
            return np.asarray(mean)
        variance = e**2 * np.maximum(rate_square - rate**2, 0.0)
        if of == "y":
            variance = variance + mean + e**2 * excess
        return mean, np.sqrt(variance)

    def predict_quantiles(  # type: ignore[override]
        self, X: Any, q: Any, *, exposure: Any = None, of: str = "y"
    ) -> FloatArray:
        """Quantiles of a new count (whole numbers), of the rate or of f, shape (n_points, n_quantiles).

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        q : sequence of float
            Probabilities between 0 and 1.
        exposure : array of shape (n_points,) or float, optional
        of : {"y", "rate", "f"}
        """
        points, exposures = self._given(X, exposure, of)
        found = super().predict_quantiles(points, q, of="f")
        if of != "y":
            return found if of == "f" else np.exp(found)
        return quantiles(self.posterior_, points, np.atleast_1d(np.asarray(q, dtype=np.float64)), exposures, found)

    def predict_interval(  # type: ignore[override]
        self, X: Any, coverage: float = 0.9, *, exposure: Any = None, of: str = "y"
    ) -> FloatArray:
        """Central interval of a new count, of the rate or of f, shape (n_points, 2).

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        coverage : float
            Probability between the ends, between 0 and 1; for counts at least that.
        exposure : array of shape (n_points,) or float, optional
        of : {"y", "rate", "f"}
        """
        coverage = _checks.number("coverage", coverage)
        if coverage >= 1:
            raise _checks.fail("coverage", coverage, "it must lie between 0 and 1")
        return self.predict_quantiles(X, [0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)], exposure=exposure, of=of)

    def log_density(self, X: Any, y: Any, *, exposure: Any = None) -> FloatArray:  # type: ignore[override]
        """Log posterior predictive probability of each count, shape (n_points,)."""
        points, exposures = self._given(X, exposure, "y")
        counts = self._counts(y, len(points))
        return self.posterior_.log_density(points, counts, self._jobs(64), exposures)

    def pit(self, X: Any, y: Any, *, exposure: Any = None) -> FloatArray:
        """P(new count < y) and P(new count ≤ y) at each point, shape (n_points, 2).

        A calibrated fit has values uniform on (0, 1) if one is drawn uniformly between both.
        """
        points, exposures = self._given(X, exposure, "y")
        counts = np.floor(self._counts(y, len(points)))
        return distribution_at(self.posterior_, points, np.stack([counts - 1.0, counts]), exposures).T

    def sample_y(  # type: ignore[override]
        self, X: Any, n_samples: int = 1, random_state: RandomState = 0, *, exposure: Any = None
    ) -> FloatArray:
        """New counts from the posterior predictive at points, shape (n_points, n_samples)."""
        points, exposures = self._given(X, exposure, "y")
        rng = generator(random_state)
        chosen = self.posterior_.choose(_checks.count("n_samples", n_samples), rng)
        f = self.posterior_.subset(chosen)(points).T
        return self.posterior_.sample_outputs(points, f, chosen, rng, exposures)

    def noise_at(self, X: Any, coverage: float = 0.9) -> Any:
        """There is none."""
        raise AttributeError("counts have no noise sd: predict(X, return_std=True) has the spread of a count")

    def plot(self) -> Any:
        """Rate with its band and the counts, and the lengthscale; see `porbnet.plot.rate`."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self, "posterior_")
        from porbnet.plot.chances import chances

        return chances(self)
