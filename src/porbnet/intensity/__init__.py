"""Intensities of the Poisson process of unit centers: how many units per unit of input, where.

=================  =================================================================
`Constant`         one known level
`UnknownConstant`  one unknown level, λ² ~ Gamma
`Piecewise`        known levels on intervals (1-D) or boxes of a grid (2-D, 3-D)
`FromFunction`     any positive, bounded callable
`Tabulated`        values on a regular grid, linear in between
`SigmoidGP`        unknown function, λ(c) = λ* sigmoid(h(c)) with h a Gaussian process
=================  =================================================================

Levels are per unit of length, area or volume of the input, in the units of the data.
"""

from porbnet.base.distributions import Gamma
from porbnet.intensity.base import Intensity, Piece, Units
from porbnet.intensity.constant import Constant, UnknownConstant
from porbnet.intensity.function import FromFunction
from porbnet.intensity.piecewise import Piecewise
from porbnet.intensity.sigmoid_gp import SigmoidGP
from porbnet.intensity.tabulated import Tabulated

__all__ = [
    "Constant",
    "FromFunction",
    "Gamma",
    "Intensity",
    "Piece",
    "Piecewise",
    "SigmoidGP",
    "Tabulated",
    "Units",
    "UnknownConstant",
]
