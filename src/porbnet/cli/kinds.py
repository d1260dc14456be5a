"""Kinds of outcomes on the command line: guessed where a column can be nothing else, and said; how each predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from porbnet.base.checks import FloatArray
from porbnet.cli.table import TableData
from porbnet.errors import StatementError

OUTCOMES = ("auto", "real", "binary", "counts", "positive")
_YES = ({"no", "yes"}, {"false", "true"}, {"0", "1"}, {"n", "y"}, {"f", "t"})  # in this order: no, then yes
_FEW = 20  # rows from which a hint is given
_WIDE = 50.0  # largest over smallest of positive outputs, from which a hint is given


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the output of a table is.

    kind : one of `OUTCOMES` but auto
    table : with labels as 0 and 1
    classes : of labels, else None
    words : what is said about it; empty if nothing is
    """

    kind: str
    table: TableData
    classes: list[str] | None
    words: str


def outcome_of(table: TableData, target: int, stated: str) -> Outcome:
    """The kind of an output column: as stated, or yes or no where it can be nothing else, with a word about it."""
    name = table.names[target]
    found = _labels(table, target)
    obvious = found is not None and set(found[0]) in _YES
    if stated == "binary" or (stated == "auto" and obvious):
        if found is None:
            raise StatementError(f"--outcome binary: column {name!r} must hold two different values, in all its rows")
        classes, cells = found
        columns = list(table.columns)
        columns[target] = cells
        said = f"output {name!r} is fitted as yes or no, yes being {classes[1]!r}"
        said += "" if stated == "binary" else " (--outcome real fits the numbers)" if classes == ["0", "1"] else ""
        return Outcome("binary", replace(table, columns=columns), classes, said)
    return Outcome("real" if stated == "auto" else stated, table, None, "")


def _labels(table: TableData, target: int) -> tuple[list[str], list[str | None]] | None:
    """Two classes, no before yes, and each cell as 0 or 1; None if there are not two."""
    cells = [None if v is None or str(v).strip() == "" else _word(v) for v in table.shown(target)]
    classes = sorted({c for c in cells if c is not None})
    if len(classes) != 2:
        return None
    return classes, [None if c is None else str(classes.index(c)) for c in cells]


def _word(value: Any) -> str:
    """A label: 1, 1.0 and "1" are the same, and so are Yes and yes."""
    text = str(value).strip().lower()
    try:
        number = float(text)
    except ValueError:
        return text
    return str(int(number)) if number.is_integer() else text


def hint(y: FloatArray, stated: str) -> str:
    """What else an output might be, if that was not said; it is not fitted so."""
    if stated != "auto" or len(y) < _FEW:
        return ""
    if np.all((y >= 0) & (y == np.floor(y))) and np.any(y == 0):
        return "the output is whole numbers with zeros among them; if they are counts: --outcome counts"
    if np.all(y > 0) and y.max() > _WIDE * y.min():
        return "the output is positive and spans orders of magnitude: --outcome positive fits its logarithm"
    return ""


def estimator_of(kind: str) -> Callable[..., Any]:
    """What fits such outcomes."""
    if kind == "binary":
        from porbnet.estimators.classifier import PoRBNetClassifier

        return PoRBNetClassifier
    if kind == "counts":
        from porbnet.estimators.counts import PoRBNetCountRegressor

        return PoRBNetCountRegressor
    from porbnet.estimators.regressor import PoRBNetRegressor

    return PoRBNetRegressor


def kind_of(model: Any) -> str:
    """The kind of outcomes of a fit."""
    if hasattr(model, "classes_"):
        return "binary" if len(model.classes_) == 2 else "classes"
    return "real" if model.posterior_.problem.likelihood.additive else "counts"


def fit_of(model: Any) -> Any:
    """The fit with draws: of a classifier, that of its second class."""
    if hasattr(model, "classes_"):
        if len(model.fits_) > 1:
            raise StatementError(f"the model has {len(model.fits_)} classes: the command line is for two of them")
        return model.fits_[0]
    return model


def outputs_of(model: Any) -> FloatArray:
    """Observed outputs, shape (n_points,), in the order of `problem.X`."""
    fit = fit_of(model)
    problem = fit.posterior_.problem
    likelihood = problem.likelihood
    return np.asarray(likelihood.natural(problem.y + fit.offset_) if likelihood.additive else problem.y)


def expected(model: Any, X: FloatArray, beside: FloatArray | None) -> FloatArray:
    """Mean of the outputs at points: a probability, a count or the output itself."""
    kind = kind_of(model)
    if kind == "binary":
        return np.asarray(model.predict_proba(X)[:, 1])
    return np.asarray(model.predict(X, exposure=beside) if kind == "counts" else model.predict(X))


def log_density(model: Any, X: FloatArray, y: FloatArray, beside: FloatArray | None) -> FloatArray:
    """Log posterior predictive density of outputs."""
    kind = kind_of(model)
    if kind == "binary":
        return np.asarray(model.log_density(X, model.classes_[y.astype(np.int64)]))
    return np.asarray(model.log_density(X, y, exposure=beside) if kind == "counts" else model.log_density(X, y))


def predictors(model: Any, of: str, beside: FloatArray | None) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Mean and sd at points, and quantiles at points, of what is asked for."""
    from porbnet.base import checks as _checks

    kind = kind_of(model)
    if beside is not None and kind != "counts":
        raise _checks.fail("--exposure", "given", "the model is not one of counts")
    if kind == "counts":
        return (
            lambda X: model.predict(X, True, of=of, exposure=beside),
            lambda X, q: model.predict_quantiles(X, q, of=of, exposure=beside),
        )
    if kind == "real":
        return lambda X: model.predict(X, True, of=of), lambda X, q: model.predict_quantiles(X, q, of=of)
    _checks.choice("--of", of, ("y", "f"))
    fit = fit_of(model)
    if of == "f":
        return lambda X: _of_f(fit, X), lambda X, q: fit.predict_quantiles(X, q, of="f")

    def chance(X: Any) -> tuple[FloatArray, FloatArray]:
        p = model.predict_proba(X)[:, 1]
        return p, np.sqrt(p * (1.0 - p))

    return chance, lambda X, q: expit(fit.predict_quantiles(X, q, of="f"))


def _of_f(fit: Any, X: Any) -> tuple[FloatArray, FloatArray]:
    mean, variance = fit.posterior_.mean_and_variance(fit._points(X))
    return mean, np.sqrt(variance)
