"""What a fit starts from, as a header and arrays: the estimator's parameters, the statement, the data.

A saved model and a checkpoint both begin with it.
"""

from __future__ import annotations

import dataclasses
import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.dates import Calendars
from porbnet.base.dates import decode as decode_dates
from porbnet.base.dates import encode as encode_dates
from porbnet.errors import ModelFileError
from porbnet.posterior.noise_comparison import NoiseChoice
from porbnet.sampling.problem import Problem
from porbnet.storage.codec import Arrays, decode, decode_prior, encode, encode_prior, guarded

_NOT_SAVED = ("prior", "random_state", "checkpoint")  # told apart below; a folder belongs to one run
_LONGEST_NAME = 1000
_ANY = ("within", "beside")  # numbers that need not be above zero
_KINDS: dict[str, tuple[type, ...]] = {
    "U": (str,),
    "O": (str,),
    "i": (int,),
    "u": (int,),
    "f": (float, int),
    "b": (bool,),
}
PER_ROW = (
    "weight",
    "counts",
    "within",
    "limit",
    "beside",
)  # what else a problem may be made from, one number per row each


Known = set[str] | dict[str, set[str]]


@dataclass(frozen=True, eq=False)
class Start:
    """A fit before sampling.

    parameters : of the estimator, by name
    problem : prior and data
    offset : subtracted from y
    features : names of the columns of X, or None
    labels : names of inputs and output for pictures, or None
    dates : what numbers of inputs that are dates mean, or None
    estimator : its name
    of_class : of a classifier's fit the classes, the kind of their type and the place of its own; else None
    choice : how the noise was chosen, or None
    """

    parameters: dict[str, Any]
    problem: Problem
    offset: float
    features: list[str] | None
    labels: list[str] | None
    dates: Calendars | None = None
    estimator: str = "PoRBNetRegressor"
    of_class: list[Any] | None = None
    choice: NoiseChoice | None = None


def start_header(start: Start, arrays: Arrays) -> dict[str, Any]:
    """The header; X, y and what else there is per row go into `arrays`."""
    problem, given = start.problem, start.parameters
    arrays["X"], arrays["y"], arrays["order"] = problem.X, problem.y, problem.order
    for name in PER_ROW:
        if getattr(problem, name) is not None:
            arrays[name] = getattr(problem, name)
    prior = encode_prior(problem.prior, arrays)
    kept = {name: value for name, value in given.items() if name not in _NOT_SAVED}
    if callable(kept["lengthscale"]):  # saved as the table that was used, with the region that it covers
        region, kappa = problem.prior.region, problem.prior.units_per_lengthscale
        kept |= {"lengthscale": None, "region": region.bounds.tolist(), "units_per_lengthscale": kappa}
        parameters = {name: encode(value, arrays) for name, value in kept.items()} | {"lengthscale": prior["intensity"]}
    else:
        parameters = {name: encode(value, arrays, problem.prior.region) for name, value in kept.items()}
    seed = given["random_state"]
    plain = seed is None or isinstance(seed, int | np.integer | np.random.SeedSequence)
    return {
        "parameters": parameters,
        "random_state": encode(seed, arrays) if plain else None,
        "prior_is_stated": given["prior"] is not None,
        "prior": prior,
        "offset": float(start.offset),
        "features": start.features,
        "labels": start.labels,
        **({} if start.dates is None else {"dates": encode_dates(start.dates)}),
        **({} if start.estimator == "PoRBNetRegressor" else {"estimator": start.estimator}),
        **({} if start.of_class is None else {"of_class": start.of_class}),
        **({} if start.choice is None else {"noise_choice": start.choice.as_dict()}),
    }


def read_start(header: dict[str, Any], arrays: Arrays, known: Known) -> Start:
    """The start of a fit from a header; `known` are the names of the regressor's parameters, or of each estimator's."""
    known = {"PoRBNetRegressor": known} if isinstance(known, set) else known
    wanted = {"parameters", "random_state", "prior_is_stated", "prior", "offset", "features", "labels"}
    missing = wanted - set(header)
    if missing:
        raise ModelFileError(f"its header lacks {', '.join(sorted(missing))}")
    if not isinstance(header["prior_is_stated"], bool):
        raise ModelFileError("its header does not say whether a prior was stated")
    stated, estimator = header["parameters"], header.get("estimator", "PoRBNetRegressor")
    if not isinstance(estimator, str) or estimator not in known:
        raise ModelFileError(f"its header names an estimator {str(estimator)[:40]!r}, which porbnet does not have")
    if not isinstance(stated, dict) or not set(stated) <= known[estimator] - set(_NOT_SAVED):
        raise ModelFileError("its header has parameters that the estimator does not know")
    prior = decode_prior(header["prior"], arrays)
    parameters = {name: decode(value, arrays) for name, value in stated.items()}
    parameters["random_state"] = decode(header["random_state"], arrays)
    if header["prior_is_stated"]:
        parameters["prior"] = prior
    offset = guarded("offset", lambda: _checks.number("offset", header["offset"], minimum=-np.inf))
    for name in ("X", "y", "order"):
        if name not in arrays:
            raise ModelFileError(f"it has no array {name!r}")
    X = guarded("X", lambda: _checks.points("X", arrays["X"], prior.n_dims))
    y = guarded("y", lambda: _vector("y", arrays["y"], len(X)))
    if len(X) == 0 or X.shape != arrays["X"].shape:
        raise ModelFileError("it has no observations")
    known_of_rows = {
        name: guarded(
            name, functools.partial(_vector, name, arrays[name], len(X), name not in _ANY, name in ("limit", "beside"))
        )
        for name in PER_ROW
        if name in arrays
    }
    if "beside" in arrays and (prior.likelihood is None or not prior.likelihood.beside):
        raise ModelFileError("it knows something of its rows that its likelihood does not ask for")
    if ("within" in arrays) != ("limit" in arrays) or ("within" in arrays and ("weight" in arrays or X.shape[1] > 1)):
        raise ModelFileError("it does not say in full what its rows stand for")
    problem = guarded("problem", lambda: Problem.of(prior, X, y, **known_of_rows))
    order = arrays["order"]
    if order.dtype != np.int64 or order.shape != (len(X),) or order.min() < 0:
        raise ModelFileError("it does not say which row of the data each observation was")
    problem = dataclasses.replace(problem, order=order)
    features, labels = _names(header["features"], X.shape[1]), _names(header["labels"], X.shape[1] + 1)
    dates = header.get("dates")  # of fits with dates only
    if dates is not None:
        dates = guarded("dates", lambda: decode_dates(header["dates"], X.shape[1]))
    of_class = _of_class(header.get("of_class"), estimator)
    choice = NoiseChoice.from_dict(header["noise_choice"]) if "noise_choice" in header else None
    return Start(parameters, problem, offset, features, labels, dates, estimator, of_class, choice)


def _of_class(stated: Any, estimator: str) -> list[Any] | None:
    """Classes, the kind of their type and a place among them."""
    if estimator != "PoRBNetClassifier":
        return None
    sound = isinstance(stated, list) and len(stated) == 3 and isinstance(stated[0], list) and stated[1] in _KINDS
    if sound:
        classes, kind, place = stated
        sound = 2 <= len(classes) <= 1000 and all(type(v) in _KINDS[kind] for v in classes)
        sound = sound and len({str(v) for v in classes}) == len(classes) and type(place) is int
        sound = sound and 0 <= place < len(classes) and classes == sorted(classes)
    if not sound:
        raise ModelFileError("its header does not say what its classes are")
    return list(stated)


def _vector(name: str, value: Any, length: int, positive: bool = False, unbounded: bool = False) -> Any:
    allowed = f"it must be {length} finite numbers" + (" above zero" if positive else "")
    if unbounded and isinstance(value, np.ndarray) and value.dtype == np.float64:
        endless = np.isinf(value) & ((value > 0) | (not positive))
        bounded = _vector(name, np.where(endless, 1.0, value), length, positive)
        return np.where(endless, value, bounded)
    array = (_checks.positive_array if positive else _checks.real_array)(name, value, allowed)
    if array.shape != (length,):
        raise _checks.fail(name, value, allowed)
    return array


def _names(value: Any, n: int) -> list[str] | None:
    if value is None:
        return None
    if not isinstance(value, list) or len(value) != n or not all(isinstance(v, str) for v in value):
        raise ModelFileError(f"its names of columns are not {n} words")
    return [v[:_LONGEST_NAME] for v in value]
