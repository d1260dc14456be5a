"""Kinds of outcomes on the page: what of a fit is shown of each, in which words; which estimator makes it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.statement.prior import Prior
from porbnet.studio.rows import Rows
from porbnet.studio.statement_form import Form

if TYPE_CHECKING:
    import numpy.random

    from porbnet.sampling.problem import Problem
    from porbnet.studio.running import Running

SHARES = (0.05, 0.5, 0.95)


@dataclass(frozen=True)
class Shown:
    """What is shown of a kind of outcomes.

    link : takes values of f to what is shown
    line, band, outputs : what curve and bands are, in words; no outputs where a band of them says nothing
    spread : what the second map of two inputs is
    scale : of f, for words beside its amplitude; empty if it is that of the output
    by_median : whether the curve is a median; else a mean
    has_noise : whether there is a noise sd
    """

    link: Callable[[FloatArray], FloatArray]
    line: str
    band: str
    outputs: str
    spread: str
    scale: str
    by_median: bool = False
    has_noise: bool = True


def _same(f: FloatArray) -> FloatArray:
    return f


def _exp(f: FloatArray) -> FloatArray:
    return np.asarray(np.exp(np.minimum(f, 80.0)))  # what is drawn in 32 bits must be finite


_WIDTH = "width of its 90 % interval"
SHOWN = {
    "real": Shown(_same, "mean of f", "f, mean and 90 %", "y, 90 %", "sd of f", ""),
    "positive": Shown(_exp, "median of y", "median of y and its 90 %", "y, 90 %", _WIDTH, "log", by_median=True),
    "binary": Shown(expit, "probability", "probability and its 90 %", "", _WIDTH, "log-odds", has_noise=False),
    "counts": Shown(_exp, "rate", "rate and its 90 %", "a new count, 90 %", _WIDTH, "log rate", has_noise=False),
}


def axis_of(rows: Rows) -> str:
    """What is along the axis of outputs."""
    name = rows.names[-1]
    if rows.kind == "binary":
        return f"P({name} = {rows.yes})"
    return f"{name} per unit of {rows.exposure}" if rows.exposure else name


def shown_values(rows: Rows) -> FloatArray:
    """Outputs as dots: of counts, over their exposures."""
    return rows.y if rows.beside is None else rows.y / rows.beside


def has_outputs(rows: Rows) -> bool:
    """Whether there is a band of new outputs."""
    return bool(SHOWN[rows.kind].outputs) and rows.beside is None


def stated(rows: Rows, form: Form) -> tuple[Prior, float]:
    """The prior of a fit and the constant about which f is, without a fit."""
    from porbnet.cli.kinds import estimator_of
    from porbnet.estimators.binary import BinaryFit

    parameters = form.parameters(rows.kind)
    if parameters.get("noise") == "auto":  # what is drawn of the prior does not depend on it
        parameters["noise"] = "learned"
    fit = BinaryFit(**parameters) if rows.kind == "binary" else estimator_of(rows.kind)(**parameters)
    if rows.kind == "binary":
        _labels(rows)
    y, beside = fit._outcomes(rows.y, rows.beside)
    found: tuple[Prior, float] = fit._statement(rows.X, y, fit.noise, None, beside=beside)
    return found


@dataclass(eq=False)
class Begun:
    """A fit that chains can begin with.

    model : the estimator that is taken away
    fit : the estimator whose posterior is drawn; of labels it is a part of the model
    finish : makes the model of the fit, when that has its posterior
    """

    model: Any
    fit: Any
    problem: Problem
    offset: float
    root: numpy.random.SeedSequence
    finish: Callable[[], Any]


def begin(rows: Rows, form: Form, running: Running) -> Begun:
    """The estimator of the rows' kind, and the problem that its chains have; as `fit` has it, to the last bit."""
    from porbnet.cli.kinds import estimator_of

    model = estimator_of(rows.kind)(
        **form.parameters(rows.kind), n_chains=running.n_chains, n_warmup=running.n_warmup, n_draws=running.n_draws,
        thin=running.thin, random_state=running.seed, progress=False,
    )  # fmt: skip
    model.labels_ = rows.names
    if rows.kind == "binary":
        classes, fits, started = model._prepare(rows.X, _labels(rows))
        fit, (problem, offset, root, _) = fits[0], started[0]
        finish = lambda: model._take(classes, fits)  # noqa: E731
    else:
        fit, finish = model, lambda: model
        problem, offset, root, _ = model._prepare(rows.X, rows.y, None, rows.beside)
    fit._remember_dates(rows.calendars)
    return Begun(model, fit, problem, offset, root, finish)


def _labels(rows: Rows) -> Any:
    """Labels as they are fitted."""
    if not np.all((rows.y == 0.0) | (rows.y == 1.0)):
        raise StatementError("as yes or no, every output must be 0 or 1")
    if np.all(rows.y == rows.y[0]):
        raise StatementError("as yes or no, there must be rows with 0 and rows with 1")
    codes = rows.y.astype(np.int64)
    return codes if rows.classes is None else np.array(rows.classes)[codes]


def exact_picture(model: Any, rows: Rows, places: FloatArray) -> dict[str, Any]:
    """The fit at places, by the estimator's own predictions: what the live bands tend to."""
    if rows.n_dims == 2:
        found = _map(model, rows, places)
    else:
        found = _bands(model, rows, places)
    posterior = model.posterior_
    curves = [("lengthscale", posterior.lengthscale)]
    if SHOWN[rows.kind].has_noise:
        curves.append(("noise", posterior.noise_at))
    for name, values in curves:
        found[f"{name}_low"], found[name], found[f"{name}_high"] = np.quantile(values(places), SHARES, axis=0)
    return found


def _map(model: Any, rows: Rows, places: FloatArray) -> dict[str, Any]:
    if rows.kind == "real":
        mean, sd = model.predict(places, return_std=True, of="f")
        return {"mean": np.asarray(mean), "sd": np.asarray(sd)}
    found = _bands(model, rows, places, outputs=False)
    return {"mean": found["mean"], "sd": found["f_high"] - found["f_low"]}


def _bands(model: Any, rows: Rows, places: FloatArray, outputs: bool = True) -> dict[str, Any]:
    """The curve and its band, and the band of new outputs if there is one."""
    found: dict[str, Any] = {}
    if rows.kind == "binary":
        found["mean"] = model.predict_proba(places)[:, 1]
        found["f_low"], found["f_high"] = model.predict_interval(places, 0.9)[:, 1].T
        return found
    if rows.kind == "positive":
        found["f_low"], found["mean"], found["f_high"] = model.predict_quantiles(places, SHARES, of="f").T
    else:
        of = "rate" if rows.kind == "counts" else "f"
        found["mean"] = np.asarray(model.predict(places, of=of))
        found["f_low"], found["f_high"] = model.predict_interval(places, 0.9, of=of).T
    if outputs and has_outputs(rows):
        found["y_low"], found["y_high"] = model.predict_interval(places, 0.9).T
    return found
