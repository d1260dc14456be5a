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
from porbnet.sampling.problem import Problem
from porbnet.storage.codec import Arrays, decode, decode_prior, encode, encode_prior, guarded

_NOT_SAVED = ("prior", "random_state", "checkpoint")  # told apart below; a folder belongs to one run
_LONGEST_NAME = 1000
PER_ROW = ("weight", "counts", "within", "limit")  # what else a problem may be made from, one number per row each


@dataclass(frozen=True, eq=False)
class Start:
    """A fit before sampling.

    parameters : of the estimator, by name
    problem : prior and data
    offset : subtracted from y
    features : names of the columns of X, or None
    labels : names of inputs and output for pictures, or None
    dates : what numbers of inputs that are dates mean, or None
    """

    parameters: dict[str, Any]
    problem: Problem
    offset: float
    features: list[str] | None
    labels: list[str] | None
    dates: Calendars | None = None


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
    }


def read_start(header: dict[str, Any], arrays: Arrays, known: set[str]) -> Start:
    """The start of a fit from a header; `known` are the names of the estimator's parameters."""
    wanted = {"parameters", "random_state", "prior_is_stated", "prior", "offset", "features", "labels"}
    missing = wanted - set(header)
    if missing:
        raise ModelFileError(f"its header lacks {', '.join(sorted(missing))}")
    if not isinstance(header["prior_is_stated"], bool):
        raise ModelFileError("its header does not say whether a prior was stated")
    stated = header["parameters"]
    if not isinstance(stated, dict) or not set(stated) <= known - set(_NOT_SAVED):
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
        name: guarded(name, functools.partial(_vector, name, arrays[name], len(X), name != "within", name == "limit"))
        for name in PER_ROW
        if name in arrays
    }
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
    return Start(parameters, problem, offset, features, labels, dates)


def _vector(name: str, value: Any, length: int, positive: bool = False, unbounded: bool = False) -> Any:
    allowed = f"it must be {length} finite numbers" + (" above zero" if positive else "")
    if unbounded and isinstance(value, np.ndarray) and value.dtype == np.float64:
        bounded = _vector(name, np.where(np.isposinf(value), 1.0, value), length, positive)
        return np.where(np.isposinf(value), np.inf, bounded)
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
