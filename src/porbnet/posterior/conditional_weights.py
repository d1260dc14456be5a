"""The law of bias and weights given each draw's units, N(m, P): computed from the observations once, and kept.

With many observations this is what a prediction spends its time on. Kept is as much as fits into `MOST_BYTES`; the rest
is computed whenever it is asked for. Nothing of it is saved or pickled with a fit.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import Passed, apply_to, hot, kernel
from porbnet.base.records import Record
from porbnet.kernels.gaussian import refresh, weigh
from porbnet.kernels.state import IntArray, State
from porbnet.sampling.draw_state import StoredDraws, conditional_state, put_draw, put_values, stored_draws
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.lean import lean_for_draws
from porbnet.sampling.problem import Problem

MOST_BYTES = 256_000_000  # of m and P that are kept
_GROUP_BYTES = 16_000_000  # of draws that are computed together
_PARTS = 8  # of all draws; sums over draws are made part by part, whatever the number of threads
_LEAST_IN_PART = 64  # draws: a part makes a state of its own, which few draws are not worth


class Given(Record):
    """Units of some draws, and the law of their weights.

    offsets : (n_draws + 1,) where each draw's units start
    centers : (n_units, n_dims), scales : (n_units,)
    means : (n_units + n_draws,) m of one draw after the other, the bias before the weights
    starts : (n_draws + 1,) where each draw's P starts
    packed : lower triangles of P, row by row
    bias : 1 if the network has a bias, else 0
    slopes : (n_draws, n_dims) of a straight line, zero at `middle`; no columns without one
    middle : (n_dims,)
    """

    offsets: IntArray
    centers: FloatArray
    scales: FloatArray
    means: FloatArray
    starts: IntArray
    packed: FloatArray
    bias: float
    slopes: FloatArray
    middle: FloatArray

    @property
    def nbytes(self) -> int:
        """Memory that it takes."""
        return sum(array.nbytes for array in self.arrays().values())

    def draw(self, i: int) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Centers, scales, m and the whole P of one draw."""
        first, last = self.offsets[i], self.offsets[i + 1]
        n = last - first + 1
        covariance = np.empty((n, n))
        lower = np.tril_indices(n)
        covariance[lower] = self.packed[self.starts[i] : self.starts[i + 1]]
        covariance[lower[1], lower[0]] = covariance[lower]
        return self.centers[first:last], self.scales[first:last], self.means[first + i : last + i + 1], covariance


@hot
def store(units: Any, given: Any, draw: int) -> None:
    """Units, m and P of the current state as those of a draw."""
    first, n, place = given.offsets[draw], units.n + 1, given.starts[draw]
    centers, scales, means, packed = given.centers, given.scales, given.means, given.packed
    for k in range(units.n):
        scales[first + k] = units.scales[k]
        for d in range(centers.shape[1]):
            centers[first + k, d] = units.centers[k, d]
    for i in range(n):
        means[first + draw + i] = units.mean[i]
        for j in range(i + 1):
            packed[place + j] = units.inverse[i, j]
        place += i + 1


@kernel
def weights_kernel(state: Any, draws: Any, first: int, last: int, reweigh: Any, given: Any) -> None:
    """Units, m and P of the draws [first, last), from the observations."""
    for draw in range(first, last):
        put_values(state, draws, draw)
        if reweigh is not None:  # seen when compiling
            apply_to(reweigh, state)
            weigh(state.rows)
        put_draw(state, draws, draw, draws.offsets[draw], draws.offsets[draw + 1])
        refresh(state)
        store(state.units, given, draw - first)


class _Observed:
    """What m and P are computed in: a state with the observations, made when it is first needed; for one thread."""

    def __init__(self, problem: Problem, draws: ChainDraws) -> None:
        self._problem, self._draws = problem, draws
        self._state: State | None = None
        self._stored: StoredDraws | None = None

    def given(self, first: int, last: int) -> Given:
        """Units and weights of the draws [first, last)."""
        problem, draws = self._problem, self._draws
        if self._state is None or self._stored is None:
            rows = lean_for_draws(problem, draws)  # as few as will do
            self._state = conditional_state(rows, int(draws.counts.max(initial=0)) + 1)
            self._stored = stored_draws(draws)
        counts = draws.counts[first:last]
        offsets, starts = _starts(counts), _starts((counts + 1) * (counts + 2) // 2)
        found = Given(
            offsets=offsets,
            centers=np.empty((int(offsets[-1]), draws.centers.shape[1])),
            scales=np.empty(int(offsets[-1])),
            means=np.empty(int(offsets[-1]) + len(counts)),
            starts=starts,
            packed=np.empty(int(starts[-1])),
            bias=float(problem.prior.bias > 0),
            slopes=np.ascontiguousarray(draws.slopes[first:last]),
            middle=0.5 * problem.components[0].widths,
        )
        weigh_kernel = problem.likelihood.weigh
        reweigh = None if weigh_kernel is None else Passed(weigh_kernel)
        weights_kernel(self._state, self._stored, first, last, reweigh, found)
        return found


class ConditionalWeights:
    """Units, m and P of every draw, in groups of draws; any number of threads may ask for them.

    Parameters
    ----------
    problem : Problem
    draws : ChainDraws
    """

    def __init__(self, problem: Problem, draws: ChainDraws) -> None:
        self._problem, self._draws = problem, draws
        self._forget()

    def _forget(self) -> None:
        self._kept: dict[int, Given] = {}
        self._bytes = 0
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        return {"_problem": self._problem, "_draws": self._draws}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    @property
    def nbytes(self) -> int:
        """Memory of what is kept."""
        return self._bytes

    def parts(self) -> list[tuple[int, int]]:
        """All draws, cut into a few parts [first, last) to work on in parallel."""
        n = len(self._draws)
        edges = np.linspace(0, n, min(_PARTS, max(n // _LEAST_IN_PART, 1), n) + 1).astype(int)
        return [(int(a), int(b)) for a, b in itertools.pairwise(edges)]

    def groups(self, first: int, last: int) -> Iterator[tuple[int, Given]]:
        """The draws [first, last) of a part, so many at a time that memory stays small: pairs (first draw, given)."""
        observed = _Observed(self._problem, self._draws)
        sizes = 4 * (self._draws.counts[first:last] + 2) ** 2
        group = np.cumsum(sizes) // _GROUP_BYTES
        edges = first + np.concatenate([[0], np.flatnonzero(np.diff(group)) + 1, [last - first]])
        for a, b in itertools.pairwise(edges):
            yield int(a), self._given(int(a), int(b), observed)

    def _given(self, first: int, last: int, observed: _Observed) -> Given:
        with self._lock:
            found = self._kept.get(first)
        if found is None:
            found = observed.given(first, last)
            with self._lock:
                if first not in self._kept and self._bytes + found.nbytes <= MOST_BYTES:
                    self._kept[first] = found
                    self._bytes += found.nbytes
        return found


def _starts(lengths: Any) -> IntArray:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
