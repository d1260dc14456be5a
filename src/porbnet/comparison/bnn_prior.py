"""The standard Bayesian neural network of one hidden layer, with RBF or tanh units and independent Gaussian weights.

    f(x) = b + Σ_k v_k σ(z_k(x)),   z_k(x) = a_k · x + b_k,   σ(z) = exp(-½ z²) or tanh(z)

All is Gaussian but σ, so that moments of f are moments of σ under the Gaussian law of the preactivations z, which has
Cov(z(x1), z(x2)) = input_weight_sd² x1 · x2 + input_bias_sd². For RBF units they are determinants. For tanh units the
covariance uses that the logistic law is a scale mixture of normals (Stefanski 1991): with K of Kolmogorov's law

    tanh(z) = E_K[2 Φ(z / K) - 1],   E[(2Φ(z1/k) - 1)(2Φ(z2/l) - 1)] = (2/π) asin(Σ12 / √((k² + Σ11)(l² + Σ22)))

for (z1, z2) ~ N(0, Σ), which holds its accuracy for weights of any size, where Gauss-Hermite rules for tanh do not.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import DRAWS_PER_BLOCK, RandomState, block_generators
from porbnet.functions import quadrature
from porbnet.statement.function_prior import FunctionPrior
from porbnet.statement.moments import PointMoments

_MOST_PREACTIVATIONS = 1_000_000


class BNNPrior(FunctionPrior):
    """A network of one hidden layer with independent normal weights and biases.

    Parameters
    ----------
    n_units : int
        Width of the hidden layer.
    activation : {"rbf", "tanh"}
        exp(-½ z²) or tanh(z).
    input_weight_sd : float
        Standard deviation of the input weights, per unit of input.
    input_bias_sd : float
        Standard deviation of the hidden biases.
    output_weight_sd : float
        Standard deviation of an output weight, in the units of the output; not divided by √n_units.
    output_bias_sd : float, default 0
        Standard deviation of the output bias, in the units of the output.
    n_dims : int, default 1
        Number of input dimensions.

    Examples
    --------
    The variance falls away from the origin:

    >>> bnn = BNNPrior(50, "rbf", input_weight_sd=1.0, input_bias_sd=1.0, output_weight_sd=0.2)
    >>> bnn.variance([0.0, 2.0]).round(3)
    array([1.155, 0.603])
    >>> bnn.sample([0.0, 0.5, 1.0], n=4, random_state=1).shape
    (4, 3)
    """

    def __init__(
        self,
        n_units: int,
        activation: str = "rbf",
        *,
        input_weight_sd: float,
        input_bias_sd: float,
        output_weight_sd: float,
        output_bias_sd: float = 0.0,
        n_dims: int = 1,
    ) -> None:
        self.n_units = _checks.count("n_units", n_units)
        self.activation = _checks.choice("activation", activation, ("rbf", "tanh"))
        self.input_weight_sd = _checks.positive("input_weight_sd", input_weight_sd)
        self.input_bias_sd = _checks.number("input_bias_sd", input_bias_sd, inclusive=True)
        self.output_weight_sd = _checks.positive("output_weight_sd", output_weight_sd)
        self.output_bias_sd = _checks.number("output_bias_sd", output_bias_sd, inclusive=True)
        self._n_dims = _checks.count("n_dims", n_dims)

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self._n_dims

    # --- draws -------------------------------------------------------------------------------------------------

    def sample_chunks(self, X: Any, n: int, random_state: RandomState = None) -> Iterator[FloatArray]:
        """Function values of n draws in chunks of at most 128 draws.

        Yields
        ------
        ndarray of shape (n_chunk, n_points)
            The rows of `sample(X, n, random_state)`, in order.
        """
        points = _checks.points("X", X, self.n_dims)
        for rng, wanted in block_generators(random_state, _checks.count("n", n)):
            yield self._block(rng, wanted, points)

    def _block(self, rng: np.random.Generator, wanted: int, points: FloatArray) -> FloatArray:
        """One block of draws; always the whole block is drawn, so that its first draws do not depend on `wanted`."""
        m, n_units = DRAWS_PER_BLOCK, self.n_units
        biases = self.output_bias_sd * rng.standard_normal(m)
        slopes = self.input_weight_sd * rng.standard_normal((m, n_units, self.n_dims))
        shifts = self.input_bias_sd * rng.standard_normal((m, n_units, 1))
        weights = self.output_weight_sd * rng.standard_normal((m, 1, n_units))
        values = np.empty((wanted, len(points)))
        size = max(1, _MOST_PREACTIVATIONS // (n_units * max(1, len(points))))
        for i in range(0, wanted, size):
            part = slice(i, min(i + size, wanted))
            z = slopes[part] @ points.T + shifts[part]
            hidden = np.tanh(z, out=z) if self.activation == "tanh" else np.exp(-0.5 * z * z, out=z)
            values[part] = (weights[part] @ hidden)[:, 0] + biases[part, None]
        return values

    # --- moments -----------------------------------------------------------------------------------------------

    def covariance(self, X1: Any, X2: Any = None) -> FloatArray:
        """Prior covariance of f between points.

        Parameters
        ----------
        X1, X2 : array of shape (n1, n_dims) and (n2, n_dims); X2 is X1 if not given

        Returns
        -------
        ndarray of shape (n1, n2), in squared units of the output
        """
        first = _checks.points("X1", X1, self.n_dims)
        second = first if X2 is None else _checks.points("X2", X2, self.n_dims)
        v1, v2 = self._preactivation_variance(first), self._preactivation_variance(second)
        v12 = self.input_weight_sd**2 * (first @ second.T) + self.input_bias_sd**2
        unit = _rbf_product(v1, v2, v12) if self.activation == "rbf" else _tanh_product(v1, v2, v12)
        return self.output_bias_sd**2 + self._weights_variance * unit

    @property
    def _weights_variance(self) -> float:
        return self.n_units * self.output_weight_sd**2

    def _preactivation_variance(self, X: FloatArray) -> FloatArray:
        return np.asarray(self.input_weight_sd**2 * np.sum(X * X, axis=1) + self.input_bias_sd**2)

    def variance(self, X: Any) -> FloatArray:
        """Prior variance of f at points, shape (n_points,), in squared units of the output."""
        return self.point_moments(_checks.points("X", X, self.n_dims)).variance

    def point_moments(self, X: FloatArray) -> PointMoments:
        """Var f, Var ∂f and Cov(f, ∂f) at points, for Rice's formula.

        With u = z / sd(z) and r the correlation of the input weight a_d and z at the point, a_d is input_weight_sd
        times r u plus an independent part of variance 1 - r², which leaves expectations of σ and σ' over u alone.
        """
        v = self._preactivation_variance(X)
        sd = np.sqrt(v)
        # at the origin without input biases z is zero and tells nothing about the weights
        r = np.divide(self.input_weight_sd * X, sd[:, None], out=np.zeros_like(X), where=sd[:, None] > 0)
        square, u_slope, slope2, u2_slope2 = _rbf_moments(v) if self.activation == "rbf" else _tanh_moments(v)
        w, a = self._weights_variance, self.input_weight_sd
        return PointMoments(
            self.output_bias_sd**2 + w * square,
            w * a * a * (r**2 * u2_slope2[:, None] + (1.0 - r**2) * slope2[:, None]),
            w * a * r * u_slope[:, None],
        )

    def __repr__(self) -> str:
        return (
            f"BNNPrior({self.n_units}, {self.activation!r}, input_weight_sd={self.input_weight_sd!r}, "
            f"input_bias_sd={self.input_bias_sd!r}, output_weight_sd={self.output_weight_sd!r}, "
            f"output_bias_sd={self.output_bias_sd!r}, n_dims={self.n_dims})"
        )


def _rbf_product(v1: FloatArray, v2: FloatArray, v12: FloatArray) -> FloatArray:
    """E[exp(-½ z1²) exp(-½ z2²)] = |I + Σ|^(-½), shape (n1, n2)."""
    # (1 + v1)(1 + v2) - v12² written so that large v do not cancel
    overlap = np.maximum(np.multiply.outer(v1, v2) - v12**2, 0.0)
    return np.asarray(1.0 / np.sqrt(1.0 + v1[:, None] + v2[None, :] + overlap))


def _tanh_product(v1: FloatArray, v2: FloatArray, v12: FloatArray) -> FloatArray:
    """E[tanh(z1) tanh(z2)], shape (n1, n2), by the mixture in the module docstring."""
    spread, probability = _kolmogorov_nodes()
    left = 1.0 / np.sqrt(spread[:, None] ** 2 + v1)
    right = 1.0 / np.sqrt(spread[:, None] ** 2 + v2)
    total = np.zeros_like(v12)
    for p, row in zip(probability, left, strict=True):
        for q, column in zip(probability, right, strict=True):
            total += p * q * np.arcsin(v12 * row[:, None] * column)
    return total * (2.0 / math.pi)


def _kolmogorov_nodes(n: int = 32) -> tuple[FloatArray, FloatArray]:
    """Quadrature of Kolmogorov's law, density 8k Σ_i (-1)^(i-1) i² exp(-2 i² k²): values and probabilities.

    With 32 nodes on the log scale the mixture equals tanh to 2e-12.
    """
    low, high = math.log(0.18), math.log(4.5)
    nodes, weights = np.polynomial.legendre.leggauss(n)
    k = np.exp(0.5 * (high - low) * nodes + 0.5 * (high + low))
    i = np.arange(1, 41)[:, None]
    terms = np.where(i % 2 == 1, 1.0, -1.0) * i**2 * np.exp(-2.0 * i**2 * k**2)
    return k, 0.5 * (high - low) * weights * k * 8.0 * k * terms.sum(axis=0)


def _rbf_moments(v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """E[σ²], E[u σ σ'], E[σ'²] and E[u² σ'²] for σ(z) = exp(-½ z²), z = √v u, each of shape (n_points,).

    Since σ² = exp(-v u²), these are moments of a normal of variance 1 / (1 + 2v).
    """
    shrunk = 1.0 / (1.0 + 2.0 * v)
    mass = np.sqrt(shrunk)
    return mass, -np.sqrt(v) * mass * shrunk, v * mass * shrunk, 3.0 * v * mass * shrunk**2


def _tanh_moments(v: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """E[σ²], E[u σ σ'], E[σ'²] and E[u² σ'²] for σ = tanh, z = √v u, each of shape (n_points,), by quadrature."""
    sd = np.sqrt(v)
    # beyond z = 20 the slope of tanh is below 1e-16, beyond u = 9.5 the normal density is; all integrands are even
    reach = np.minimum(9.5, 20.0 / np.maximum(sd, 1e-300))
    nodes, weights = quadrature.panel_rule(0.0, 1.0, 20, np.empty(0))
    u = reach[:, None] * nodes
    mass = 2.0 * reach[:, None] * weights * np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)
    hidden = np.tanh(sd[:, None] * u)
    slope = 1.0 / np.cosh(sd[:, None] * u) ** 2
    # tanh² = 1 - slope does not decay and small values would cancel, so it is summed where the rule covers the normal
    square = np.where(reach >= 9.5, np.sum(mass * hidden**2, axis=1), 1.0 - np.sum(mass * slope, axis=1))
    return (
        square,
        np.sum(mass * u * hidden * slope, axis=1),
        np.sum(mass * slope**2, axis=1),
        np.sum(mass * u**2 * slope**2, axis=1),
    )
