"""Draws from a prior of all that it is about, together: networks, intensity, amplitude, likelihood.

Networks have the units of the region, as those of a fit have: what chains are held against.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.functions.grid_gp import GridGP
from porbnet.functions.network import Network, Networks, Trend
from porbnet.intensity import Intensity, Tabulated
from porbnet.likelihood import Drawn, Likelihood
from porbnet.statement.moments import scale_of
from porbnet.statement.prior import Prior


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Draws from a prior; draw i of every part belongs together.

    networks : the functions
    intensities : the intensity that each network's units come from
    level : (n,) λ* of a sigmoid-GP intensity, λ of an unknown constant, NaN if the intensity is known
    curve_variance, curve_lengthscale : (n,), (n, n_dims) of the Gaussian process of a sigmoid-GP intensity, else NaN
    amplitude : (n,) in the units of the output
    likelihood : how observations come about; None if the prior does not say, there are then no errors
    drawn : parameters of the likelihood, and what else it needs
    """

    networks: Networks
    intensities: list[Intensity]
    level: FloatArray
    curve_variance: FloatArray
    curve_lengthscale: FloatArray
    amplitude: FloatArray
    likelihood: Likelihood | None
    drawn: Drawn

    def intensity(self, X: FloatArray) -> FloatArray:
        """Intensity of every draw at points, shape (n, n_points)."""
        return np.array([intensity.value(X) for intensity in self.intensities])

    @property
    def noise(self) -> FloatArray:
        """Noise sd, the level of its curve or the scale of the errors, shape (n,), in the units of the output."""
        return self.drawn.values.get("noise", np.zeros(len(self.level)))

    def noise_at(self, X: FloatArray) -> FloatArray:
        """Noise sd (or scale) of every draw at points, shape (n, n_points), in the units of the output."""
        if self.likelihood is None:
            return np.zeros((len(self.level), len(X)))
        return self.likelihood.sd_at(self.drawn, X)

    def errors(self, X: FloatArray, rng: np.random.Generator) -> FloatArray:
        """Errors of one observation at each point in every draw, shape (n, n_points)."""
        if self.likelihood is None:
            return np.zeros((len(self.level), len(X)))
        return self.likelihood.sample(self.noise_at(X), self.drawn, rng)


def joint_draws(prior: Prior, n: int, rng: np.random.Generator) -> JointDraws:
    """Draw n times from the prior; a prior that states no noise has none.

    Examples
    --------
    >>> drawn = joint_draws(Prior(0.3, LogNormal(2.0, 2.0), noise=0.1, region=(0, 1)), 3, np.random.default_rng(0))
    >>> len(drawn.networks), drawn.noise
    (3, array([0.1, 0.1, 0.1]))
    """
    stated, region = prior.amplitude, prior.region
    amplitude = stated.sample(n, rng) if isinstance(stated, LogNormal) else np.full(n, float(stated))
    level, intensities, networks = np.full(n, np.nan), [], []
    variance, lengthscale = np.full(n, np.nan), np.full((n, prior.n_dims), np.nan)
    process = prior.intensity.curve(region)
    for i in range(n):
        if process is not None:
            intensity, level[i], variance[i], lengthscale[i] = _curved(prior, process, rng)
        else:
            intensity, level[i] = _intensity(prior, rng)
        intensities.append(intensity)
        networks.append(_network(prior, intensity, float(amplitude[i]), rng))
    likelihood = prior.likelihood
    values, kept = {}, np.zeros((n, 0))
    if likelihood is not None:
        values = {p.name: p.sample(n, rng) for p in likelihood.parameters()}
        kept = likelihood.sample_kept(n, region, rng)
    return JointDraws(
        Networks.of(networks),
        intensities,
        level,
        variance,
        lengthscale,
        amplitude,
        likelihood,
        Drawn(values, kept, region),
    )


def _intensity(prior: Prior, rng: np.random.Generator) -> tuple[Intensity, float]:
    """A known intensity from the prior, and its level."""
    intensity, region = prior.intensity, prior.region
    if intensity.known:
        return intensity, np.nan
    drawn = intensity.draw(region, rng)
    return drawn, drawn.upper_bound(region)


def _curved(prior: Prior, process: GridGP, rng: np.random.Generator) -> tuple[Intensity, float, float, FloatArray]:
    """An intensity λ* sigmoid(h) from the prior, its λ*, and the variance and lengthscales of its Gaussian process."""
    upper = float(prior.intensity.level_parameter(prior.region).sample(1, rng)[0])
    z = rng.standard_normal((1, process.n_whitened))
    drawn = Tabulated(prior.region, upper * np.maximum(expit(process.expand(z)[0]), 1e-300))
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
        trend=None
        if prior.trend is None
        else Trend(prior.trend * rng.standard_normal((1, prior.n_dims)), prior.middle),
    )
