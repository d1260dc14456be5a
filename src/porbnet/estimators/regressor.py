"""`PoRBNetRegressor`: the scikit-learn estimator."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.dates import Calendars
from porbnet.base.distributions import InverseGamma, LogNormal
from porbnet.base.parameter import LEAST_NOISE
from porbnet.base.seeds import RandomState, generator, seed_sequence
from porbnet.errors import ConvergenceWarning, NoiseWarning, PorbnetWarning, StatementError
from porbnet.estimators.chunks import are_chunks, prepare_chunks, warn_if_sharp
from porbnet.estimators.extrapolation import tell_beyond
from porbnet.estimators.inputs import as_numbers, in_numbers, refuse_masked, refuse_words, thin_data
from porbnet.estimators.limits import OUTCOMES, fitted_outputs, positive_moments, stated_for, survival
from porbnet.estimators.names import place_in_words
from porbnet.estimators.noise_choice import AUTO, choose_noise, noise_hint
from porbnet.estimators.trust import FIRST_DRAWS, MAX_SECONDS, Trust
from porbnet.functions.network import Networks
from porbnet.intensity.base import Intensity
from porbnet.likelihood import registered
from porbnet.likelihood.base import Likelihood
from porbnet.posterior.reweighing import warn_of_weights
from porbnet.sampling.driver import run_chains
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.options import PaperSampler
from porbnet.sampling.rounds import Rounds, run_in_rounds
from porbnet.sampling.samplers import CollapsedSampler, sampler_of
from porbnet.statement.defaults import LEARNED, Scales, default_prior
from porbnet.statement.prior import Prior

if TYPE_CHECKING:
    from porbnet.posterior.noise_comparison import NoiseChoice
    from porbnet.sampling.driver import Keeper
    from porbnet.storage.model import Saved
    from porbnet.storage.start import Start

_MOST_ROWS = 1_000_000  # that weights of whole numbers may make by repeating rows
_MOST_WEIGHT = 1e15
_MOST_JOBS = 64  # of a prediction
_STATEMENTS = {
    "lengthscale": "learned",
    "amplitude": "learned",
    "noise": "learned",
    "bias": "auto",
    "region": "auto",
    "units_per_lengthscale": "auto",
    "trend": None,
}


Lengthscale = (
    Literal["learned", "constant"] | float | Sequence[float] | Callable[[FloatArray], Any] | Intensity | timedelta
)
Noise = (
    Literal["learned", "varying", "robust", "auto"]
    | float
    | Sequence[float]
    | FloatArray
    | LogNormal
    | InverseGamma
    | Likelihood
)


class Band(NamedTuple):
    """A curve with its uncertainty: posterior mean and the ends of a central interval, shape (n_points,) each."""

    mean: FloatArray
    lower: FloatArray
    upper: FloatArray


class PoRBNetRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian regression with a Poisson-process radial basis function network.

    Parameters
    ----------
    lengthscale : "learned", float, sequence of float, callable or Intensity, default "learned"
        In the units of the input (of dates: their unit, or a timedelta). "learned": an unknown function of the input
        (one unknown number in more than three dimensions). "constant": one unknown number. Otherwise as in `Prior`.
    amplitude : "learned", float or LogNormal
        Standard deviation of f about its bias, in the units of the output.
    noise : "learned", "varying", "robust", "auto", float, array, LogNormal, InverseGamma or Likelihood
        Standard deviation of an observation about f, in the units of the output (InverseGamma: of its square).
        "learned": one unknown number. "varying": an unknown function of the input. "robust": Student-t errors, for
        outliers. "auto": the one of these that leave-one-out prefers in short fits, the simpler one where that is not
        clear; `noise_choice_` tells. An array of shape (n_points,): known, one per observation (a new observation is
        then given their root mean square).
    bias : "auto" or float
        Standard deviation of the constant in f, about the mean of y.
    region : "auto", (low, high) or one pair per dimension
        Where units may lie, in the units of the input; dates if the input has dates.
    units_per_lengthscale : "auto" or float
        More units make f closer to a Gaussian process and cost more. "auto": 1, or with one input up to 3 where the
        data say much (chains of few units are slow there); 0.7 with several inputs.
    trend : None, "linear", float or sequence of float, default None
        A straight line (a plane) in f, for data that go somewhere: beyond the data f then follows it. "linear": slopes
        of the order of the spread of y over the range of each input. Numbers: their standard deviations, in units of
        the output per unit of the input, one or one per input.
    outcome : {"real", "positive"}
        "positive": outputs above zero, whose logarithm is f and an error. Amplitude, noise, bias and `prior` are then
        stated for the logarithm; predictions, densities and intervals are of the output itself, and those of f of its
        median, exp(f).
    prior : Prior, optional
        A whole statement in place of the ones above; it is taken as it is, with mean zero.
    sampler : {"collapsed", "paper"}, CollapsedSampler or PaperSampler
        "collapsed": the exact sampler with weights integrated out. "paper": the published one, much slower, as a
        reference; `PaperSampler` has its settings. `CollapsedSampler` takes moves of your own.
    n_chains : int
        Chains: independent runs, which must agree.
    n_draws : "auto" or int
        Draws kept per chain. "auto": chains go on until they can be trusted (every R-hat at most 1.01, 100 effective
        draws per chain), or until `max_seconds` are over, and keep 400 to 2,000 draws each (the second half of these,
        where that is what agrees).
    n_warmup, thin : int
        Sweeps of warm-up, and sweeps per draw; with n_draws="auto" thin doubles as chains get long.
    max_seconds : "auto", float or None
        Time on the clock after which sampling ends with what there is, and a verdict on it. "auto": 120 with
        n_draws="auto", else none. Draws do not depend on it; how many there are does.
    n_jobs : int or None, default -1
        Chains run in parallel, as in joblib (threads, unless `joblib.parallel_config` says otherwise).
    random_state : int, Generator, SeedSequence, RandomState or None
        The same seed gives the same draws for any number of jobs.
    progress : bool or None
        Show a progress bar per chain; None: if standard error is a terminal.
    checkpoint : str or path, optional
        A new folder to keep the chains in while they run; after an interrupt or a kill, `porbnet.resume` goes on from
        it to the same draws. It stays when the fit is done.
    checkpoint_seconds : float, default 5
        Time between checkpoints.

    Attributes
    ----------
    posterior_ : Posterior
        All draws, as explicit networks, and what can be read off them.
    prior_ : Prior
        The statement that was fitted.
    offset_ : float
        Constant subtracted from y before the fit (the mean of y, or 0 with `prior`).
    diagnostics_ : Diagnostics
        R-hat, effective sample sizes, acceptance, and a verdict in plain language.
    noise_choice_ : NoiseChoice
        Only of fits with noise="auto": what was chosen, and why.
    labels_ : list of str
        Names of the inputs and of the output, for reports; only of fits made by the command line.
    dates_ : tuple of Calendar or None, one per input
        Only of fits with dates: what their numbers count, and from when.

    Examples
    --------
    >>> import numpy as np
    >>> from porbnet import PoRBNetRegressor
    >>> x = np.linspace(0, 1, 40)[:, None]
    >>> y = np.sin(6 * x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(40)
    >>> model = PoRBNetRegressor("constant", n_warmup=500, n_draws=500, random_state=0).fit(x, y)
    >>> mean, sd = model.predict([[0.5]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(3.0)) < 3 * sd[0])
    True
    """

    outcome: Any = "real"  # of estimators that have no such parameter
    _stored_as = "PoRBNetRegressor"  # the estimator that files name
    _replaces_checkpoint = False  # whether a fit may begin anew where the checkpoint of another is

    def __init__(
        self,
        lengthscale: Lengthscale = "learned",
        amplitude: Literal["learned"] | float | LogNormal = "learned",
        noise: Noise = "learned",
        bias: Literal["auto"] | float = "auto",
        region: Literal["auto"] | Sequence[Any] = "auto",
        units_per_lengthscale: Literal["auto"] | float = "auto",
        *,
        trend: Literal["linear"] | float | Sequence[float] | None = None,
        outcome: Literal["real", "positive"] = "real",
        prior: Prior | None = None,
        sampler: Literal["collapsed", "paper"] | CollapsedSampler | PaperSampler = "collapsed",
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
        self.noise = noise
        self.bias = bias
        self.region = region
        self.units_per_lengthscale = units_per_lengthscale
        self.trend = trend
        self.outcome = outcome
        self.prior = prior
        self.sampler = sampler
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

    # --- fit ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, censored: Any = None) -> PoRBNetRegressor:
        """Draw from the posterior.

        Parameters
        ----------
        X : array or frame of shape (n_points, n_features), or chunks
            Of numbers. Columns of dates count days since the first one (or hours, minutes or seconds, where they span
            less than two of the larger unit), whatever their type and resolution; `dates_` then tells which.
            Chunks are an iterable, or a callable that returns one, of pairs (X, y), of (X, y, sample_weight), or of
            data frames. Of more than a million rows with one input none is kept: see docs/large.md.
        y : array of shape (n_points,)
            With chunks left out, or the name of the column of outputs of data frames.
        sample_weight : array of shape (n_points,), optional
            How often each row counts: its likelihood is raised to this power. 2 is the same as the row given twice, 0
            leaves it out, 0.5 counts it as half a reading: for f that is a known precision, weight / noise². Any
            numbers of at least 0 for Gaussian errors, whole ones with noise="robust" and with censored outputs.
        censored : array of shape (n_points,) or (n_points, 2), optional
            Of outputs that are only known within limits: "left" where the output is y at most, "right" where it is y at
            least, "" where it is y (or -1, 1 and 0); or both ends of what is known, the same where it is y, either of
            them infinite. For Gaussian errors of one sd.

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends sampling early: the draws there are, are kept, with a warning. If there are none yet,
        `porbnet.errors.SamplingInterrupted` (a KeyboardInterrupt) is raised. A second Ctrl-C raises at once.
        With `checkpoint`, `porbnet.resume` then goes on.
        """
        return self._sample(*self._prepare(X, y, sample_weight, censored))

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any = None, beside: Any = None
    ) -> tuple[Problem, float, np.random.SeedSequence, Keeper | None]:
        """All that can be refused is refused here, before any work: what `_sample` takes."""
        if are_chunks(X, y):
            if self.outcome != "real" or beside is not None:
                raise StatementError(
                    "X comes in chunks, which are read for outcome='real' without censored outputs only"
                )
            return prepare_chunks(self, X, y, sample_weight)
        self._check_running()
        root = seed_sequence(self.random_state)
        for name, value in (("y", y), ("sample_weight", sample_weight), ("noise", self.noise)):
            refuse_masked(name, value)
        X, calendars = as_numbers(X)
        refuse_words(y)
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64, ensure_min_samples=2)
        self._remember_dates(calendars)
        y, beside = self._outcomes(np.asarray(y, dtype=np.float64), beside)
        noise, weight = self._known_noise(len(y))
        rows, counts = _counted_rows(sample_weight, X)
        if rows is not None:
            X, y, weight, beside = X[rows], y[rows], _taken(weight, rows), _taken(beside, rows)
        # in one order whatever order they came in, so that not even rounding depends on it
        order = np.lexsort((*(w for w in (beside, counts, weight) if w is not None), y, *X.T[::-1]))
        X, y, weight, counts = X[order], y[order], _taken(weight, order), _taken(counts, order)
        beside = _taken(beside, order)
        order = order if rows is None else rows[order]
        noise = self._settled(noise, X, y, counts, beside, root)
        prior, offset = self._statement(X, y, noise, counts, beside=beside)
        if counts is not None and prior.likelihood is not None and prior.likelihood.whole_weights:
            allowed = f"with {prior.likelihood.words} it must be whole numbers, of at most a million rows in all"
            raise _checks.fail("sample_weight", sample_weight, allowed)
        self._check_noise(prior, y, weight)
        sampler_of(self.sampler).check(prior)
        for sentence in thin_data(X, y):
            warnings.warn(sentence, PorbnetWarning, stacklevel=3)
        if prior.likelihood is None or prior.likelihood.additive:
            y = y - offset
            beside = None if beside is None else beside - offset
        problem = Problem.of(prior, X, y, weight, counts, beside=beside)
        problem = replace(problem, order=order)  # of the rows as they were given
        return self._begin(problem, offset, root)

    def _begin(
        self, problem: Problem, offset: float, root: np.random.SeedSequence
    ) -> tuple[Problem, float, np.random.SeedSequence, Keeper | None]:
        """What `_sample` takes, with a checkpoint if one is wanted."""
        if self.checkpoint is None:
            return problem, offset, root, None
        from porbnet.storage import checkpoint

        keeper = checkpoint.begin(
            self.checkpoint, self._start(problem, offset), root, self.checkpoint_seconds, self._replaces_checkpoint
        )
        return problem, offset, root, keeper

    def _sample(
        self, problem: Problem, offset: float, root: np.random.SeedSequence, keeper: Keeper | None
    ) -> PoRBNetRegressor:
        """Run the chains, from their checkpoints if there are any, and keep what they drew."""
        sampler = sampler_of(self.sampler)
        asked = None if isinstance(self.n_draws, str) else int(self.n_draws)
        sweeps = (int(self.n_warmup), asked or FIRST_DRAWS, int(self.thin))
        makers = [functools.partial(sampler.make_chain, problem, seed, *sweeps) for seed in root.spawn(self.n_chains)]
        trust, began = Trust(problem, offset, self._described_place, asked, sweeps[0], sweeps[2]), time.monotonic()
        running: dict[str, Any] = {
            "n_jobs": self._jobs(self.n_chains), "progress": self.progress, "cold": sampler.is_cold(problem),
            "keeper": keeper,
        }  # fmt: skip
        with _held(keeper):
            if asked is None:
                rounds = Rounds(sweeps[0], sweeps[1] * sweeps[2], self._seconds())
                run = run_in_rounds(makers, rounds, trust.judge, **running)
            else:
                run = run_chains(makers, **running, max_seconds=self._seconds())
        # only now, so that an interrupted second fit leaves the first one whole
        self.prior_, self.offset_ = problem.prior, offset
        self._run_ended_early, self._out_of_time = run.interrupted, run.out_of_time
        self.posterior_, self.diagnostics_ = trust.conclude(run, time.monotonic() - began)
        if not self.diagnostics_.predictions_converged:
            warnings.warn(self.diagnostics_.verdict, ConvergenceWarning, stacklevel=3)
        if not problem.has_all_rows:
            warn_if_sharp(self)
        warn_of_weights(self.posterior_)
        if hint := noise_hint(self):
            warnings.warn(hint, NoiseWarning, stacklevel=3)
        if np.median(self.posterior_.draws.values[:, 0]) < 2.0 * LEAST_NOISE:
            warnings.warn(
                "the noise is as small as it can be, a hundred-thousandth of the spread of y: the outputs look exact; "
                "state a noise if they are not",
                PorbnetWarning,
                stacklevel=3,
            )
        return self

    def _start(self, problem: Problem, offset: float) -> Start:
        """What the fit starts from, for a file."""
        from porbnet.storage.start import Start

        features = getattr(self, "feature_names_in_", None)
        names = None if features is None else [str(name) for name in features]
        parameters, dates = self.get_params(deep=False), getattr(self, "dates_", None)
        if dates is not None:  # files hold numbers
            parameters |= in_numbers(self.lengthscale, self.region, dates)
        labels, choice = getattr(self, "labels_", None), getattr(self, "noise_choice_", None)
        kind, of_class = type(self)._stored_as, getattr(self, "class_", None)
        return Start(parameters, problem, offset, names, labels, dates, kind, of_class, choice)

    def _remember_dates(self, calendars: Calendars | None) -> None:
        if calendars is not None:
            self.dates_ = calendars
        elif hasattr(self, "dates_"):
            del self.dates_

    def _remember_choice(self, choice: NoiseChoice | None) -> None:
        if choice is not None:
            self.noise_choice_ = choice
        elif hasattr(self, "noise_choice_"):
            del self.noise_choice_

    def _settled(
        self, noise: Any, X: FloatArray, y: FloatArray, counts: FloatArray | None, beside: FloatArray | None,
        root: np.random.SeedSequence,
    ) -> Any:  # fmt: skip
        """The noise as it is stated, or as it is chosen."""
        auto = isinstance(noise, str) and noise == AUTO
        if auto and beside is not None:
            raise _checks.fail("noise", noise, "with censored outputs it must be 'learned', a number or its law")
        choice = choose_noise(self, X, y, counts, root) if auto else None
        self._remember_choice(choice)
        return noise if choice is None else choice.noise

    def _seconds(self) -> float | None:
        """The time that sampling may take."""
        if isinstance(self.max_seconds, str):
            return MAX_SECONDS if isinstance(self.n_draws, str) else None
        return self.max_seconds

    def _described_place(self, point: FloatArray) -> str:
        """A point of the input by name, dates as dates."""
        return place_in_words(self, point)

    def _jobs(self, most: int) -> int | None:
        """Jobs that there is work for: a thread each would be made of a million."""
        return self.n_jobs if self.n_jobs is None else min(int(self.n_jobs), most)

    def _check_running(self) -> None:
        """The parameters that say how to run, and words that say what to fit."""
        noises = sorted(kind.word for kind in registered().values() if kind.word)
        words = {"lengthscale": LEARNED, "amplitude": ("learned",), "trend": ("linear",)}
        words["noise"] = ("learned", AUTO, *noises)
        for name in _STATEMENTS:
            value = getattr(self, name)
            if isinstance(value, str):
                _checks.choice(name, value, words.get(name, ("auto",)))
        sampler_of(self.sampler)
        _checks.choice("outcome", self.outcome, OUTCOMES)
        for name in ("n_chains", "thin"):
            _checks.count(name, getattr(self, name))
        if isinstance(self.n_draws, str):
            _checks.choice("n_draws", self.n_draws, ("auto",))
        else:
            _checks.count("n_draws", self.n_draws)
        if isinstance(self.max_seconds, str):
            _checks.choice("max_seconds", self.max_seconds, ("auto",))
        elif self.max_seconds is not None:
            _checks.number("max_seconds", self.max_seconds)
        _checks.count("n_warmup", self.n_warmup, minimum=0)
        jobs = self.n_jobs
        if jobs is not None and (isinstance(jobs, bool) or not isinstance(jobs, int | np.integer) or jobs == 0):
            raise _checks.fail("n_jobs", jobs, "it must be a whole number other than 0 (-1: all cores) or None")
        if self.progress is not None and not isinstance(self.progress, bool | np.bool_):
            raise _checks.fail("progress", self.progress, "it must be True, False or None")
        if self.checkpoint is not None and not (
            isinstance(self.checkpoint, str | os.PathLike) and str(self.checkpoint)
        ):
            raise _checks.fail("checkpoint", self.checkpoint, "it must be the name of a folder, or None")
        if self.checkpoint is not None and isinstance(self.sampler, CollapsedSampler) and self.sampler.moves:
            allowed = "with moves of your own it must be None, as files hold no code to go on with"
            raise _checks.fail("checkpoint", self.checkpoint, allowed)
        _checks.number("checkpoint_seconds", self.checkpoint_seconds, inclusive=True)

    def _check_noise(self, prior: Prior, y: FloatArray, weight: FloatArray | None) -> None:
        """A stated noise must be one that rounding leaves a meaning."""
        least, spread = LEAST_NOISE * float(np.std(y)), math.sqrt(1.0 if weight is None else float(weight.max()))
        if isinstance(prior.noise, int | float) and prior.noise < least * spread:
            allowed = f"it must be at least {least:.3g}, 1e-5 of the spread of y: below it rounding decides"
            raise _checks.fail("noise", self.noise if self.prior is None else prior.noise, allowed)

    def _known_noise(self, n_points: int) -> tuple[Any, FloatArray | None]:
        """Known noise per observation as one number and weights; anything else as it is, without weights."""
        noise: Any = self.noise
        if noise is None or isinstance(noise, str) or np.ndim(noise) == 0:
            return noise, None
        allowed = f"it must be {n_points} positive finite numbers, one per observation"
        sd = _checks.positive_array("noise", self.noise, allowed)
        if sd.shape != (n_points,):
            raise _checks.fail("noise", self.noise, allowed)
        typical = float(np.sqrt(np.mean(sd**2)))
        return typical, (typical / sd) ** 2

    def _outcomes(self, y: FloatArray, beside: Any) -> tuple[FloatArray, FloatArray | None]:
        """Outputs as they are fitted, and what is known of each row beside them."""
        return fitted_outputs(self.outcome, y, beside)

    def _statement(
        self, X: FloatArray, y: FloatArray, noise: Any, counts: FloatArray | None, scales: Scales | None = None,
        beside: FloatArray | None = None,
    ) -> tuple[Prior, float]:  # fmt: skip
        if self.prior is not None:
            if not isinstance(self.prior, Prior):
                raise _checks.fail("prior", self.prior, "it must be a Prior")
            for name, default in _STATEMENTS.items():
                value = getattr(self, name)
                if not (value is default or (isinstance(value, str) and value == default)):
                    raise _checks.fail(name, value, "state it in prior=, or leave prior out")
            if self.prior.n_dims != X.shape[1]:
                raise StatementError(
                    f"prior is stated for {self.prior.n_dims} input dimension(s) but X has {X.shape[1]} features: "
                    "both must have the same number"
                )
            self.prior.check(X)
            return stated_for(self.prior, self.outcome, beside is not None), 0.0
        stated = {name: getattr(self, name) for name in _STATEMENTS} | {"noise": noise}
        stated |= in_numbers(self.lengthscale, self.region, getattr(self, "dates_", None))
        prior, offset = default_prior(X, y, **stated, counts=counts, scales=scales)
        return stated_for(prior, self.outcome, beside is not None), offset

    # --- predictions -------------------------------------------------------------------------------------------

    def _points(self, X: Any) -> FloatArray:
        check_is_fitted(self, "posterior_")
        X, _ = as_numbers(X, getattr(self, "dates_", None), fitted=True)
        points = np.asarray(validate_data(self, X, reset=False, dtype=np.float64))
        tell_beyond(self, points)
        return points

    def predict(
        self, X: Any, return_std: bool = False, return_cov: bool = False, *, of: str = "y"
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Posterior mean, and the standard deviation or covariance of y (default) or of f.

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        return_std, return_cov : bool
            At most one of them.
        of : {"y", "f"}
            Whether the spread is that of a new observation (noise included) or of the function.

        Returns
        -------
        mean : ndarray of shape (n_points,)
        spread : ndarray of shape (n_points,) or (n_points, n_points), if asked for
        """
        points = self._points(X)
        _checks.choice("of", of, ("y", "f"))
        if return_std and return_cov:
            raise _checks.fail("return_cov", return_cov, "at most one of return_std and return_cov may be True")
        posterior = self.posterior_
        if self.outcome == "positive":
            if return_cov:
                raise _checks.fail("return_cov", return_cov, "with outcome='positive' it must be False")
            found = positive_moments(posterior, points, of, self._jobs(_MOST_JOBS))
            return found if return_std else found[0]
        if not return_std and not return_cov:
            return posterior.mean(points)
        noise2 = posterior.noise_variance(points) if of == "y" else np.zeros(len(points))
        if return_cov:
            return posterior.mean(points), posterior.covariance(points) + np.diag(noise2)
        mean, variance = posterior.mean_and_variance(points, self._jobs(_MOST_JOBS))
        return mean, np.sqrt(variance + noise2)

    def predict_quantiles(self, X: Any, q: Any, *, of: str = "y") -> FloatArray:
        """Quantiles of a new observation (or of f), shape (n_points, n_quantiles).

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        q : sequence of float
            Probabilities between 0 and 1.
        of : {"y", "f"}
        """
        points = self._points(X)
        _checks.choice("of", of, ("y", "f"))
        allowed = "it must be a number or a sequence of numbers between 0 and 1"
        probabilities = np.atleast_1d(_checks.real_array("q", q, allowed))
        if probabilities.ndim != 1 or np.any((probabilities <= 0) | (probabilities >= 1)):
            raise _checks.fail("q", q, allowed)
        found = self.posterior_.quantiles(points, probabilities, of, self._jobs(_MOST_JOBS))
        return self.posterior_.problem.likelihood.natural(found)

    def predict_interval(self, X: Any, coverage: float = 0.9, *, of: str = "y") -> FloatArray:
        """Central interval of a new observation (or of f), shape (n_points, 2).

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        coverage : float
            Probability between the ends, between 0 and 1.
        of : {"y", "f"}
        """
        coverage = _checks.number("coverage", coverage)
        if coverage >= 1:
            raise _checks.fail("coverage", coverage, "it must lie between 0 and 1")
        return self.predict_quantiles(X, [0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)], of=of)

    def log_density(self, X: Any, y: Any) -> FloatArray:
        """Log posterior predictive density of each observation, shape (n_points,), per unit of the output.

        The mixture over draws of the Gaussian with the weights integrated out.
        """
        points = self._points(X)
        values = _checks.real_array("y", y, f"it must be {len(points)} finite numbers, one per row of X").ravel()
        if len(values) != len(points):
            raise _checks.fail("y", y, f"it must be {len(points)} finite numbers, one per row of X")
        if self.outcome == "positive" and np.any(values <= 0):
            raise _checks.fail("y", y, "with outcome='positive' it must be above zero")
        return self.posterior_.log_density(points, values, self._jobs(_MOST_JOBS))

    def predict_survival(self, X: Any, times: Any) -> FloatArray:
        """Posterior predictive probability that a new output lies beyond each of some times.

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        times : sequence of float
            Of length n_times, in the units of the output.

        Returns
        -------
        ndarray of shape (n_points, n_times)
        """
        points = self._points(X)
        allowed = "it must be a sequence of finite numbers" + (" above 0" if self.outcome == "positive" else "")
        check = _checks.positive_array if self.outcome == "positive" else _checks.real_array
        at = np.atleast_1d(check("times", times, allowed))
        if at.ndim != 1:
            raise _checks.fail("times", times, allowed)
        return survival(
            self.posterior_, points, np.log(at) if self.outcome == "positive" else at, self._jobs(_MOST_JOBS)
        )

    def sample_f(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """Functions from the posterior at points, shape (n_points, n_samples)."""
        points = self._points(X)
        f = self.sample_functions(_checks.count("n_samples", n_samples), random_state)(points).T
        return self.posterior_.problem.likelihood.natural(f)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """New observations from the posterior predictive at points, shape (n_points, n_samples)."""
        points = self._points(X)
        rng = generator(random_state)
        chosen = self.posterior_.choose(_checks.count("n_samples", n_samples), rng)
        f = self.posterior_.subset(chosen)(points).T
        return self.posterior_.sample_outputs(points, f, chosen, rng)

    def sample_functions(self, n: int = 1, random_state: RandomState = 0) -> Networks:
        """Explicit networks from the posterior, callable anywhere and with gradients (for Thompson sampling)."""
        check_is_fitted(self, "posterior_")
        chosen = self.posterior_.choose(_checks.count("n", n), generator(random_state))
        return self.posterior_.subset(chosen)

    # --- what was learned --------------------------------------------------------------------------------------

    def lengthscale_at(self, X: Any, coverage: float = 0.9) -> Band:
        """Posterior mean and interval of the lengthscale at points, in the units of the input."""
        points = self._points(X)
        return self._band(self.posterior_.lengthscale, points, coverage)

    def intensity_at(self, X: Any, coverage: float = 0.9) -> Band:
        """Posterior mean and interval of the intensity at points, in units per unit of input."""
        points = self._points(X)
        return self._band(self.posterior_.intensity, points, coverage)

    def noise_at(self, X: Any, coverage: float = 0.9) -> Band:
        """Posterior mean and interval of the noise sd at points, in the units of the output."""
        points = self._points(X)
        return self._band(self.posterior_.noise_at, points, coverage)

    def _band(self, curve: Callable[[FloatArray], FloatArray], points: FloatArray, coverage: float) -> Band:
        """Mean and central interval over draws of what `curve` gives at points."""
        coverage = _checks.number("coverage", coverage)
        if coverage >= 1:
            raise _checks.fail("coverage", coverage, "it must lie between 0 and 1")
        ends = [0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)]
        result = np.empty((3, len(points)))
        for rows in self.posterior_.chunks(len(points)):
            values = curve(points[rows])
            result[0, rows] = values.mean(axis=0)
            result[1:, rows] = np.quantile(values, ends, axis=0)
        return Band(*result)

    def width_distribution(self) -> dict[int, float]:
        """Posterior probability of every width (number of units) that was met."""
        check_is_fitted(self, "posterior_")
        widths, counts = np.unique(self.posterior_.n_units, return_counts=True)
        return {int(w): float(c) / len(self.posterior_) for w, c in zip(widths, counts, strict=True)}

    def _repr_html_inner(self) -> Any:
        """Notebooks: the fit; before it, scikit-learn's diagram."""
        return self._described() if self._fitted() else super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and self._fitted():
            bundle["text/html"] = self._described()
        return bundle

    def _fitted(self) -> bool:
        return hasattr(self, "diagnostics_")

    def _described(self) -> str:
        from porbnet.show.notebook import describe

        return describe(self)

    def plot(self) -> Any:
        """The picture that suits the fit, with its data: curves of one input, maps of two, else partial dependence.

        Returns
        -------
        array of matplotlib Axes
            Of a new figure; `porbnet.plot` has these and more, one by one.
        """
        check_is_fitted(self, "posterior_")
        from porbnet.plot.overview import overview

        return overview(self)

    def to_arviz(self, grid: Any = None, **options: Any) -> Any:
        """The fit as an ArviZ DataTree; parameters are those of `posterior_.to_arviz`."""
        check_is_fitted(self, "posterior_")
        return self.posterior_.to_arviz(grid, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit to one file, which `porbnet.load` reads: statement, data, draws and diagnostics.

        Parameters
        ----------
        path : str or path
            Taken as it is, no suffix is added; a file of that name is replaced. The file is a .npz that numpy can
            open, and it is written whole or not at all.

        Raises
        ------
        porbnet.errors.StorageError
            If it cannot be written.

        Notes
        -----
        A lengthscale given by a function is saved as the table that the sampler used (good to 1e-6), a
        `random_state` that is a generator as None.
        """
        check_is_fitted(self, "posterior_")
        if not isinstance(path, str | os.PathLike) or not str(path):
            raise _checks.fail("path", path, "it must be the name of a file")
        from porbnet.storage.model import write_models

        write_models(path, [self._saved()])

    def _saved(self) -> Saved:
        """The fit, for a file."""
        from porbnet.storage.model import Saved

        return Saved(self._start(self.posterior_.problem, self.offset_), self.posterior_, self.diagnostics_)

    def summary(self) -> str:
        """The fit in a few lines: verdict, width, lengthscale, noise, amplitude, diagnostics."""
        check_is_fitted(self, "posterior_")
        from porbnet.show.text import summarize

        return summarize(self)


def _held(keeper: Keeper | None) -> Any:
    """A checkpoint folder for this process alone."""
    if keeper is None:
        return contextlib.nullcontext()
    from porbnet.storage.checkpoint import locked

    return locked(keeper.place)


def _counted_rows(sample_weight: Any, X: FloatArray) -> tuple[NDArray[np.int64] | None, FloatArray | None]:
    """Indices of rows (None: all of them), and how often each counts (None: once).

    Whole weights repeat rows, which gives the very draws of a fit to the repeated rows; others go into the likelihood.
    """
    if sample_weight is None:
        return None, None
    weight = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
    total = float(weight.sum())
    if not 2.0 <= total <= _MOST_WEIGHT:
        raise StatementError(
            f"sample_weight adds up to {total:.3g}, which leaves fewer than 2 observations or more than "
            f"{_MOST_WEIGHT:.0e}: a weight says how often its row counts, and is not a share of the whole"
        )
    if np.all(weight == np.round(weight)) and total <= _MOST_ROWS:
        return np.repeat(np.arange(len(X)), weight.astype(np.int64)), None
    rows = np.flatnonzero(weight)
    return rows, weight[rows]


def _taken(values: FloatArray | None, order: NDArray[np.int64]) -> FloatArray | None:
    return None if values is None else values[order]
