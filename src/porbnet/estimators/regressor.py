"""`PoRBNetRegressor`: the scikit-learn estimator."""

from __future__ import annotations

import contextlib
import functools
import os
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
from porbnet.base.seeds import RandomState, generator, seed_sequence
from porbnet.errors import ConvergenceWarning, PorbnetWarning, StatementError
from porbnet.estimators.chunks import are_chunks, prepare_chunks, warn_if_sharp
from porbnet.estimators.inputs import as_numbers, in_numbers, refuse_masked, refuse_words, thin_data
from porbnet.functions.network import Networks
from porbnet.intensity.base import Intensity
from porbnet.likelihood import registered
from porbnet.likelihood.base import Likelihood
from porbnet.posterior.diagnostics import Diagnostics, diagnose
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.driver import run_chains
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.options import PaperSampler
from porbnet.sampling.samplers import CollapsedSampler, sampler_of
from porbnet.statement.defaults import LEARNED, Scales, default_prior
from porbnet.statement.prior import Prior

if TYPE_CHECKING:
    from porbnet.sampling.driver import Keeper
    from porbnet.storage.start import Start

_LEAST_NOISE = 1e-3  # over the spread of y
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
}


Lengthscale = (
    Literal["learned", "constant"] | float | Sequence[float] | Callable[[FloatArray], Any] | Intensity | timedelta
)
Noise = (
    Literal["learned", "varying", "robust"]
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
    noise : "learned", "varying", "robust", float, array, LogNormal, InverseGamma or Likelihood
        Standard deviation of an observation about f, in the units of the output (InverseGamma: of its square).
        "learned": one unknown number. "varying": an unknown function of the input. "robust": Student-t errors, for
        outliers. An array of shape (n_points,): known, one per observation (a new observation is then given their root
        mean square).
    bias : "auto" or float
        Standard deviation of the constant in f, about the mean of y.
    region : "auto", (low, high) or one pair per dimension
        Where units may lie, in the units of the input; dates if the input has dates.
    units_per_lengthscale : "auto" or float
        More units make f closer to a Gaussian process and cost more.
    prior : Prior, optional
        A whole statement in place of the ones above; it is taken as it is, with mean zero.
    sampler : {"collapsed", "paper"}, CollapsedSampler or PaperSampler
        "collapsed": the exact sampler with weights integrated out. "paper": the published one, much slower, as a
        reference; `PaperSampler` has its settings. `CollapsedSampler` takes moves of your own.
    n_chains, n_warmup, n_draws, thin : int
        Chains, sweeps of warm-up, draws kept per chain, sweeps per draw. All of them matter to the verdict: with fewer
        than 100 effective draws per chain it will be to run longer.
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
        prior: Prior | None = None,
        sampler: Literal["collapsed", "paper"] | CollapsedSampler | PaperSampler = "collapsed",
        n_chains: int = 4,
        n_warmup: int = 500,
        n_draws: int = 1000,
        thin: int = 4,
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
        self.prior = prior
        self.sampler = sampler
        self.n_chains = n_chains
        self.n_warmup = n_warmup
        self.n_draws = n_draws
        self.thin = thin
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.progress = progress
        self.checkpoint = checkpoint
        self.checkpoint_seconds = checkpoint_seconds

    # --- fit ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> PoRBNetRegressor:
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
            numbers of at least 0 for Gaussian errors, whole ones with noise="robust".

        Returns
        -------
        self

        Notes
        -----
        Ctrl-C ends sampling early: the draws there are, are kept, with a warning. If there are none yet,
        `porbnet.errors.SamplingInterrupted` (a KeyboardInterrupt) is raised. A second Ctrl-C raises at once.
        With `checkpoint`, `porbnet.resume` then goes on.
        """
        return self._sample(*self._prepare(X, y, sample_weight))

    def _prepare(
        self, X: Any, y: Any, sample_weight: Any = None
    ) -> tuple[Problem, float, np.random.SeedSequence, Keeper | None]:
        """All that can be refused is refused here, before any work: what `_sample` takes."""
        if are_chunks(X, y):
            return prepare_chunks(self, X, y, sample_weight)
        self._check_running()
        root = seed_sequence(self.random_state)
        for name, value in (("y", y), ("sample_weight", sample_weight), ("noise", self.noise)):
            refuse_masked(name, value)
        X, calendars = as_numbers(X)
        refuse_words(y)
        X, y = validate_data(self, X, y, y_numeric=True, dtype=np.float64, ensure_min_samples=2)
        self._remember_dates(calendars)
        y = np.asarray(y, dtype=np.float64)
        noise, weight = self._known_noise(len(y))
        rows, counts = _counted_rows(sample_weight, X)
        if rows is not None:
            X, y, weight = X[rows], y[rows], _taken(weight, rows)
        # in one order whatever order they came in, so that not even rounding depends on it
        order = np.lexsort((*(w for w in (counts, weight) if w is not None), y, *X.T[::-1]))
        X, y, weight, counts = X[order], y[order], _taken(weight, order), _taken(counts, order)
        order = order if rows is None else rows[order]
        prior, offset = self._statement(X, y, noise, counts)
        if counts is not None and prior.likelihood is not None and prior.likelihood.whole_weights:
            allowed = f"with {prior.likelihood.words} it must be whole numbers, of at most a million rows in all"
            raise _checks.fail("sample_weight", sample_weight, allowed)
        sampler_of(self.sampler).check(prior)
        for sentence in thin_data(X, y):
            warnings.warn(sentence, PorbnetWarning, stacklevel=3)
        y -= offset
        problem = replace(Problem.of(prior, X, y, weight, counts), order=order)  # of the rows as they were given
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
        sweeps = (int(self.n_warmup), int(self.n_draws), int(self.thin))
        makers = [functools.partial(sampler.make_chain, problem, seed, *sweeps) for seed in root.spawn(self.n_chains)]
        with _held(keeper):
            results = run_chains(makers, self._jobs(self.n_chains), self.progress, sampler.is_cold, keeper)
        # only now, so that an interrupted second fit leaves the first one whole
        self.prior_, self.offset_ = problem.prior, offset
        self.posterior_ = Posterior(problem, results, offset)
        self.diagnostics_: Diagnostics = diagnose(self.posterior_)
        if not self.diagnostics_.converged:
            warnings.warn(self.diagnostics_.verdict, ConvergenceWarning, stacklevel=3)
        if not problem.has_all_rows:
            warn_if_sharp(self)
        if np.median(self.posterior_.draws.values[:, 0]) < _LEAST_NOISE:
            warnings.warn(
                "the noise is below a thousandth of the spread of y, where rounding makes the number of units "
                "approximate (f is not affected): state a larger noise if the width matters",
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
        return Start(parameters, problem, offset, names, getattr(self, "labels_", None), dates)

    def _remember_dates(self, calendars: Calendars | None) -> None:
        if calendars is not None:
            self.dates_ = calendars
        elif hasattr(self, "dates_"):
            del self.dates_

    def _jobs(self, most: int) -> int | None:
        """Jobs that there is work for: a thread each would be made of a million."""
        return self.n_jobs if self.n_jobs is None else min(int(self.n_jobs), most)

    def _check_running(self) -> None:
        """The parameters that say how to run, and words that say what to fit."""
        noises = sorted(kind.word for kind in registered().values() if kind.word)
        words = {"lengthscale": LEARNED, "amplitude": ("learned",), "noise": ("learned", *noises)}
        for name in _STATEMENTS:
            value = getattr(self, name)
            if isinstance(value, str):
                _checks.choice(name, value, words.get(name, ("auto",)))
        sampler_of(self.sampler)
        for name in ("n_chains", "n_draws", "thin"):
            _checks.count(name, getattr(self, name))
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

    def _statement(
        self, X: FloatArray, y: FloatArray, noise: Any, counts: FloatArray | None, scales: Scales | None = None
    ) -> tuple[Prior, float]:
        if self.prior is not None:
            if not isinstance(self.prior, Prior):
                raise _checks.fail("prior", self.prior, "it must be a Prior")
            for name, default in _STATEMENTS.items():
                value = getattr(self, name)
                if not (isinstance(value, str) and value == default):
                    raise _checks.fail(name, value, "state it in prior=, or leave prior out")
            if self.prior.n_dims != X.shape[1]:
                raise StatementError(
                    f"prior is stated for {self.prior.n_dims} input dimension(s) but X has {X.shape[1]} features: "
                    "both must have the same number"
                )
            self.prior.check(X)
            return self.prior, 0.0
        stated = {name: getattr(self, name) for name in _STATEMENTS} | {"noise": noise}
        stated |= in_numbers(self.lengthscale, self.region, getattr(self, "dates_", None))
        return default_prior(X, y, **stated, counts=counts, scales=scales)

    # --- predictions -------------------------------------------------------------------------------------------

    def _points(self, X: Any) -> FloatArray:
        check_is_fitted(self, "posterior_")
        X, _ = as_numbers(X, getattr(self, "dates_", None), fitted=True)
        return np.asarray(validate_data(self, X, reset=False, dtype=np.float64))

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
        return self.posterior_.quantiles(points, probabilities, of, self._jobs(_MOST_JOBS))

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
        return self.posterior_.log_density(points, values, self._jobs(_MOST_JOBS))

    def sample_f(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """Functions from the posterior at points, shape (n_points, n_samples)."""
        points = self._points(X)
        return self.sample_functions(_checks.count("n_samples", n_samples), random_state)(points).T

    def sample_y(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """New observations from the posterior predictive at points, shape (n_points, n_samples)."""
        points = self._points(X)
        rng = generator(random_state)
        chosen = self.posterior_.choose(_checks.count("n_samples", n_samples), rng)
        f = self.posterior_.subset(chosen)(points).T
        return np.asarray(f + self.posterior_.sample_errors(points, chosen, rng))

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
        from porbnet.storage.model import Saved, write_model

        write_model(path, Saved(self._start(self.posterior_.problem, self.offset_), self.posterior_, self.diagnostics_))

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
