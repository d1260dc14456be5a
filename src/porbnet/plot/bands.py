"""Pictures of lengthscale, intensity and noise against the input, of priors and of fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.estimators.names import labels, lengthscale_unit
from porbnet.plot.fits import fit
from porbnet.plot.style import (
    LOG_FROM,
    PALETTE,
    along,
    axes_for,
    date_axes,
    fitted_grid,
    label_some_between,
    literal,
    prior_grid,
)
from porbnet.statement.prior import Prior

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.regressor import PoRBNetRegressor


def lengthscale(
    prior: Prior | PoRBNetRegressor,
    X: Any = None,
    coverage: float = 0.9,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["green"],
) -> Axes:
    """The lengthscale against x: as stated; where it is unknown, the median and a band, of the prior or of a fit.

    Parameters
    ----------
    prior : Prior or PoRBNetRegressor
        A prior, or a fitted model; of one input dimension.
    X : array of shape (n_points,) or (n_points, 1), optional
        Increasing inputs; by default the prior's region, or the inputs of a fit and a little more.
    coverage : float, default 0.9
        Probability of the band at each x.
    ax : matplotlib Axes, optional
        Where to draw; a new figure by default.
    color : str
        Of line and band.

    Returns
    -------
    matplotlib Axes
        With a logarithmic axis where the values shown span a factor of ten or more.
    """
    if isinstance(prior, Prior):
        stated: Prior = prior
        grid, ends = prior_grid(stated, X), _ends(coverage)
        quantiles = None if stated.intensity.known else stated.lengthscale_at(grid, quantiles=ends).T
        return _drawn(ax, grid, stated.lengthscale_at(grid), quantiles, coverage, color, "lengthscale", "prior")
    grid, unit = fitted_grid(prior, X), lengthscale_unit(prior)
    name = f"lengthscale ({unit})" if unit else "lengthscale"
    return _of_fit(prior, ax, grid, prior.posterior_.lengthscale(grid), coverage, color, name)


def intensity(
    prior: Prior | PoRBNetRegressor,
    X: Any = None,
    coverage: float = 0.9,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["purple"],
) -> Axes:
    """The intensity (units per unit of input) against x: as stated; where it is unknown, the median and a band.

    Parameters
    ----------
    prior, X, coverage, ax, color
        As in `lengthscale`.

    Returns
    -------
    matplotlib Axes
        With a logarithmic axis where the values shown span a factor of ten or more.
    """
    name = "intensity (units per unit of x)"
    if isinstance(prior, Prior):
        stated: Prior = prior
        grid, ends = prior_grid(stated, X), _ends(coverage)
        quantiles = None if stated.intensity.known else stated.intensity_at(grid, quantiles=ends).T
        return _drawn(ax, grid, stated.intensity_at(grid), quantiles, coverage, color, name, "prior")
    grid, unit = fitted_grid(prior, X), lengthscale_unit(prior)
    name = f"intensity (units per {unit.removesuffix('s')})" if unit else name
    return _of_fit(prior, ax, grid, prior.posterior_.intensity(grid), coverage, color, name)


def noise(
    model: PoRBNetRegressor,
    X: Any = None,
    coverage: float = 0.9,
    ax: Axes | None = None,
    *,
    color: str = PALETTE["orange"],
) -> Axes:
    """The noise of a fit against x: posterior median of its standard deviation (scale, if "robust"), and a band.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted to one input.
    X, coverage, ax, color
        As in `lengthscale`.

    Returns
    -------
    matplotlib Axes
        With a logarithmic axis where the values shown span a factor of ten or more.
    """
    grid = fitted_grid(model, X)
    return _of_fit(model, ax, grid, model.posterior_.noise_at(grid), coverage, color, "noise sd")


def _ends(coverage: float) -> list[float]:
    coverage = _checks.positive("coverage", coverage)
    if coverage >= 1.0:
        raise _checks.fail("coverage", coverage, "it must be a number between 0 and 1")
    return [0.5 - coverage / 2.0, 0.5 + coverage / 2.0]


def _of_fit(
    model: PoRBNetRegressor,
    ax: Axes | None,
    grid: FloatArray,
    draws: FloatArray,
    coverage: float,
    color: str,
    name: str,
) -> Axes:
    """Median and band of draws at the grid, shape (n_draws, n_points); a line alone if they are all the same."""
    low, high = _ends(coverage)
    values = np.quantile(draws, [low, 0.5, high], axis=0)
    same = np.all(np.ptp(draws, axis=0) <= 1e-12 * np.abs(values[1]))
    band = None if same else values[::2]
    ax = _drawn(ax, grid, values[1], band, coverage, color, name, "posterior", along(model, 0, grid[:, 0]))
    ax.set_xlabel(literal(labels(model)[0]))
    date_axes(model, ax, x=0)
    return ax


def _drawn(
    ax: Axes | None,
    grid: FloatArray,
    middle: FloatArray,
    band: FloatArray | None,
    coverage: float,
    color: str,
    name: str,
    source: str,
    x: Any = None,
) -> Axes:
    ax = axes_for(ax)
    x, shown = grid[:, 0] if x is None else x, middle if band is None else band
    label = name.split(" (")[0] if band is None else f"{source} median"
    ax.plot(x, middle, color=color, linewidth=1.5, label=label)
    if band is not None:
        ax.fill_between(x, *band, color=color, alpha=0.2, linewidth=0, label=f"{coverage:.0%} of the {source}")
    if shown.max() >= LOG_FROM * shown.min():
        ax.set_yscale("log")
        label_some_between(ax)
    else:
        ax.set_ylim(0.0, 1.15 * float(shown.max()))
    ax.set(xlabel="x", ylabel=name, xlim=(x[0], x[-1]))
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

    places = fitted_grid(model, grid)
    if axes is None:
        _, axes = plt.subplots(
            3, 1, figsize=(6.4, 6.4), sharex=True, height_ratios=(2.2, 1.0, 1.0), layout="constrained"
        )
    axes = np.asarray(axes)
    if axes.shape != (3,):
        raise _checks.fail("axes", axes, "it must be three Axes, for the fit, the lengthscale and the noise")
    fit(model, X, y, axes[0], grid=places, coverage=coverage)
    axes[0].set_xlabel("")
    lengthscale(model, places, coverage, axes[1])
    noise(model, places, coverage, axes[2])
    axes[1].set_xlabel("")
    return axes
