"""A Gaussian process on a box in a finite, whitened form: coefficients z ~ N(0, I) give its values at knots.

With a squared-exponential kernel, k(x, x') = variance · Π_d exp(-½ (x_d - x'_d)² / lengthscale_d²), and knots on a
regular grid, the covariance of the knots is a Kronecker product. Each factor is decomposed, K_d = V_d S_d V_dᵀ, and the
directions of negligible variance are dropped:

    h(knots) = √variance · (B_1 ⊗ ... ⊗ B_D) z,      B_d = V_d S_d^½

which has the covariance of the process at the knots to about 1e-8.
"""

from __future__ import annotations

import math

import numpy as np

from porbnet import _checks
from porbnet._checks import FloatArray
from porbnet.errors import StatementError
from porbnet.region import Region

_KNOTS_PER_LENGTHSCALE = {1: 16.0, 2: 8.0, 3: 6.0}
_FEWEST_PER_LENGTHSCALE = 4.0
_MOST_KNOTS = {1: 2048, 2: 160, 3: 48}
_DROPPED_VARIANCE = 1e-8


class GridGP:
    """Squared-exponential Gaussian process with mean zero at the knots of a regular grid.

    Parameters
    ----------
    region : Region
        The box; the first and last knots lie on its edges.
    variance : float
        Variance of the process at a point.
    lengthscale : ndarray of shape (n_dims,)
        In the units of the input.
    refinement : float
        Multiplies the default number of knots per lengthscale.
    """

    def __init__(self, region: Region, variance: float, lengthscale: FloatArray, refinement: float = 1.0) -> None:
        self.region = region
        self.variance = variance
        self.shape = tuple(self._knots(d, float(lengthscale[d]), refinement) for d in range(region.n_dims))
        self.bases = [self._basis(d, float(lengthscale[d])) for d in range(region.n_dims)]

    def _knots(self, d: int, lengthscale: float, refinement: float) -> int:
        n_dims, width = self.region.n_dims, float(self.region.widths[d])
        if n_dims not in _MOST_KNOTS:
            raise StatementError(
                f"region={_checks.show(self.region.bounds.tolist())} has {n_dims} dimensions: "
                "for a Gaussian process of intensity or noise there must be 1, 2 or 3"
            )
        lengths = width / lengthscale
        most = _MOST_KNOTS[n_dims]
        if lengths * _FEWEST_PER_LENGTHSCALE > most - 1:
            raise StatementError(
                f"lengthscale={lengthscale:g} of the Gaussian process is too short for a region of width {width:g}: "
                f"it must be at least {width * _FEWEST_PER_LENGTHSCALE / (most - 1):.3g}"
            )
        # a little less, so that rounding of a whole number does not add a knot: the units of x must not matter
        wanted = math.ceil(lengths * _KNOTS_PER_LENGTHSCALE[n_dims] * refinement - 1e-6) + 1
        return int(min(max(wanted, 9), most))

    def _basis(self, d: int, lengthscale: float) -> FloatArray:
        knots = np.linspace(0.0, self.region.widths[d], self.shape[d])
        covariance = np.exp(-0.5 * ((knots[:, None] - knots[None, :]) / lengthscale) ** 2)
        variances, vectors = np.linalg.eigh(covariance)
        variances, vectors = variances[::-1], vectors[:, ::-1]
        vectors = vectors * np.where(vectors[0] < 0.0, -1.0, 1.0)  # their signs are left open: rounding must not choose
        remaining = 1.0 - np.cumsum(variances) / len(knots)
        n_kept = int(np.argmax(remaining < _DROPPED_VARIANCE)) + 1
        return np.asarray(vectors[:, :n_kept] * np.sqrt(variances[:n_kept]))

    @property
    def coefficient_shape(self) -> tuple[int, ...]:
        """Number of whitened coefficients per dimension."""
        return tuple(b.shape[1] for b in self.bases)

    @property
    def n_coefficients(self) -> int:
        """Number of whitened coefficients in all."""
        return math.prod(self.coefficient_shape)

    def expand(self, z: FloatArray) -> FloatArray:
        """Values at the knots, shape (n, *shape), of coefficients of shape (n, n_coefficients)."""
        tensor = np.asarray(z).reshape(len(z), *self.coefficient_shape)
        for d, basis in enumerate(self.bases):
            tensor = np.moveaxis(np.tensordot(tensor, basis, axes=(d + 1, 1)), -1, d + 1)
        return math.sqrt(self.variance) * tensor

    def sample(self, n: int, rng: np.random.Generator) -> FloatArray:
        """Draws at the knots, shape (n, *shape)."""
        return self.expand(rng.standard_normal((n, self.n_coefficients)))


def lengthscale_vector(name: str, value: object, n_dims: int) -> FloatArray:
    """Lengthscales of the process, one per dimension, from a number or a sequence."""
    allowed = f"it must be a positive finite number, or {n_dims} of them"
    array = _checks.positive_array(name, value, allowed)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != n_dims):
        raise _checks.fail(name, value, allowed)
    return np.broadcast_to(array, (n_dims,)).copy()
