"""Standard coordinates: what samplers work in, and the way back to the units of the data."""

from __future__ import annotations

from dataclasses import dataclass

from porbnet.base.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Scaling:
    """Standard coordinates: u = (x - low) / divisor has a box of volume one; outputs are y / y_scale.

    low, divisor : (n_dims,)
    size : geometric mean of the region's widths; intensities are multiplied by size ** n_dims
    """

    low: FloatArray
    divisor: FloatArray
    size: float
    y_scale: float

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return len(self.low)

    @property
    def volume(self) -> float:
        """Volume of the region in the units of the input."""
        return self.size**self.n_dims

    def inputs(self, X: FloatArray) -> FloatArray:
        """Standard coordinates, shape (n_points, n_dims)."""
        return (X - self.low) / self.divisor

    def centers(self, u: FloatArray) -> FloatArray:
        """Back to the units of the input."""
        return self.low + u * self.divisor
