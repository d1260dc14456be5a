"""A Gaussian process on a box in a finite, whitened form: coefficients z ~ N(0, I) give its values at knots.

The kernel is a product over the dimensions, so that the covariance of knots on a regular grid is a Kronecker product:

    h(knots) = mean + √variance · (B_1 ⊗ ... ⊗ B_D) z,      B_d B_dᵀ the covariance along dimension d

Squared exponential, Π_d exp(-½ (x_d - x'_d)² / lengthscale_d²): smooth curves. Each factor is decomposed, K_d = V_d S_d
V_dᵀ, the directions of negligible variance are dropped, and B_d = V_d S_d^½ has the covariance of the process at the
knots to about 1e-8 (1e-4 with fewer knots than by default).

Exponential, Π_d exp(-|x_d - x'_d| / lengthscale_d): curves that may bend anywhere. Along a dimension it is a Markov
chain, with a = exp(-step / lengthscale)

    h_0 = z_0,      h_i = a h_(i-1) + √(1 - a²) z_i        (without mean and √variance)

whence B_d, lower triangular. What lies inside a box of knots depends on what lies outside only by the knots on its
edges (`kernels.bridge`).

The law of the process may be unknown too: a log-normal variance, and a log-normal factor common to all lengthscales.
Each is one more whitened coefficient ζ ~ N(0, 1), after the others in this order:

    variance = median · exp(log_sd · ζ)
    lengthscales = medians · exp(log_sd · 0.2 · r),      r = ζ / 0.2 rounded to a whole number, from -12 to 12

so that the lengthscales take 25 values, each with its own bases on common knots. The coefficients that a longer
lengthscale does not need are left unused.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.functions.interpolation import interpolation_weights

SQUARED_EXPONENTIAL, EXPONENTIAL = KERNELS = ("squared_exponential", "exponential")
_KNOTS_PER_LENGTHSCALE = {SQUARED_EXPONENTIAL: {1: 16.0, 2: 8.0, 3: 6.0}, EXPONENTIAL: {1: 8.0, 2: 4.0, 3: 3.0}}
_FEWEST_PER_LENGTHSCALE = {SQUARED_EXPONENTIAL: 4.0, EXPONENTIAL: 1.0}
_MOST_KNOTS = {1: 2048, 2: 160, 3: 48}
_DROPPED_VARIANCE = 1e-8
_DROPPED_VARIANCE_IF_COARSE = 1e-4  # by each dimension, if there are fewer knots than by default
LENGTHSCALE_STEP = 0.2  # between the values of an unknown lengthscale, in sd of its logarithm
_MOST_BYTES = 32_000_000  # of tables of draws by knots
_STEPS = 12  # to either side of the median


class GridGP:
    """Gaussian process at the knots of a regular grid.

    Parameters
    ----------
    region : Region
        The box; the first and last knots lie on its edges.
    variance : float or LogNormal
        Variance of the process at a point, or its prior.
    lengthscale : ndarray of shape (n_dims,)
        In the units of the input; medians if they are unknown.
    refinement : float
        Multiplies the default number of knots per lengthscale.
    lengthscale_log_sd : float
        Standard deviation of the logarithm of a factor common to all lengthscales; 0 if they are known. The number of
        knots is then that of twice the shortest lengthscale there is, or of the median if that is shorter.
    kernel : {"squared_exponential", "exponential"}
    mean : float
        Of the process at a point.

    Attributes
    ----------
    lengthscales : ndarray of shape (n_lengthscales, n_dims)
        Those that there may be, the shortest first.
    shape : tuple of int
        Number of knots per dimension.
    """

    def __init__(
        self,
        region: Region,
        variance: float | LogNormal,
        lengthscale: FloatArray,
        refinement: float = 1.0,
        lengthscale_log_sd: float = 0.0,
        kernel: str = SQUARED_EXPONENTIAL,
        mean: float = 0.0,
    ) -> None:
        self.region, self.kernel, self.mean = region, kernel, mean
        self._dropped = _DROPPED_VARIANCE if refinement >= 1.0 else _DROPPED_VARIANCE_IF_COARSE
        self.variance = variance.median if isinstance(variance, LogNormal) else variance
        self.variance_log_sd = variance.log_sd if isinstance(variance, LogNormal) else 0.0
        steps = np.arange(-_STEPS, _STEPS + 1) if lengthscale_log_sd > 0.0 else np.zeros(1)
        self.lengthscales = np.multiply.outer(np.exp(lengthscale_log_sd * LENGTHSCALE_STEP * steps), lengthscale)
        shortest = self.lengthscales[0]
        typical = np.minimum(2.0 * shortest, lengthscale)
        self.shape = tuple(
            self._knots(d, float(shortest[d]), float(typical[d]), refinement) for d in range(region.n_dims)
        )

    def _knots(self, d: int, shortest: float, typical: float, refinement: float) -> int:
        n_dims, width = self.region.n_dims, float(self.region.widths[d])
        if n_dims not in _MOST_KNOTS:
            raise StatementError(
                f"region={_checks.show(self.region.bounds.tolist())} has {n_dims} dimensions: "
                "for a Gaussian process of intensity or noise there must be 1, 2 or 3"
            )
        most, per_lengthscale = _MOST_KNOTS[n_dims], _FEWEST_PER_LENGTHSCALE[self.kernel]
        fewest = width / shortest * per_lengthscale
        if fewest > most - 1:
            learned = len(self.lengthscales) > 1
            raise StatementError(
                f"lengthscale={shortest:g} of the Gaussian process"
                f"{', the shortest that its prior allows,' if learned else ''} is too short for a region of width "
                f"{width:g}: it must be at least {width * per_lengthscale / (most - 1):.3g}"
                f"{'; raise the median or lower the factor of the prior' if learned else ''}"
            )
        # a little less, so that rounding of a whole number does not add a knot: the units of x must not matter
        wanted = math.ceil(width / typical * _KNOTS_PER_LENGTHSCALE[self.kernel][n_dims] * refinement - 1e-6) + 1
        if typical != shortest:
            wanted = max(wanted, math.ceil(fewest - 1e-6) + 1)
        return int(min(max(wanted, 9), most))

    @functools.cached_property
    def bases(self) -> list[list[FloatArray]]:
        """B_d for every lengthscale and dimension, shape (n_knots, n_coefficients) each."""
        dims = range(self.region.n_dims)
        bases = [[self._basis(d, float(lengthscales[d])) for d in dims] for lengthscales in self.lengthscales]
        most = [basis.shape[1] for basis in bases[0]]  # a longer lengthscale needs no more, whatever rounding says
        return [[basis[:, :n] for basis, n in zip(row, most, strict=True)] for row in bases]

    def _basis(self, d: int, lengthscale: float) -> FloatArray:
        if self.kernel == EXPONENTIAL:
            return self._along(np.eye(self.shape[d]), d, lengthscale).T
        knots = np.linspace(0.0, self.region.widths[d], self.shape[d])
        covariance = np.exp(-0.5 * ((knots[:, None] - knots[None, :]) / lengthscale) ** 2)
        with threadpool_limits(1, "blas"):  # on more cores it would differ in the last bits, and draws with it
            variances, vectors = np.linalg.eigh(covariance)
        variances, vectors = variances[::-1], vectors[:, ::-1]
        vectors = vectors * np.where(vectors[0] < 0.0, -1.0, 1.0)  # their signs are left open: rounding must not choose
        remaining = 1.0 - np.cumsum(variances) / len(knots)
        n_kept = int(np.argmax(remaining < self._dropped)) + 1
        return np.asarray(vectors[:, :n_kept] * np.sqrt(variances[:n_kept]))

    def correlation(self, d: int, lengthscale: float) -> float:
        """Of neighbouring knots along a dimension, for the exponential kernel."""
        return math.exp(-float(self.region.widths[d]) / (self.shape[d] - 1) / lengthscale)

    def _along(self, z: FloatArray, d: int, lengthscale: float) -> FloatArray:
        """The Markov chain of the exponential kernel along the last axis, from what drives it."""
        a = self.correlation(d, lengthscale)
        values, step = np.array(z, dtype=np.float64), math.sqrt(1.0 - a * a)
        for i in range(1, values.shape[-1]):
            values[..., i] = a * values[..., i - 1] + step * values[..., i]
        return values

    def spreads(self) -> FloatArray:
        """Root mean square over the knots of what each coefficient adds to h, without √variance.

        Shape (n_lengthscales, n_coefficients); of those that are not in use, what is negligible.
        """
        negligible = math.sqrt(_DROPPED_VARIANCE)
        result = np.ones((len(self.bases), 1))
        for d, most in enumerate(self.coefficient_shape):
            factor = np.full((len(self.bases), most), negligible)
            for row, bases in enumerate(self.bases):
                kept = np.sqrt(np.mean(bases[d] ** 2, axis=0))
                factor[row, : len(kept)] = np.maximum(kept, negligible)
            result = (result[:, :, None] * factor[:, None, :]).reshape(len(result), -1)
        return result

    @property
    def coefficient_shape(self) -> tuple[int, ...]:
        """Number of whitened coefficients of the curve per dimension."""
        return self.shape if self.kernel == EXPONENTIAL else tuple(b.shape[1] for b in self.bases[0])

    @property
    def n_coefficients(self) -> int:
        """Number of whitened coefficients of the curve."""
        return math.prod(self.coefficient_shape)

    @property
    def n_unknown(self) -> int:
        """How many of variance and lengthscale are unknown."""
        return int(self.variance_log_sd > 0.0) + int(len(self.lengthscales) > 1)

    @property
    def n_whitened(self) -> int:
        """Number of whitened coefficients in all, of the curve and of its law."""
        return self.n_coefficients + self.n_unknown

    def variances(self, z: FloatArray) -> FloatArray:
        """Variance of the process for coefficients of shape (n, n_whitened), shape (n,)."""
        if self.variance_log_sd == 0.0:
            return np.full(len(z), self.variance)
        return np.asarray(self.variance * np.exp(self.variance_log_sd * np.asarray(z)[:, self.n_coefficients]))

    def which_lengthscales(self, z: FloatArray) -> NDArray[np.int64]:
        """Row of `lengthscales` for coefficients of shape (n, n_whitened), shape (n,)."""
        if len(self.lengthscales) == 1:
            return np.zeros(len(z), dtype=np.int64)
        steps = np.floor(np.asarray(z)[:, -1] / LENGTHSCALE_STEP + 0.5)
        return (np.clip(steps, -_STEPS, _STEPS) + _STEPS).astype(np.int64)

    def expand(self, z: FloatArray) -> FloatArray:
        """Values at the knots, shape (n, *shape), of coefficients of shape (n, n_whitened).

        Sums have one order, whatever the number of cores (matrix products of BLAS do not): a saved model predicts what
        it predicted, to the last bit.
        """
        z = np.asarray(z)
        which, scales = self.which_lengthscales(z), np.sqrt(self.variances(z))
        curve = z[:, : self.n_coefficients].reshape(len(z), *self.coefficient_shape)
        if self.kernel == EXPONENTIAL and len(self.lengthscales) == 1:  # without bases, which would be large
            for d, lengthscale in enumerate(self.lengthscales[0]):
                curve = np.moveaxis(self._along(np.moveaxis(curve, d + 1, -1), d, float(lengthscale)), -1, d + 1)
            return np.asarray(self.mean + scales.reshape(-1, *(1,) * len(self.shape)) * curve)
        result = np.empty((len(z), *self.shape))
        for row in np.unique(which):
            chosen = which == row
            tensor = curve[(chosen, *(slice(basis.shape[1]) for basis in self.bases[row]))]
            for d, basis in enumerate(self.bases[row]):
                along = np.einsum("...m,gm->...g", np.moveaxis(tensor, d + 1, -1), basis)
                tensor = np.moveaxis(along, -1, d + 1)
            result[chosen] = self.mean + scales[chosen].reshape(-1, *(1,) * len(self.shape)) * tensor
        return result

    def values_at(
        self, z: FloatArray, X: FloatArray, link: Callable[[FloatArray], FloatArray] | None = None
    ) -> FloatArray:
        """Curves with coefficients z at points, shape (n, n_points): multilinear between knots.

        Beyond the box they are what they are at its edge. A link is applied at the knots.
        """
        region, size = self.region, math.prod(self.shape)
        knots, shares = interpolation_weights(self.shape, region, np.clip(X, region.low, region.high))
        result = np.zeros((len(z), len(X)))
        step = max(1, _MOST_BYTES // (16 * size))
        for start in range(0, len(z), step):
            tables = self.expand(z[start : start + step]).reshape(-1, size)
            tables = tables if link is None else link(tables)
            for j in range(knots.shape[1]):
                result[start : start + step] += shares[:, j] * tables[:, knots[:, j]]
        return result

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws at the knots, shape (n, *shape)."""
        return self.expand(rng.standard_normal((n, self.n_whitened)))


def lengthscale_vector(name: str, value: object, n_dims: int) -> FloatArray:
    """Lengthscales of the process, one per dimension, from a number or a sequence."""
    allowed = f"it must be a positive finite number, or {n_dims} of them"
    array = _checks.positive_array(name, value, allowed)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n_dims):
        raise _checks.fail(name, value, allowed)
    return np.broadcast_to(array, (n_dims,)).copy()
