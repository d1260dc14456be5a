"""Room for draws, filled by kernels, and how a chain of any sampler keeps them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import inner
from porbnet.base.records import Record
from porbnet.kernels.state import IntArray
from porbnet.kernels.vectors import copy
from porbnet.kernels.views import part, row_part
from porbnet.sampling.draws import PER_UNIT, ChainDraws
from porbnet.sampling.problem import Problem

MOST_STORED = 200_000  # units stored per call at most, unless one draw needs more


class Stored(Record):
    """Room for the draws of one call.

    n, used : draws and units stored so far
    counts : (n,) units of each draw
    values : (n, n_parameters)
    log_p : (n,) log marginal likelihood
    biases, mean_biases : (n,) drawn bias and its conditional mean
    curves : (n, n_coefficients) of the intensities' curves, one component after the other
    kept : (n, n_kept) what the likelihood's augmentation carries
    slopes : (n, n_slopes) of the straight line in f
    owner : (room,) component of each unit, one draw after the other; so are
    centers : (room, n_dims), relative, weights, mean_weights : (room,)
    """

    n: int
    used: int
    counts: IntArray
    values: FloatArray
    log_p: FloatArray
    biases: FloatArray
    mean_biases: FloatArray
    curves: FloatArray
    kept: FloatArray
    slopes: FloatArray
    owner: IntArray
    centers: FloatArray
    relative: FloatArray
    weights: FloatArray
    mean_weights: FloatArray


def storage(problem: Problem, n: int, room: int, n_kept: int) -> Stored:
    """Room for n draws of `room` units in all."""
    n_coefficients = sum(c.process.n_whitened for c in problem.components if c.process is not None)
    return Stored(
        n=0,
        used=0,
        counts=np.empty(n, dtype=np.int64),
        values=np.empty((n, len(problem.parameters))),
        log_p=np.empty(n),
        biases=np.empty(n),
        mean_biases=np.empty(n),
        curves=np.empty((n, n_coefficients)),
        kept=np.empty((n, n_kept)),
        slopes=np.empty((n, problem.n_slopes)),
        owner=np.empty(room, dtype=np.int64),
        centers=np.empty((room, problem.most_dims)),
        relative=np.empty(room),
        weights=np.empty(room),
        mean_weights=np.empty(room),
    )


def piece(problem: Problem, stored: Stored) -> ChainDraws:
    """What was stored, as draws."""
    fields: dict[str, Any] = {
        name: array[: stored.used if name in PER_UNIT else stored.n].copy() for name, array in stored.arrays().items()
    }
    fields["kept"] = fields["kept"].astype(problem.likelihood.stored_as)
    return ChainDraws(**fields)


@inner
def has_room(stored: Any, capacity: int) -> bool:
    """Whether a draw of up to `capacity` units fits."""
    return bool(stored.used + capacity <= len(stored.weights) and stored.n < len(stored.counts))


@inner
def store_common(state: Any, stored: Any, source: Any, bias: float) -> None:
    """Keep parameters, curves and units (of `source`) as the next draw; weights and means are the caller's."""
    at, used, n = stored.n, stored.used, source.n
    stored.counts[at] = n
    stored.biases[at] = bias
    copy(state.values, stored.values[at], len(state.values))
    first, n_dims = 0, source.centers.shape[1]
    for c in range(len(state.components)):
        z = state.components[c].curve.z
        copy(z, row_part(stored.curves, at, first, first + len(z)), len(z))
        first += len(z)
    copy(state.errors.kept, stored.kept[at], len(state.errors.kept))
    copy(state.rows.slopes, stored.slopes[at], len(state.rows.slopes))
    for k in range(n):
        copy(source.centers[k], stored.centers[used + k], n_dims)
    copy(source.relative, part(stored.relative, used, used + n), n)


@inner
def adaptation(at: int, n_warmup: int) -> float:
    """Rate at which step sizes follow the chain in sweep `at`; it falls, so that they settle while warm-up lasts."""
    return 1.0 / math.sqrt(2.0 + at) if at < n_warmup else 0.0


@inner
def forget_counts(tuning: Any) -> None:
    """Counts of moves start anew when warm-up is over."""
    for i in range(len(tuning.tried)):
        tuning.tried[i] = 0
        tuning.accepted[i] = 0
