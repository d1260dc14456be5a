"""What inputs and output of a fit are called, and the units of inputs that are dates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.dates import Calendars, text_of

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_MOST_NAMED = 3  # coordinates of a place


def labels(model: PoRBNetRegressor) -> list[str]:
    """Names of the inputs, then of the output: those of a table or frame, else x or x1, x2, ... and y."""
    n_dims = model.n_features_in_
    stated = getattr(model, "labels_", None)
    if stated is not None:
        return list(stated)
    features = getattr(model, "feature_names_in_", None)
    if features is not None:
        return [*map(str, features), "y"]
    return [*(f"x{d + 1}" if n_dims > 1 else "x" for d in range(n_dims)), "y"]


def calendars(model: PoRBNetRegressor) -> Calendars:
    """What numbers of each input mean, None where they are just numbers."""
    return getattr(model, "dates_", None) or (None,) * model.posterior_.n_dims


def lengthscale_unit(model: PoRBNetRegressor) -> str:
    """Of a fit whose inputs are all dates in one unit, as "days"; else empty."""
    units = {None if c is None else c.unit for c in calendars(model)}
    return next(iter(units)) or "" if len(units) == 1 else ""


def place_in_words(model: PoRBNetRegressor, point: FloatArray) -> str:
    """A point of the input, shape (n_dims,), as "time = 3.2" or "day = 2024-03-31"."""
    known = getattr(model, "dates_", None) or (None,) * len(point)
    parts = []
    for name, value, calendar in zip(labels(model), point, known, strict=False):
        shown = f"{value:.4g}" if calendar is None else text_of(calendar.instants(np.array([value])))[0]
        parts.append(f"{name} = {shown}")
    return ", ".join(parts[:_MOST_NAMED])


def date_sentences(model: PoRBNetRegressor) -> list[str]:
    """What numbers of each input of dates count, as "when counts days since 2024-03-31"."""
    named = zip(labels(model), calendars(model), strict=False)
    return [f"{name} counts {c.words}" for name, c in named if c is not None]
