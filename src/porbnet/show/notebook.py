"""A fit in a few lines of HTML, for notebooks: what was fitted, the verdict, and a small picture."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.plot.chances import rate
from porbnet.plot.fits import fit
from porbnet.plot.maps import maps
from porbnet.plot.partial import partial_dependence
from porbnet.posterior.pointwise import observations
from porbnet.show.text import summarize

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_MOST_SHOWN = 2000  # observations in the picture
_PLACES = 120
_SIDE = 30  # places along each side of a map
_MOST_INPUTS = 4
_SIZES = {1: (4.8, 2.4), 2: (6.4, 4.8), 3: (7.2, 2.4)}  # inches, by number of inputs
_WRAPPED = 'style="white-space: pre-wrap; overflow-wrap: anywhere"'


def describe(model: PoRBNetRegressor) -> str:
    """Verdict, statement, summary and picture of a fitted model, as one `div` without scripts or outside files."""
    good = model.diagnostics_.converged
    colour, mark = ("#009E73", "converged") if good else ("#D55E00", "look at the chains")
    parts = [
        '<div style="font-family: sans-serif; font-size: 13px; max-width: 60em">',
        f'<div><b>{html.escape(type(model).__name__)}</b> <span style="color: {colour}"><b>{mark}</b></span></div>',
        f"<div>{html.escape(model.diagnostics_.verdict)}</div>",
        _picture(model),
        f"<pre {_WRAPPED}>{html.escape(summarize(model))}</pre>",
        f"<details><summary>prior</summary><code {_WRAPPED}>{html.escape(repr(model.prior_))}</code></details>",
        "</div>",
    ]
    return "\n".join(part for part in parts if part)


def _of_counts(model: Any, X: Any, y: Any, exposure: Any, shown: slice, figure: Any) -> str:
    """Rate of counts with one input, else what log rates or log-odds do along each; returns what is to be seen."""
    if X.shape[1] == 1 and hasattr(model, "pit"):
        rate(model, X, y, figure.add_subplot(), exposure=None if exposure is None else exposure[shown])
        return "rate with its interval, and the counts"
    first = list(range(min(X.shape[1], _MOST_INPUTS)))
    partial_dependence(model, axes=figure.subplots(1, len(first), sharey=True, squeeze=False)[0], inputs=first)
    return "what f does along each input on average, with bands"


def _picture(model: PoRBNetRegressor) -> str:
    """The fit, maps or partial dependence as an inline image; nothing without matplotlib."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return ""

    X, y = observations(model.posterior_)
    shown, n_dims = slice(None, None, -(-len(y) // _MOST_SHOWN)), X.shape[1]
    figure = Figure(figsize=_SIZES.get(n_dims, _SIZES[3]), layout="constrained")
    FigureCanvasAgg(figure)
    problem = model.posterior_.problem
    if not problem.likelihood.additive:
        words = _of_counts(model, X[shown], y[shown], problem.beside_rows, shown, figure)
    elif n_dims == 1:
        low, high = float(X.min()), float(X.max())
        grid = np.linspace(low, high, _PLACES) if high > low else None
        fit(model, X[shown], y[shown], figure.add_subplot(), grid=grid)
        words = "the fit: mean, intervals of f and of y, data, units"
    elif n_dims == 2:
        maps(model, X[shown], y[shown], figure.subplots(2, 2, sharex=True, sharey=True), n_side=_SIDE)
        words = "maps of mean, sd, lengthscale and noise, with the data"
    else:
        first = list(range(min(n_dims, _MOST_INPUTS)))
        partial_dependence(model, X[shown], y[shown], figure.subplots(1, len(first), sharey=True), inputs=first)
        words = "what f does along each input on average, with bands"
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=100)
    text = base64.b64encode(file.getvalue()).decode("ascii")
    return f'<img alt="{words}" style="max-width: 100%" src="data:image/png;base64,{text}">'
