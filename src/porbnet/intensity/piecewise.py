"""Known constant levels on the intervals between breaks, or on the boxes of a grid of breaks."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.parameter import Parameter
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.intensity.base import Intensity, Piece, Relative, Units, known_level
from porbnet.intensity.continuation import Continuation, Steps


class Piecewise(Intensity):
    """A step function: `values[j]` between `breaks[j - 1]` and `breaks[j]`.

    The outermost pieces have no end.

    Parameters
    ----------
    breaks : array of shape (n_breaks,), or one such array per dimension
        Increasing places, in the units of the input, where the level changes.
    values : array of shape (n_breaks + 1,), or (n_breaks_1 + 1, n_breaks_2 + 1, ...)
        Positive levels of the pieces.

    Examples
    --------
    >>> Piecewise([0.0, 1.0], [1.0, 5.0, 1.0]).integral((-1.0, 2.0))
    7.0
    """

    def __init__(self, breaks: Any, values: Any) -> None:
        allowed = "they must be positive finite numbers, one more per dimension than there are breaks"
        self.values = _checks.positive_array("values", values, allowed)
        if self.values.ndim == 0 or self.values.size == 0:
            raise _checks.fail("values", values, allowed)
        self.grid = self._grid(breaks, self.values.ndim)
        if self.values.shape != tuple(len(b) + 1 for b in self.grid):
            shape = tuple(len(b) + 1 for b in self.grid)
            raise StatementError(
                f"values has shape {self.values.shape} but breaks={_checks.show(breaks)} make pieces of shape {shape}: "
                "there must be one more value per dimension than there are breaks"
            )

    @staticmethod
    def _grid(breaks: Any, n_dims: int) -> list[FloatArray]:
        allowed = "they must be finite and strictly increasing, one array of them per input dimension"
        try:
            parts = [breaks] if n_dims == 1 else list(breaks)
        except TypeError:
            raise _checks.fail("breaks", breaks, allowed) from None
        if len(parts) != n_dims:
            raise _checks.fail("breaks", breaks, allowed + f" (values has {n_dims} dimensions)")
        grid = []
        for part in parts:
            array = np.atleast_1d(_checks.real_array("breaks", part, allowed))
            if array.ndim != 1 or np.any(np.diff(array) <= 0):
                raise _checks.fail("breaks", breaks, allowed)
            grid.append(array)
        return grid

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self.values.ndim

    def on(self, region: Region) -> Piecewise:
        """Check that breaks lie inside the region."""
        region.require_dims(self.n_dims, "Piecewise intensity")
        for d, b in enumerate(self.grid):
            if len(b) and (b[0] <= region.low[d] or b[-1] >= region.high[d]):
                raise StatementError(
                    f"breaks={_checks.show(b.tolist())} in dimension {d} are not all inside "
                    f"region={_checks.show(region.bounds.tolist())}: they must lie strictly within it"
                )
        return self

    def value(self, X: Any) -> FloatArray:
        """Level of the piece each point lies in, shape (n_points,)."""
        points = _checks.points("X", X, self.n_dims)
        index = tuple(np.searchsorted(b, points[:, d], side="right") for d, b in enumerate(self.grid))
        return self.values[index]

    def gradient(self, X: Any) -> FloatArray:
        """Zero: the function is flat but for its jumps."""
        return np.zeros_like(_checks.points("X", X, self.n_dims))

    def _boxes(self, region: Region) -> list[tuple[float, Region]]:
        region.require_dims(self.n_dims, "Piecewise intensity")
        edges = [
            np.concatenate([[lo], np.clip(b, lo, hi), [hi]])
            for b, lo, hi in zip(self.grid, region.low, region.high, strict=True)
        ]
        boxes = []
        for index in itertools.product(*(range(n) for n in self.values.shape)):
            low = np.array([edges[d][i] for d, i in enumerate(index)])
            high = np.array([edges[d][i + 1] for d, i in enumerate(index)])
            if np.all(high > low):
                boxes.append((float(self.values[index]), Region(low, high)))
        return boxes

    def integral(self, region: Any) -> float:
        """Sum of level times volume."""
        return float(sum(level * box.volume for level, box in self._boxes(Region.of(region))))

    def upper_bound(self, region: Region) -> float:
        """The highest level."""
        return float(self.values.max())

    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws: total counts, then a box for each unit, then a uniform place in it."""
        boxes = self._boxes(region)
        levels = np.array([level for level, _ in boxes])
        mass = np.array([level * box.volume for level, box in boxes])
        counts: NDArray[np.int64] = rng.poisson(mass.sum(), size=n)
        chosen = np.searchsorted(np.cumsum(mass) / mass.sum(), rng.random(int(counts.sum())), side="right")
        chosen = np.minimum(chosen, len(boxes) - 1)
        low = np.stack([box.low for _, box in boxes])[chosen]
        widths = np.stack([box.widths for _, box in boxes])[chosen]
        return Units(counts, low + widths * rng.random(low.shape), levels[chosen])

    def pieces(self, region: Region) -> list[Piece]:
        """One piece per box."""
        return [Piece(1.0, level, box) for level, box in self._boxes(region)]

    def continuation(self, region: Region) -> Continuation:
        """The pieces, the outermost without end."""
        boxes = self._boxes(Region.everywhere(self.n_dims))
        low, high = np.stack([box.low for _, box in boxes]), np.stack([box.high for _, box in boxes])
        outermost = np.any(np.isinf(low) | np.isinf(high), axis=1)  # others are inside the region
        return Steps(low[outermost], high[outermost], np.array([[level for level, _ in boxes]])[:, outermost])

    def sampled_as(self, region: Region) -> Intensity:
        """Itself."""
        return self

    def relative(self, region: Region, volume: float) -> Relative:
        """The levels over the highest of them."""
        top = float(self.values.max())
        return Relative("pieces", self.values / top, self.grid, self.integral(region) / (top * volume), 1.0)

    def level_parameter(self, region: Region) -> Parameter:
        """The highest level, known."""
        return known_level(float(self.values.max()))

    def breaks(self, dimension: int) -> FloatArray:
        """The breaks along a dimension."""
        return self.grid[dimension]

    def __repr__(self) -> str:
        grid = self.grid[0].tolist() if self.n_dims == 1 else [b.tolist() for b in self.grid]
        return f"Piecewise({grid!r}, {self.values.tolist()!r})"
