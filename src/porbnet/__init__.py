"""Bayesian regression with Poisson-process radial basis function networks."""

from __future__ import annotations

from porbnet import distributions, errors, intensity
from porbnet.distributions import Gamma, LogNormal
from porbnet.errors import PorbnetError, PorbnetWarning, StatementError, StatementWarning
from porbnet.model.network import Network, Networks
from porbnet.model.prior import Prior

__version__ = "0.1.0"

__all__ = [
    "Gamma",
    "LogNormal",
    "Network",
    "Networks",
    "PorbnetError",
    "PorbnetWarning",
    "Prior",
    "StatementError",
    "StatementWarning",
    "distributions",
    "errors",
    "intensity",
]
