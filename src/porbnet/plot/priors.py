"""Pictures of priors of one input."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.seeds import RandomState
from porbnet.plot.style import PALETTE, SERIES, axes_for, default_region, prior_grid, require_one_input

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.statement.function_prior import FunctionPrior


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
    grid = prior_grid(prior, X)
    ax = axes_for(ax)
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
    grid = prior_grid(prior, X)
    ax = axes_for(ax)
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
    grid = prior_grid(prior, X)
    allowed = "it must be a sequence of finite numbers of at least 0"
    distances = _checks.real_array("gaps", gaps, allowed)
    if distances.ndim != 1 or distances.size == 0 or np.any(distances < 0):
        raise _checks.fail("gaps", gaps, allowed)
    ax = axes_for(ax)
    for i, gap in enumerate(distances):
        values = np.diagonal(prior.covariance(grid - 0.5 * gap, grid + 0.5 * gap))
        color = PALETTE[SERIES[i % len(SERIES)]]
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
    require_one_input(prior)
    ends = default_region(prior, "interval").bounds[0] if interval is None else interval
    counts = prior.upcrossing_counts(ends, level=level, n=_checks.count("n", n), random_state=random_state)
    mean, rice = float(counts.mean()), prior.upcrossings(ends, level=level)
    ax = axes_for(ax)
    heights = np.bincount(counts) / n
    name = f"draws, mean {mean:.2f}" if label is None else label
    ax.bar(np.arange(len(heights)), heights, width=1.0, color=color, alpha=0.35, linewidth=0, label=name)
    ax.axvline(mean, color=color, linewidth=1.5)
    ax.axvline(rice, color=PALETTE["black"], linewidth=1.0, linestyle="--", label=f"Rice's formula, {rice:.2f}")
    ax.set(xlabel=f"upcrossings of {level:g}", ylabel="share of draws")
    return ax


def _alpha(n: int) -> float:
    """Fewer draws, stronger lines."""
    return float(np.clip(4.0 / n**0.5, 0.15, 1.0))
