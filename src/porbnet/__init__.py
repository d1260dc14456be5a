"""Bayesian regression with Poisson-process radial basis function networks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from porbnet import comparison, datasets, errors, intensity, likelihood, plot, scoring
    from porbnet.base.distributions import Gamma, InverseGamma, LogNormal
    from porbnet.errors import PorbnetError, PorbnetWarning, StatementError, StatementWarning
    from porbnet.estimators.classifier import PoRBNetClassifier
    from porbnet.estimators.counts import PoRBNetCountRegressor
    from porbnet.estimators.files import load, resume
    from porbnet.estimators.regressor import PoRBNetRegressor
    from porbnet.functions.network import Network, Networks
    from porbnet.likelihood import RobustNoise, VaryingNoise
    from porbnet.many.fit_many import fit_many
    from porbnet.many.many_fits import ManyFits, load_many
    from porbnet.sampling.published.options import PaperSampler
    from porbnet.statement.prior import Prior

__version__ = "0.1.0"

__all__ = [
    "Gamma",
    "InverseGamma",
    "LogNormal",
    "ManyFits",
    "Network",
    "Networks",
    "PaperSampler",
    "PoRBNetClassifier",
    "PoRBNetCountRegressor",
    "PoRBNetRegressor",
    "PorbnetError",
    "PorbnetWarning",
    "Prior",
    "RobustNoise",
    "StatementError",
    "StatementWarning",
    "VaryingNoise",
    "comparison",
    "datasets",
    "errors",
    "fit_many",
    "intensity",
    "likelihood",
    "load",
    "load_many",
    "plot",
    "resume",
    "scoring",
]

# imported when first asked for, so that `import porbnet` and `porbnet --help` are fast
_LAZY = {
    "Gamma": "base.distributions",
    "InverseGamma": "base.distributions",
    "LogNormal": "base.distributions",
    "ManyFits": "many.many_fits",
    "Network": "functions.network",
    "Networks": "functions.network",
    "PaperSampler": "sampling.published.options",
    "PoRBNetClassifier": "estimators.classifier",
    "PoRBNetCountRegressor": "estimators.counts",
    "PoRBNetRegressor": "estimators.regressor",
    "PorbnetError": "errors",
    "PorbnetWarning": "errors",
    "Prior": "statement.prior",
    "RobustNoise": "likelihood",
    "StatementError": "errors",
    "StatementWarning": "errors",
    "VaryingNoise": "likelihood",
    "fit_many": "many.fit_many",
    "load": "estimators.files",
    "load_many": "many.many_fits",
    "resume": "estimators.files",
}
_LAZY_MODULES = ("comparison", "datasets", "errors", "intensity", "likelihood", "plot", "scoring")


def __getattr__(name: str) -> Any:
    import importlib

    if name in _LAZY:
        value = getattr(importlib.import_module(f"porbnet.{_LAZY[name]}"), name)
        globals()[name] = value
        return value
    if name in _LAZY_MODULES:
        return importlib.import_module(f"porbnet.{name}")
    raise AttributeError(f"module 'porbnet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
