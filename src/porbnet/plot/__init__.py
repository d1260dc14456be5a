"""Pictures of priors and fits: axes in, axes out, colours safe for colour-blind readers.

matplotlib is imported when a picture is made, not before; it comes with `pip install porbnet[plot]`.
"""

from __future__ import annotations

from porbnet.plot.bands import curves, intensity, lengthscale, noise
from porbnet.plot.calibration import coverage, pit
from porbnet.plot.chains import rank, trace
from porbnet.plot.chances import chances, probability, rate
from porbnet.plot.fits import fit, width
from porbnet.plot.maps import maps
from porbnet.plot.overview import overview
from porbnet.plot.partial import partial_dependence, slices
from porbnet.plot.priors import covariogram, prior_draws, prior_variance, upcrossing_histogram
from porbnet.plot.style import PALETTE

__all__ = [
    "PALETTE",
    "chances",
    "covariogram",
    "coverage",
    "curves",
    "fit",
    "intensity",
    "lengthscale",
    "maps",
    "noise",
    "overview",
    "partial_dependence",
    "pit",
    "prior_draws",
    "prior_variance",
    "probability",
    "rank",
    "rate",
    "slices",
    "trace",
    "upcrossing_histogram",
    "width",
]
