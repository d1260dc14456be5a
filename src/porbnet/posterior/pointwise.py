"""Log densities of a fit's draws: of each observation given a draw, and of a draw given all observations."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.kernels.curves import curve_record
from porbnet.posterior.posterior import Posterior

WEIGHTS = ("drawn", "integrated")
_LEAST_SHARE = 1e-12  # of an observation's doubt that others must leave, where rounding has eaten it


def observations(posterior: Posterior) -> tuple[FloatArray, FloatArray]:
    """Inputs, shape (n_points, n_dims), and outputs, shape (n_points,), in the sampler's order and the data's units."""
    if not posterior.problem.has_all_rows:
        raise StatementError(
            f"the {posterior.problem.n_observations:,} rows of this fit were read in chunks and not kept: what needs "
            "every row (log likelihoods, leave-one-out, ArviZ) is not there; log_density takes rows of your choice"
        )
    return posterior.problem.inputs, posterior.offset + posterior.problem.training_outputs


def noise_of_observations(posterior: Posterior, draws: NDArray[np.int64]) -> FloatArray:
    """Noise sd (with Student-t errors their scale) of each observation in some draws, shape (n_draws, n_points)."""
    return np.asarray(posterior.noise_at(observations(posterior)[0], draws) / posterior.problem.known_root)


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
    problem, drawn = posterior.problem, posterior.drawn.taken(rows)
    counts, likelihood = problem.times, problem.likelihood
    if weights == "drawn":
        return np.asarray(counts * likelihood.log_density(y, posterior.subset(rows)(X), sd, drawn))
    mean, variance = _moments(posterior, X, rows)
    outputs, factor = likelihood.pseudo(y, drawn)
    precision = counts * factor / sd**2
    left = np.maximum(1.0 - precision * variance, _LEAST_SHARE)  # share of 1/variance that the others have given
    away = outputs - (outputs - mean) / left  # mean of f without observation i
    # p(y | f) ** c of a Gaussian is one with variance sd² / c, but for its constant; others count once
    if np.all(counts == 1.0):
        return likelihood.log_integrated(y, away, variance / left, sd, drawn)
    constant = 0.5 * np.log(2.0 * math.pi * sd**2 / counts) - 0.5 * counts * np.log(2.0 * math.pi * sd**2)
    return np.asarray(likelihood.log_integrated(y, away, variance / left, sd / np.sqrt(counts), drawn) + constant)


def _moments(posterior: Posterior, X: FloatArray, rows: NDArray[np.int64]) -> tuple[FloatArray, FloatArray]:
    """Mean and variance of f at points given the units of some draws, shape (n_draws, n_points) each."""
    mean, variance = np.empty((len(rows), len(X))), np.empty((len(rows), len(X)))
    for columns, moments in posterior.f_moments(X):
        mean[:, columns], variance[:, columns] = moments.mean[rows], moments.variance[rows]
    return mean, variance


def log_density(posterior: Posterior) -> FloatArray:
    """Log posterior density of every draw up to a constant, shape (n_draws,): weights integrated out.

    Of the units with respect to a Poisson process of one unit per region, of the logarithms of noise, amplitude,
    level and degrees of freedom, of the curves' whitened coefficients and of the observations' Student-t scales:
    log p(y | ·) + Σ_k log λ(c_k) - ∫ λ + log p(hyper-parameters).
    """
    problem, draws = posterior.problem, posterior.draws
    (component,) = problem.components
    level = draws.values[:, component.level]
    owners = np.repeat(np.arange(len(draws)), draws.counts)
    units = np.bincount(owners, np.log(draws.relative * level[owners]), len(draws))
    integral = np.full(len(draws), component.relative.integral)
    if component.process is not None:
        area = curve_record(component.process, problem.scaling).area
        integral = expit(component.process.expand(draws.curves).reshape(len(draws), -1)) @ area
    total = draws.log_p + units - level * integral - 0.5 * np.sum(draws.curves**2, axis=1)
    for place, parameter in enumerate(problem.parameters):
        total += parameter.log_density(draws.values[:, place], problem.scaling)
    return np.asarray(total + problem.likelihood.log_augmented(posterior.drawn))
