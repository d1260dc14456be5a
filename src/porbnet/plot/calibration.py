"""Pictures of how well stated probabilities hold: PIT histogram, coverage curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import binom

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.plot.style import PALETTE, axes_for, paler
from porbnet.posterior import mixture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.regressor import PoRBNetRegressor

_BAND = 0.95  # probability of the grey bands: where a calibrated fit lies at a place


def pit(
    model: PoRBNetRegressor,
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    n_bins: int = 10,
    color: str = PALETTE["blue"],
) -> Axes:
    """Histogram of the probability integral transform F(y | x) of observations: flat if the fit is calibrated.

    A hump in the middle: intervals are too wide; heaps at the ends: too narrow; a slope: predictions are off to one
    side. The grey band holds a calibrated fit's bar with probability 95 %.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted, to any number of inputs.
    X, y : arrays of shape (n_points, n_features) and (n_points,)
        Observations; new ones, or the picture will be too kind.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    n_bins : int, default 10
        Number of bars.
    color : str
        Of the bars.

    Returns
    -------
    matplotlib Axes
    """
    n_bins = _checks.count("n_bins", n_bins, minimum=2)
    values = probabilities(model, X, y)
    ax = axes_for(ax)
    edges = np.linspace(0.0, 1.0, n_bins + 1)
    heights = np.histogram(values, edges)[0] * n_bins / len(values)
    low, high = binom.interval(_BAND, len(values), 1.0 / n_bins) * np.array(n_bins / len(values))
    ax.axhspan(low, high, color=PALETTE["black"], alpha=0.1, linewidth=0, label=f"{_BAND:.0%} if calibrated")
    faces: dict[str, Any] = {"facecolor": paler(color), "edgecolor": "white", "linewidth": 0.8}
    ax.bar(edges[:-1], heights, 1.0 / n_bins, align="edge", label="observations", **faces)
    for end in (low, high):
        ax.axhline(end, color=PALETTE["black"], alpha=0.4, linewidth=0.8)
    ax.axhline(1.0, color=PALETTE["black"], linewidth=0.8, linestyle="--")
    top = 1.15 * max(float(heights.max()), float(high), 1.0)
    ax.set(xlabel="PIT, F(y | x)", ylabel="density", xlim=(0.0, 1.0), ylim=(0.0, top))
    return ax


def coverage(
    model: PoRBNetRegressor,
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["blue"],
    label: str = "fit",
) -> Axes:
    """Share of observations inside central intervals against the intervals' stated probability.

    On the diagonal: calibrated; below it: too sure; above it: too cautious. The grey band holds a calibrated fit's
    share at each probability in 95 % of cases.

    Parameters
    ----------
    model, X, y, ax, color
        As in `pit`.
    label : str
        Name of the line in a legend.

    Returns
    -------
    matplotlib Axes
    """
    values = probabilities(model, X, y)
    ax = axes_for(ax)
    stated = np.linspace(0.0, 1.0, 101)
    inside = np.sort(2.0 * np.abs(values - 0.5))  # the least central interval that holds the observation
    shares = np.searchsorted(inside, stated, side="right") / len(inside)
    low, high = np.array(binom.interval(_BAND, len(values), stated)) / len(values)
    low[[0, -1]], high[[0, -1]] = stated[[0, -1]], stated[[0, -1]]
    ax.fill_between(
        stated, low, high, color=PALETTE["black"], alpha=0.1, linewidth=0, label=f"{_BAND:.0%} if calibrated"
    )
    ax.plot([0.0, 1.0], [0.0, 1.0], color=PALETTE["black"], linewidth=0.8, linestyle="--")
    ax.plot(stated, shares, color=color, linewidth=1.5, label=label)
    ax.set(xlabel="stated probability", ylabel="share of observations inside", xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    ax.set_aspect("equal")
    return ax


def probabilities(model: PoRBNetRegressor, X: Any, y: Any) -> FloatArray:
    """F(y | x) under the posterior predictive, shape (n_points,)."""
    points = model._points(X)
    allowed = f"it must be {len(points)} finite numbers, one per row of X"
    values = _checks.real_array("y", y, allowed).ravel()
    if len(values) != len(points):
        raise _checks.fail("y", y, allowed)
    result = np.empty(len(points))
    for rows, parts in model.posterior_.predictive(points, "y", model.n_jobs):
        result[rows] = mixture.distribution(values[rows], parts.mean, parts.variance, parts.weights)
    return result
