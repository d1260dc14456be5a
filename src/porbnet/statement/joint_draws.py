"""Draws from a prior of all that it is about, together: networks, intensity, amplitude, noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import InverseGamma, LogNormal
from porbnet.base.region import Region
from porbnet.functions.grid_gp import GridGP, lengthscale_vector
from porbnet.functions.network import Network, Networks
from porbnet.intensity import Intensity, SigmoidGP, Tabulated
from porbnet.intensity.tabulated import interpolation_weights
from porbnet.noise import RobustNoise, VaryingNoise, noise_level
from porbnet.statement.moments import scale_of
from porbnet.statement.prior import Prior


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Draws from a prior; draw i of every part belongs together.

    networks : the functions
    intensities : the intensity that each network's units come from
    level : (n,) λ* of a sigmoid-GP intensity, λ of an unknown constant, NaN if the intensity is known
    curve_variance, curve_lengthscale : (n,), (n, n_dims) of the Gaussian process of a sigmoid-GP intensity, else NaN
    amplitude, noise : (n,) in the units of the output; noise is the level of a curve, the scale of Student-t errors
    freedom : (n,) degrees of freedom of the errors; 0 for Gaussian errors
    noise_curves : the noise over its level, of points of shape (n_points, n_dims)
    """

    networks: Networks
    intensities: list[Intensity]
    level: FloatArray
    curve_variance: FloatArray
    curve_lengthscale: FloatArray
    amplitude: FloatArray
    noise: FloatArray
    freedom: FloatArray
    noise_curves: list[Callable[[FloatArray], FloatArray]]

    def intensity(self, X: FloatArray) -> FloatArray:
        """Intensity of every draw at points, shape (n, n_points)."""
        return np.array([intensity.value(X) for intensity in self.intensities])

    def noise_at(self, X: FloatArray) -> FloatArray:
        """Noise sd (or scale) of every draw at points, shape (n, n_points), in the units of the output."""
        return np.asarray(self.noise[:, None] * np.array([curve(X) for curve in self.noise_curves]))

    def errors(self, X: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Errors of one observation at each point in every draw, shape (n, n_points)."""
        sd = self.noise_at(X)
        if np.any(self.freedom > 0):
            return np.asarray(sd * rng.standard_t(self.freedom[:, None], size=sd.shape))
        return np.asarray(sd * rng.standard_normal(sd.shape))


def joint_draws(prior: Prior, n: int, rng: np.random.Generator) -> JointDraws:
    """Draw n times from the prior; a prior that states no noise has none.

    Examples
    --------
    >>> drawn = joint_draws(Prior(0.3, LogNormal(2.0, 2.0), noise=0.1, region=(0, 1)), 3, np.random.default_rng(0))
    >>> len(drawn.networks), drawn.noise
    (3, array([0.1, 0.1, 0.1]))
    """

    def numbers(value: float | LogNormal | InverseGamma) -> FloatArray:
        if isinstance(value, InverseGamma):  # the law of a variance
            return np.sqrt(value.sample(n, rng))
        return value.sample(n, rng) if isinstance(value, LogNormal) else np.full(n, float(value))

    noise = prior.noise
    amplitude = numbers(prior.amplitude)
    level, intensities, networks, curves = np.full(n, np.nan), [], [], []
    variance, lengthscale = np.full(n, np.nan), np.full((n, prior.n_dims), np.nan)
    for i in range(n):
        if isinstance(prior.intensity, SigmoidGP):
            intensity, level[i], variance[i], lengthscale[i] = _sigmoid_gp(prior.intensity, prior.region, rng)
        else:
            intensity, level[i] = _intensity(prior, rng)
        intensities.append(intensity)
        networks.append(_network(prior, intensity, float(amplitude[i]), rng))
        curves.append(_noise_curve(prior, rng))
    return JointDraws(
        Networks.of(networks),
        intensities,
        level,
        variance,
        lengthscale,
        amplitude,
        np.zeros(n) if noise is None else numbers(noise_level(noise)),
        numbers(noise.freedom) if isinstance(noise, RobustNoise) else np.zeros(n),
        curves,
    )


def _intensity(prior: Prior, rng: np.random.Generator) -> tuple[Intensity, float]:
    """A known intensity from the prior, and its level."""
    intensity, region = prior.intensity, prior.region
    if intensity.known:
        return intensity, np.nan
    drawn = intensity.draw(region, rng)
    return drawn, drawn.upper_bound(region)


def _sigmoid_gp(
    intensity: SigmoidGP, region: Region, rng: np.random.Generator
) -> tuple[Intensity, float, float, FloatArray]:
    """An intensity from the prior, its λ*, and the variance and lengthscales of its Gaussian process."""
    upper = intensity.upper if isinstance(intensity.upper, float) else float(intensity.upper.sample(1, rng)[0])
    process = intensity.process(region)
    z = rng.standard_normal((1, process.n_whitened))
    drawn = Tabulated(region, upper * np.maximum(expit(process.expand(z)[0]), 1e-300))
    return drawn, upper, float(process.variances(z)[0]), process.lengthscales[process.which_lengthscales(z)[0]]


def _network(prior: Prior, intensity: Intensity, amplitude: float, rng: np.random.Generator) -> Network:
    units = intensity.sample_units(prior.region, 1, rng)
    factor = (prior.s0**2 / np.pi) ** (prior.n_dims / 4.0)
    return Network(
        units.centers,
        np.asarray(scale_of(units.levels, prior.s0, prior.n_dims)),
        factor * amplitude * rng.standard_normal(len(units.levels)),
        float(prior.bias * rng.standard_normal()),
        prior.anisotropy,
    )


def _noise_curve(prior: Prior, rng: np.random.Generator) -> Callable[[FloatArray], FloatArray]:
    """A draw of the noise over its level, as a function of points of shape (n_points, n_dims)."""
    if not isinstance(prior.noise, VaryingNoise):
        return lambda points: np.ones(len(points))
    region = prior.region
    process = GridGP(
        region, prior.noise.variance, lengthscale_vector("lengthscale", prior.noise.lengthscale, region.n_dims)
    )
    table = process.sample(1, rng)[0].ravel()

    def curve(points: FloatArray) -> FloatArray:
        knots, shares = interpolation_weights(process.shape, region, np.clip(points, region.low, region.high))
        return np.asarray(np.exp((shares * table[knots]).sum(axis=1)))

    return curve
