"""Pictures of priors and fits of one input: axes in, axes out, colours safe for colour-blind readers.

matplotlib is imported when a picture is made, not before; it comes with `pip install porbnet[plot]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet import _checks
from porbnet._checks import FloatArray
from porbnet._random import RandomState
from porbnet.errors import StatementError
from porbnet.region import Region

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimator import PoRBNetRegressor
    from porbnet.model.function_prior import FunctionPrior
    from porbnet.model.prior import Prior

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

_SERIES = ("blue", "vermillion", "green", "orange", "purple", "sky", "black")
_GRID_POINTS = 400
_LOG_FROM = 10.0  # ratio of largest to smallest lengthscale from which its axis is logarithmic


def prior_draws(
    prior: FunctionPrior,
    X: Any = None,
    n: int = 50,
    random_state: RandomState = 0,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["blue"],
) -> Axes:
    """Functions drawn from a prior, over a band of ±2 standard deviations by formula.

    Parameters
    ----------
    prior : Prior or any comparison prior
        Of one input dimension.
    X : array of shape (n_points,) or (n_points, 1), optional
        Increasing inputs; the prior's region by default.
    n : int
        Number of functions.
    random_state : int, Generator, SeedSequence, RandomState or None
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    color : str
        Colour of the draws and of the band.

    Returns
    -------
    matplotlib Axes
    """
    grid = _grid(prior, X)
    ax = _axes(ax)
    n = _checks.count("n", n)
    spread = 2.0 * np.sqrt(prior.variance(grid))
    x = grid[:, 0]
    ax.fill_between(x, -spread, spread, color=color, alpha=0.12, linewidth=0, label="±2 sd")
    lines = ax.plot(x, prior.sample(grid, n, random_state).T, color=color, alpha=_alpha(n), linewidth=0.7)
    lines[0].set_label("draws" if n > 1 else "draw")
    ax.set(xlabel="x", ylabel="f(x)", xlim=(x[0], x[-1]))
    return ax


def prior_variance(
    prior: FunctionPrior,
    X: Any = None,
    n: int = 0,
    random_state: RandomState = 0,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["blue"],
    label: str = "formula",
) -> Axes:
    """Prior variance of f against x by formula, and if n > 0 also as estimated from n draws.

    Parameters
    ----------
    prior, X, random_state, ax, color
        As in `prior_draws`.
    n : int, default 0
        Number of draws for an estimate shown beside the formula; they are drawn in chunks, so n may be large.
    label : str
        Name of the line in a legend.

    Returns
    -------
    matplotlib Axes
    """
    grid = _grid(prior, X)
    ax = _axes(ax)
    ax.plot(grid[:, 0], prior.variance(grid), color=color, linewidth=1.5, label=label)
    if _checks.count("n", n, minimum=0):
        squares = np.zeros(len(grid))
        for chunk in prior.sample_chunks(grid, n, random_state):
            squares += np.sum(chunk**2, axis=0)
        ax.plot(grid[:, 0], squares / n, color=color, linewidth=0.8, linestyle="--", label=f"{n:,} draws")
    ax.set(xlabel="x", ylabel="Var f(x)", xlim=(grid[0, 0], grid[-1, 0]))
    ax.set_ylim(bottom=0.0)
    return ax


def covariogram(
    prior: FunctionPrior,
    gaps: Sequence[float] = (0.0, 1.0, 2.0),
    X: Any = None,
    ax: Axes | None = None,
    *,
    linestyle: str = "-",
) -> Axes:
    """Cov(f(x - h/2), f(x + h/2)) against the midpoint x, one line per gap h.

    Flat lines mean a stationary prior; where a line sags, f forgets faster.

    Parameters
    ----------
    prior, X, ax
        As in `prior_draws`; X holds the midpoints.
    gaps : sequence of float
        Distances h, at least 0, in the units of the input. The line of h = 0 is the variance.
    linestyle : str
        Of all lines, to tell two priors apart on the same axes.

    Returns
    -------
    matplotlib Axes
    """
    grid = _grid(prior, X)
    allowed = "it must be a sequence of finite numbers of at least 0"
    distances = _checks.real_array("gaps", gaps, allowed)
    if distances.ndim != 1 or distances.size == 0 or np.any(distances < 0):
        raise _checks.fail("gaps", gaps, allowed)
    ax = _axes(ax)
    for i, gap in enumerate(distances):
        values = np.diagonal(prior.covariance(grid - 0.5 * gap, grid + 0.5 * gap))
        color = PALETTE[_SERIES[i % len(_SERIES)]]
        ax.plot(grid[:, 0], values, color=color, linewidth=1.5, linestyle=linestyle, label=f"h = {gap:g}")
    ax.set(xlabel="x", ylabel="Cov(f(x − h/2), f(x + h/2))", xlim=(grid[0, 0], grid[-1, 0]))
    return ax


def upcrossing_histogram(
    prior: FunctionPrior,
    interval: Any = None,
    level: float = 0.0,
    n: int = 2000,
    random_state: RandomState = 0,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["blue"],
    label: str | None = None,
) -> Axes:
    """How often draws cross a level from below: a histogram, its mean, and Rice's formula for the matching GP.

    Parameters
    ----------
    prior, random_state, ax, color
        As in `prior_draws`.
    interval : (low, high), optional
        Where crossings are counted, in the units of the input; the prior's region by default.
    level : float
        In the units of the output.
    n : int
        Number of draws.
    label : str, optional
        Name of the histogram in a legend; the mean count by default.

    Returns
    -------
    matplotlib Axes
    """
    _require_one_input(prior)
    ends = _default_region(prior, "interval").bounds[0] if interval is None else interval
    counts = prior.upcrossing_counts(ends, level=level, n=_checks.count("n", n), random_state=random_state)
    mean, rice = float(counts.mean()), prior.upcrossings(ends, level=level)
    ax = _axes(ax)
    heights = np.bincount(counts) / n
    name = f"draws, mean {mean:.2f}" if label is None else label
    ax.bar(np.arange(len(heights)), heights, width=1.0, color=color, alpha=0.35, linewidth=0, label=name)
    ax.axvline(mean, color=color, linewidth=1.5)
    ax.axvline(rice, color=PALETTE["black"], linewidth=1.0, linestyle="--", label=f"Rice's formula, {rice:.2f}")
    ax.set(xlabel=f"upcrossings of {level:g}", ylabel="share of draws")
    return ax


def lengthscale(
    prior: Prior,
    X: Any = None,
    coverage: float = 0.9,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["green"],
) -> Axes:
    """The stated lengthscale against x; where it is unknown, its prior median and a band of prior quantiles.

    Parameters
    ----------
    prior : Prior
        Of one input dimension.
    X, ax, color
        As in `prior_draws`.
    coverage : float, default 0.9
        Prior probability of the band at each x.

    Returns
    -------
    matplotlib Axes
        With a logarithmic axis where the values shown span a factor of ten or more.
    """
    grid = _grid(prior, X)
    coverage = _checks.positive("coverage", coverage)
    if coverage >= 1.0:
        raise _checks.fail("coverage", coverage, "it must be a number between 0 and 1")
    ax = _axes(ax)
    x, shown = grid[:, 0], prior.lengthscale_at(grid)
    ax.plot(x, shown, color=color, linewidth=1.5, label="lengthscale" if prior.intensity.known else "prior median")
    if not prior.intensity.known:
        band = prior.lengthscale_at(grid, quantiles=[0.5 - coverage / 2.0, 0.5 + coverage / 2.0])
        ax.fill_between(x, *band.T, color=color, alpha=0.15, linewidth=0, label=f"{coverage:.0%} of the prior")
        shown = band
    if shown.max() >= _LOG_FROM * shown.min():
        ax.set_yscale("log")
    else:
        ax.set_ylim(0.0, 1.15 * float(shown.max()))
    ax.set(xlabel="x", ylabel="lengthscale", xlim=(x[0], x[-1]))
    return ax


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
    places = _fitted_grid(model, grid)
    x = places[:, 0]
    ax = _axes(ax)
    for of, alpha in (("y", 0.15), ("f", 0.35)):
        low, high = model.predict_interval(places, coverage, of=of).T
        ax.fill_between(x, low, high, color=color, alpha=alpha, linewidth=0, label=f"{coverage:.0%} of {of}")
    ax.plot(x, model.predict(places), color=color, linewidth=1.5, label="mean of f")
    if X is not None and y is not None:
        shown = _checks.points("X", X, 1)[:, 0]
        ax.plot(shown, np.ravel(y), ".", color=PALETTE["black"], markersize=3, alpha=0.7, label="data")
    if _checks.count("n_rug", n_rug, minimum=0):
        centers = model.sample_functions(min(n_rug, len(model.posterior_))).centers[:, 0]
        centers = centers[(centers >= x[0]) & (centers <= x[-1])]
        style: dict[str, Any] = {"marker": "|", "linestyle": "none", "markersize": 8, "alpha": 0.25, "clip_on": False}
        edge = ax.get_xaxis_transform()
        ax.plot(centers, np.zeros(len(centers)), color=PALETTE["vermillion"], transform=edge, label="units", **style)
    ax.set(xlabel="x", ylabel="y", xlim=(x[0], x[-1]))
    return ax


def width(model: PoRBNetRegressor, ax: Axes | None = None, *, color: str = PALETTE["blue"]) -> Axes:
    """The posterior distribution of the width (number of units), and its mean.

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
    shares = model.width_distribution()
    mean = float(model.posterior_.n_units.mean())
    ax = _axes(ax)
    ax.bar(list(shares), list(shares.values()), width=1.0, color=color, alpha=0.35, linewidth=0, label="posterior")
    ax.axvline(mean, color=color, linewidth=1.5, label=f"mean, {mean:.1f}")
    ax.set(xlabel="width (units)", ylabel="probability")
    return ax


def curves(
    model: PoRBNetRegressor,
    X: Any = None,
    y: Any = None,
    axes: Any = None,
    *,
    grid: Any = None,
    coverage: float = 0.9,
) -> Any:
    """A fit in three panels: the function with its units, the learned lengthscale, and the noise.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted to one input.
    X, y : arrays of shape (n_points,) or (n_points, 1), and (n_points,), optional
        Observations to show.
    axes : sequence of three matplotlib Axes, optional
        Where to draw; a new figure by default.
    grid : array of shape (n_grid,) or (n_grid, 1), optional
        Increasing inputs at which the fit is shown.
    coverage : float, default 0.9
        Probability of the intervals at each x.

    Returns
    -------
    array of three matplotlib Axes
    """
    import matplotlib.pyplot as plt

    places = _fitted_grid(model, grid)
    if axes is None:
        _, axes = plt.subplots(
            3, 1, figsize=(6.4, 6.4), sharex=True, height_ratios=(2.2, 1.0, 1.0), layout="constrained"
        )
    axes = np.asarray(axes)
    if axes.shape != (3,):
        raise _checks.fail("axes", axes, "it must be three Axes, for the fit, the lengthscale and the noise")
    fit(model, X, y, axes[0], grid=places, coverage=coverage)
    axes[0].set_xlabel("")
    x = places[:, 0]
    shown = (
        (axes[1], model.lengthscale_at(places, coverage), "lengthscale", "green"),
        (axes[2], model.noise_at(places, coverage), "noise sd", "orange"),
    )
    for ax, band, name, color in shown:
        style: dict[str, Any] = {"color": PALETTE[color], "alpha": 0.3, "linewidth": 0}
        ax.fill_between(x, band.lower, band.upper, label=f"{coverage:.0%}", **style)
        ax.plot(x, band.mean, color=PALETTE[color], linewidth=1.5, label="mean")
        ax.set(ylabel=name, yscale="log")
    axes[2].set_xlabel("x")
    return axes


def _fitted_grid(model: PoRBNetRegressor, grid: Any) -> FloatArray:
    """Points of shape (n_points, 1): those given, or a grid over the inputs of a fit and a little more."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "posterior_")
    posterior = model.posterior_
    if posterior.n_dims != 1:
        raise StatementError(
            f"model has {posterior.n_dims} inputs: this picture is for one; for more, predict along a line of points"
        )
    if grid is not None:
        return _increasing("grid", grid)
    inputs = posterior.problem.scaling.centers(posterior.problem.data.x.T)[:, 0]
    low, high = float(inputs.min()), float(inputs.max())
    beyond = 0.03 * (high - low) or 0.5 * float(model.prior_.region.widths[0])
    return np.linspace(low - beyond, high + beyond, _GRID_POINTS)[:, None]


def _axes(ax: Axes | None) -> Axes:
    """The axes given, or those of a new figure, with the frame reduced to two sides."""
    if ax is None:
        import matplotlib.pyplot as plt

        _, ax = plt.subplots(figsize=(4.8, 3.0), layout="constrained")
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def _alpha(n: int) -> float:
    """Fewer draws, stronger lines."""
    return float(np.clip(4.0 / n**0.5, 0.15, 1.0))


def _require_one_input(prior: FunctionPrior) -> None:
    if prior.n_dims != 1:
        raise StatementError(
            f"prior has {prior.n_dims} input dimensions: this picture is for one; "
            "for more, evaluate prior.sample or prior.covariance along a line of points"
        )


def _default_region(prior: FunctionPrior, name: str) -> Region:
    region = getattr(prior, "region", None)
    if not isinstance(region, Region):
        raise _checks.fail(name, None, f"{type(prior).__name__} has no region of its own, so it must be given")
    return region


def _grid(prior: FunctionPrior, X: Any) -> FloatArray:
    """Points of shape (n_points, 1): those given, or a grid over the prior's region."""
    _require_one_input(prior)
    if X is None:
        low, high = _default_region(prior, "X").bounds[0]
        return np.linspace(low, high, _GRID_POINTS)[:, None]
    return _increasing("X", X)


def _increasing(name: str, X: Any) -> FloatArray:
    points = _checks.points(name, X, 1)
    if len(points) < 2 or np.any(np.diff(points[:, 0]) <= 0):
        raise _checks.fail(name, X, "it must hold at least two inputs, in increasing order")
    return points
