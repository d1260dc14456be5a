"""A fit in a few lines of HTML, for notebooks: what was fitted, the verdict, and a small picture."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

import numpy as np

from porbnet.plot.fits import fit
from porbnet.posterior.pointwise import observations
from porbnet.show.text import summarize

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_MOST_SHOWN = 2000  # observations in the picture
_PLACES = 120


def describe(model: PoRBNetRegressor) -> str:
    """Verdict, statement, summary and picture of a fitted model, as one `div` without scripts or outside files."""
    good = model.diagnostics_.converged
    colour, mark = ("#009E73", "converged") if good else ("#D55E00", "look at the chains")
    parts = [
        '<div style="font-family: sans-serif; font-size: 13px; max-width: 60em">',
        f'<div><b>{html.escape(type(model).__name__)}</b> <span style="color: {colour}"><b>{mark}</b></span></div>',
        f"<div>{html.escape(model.diagnostics_.verdict)}</div>",
        _picture(model),
        f"<pre>{html.escape(summarize(model))}</pre>",
        f"<details><summary>prior</summary><code>{html.escape(repr(model.prior_))}</code></details>",
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _picture(model: PoRBNetRegressor) -> str:
    """`plot.fit` as an inline image; nothing with several inputs or without matplotlib."""
    if model.posterior_.n_dims != 1:
        return ""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return ""

    X, y = observations(model.posterior_)
    shown = slice(None, None, -(-len(y) // _MOST_SHOWN))
    figure = Figure(figsize=(4.8, 2.4), layout="constrained")
    FigureCanvasAgg(figure)
    low, high = float(X.min()), float(X.max())
    grid = np.linspace(low, high, _PLACES) if high > low else None
    fit(model, X[shown], y[shown], figure.add_subplot(), grid=grid)
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    text = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img alt="the fit: mean, intervals of f and of y, data, units" src="data:image/png;base64,{text}">'
