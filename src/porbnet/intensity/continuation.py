"""What an intensity is beyond its region: constant on boxes without end, or as a function continues.

The paper's prior is over functions on an unbounded space. Inference needs the units near the data alone, those of the
region; beyond it they come from the prior, with the intensity continued:

- constants and step functions as they are stated: their outermost pieces have no end;
- functions as they are stated; where one gives no positive number, it has the value at the nearest place of the region;
- learned curves by their value at the edge: beyond a side that at the side's middle, beyond a corner that at the
  corner. A curve's law is the same at every place, so that second moments are those of a curve on a larger region.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region

if TYPE_CHECKING:
    from porbnet.intensity.base import Intensity, Units

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Steps:
    """Levels that are constant on boxes, which may be without end; of one intensity or of one per draw.

    low, high : (n_boxes, n_dims) in the units of the input; what they have inside the region does not count
    levels : (n_draws, n_boxes); or (1, n_boxes), the same in every draw
    """

    low: FloatArray
    high: FloatArray
    levels: FloatArray

    @classmethod
    def everywhere(cls, levels: FloatArray, n_dims: int) -> Steps:
        """One level per draw, shape (n_draws,)."""
        return cls(np.full((1, n_dims), -np.inf), np.full((1, n_dims), np.inf), np.asarray(levels)[:, None])

    @classmethod
    def around(cls, region: Region, levels: FloatArray) -> Steps:
        """The boxes beyond each side and corner of a region, with levels at `edge_places`."""
        edges = np.stack([np.full(region.n_dims, -np.inf), region.low, region.high, np.full(region.n_dims, np.inf)])
        signs, dims = _signs(region.n_dims), np.arange(region.n_dims)
        return cls(edges[signs + 1, dims], edges[signs + 2, dims], levels)

    def level(self, draws: IntArray) -> FloatArray:
        """Levels of some draws, shape (n_draws, n_boxes)."""
        return self.levels[draws] if len(self.levels) > 1 else np.repeat(self.levels, len(draws), axis=0)

    def lowest(self, n: int) -> FloatArray:
        """The level of each part in each of n draws, shape (n, n_boxes)."""
        return np.broadcast_to(self.levels, (n, self.levels.shape[1]))

    def sample_units(self, box: Region, draws: IntArray, rng: np.random.Generator, wanted: NDArray[np.bool_]) -> Units:
        """Exact draws of the Poisson process on a box, one for each of some draws, of the parts that are wanted.

        wanted : (n_draws, n_boxes)
        """
        from porbnet.intensity.base import Units

        low, high = np.maximum(self.low, box.low), np.minimum(self.high, box.high)
        volumes = np.prod(np.maximum(high - low, 0.0), axis=1)
        levels = self.level(draws)
        counts = rng.poisson(np.where(wanted, levels * volumes, 0.0))
        of = np.repeat(np.tile(np.arange(len(low)), len(draws)), counts.ravel())
        centers = low[of] + (high - low)[of] * rng.random((len(of), low.shape[1]))
        return Units(counts.sum(axis=1), centers, np.repeat(levels.ravel(), counts.ravel()))


@dataclass(frozen=True, eq=False)
class Stated:
    """A known intensity that goes on as it is stated, from its region on."""

    intensity: Intensity
    region: Region
    _on_boxes: dict[bytes, Intensity] = field(default_factory=dict, repr=False)

    def value(self, X: FloatArray) -> FloatArray:
        """Level at points, shape (n_points,)."""
        return self.intensity.beyond(X, self.region)

    def lowest(self, n: int) -> FloatArray:
        """About the lowest level within a region's width of the region, in each of n draws, shape (n, 1)."""
        from porbnet.functions.quadrature import grid_points

        wide = Region(self.region.low - self.region.widths, self.region.high + self.region.widths)
        return np.full((n, 1), self.value(grid_points(wide, {1: 301, 2: 31}.get(wide.n_dims, 13))).min())

    def sample_units(self, box: Region, draws: IntArray, rng: np.random.Generator, wanted: NDArray[np.bool_]) -> Units:
        """Exact draws of the Poisson process on a box, one for each of some draws; it has one part."""
        from porbnet.intensity.function import FromFunction

        key = box.bounds.tobytes()
        if key not in self._on_boxes:  # its bound there is looked for once
            self._on_boxes[key] = FromFunction(self.value).on(box)
        return self._on_boxes[key].sample_units(box, len(draws), rng)


Continuation = Steps | Stated


def edge_places(region: Region) -> FloatArray:
    """Middles of a region's sides and its corners, shape (3 ** n_dims - 1, n_dims), in the order of `Steps.around`."""
    middle = 0.5 * (region.low + region.high)
    return np.asarray(middle + 0.5 * _signs(region.n_dims) * region.widths)


def _signs(n_dims: int) -> IntArray:
    return np.array([s for s in itertools.product((-1, 0, 1), repeat=n_dims) if any(s)])
