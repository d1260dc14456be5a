"""The priors that the paper compares with, matched to a stated one in variance and expected upcrossings."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState
from porbnet.baselines.bnn import matched_bnn
from porbnet.cli.common import gathered_warnings
from porbnet.comparison import BRBFNPrior, GaussianProcessPrior, match_upcrossings
from porbnet.errors import StatementError
from porbnet.statement.function_prior import FunctionPrior
from porbnet.statement.moments import PointMoments
from porbnet.statement.prior import Prior
from porbnet.studio.prior_view import upcrossings

N_UNITS = 50  # of the BNN
_POINTS = 101


class Shifted(FunctionPrior):
    """A prior of one input with its origin elsewhere: at x it is what the other is at x + shift."""

    def __init__(self, prior: FunctionPrior, shift: float, known_upcrossings: float | None = None) -> None:
        self.prior, self.shift, self._upcrossings = prior, shift, known_upcrossings
        self.bias = float(getattr(prior, "bias", 0.0))

    @property
    def n_dims(self) -> int:
        """One."""
        return 1

    def upcrossings(self, interval: Any, **options: Any) -> float:
        """Those that are known, where they are."""
        return super().upcrossings(interval, **options) if self._upcrossings is None else self._upcrossings

    def sample_chunks(self, X: Any, n: int, random_state: RandomState = None) -> Iterator[FloatArray]:
        """As of the other, at shifted points."""
        return self.prior.sample_chunks(np.asarray(X) + self.shift, n, random_state)

    def covariance(self, X1: Any, X2: Any = None) -> FloatArray:
        """As of the other, at shifted points."""
        return self.prior.covariance(np.asarray(X1) + self.shift, None if X2 is None else np.asarray(X2) + self.shift)

    def variance(self, X: Any) -> FloatArray:
        """As of the other, at shifted points."""
        return self.prior.variance(np.asarray(X) + self.shift)

    def point_moments(self, X: FloatArray) -> PointMoments:
        """As of the other, at shifted points."""
        return self.prior.point_moments(X + self.shift)


def without_line(prior: Prior) -> Prior:
    """The same statement without its trend, which the others do not have."""
    if prior.trend is None:
        return prior
    found = Prior.__new__(Prior)
    found._state(prior.s0, prior.intensity, prior.anisotropy, prior.amplitude, prior.bias, prior.noise, prior.region)
    return found


def counterparts(prior: Prior, ends: tuple[float, float]) -> Iterator[tuple[str, str, FunctionPrior]]:
    """Title, what was matched in words, and prior: Gaussian process, B-RBFN and BNN with as many upcrossings.

    Each has the stated prior's variance on average over the interval. The BNN's origin is the middle of the interval.
    """
    if prior.n_dims != 1:
        raise StatementError("priors are compared for one input")
    low, high = ends
    width, wanted = high - low, upcrossings(prior, ends)
    variance = float(np.mean(prior.variance(np.linspace(low, high, _POINTS))))
    bias = min(prior.bias, math.sqrt(0.5 * variance))
    size = math.sqrt(variance - bias**2)
    level = prior.expected_units / float(prior.region.widths[0])
    grid = np.linspace(low, high, _POINTS)

    def gaussian(lengthscale: float) -> FunctionPrior:
        return GaussianProcessPrior(lengthscale, size, bias)

    def brbfn(lengthscale: float) -> FunctionPrior:
        unit = BRBFNPrior(math.sqrt(2.0) / lengthscale, level, 1.0, region=prior.region.bounds[0])
        weight = size / math.sqrt(float(np.mean(unit.variance(grid))))
        return BRBFNPrior(math.sqrt(2.0) / lengthscale, level, weight, region=prior.region.bounds[0], bias=bias)

    tried: tuple[tuple[str, Callable[[float], FunctionPrior]], ...] = (
        ("Gaussian process", gaussian),
        ("B-RBFN", brbfn),
    )
    for title, make in tried:
        found = match_upcrossings(make, wanted, ends, (2e-4 * width, 3.0 * width), tolerance=1e-4)
        yield title, f"one lengthscale, {found.value:.3g}", found.prior
    middle = 0.5 * (low + high)
    with gathered_warnings() as said:
        bnn = matched_bnn(Shifted(prior, middle, wanted), (low - middle, high - middle), n_units=N_UNITS)
    words = f"{N_UNITS} units, input weights of sd {bnn.input_weight_sd:.3g}"
    yield "BNN", "; ".join([words, *said]), Shifted(bnn, -middle)
