"""Pictures of labels and counts: a probability or a rate with its band, and the outcomes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.errors import StatementError
from porbnet.estimators.counts import PoRBNetCountRegressor
from porbnet.estimators.names import labels
from porbnet.plot.bands import lengthscale
from porbnet.plot.style import PALETTE, along, axes_for, date_axes, fitted_grid, literal, points_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.classifier import PoRBNetClassifier


def probability(
    model: PoRBNetClassifier,
    X: Any = None,
    y: Any = None,
    ax: Axes | None = None,
    *,
    grid: Any = None,
    coverage: float = 0.9,
    color: str = PALETTE["blue"],
) -> Axes:
    """The probability of the second of two classes with its band, and the labels as rugs along both edges.

    Parameters
    ----------
    model : PoRBNetClassifier
        Fitted to one input and two classes.
    X, y : arrays of shape (n_points,) or (n_points, 1), and (n_points,), optional
        Observations to show.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    grid : array of shape (n_grid,) or (n_grid, 1), optional
        Increasing inputs; by default the range of the inputs and a little more.
    coverage : float, default 0.9
        Probability of the band at each x.
    color : str
        Of line and band.

    Returns
    -------
    matplotlib Axes
    """
    one: Any = _one_fit(model)
    places = fitted_grid(one, grid)
    x, ax = along(one, 0, places[:, 0]), axes_for(ax)
    low, high = model.predict_interval(places, coverage)[:, 1].T
    ax.fill_between(x, low, high, color=color, alpha=0.3, linewidth=0, label=f"{coverage:.0%} interval")
    ax.plot(x, model.predict_proba(places)[:, 1], color=color, linewidth=1.5, label="probability")
    if X is not None and y is not None:
        shown, codes = along(one, 0, points_of(one, "X", X)[:, 0]), model._codes(y)
        for label, edge in ((0, 0.0), (1, 1.0)):
            at = np.asarray(shown)[codes == label]
            ax.plot(
                at, np.full(len(at), edge), "|", color=PALETTE["black"], markersize=8, alpha=0.4, clip_on=False,
                label="labels" if label else None,
            )  # fmt: skip
    names = labels(one)
    what = names[-1] if names[-1] != "y" else "y"
    ylabel = f"P({what} = {model.classes_[1]})"
    ax.set(xlabel=literal(names[0]), ylabel=literal(ylabel), xlim=(x[0], x[-1]), ylim=(-0.02, 1.02))
    date_axes(one, ax, x=0)
    return ax


def rate(
    model: PoRBNetCountRegressor,
    X: Any = None,
    y: Any = None,
    ax: Axes | None = None,
    *,
    exposure: Any = None,
    grid: Any = None,
    coverage: float = 0.9,
    color: str = PALETTE["blue"],
) -> Axes:
    """The rate of counts with its band, the interval of a new count (light), and counts over their exposures.

    Parameters
    ----------
    model : PoRBNetCountRegressor
        Fitted to one input.
    X, y : arrays of shape (n_points,) or (n_points, 1), and (n_points,), optional
        Observations to show.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    exposure : array of shape (n_points,) or float, optional
        Of the observations: they are shown per unit of it.
    grid : array of shape (n_grid,) or (n_grid, 1), optional
        Increasing inputs; by default the range of the inputs and a little more.
    coverage : float, default 0.9
        Probability of the bands at each x.
    color : str
        Of line and bands.

    Returns
    -------
    matplotlib Axes
        With the interval of a new count only where exposures are all one.
    """
    if not isinstance(model, PoRBNetCountRegressor):
        raise _checks.fail("model", model, "it must be a PoRBNetCountRegressor: this picture is of counts")
    some: Any = model
    places = fitted_grid(some, grid)
    x, ax = along(some, 0, places[:, 0]), axes_for(ax)
    if exposure is None:
        low, high = model.predict_interval(places, coverage).T
        ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0, label=f"{coverage:.0%} of y", step="mid")
    low, high = model.predict_interval(places, coverage, of="rate").T
    ax.fill_between(x, low, high, color=color, alpha=0.35, linewidth=0, label=f"{coverage:.0%} of the rate")
    ax.plot(x, model.predict(places, of="rate"), color=color, linewidth=1.5, label="rate")
    if X is not None and y is not None:
        shown = along(some, 0, points_of(some, "X", X)[:, 0])
        per_unit = np.ravel(y) / (1.0 if exposure is None else np.asarray(exposure))
        ax.plot(shown, per_unit, ".", color=PALETTE["black"], markersize=3, alpha=0.6, label="data")
    names = labels(some)
    ax.set(
        xlabel=literal(names[0]),
        ylabel=literal(f"{names[-1]} per unit of exposure" if exposure is not None else names[-1]),
    )
    ax.set(xlim=(x[0], x[-1]), ylim=(0.0, None))
    date_axes(some, ax, x=0)
    return ax


def _one_fit(model: Any) -> Any:
    """The fit of a classifier of two classes."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "fits_")
    if len(model.fits_) > 1:
        raise StatementError(f"model has {len(model.fits_)} classes: this picture is for two")
    return model.fits_[0]


def chances(model: Any) -> Any:
    """Probability or rate, with the data of the fit, above the lengthscale; for one input.

    Parameters
    ----------
    model : PoRBNetClassifier or PoRBNetCountRegressor
        Fitted to one input; a classifier, to two classes.

    Returns
    -------
    array of two matplotlib Axes
        Of a new figure; with several inputs, of partial dependence of f.
    """
    import matplotlib.pyplot as plt

    from porbnet.plot.partial import partial_dependence

    of_classes = hasattr(model, "fits_")
    fit = _one_fit(model) if of_classes else model
    posterior = fit.posterior_
    X, y = posterior.problem.inputs, posterior.training_outputs
    if posterior.n_dims > 1:
        return partial_dependence(fit)
    _, axes = plt.subplots(2, 1, figsize=(6.4, 4.8), sharex=True, height_ratios=(2.2, 1.0), layout="constrained")
    if of_classes:
        probability(model, X, model.classes_[y.astype(np.int64)], axes[0])
    else:
        rate(model, X, y, axes[0], exposure=posterior.problem.beside_rows)
    axes[0].set_xlabel("")
    axes[0].legend(frameon=False, fontsize=8, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    lengthscale(fit, None, 0.9, axes[1])
    return axes
