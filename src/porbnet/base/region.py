"""The box on which the units' centers live."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError

_ALLOWED = (
    "it must be (low, high) in one dimension, or one (low, high) pair per input dimension, "
    "finite and with low below high"
)


@dataclass(frozen=True, eq=False)
class Region:
    """A box in input space, in the units of the data.

    Parameters
    ----------
    low, high : ndarray of shape (n_dims,)
        Opposite corners.
    """

    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, value: Any, name: str = "region") -> Region:
        """Region from (low, high) or from a sequence of n_dims such pairs."""
        if isinstance(value, Region):
            return value
        bounds = _checks.real_array(name, value, _ALLOWED)
        if bounds.ndim == 1:
            bounds = bounds[None, :]
        if bounds.ndim != 2 or bounds.shape[0] < 1 or bounds.shape[1] != 2:
            raise _checks.fail(name, value, _ALLOWED)
        low, high = bounds[:, 0].copy(), bounds[:, 1].copy()
        if not np.all(low < high) or np.any(high - low < 1.0 / _checks.LARGEST):
            raise _checks.fail(name, value, _ALLOWED)
        return cls(low, high)

    @classmethod
    def everywhere(cls, n_dims: int) -> Region:
        """The box without end."""
        return cls(np.full(n_dims, -np.inf), np.full(n_dims, np.inf))

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return len(self.low)

    @property
    def widths(self) -> FloatArray:
        """Edge lengths, shape (n_dims,)."""
        return self.high - self.low

    @property
    def volume(self) -> float:
        """Length, area or volume."""
        return float(np.prod(self.widths))

    @property
    def bounds(self) -> FloatArray:
        """Array of (low, high) pairs, shape (n_dims, 2)."""
        return np.stack([self.low, self.high], axis=1)

    def contains(self, X: FloatArray) -> np.ndarray[Any, np.dtype[np.bool_]]:
        """Which rows of X, shape (n_points, n_dims), lie inside."""
        inside: np.ndarray[Any, np.dtype[np.bool_]] = np.all((self.low <= X) & (self.high >= X), axis=1)
        return inside

    def uniform(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Uniform draws, shape (n, n_dims)."""
        return self.low + self.widths * rng.random((n, self.n_dims))

    def require_dims(self, n_dims: int, name: str) -> None:
        """Complain if a quantity stated for `n_dims` dimensions meets this region."""
        if n_dims != self.n_dims:
            raise StatementError(
                f"{name} is stated for {n_dims} input dimension(s) but region={_checks.show(self.bounds.tolist())} "
                f"has {self.n_dims}: both must have the same number of dimensions"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and np.array_equal(self.bounds, other.bounds)

    def __hash__(self) -> int:
        return hash(self.bounds.tobytes())
