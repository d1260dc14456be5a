"""Pictures of priors and fits of one input: axes in, axes out, colours safe for colour-blind readers.

matplotlib is imported when a picture is made, not before; it comes with `pip install porbnet[plot]`.
"""

from __future__ import annotations

from porbnet.plot.fits import curves, fit, width
from porbnet.plot.priors import covariogram, lengthscale, prior_draws, prior_variance, upcrossing_histogram
from porbnet.plot.style import PALETTE

__all__ = [
    "PALETTE",
    "covariogram",
    "curves",
    "fit",
    "lengthscale",
    "prior_draws",
    "prior_variance",
    "upcrossing_histogram",
    "width",
]
