"""Log densities of a fit's draws: of each observation given a draw, and of a draw given all observations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.noise import RobustNoise
from porbnet.posterior.posterior import Posterior

WEIGHTS = ("drawn", "integrated")
_LEAST_SHARE = 1e-12  # of an observation's doubt that others must leave, where rounding has eaten it


def observations(posterior: Posterior) -> tuple[FloatArray, FloatArray]:
    """Inputs, shape (n_points, n_dims), and outputs, shape (n_points,), in the sampler's order and the data's units."""
    data, scaling = posterior.problem.data, posterior.problem.scaling
    return scaling.centers(data.x.T), posterior.offset + data.outputs * scaling.y_scale


def noise_of_observations(posterior: Posterior, draws: NDArray[np.int64]) -> FloatArray:
    """Noise sd (with Student-t errors their scale) of each observation in some draws, shape (n_draws, n_points)."""
    return np.asarray(posterior.noise_at(observations(posterior)[0], draws) / posterior.problem.data.known_root)


def log_likelihood(posterior: Posterior, weights: str = "drawn", draws: NDArray[np.int64] | None = None) -> FloatArray:
    """Log likelihood of every observation in every draw, shape (n_draws, n_points), in the sampler's order of rows.

    Parameters
    ----------
    posterior : Posterior
    weights : {"drawn", "integrated"}
        "drawn": log p(y_i | f) with f the draw's function. "integrated": log p(y_i | y_-i, units, hyper-parameters),
        the weights of the network integrated out with observation i left aside; its inverse has a smaller variance,
        so that importance sampling of leave-one-out needs less luck. Both give the same LOO in the limit of many
        draws; anything else that takes a log likelihood (WAIC, power scaling) wants "drawn".
    draws : indices of draws, all by default

    Notes
    -----
    An observation that counts c times has its log likelihood times c.
    """
    _checks.choice("weights", weights, WEIGHTS)
    rows = np.arange(len(posterior)) if draws is None else draws
    X, y = observations(posterior)
    sd = noise_of_observations(posterior, rows)
    counts = posterior.problem.data.counts
    robust = isinstance(posterior.problem.prior.noise, RobustNoise)
    if weights == "drawn":
        z = (y - posterior.subset(rows)(X)) / sd
        log_p = _log_student(z, posterior.draws.values[rows, 3][:, None]) if robust else _log_normal(z, 1.0)
        return np.asarray(counts * (log_p - np.log(sd)))
    mean, variance = _moments(posterior, X, rows)
    precision = counts / sd**2
    if robust:
        precision = precision * posterior.draws.row_weight[rows]
    left = np.maximum(1.0 - precision * variance, _LEAST_SHARE)  # share of 1/variance that the others have given
    away = (y - mean) / left  # y - mean of f without observation i
    variance = variance / left
    if robust:
        scales, shares = (a[rows] for a in posterior._error_scales(1))
        result = np.full(sd.shape, -np.inf)
        for j in range(scales.shape[1]):  # the mixture over the scale of observation i, a node at a time
            term = _log_normal(away, variance + sd**2 / scales[:, j, None]) + np.log(shares[:, j, None])
            np.logaddexp(result, term, out=result)
        return result
    # N(y | f, sd²) ** c is a Gaussian with variance sd² / c, but for its constant
    constant = 0.5 * np.log(2.0 * math.pi * sd**2 / counts) - 0.5 * counts * np.log(2.0 * math.pi * sd**2)
    return np.asarray(_log_normal(away, variance + sd**2 / counts) + constant)


def _moments(posterior: Posterior, X: FloatArray, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of f at points given the units of some draws, shape (n_draws, n_points) each."""
    mean, variance = np.empty((len(rows), len(X))), np.empty((len(rows), len(X)))
    for columns, moments in posterior.f_moments(X):
        mean[:, columns], variance[:, columns] = moments.mean[rows], moments.variance[rows]
    return mean, variance


def _log_normal(z: FloatArray, variance: FloatArray | float) -> FloatArray:
    return np.asarray(-0.5 * (z * z / variance + np.log(2.0 * math.pi * variance)))


def _log_student(z: FloatArray, freedom: FloatArray) -> FloatArray:
    half = 0.5 * (freedom + 1.0)
    constant = gammaln(half) - gammaln(0.5 * freedom) - 0.5 * np.log(math.pi * freedom)
    return np.asarray(constant - half * np.log1p(z * z / freedom))


def log_density(posterior: Posterior) -> FloatArray:
    """Log posterior density of every draw up to a constant, shape (n_draws,): weights integrated out.

    Of the units with respect to a Poisson process of one unit per region, of the logarithms of noise, amplitude,
    level and degrees of freedom, of the curves' whitened coefficients and of the observations' Student-t scales:
    log p(y | ·) + Σ_k log λ(c_k) - ∫ λ + log p(hyper-parameters).
    """
    problem, draws = posterior.problem, posterior.draws
    hyper, level = problem.hyper, draws.values[:, 2]
    owners = np.repeat(np.arange(len(draws)), draws.counts)
    units = np.bincount(owners, np.log(draws.relative * level[owners]), len(draws))
    integral = np.full(len(draws), problem.shape.integral[0])
    if draws.intensity_z.shape[1]:
        process = problem.prior.intensity.process(problem.prior.region)  # type: ignore[attr-defined]
        integral = expit(process.expand(draws.intensity_z).reshape(len(draws), -1)) @ problem.intensity.area
    total = draws.log_p + units - level * integral
    total -= 0.5 * (np.sum(draws.intensity_z**2, axis=1) + np.sum(draws.noise_z**2, axis=1))
    for column, mean, sd in (
        (0, hyper.noise_log_mean, hyper.noise_log_sd),
        (1, hyper.amplitude_log_mean, hyper.amplitude_log_sd),
        (3, hyper.freedom_log_mean, hyper.freedom_log_sd),
    ):
        if sd > 0:
            total -= 0.5 * ((np.log(draws.values[:, column]) - mean) / sd) ** 2
    if hyper.level_shape > 0:
        total += hyper.level_power * hyper.level_shape * np.log(level) - hyper.level_rate * level**hyper.level_power
    if draws.row_weight.shape[1]:
        half, scales = 0.5 * draws.values[:, 3], draws.row_weight.astype(np.float64)
        n = scales.shape[1]
        total += n * (half * np.log(half) - gammaln(half))
        total += (half - 1.0) * np.log(scales).sum(axis=1) - half * scales.sum(axis=1)
    return np.asarray(total)
