"""Predictions of many series at once, each by its own model."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.date_text import Dates
from porbnet.estimators.inputs import Columns, dates_of
from porbnet.many.many_fits import ManyFits
from porbnet.many.series_keys import Key, key_of
from porbnet.many.series_tables import as_array, column, column_names, grouped, is_frame, taken


def predictions(fits: ManyFits, new: Any, coverage: float, of: str, n_jobs: int | None) -> Any:
    """See `ManyFits.predict`. Models are loaded one after the other, so many at a time as there are jobs."""
    import pandas
    from joblib import Parallel, delayed

    if not is_frame(new):
        raise _checks.fail("new", new, "it must be a frame or a mapping of columns")
    missing = [name for name in (*fits.by, *fits.inputs) if name not in column_names(new)]
    if missing:
        raise _checks.fail("new", column_names(new), f"it must have a column {', '.join(map(repr, missing))}")
    keys, places, _ = grouped(new, fits.by)
    known = [(key_of(k), p) for k, p in zip(keys, places, strict=True) if key_of(k) in fits.places]
    if not known:
        shown = [k[0] if len(k) == 1 else k for k in keys[:5]]
        raise _checks.fail("new", shown, f"none of these values of {', '.join(fits.by)} has a fitted series")

    def one(key: Key, rows: Any) -> dict[str, Any]:
        return _predicted(fits.load(key), _inputs(new, fits.inputs, rows), coverage, of)

    answers = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")(delayed(one)(*k) for k in known)
    n_rows = len(as_array(column(new, fits.by[0])))
    result: dict[str, Any] = {}
    for (_, rows), answer in zip(known, answers, strict=True):
        for name, values in answer.items():
            if name not in result:
                numbers = np.asarray(values).dtype.kind in "biuf"
                result[name] = np.full(n_rows, np.nan) if numbers else np.full(n_rows, None, dtype=object)
            result[name][rows] = values
    shown_columns = {name: as_array(column(new, name)) for name in (*fits.by, *fits.inputs)}
    return pandas.DataFrame(shown_columns | result)


def _inputs(new: Any, names: list[str], rows: Any) -> Any:
    """Inputs of some rows, as a model takes them."""
    found = taken(new, names, rows)
    values = [v if isinstance(v, Dates) else dates_of(n, v) or np.asarray(v, np.float64) for n, v in found.items()]
    if any(isinstance(v, Dates) for v in values):
        return Columns(names, values)
    return np.ascontiguousarray(np.stack(values, axis=1))  # type: ignore[arg-type]


def _predicted(model: Any, X: Any, coverage: float, of: str) -> dict[str, Any]:
    """Columns of a prediction."""
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        named = {f"probability_{label}": shares[:, i] for i, label in enumerate(model.classes_)}
        return {"prediction": model.predict(X), **named}
    mean, sd = model.predict(X, return_std=True, of=of)
    lower, upper = model.predict_interval(X, coverage, of=of).T
    return {"mean": mean, "sd": sd, "lower": lower, "upper": upper}
