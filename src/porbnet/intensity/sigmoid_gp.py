"""The sigmoidal Gaussian Cox process: an unknown intensity that varies over the input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from scipy.special import expit

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import Gamma, LogNormal
from porbnet.base.parameter import INTENSITY, Parameter
from porbnet.base.region import Region
from porbnet.base.seeds import RandomState, generator
from porbnet.functions.grid_gp import KERNELS, SQUARED_EXPONENTIAL, GridGP, lengthscale_vector
from porbnet.intensity.base import Intensity, Piece, Relative, Units
from porbnet.intensity.constant import Constant, gamma_nodes
from porbnet.intensity.continuation import Continuation, Steps, edge_places
from porbnet.intensity.tabulated import Tabulated, interpolate, thinned_units

_MOST_TABLED = 2_000_000  # knots held at a time
_LARGEST_H = 150.0  # beyond which a level is as good as zero or as λ*
_LARGEST_MEAN = 50.0
_MOST_VARIANCE = 1e4  # of h: its sigmoid is zero, to the computer, from -745 on


class SigmoidGP(Intensity):
    """λ(c) = λ* · sigmoid(h(c)), with h a Gaussian process (Adams et al. 2009).

    The process lives on a regular grid of knots (16 per lengthscale in one dimension, 8 in two, 6 in three, half as
    many for the exponential kernel; see `functions.grid_gp`); λ is multilinear between the knots, so that its integral
    is exact and draws by thinning are exact draws of that function.

    Parameters
    ----------
    upper : float or Gamma
        λ*, the level that the intensity never exceeds, in units per unit of input volume; or its prior.
    variance : float or LogNormal
        Variance of h. With 1, two thirds of the levels lie between 0.27 and 0.73 λ*; with 5, between 0.1 and 0.9 λ*.
        A `LogNormal` is its prior: it is then learned.
    lengthscale : float, sequence of float, LogNormal or sequence of LogNormal
        Lengthscale of h in the units of the input, one or one per dimension: how far apart levels are alike. A
        `LogNormal` is its prior, rounded to 25 values: median · factor^(r/5) for r = -12 ... 12, each with the mass
        nearest to it (the ends have what lies beyond them too). With several inputs only a factor common to all
        lengthscales is learned: one `LogNormal` for a lengthscale that is the same along each, or one per dimension,
        all with the same `factor`, whose medians say in which ratio they stand.
    refinement : float, default 1
        Multiplies the number of knots per lengthscale.
    kernel : {"squared_exponential", "exponential"}
        Of h: smooth curves, or ones that may bend anywhere, whose posteriors are found by updates of one place at a
        time: chains meet where functions jump or are rough. A product over the inputs, if there are several.
    mean : float, default 0
        Of h. With 0 the typical level is half of λ*; well below 0, λ* is hardly ever reached.

    Examples
    --------
    >>> SigmoidGP(upper=10.0, variance=1.0, lengthscale=0.5).integral((0.0, 2.0))
    10.0

    With variance and lengthscale of h to be learned, each known up to a factor of about 2:

    >>> curve = SigmoidGP(10.0, variance=LogNormal(4.0, 2.0), lengthscale=LogNormal(0.5, 2.0))
    >>> curve.draw((0.0, 2.0), random_state=1).integral() < 20.0
    True
    """

    known = False

    def __init__(
        self,
        upper: float | Gamma,
        variance: float | LogNormal,
        lengthscale: Any,
        refinement: float = 1.0,
        kernel: str = SQUARED_EXPONENTIAL,
        mean: float = 0.0,
    ) -> None:
        self.upper = upper if isinstance(upper, Gamma) else _checks.positive("upper", upper)
        self.variance = variance if isinstance(variance, LogNormal) else _checks.positive("variance", variance)
        median = self.variance.median if isinstance(self.variance, LogNormal) else self.variance
        if median > _MOST_VARIANCE:
            allowed = f"it must be at most {_MOST_VARIANCE:g}: with more, levels are zero or λ*, and nothing between"
            raise _checks.fail("variance", variance, allowed)
        self.lengthscale = _lengthscale(lengthscale)
        self.refinement = _checks.positive("refinement", refinement)
        self.kernel = _checks.choice("kernel", kernel, KERNELS)
        self.mean = _checks.number("mean", mean, minimum=-_LARGEST_MEAN, largest=_LARGEST_MEAN, inclusive=True)
        self._gp: GridGP | None = None

    def on(self, region: Region) -> SigmoidGP:
        """A copy with its knots laid on the region."""
        if self._gp is not None and self._gp.region == region:
            return self
        if isinstance(self.lengthscale, np.ndarray | list):
            region.require_dims(len(self.lengthscale), "SigmoidGP lengthscale")
        prepared = SigmoidGP(self.upper, self.variance, self.lengthscale, self.refinement, self.kernel, self.mean)
        median, log_sd = _median_and_log_sd(self.lengthscale)
        lengthscales = lengthscale_vector("lengthscale", median, region.n_dims)
        prepared._gp = GridGP(region, self.variance, lengthscales, self.refinement, log_sd, self.kernel, self.mean)
        return prepared

    def process(self, region: Region) -> GridGP:
        """The Gaussian process h on the region."""
        gp = self.on(region)._gp
        if gp is None:
            raise RuntimeError("a prepared intensity has its process")
        return gp

    def sampled_as(self, region: Region) -> Intensity:
        """Itself."""
        return self

    def curve(self, region: Region) -> GridGP:
        """The Gaussian process h on the region."""
        return self.process(region)

    def relative(self, region: Region, volume: float) -> Relative:
        """sigmoid(h) at the mean of h, room for any other."""
        share = float(expit(self.mean))
        return Relative("table", np.full(self.process(region).shape, share), [np.empty(0)] * region.n_dims, share, 1.0)

    def level_parameter(self, region: Region) -> Parameter:
        """The upper level λ*."""
        unknown = isinstance(self.upper, Gamma)
        start = self.mean_upper
        return Parameter("level", self.upper, INTENSITY, start=start, scattered=unknown, diagnosed=False)

    @property
    def mean_upper(self) -> float:
        """E[λ*]."""
        return self.upper.mean if isinstance(self.upper, Gamma) else self.upper

    def _uppers(self, n: int, rng: np.random.Generator) -> FloatArray:
        return self.upper.sample(n, rng) if isinstance(self.upper, Gamma) else np.full(n, self.upper)

    @property
    def mean_share(self) -> float:
        """E[sigmoid(h)] at a point: ½ if h has mean zero."""
        if self.mean == 0.0:
            return 0.5
        h, weights = self._h_nodes(64)
        return float(weights @ expit(h))

    def value(self, X: Any) -> FloatArray:
        """Prior mean, E[λ*] E[sigmoid(h)] everywhere; shape (n_points,)."""
        return Constant(self.mean_share * self.mean_upper).value(X)

    def gradient(self, X: Any) -> FloatArray:
        """Of the prior mean: zero."""
        return Constant(1.0).gradient(X)

    def integral(self, region: Any) -> float:
        """Prior mean of the integral, E[λ*] E[sigmoid(h)] times the volume."""
        return self.mean_share * self.mean_upper * Region.of(region).volume

    def upper_bound(self, region: Region) -> float:
        """λ*, or the level it exceeds with probability 1e-6."""
        return float(self.upper.quantile(1.0 - 1e-6)) if isinstance(self.upper, Gamma) else self.upper

    def draw(self, region: Any, random_state: RandomState = None) -> Tabulated:
        """One intensity from the prior, as a table of its values at the knots."""
        box, rng = Region.of(region), generator(random_state)
        upper = self._uppers(1, rng)
        return Tabulated(box, upper[0] * np.maximum(expit(self.process(box).sample(1, rng)[0]), 1e-300))

    def sample_units(self, region: Region, n: int, rng: np.random.Generator) -> Units:
        """`n` exact draws, each with its own λ* and h: candidates at rate λ*, kept with probability λ / λ*."""
        return self.sample_continued(region, n, rng)[0]

    def sample_continued(self, region: Region, n: int, rng: np.random.Generator) -> tuple[Units, Continuation]:
        """The same, with the levels of each draw at the region's edge."""
        gp, places = self.process(region), edge_places(region)
        most = max(1, _MOST_TABLED // math.prod(gp.shape))
        parts, levels = [], np.empty((n, len(places)))
        for start in range(0, n, most):  # tables of all draws at once would take too much memory
            some = min(most, n - start)
            upper = self._uppers(some, rng)
            shape = (some,) + (1,) * region.n_dims
            tables = upper.reshape(shape) * np.maximum(expit(gp.sample(some, rng)), 1e-300)
            parts.append(thinned_units(tables, upper, region, rng))
            which, at = np.repeat(np.arange(some), len(places)), np.tile(places, (some, 1))
            levels[start : start + some] = interpolate(tables, region, at, which).reshape(some, -1)
        units = Units(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        return units, Steps.around(region, levels)

    def _h_nodes(self, n: int) -> tuple[FloatArray, FloatArray]:
        """Quadrature of the law of h at a point: nodes and weights that add up to one."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(n)
        if not isinstance(self.variance, LogNormal):
            return self.mean + np.sqrt(self.variance) * nodes, weights / weights.sum()
        # a mixture of normals: the trapezoidal rule on h = a sinh t, which has the narrow ones and the wide ones
        top = math.asinh(8.0 * math.exp(3.0 * self.variance.log_sd))
        t = np.linspace(-top, top, 2 * n + 1)
        h = math.sqrt(self.variance.median) * math.exp(-self.variance.log_sd) * np.sinh(t)
        density = self._h_mixture(lambda sd: np.exp(-0.5 * (h[:, None] / sd) ** 2) / sd)
        weights = density * np.cosh(t)
        return np.clip(self.mean + h, -_LARGEST_H, _LARGEST_H), weights / weights.sum()

    def _h_mixture(self, of_sd: Callable[[FloatArray], FloatArray]) -> FloatArray:
        """Mean of a function of the sd of h, evaluated for many sd along the last axis."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(64)
        median, log_sd = _median_and_log_sd(self.variance)
        return np.asarray(of_sd(np.sqrt(median * np.exp(log_sd * nodes))) @ (weights / weights.sum()))

    def _level_nodes(self) -> list[tuple[float, float]]:
        """Quadrature of the law of λ at a point: the same at every point, because h is stationary."""
        h, weights = self._h_nodes(64)
        shares = expit(h)
        if isinstance(self.upper, Gamma):
            probabilities, uppers = gamma_nodes(self.upper, 48)
        else:
            probabilities, uppers = np.ones(1), np.array([self.upper])
        return [
            (float(p * q), float(u * s))
            for p, u in zip(probabilities, uppers, strict=True)
            for q, s in zip(weights, shares, strict=True)
            if p * q > 1e-16
        ]

    def level_quantiles(self, probabilities: FloatArray) -> FloatArray:
        """Quantiles of λ at a point; with an unknown λ* by inverting P(λ ≤ t) = E_h P(λ* ≤ t / sigmoid(h))."""
        if not isinstance(self.upper, Gamma) and not isinstance(self.variance, LogNormal):
            return np.asarray(self.upper * expit(self.mean + np.sqrt(self.variance) * special.ndtri(probabilities)))
        from scipy import optimize  # slow to import

        if not isinstance(self.upper, Gamma):  # the law of h is a mixture of normals

            def above(h: float, probability: float) -> float:
                return float(self._h_mixture(lambda sd: special.ndtr(h / sd))) - probability

            found = [optimize.brentq(above, -1e9, 1e9, args=(float(p),)) for p in probabilities]
            return np.asarray(self.upper * expit(self.mean + np.array(found)))
        h, weights = self._h_nodes(128)
        shares = np.maximum(expit(h), 1e-300)
        shape, rate = self.upper.shape, self.upper.rate

        def excess(log_level: float, probability: float) -> float:
            return float(weights @ special.gammainc(shape, rate * np.exp(log_level) / shares)) - probability

        top = float(np.log(self.upper.quantile(1.0 - 1e-12)))
        roots = [optimize.brentq(excess, top - 200.0, top + 5.0, args=(float(p),)) for p in probabilities]
        return np.exp(roots)

    def pieces(self, region: Region) -> list[Piece]:
        """The whole region at quadrature levels of the law of λ at a point."""
        return [Piece(p, level, region) for p, level in self._level_nodes()]

    def marginal(self, region: Region) -> list[tuple[float, Intensity]]:
        """Constants at quadrature levels of the law of λ at a point."""
        return [(p, Constant(level)) for p, level in self._level_nodes()]

    def __repr__(self) -> str:
        finer = f", refinement={self.refinement!r}" if self.refinement != 1.0 else ""
        finer += f", kernel={self.kernel!r}" if self.kernel != SQUARED_EXPONENTIAL else ""
        finer += f", mean={self.mean!r}" if self.mean != 0.0 else ""
        return f"SigmoidGP(upper={self.upper!r}, variance={self.variance!r}, lengthscale={self.lengthscale!r}{finer})"


def _lengthscale(stated: Any) -> float | FloatArray | LogNormal | list[LogNormal]:
    """Numbers or priors, checked."""
    if isinstance(stated, LogNormal):
        return stated
    if isinstance(stated, list | tuple) and any(isinstance(one, LogNormal) for one in stated):
        if not all(isinstance(one, LogNormal) and one.factor == stated[0].factor for one in stated):
            allowed = "priors must be one LogNormal, or one per dimension with the same factor: a common one is learned"
            raise _checks.fail("lengthscale", stated, allowed)
        return list(stated)
    allowed = "it must be a positive finite number or a LogNormal, or one per dimension"
    array = _checks.positive_array("lengthscale", stated, allowed)
    if array.ndim > 1 or array.size == 0:
        raise _checks.fail("lengthscale", stated, allowed)
    return float(array) if array.ndim == 0 else array


def _median_and_log_sd(stated: float | FloatArray | LogNormal | list[LogNormal]) -> tuple[float | FloatArray, float]:
    """Medians, and the standard deviation of the logarithm, 0 for numbers."""
    if isinstance(stated, LogNormal):
        return stated.median, stated.log_sd
    if isinstance(stated, list):
        return np.array([one.median for one in stated]), stated[0].log_sd
    return stated, 0.0
