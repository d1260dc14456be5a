"""What every picture shares: colours, axes, and the inputs at which curves are shown."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.estimators.inputs import as_numbers
from porbnet.estimators.names import calendars
from porbnet.statement.function_prior import FunctionPrior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.regressor import PoRBNetRegressor

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


def label_some_between(ax: Axes) -> None:
    """On a logarithmic axis of y, numbers at 2 and 5 too, in plain figures: powers of ten alone can be one or none."""
    from matplotlib.ticker import FuncFormatter, LogLocator

    low, high = ax.get_ylim()
    if high < 100.0 * low:
        ax.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def paler(color: str, share: float = 0.45) -> tuple[float, float, float]:
    """A colour mixed with white, for areas that must hide what lies behind them."""
    from matplotlib.colors import to_rgb

    red, green, blue = (1.0 - share * (1.0 - c) for c in to_rgb(color))
    return red, green, blue


def require_one_input(prior: FunctionPrior) -> None:
    """Refuse what is no prior, and a prior of several inputs."""
    if not isinstance(prior, FunctionPrior):
        raise _checks.fail("prior", prior, "it must be a Prior, or one of porbnet.comparison")
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
            f"model has {posterior.n_dims} inputs: this picture is for one; maps are for two, partial_dependence and "
            "slices for any number"
        )
    if grid is not None:
        return increasing("grid", points_of(model, "grid", grid))
    return np.linspace(*reach(model, 0), GRID_POINTS)[:, None]


def reach(model: PoRBNetRegressor, d: int) -> tuple[float, float]:
    """Ends of what is shown of input d: its range and a little more; if it is constant, the region."""
    problem = model.posterior_.problem
    ends = problem.components[0].x[d].min(), problem.components[0].x[d].max()
    low, high = (float(problem.scaling.low[d] + v * problem.scaling.divisor[d]) for v in ends)
    beyond = 0.03 * (high - low) or 0.5 * float(model.prior_.region.widths[d])
    region = model.prior_.region  # beyond it there is nothing to be seen but the prior
    return max(low - beyond, min(low, region.low[d])), min(high + beyond, max(high, region.high[d]))


def points_of(model: PoRBNetRegressor, name: str, X: Any) -> FloatArray:
    """Points as numbers, shape (n_points, n_dims); dates where the fit had dates."""
    if any(c is not None for c in calendars(model)):
        if model.posterior_.n_dims == 1 and np.ndim(X) == 1:
            X = np.asarray(X)[:, None]
        X, _ = as_numbers(X, calendars(model), fitted=True)
        X = np.asarray(X, dtype=np.float64)
    return _checks.points(name, X, model.posterior_.n_dims)


def along(model: PoRBNetRegressor, d: int, x: FloatArray) -> Any:
    """Numbers of input d as an axis shows them: dates where they are dates."""
    calendar = calendars(model)[d]
    return x if calendar is None else calendar.instants(x)


def date_axes(model: PoRBNetRegressor, ax: Axes, x: int | None = None, y: int | None = None) -> None:
    """Short labels for axes of dates; x and y tell which inputs they show."""
    for axis, d in ((ax.xaxis, x), (ax.yaxis, y)):
        if d is not None and calendars(model)[d] is not None:
            from matplotlib import dates as ticks

            kinds: Any = ticks  # untyped
            locator = kinds.AutoDateLocator(minticks=3, maxticks=7)
            axis.set_major_locator(locator)
            axis.set_major_formatter(kinds.ConciseDateFormatter(locator))


def literal(text: str) -> str:
    """A name that matplotlib is not to read as mathematics."""
    return text.replace("\\", "\\\\").replace("$", r"\$") if "$" in text else text


def medians(posterior: Any, curve: Callable[[FloatArray], FloatArray], points: FloatArray) -> FloatArray:
    """Posterior medians of what varies over the inputs at points, shape (n_points,)."""
    return np.concatenate([np.median(curve(points[rows]), axis=0) for rows in posterior.chunks(len(points))])


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
