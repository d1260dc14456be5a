"""Pictures of fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.errors import StatementError
from porbnet.estimators.names import labels
from porbnet.plot.style import PALETTE, along, axes_for, date_axes, fitted_grid, literal, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.regressor import PoRBNetRegressor

_MOST_BARS = 60


def fit(
    model: PoRBNetRegressor,
    X: Any = None,
    y: Any = None,
    ax: Axes | None = None,
    *,
    grid: Any = None,
    coverage: float = 0.9,
    n_rug: int = 30,
    color: str = PALETTE["blue"],
) -> Axes:
    """A fit: mean, intervals of f (dark) and of a new observation y (light), the data, and units as a rug.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted to one input.
    X, y : arrays of shape (n_points,) or (n_points, 1), and (n_points,), optional
        Observations to show.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    grid : array of shape (n_grid,) or (n_grid, 1), optional
        Increasing inputs at which the fit is shown; by default the range of the inputs and a little more.
    coverage : float, default 0.9
        Probability of the intervals at each x.
    n_rug : int, default 30
        Draws whose centers of units are shown along the lower edge; 0 for none.
    color : str
        Of the mean and the intervals.

    Returns
    -------
    matplotlib Axes
    """
    places = fitted_grid(model, grid)
    if not model.posterior_.problem.likelihood.additive:
        raise StatementError("model is one of labels or counts: `probability` and `rate` are the pictures of them")
    x, names = along(model, 0, places[:, 0]), labels(model)
    ax = axes_for(ax)
    for of, alpha in (("y", 0.15), ("f", 0.35)):
        low, high = model.predict_interval(places, coverage, of=of).T
        ax.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0, label=f"{coverage:.0%} of {of}")
    ax.plot(x, model.predict(places), color=color, linewidth=1.5, label="mean of f")
    if X is not None and y is not None:
        shown = along(model, 0, points_of(model, "X", X)[:, 0])
        ax.plot(shown, np.ravel(y), ".", color=PALETTE["black"], markersize=3, alpha=0.7, label="data")
    if _checks.count("n_rug", n_rug, minimum=0):
        centers = model.sample_functions(min(n_rug, len(model.posterior_))).centers[:, 0]
        centers = along(model, 0, centers[(centers >= places[0, 0]) & (centers <= places[-1, 0])])
        style: dict[str, Any] = {"marker": "|", "linestyle": "none", "markersize": 8, "alpha": 0.25, "clip_on": False}
        edge = ax.get_xaxis_transform()
        if len(centers):  # an empty line that is not clipped would take all room from the axes
            ax.plot(
                centers, np.zeros(len(centers)), color=PALETTE["vermillion"], transform=edge, label="units", **style
            )
    ax.set(xlabel=literal(names[0]), ylabel=literal(names[-1]), xlim=(x[0], x[-1]))
    date_axes(model, ax, x=0)
    return ax


def width(model: PoRBNetRegressor, ax: Axes | None = None, *, color: str = PALETTE["blue"]) -> Axes:
    """The posterior distribution of the width (number of units), and its mean.

    A bar for each width, or where they are many for some at a time, as the axis then says.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted, to any number of inputs.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    color : str
        Of the bars.

    Returns
    -------
    matplotlib Axes
    """
    fits = getattr(model, "fits_", [model])
    if len(fits) > 1:
        raise StatementError(f"model has {len(fits)} classes, each with a width of its own: give one of its fits_")
    shares = fits[0].width_distribution()
    mean = float(model.posterior_.n_units.mean())
    ax = axes_for(ax)
    first, step = min(shares), 1 + (max(shares) - min(shares)) // _MOST_BARS
    bars: dict[int, float] = {}
    for n_units, share in shares.items():
        bars[(n_units - first) // step] = bars.get((n_units - first) // step, 0.0) + share
    middles = [first + step * i + 0.5 * (step - 1) for i in bars]
    ax.bar(middles, list(bars.values()), width=step, color=color, alpha=0.35, linewidth=0, label="posterior")
    ax.axvline(mean, color=color, linewidth=1.5, label=f"mean, {mean:.1f}")
    ax.locator_params("x", integer=True)
    ax.set(xlabel="width (units)", ylabel="probability" if step == 1 else f"probability of {step} widths")
    return ax
