"""What units beyond the region add to predictions: nothing where the data lie, the prior far away, and a way between.

A fit has the units of its region; those beyond come from the prior, with the intensity of each draw continued
(`intensity.continuation`). They add a function g to f, independent of what was fitted, with the covariance k of
`statement.outside_covariance`. Within the box of the data the fit has told what f is, and g is nothing there: it is
held at zero at the point e(x) of that box that is nearest to x, and with one input at two places further inside,

    g₀(x) = g(x) - k(x, e) (k(e, e) + ε)⁻¹ g(e),        e = e(x), or (e_0(x), e_1(x), e_2(x))

which is g less what its values there say of it (up to an error of a ten-thousandth of the amplitude, √ε, without which
next to nothing would be multiplied by next to infinity). Where the region ends 1.5 lengthscales beyond the data, as it
does by default, g(e) is next to nothing anyway. g₀ changes with x without a jump, and far away it is g.

Only variances of f change by it: g₀ has mean zero.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.intensity.continuation import Steps, edge_places
from porbnet.posterior.cells import Layout, layout, slices, through_cells
from porbnet.statement.moments import scale_of
from porbnet.statement.outside_covariance import OutsideCovariance
from porbnet.statement.outside_units import MOST_DIMS, Outside, OutsideUnits

if TYPE_CHECKING:
    from porbnet.posterior.posterior import Posterior

IntArray = NDArray[np.int64]

_INWARD, _INWARD_BEYOND = (0.0, 0.1, 0.3), (0.0,)  # of the way to the middle of the data's box: where g is held
_RIDGE = 1e-8  # of amplitude²
_SLACK = 1e-9  # of the size of that box, by which its own rows may seem to lie beyond it
_WORK, _WORK_BEYOND = 8000, 2400  # draws, over the cost of one, whose k is computed; others take that of a near one
_FEW_DRAWS = 200  # for covariances
_MOST_NUMBERS = 500_000  # of a table of draws by points
_LEAST_GAIN = 4.0  # points of a cell over its nodes
_SEED = 18  # of the units beyond the region; which draws are looked at is up to the caller's own


class Beyond:
    """What is beyond the region of a fit, in the units of the data.

    Parameters
    ----------
    posterior : Posterior

    Attributes
    ----------
    box : Region
        Of the data: the least that holds all inputs (without data one far away).
    told : bool
        Whether anyone was told that predictions went beyond the region.
    """

    told = False

    def __init__(self, posterior: Posterior) -> None:
        self._posterior = posterior
        X, region = posterior.problem.X, posterior.problem.prior.region
        far = region.high + 1e3 * region.widths  # without data nothing is held anywhere near
        self.box = Region(X.min(axis=0), X.max(axis=0)) if len(X) else Region(far, far + region.widths)

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: what can be made again stays behind."""
        return {"_posterior": self._posterior, "box": self.box}

    @functools.cached_property
    def _covariance(self) -> OutsideCovariance:
        prior = self._posterior.problem.prior
        return OutsideCovariance(self.continuation(), prior.region, prior.s0, prior.anisotropy)

    def continuation(self) -> Steps:
        """Of every draw; a function goes on as its table does, by which a fit knows it: as it is at the edge."""
        posterior, prior = self._posterior, self._posterior.problem.prior
        known = prior.intensity.continuation(prior.region)
        if isinstance(known, Steps):
            return known
        if known is not None:
            table = prior.intensity.sampled_as(prior.region)
            return Steps.around(prior.region, table.value(edge_places(prior.region))[None])
        if posterior.problem.components[0].process is None:
            return Steps.everywhere(posterior.parameter("level"), posterior.n_dims)
        return Steps.around(prior.region, np.maximum(posterior.intensity(edge_places(prior.region)), 1e-300))

    @functools.cached_property
    def _chosen(self) -> IntArray:
        """Draws whose k is computed."""
        n = self._covariance.n_different
        work = _WORK if self._posterior.n_dims == 1 else _WORK_BEYOND
        wanted = min(n, max(50, work // self._covariance.cost))
        return np.unique(np.linspace(0, n - 1, wanted).round().astype(np.int64))

    @functools.cached_property
    def _stands_in(self) -> IntArray:
        """Which of the chosen draws stands in for each draw, shape (n_draws,)."""
        if len(self._chosen) == 1:
            return np.zeros(len(self._posterior), dtype=np.int64)
        middles = 0.5 * (self._chosen[1:] + self._chosen[:-1])
        return np.searchsorted(middles, np.arange(len(self._posterior)))

    @functools.cached_property
    def _squares(self) -> FloatArray:
        """Mean of amplitude² over the draws that each chosen one stands for, times their share, shape (n_chosen,)."""
        n = len(self._posterior)
        return np.bincount(self._stands_in, self._posterior.amplitude**2, len(self._chosen)) / n

    # --- where g is held ---------------------------------------------------------------------------------------

    def free(self, X: FloatArray) -> NDArray[np.bool_]:
        """Which points lie beyond the box of the data, and not by rounding alone, shape (n_points,)."""
        slack = _SLACK * (self.box.high - self.box.low)
        return np.asarray(np.any((self.box.low - slack > X) | (self.box.high + slack < X), axis=1))

    def places(self, X: FloatArray) -> FloatArray:
        """Where g is held on account of each point, shape (n_points, n_pins, n_dims)."""
        nearest, middle = np.clip(X, self.box.low, self.box.high), 0.5 * (self.box.low + self.box.high)
        return np.stack([nearest + t * (middle - nearest) for t in self._inward], axis=1)

    @property
    def _inward(self) -> tuple[float, ...]:
        return _INWARD if self._posterior.n_dims == 1 else _INWARD_BEYOND

    def coefficients(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """k(x, e) (k(e, e) + ε)⁻¹ in some draws, shape (n_rows, n_points, n_pins)."""
        # a draw's own: those of another, with sharper units, would be of no use
        draws = rows if self._covariance.n_different > 1 else np.zeros(1, dtype=np.int64)
        result = np.empty((len(draws), len(X), len(self._inward)))
        for some in self._few(len(X), len(draws)):
            result[:, some] = self._held(X[some], draws)[1]
        return np.broadcast_to(result, (len(rows), *result.shape[1:]))

    def _few(self, n_points: int, n_draws: int) -> Iterator[slice]:
        return slices(n_points, max(1, _MOST_NUMBERS // (n_draws * len(self._inward) ** 2)))

    def _held(self, X: FloatArray, draws: IntArray) -> tuple[FloatArray, FloatArray]:
        """Variance of g₀ for unit amplitude, shape (n_draws, n_points); coefficients, and (n_pins,) for these."""
        k, n_pins = self._covariance, len(self._inward)
        own = k.pairs(X, X, draws)
        pins, back = np.unique(self.places(X).reshape(len(X), -1), axis=0, return_inverse=True)
        pins, back = pins.reshape(-1, n_pins, X.shape[1]), back.ravel()
        matrix = np.empty((len(own), len(pins), n_pins, n_pins))
        for i in range(n_pins):
            for j in range(i + 1):
                matrix[..., i, j] = matrix[..., j, i] = k.pairs(pins[:, i], pins[:, j], draws)
        with_pins = np.stack([k.pairs(X, pins[back, j], draws) for j in range(n_pins)], axis=-1)
        matrix[..., range(n_pins), range(n_pins)] += _RIDGE
        coefficients = np.einsum("npij,npj->npi", np.linalg.inv(matrix)[:, back], with_pins)
        taken = np.sum(coefficients * (with_pins + _RIDGE * coefficients), axis=-1)
        return np.maximum(own - taken, 0.0), coefficients

    # --- moments -----------------------------------------------------------------------------------------------

    def variance(self, X: FloatArray) -> FloatArray:
        """What g₀ adds to the posterior variance of f, shape (n_points,)."""
        result, free = np.zeros(len(X)), np.flatnonzero(self.free(X))
        for side in self._sides(X[free]):
            rows = free[side]
            found = self._layout(X[rows])
            result[rows] = through_cells(found, 1, lambda u: self._mean_of_draws(self._shares(u))[None])[0]
        return result

    def _mean_of_draws(self, shares: FloatArray) -> FloatArray:
        """Over the chosen draws, shape (n_points,); the order of the sum does not depend on the number of threads."""
        return np.asarray(np.einsum("n,np->p", self._squares, shares))

    def table(self, X: FloatArray) -> FloatArray | None:
        """What g₀ adds to the variance of f in each draw, shape (n_draws, n_points); None if nothing."""
        free = np.flatnonzero(self.free(X))
        if not len(free):
            return None
        result = np.zeros((len(self._posterior), len(X)))
        shares = self._shares(X[free])[self._stands_in]
        result[:, free] = self._posterior.amplitude[:, None] ** 2 * shares
        return result

    def covariance(self, X: FloatArray) -> FloatArray | None:
        """What g₀ adds to the posterior covariance of f, shape (n_points, n_points); None if nothing."""
        free = np.flatnonzero(self.free(X))
        if not len(free):
            return None
        points, n, n_pins = X[free], len(free), len(self._inward)
        pins, back = np.unique(self.places(points).reshape(n * n_pins, -1), axis=0, return_inverse=True)
        every = np.concatenate([points, pins])
        first, second = (i.ravel() for i in np.indices((len(every), len(every))))
        total, columns = np.zeros((n, n)), n + back.reshape(n, n_pins)
        few = slice(None, None, max(1, len(self._chosen) // _FEW_DRAWS))
        coefficients = self._held(points, self._chosen[few])[1]
        for i, (draw, square) in enumerate(zip(self._chosen[few], self._squares[few], strict=True)):
            k = self._covariance.pairs(every[first], every[second], np.array([draw])).reshape(len(every), -1)
            less = np.zeros((n, len(every)))
            less[np.arange(n), np.arange(n)] = 1.0
            np.subtract.at(less, (np.arange(n)[:, None], columns), coefficients[i])
            total += square * (less @ k @ less.T)
        # correlations from some of the draws, variances from all of them
        variance = np.diag(total)
        factor = np.sqrt(np.where(variance > 0.0, self.variance(points) / np.where(variance > 0.0, variance, 1.0), 0.0))
        result = np.zeros((len(X), len(X)))
        result[np.ix_(free, free)] = 0.5 * (total + total.T) * factor[:, None] * factor
        return result

    def _shares(self, X: FloatArray) -> FloatArray:
        """Variance of g₀ for unit amplitude in the chosen draws, shape (n_chosen, n_points)."""
        result = np.empty((len(self._chosen), len(X)))
        for some in self._few(len(X), len(self._chosen)):
            result[:, some] = self._held(X[some], self._chosen)[0]
        return result

    def _sides(self, X: FloatArray) -> list[IntArray]:
        """With one input, points to the left and to the right of the data; else all of them."""
        if X.shape[1] > 1:
            return [np.arange(len(X))]
        left = X[:, 0] < self.box.low[0]
        return [np.flatnonzero(left), np.flatnonzero(~left)]

    def _layout(self, X: FloatArray) -> Layout:
        """Cells in which the variance is smooth: with one input and levels that are constant beyond the region."""
        k = self._covariance
        if X.shape[1] > 1 or not len(X):
            return Layout(X, [], np.arange(len(X)))
        scales = np.asarray(scale_of(k.steps.levels[self._chosen], k.s0, 1)).ravel() * math.sqrt(2.0)
        edge = k.region.low if X[0, 0] < self.box.low[0] else k.region.high
        return layout(X, np.full((len(scales), 1), edge), scales, _LEAST_GAIN)

    # --- functions ---------------------------------------------------------------------------------------------

    @functools.cached_property
    def units(self) -> OutsideUnits | None:
        """The units beyond the region of every draw; None with more inputs than they could be made for."""
        if self._posterior.n_dims > MOST_DIMS:
            return None
        prior = self._posterior.problem.prior
        factor = math.pow(prior.s0**2 / math.pi, prior.n_dims / 4.0)
        source = Outside(
            self.continuation,
            prior.region,
            prior.s0,
            prior.anisotropy,
            factor * self._posterior.amplitude,
            np.random.SeedSequence(_SEED),
        )
        return OutsideUnits(source, np.arange(len(self._posterior)), self)
