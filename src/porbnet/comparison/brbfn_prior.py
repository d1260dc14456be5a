"""The B-RBFN of Andrieu et al. (2001): a Poisson-process network whose scales do not follow the intensity.

    f(x) = b + Σ_k w_k exp(-½ s² ‖x - c_k‖²),   w_k ~ N(0, weight_sd²),   b ~ N(0, bias²)

Well inside the region and with a constant intensity λ in one dimension, Var f = bias² + weight_sd² λ √π / s and the
lengthscale is √2 / s: whoever changes the lengthscale changes the amplitude too, and where the intensity varies so does
the amplitude.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.base.seeds import DRAWS_PER_BLOCK, RandomState, block_generators
from porbnet.functions.network import Networks
from porbnet.intensity import Constant, Intensity, Piece
from porbnet.statement import moments
from porbnet.statement.function_prior import FunctionPrior


class BRBFNPrior(FunctionPrior):
    """A Poisson-process RBF network with one scale for all units.

    Parameters
    ----------
    scale : float
        s, inverse width of every unit, per unit of input; the lengthscale is √2 / s.
    intensity : float or Intensity
        Units per unit of input volume; see `porbnet.intensity`.
    weight_sd : float
        Standard deviation of a weight, in the units of the output.
    region : (low, high), or one pair per dimension
        Where centers may lie, in the units of the input.
    bias : float, default 0
        Standard deviation of the constant b, in the units of the output.

    Examples
    --------
    Half the lengthscale, half the variance:

    >>> wide = BRBFNPrior(scale=2.0, intensity=4.0, weight_sd=1.0, region=(-5.0, 5.0))
    >>> narrow = BRBFNPrior(scale=4.0, intensity=4.0, weight_sd=1.0, region=(-5.0, 5.0))
    >>> float(narrow.variance([0.0])[0] / wide.variance([0.0])[0])
    0.5
    >>> wide.sample([0.0, 0.5, 1.0], n=4, random_state=1).shape
    (4, 3)
    """

    def __init__(
        self, scale: float, intensity: float | Intensity, weight_sd: float, *, region: Any, bias: float = 0.0
    ) -> None:
        self.region = Region.of(region)
        self.scale = _checks.positive("scale", scale)
        level = intensity if isinstance(intensity, Intensity) else Constant(_checks.positive("intensity", intensity))
        self.intensity = level.on(self.region)
        self.weight_sd = _checks.positive("weight_sd", weight_sd)
        self.bias = _checks.number("bias", bias, inclusive=True)
        self._ratios = np.ones(self.region.n_dims)

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self.region.n_dims

    @property
    def lengthscale(self) -> float:
        """√2 / scale, in the units of the input."""
        return math.sqrt(2.0) / self.scale

    @property
    def expected_units(self) -> float:
        """Expected number of units, the integral of the intensity over the region."""
        return self.intensity.integral(self.region)

    @property
    def _unit_variance(self) -> float:
        """weight_sd² ∫ exp(-s² ‖c‖²) dc: what a unit density of units adds to the variance."""
        return self.weight_sd**2 * math.pow(math.pi / self.scale**2, self.n_dims / 2.0)

    # --- draws -------------------------------------------------------------------------------------------------

    def sample_networks(self, n: int = 1, random_state: RandomState = None) -> Networks:
        """Draw explicit networks.

        Parameters
        ----------
        n : int
            Number of networks.
        random_state : int, Generator, SeedSequence, RandomState or None
            The first draws are the same whatever `n` is.

        Returns
        -------
        Networks
            A sequence of n callable networks, with centers, scales, weights and biases stored flat.
        """
        blocks = block_generators(random_state, _checks.count("n", n))
        return Networks.of([network for rng, wanted in blocks for network in self._block(rng, wanted)])

    def _block(self, rng: np.random.Generator, wanted: int) -> Networks:
        """One block of draws; always the whole block is drawn, so that its first draws do not depend on `wanted`."""
        biases = self.bias * rng.standard_normal(DRAWS_PER_BLOCK)
        units = self.intensity.sample_units(self.region, DRAWS_PER_BLOCK, rng)
        n_units = len(units.levels)
        return Networks(
            np.concatenate([[0], np.cumsum(units.counts)]),
            units.centers,
            np.full(n_units, self.scale),
            self.weight_sd * rng.standard_normal(n_units),
            biases,
            self._ratios,
        )[:wanted]

    def sample_chunks(self, X: Any, n: int, random_state: RandomState = None) -> Iterator[FloatArray]:
        """Function values of n draws in chunks of at most 128 draws.

        Yields
        ------
        ndarray of shape (n_chunk, n_points)
            The rows of `sample(X, n, random_state)`, in order.
        """
        points = _checks.points("X", X, self.n_dims)
        for rng, wanted in block_generators(random_state, _checks.count("n", n)):
            yield self._block(rng, wanted)(points)

    # --- moments -----------------------------------------------------------------------------------------------

    def covariance(self, X1: Any, X2: Any = None, method: str = "auto") -> FloatArray:
        """Prior covariance of f between points, bias² + weight_sd² ∫ λ(c) exp(-½ s² [‖x1 - c‖² + ‖x2 - c‖²]) dc.

        Parameters
        ----------
        X1, X2 : array of shape (n1, n_dims) and (n2, n_dims); X2 is X1 if not given
        method : {"auto", "closed", "quadrature"}
            Closed form exists for constant, piecewise and sigmoid-GP intensities; "auto" takes it where it does.

        Returns
        -------
        ndarray of shape (n1, n2), in squared units of the output
        """
        first = _checks.points("X1", X1, self.n_dims)
        second = first if X2 is None else _checks.points("X2", X2, self.n_dims)
        pieces = self._pieces(method)
        if pieces is not None:
            unit = moments.closed_covariance(first, second, pieces, self.scale, self._ratios, tied=False)
        else:
            unit = moments.quadrature_covariance(
                first, second, self.intensity, self.region, self.scale, self._ratios, tied=False
            )
        return self.bias**2 + self._unit_variance * unit

    def _pieces(self, method: str) -> list[Piece] | None:
        _checks.choice("method", method, ("auto", "closed", "quadrature"))
        pieces = None if method == "quadrature" else self.intensity.pieces(self.region)
        if method == "closed" and pieces is None:
            raise _checks.fail("method", method, f"{self.intensity!r} has no closed form: use 'quadrature' or 'auto'")
        return pieces

    def variance(self, X: Any, method: str = "auto") -> FloatArray:
        """Prior variance of f at points, shape (n_points,), in squared units of the output."""
        return self.point_moments(_checks.points("X", X, self.n_dims), method).variance

    def point_moments(self, X: FloatArray, method: str = "auto") -> moments.PointMoments:
        """Var f, Var ∂f and Cov(f, ∂f) at points, for Rice's formula."""
        pieces = self._pieces(method)
        if pieces is not None:
            unit = moments.closed_point_moments(X, pieces, self.scale, self._ratios, tied=False)
        else:
            unit = moments.quadrature_point_moments(
                X, self.intensity, self.region, self.scale, self._ratios, tied=False
            )
        v = self._unit_variance
        return moments.PointMoments(self.bias**2 + v * unit.variance, v * unit.gradient_variance, v * unit.cross)

    def __repr__(self) -> str:
        bounds = self.region.bounds.tolist()
        return (
            f"BRBFNPrior(scale={self.scale!r}, intensity={self.intensity!r}, weight_sd={self.weight_sd!r}, "
            f"region={bounds[0] if self.n_dims == 1 else bounds!r}, bias={self.bias!r})"
        )
