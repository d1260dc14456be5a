"""What every intensity offers: value, gradient, integral, draws of the intensity and of the Poisson process."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.parameter import INTENSITY, Parameter
from porbnet.base.region import Region
from porbnet.base.seeds import RandomState, generator
from porbnet.intensity.continuation import Continuation, Stated

if TYPE_CHECKING:
    from porbnet.functions.grid_gp import GridGP


def known_level(level: float) -> Parameter:
    """A level that is known."""
    return Parameter("level", float(level), INTENSITY, start=float(level), scattered=False, diagnosed=False)


class Piece(NamedTuple):
    """A constant `level` on a `box`, with a `probability`.

    Where an intensity is made of such pieces (a constant, a step function, or anything whose marginal law at a
    point does not depend on the point), every second moment of the network is the sum of the constant's
    closed form over the pieces.
    """

    probability: float
    level: float
    box: Region


class Units(NamedTuple):
    """Draws of the Poisson process: ragged, flat.

    counts : shape (n_draws,), number of units of each draw
    centers : shape (counts.sum(), n_dims)
    levels : shape (counts.sum(),), the intensity at each center
    """

    counts: NDArray[np.int64]
    centers: FloatArray
    levels: FloatArray


@dataclass(frozen=True, eq=False)
class Relative:
    """An intensity as samplers take it: a level times g, g given by a table on the region.

    kind : "constant", "pieces" (one value per box between `breaks`) or "table" (multilinear between regular knots)
    values : g, one value per piece or knot
    breaks : places of jumps, one array per dimension, in the units of the input
    integral : of g over the region, over the region's volume
    bound : a value that g does not exceed
    """

    kind: str
    values: FloatArray
    breaks: list[FloatArray]
    integral: float
    bound: float


class Intensity(ABC):
    """Intensity of a Poisson process on a box, in units per unit of input volume."""

    known: bool = True
    """Whether the intensity is a known function; if not, `draw` gives one."""

    _stated: Stated | None = None

    @abstractmethod
    def on(self, region: Region) -> Intensity:
        """The same intensity, checked and prepared for a region; raises `StatementError` if it does not fit."""

    @abstractmethod
    def value(self, X: Any) -> FloatArray:
        """Intensity at each row of X, shape (n_points,); its prior mean if the intensity is unknown."""

    @abstractmethod
    def gradient(self, X: Any) -> FloatArray:
        """Derivative of `value` by the input, shape (n_points, n_dims)."""

    @abstractmethod
    def integral(self, region: Any) -> float:
        """Integral over the region: the expected number of units."""

    @abstractmethod
    def upper_bound(self, region: Region) -> float:
        """A level that the intensity does not exceed (for an unknown one, only with tiny probability)."""

    @abstractmethod
    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws of the Poisson process; an unknown intensity is drawn anew for each."""

    def sample(self, region: Any, random_state: RandomState = None) -> FloatArray:
        """One exact draw of the Poisson process: centers of shape (n_units, n_dims)."""
        box = Region.of(region)
        return self.on(box).sample_units(box, 1, generator(random_state)).centers

    def beyond(self, X: FloatArray, region: Region) -> FloatArray:
        """Level of a known intensity at points anywhere, shape (n_points,): beyond the region that at its edge."""
        return self.value(np.clip(X, region.low, region.high))

    def continuation(self, region: Region) -> Continuation | None:
        """What a known intensity is beyond its region; None for an unknown one, whose draws have theirs."""
        if not self.known:
            return None
        if self._stated is None or self._stated.region != region:
            self._stated = Stated(self, region)  # kept: it remembers what it has found out
        return self._stated

    def sample_continued(self, region: Region, n: int, rng: np.random.Generator) -> tuple[Units, Continuation | None]:
        """`sample_units`, and what the intensity of each draw is beyond the region (None: nothing)."""
        return self.sample_units(region, n, rng), self.continuation(region)

    def draw(self, region: Any, random_state: RandomState = None) -> Intensity:
        """One draw of the intensity itself as a known intensity; a known one is its own draw."""
        return self.on(Region.of(region))

    def pieces(self, region: Region) -> list[Piece] | None:
        """Pieces with a closed form, or None where moments need quadrature over the centers."""
        return None

    def marginal(self, region: Region) -> list[tuple[float, Intensity]]:
        """Known intensities with probabilities that have the right law at every single point."""
        return [(1.0, self)]

    def level_quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Quantiles of the prior law of an unknown intensity at a point, the same at every point."""
        raise TypeError(f"{self!r} is known: it has a value, not a distribution")

    def sampled_as(self, region: Region) -> Intensity:
        """The intensity that samplers work with, one that has `relative` and `level_parameter`.

        By default the table of a known one: good to 1e-6, or a warning says what it is good to.
        """
        from porbnet.intensity.tabulated import tabulate

        return tabulate(self, region)

    def relative(self, region: Region, volume: float) -> Relative:
        """The intensity over its level, for samplers; `volume` is that of the region."""
        raise TypeError(f"{self!r} has no table: sampled_as gives one that has")

    def level_parameter(self, region: Region) -> Parameter:
        """The level that `relative` is relative to."""
        raise TypeError(f"{self!r} has no table: sampled_as gives one that has")

    def curve(self, region: Region) -> GridGP | None:
        """The Gaussian process of an intensity that is learned as a function, λ = level · sigmoid(h)."""
        return None

    def breaks(self, dimension: int) -> FloatArray:
        """Places where the intensity jumps along a dimension (quadrature starts a new panel there)."""
        return np.empty(0)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _same(_stated(self), _stated(other))

    def __hash__(self) -> int:
        return hash(type(self))


def _stated(intensity: object) -> list[Any]:
    """What the user stated: the public attributes."""
    return [value for name, value in sorted(vars(intensity).items()) if not name.startswith("_")]


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(a, b) if isinstance(a, np.ndarray) or isinstance(b, np.ndarray) else bool(a == b)


def segment_ids(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For flat ragged arrays: which draw each entry belongs to."""
    return np.repeat(np.arange(len(counts)), counts)
