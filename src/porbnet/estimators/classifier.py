"""`PoRBNetClassifier`: scikit-learn's classifier, yes or no or several classes."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.seeds import RandomState, generator, seed_sequence
from porbnet.errors import StatementError
from porbnet.estimators.binary import BinaryFit
from porbnet.estimators.inputs import refuse_masked
from porbnet.estimators.regressor import Band, Lengthscale
from porbnet.statement.prior import Prior

if TYPE_CHECKING:
    from porbnet.posterior.diagnostics import Diagnostics
    from porbnet.posterior.posterior import Posterior

_MOST_CLASSES = 100


class PoRBNetClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Bayesian classification: log-odds that are a Poisson-process radial basis function network.

    P(y = second class) = 1 / (1 + exp(-f(x))); of more than two classes each has an f of its own, against the rest,
    and their probabilities are made to add up to one, as scikit-learn's Gaussian process classifier does.

    Parameters
    ----------
    lengthscale : "learned", float, sequence of float, callable or Intensity, default "learned"
        As in `PoRBNetRegressor`: an unknown function of the input by default.
    amplitude : "learned", float or LogNormal
        Standard deviation of f about its bias, in log-odds. "learned": log-normal, median 2 and factor 2.5.
    bias : "auto" or float
        Standard deviation of the constant in f, in log-odds, about those of the share of each class; 2 by default.
    region, units_per_lengthscale
        As in `PoRBNetRegressor`.
    prior : Prior, optional
        A whole statement in place of the ones above, of log-odds; its `noise` is None or a
        `porbnet.likelihood.Logistic`.
    n_chains, n_warmup, n_draws, thin, max_seconds, n_jobs, random_state, progress, checkpoint, checkpoint_seconds
        As in `PoRBNetRegressor`, of each class.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    fits_ : list of fits
        One for two classes, else one per class; each has `posterior_`, `prior_`, `diagnostics_`, `summary()`.
    posterior_, prior_, offset_, diagnostics_
        Of two classes: those of the one fit, f being the log-odds of the second class.

    Examples
    --------
    >>> import numpy as np
    >>> from porbnet import PoRBNetClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(size=(150, 1))
    >>> y = np.where(rng.random(150) < 1 / (1 + np.exp(-4 * np.sin(6 * X[:, 0]))), "yes", "no")
    >>> model = PoRBNetClassifier("constant", n_draws=500, random_state=0).fit(X, y)
    >>> bool(model.predict_proba([[0.25]])[0, 1] > 0.8)
    True
    """

    _replaces_checkpoint = False  # whether a fit may begin anew where the checkpoint of another is

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

    # --- fit ---------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> PoRBNetClassifier:
        """Draw from the posterior.

        Parameters
        ----------
        X : array or frame of shape (n_points, n_features)
        y : array of shape (n_points,)
            Labels: numbers, words or booleans, of two classes at least.
        sample_weight : array of shape (n_points,), optional
            How often each row counts, any numbers of at least 0: its likelihood is raised to this power. Class weights
            are given by it (`sklearn.utils.class_weight.compute_sample_weight`).

        Returns
        -------
        self
        """
        return self._sample(*self._prepare(X, y, sample_weight))

    def _prepare(self, X: Any, y: Any, sample_weight: Any = None) -> tuple[NDArray[Any], list[BinaryFit], list[Any]]:
        """All that can be refused is refused here, before any work: what `_sample` takes."""
        classes, codes = _labels(y, sample_weight)
        n_fits = 1 if len(classes) == 2 else len(classes)
        fits, started = [], []
        seeds = [self.random_state] if n_fits == 1 else seed_sequence(self.random_state).spawn(n_fits)
        for i in range(n_fits):
            place = len(classes) - 1 if n_fits == 1 else i
            fit = BinaryFit(**self.get_params(deep=False) | {"random_state": seeds[i]})
            fit._replaces_checkpoint = self._replaces_checkpoint
            if n_fits > 1 and self.checkpoint is not None:
                fit._check_running()
                fit.set_params(checkpoint=os.path.join(self.checkpoint, f"class{i + 1}"))
            fit.class_ = [classes.tolist(), classes.dtype.kind, place]
            if hasattr(self, "labels_"):
                fit.labels_ = self.labels_
            started.append(fit._prepare(X, (codes == place).astype(np.float64), sample_weight))
            fits.append(fit)
        return classes, fits, started

    def _sample(self, classes: NDArray[Any], fits: list[BinaryFit], started: list[Any]) -> PoRBNetClassifier:
        """Run the chains of every fit."""
        for fit, start in zip(fits, started, strict=True):
            fit._sample(*start)
        return self._take(classes, fits)

    def _take(self, classes: NDArray[Any], fits: list[BinaryFit]) -> PoRBNetClassifier:
        """Be fitted by these."""
        self.classes_, self.fits_ = classes, fits
        self.n_features_in_ = fits[0].n_features_in_
        if hasattr(fits[0], "feature_names_in_"):
            self.feature_names_in_ = fits[0].feature_names_in_
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        for name in ("labels_", "dates_"):
            if hasattr(fits[0], name):
                setattr(self, name, getattr(fits[0], name))
        self._run_ended_early = any(getattr(fit, "_run_ended_early", False) for fit in fits)
        self._out_of_time = any(getattr(fit, "_out_of_time", False) for fit in fits)
        return self

    def _only(self, what: str) -> BinaryFit:
        """The one fit of two classes."""
        if "fits_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no {what} before it is fitted")
        if len(self.fits_) > 1:
            raise AttributeError(f"there is one {what} for each of {len(self.fits_)} classes: fits_[k].{what}")
        return self.fits_[0]

    @property
    def posterior_(self) -> Posterior:
        """All draws of the log-odds of the second of two classes."""
        return self._only("posterior_").posterior_

    @property
    def prior_(self) -> Prior:
        """The statement that was fitted, of two classes."""
        return self._only("prior_").prior_

    @property
    def offset_(self) -> float:
        """Prior mean of the log-odds of the second of two classes."""
        return self._only("offset_").offset_

    @property
    def diagnostics_(self) -> Diagnostics:
        """R-hat, effective sample sizes, acceptance and a verdict, of two classes."""
        return self._only("diagnostics_").diagnostics_

    # --- predictions -------------------------------------------------------------------------------------------

    def _points(self, X: Any) -> FloatArray:
        check_is_fitted(self, "fits_")
        return self.fits_[0]._points(X)

    def _of_classes(self, values: list[FloatArray]) -> FloatArray:
        """Of one fit's values two columns, of several one each."""
        return np.stack([1.0 - values[0], values[0]] if len(values) == 1 else values, axis=1)

    def predict_proba(self, X: Any) -> FloatArray:
        """Posterior predictive probability of each class, shape (n_points, n_classes)."""
        points = self._points(X)
        found = self._of_classes([fit.probability(points) for fit in self.fits_])
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def decision_function(self, X: Any) -> FloatArray:
        """Log-odds of the posterior predictive probability, on the scale of f.

        Of the second class, shape (n_points,); of several each against the rest, (n_points, n_classes). They are nearer
        to zero than the posterior mean of f, `posterior_.mean(X)`, where f is uncertain, and rank points as
        `predict_proba` does.
        """
        points = self._points(X)
        found = [logit(np.clip(fit.probability(points), 1e-300, 1.0 - 1e-16)) for fit in self.fits_]
        return found[0] if len(found) == 1 else np.stack(found, axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class, shape (n_points,)."""
        points = self._points(X)
        found = self._of_classes([fit.probability(points) for fit in self.fits_])
        return np.asarray(self.classes_[np.argmax(found, axis=1)])

    def predict_interval(self, X: Any, coverage: float = 0.9, *, of: str = "probability") -> FloatArray:
        """Central interval of the probability of each class (or of f), shape (n_points, n_classes, 2).

        Parameters
        ----------
        X : array of shape (n_points, n_features)
        coverage : float
            Probability between the ends, between 0 and 1.
        of : {"probability", "f"}
            Of f, the log-odds, the shape is (n_points, n_fits, 2), n_fits being 1 for two classes.

        Notes
        -----
        With more than two classes each is one against the rest, before probabilities are made to add up to one.
        """
        _checks.choice("of", of, ("probability", "f"))
        points = self._points(X)
        ends = [fit.predict_interval(points, coverage, of="f") for fit in self.fits_]
        if of == "f":
            return np.stack(ends, axis=1)
        if len(ends) == 1:
            ends.insert(0, -ends[0][:, ::-1])
        return np.asarray(expit(np.stack(ends, axis=1)))

    def log_density(self, X: Any, y: Any) -> FloatArray:
        """Log posterior predictive probability of each label, shape (n_points,)."""
        points, codes = self._points(X), self._codes(y)
        if len(codes) != len(points):
            raise _checks.fail("y", y, f"it must be {len(points)} labels, one per row of X")
        if len(self.fits_) == 1:
            return self.fits_[0].posterior_.log_density(points, codes.astype(np.float64))
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(points)[np.arange(len(points)), codes]))

    def _codes(self, y: Any) -> NDArray[np.int64]:
        """Places of labels among the classes."""
        labels = np.asarray(y).ravel()
        try:
            codes = np.clip(np.searchsorted(self.classes_, labels), 0, len(self.classes_) - 1)
        except TypeError:  # of a kind that has no order among the classes
            raise _checks.fail("y", y, f"it must be one of the classes, {self.classes_.tolist()}") from None
        unknown = self.classes_[codes] != labels
        if np.any(unknown):
            raise _checks.fail("y", labels[unknown][0], f"it must be one of the classes, {self.classes_.tolist()}")
        return np.asarray(codes, dtype=np.int64)

    def sample_f(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> FloatArray:
        """Log-odds from the posterior, shape (n_points, n_samples), and (..., n_classes) of more than two."""
        points, rng = self._points(X), generator(random_state)
        found = [fit.sample_f(points, n_samples, rng) for fit in self.fits_]
        return found[0] if len(found) == 1 else np.stack(found, axis=2)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: RandomState = 0) -> NDArray[Any]:
        """Labels from the posterior predictive, shape (n_points, n_samples)."""
        rng = generator(random_state)
        f = self.sample_f(X, n_samples, rng)
        shares = expit(f) if f.ndim == 3 else np.stack([expit(-f), expit(f)], axis=2)
        edges = np.cumsum(shares / shares.sum(axis=2, keepdims=True), axis=2)
        codes = np.sum(rng.random(f.shape[:2])[..., None] > edges[..., :-1], axis=2)
        return np.asarray(self.classes_[codes])

    def lengthscale_at(self, X: Any, coverage: float = 0.9) -> Band:
        """Posterior mean and interval of the lengthscale at points; of two classes."""
        points = self._points(X)
        return self._only("lengthscale_at").lengthscale_at(points, coverage)

    # --- what was learned --------------------------------------------------------------------------------------

    def plot(self) -> Any:
        """Probability with its band and the labels, and the lengthscale; see `porbnet.plot.probability`."""
        check_is_fitted(self, "fits_")
        from porbnet.plot.chances import chances

        return chances(self)

    def to_arviz(self, grid: Any = None, **options: Any) -> Any:
        """The fit of two classes as an ArviZ DataTree; parameters are those of `posterior_.to_arviz`."""
        check_is_fitted(self, "fits_")
        return self.posterior_.to_arviz(grid, **options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fit to one file, which `porbnet.load` reads; see `PoRBNetRegressor.save`."""
        check_is_fitted(self, "fits_")
        if not isinstance(path, str | os.PathLike) or not str(path):
            raise _checks.fail("path", path, "it must be the name of a file")
        from porbnet.storage.model import write_models

        write_models(path, [fit._saved() for fit in self.fits_])

    def summary(self) -> str:
        """The fit in a few lines; of several classes one after the other."""
        check_is_fitted(self, "fits_")
        if len(self.fits_) == 1:
            return f"log-odds of {self.classes_[1]}\n{self.fits_[0].summary()}"
        parts = [
            f"log-odds of {name} against the rest\n{fit.summary()}"
            for name, fit in zip(self.classes_, self.fits_, strict=True)
        ]
        return "\n\n".join(parts)


def _labels(y: Any, sample_weight: Any) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Classes, sorted, and the place of each label among them; rows that do not count have no say."""
    refuse_masked("y", y)
    if y is None:
        raise StatementError("this classifier requires y to be passed, but the target y is None")
    labels = column_or_1d(y, warn=True)
    if labels.dtype.kind == "O" and len({type(v) for v in labels.tolist()}) > 1:
        raise StatementError("y has labels of several types: all must be words, or all numbers")
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    codes = codes.astype(np.int64).ravel()
    weight = None if sample_weight is None else np.asarray(sample_weight)
    if weight is not None and weight.shape == labels.shape and weight.dtype.kind in "biuf" and np.any(weight > 0):
        counted = np.unique(codes[weight > 0])
        classes, codes = classes[counted], np.searchsorted(counted, codes)
    if len(classes) < 2:
        shown = _checks.show(classes.tolist())
        raise StatementError(f"y has {len(classes)} class ({shown}): there must be two classes at least")
    if len(classes) > _MOST_CLASSES:
        raise StatementError(
            f"y has {len(classes)} classes: at most {_MOST_CLASSES} are fitted, one against the rest each"
        )
    return classes, codes
