"""Bayesian regression with Poisson-process radial basis function networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from porbnet import distributions, errors, intensity
from porbnet.distributions import Gamma, InverseGamma, LogNormal
from porbnet.errors import PorbnetError, PorbnetWarning, StatementError, StatementWarning
from porbnet.model.network import Network, Networks
from porbnet.model.prior import Prior

if TYPE_CHECKING:
    from porbnet import comparison, datasets, plot
    from porbnet.estimator import PoRBNetRegressor
    from porbnet.inference.paper.options import PaperSampler

__version__ = "0.1.0"

__all__ = [
    "Gamma",
    "InverseGamma",
    "LogNormal",
    "Network",
    "Networks",
    "PaperSampler",
    "PoRBNetRegressor",
    "PorbnetError",
    "PorbnetWarning",
    "Prior",
    "StatementError",
    "StatementWarning",
    "comparison",
    "datasets",
    "distributions",
    "errors",
    "intensity",
    "plot",
]

# imported when first asked for, so that `import porbnet` stays fast
_LAZY = {"PaperSampler": "porbnet.inference.paper.options", "PoRBNetRegressor": "porbnet.estimator"}
_LAZY_MODULES = ("comparison", "datasets", "plot")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _LAZY_MODULES:
        return importlib.import_module(f"porbnet.{name}")
    raise AttributeError(f"module 'porbnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
