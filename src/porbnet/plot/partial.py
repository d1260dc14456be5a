"""Pictures of fits of several inputs, one input at a time: partial dependence with bands, and slices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.estimators.names import labels
from porbnet.plot.style import PALETTE, along, axes_for, date_axes, literal, points_of, reach

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_PLACES = 50
_MOST_PANELS = 9
_ROWS, _DRAWS = 60, 200  # of the data, of the posterior


def partial_dependence(
    model: PoRBNetRegressor,
    X: Any = None,
    y: Any = None,
    axes: Any = None,
    *,
    inputs: Any = None,
    coverage: float = 0.9,
    color: str = PALETTE["blue"],
) -> Any:
    """What f does along each input, on average over the others as they are in the data; median and band.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted.
    X : array of shape (n_points, n_dims), optional
        Over whose rows is averaged; the data of the fit by default, 60 rows of them.
    y : array of shape (n_points,), optional
        Outputs to show as dots at their inputs, with X.
    axes : sequence of matplotlib Axes, optional
        Where to draw, one per input; a new figure by default.
    inputs : sequence of int, optional
        Inputs to show, from 0; by default all, or the nine along which the median moves most.
    coverage : float, default 0.9
        Probability of the band at each place.
    color : str
        Of line and band.

    Returns
    -------
    array of matplotlib Axes
    """
    rows, outputs = _data(model, X, y)
    ends = _ends(coverage)
    averaged = rows[np.linspace(0, len(rows) - 1, min(_ROWS, len(rows))).astype(int)]
    curves: dict[int, tuple[FloatArray, FloatArray]] = {}
    for d in _asked(model, inputs):
        places = np.linspace(*reach(model, d), _PLACES)
        points = np.repeat(averaged[None], _PLACES, axis=0)
        points[:, :, d] = places[:, None]
        f = model.sample_f(points.reshape(-1, rows.shape[1]), min(_DRAWS, len(model.posterior_)))
        means = f.reshape(_PLACES, len(averaged), -1).mean(axis=1)
        curves[d] = places, np.quantile(means, [ends[0], 0.5, ends[1]], axis=1)
    if inputs is None and len(curves) > _MOST_PANELS:
        moving = sorted(curves, key=lambda d: -float(np.ptp(curves[d][1][1])))[:_MOST_PANELS]
        curves = {d: curves[d] for d in sorted(moving)}
    axes = _panels(axes, len(curves))
    for ax, (d, (places, band)) in zip(axes, curves.items(), strict=True):
        x = along(model, d, places)
        ax.fill_between(
            x, band[0], band[2], color=color, alpha=0.3, linewidth=0, label=f"{coverage:.0%} of the average"
        )
        ax.plot(x, band[1], color=color, linewidth=1.5, label="f on average")
        _finish(model, ax, d, places, rows, outputs)
    return axes


def slices(
    model: PoRBNetRegressor,
    X: Any = None,
    y: Any = None,
    axes: Any = None,
    *,
    at: Any = None,
    inputs: Any = None,
    coverage: float = 0.9,
    color: str = PALETTE["green"],
) -> Any:
    """The fit along each input while the others stay where they are: mean, intervals of f (dark) and of y (light).

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted.
    X, y : arrays of shape (n_points, n_dims) and (n_points,), optional
        Observations to show as dots; they need not lie in the slice.
    axes : sequence of matplotlib Axes, optional
        Where to draw, one per input; a new figure by default.
    at : array of shape (n_dims,), optional
        Where the slices cross; the median of each input by default.
    inputs : sequence of int, optional
        Inputs to show, from 0; by default the first nine.
    coverage : float, default 0.9
        Probability of the intervals at each place.
    color : str
        Of mean and intervals.

    Returns
    -------
    array of matplotlib Axes
    """
    rows, outputs = _data(model, X, y)
    _ends(coverage)
    n_dims = rows.shape[1]
    centre = np.median(rows, axis=0) if at is None else points_of(model, "at", np.asarray(at).reshape(1, -1))[0]
    chosen = _asked(model, inputs)
    chosen = chosen[:_MOST_PANELS] if inputs is None else chosen
    axes = _panels(axes, len(chosen))
    for ax, d in zip(axes, chosen, strict=True):
        places = np.linspace(*reach(model, d), _PLACES)
        points = np.tile(centre, (_PLACES, 1)).reshape(_PLACES, n_dims)
        points[:, d] = places
        x = along(model, d, places)
        for of, alpha in (("y", 0.15), ("f", 0.35)):
            low, high = model.predict_interval(points, coverage, of=of).T
            ax.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0, label=f"{coverage:.0%} of {of}")
        ax.plot(x, model.predict(points), color=color, linewidth=1.5, label="mean of f")
        _finish(model, ax, d, places, rows, outputs)
    return axes


def _data(model: PoRBNetRegressor, X: Any, y: Any) -> tuple[FloatArray, Any]:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "posterior_")
    rows = model.posterior_.problem.inputs if X is None else points_of(model, "X", X)
    return rows, None if y is None or X is None else np.ravel(y)


def _ends(coverage: float) -> tuple[float, float]:
    if _checks.positive("coverage", coverage) >= 1.0:
        raise _checks.fail("coverage", coverage, "it must be a number between 0 and 1")
    return 0.5 - coverage / 2.0, 0.5 + coverage / 2.0


def _asked(model: PoRBNetRegressor, inputs: Any) -> list[int]:
    n_dims = model.posterior_.n_dims
    allowed = f"it must be whole numbers from 0 to {n_dims - 1}"
    if inputs is None:
        return list(range(n_dims))
    chosen = np.ravel(_checks.real_array("inputs", inputs, allowed))
    if not len(chosen) or np.any(chosen != np.floor(chosen)) or chosen.min() < 0 or chosen.max() >= n_dims:
        raise _checks.fail("inputs", inputs, allowed)
    return [int(d) for d in chosen]


def _panels(axes: Any, n: int) -> Any:
    import matplotlib.pyplot as plt

    if axes is None:
        n_columns = min(3, n)
        n_rows = -(-n // n_columns)
        size = (2.7 * n_columns, 2.2 * n_rows)
        figure, grid = plt.subplots(n_rows, n_columns, figsize=size, sharey=True, squeeze=False, layout="constrained")
        for unused in grid.ravel()[n:]:
            figure.delaxes(unused)
        axes = grid.ravel()[:n]
    axes = np.asarray(axes).ravel()
    if axes.shape != (n,):
        raise _checks.fail("axes", axes, f"it must be {n} Axes, one per input")
    return axes


def _finish(model: PoRBNetRegressor, ax: Any, d: int, places: FloatArray, rows: FloatArray, outputs: Any) -> None:
    names = labels(model)
    if outputs is not None:
        style: dict[str, Any] = {"color": PALETTE["black"], "markersize": 2.5, "alpha": 0.35, "zorder": 1}
        ax.plot(along(model, d, rows[:, d]), outputs, ".", label="data", **style)
    x = along(model, d, places)
    axes_for(ax)
    ax.set(xlim=(x[0], x[-1]), xlabel=literal(names[d]))
    date_axes(model, ax, x=d)
    if ax.get_subplotspec() is None or ax.get_subplotspec().is_first_col():
        ax.set_ylabel(literal(names[-1]))
