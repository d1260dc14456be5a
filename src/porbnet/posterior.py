"""The posterior: draws in the units of the data, and everything that can be read off them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet import _checks
from porbnet._checks import FloatArray
from porbnet.inference.collapsed.problem import Problem
from porbnet.inference.draws import ChainDraws
from porbnet.inference.driver import ChainResult
from porbnet.model.moments import scale_of
from porbnet.model.network import Networks

_DRAW_BLOCKS = 8  # sums over draws are made in this many parts, whatever the number of threads
_BLOCK_POINTS = 2048  # new points handled at a time
_MOST_BYTES = 64_000_000  # of tables of draws by points


@dataclass(frozen=True, eq=False)
class FMoments:
    """Moments of f at points given each draw's units, shape (n_draws, n_points) each, in the units of the output."""

    mean: FloatArray
    variance: FloatArray


class Posterior:
    """Draws from the posterior over networks.

    Rows of every array run over all draws, chain after chain: draw d of chain c is row c * n_draws_per_chain + d.

    Attributes
    ----------
    n_chains, n_draws_per_chain : int
    n_units : ndarray of shape (n_draws,)
        Width of the network.
    noise, amplitude : ndarray of shape (n_draws,)
        Noise sd and amplitude, in the units of the output.
    bias : ndarray of shape (n_draws,)
        Drawn bias, in the units of the output (offset included).
    log_likelihood : ndarray of shape (n_draws,)
        Log marginal likelihood of the observations given centers and hyper-parameters, weights integrated out.
    """

    def __init__(self, problem: Problem, results: list[ChainResult], offset: float = 0.0) -> None:
        self.problem = problem
        self.results = results
        self.offset = offset
        self.n_chains = len(results)
        self.n_draws_per_chain = len(results[0].draws)
        self.draws = ChainDraws.joined([r.draws for r in results], problem.scaling.n_dims)

    def __len__(self) -> int:
        return len(self.draws)

    def __repr__(self) -> str:
        return f"Posterior({self.n_chains} chains of {self.n_draws_per_chain} draws, {self.n_dims} input dimension(s))"

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self.problem.scaling.n_dims

    @property
    def n_units(self) -> NDArray[np.int64]:
        """Width of each draw's network, shape (n_draws,)."""
        return self.draws.counts

    @property
    def noise(self) -> FloatArray:
        """Noise sd of each draw, shape (n_draws,), in the units of the output."""
        return self.draws.values[:, 0] * self.problem.scaling.y_scale

    @property
    def amplitude(self) -> FloatArray:
        """Amplitude of each draw, shape (n_draws,), in the units of the output."""
        return self.draws.values[:, 1] * self.problem.scaling.y_scale

    @property
    def bias(self) -> FloatArray:
        """Bias of each draw, shape (n_draws,), in the units of the output."""
        return self.offset + self.draws.biases * self.problem.scaling.y_scale

    @property
    def log_likelihood(self) -> FloatArray:
        """Log marginal likelihood of each draw, shape (n_draws,), for outputs in their own units."""
        data = self.problem.data
        jacobian = float(np.sum(np.log(data.root_weight))) - len(data.y) * math.log(self.problem.scaling.y_scale)
        return self.draws.log_p + jacobian

    @property
    def networks(self) -> Networks:
        """Every draw as an explicit network, callable and with gradients, in the units of the data."""
        return self._networks(self.draws.weights, self.draws.biases)

    @property
    def mean_networks(self) -> Networks:
        """Every draw's network at the conditional mean of its weights: their average is the posterior mean of f."""
        return self._networks(self.draws.mean_weights, self.draws.mean_biases)

    def _networks(self, weights: FloatArray, biases: FloatArray) -> Networks:
        scaling, draws = self.problem.scaling, self.draws
        levels = draws.relative * np.repeat(draws.values[:, 2], draws.counts)
        return Networks(
            draws.offsets,
            scaling.centers(draws.centers),
            scale_of(levels, self.problem.hyper.s0, self.n_dims) / scaling.size,
            weights * scaling.y_scale,
            self.offset + biases * scaling.y_scale,
            self.problem.prior.anisotropy,
        )

    def f(self, X: Any) -> FloatArray:
        """Function values of every draw, shape (n_draws, n_points), in the units of the output."""
        return self.networks(X)

    def by_chain(self, values: Any) -> FloatArray:
        """Rows regrouped, shape (n_chains, n_draws_per_chain, ...)."""
        array = np.asarray(values, dtype=np.float64)
        return array.reshape(self.n_chains, self.n_draws_per_chain, *array.shape[1:])

    def intensity(self, X: Any) -> FloatArray:
        """Intensity of every draw, shape (n_draws, n_points), in units per unit of input."""
        points = _checks.points("X", X, self.n_dims)
        prior = self.problem.prior
        if prior.intensity.known:
            return np.tile(prior.intensity.value(points), (len(self), 1))
        levels = self.draws.values[:, 2] / self.problem.scaling.volume
        return np.repeat(levels[:, None], len(points), axis=1)

    def lengthscale(self, X: Any) -> FloatArray:
        """Lengthscale of every draw, shape (n_draws, n_points), in the units of the input."""
        return math.sqrt(2.0) / scale_of(self.intensity(X), self.problem.hyper.s0, self.n_dims)

    # --- Rao-Blackwellised moments of f ------------------------------------------------------------------------

    def mean_and_variance(self, X: Any, n_jobs: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Posterior mean and variance of f, shape (n_points,) each, in memory that does not grow with the draws."""
        x, order = self._sorted(X)
        sums = self._run(x, n_jobs, keep=None)
        n = len(self)
        mean = sums[0] / n
        variance = sums[2] / n + np.maximum(sums[1] / n - mean**2, 0.0)
        scale = self.problem.scaling.y_scale
        return self.offset + _unsorted(mean, order) * scale, _unsorted(variance, order) * scale**2

    def f_moments(self, X: Any, n_jobs: int | None = None) -> Iterator[tuple[slice, FMoments]]:
        """Mean and variance of f given each draw's units, in chunks of points: pairs (rows of X, moments)."""
        points = _checks.points("X", X, self.n_dims)
        length = max(1, _MOST_BYTES // (16 * len(self)))
        scale = self.problem.scaling.y_scale
        for start in range(0, len(points), length):
            rows = slice(start, min(start + length, len(points)))
            x, order = self._sorted(points[rows])
            mean, variance = np.empty((len(self), x.shape[1])), np.empty((len(self), x.shape[1]))
            self._run(x, n_jobs, keep=(mean, variance))
            yield rows, FMoments(
                self.offset + _unsorted(mean, order) * scale, _unsorted(np.maximum(variance, 0.0), order) * scale**2
            )

    def _sorted(self, X: Any) -> tuple[FloatArray, NDArray[np.int64]]:
        u = self.problem.scaling.inputs(_checks.points("X", X, self.n_dims))
        order = np.argsort(u[:, 0], kind="stable")
        return np.ascontiguousarray(u[order].T), order

    def _run(self, x: FloatArray, n_jobs: int | None, keep: tuple[FloatArray, FloatArray] | None) -> FloatArray:
        from joblib import Parallel, delayed

        edges = np.linspace(0, len(self), min(_DRAW_BLOCKS, len(self)) + 1).astype(int)
        parts = Parallel(n_jobs=n_jobs, prefer="threads", require="sharedmem")(
            delayed(self._part)(x, int(a), int(b), keep) for a, b in zip(edges[:-1], edges[1:], strict=True)
        )
        return np.asarray(sum(parts[1:], start=parts[0]))

    def _part(self, x: FloatArray, first: int, last: int, keep: tuple[FloatArray, FloatArray] | None) -> FloatArray:
        """Draws [first, last): their sums, and their rows of `keep`."""
        from porbnet.inference.collapsed.predict import Block, moments_of_draws
        from porbnet.inference.collapsed.state import empty_tuning, empty_units, empty_work

        problem, draws = self.problem, self.draws
        n_dims, n_points = problem.data.x.shape
        capacity = int(draws.counts[first:last].max(initial=0)) + 1
        length = min(_BLOCK_POINTS, max(x.shape[1], 1))
        block = Block(
            np.empty((capacity, length)),
            np.zeros(capacity, dtype=np.int64),
            np.zeros(capacity, dtype=np.int64),
            np.empty(length),
            np.empty(length),
        )
        empty = np.empty((0, 0))
        sums = np.zeros((3, x.shape[1]))
        moments_of_draws(
            problem.data, problem.hyper, first, last, draws.offsets, draws.values, draws.centers, draws.relative, x,
            empty_units(capacity, n_dims, n_points), empty_tuning(), empty_work(capacity, n_dims, n_points), block, sums,
            empty if keep is None else keep[0][first:last], empty if keep is None else keep[1][first:last],
        )  # fmt: skip
        return sums

    def covariance(self, X: Any) -> FloatArray:
        """Posterior covariance of f between points, shape (n_points, n_points): E[Φ P Φᵀ] + Cov[Φ m]."""
        from porbnet.inference.collapsed.predict import prepare_draw
        from porbnet.inference.collapsed.state import empty_tuning, empty_units, empty_work

        problem, draws = self.problem, self.draws
        u = problem.scaling.inputs(_checks.points("X", X, self.n_dims))
        n_dims, n_points = problem.data.x.shape
        capacity = int(draws.counts.max(initial=0)) + 1
        units, work = empty_units(capacity, n_dims, n_points), empty_work(capacity, n_dims, n_points)
        mean, total = np.zeros(len(u)), np.zeros((len(u), len(u)))
        for i in range(len(self)):
            prepare_draw(
                problem.data, problem.hyper, i, draws.offsets, draws.values, draws.centers, draws.relative,
                units, empty_tuning(), work,
            )  # fmt: skip
            n = int(units.n[0])
            distance2 = ((u[:, None, :] - units.centers[None, :n]) ** 2).sum(axis=2)
            design = np.empty((len(u), n + 1))
            design[:, 0] = problem.data.has_bias
            design[:, 1:] = np.exp(-0.5 * units.scales[:n] ** 2 * distance2)
            conditional = design @ units.mean[: n + 1]
            mean += conditional
            total += design @ units.inverse[: n + 1, : n + 1] @ design.T + np.outer(conditional, conditional)
        mean /= len(self)
        return np.asarray((total / len(self) - np.outer(mean, mean)) * problem.scaling.y_scale**2)

    def choose(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Rows of n draws chosen at random, without repeats as long as there are enough."""
        if n <= len(self):
            return rng.permutation(len(self))[:n]
        return rng.integers(0, len(self), n)

    def subset(self, rows: NDArray[np.int64]) -> Networks:
        """The networks of some draws."""
        networks = self.networks
        return Networks.of([networks[int(i)] for i in rows])


def _unsorted(values: FloatArray, order: NDArray[np.int64]) -> FloatArray:
    result = np.empty_like(values)
    result[..., order] = values
    return result
