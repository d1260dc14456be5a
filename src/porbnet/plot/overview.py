"""The picture that suits a fit, by the number of its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from porbnet.plot.bands import curves
from porbnet.plot.maps import maps
from porbnet.plot.partial import partial_dependence

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor


def overview(model: PoRBNetRegressor) -> Any:
    """One input: `curves`; two: `maps`; more: `partial_dependence`; each with the data of the fit.

    Parameters
    ----------
    model : PoRBNetRegressor
        Fitted.

    Returns
    -------
    array of matplotlib Axes
        Of a new figure.
    """
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(model, "posterior_")
    posterior = model.posterior_
    draw: Any = {1: curves, 2: maps}.get(posterior.n_dims, partial_dependence)
    X, y = posterior.problem.inputs, posterior.training_outputs
    axes = draw(model, X, y)
    if posterior.n_dims == 1:
        axes[0].legend(frameon=False, fontsize=8, ncols=5, loc="lower center", bbox_to_anchor=(0.5, 1.0))
    return axes
