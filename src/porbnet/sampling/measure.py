"""Weighted observations: what a Gaussian likelihood sees of rows, each of them one observation or several."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray


@dataclass(frozen=True, eq=False)
class Measure:
    """Weighted observations, in order of their first coordinate.

    x : (n_dims, n) places in standard coordinates
    weights : (n,) ω, relative precision times count
    outputs : (n,) y; the mean of those that a row stands for
    within : (n,) mean square of the outputs that a row stands for about `outputs`; a node's may be negative
    counts : (n,) how many observations a row stands for
    limit : (n,) the largest scale of a unit for which it does; infinite for rows as they came
    """

    x: FloatArray
    weights: FloatArray
    outputs: FloatArray
    within: FloatArray
    counts: FloatArray
    limit: FloatArray

    def __len__(self) -> int:
        return len(self.weights)

    def taken(self, rows: NDArray[np.int64] | slice) -> Measure:
        """Some of the rows."""
        return Measure(*(getattr(self, f.name)[..., rows] for f in fields(self)))

    @classmethod
    def joined(cls, parts: list[Measure]) -> Measure:
        """Several of them, in order of the first coordinate."""
        whole = cls(*(np.concatenate([getattr(p, f.name) for p in parts], axis=-1) for f in fields(cls)))
        order = np.argsort(whole.x[0], kind="stable")
        return whole if np.all(np.diff(order) == 1) else whole.taken(order)

    @classmethod
    def of_rows(cls, x: FloatArray, y: FloatArray, weights: FloatArray, counts: FloatArray) -> Measure:
        """Plain observations."""
        n = len(y)
        return cls(x, weights, y, same(0.0, n), counts, same(np.inf, n))


def same(value: float, n: int) -> FloatArray:
    """A number n times, in the memory of one: not to be written to."""
    return np.broadcast_to(np.float64(value), (n,))
