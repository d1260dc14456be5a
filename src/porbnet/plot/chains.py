"""Pictures of the chains, by arviz-plots: traces and rank histograms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.plot.style import PALETTE, SERIES

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_COLUMNS = 4
_VISUALS: dict[str, dict[str, Any]] = {
    "plot_trace": {"trace": {"alpha": 0.6, "width": 0.5}},
    "plot_rank": {"ecdf_lines": {"width": 1.0}},
}
EXTRA = 'pictures of chains need arviz-plots: pip install "porbnet[arviz]"'


def trace(model: PoRBNetRegressor, names: Sequence[str] | None = None) -> Any:
    """Draws of each quantity in order, a colour per chain: chains that agree look like one band.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted.
    names : sequence of str, optional
        Quantities of `model.diagnostics_` by name; by default all, of f and of curves at three places.

    Returns
    -------
    array of matplotlib Axes
        One per quantity, of a new figure.
    """
    return _picture("plot_trace", model, names)


def rank(model: PoRBNetRegressor, names: Sequence[str] | None = None) -> Any:
    """Ranks of each chain's draws among all, as differences of distribution functions: inside the band if chains agree.

    Parameters
    ----------
    model, names
        As in `trace`.

    Returns
    -------
    array of matplotlib Axes
        One per quantity, of a new figure.
    """
    return _picture("plot_rank", model, names)


def _picture(kind: str, model: PoRBNetRegressor, names: Sequence[str] | None) -> Any:
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "posterior_")
    try:
        import arviz_base
        import arviz_plots
    except ImportError as error:
        raise ImportError(EXTRA) from error

    from porbnet.posterior.diagnostics import quantities

    posterior = model.posterior_
    values = quantities(posterior)
    chosen = _default(list(values)) if names is None else list(names)
    for name in chosen:
        _checks.choice("names", name, list(values))
    tree = arviz_base.from_dict({"posterior": {name: posterior.by_chain(values[name]) for name in chosen}})
    n_rows = -(-len(chosen) // _COLUMNS)
    figure = getattr(arviz_plots, kind)(
        tree,
        backend="matplotlib",
        aes={"color": ["chain"]},
        color=[PALETTE[SERIES[i % len(SERIES)]] for i in range(posterior.n_chains)],
        col_wrap=_COLUMNS,
        figure_kwargs={"figsize": (2.4 * min(_COLUMNS, len(chosen)), 1.7 * n_rows), "layout": "constrained"},
        visuals=_VISUALS[kind],
    )
    return np.array([figure.viz["plot"][name].item() for name in chosen])


def _default(names: list[str]) -> list[str]:
    """Single quantities, and first, middle and last of those at several places."""
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(name.split("[")[0], []).append(name)
    shown = []
    for family in families.values():
        places = sorted({0, len(family) // 2, len(family) - 1})
        shown += [family[i] for i in places]
    return shown
