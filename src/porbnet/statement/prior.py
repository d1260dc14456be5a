"""`Prior`: beliefs about a function in the units of the data, as exact draws, moments and the paper's parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import InverseGamma, LogNormal
from porbnet.base.region import Region
from porbnet.base.seeds import RandomState, block_generators
from porbnet.errors import StatementError, StatementWarning
from porbnet.functions.network import Networks, Places, Trend, joined
from porbnet.intensity import Constant, FromFunction, Intensity
from porbnet.intensity.continuation import Continuation
from porbnet.likelihood import Likelihood, likelihood_of
from porbnet.statement import moments
from porbnet.statement.advice import statement_problems
from porbnet.statement.function_prior import FunctionPrior
from porbnet.statement.outside_units import MOST_DIMS, Outside, OutsideUnits
from porbnet.statement.unbounded import unbounded_covariance, unbounded_point_moments

MANY_UNITS = 2000.0
_MOST_DRAWN = 1e8  # units of networks that are drawn together: 4 GB
_MOST_UNITS = 1e8  # a network of that width would fill the memory

Noise: TypeAlias = float | LogNormal | InverseGamma | Likelihood


class Prior(FunctionPrior):
    """A Poisson-process radial basis function network as a prior over functions.

    f(x) = b + Σ_k w_k exp(-½ s_k² ‖x - c_k‖²), with centers from a Poisson process whose intensity λ is the inverse
    lengthscale, and scales and weights tied to λ so that amplitude and lengthscale do not touch each other (exactly so
    where the lengthscale is constant; where it changes, the variance moves around the change):

        λ = (κ / ℓ)^D,   s_k = (√2 / κ) λ(c_k)^(1/D),   w_k ~ N(0, (2 / πκ²)^(D/2) amplitude²),   b ~ N(0, bias²)

    f has standard deviation √(amplitude² + bias²) and the covariance of a squared-exponential Gaussian process of
    lengthscale ℓ, everywhere: the intensity goes on beyond the region. Where ℓ varies, so does the covariance.

    Parameters
    ----------
    lengthscale : float, sequence of float, callable or Intensity
        In the units of the input. A number: the same everywhere. One number per dimension: different along each
        (automatic relevance). A callable: takes points of shape (n_points, n_dims), returns n_points lengthscales. An
        `Intensity`: units per unit of input, see `porbnet.intensity`; this is how an unknown lengthscale is stated.
    amplitude : float or LogNormal
        Standard deviation of f about its bias, in the units of the output.
    region : (low, high), or one pair per dimension
        Where a fit looks for units, in the units of the input; units beyond it come from the prior, whatever the data.
        Reach a lengthscale or two beyond the data, so that these matter to none of them.
    bias : float, default 0
        Standard deviation of the constant b, in the units of the output.
    noise : float, LogNormal, InverseGamma or Likelihood, optional
        Standard deviation of an observation about f, in the units of the output; an `InverseGamma` is the law of its
        square. See `porbnet.likelihood` for noise that varies and for heavy tails. Not needed for draws of f.
    units_per_lengthscale : float, default 2
        κ, how many units there are per lengthscale: more units make f closer to Gaussian and cost more.
    trend : float or sequence of float, optional
        Standard deviation of the slope of a straight line (a plane) in f, in units of the output per unit of the input,
        one or one per dimension. The line is zero in the middle of the region, where the bias is its height.
    anisotropy : sequence of float, optional
        Ratios of the lengthscales of the dimensions, for a callable or an `Intensity`; only the ratios matter.

    Attributes
    ----------
    s0, intensity, weight_variance
        The paper's parameters.

    Examples
    --------
    >>> prior = Prior(lengthscale=0.3, amplitude=2.0, noise=0.1, region=(-1.0, 2.0))
    >>> prior.expected_units
    20.0
    >>> prior.sample([0.0, 0.5, 1.0], n=4, random_state=1).shape
    (4, 3)
    >>> float(prior.variance([0.5])[0])
    4.0
    """

    def __init__(
        self,
        lengthscale: float | Any | Callable[[FloatArray], FloatArray] | Intensity,
        amplitude: float | LogNormal,
        *,
        region: Any,
        bias: float = 0.0,
        noise: Noise | None = None,
        units_per_lengthscale: float = 2.0,
        anisotropy: Any = None,
        trend: Any = None,
    ) -> None:
        box = Region.of(region)
        kappa = _checks.positive("units_per_lengthscale", units_per_lengthscale)
        intensity, ratios = _intensity_of(lengthscale, kappa, anisotropy, box.n_dims)
        self._state(math.sqrt(2.0) / kappa, intensity, ratios, amplitude, bias, noise, box, trend)

    @classmethod
    def from_paper(
        cls,
        *,
        s0: float,
        intensity: float | Intensity,
        sigma_w2: float,
        sigma_b2: float,
        noise_variance: float | InverseGamma | None = None,
        region: Any,
    ) -> Prior:
        """The same prior stated in the paper's parameters.

        Parameters
        ----------
        s0 : float
            Scale of a unit where the intensity is one (not squared).
        intensity : float or Intensity
            λ, units per unit of input.
        sigma_w2, sigma_b2, noise_variance : float
            Variances σ_w², σ_b² and σ_x²; the last may be an `InverseGamma`.
        region : (low, high), or one pair per dimension

        Examples
        --------
        >>> prior = Prior.from_paper(
        ...     s0=2**0.5, intensity=33.33, sigma_w2=0.05, sigma_b2=0.05, noise_variance=0.04, region=(-0.25, 1.25)
        ... )
        >>> round(prior.lengthscale, 6)
        0.030003
        """
        box = Region.of(region)
        s0 = _checks.positive("s0", s0)
        level = intensity if isinstance(intensity, Intensity) else Constant(_checks.positive("intensity", intensity))
        noise: Noise | None = noise_variance if isinstance(noise_variance, InverseGamma) else None
        if noise is None and noise_variance is not None:
            noise = math.sqrt(_checks.positive("noise_variance", noise_variance))
        prior = cls.__new__(cls)
        prior._state(
            s0,
            level,
            np.ones(box.n_dims),
            math.sqrt(_checks.positive("sigma_w2", sigma_w2)),
            math.sqrt(_checks.number("sigma_b2", sigma_b2, inclusive=True)),
            noise,
            box,
        )
        return prior

    def _state(
        self,
        s0: float,
        intensity: Intensity,
        anisotropy: FloatArray,
        amplitude: float | LogNormal,
        bias: float,
        noise: Noise | None,
        region: Region,
        trend: Any = None,
    ) -> None:
        """Check and keep a full statement; both ways of stating a prior end here."""
        self.region = region
        self.trend = _slope_sd(trend, region.n_dims)
        self.s0 = s0
        self.anisotropy = anisotropy
        self.amplitude = amplitude if isinstance(amplitude, LogNormal) else _checks.positive("amplitude", amplitude)
        self.bias = _checks.number("bias", bias, inclusive=True)
        stated = noise is None or isinstance(noise, LogNormal | InverseGamma | Likelihood)
        self.noise: Noise | None = noise if stated else _checks.positive("noise", noise)
        self.likelihood: Likelihood | None = None if self.noise is None else likelihood_of(self.noise)
        self.intensity = _on_region(intensity, region)
        expected = self.expected_units
        if not expected <= _MOST_UNITS:
            raise StatementError(
                f"lengthscale or intensity {_checks.show(self.intensity)} on "
                f"region={_checks.show(region.bounds.tolist())} makes {expected:.3g} units in expectation: "
                f"there must be at most {_MOST_UNITS:g}; "
                "raise the lengthscale, shrink the region or lower units_per_lengthscale"
            )
        if expected > MANY_UNITS:
            warnings.warn(
                f"the network has {expected:,.0f} units in expectation, which is slow: "
                "raise the lengthscale, shrink the region or lower units_per_lengthscale",
                StatementWarning,
                stacklevel=3,
            )

    def with_noise(self, noise: Noise | None) -> Prior:
        """The same statement with another noise or likelihood."""
        prior = Prior.__new__(Prior)
        prior._state(
            self.s0, self.intensity, self.anisotropy, self.amplitude, self.bias, noise, self.region, self.trend
        )
        return prior

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self.region.n_dims

    @property
    def middle(self) -> FloatArray:
        """Middle of the region, where a trend is zero, shape (n_dims,)."""
        return np.asarray(0.5 * (self.region.low + self.region.high))

    @property
    def units_per_lengthscale(self) -> float:
        """κ = √2 / s0."""
        return math.sqrt(2.0) / self.s0

    @property
    def lengthscale(self) -> float | None:
        """The lengthscale if it is one known number (geometric mean over dimensions), else None."""
        if isinstance(self.intensity, Constant):
            return float(self._lengthscale_of(self.intensity.level))
        return None

    @property
    def mean_square_amplitude(self) -> float:
        """E[amplitude²]."""
        return self.amplitude.mean_square if isinstance(self.amplitude, LogNormal) else self.amplitude**2

    @property
    def weight_variance(self) -> float:
        """v_w = (s0² / π)^(D/2) E[amplitude²], the prior variance of a weight."""
        return float(self._weight_factor * self.mean_square_amplitude)

    @property
    def _weight_factor(self) -> float:
        return math.pow(self.s0 * self.s0 / math.pi, self.n_dims / 2.0)

    @property
    def expected_units(self) -> float:
        """Expected number of units, the integral of the intensity over the region."""
        return self.intensity.integral(self.region)

    def _lengthscale_of(self, level: FloatArray | float) -> FloatArray:
        return np.asarray(math.sqrt(2.0) / moments.scale_of(level, self.s0, self.n_dims))

    @property
    def _common_scale(self) -> float | None:
        """Scale of every unit, where it is one known number."""
        if isinstance(self.intensity, Constant):
            return float(moments.scale_of(self.intensity.level, self.s0, self.n_dims))
        return None

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
        n = _checks.count("n", n)
        return _concatenate([self._block(rng, wanted) for rng, wanted in block_generators(random_state, n)])

    def _block(self, rng: np.random.Generator, wanted: int) -> Networks:
        """One block of draws; always the whole block is drawn, so that its first draws do not depend on `wanted`."""
        from porbnet.base.seeds import DRAWS_PER_BLOCK as n

        if self.expected_units * n > _MOST_DRAWN:
            raise StatementError(
                f"networks are drawn {n} at a time, and {self.expected_units:.3g} units each would fill the memory: "
                f"there must be at most {_MOST_DRAWN / n:.3g}; raise the lengthscale, shrink the region or lower "
                "units_per_lengthscale"
            )
        unknown = self.amplitude if isinstance(self.amplitude, LogNormal) else None
        amplitudes = np.full(1, self.amplitude) if unknown is None else unknown.sample(n, rng)
        weight_sd = math.sqrt(self._weight_factor) * amplitudes
        biases = self.bias * rng.standard_normal(n)
        units, continuation = self.intensity.sample_continued(self.region, n, rng)
        weights = rng.standard_normal(len(units.levels))
        weights *= weight_sd if unknown is None else np.repeat(weight_sd, units.counts)
        offsets = np.zeros(n + 1, dtype=np.int64)
        np.cumsum(units.counts, out=offsets[1:])
        scale = self._common_scale
        networks = Networks(
            offsets,
            units.centers,
            moments.scale_of(units.levels, self.s0, self.n_dims) if scale is None else np.full(len(weights), scale),
            weights,
            biases,
            self.anisotropy,
            scale,
            self._beyond(continuation, np.broadcast_to(weight_sd, (n,)), rng),
        )
        if self.trend is not None:
            networks = replace(networks, trend=Trend(self.trend * rng.standard_normal((n, self.n_dims)), self.middle))
        return networks if wanted == n else networks[:wanted]

    def _beyond(
        self, continuation: Continuation | None, weight_sd: FloatArray, rng: np.random.Generator
    ) -> OutsideUnits | None:
        """The units of a block of draws beyond the region; None with more inputs than they could be made for."""
        seed = rng.bit_generator.seed_seq
        if continuation is None or self.n_dims > MOST_DIMS or not isinstance(seed, np.random.SeedSequence):
            return None
        source = Outside(continuation, self.region, self.s0, self.anisotropy, weight_sd, seed)
        return OutsideUnits(source, np.arange(len(weight_sd)))

    def sample_chunks(self, X: Any, n: int, random_state: RandomState = None) -> Iterator[FloatArray]:
        """Function values of n draws in chunks of at most 256 draws, for sums over more draws than fit in memory.

        Yields
        ------
        ndarray of shape (n_chunk, n_points)
            The rows of `sample(X, n, random_state)`, in order.
        """
        places = Places(_checks.points("X", X, self.n_dims), self.anisotropy, self._common_scale)
        for rng, wanted in block_generators(random_state, _checks.count("n", n)):
            yield places.values(self._block(rng, wanted))

    def sample(self, X: Any, n: int = 1, random_state: RandomState = None) -> FloatArray:
        """Function values of n draws, shape (n, n_points); the first draws are the same whatever `n` is.

        Parameters
        ----------
        X : array of shape (n_points, n_dims)
        n : int
            Number of functions.
        random_state : int, Generator, SeedSequence, RandomState or None

        Returns
        -------
        ndarray of shape (n, n_points), in the units of the output
        """
        places = Places(_checks.points("X", X, self.n_dims), self.anisotropy, self._common_scale)
        n_points = places.points.shape[1]
        try:
            result = np.empty((_checks.count("n", n), n_points))
        except MemoryError:
            raise StatementError(
                f"n={n} functions at {n_points} points take {8e-9 * n * n_points:.3g} GB, which is more memory than "
                "there is: sample_chunks gives some of them at a time"
            ) from None
        start = 0
        for rng, wanted in block_generators(random_state, n):
            places.values(self._block(rng, wanted), out=result[start : start + wanted])
            start += wanted
        return result

    # --- moments -----------------------------------------------------------------------------------------------

    def covariance(self, X1: Any, X2: Any = None, method: str = "auto") -> FloatArray:
        """Prior covariance of f between points.

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
            unit = moments.closed_covariance(first, second, pieces, self.s0, self.anisotropy)
        else:
            unit = unbounded_covariance(first, second, self.intensity, self.region, self.s0, self.anisotropy)
        covariance = self.bias**2 + self.mean_square_amplitude * unit
        if self.trend is None:
            return covariance
        return np.asarray(covariance + (self.trend**2 * (first - self.middle)) @ (second - self.middle).T)

    def _pieces(self, method: str) -> list[Any] | None:
        _checks.choice("method", method, ("auto", "closed", "quadrature"))
        pieces = None if method == "quadrature" else self.intensity.pieces(Region.everywhere(self.n_dims))
        if method == "closed" and pieces is None:
            raise _checks.fail("method", method, f"{self.intensity!r} has no closed form: use 'quadrature' or 'auto'")
        return pieces

    def _unit_moments(self, X: FloatArray, method: str = "auto") -> moments.PointMoments:
        pieces = self._pieces(method)
        if pieces is not None:
            return moments.closed_point_moments(X, pieces, self.s0, self.anisotropy)
        return unbounded_point_moments(X, self.intensity, self.region, self.s0, self.anisotropy)

    def variance(self, X: Any, method: str = "auto") -> FloatArray:
        """Prior variance of f at points, shape (n_points,), in squared units of the output."""
        points = _checks.points("X", X, self.n_dims)
        return self._with_trend(points, self._unit_moments(points, method)).variance

    def kept_variance(self, X: Any) -> FloatArray:
        """What units of the region alone have of the prior variance of f about its bias, as a share of amplitude².

        Shape (n_points,); one far from the region's edge, half of it on a side. A fit works with these units.
        """
        points, pieces = _checks.points("X", X, self.n_dims), self.intensity.pieces(self.region)
        if pieces is not None:
            return moments.closed_point_moments(points, pieces, self.s0, self.anisotropy).variance
        return moments.quadrature_point_moments(points, self.intensity, self.region, self.s0, self.anisotropy).variance

    def gradient_variance(self, X: Any, method: str = "auto") -> FloatArray:
        """Prior variance of ∂f/∂x_d at points, shape (n_points, n_dims)."""
        points = _checks.points("X", X, self.n_dims)
        return self._with_trend(points, self._unit_moments(points, method)).gradient_variance

    def point_moments(self, X: FloatArray) -> moments.PointMoments:
        """Var f, Var ∂f and Cov(f, ∂f) at points, for Rice's formula."""
        return self._with_trend(X, self._unit_moments(X))

    def _with_trend(self, X: FloatArray, unit: moments.PointMoments) -> moments.PointMoments:
        """Moments of f from those of units of amplitude one: bias and trend added."""
        a2, n_dims = self.mean_square_amplitude, self.n_dims
        slope2 = np.zeros(n_dims) if self.trend is None else self.trend**2
        away = X - self.middle
        return moments.PointMoments(
            self.bias**2 + a2 * unit.variance + away**2 @ slope2,
            a2 * unit.gradient_variance + slope2,
            a2 * unit.cross + away * slope2,
        )

    def intensity_at(self, X: Any, quantiles: Any = None) -> FloatArray:
        """Intensity at points, in units per unit of input: the known value, or its prior median.

        Parameters
        ----------
        X : array of shape (n_points, n_dims)
        quantiles : sequence of float, optional
            Quantiles of the prior of an unknown intensity instead.

        Returns
        -------
        ndarray of shape (n_points,), or (n_points, n_quantiles)
        """
        points = _checks.points("X", X, self.n_dims)
        wanted = np.array([0.5]) if quantiles is None else _probabilities(quantiles)
        if self.intensity.known:
            levels = np.repeat(self.intensity.value(points)[:, None], len(wanted), axis=1)
        else:
            levels = np.tile(self.intensity.level_quantiles(wanted), (len(points), 1))
        return levels[:, 0] if quantiles is None else levels

    def lengthscale_at(self, X: Any, quantiles: Any = None, *, per_dimension: bool = False) -> FloatArray:
        """Lengthscale at points, √2 / (s0 λ^(1/D)), in the units of the input: the known value, or its prior median.

        Parameters
        ----------
        X : array of shape (n_points, n_dims)
        quantiles : sequence of float, optional
            Quantiles of the prior of an unknown lengthscale instead.
        per_dimension : bool
            Give one value per dimension instead of their geometric mean.

        Returns
        -------
        ndarray of shape (n_points,), with (n_quantiles,) and (n_dims,) appended as asked
        """
        flipped = None if quantiles is None else 1.0 - _probabilities(quantiles)
        result = self._lengthscale_of(self.intensity_at(X, flipped))
        return result[..., None] * self.anisotropy if per_dimension else result

    def curvature_lengthscale_at(self, X: Any, method: str = "auto") -> FloatArray:
        """Lengthscale read off the covariance, √(Var f_w / Var ∂f/∂x_d), shape (n_points, n_dims).

        Equals the stated lengthscale where that is constant and the region's edge is far; elsewhere it is an average
        over the units that reach the point.
        """
        unit = self._unit_moments(_checks.points("X", X, self.n_dims), method)
        with np.errstate(invalid="ignore", divide="ignore"):  # far outside the region both are zero
            return np.sqrt(unit.variance[:, None] / unit.gradient_variance)

    # --- judgement ---------------------------------------------------------------------------------------------

    def check(self, X: Any) -> list[str]:
        """Hold the statement against input data; warns of each thing that is off and says what to do.

        Parameters
        ----------
        X : array of shape (n_points, n_dims)
            Inputs of the data that the prior is meant for.

        Returns
        -------
        list of str
            The warnings given, empty if all is well.
        """
        problems = statement_problems(self, _checks.points("X", X, self.n_dims))
        for problem in problems:
            warnings.warn(problem, StatementWarning, stacklevel=2)
        return problems

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Prior) and self._key == other._key and self.intensity == other.intensity

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        trend = None if self.trend is None else tuple(self.trend)
        return self.s0, self.amplitude, self.bias, self.noise, self.region, tuple(self.anisotropy), trend

    def __repr__(self) -> str:
        bounds = self.region.bounds.tolist()
        known = self.lengthscale
        stated: Any = self.intensity if known is None else known
        extra = "" if np.all(self.anisotropy == 1.0) else f", anisotropy={self.anisotropy.tolist()!r}"
        extra += "" if self.trend is None else f", trend={self.trend.tolist()!r}"
        return (
            f"Prior(lengthscale={stated!r}, amplitude={self.amplitude!r}, bias={self.bias!r}, noise={self.noise!r}, "
            f"region={bounds[0] if self.n_dims == 1 else bounds!r}, "
            f"units_per_lengthscale={self.units_per_lengthscale!r}{extra})"
        )


class _FromLengthscale:
    """The intensity (κ / ℓ(x))^D of a callable lengthscale; a class, so that it can be pickled."""

    def __init__(self, lengthscale: Callable[[FloatArray], Any], kappa: float) -> None:
        self.lengthscale, self.kappa = lengthscale, kappa

    def __call__(self, X: FloatArray) -> FloatArray:
        try:
            raw = np.asarray(self.lengthscale(X))
        except Exception as error:
            raise StatementError(
                f"lengthscale={_checks.show(self.lengthscale)} raised {type(error).__name__}: {error} for an array of "
                f"shape {X.shape}: it must accept an array of shape (n_points, n_dims)"
            ) from error
        if raw.dtype.kind not in "iuf" or raw.size not in (1, len(X)):
            raise StatementError(
                f"lengthscale={_checks.show(self.lengthscale)} returned {_checks.show(raw)} for {len(X)} points: "
                "it must return one number per point"
            )
        values = np.broadcast_to(raw.astype(np.float64).ravel(), (len(X),))
        bad = ~(np.isfinite(values) & (values > 0))
        if bad.any():
            i = int(np.argmax(bad))
            raise StatementError(
                f"lengthscale is {float(values[i])!r} at {X[i].tolist()}: "
                "it must be positive and finite all over the region"
            )
        return np.asarray((self.kappa / values) ** X.shape[1])

    def __repr__(self) -> str:
        return f"(units_per_lengthscale / {self.lengthscale!r})"


def _on_region(intensity: Intensity, region: Region) -> Intensity:
    """The intensity prepared for the region; complaints about one made from a lengthscale name the lengthscale."""
    try:
        return intensity.on(region)
    except StatementError as error:
        function = intensity.function if isinstance(intensity, FromFunction) else None
        if not isinstance(function, _FromLengthscale) or "lengthscale" in str(error):
            raise
        raise StatementError(
            f"lengthscale={_checks.show(function.lengthscale)} is not allowed, because the intensity "
            f"(units_per_lengthscale / lengthscale) ** n_dims is not: {error}"
        ) from error


def _intensity_of(lengthscale: Any, kappa: float, anisotropy: Any, n_dims: int) -> tuple[Intensity, FloatArray]:
    """Intensity and anisotropy of a stated lengthscale."""
    ratios = np.ones(n_dims)
    if anisotropy is not None:
        allowed = f"it must be {n_dims} positive finite numbers, one per dimension"
        ratios = _checks.positive_array("anisotropy", anisotropy, allowed)
        if ratios.shape != (n_dims,):
            raise _checks.fail("anisotropy", anisotropy, allowed)
        ratios = ratios / math.exp(float(np.mean(np.log(ratios))))
    if isinstance(lengthscale, Intensity):
        return lengthscale, ratios
    if callable(lengthscale):
        return FromFunction(_FromLengthscale(lengthscale, kappa)), ratios
    allowed = (
        "it must be a positive finite number"
        + (f", {n_dims} of them (one per dimension)" if n_dims > 1 else "")
        + ", a callable, or an Intensity"
    )
    if isinstance(lengthscale, bool | np.bool_):
        raise _checks.fail("lengthscale", lengthscale, allowed)
    stated = _checks.positive_array("lengthscale", lengthscale, allowed)
    if stated.shape not in ((), (n_dims,)):
        raise _checks.fail("lengthscale", lengthscale, allowed)
    if stated.ndim == 0 or n_dims == 1:
        mean = float(stated.ravel()[0])
    else:
        if anisotropy is not None:
            raise _checks.fail("anisotropy", anisotropy, "lengthscale already states one value per dimension")
        mean = math.exp(float(np.mean(np.log(stated))))
        ratios = stated / mean
    ratio = kappa / mean
    if not 1e-15 < ratio < 1e15:  # its square or cube is to be a level
        raise _checks.fail("lengthscale", lengthscale, f"units_per_lengthscale={kappa!r} must be of its order")
    return Constant(ratio**n_dims), ratios


def _slope_sd(trend: Any, n_dims: int) -> FloatArray | None:
    """Standard deviations of slopes, one per dimension; None for no trend."""
    if trend is None:
        return None
    allowed = "it must be a positive finite number" + (
        f", or {n_dims} of them (one per dimension)" if n_dims > 1 else ""
    )
    if isinstance(trend, bool | np.bool_):
        raise _checks.fail("trend", trend, allowed)
    stated = _checks.positive_array("trend", trend, allowed)
    if stated.shape not in ((), (n_dims,)):
        raise _checks.fail("trend", trend, allowed)
    return np.broadcast_to(stated, (n_dims,)).astype(np.float64)


def _probabilities(quantiles: Any) -> FloatArray:
    allowed = "it must be a sequence of numbers between 0 and 1"
    array = _checks.real_array("quantiles", quantiles, allowed)
    if array.ndim != 1 or array.size == 0 or np.any((array <= 0) | (array >= 1)):
        raise _checks.fail("quantiles", quantiles, allowed)
    return array


def _concatenate(blocks: list[Networks]) -> Networks:
    """Join blocks of networks."""
    if len(blocks) == 1:
        return blocks[0]
    counts: NDArray[np.int64] = np.concatenate([b.n_units for b in blocks])
    return Networks(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate([b.centers for b in blocks]),
        np.concatenate([b.scales for b in blocks]),
        np.concatenate([b.weights for b in blocks]),
        np.concatenate([b.biases for b in blocks]),
        blocks[0].anisotropy,
        blocks[0].common_scale,
        joined([b.further for b in blocks]),
        Trend.joined([b.trend for b in blocks]),
    )
