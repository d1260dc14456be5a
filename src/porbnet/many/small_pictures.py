"""Many fits at a glance: a grid of small pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.errors import StatementError
from porbnet.many.many_fits import ManyFits
from porbnet.many.series_keys import in_words, key_of
from porbnet.plot.fits import fit, width
from porbnet.plot.style import PALETTE, literal
from porbnet.posterior.pointwise import observations

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_SHOWN = 500  # observations in a small picture
_PLACES = 100
_SIZE = (2.6, 1.9)  # inches


def grid(fits: ManyFits, keys: Sequence[Any], n_columns: int) -> Any:
    """See `ManyFits.plot`."""
    import matplotlib.pyplot as plt

    if any(place is None for place in fits.places.values()):
        raise StatementError("there are no models to show: fit_many was told to keep none (models='none')")
    n_columns = max(1, min(n_columns, len(keys)))
    n_rows = max(1, -(-len(keys) // n_columns))
    size = (_SIZE[0] * n_columns, _SIZE[1] * n_rows)
    _, axes = plt.subplots(n_rows, n_columns, figsize=size, squeeze=False, layout="constrained")
    for ax in axes.flat[len(keys) :]:
        ax.set_visible(False)
    for ax, key in zip(axes.flat, keys, strict=False):
        _small(ax, fits.load(key), in_words(key_of(key)))
    return axes


def _small(ax: Axes, model: Any, title: str) -> None:
    """One fit: curve and data of one input, the width of more; vermillion if it has not converged."""
    X, y = observations(model.posterior_)
    if X.shape[1] == 1:
        low, high = float(X.min()), float(X.max())
        places = np.linspace(low, high, _PLACES) if high > low else None
        shown = slice(None, None, -(-len(y) // _MOST_SHOWN))
        fit(model, X[shown], y[shown], ax, grid=places, n_rug=0)
    else:
        width(model, ax)
    good = model.diagnostics_.converged
    rhat = model.diagnostics_.worst_rhat.rhat
    told = "" if np.isnan(rhat) else f"  R-hat {rhat:.2f}"
    ax.set_title(literal(title[:40]) + told, fontsize=8, color=PALETTE["black" if good else "vermillion"])
    ax.set(xlabel="", ylabel="")
    ax.tick_params(labelsize=6)
