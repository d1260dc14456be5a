"""The exact posterior of small problems, by importance sampling from the prior in plain NumPy.

Nothing here calls a kernel of the package. Given centers and hyper-parameters, outputs are Gaussian with covariance

    C = σ_b² 1 1ᵀ + v_w Φ Φᵀ + σ² diag(1 / weight),

whereas the sampler works with the inverse covariance of the weights. Draws of the prior weighted by N(y; 0, C) give
every posterior mean and variance, with a standard error by the delta method.
"""

from dataclasses import dataclass

import numpy as np

from porbnet import InverseGamma, LogNormal
from porbnet.functions.grid_gp import GridGP, lengthscale_vector
from porbnet.intensity import UnknownConstant
from porbnet.intensity.tabulated import interpolate
from porbnet.likelihood import RobustNoise, VaryingNoise

CHUNK = 20_000


@dataclass
class PriorDraws:
    """Draws of everything but the weights, units padded to the widest draw.

    counts, noise, amplitude, level : (n,); the level is that of an unknown constant intensity, else 1
    centers : (n_dims, most, n), intensity : (most, n), alive : (most, n)
    """

    counts: np.ndarray
    noise: np.ndarray
    amplitude: np.ndarray
    level: np.ndarray
    centers: np.ndarray
    intensity: np.ndarray
    alive: np.ndarray


def positive(stated, n, rng):
    """`n` draws of a positive number as it is stated; an InverseGamma is the law of its square."""
    if isinstance(stated, InverseGamma):
        return np.sqrt(stated.sample(n, rng))
    return stated.sample(n, rng) if isinstance(stated, LogNormal) else np.full(n, stated)


def draw_prior(prior, n, rng):
    """`n` draws of the prior of centers and hyper-parameters; the noise is its level."""
    noise = positive(getattr(prior.noise, "level", prior.noise), n, rng)
    amplitude = positive(prior.amplitude, n, rng)
    region = prior.region
    if isinstance(prior.intensity, UnknownConstant):
        square = prior.intensity.square
        level = np.sqrt(rng.gamma(square.shape, 1.0 / square.rate, size=n))
        counts = rng.poisson(level * region.volume)
        flat = region.uniform(counts.sum(), rng)
        at_units = np.repeat(level, counts)
    else:
        level = np.ones(n)
        counts, flat, at_units = prior.intensity.sample_units(region, n, rng)
    most = max(int(counts.max()), 1)
    alive = np.arange(most)[:, None] < counts
    centers = np.zeros((region.n_dims, most, n))
    intensity = np.ones((most, n))
    # flat arrays run draw by draw, so they are filled through the transpose
    centers.transpose(0, 2, 1)[:, alive.T] = flat.T
    intensity.T[alive.T] = at_units
    return PriorDraws(counts, noise, amplitude, level, centers, intensity, alive)


@dataclass
class ErrorDraws:
    """What likelihoods have beside the level of the noise.

    precision : (n_points, n) relative precisions of observations
    log_sd : (n_places, n) logarithm of the noise over its level at places; None if it is the same everywhere
    freedom : (n,) degrees of freedom; None if there are none
    """

    precision: np.ndarray
    log_sd: np.ndarray | None = None
    freedom: np.ndarray | None = None


def draw_errors(prior, X, places, n, rng):
    """`n` draws of what the likelihood has beside the level of the noise."""
    if isinstance(prior.noise, VaryingNoise):
        lengthscales = lengthscale_vector("lengthscale", prior.noise.lengthscale, prior.n_dims)
        tables = GridGP(prior.region, prior.noise.variance, lengthscales).sample(n, rng)
        points = np.concatenate([X, places])
        h = np.stack([interpolate(tables, prior.region, np.tile(p, (n, 1)), np.arange(n)) for p in points])
        return ErrorDraws(np.exp(-2.0 * h[: len(X)]), log_sd=h[len(X) :])
    if isinstance(prior.noise, RobustNoise):
        freedom = positive(prior.noise.freedom, n, rng)
        return ErrorDraws(rng.gamma(0.5 * freedom, 2.0 / freedom, size=(len(X), n)), freedom=freedom)
    return ErrorDraws(np.ones((len(X), n)))


def columns(prior, draws, X):
    """Unit values times the weights' prior sd, shape (n_points, most, n)."""
    scales = prior.s0 * draws.intensity ** (1.0 / prior.n_dims)
    distance2 = np.zeros((len(X), *scales.shape))
    for d in range(prior.n_dims):
        distance2 += ((X[:, d, None, None] - draws.centers[d]) / prior.anisotropy[d]) ** 2
    weight_sd = (prior.s0**2 / np.pi) ** (prior.n_dims / 4.0) * draws.amplitude
    return np.where(draws.alive, np.exp(-0.5 * scales**2 * distance2) * weight_sd, 0.0)


def condition(prior, draws, X, y, weight, X_new):
    """log p(y | draw), and mean and variance of f at new points given y and the draw: (n,), (n_new, n), (n_new, n).

    y, weight : (n_points,), or (n_points, n) if they differ between draws
    One Cholesky factor per draw, all draws at once: matrices have shape (N, N, n).
    """
    at_data, at_new = columns(prior, draws, X), columns(prior, draws, X_new)
    n_points, n = len(X), len(draws.counts)
    solved = np.empty((n_points, 1 + len(X_new), n))  # L⁻¹ [y, k(X, X_new)]
    lower = np.zeros((n_points, n_points, n))
    cross = prior.bias**2 + np.einsum("akn,bkn->abn", at_data, at_new)
    log_p = np.full(n, -0.5 * n_points * np.log(2.0 * np.pi))
    for i in range(n_points):
        for j in range(i + 1):
            entry = prior.bias**2 + np.einsum("kn,kn->n", at_data[i], at_data[j])
            entry -= np.einsum("kn,kn->n", lower[i, :j], lower[j, :j])
            if i == j:
                lower[i, i] = np.sqrt(entry + draws.noise**2 / weight[i])
            else:
                lower[i, j] = entry / lower[j, j]
        solved[i, 0] = y[i] - np.einsum("kn,kn->n", lower[i, :i], solved[:i, 0])
        solved[i, 1:] = cross[i] - np.einsum("kn,kmn->mn", lower[i, :i], solved[:i, 1:])
        solved[i] /= lower[i, i]
        log_p -= np.log(lower[i, i]) + 0.5 * solved[i, 0] ** 2
    mean = np.einsum("in,imn->mn", solved[:, 0], solved[:, 1:])
    variance = prior.bias**2 + np.einsum("mkn,mkn->mn", at_new, at_new) - np.einsum("imn,imn->mn", *[solved[:, 1:]] * 2)
    return log_p, mean, variance


@dataclass
class Estimate:
    """A posterior mean or variance with its standard error."""

    value: float
    error: float


def quantities(prior, counts, places, owners, noise, amplitude, level, log_p):
    """What both methods report of a draw besides f, as name -> (n,) values.

    places : (n_units,) first coordinate of every center as a share of the region, owners : (n_units,) its draw
    """
    n = len(counts)
    near_edge = (places < 0.1) | (places > 0.9)
    named = {
        "K": counts.astype(float),
        "places": np.bincount(owners, places, minlength=n),
        "near the edge": np.bincount(owners, near_edge, minlength=n),
        "log p": log_p,
    }
    if isinstance(prior.noise, LogNormal | InverseGamma):
        named["noise"] = noise
    if isinstance(prior.amplitude, LogNormal):
        named["amplitude"] = amplitude
    if isinstance(prior.intensity, UnknownConstant):
        named["level"] = level
    return named


def shares(prior, first_coordinate):
    """First coordinates as shares of the region's width."""
    return (first_coordinate - prior.region.low[0]) / prior.region.widths[0]


class Reference:
    """Posterior means and variances by importance sampling: `estimates[name, "mean" or "variance"]`.

    ess : effective number of prior draws
    """

    def __init__(self, prior, X, y, X_new, rng, weight=None, n=200_000):
        weight = np.ones(len(y)) if weight is None else weight
        parts = [self._part(prior, X, y, weight, X_new, rng) for _ in range(-(-n // CHUNK))]
        log_w = np.concatenate([part[0]["log p"] for part in parts])
        w = np.exp(log_w - log_w.max())
        w /= w.sum()
        self.ess = 1.0 / np.sum(w**2)
        self.estimates = {}
        for name in parts[0][0]:
            values = np.concatenate([part[0][name] for part in parts])
            self._add(name, w, values, 0.0)
        for m in range(len(X_new)):
            mean = np.concatenate([part[1][m] for part in parts])
            variance = np.concatenate([part[2][m] for part in parts])
            self._add(f"f{m}", w, mean, variance)
            self._add(f"mean of f{m}", w, mean, 0.0)

    @staticmethod
    def _part(prior, X, y, weight, X_new, rng):
        draws = draw_prior(prior, CHUNK, rng)
        log_p, mean, variance = condition(prior, draws, X, y, weight, X_new)
        places = shares(prior, draws.centers[0].T[draws.alive.T])
        owners = np.repeat(np.arange(CHUNK), draws.counts)
        named = quantities(prior, draws.counts, places, owners, draws.noise, draws.amplitude, draws.level, log_p)
        return named, mean, variance

    def _add(self, name, w, mean, variance):
        center = w @ mean
        self.estimates[name, "mean"] = Estimate(center, np.sqrt(np.sum((w * (mean - center)) ** 2)))
        square = variance + (mean - center) ** 2
        value = w @ square
        self.estimates[name, "variance"] = Estimate(value, np.sqrt(np.sum((w * (square - value)) ** 2)))
