"""A word, once per fit, when predictions are asked for beyond the region of its units."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.dates import Calendar, text_of
from porbnet.errors import ExtrapolationWarning
from porbnet.estimators.names import calendars, labels

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor


def tell_beyond(model: PoRBNetRegressor, points: FloatArray) -> None:
    """Warn if points, shape (n_points, n_dims), lie beyond the region; the first time only."""
    posterior, region = model.posterior_, model.prior_.region
    outside = ~region.contains(points)
    if posterior.beyond.told or not outside.any():
        return
    posterior.beyond.told = True
    parts = []
    for d, (name, calendar) in enumerate(zip(labels(model), calendars(model), strict=False)):
        values, low, high = points[outside, d], region.low[d], region.high[d]
        ends = [end for end in (values.min(), values.max()) if not low <= end <= high]
        if ends:
            reached = " and ".join(_shown(end, calendar) for end in dict.fromkeys(ends))
            parts.append(f"{name} from {_shown(low, calendar)} to {_shown(high, calendar)} (asked for {reached})")
    warnings.warn(
        f"{int(outside.sum()):,} of {len(points):,} points lie beyond the region of the fit, {'; '.join(parts)}: the "
        "data say nothing of f there, and it goes back to the prior; trend='linear' lets it go somewhere",
        ExtrapolationWarning,
        stacklevel=4,
    )


def _shown(value: float, calendar: Calendar | None) -> str:
    return f"{value:.4g}" if calendar is None else text_of(calendar.instants(np.array([value])))[0]
