"""Draws of the posterior: ragged, flat, in the sampler's standard coordinates."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray

PER_UNIT = ("owner", "centers", "relative", "weights", "mean_weights")


@dataclass(frozen=True, eq=False)
class ChainDraws:
    """Stored sweeps of one chain, or of several one after the other.

    counts : (n_draws,) units of each draw
    values : (n_draws, n_parameters), in the order of `Problem.parameters`
    log_p : (n_draws,) log marginal likelihood of the outputs
    biases, mean_biases : (n_draws,) drawn bias, and its mean given centers and parameters
    curves : (n_draws, n_coefficients) of learned intensities, one component after the other, or no columns
    kept : (n_draws, n_kept) what the likelihood's augmentation carries; no columns if there is none
    slopes : (n_draws, n_dims) of the straight line in f; no columns without one
    owner : (total_units,) which component each unit belongs to
    centers : (total_units, n_dims)
    relative : (total_units,) intensity at the center over the level
    weights, mean_weights : (total_units,) drawn weights, and their conditional means
    """

    counts: NDArray[np.int64]
    values: FloatArray
    log_p: FloatArray
    biases: FloatArray
    mean_biases: FloatArray
    curves: FloatArray
    kept: FloatArray
    slopes: FloatArray
    owner: NDArray[np.int64]
    centers: FloatArray
    relative: FloatArray
    weights: FloatArray
    mean_weights: FloatArray

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each draw's units start, shape (n_draws + 1,)."""
        return np.concatenate([[0], np.cumsum(self.counts)]).astype(np.int64)

    @classmethod
    def none(cls, n_dims: int, n_parameters: int = 0) -> ChainDraws:
        """No draws."""
        empty, wide = np.empty(0), np.empty((0, 0))
        return cls(
            counts=np.empty(0, np.int64), values=np.empty((0, n_parameters)), log_p=empty, biases=empty,
            mean_biases=empty, curves=wide, kept=wide, slopes=wide, owner=np.empty(0, np.int64),
            centers=np.empty((0, n_dims)), relative=empty, weights=empty, mean_weights=empty,
        )  # fmt: skip

    @classmethod
    def joined(cls, pieces: list[ChainDraws], n_dims: int) -> ChainDraws:
        """Pieces one after the other."""
        if not pieces:
            return cls.none(n_dims)
        if len(pieces) == 1:
            return pieces[0]
        return cls(*(np.concatenate([getattr(p, f.name) for p in pieces]) for f in fields(cls)))

    def first(self, n: int) -> ChainDraws:
        """The first n draws."""
        used = int(self.counts[:n].sum())
        return ChainDraws(**{f.name: getattr(self, f.name)[: used if f.name in PER_UNIT else n] for f in fields(self)})

    def every(self, step: int) -> ChainDraws:
        """Draws number `step`, 2 `step`, ..."""
        chosen = np.zeros(len(self), dtype=bool)
        chosen[step - 1 :: step] = True
        units = np.repeat(chosen, self.counts)
        return ChainDraws(
            **{f.name: getattr(self, f.name)[units if f.name in PER_UNIT else chosen] for f in fields(self)}
        )

    def after(self, n: int) -> ChainDraws:
        """All draws but the first n."""
        used = int(self.counts[:n].sum())
        return ChainDraws(**{f.name: getattr(self, f.name)[used if f.name in PER_UNIT else n :] for f in fields(self)})
