"""Fits of rows that come in chunks: an iterable of them, a callable that returns one, or a file larger than memory.

Up to `sampling.absorb.MOST_WAITING` rows are fitted as if they had come whole. Of more, with one input, nodes are kept
that say the same to Gaussian errors, and the rows are forgotten.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import seed_sequence
from porbnet.errors import PorbnetWarning, StatementError
from porbnet.estimators.noise_choice import AUTO
from porbnet.likelihood import Likelihood, likelihood_of, registered
from porbnet.sampling import absorb
from porbnet.sampling.absorb import Absorber, Sample, Totals
from porbnet.sampling.lean import MARGIN, sharpness_of, sharpness_of_draws
from porbnet.sampling.measure import Measure
from porbnet.sampling.problem import Problem
from porbnet.sampling.samplers import CollapsedSampler, sampler_of
from porbnet.statement.defaults import Scales

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor
    from porbnet.statement.prior import Prior

Chunk = tuple[FloatArray, FloatArray, FloatArray | None]
Prepared = tuple[Problem, float, np.random.SeedSequence, Any]  # the last a `sampling.driver.Keeper` or None
_ALLOWED = "it must be (X, y) or (X, y, sample_weight), or a data frame with y= the name of its column of outputs"


def are_chunks(X: Any, y: Any) -> bool:
    """Whether what `fit` was given are chunks: no table, and no outputs beside it (or the name of their column)."""
    if not (y is None or isinstance(y, str)) or isinstance(X, str | bytes):
        return False
    table = any(hasattr(X, name) for name in ("shape", "columns", "__array__"))
    return not table and (callable(X) or isinstance(X, Iterable))


class Chunks:
    """Chunks, checked as they come: X of shape (n, n_dims), y and how often each row counts (or None), shape (n,).

    given : an iterable of chunks, or a callable that returns one
    column : of the outputs, if chunks are data frames
    again : whether they can be gone through a second time
    names : of the inputs, if chunks are data frames that name them
    """

    def __init__(self, given: Any, column: str | None) -> None:
        self.given, self.column = given, column
        self.again = callable(given) or not isinstance(given, Iterator)
        self.names: list[str] | None = None
        self.n_dims = 0

    def __iter__(self) -> Iterator[Chunk]:
        found = self.given() if callable(self.given) else self.given
        if not isinstance(found, Iterable):
            raise _checks.fail("X", found, "a callable must return an iterable of chunks")
        for number, chunk in enumerate(found, start=1):
            X, y, counts = self._checked(chunk, number)
            if len(y):
                yield X, y, counts

    def _checked(self, chunk: Any, number: int) -> Chunk:
        from sklearn.utils.validation import check_array, column_or_1d

        name = f"chunk {number}"
        X, y, counts = self._parts(chunk, name)
        try:
            X = check_array(X, dtype=np.float64, ensure_min_samples=0, input_name="X")
            y = column_or_1d(check_array(y, dtype=np.float64, ensure_2d=False, ensure_min_samples=0, input_name="y"))
        except (ValueError, TypeError) as error:
            raise StatementError(f"{name}: {error}") from error
        if len(X) != len(y):
            raise StatementError(f"{name} has {len(X)} rows of X and {len(y)} of y: it must have as many of both")
        self.n_dims = self.n_dims or X.shape[1]
        if X.shape[1] != self.n_dims:
            raise StatementError(f"{name} has {X.shape[1]} inputs where those before it have {self.n_dims}")
        if counts is None:
            return X, y, None
        allowed = f"it must be {len(y)} finite numbers of at least 0, one per row"
        often = _checks.real_array(f"sample_weight of {name}", counts, allowed)
        if often.shape != y.shape or np.any(often < 0):
            raise _checks.fail(f"sample_weight of {name}", counts, allowed)
        kept = often > 0
        return X[kept], y[kept], often[kept]

    def _parts(self, chunk: Any, name: str) -> tuple[Any, Any, Any]:
        if hasattr(chunk, "columns") and not isinstance(chunk, tuple):
            names = [str(c) for c in chunk.columns]
            if self.column is None or self.column not in names:
                allowed = f"it must be one of the columns {', '.join(map(repr, names))}"
                raise _checks.fail("y", self.column, allowed)
            inputs = [c for c in names if c != self.column]
            if self.names not in (None, inputs):
                raise StatementError(f"{name} has inputs {inputs} where those before it have {self.names}")
            self.names = inputs
            return chunk[inputs], np.asarray(chunk[self.column]), None
        if not isinstance(chunk, tuple | list) or len(chunk) not in (2, 3):
            raise _checks.fail(name, chunk, _ALLOWED)
        X, y = chunk[0], chunk[1]
        if hasattr(X, "columns"):
            self.names = [str(c) for c in X.columns]
        return X, y, chunk[2] if len(chunk) == 3 else None


def prepare_chunks(model: PoRBNetRegressor, given: Any, column: str | None, sample_weight: Any) -> Prepared:
    """Read rows that come in chunks; see `PoRBNetRegressor.fit`. Returns what its `_sample` takes."""
    if sample_weight is not None:
        raise _checks.fail("sample_weight", sample_weight, "with chunks it is the third part of each, (X, y, weight)")
    if model.noise is not None and not isinstance(model.noise, str) and np.ndim(model.noise) > 0:  # type: ignore[arg-type]
        raise _checks.fail("noise", model.noise, "with chunks it must not be one number per observation")
    model._check_running()
    root = seed_sequence(model.random_state)
    kind, chunks = _likelihood(model), Chunks(given, column)
    totals, sample, absorber, kept = _first_pass(model, chunks, kind)
    if kept is not None:
        return _whole(model, chunks, kept)
    model.n_features_in_ = 1
    if chunks.names is not None:
        model.feature_names_in_ = np.array(chunks.names, dtype=object)
    scales = Scales.checked(totals.mean, totals.sd, totals.low, totals.high - totals.low, totals.weight)
    ends = np.array([totals.low, totals.high])
    X = ends if model.prior is not None else sample.X
    prior, offset = model._statement(X, sample.y, model.noise, sample.counts, scales)
    sampler_of(model.sampler).check(prior)
    if absorber is None:
        kinks = likelihood_of(prior.noise).kinks(prior.region) if prior.noise is not None else None
        absorber = Absorber(totals.shift, None if kinks is None else kinks[0])
        for X, y, counts in chunks:
            absorber.add(X[:, 0], y, counts)
    problem = problem_of(prior, absorber.measure(), absorber.shift - offset)
    _require_smooth(problem)
    return model._begin(problem, offset, root)


def _first_pass(
    model: PoRBNetRegressor, chunks: Chunks, kind: type[Likelihood]
) -> tuple[Totals, Sample, Absorber | None, list[Chunk] | None]:
    """Totals, a sample, and the rows absorbed; or the rows themselves, if they are few."""
    totals, sample, absorber = None, Sample(), None
    kept: list[Chunk] | None = []
    two_passes = kind.kinks is not Likelihood.kinks
    for X, y, counts in chunks:
        totals = Totals.of(X, y, counts) if totals is None else totals.plus(X, y, counts)
        if totals.n > absorb.MOST_WAITING and kept is not None:
            _require_few_are_enough(model, chunks, kind, two_passes)
            for chunk in kept:
                sample.add(*chunk)
            if not two_passes:
                absorber = Absorber(totals.shift)
                for before in kept:
                    absorber.add(before[0][:, 0], before[1], before[2])
            kept = None
        if kept is not None:
            kept.append((X.copy(), y.copy(), None if counts is None else counts.copy()))
            continue
        sample.add(X, y, counts)
        if absorber is not None:
            absorber.add(X[:, 0], y, counts)
    if totals is None:
        raise StatementError("there are no rows in the chunks: a fit needs two at least")
    return totals, sample, absorber, kept


def _whole(model: PoRBNetRegressor, chunks: Chunks, kept: list[Chunk]) -> Prepared:
    """Few rows, as they are."""
    X, y = (np.concatenate([c[i] for c in kept]) for i in (0, 1))
    often = [np.ones(len(c[1])) if c[2] is None else c[2] for c in kept]
    weights = np.concatenate(often) if any(c[2] is not None for c in kept) else None
    prepared = model._prepare(X, y, weights)
    if chunks.names is not None:
        model.feature_names_in_ = np.array(chunks.names, dtype=object)
    return prepared


def _likelihood(model: PoRBNetRegressor) -> type[Likelihood]:
    """The kind of errors that is stated."""
    noise = model.noise if model.prior is None else getattr(model.prior, "noise", None)
    if isinstance(noise, str):
        return {k.word: k for k in registered().values() if k.word}.get(noise, type(likelihood_of(1.0)))
    return type(likelihood_of(1.0 if noise is None else noise))


def _require_few_are_enough(model: PoRBNetRegressor, chunks: Chunks, kind: type[Likelihood], two_passes: bool) -> None:
    """Rows can be forgotten, or there is an error that says what is possible."""
    most = f"{absorb.MOST_WAITING:,}"
    if chunks.n_dims > 1:
        raise StatementError(
            f"the chunks have more than {most} rows of {chunks.n_dims} inputs: with several inputs all rows are kept "
            "in memory, so many at most; fit a sample of them, or one input"
        )
    if isinstance(model.noise, str) and model.noise == AUTO:
        allowed = f"of more than {most} rows in chunks it must be stated; fit some of them to have it chosen"
        raise _checks.fail("noise", model.noise, allowed)
    if not kind.compresses:
        raise StatementError(
            f"the chunks have more than {most} rows, and {kind.words} need every one of them: up to {most} rows, "
            "or Gaussian errors (noise='learned' or 'varying')"
        )
    sampler = model.sampler
    if not (sampler == "collapsed" or isinstance(sampler, CollapsedSampler)):
        raise _checks.fail("sampler", sampler, f"with more than {most} rows in chunks it must be 'collapsed'")
    if two_passes and not chunks.again:
        raise StatementError(
            f"the chunks have more than {most} rows and can be gone through only once, but a noise that varies needs "
            "two passes: give a callable that returns them anew, a list, or a file"
        )


def problem_of(prior: Prior, nodes: Measure, up: float) -> Problem:
    """The problem of absorbed rows, whose outputs are to be raised by `up`."""
    return Problem.of(
        prior, nodes.x.T.copy(), nodes.outputs + up, None, nodes.counts.copy(), nodes.within.copy(), nodes.limit.copy()
    )


def _shortest(problem: Problem, scale: float) -> float:
    """The lengthscale of units of a scale in standard coordinates, in the units of the input."""
    return math.sqrt(2.0) / scale * float(problem.scaling.divisor[0])


def _hardest(problem: Problem) -> float:
    return math.inf if problem.stands_for is None else float(problem.stands_for.limit.min(initial=np.inf))


def _require_smooth(problem: Problem) -> None:
    """A chain can start: its first units are not sharper than the nodes allow."""
    component, hardest = problem.components[0], _hardest(problem)
    values = np.ones(len(problem.parameters))
    values[component.level] = component.start_level
    scale = float(sharpness_of(component.record(0), values, 1.0).scales.max())
    if scale * MARGIN > hardest:
        raise StatementError(
            f"chains would start from a lengthscale of {_shortest(problem, scale):.3g}, but rows read in chunks allow "
            f"{_shortest(problem, hardest / MARGIN):.3g} at least: state a longer one, or fit a part of the range"
        )


def warn_if_sharp(model: PoRBNetRegressor) -> None:
    """Tell if the nodes may have kept units from getting sharper."""
    problem, hardest = model.posterior_.problem, _hardest(model.posterior_.problem)
    scale = float(sharpness_of_draws(problem, model.posterior_.draws).scales.max(initial=0.0))
    if scale * MARGIN > hardest:
        warnings.warn(
            f"some units have a lengthscale of {_shortest(problem, scale):.3g}, close to the shortest that rows read "
            f"in chunks allow ({_shortest(problem, hardest):.3g}): f may be rougher; fit parts of the range",
            PorbnetWarning,
            stacklevel=4,
        )
