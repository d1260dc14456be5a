"""What every picture shares: colours, axes, and the inputs at which curves are shown."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.errors import StatementError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.regressor import PoRBNetRegressor
    from porbnet.statement.function_prior import FunctionPrior

PALETTE = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "vermillion": "#D55E00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "yellow": "#F0E442",
    "black": "#000000",
}
"""The palette of Okabe and Ito (2008)."""

SERIES = ("blue", "vermillion", "green", "orange", "purple", "sky", "black")
GRID_POINTS = 400
LOG_FROM = 10.0  # ratio of largest to smallest value from which an axis of a positive quantity is logarithmic


def axes_for(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, with the frame reduced to two sides."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(4.8, 3.0), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def paler(color: str, share: float = 0.45) -> tuple[float, float, float]:
    """A colour mixed with white, for areas that must hide what lies behind them."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1.0 - share * (1.0 - c) for c in to_rgb(color))
    return red, green, blue


def require_one_input(prior: FunctionPrior) -> None:
    """Refuse a prior of several inputs."""
    if prior.n_dims != 1:
        raise StatementError(
            f"prior has {prior.n_dims} input dimensions: this picture is for one; "
            "for more, evaluate prior.sample or prior.covariance along a line of points"
        )


def default_region(prior: FunctionPrior, name: str) -> Region:
    """The prior's own region; an error that names the parameter to give if there is none."""
    region = getattr(prior, "region", None)
    if not isinstance(region, Region):
        raise _checks.fail(name, None, f"{type(prior).__name__} has no region of its own, so it must be given")
    return region


def prior_grid(prior: FunctionPrior, X: Any) -> FloatArray:
    """Points of shape (n_points, 1): those given, or a grid over the prior's region."""
    require_one_input(prior)
    if X is None:
        low, high = default_region(prior, "X").bounds[0]
        return np.linspace(low, high, GRID_POINTS)[:, None]
    return increasing("X", X)


def fitted_grid(model: PoRBNetRegressor, grid: Any) -> FloatArray:
    """Points of shape (n_points, 1): those given, or a grid over the inputs of a fit and a little more."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "posterior_")
    posterior = model.posterior_
    if posterior.n_dims != 1:
        raise StatementError(
            f"model has {posterior.n_dims} inputs: this picture is for one; for more, predict along a line of points"
        )
    if grid is not None:
        return increasing("grid", grid)
    problem = posterior.problem
    low, high = (float(v) for v in problem.scaling.centers(problem.components[0].x[0, [0, -1], None])[:, 0])
    beyond = 0.03 * (high - low) or 0.5 * float(model.prior_.region.widths[0])
    return np.linspace(low - beyond, high + beyond, GRID_POINTS)[:, None]


def increasing(name: str, X: Any) -> FloatArray:
    """Inputs of shape (n_points, 1) in increasing order, two at least."""
    points = _checks.points(name, X, 1)
    if len(points) < 2 or np.any(np.diff(points[:, 0]) <= 0):
        raise _checks.fail(name, X, "it must hold at least two inputs, in increasing order")
    return points


@contextlib.contextmanager
def canvas(style: dict[Any, Any]) -> Iterator[Any]:
    """matplotlib.pyplot with settings of its own, without a window; figures are closed at the end."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    with plt.rc_context(style):
        try:
            yield plt
        finally:
            plt.close("all")
