"""Maps of a fit of two inputs: mean, sd, lengthscale and noise over the plane, with the data on them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.estimators.names import labels, lengthscale_unit
from porbnet.plot.style import LOG_FROM, along, date_axes, literal, medians, points_of, reach

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from porbnet.estimators.regressor import PoRBNetRegressor

_SAME = 1e-9  # spread over size below which a field is one number
_COLOURS = {"mean": "viridis", "sd of f": "magma", "lengthscale": "cividis", "noise sd": "cividis"}


def maps(model: PoRBNetRegressor, X: Any = None, y: Any = None, axes: Any = None, *, n_side: int = 40) -> Any:
    """Four maps over the plane of two inputs: mean and sd of f, the lengthscale and the noise (posterior medians).

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted to two inputs.
    X, y : arrays of shape (n_points, 2) and (n_points,), optional
        Observations to show: dots, on the map of the mean in the colour of their output.
    axes : array of four matplotlib Axes, optional
        Where to draw; a new figure by default.
    n_side : int, default 40
        Places along each input.

    Returns
    -------
    array of four matplotlib Axes
        Of mean, sd, lengthscale and noise. What is the same everywhere is told in words.
    """
    import matplotlib.pyplot as plt
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "posterior_")
    if model.posterior_.n_dims != 2:
        raise StatementError(f"model has {model.posterior_.n_dims} input(s): maps are for two")
    _checks.count("n_side", n_side, minimum=2)
    if axes is None:
        _, axes = plt.subplots(2, 2, figsize=(8.0, 6.4), sharex=True, sharey=True, layout="constrained")
    axes = np.asarray(axes).ravel()
    if axes.shape != (4,):
        raise _checks.fail("axes", axes, "it must be four Axes, for mean, sd, lengthscale and noise")
    shown = None if X is None else points_of(model, "X", X)
    values = None if y is None else np.ravel(y)
    sides = [np.linspace(*reach(model, d), n_side) for d in range(2)]
    places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    unit = lengthscale_unit(model)
    for (name, field), ax in zip(_fields(model, places).items(), axes, strict=True):
        title = f"lengthscale ({unit})" if name == "lengthscale" and unit else name
        one = _one(model, ax, sides, field.reshape(n_side, n_side).T, name, title, values)
        if shown is not None:
            coloured = name == "mean" and values is not None and not one
            _dots(model, ax, shown, values if coloured else None)
    _frame(model, axes, sides)
    return axes


def _fields(model: PoRBNetRegressor, places: FloatArray) -> dict[str, FloatArray]:
    mean, sd = model.predict(places, return_std=True, of="f")
    posterior = model.posterior_
    return {
        "mean": np.asarray(mean),
        "sd of f": np.asarray(sd),
        "lengthscale": medians(posterior, posterior.lengthscale, places),
        "noise sd": medians(posterior, posterior.noise_at, places),
    }


def _one(
    model: PoRBNetRegressor, ax: Axes, sides: list[FloatArray], field: FloatArray, name: str, title: str, values: Any
) -> bool:
    """A field as a map, or as words if it is one number; returns whether it is."""
    from matplotlib.colors import LogNorm, Normalize

    low, high = float(field.min()), float(field.max())
    ax.set_title(title, loc="left")
    if high - low <= _SAME * abs(high):
        ax.text(0.5, 0.5, f"{high:.4g} everywhere", transform=ax.transAxes, ha="center", va="center",
                bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none"}, zorder=5)  # fmt: skip
        return True
    if name == "mean" and values is not None:
        low, high = min(low, float(np.min(values))), max(high, float(np.max(values)))
    norm = LogNorm(low, high) if name == "lengthscale" and high >= LOG_FROM * low else Normalize(low, high)
    x1, x2 = (along(model, d, side) for d, side in enumerate(sides))
    image = ax.pcolormesh(x1, x2, field, norm=norm, cmap=_COLOURS[name], shading="nearest", rasterized=True)
    bar: Any = ax.figure.colorbar(image, ax=ax)
    bar.outline.set_visible(False)
    return False


def _dots(model: PoRBNetRegressor, ax: Axes, X: FloatArray, values: Any) -> None:
    x1, x2 = (along(model, d, X[:, d]) for d in range(2))
    if values is None:
        ax.scatter(x1, x2, s=6, color="white", edgecolors="black", linewidths=0.4, alpha=0.8)
        return
    image = ax.collections[0]
    ax.scatter(x1, x2, s=14, c=values, cmap=image.cmap, norm=image.norm, edgecolors="white", linewidths=0.5)


def _frame(model: PoRBNetRegressor, axes: Any, sides: list[FloatArray]) -> None:
    names = labels(model)
    for i, ax in enumerate(axes):
        x1, x2 = (along(model, d, side) for d, side in enumerate(sides))
        ax.set(xlim=(x1[0], x1[-1]), ylim=(x2[0], x2[-1]))
        date_axes(model, ax, x=0, y=1)
        ax.set_xlabel(literal(names[0]) if i >= 2 else "")
        ax.set_ylabel(literal(names[1]) if i % 2 == 0 else "")
