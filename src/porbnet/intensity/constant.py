"""One level everywhere: known, or unknown with λ² ~ Gamma(α, β) as in the paper's homogeneous case."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np
from scipy import special

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import Gamma, spread_factor
from porbnet.base.parameter import INTENSITY, Parameter
from porbnet.base.region import Region
from porbnet.base.seeds import RandomState, generator
from porbnet.intensity.base import Intensity, Piece, Relative, Units, known_level
from porbnet.intensity.continuation import Continuation, Steps


def _rows(X: Any) -> FloatArray:
    array = _checks.real_array("X", X, "it must be an array of finite numbers")
    return array[:, None] if array.ndim == 1 else np.atleast_2d(array)


class _Flat(Intensity):
    """What the known and the unknown constant share: the same mean level everywhere, on a region of any dimension."""

    @property
    @abstractmethod
    def mean_level(self) -> float:
        """The level, or its prior mean."""

    def on(self, region: Region) -> Intensity:
        return self

    def value(self, X: Any) -> FloatArray:
        return np.full(len(_rows(X)), self.mean_level)

    def gradient(self, X: Any) -> FloatArray:
        return np.zeros_like(_rows(X))

    def integral(self, region: Any) -> float:
        return self.mean_level * Region.of(region).volume

    def sampled_as(self, region: Region) -> Intensity:
        """Itself."""
        return self

    def relative(self, region: Region, volume: float) -> Relative:
        """One everywhere."""
        ones = np.ones((1,) * region.n_dims)
        return Relative("constant", ones, [np.empty(0)] * region.n_dims, 1.0, 1.0)


class Constant(_Flat):
    """A known constant intensity.

    Parameters
    ----------
    level : float
        Units per unit of input (length, area or volume); positive.

    Examples
    --------
    >>> Constant(5.0).integral((0.0, 2.0))
    10.0
    """

    def __init__(self, level: float) -> None:
        self.level = _checks.positive("level", level)

    @property
    def mean_level(self) -> float:
        """The level."""
        return self.level

    def upper_bound(self, region: Region) -> float:
        """The level."""
        return self.level

    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws: Poisson counts, uniform centers."""
        counts = rng.poisson(self.level * region.volume, size=n)
        total = int(counts.sum())
        return Units(counts, region.uniform(total, rng), np.full(total, self.level))

    def continuation(self, region: Region) -> Continuation:
        """The level."""
        return Steps.everywhere(np.array([self.level]), region.n_dims)

    def pieces(self, region: Region) -> list[Piece]:
        """One piece: the whole region."""
        return [Piece(1.0, self.level, region)]

    def level_parameter(self, region: Region) -> Parameter:
        """The level, known."""
        return known_level(self.level)

    def __repr__(self) -> str:
        return f"Constant({self.level!r})"


class UnknownConstant(_Flat):
    """An unknown constant intensity λ with λ² ~ Gamma(shape, rate).

    Parameters
    ----------
    shape, rate : float
        Of the Gamma distribution of λ²; positive. The paper writes α_λ and β_λ.

    Examples
    --------
    About 33.3 units per unit of input, known to within a few percent, as the paper's authors set it:

    >>> UnknownConstant(1110.9, 1.0)
    UnknownConstant(shape=1110.9, rate=1.0)
    """

    known = False

    def __init__(self, shape: float, rate: float) -> None:
        self.square = Gamma(shape, rate)

    @classmethod
    def about(cls, level: float, factor: float = 3.0) -> UnknownConstant:
        """The level is about `level`, give or take a factor of `factor`.

        Matches mean and variance of log λ to those of a log-normal with median `level` and log-sd log(factor).
        """
        level, factor = _checks.positive("level", level), spread_factor(factor)
        from scipy import optimize  # slow to import

        # log λ² has variance trigamma(shape) and mean digamma(shape) - log(rate)
        target = (2.0 * math.log(factor)) ** 2
        shape = 1e12
        if target > special.polygamma(1, shape):
            log_shape = optimize.brentq(
                lambda a: math.log(special.polygamma(1, math.exp(a)) / target), math.log(1e-3), math.log(shape)
            )
            shape = math.exp(log_shape)
        return cls(shape, math.exp(special.digamma(shape) - 2.0 * math.log(level)))

    @property
    def mean_level(self) -> float:
        """E[λ] = Γ(shape + ½) / (Γ(shape) √rate)."""
        shape, rate = self.square.shape, self.square.rate
        if shape > 1e4:  # the difference of two huge logarithms would lose digits
            return math.sqrt(shape / rate) * (1.0 - 1.0 / (8.0 * shape) + 1.0 / (128.0 * shape**2))
        return math.exp(math.lgamma(shape + 0.5) - math.lgamma(shape)) / math.sqrt(rate)

    def upper_bound(self, region: Region) -> float:
        """The level exceeded with probability 1e-6."""
        return float(np.sqrt(self.square.quantile(1.0 - 1e-6)))

    def draw(self, region: Any, random_state: RandomState = None) -> Constant:
        """A `Constant` with a level drawn from the prior."""
        level = float(np.sqrt(self.square.sample(1, generator(random_state))[0]))
        return Constant(max(level, 1.0 / _checks.LARGEST))

    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws, each with its own level."""
        return self.sample_continued(region, n, rng)[0]

    def sample_continued(self, region: Region, n: int, rng: np.random.Generator) -> tuple[Units, Continuation]:
        """The same, with the level of each draw."""
        levels = np.sqrt(self.square.sample(n, rng))
        counts = rng.poisson(levels * region.volume)
        units = Units(counts, region.uniform(int(counts.sum()), rng), np.repeat(levels, counts))
        return units, Steps.everywhere(levels, region.n_dims)

    def pieces(self, region: Region) -> list[Piece]:
        """The whole region at quadrature levels of the prior."""
        return [Piece(p, level, region) for p, level in zip(*self.level_nodes(), strict=True)]

    def marginal(self, region: Region) -> list[tuple[float, Intensity]]:
        """Constants at quadrature levels of the prior."""
        return [(p, Constant(level)) for p, level in zip(*self.level_nodes(), strict=True)]

    def level_parameter(self, region: Region) -> Parameter:
        """λ, by the law of its square."""
        return Parameter("level", self.square, INTENSITY, power=2, start=self.mean_level, diagnosed=False)

    def level_quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Quantiles of λ."""
        return np.sqrt(self.square.quantile(probabilities))

    def level_nodes(self) -> tuple[list[float], list[float]]:
        """Quadrature of the prior of λ: probabilities and levels."""
        probabilities, squares = gamma_nodes(self.square)
        return probabilities.tolist(), np.sqrt(squares).tolist()

    def __repr__(self) -> str:
        return f"UnknownConstant(shape={self.square.shape!r}, rate={self.square.rate!r})"


def gamma_nodes(gamma: Gamma, n: int = 96) -> tuple[FloatArray, FloatArray]:
    """Gauss-Legendre quadrature of a Gamma distribution on the log scale: probabilities and values.

    The probabilities sum to one, but for the share (with a small shape only) of values e^60 times below the largest.
    """
    high = float(np.log(gamma.quantile(1.0 - 1e-13)))
    low = high - 60.0
    if gamma.quantile(1e-13) > math.exp(low):
        low = float(np.log(gamma.quantile(1e-13)))
    nodes, weights = np.polynomial.legendre.leggauss(n)
    logs = 0.5 * (high - low) * nodes + 0.5 * (high + low)
    below = logs - logs.max()
    log_mass = gamma.shape * below - gamma.rate * np.exp(logs.max()) * np.expm1(below)
    mass = weights * np.exp(log_mass - log_mass.max())
    share = 1.0 - float(special.gammainc(gamma.shape, gamma.rate * math.exp(low)))
    return share * mass / mass.sum(), np.exp(logs)
