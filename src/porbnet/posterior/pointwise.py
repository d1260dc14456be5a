"""Log densities of a fit's draws: of each observation given a draw, and of a draw given all observations."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.kernels.curves import curve_record
from porbnet.likelihood.base import Drawn, Likelihood
from porbnet.posterior.function_moments import Rows
from porbnet.posterior.posterior import Posterior

WEIGHTS = ("drawn", "integrated")
_LEAST_SHARE = 1e-12  # of an observation's doubt that others must leave, where rounding has eaten it


@dataclass(frozen=True, eq=False)
class Observed:
    """The observations that a fit was made of: the one place that densities of them take them from.

    X : (n_points, n_dims), y : (n_points,) in the units of the data, in the sampler's order
    known_root : (n_points,) known part of the root precisions
    counts : (n_points,) how often each counts
    beside : (n_points,) what is known of each beside y, as the likelihood says, or None
    rows : (n_points,) which of the rows as given each is
    """

    X: FloatArray
    y: FloatArray
    known_root: FloatArray
    counts: FloatArray
    rows: NDArray[np.int64]
    beside: FloatArray | None = None

    def __len__(self) -> int:
        return len(self.y)

    @property
    def as_given(self) -> NDArray[np.int64]:
        """Places of the observations in the order of the rows as given, shape (n_points,)."""
        return np.argsort(self.rows, kind="stable")


def observed(posterior: Posterior) -> Observed:
    """The observations of a fit; an error if they were not kept."""
    problem = posterior.problem
    if not problem.has_all_rows:
        raise StatementError(
            f"the {problem.n_observations:,} rows of this fit were read in chunks and not kept: what needs every row "
            "(log likelihoods, leave-one-out, ArviZ) is not there; log_density takes rows of your choice"
        )
    beside = problem.beside_rows
    if beside is not None and problem.likelihood.additive:
        # by the very steps that outputs go, so that what is the same stays the same
        scale = problem.scaling.y_scale
        beside = problem.likelihood.natural(posterior.offset + beside / scale * scale)
    return Observed(
        problem.inputs, posterior.training_outputs, problem.known_root, problem.times, problem.order, beside
    )


def observations(posterior: Posterior) -> tuple[FloatArray, FloatArray]:
    """Inputs, shape (n_points, n_dims), and outputs, shape (n_points,), in the sampler's order and the data's units."""
    found = observed(posterior)
    return found.X, found.y


def noise_of_observations(posterior: Posterior, draws: NDArray[np.int64], rows: Rows = slice(None)) -> FloatArray:
    """Noise sd (with Student-t errors their scale) of observations in some draws, shape (n_draws, n_points)."""
    found = observed(posterior)
    return np.asarray(posterior.noise_at(found.X[rows], draws) / found.known_root[rows])


def log_likelihood(posterior: Posterior, weights: str = "drawn", draws: NDArray[np.int64] | None = None) -> FloatArray:
    """Log likelihood of every observation in every draw, shape (n_draws, n_points), in the sampler's order of rows.

    The whole table, which may be large; `log_likelihood_chunks` has the parameters, and never holds it.
    """
    chosen = np.arange(len(posterior)) if draws is None else draws
    table = np.empty((len(chosen), len(observed(posterior))))
    for rows, values in log_likelihood_chunks(posterior, weights, chosen):
        table[:, rows] = values
    return table


def log_likelihood_chunks(
    posterior: Posterior, weights: str = "drawn", draws: NDArray[np.int64] | None = None
) -> Iterator[tuple[Rows, FloatArray]]:
    """Log likelihood of some observations at a time in every draw: pairs (places, shape (n_draws, n_places)).

    Parameters
    ----------
    posterior : Posterior
    weights : {"drawn", "integrated"}
        "drawn": log p(y_i | f) with f the draw's function. "integrated": log p(y_i | y_-i, units, hyper-parameters),
        the weights of the network integrated out with observation i left aside; its inverse has a smaller variance,
        so that importance sampling of leave-one-out needs less luck. Both give the same LOO in the limit of many
        draws; anything else that takes a log likelihood (WAIC, power scaling) wants "drawn", and a likelihood that
        does not integrate (Poisson counts) has no other.
    draws : indices of draws, all by default

    Notes
    -----
    An observation that counts c times has its log likelihood times c. Places are those of the sampler's order.
    """
    _checks.choice("weights", weights, WEIGHTS)
    chosen = np.arange(len(posterior)) if draws is None else draws
    found, likelihood, drawn = observed(posterior), posterior.problem.likelihood, posterior.drawn.taken(chosen)
    if likelihood.keeps_outputs:
        drawn = replace(drawn, kept=posterior.offset + drawn.kept * posterior.problem.scaling.y_scale)
    if weights == "drawn" or not likelihood.integrates:
        networks = posterior.networks if draws is None else posterior.subset(chosen)
        for rows in posterior.chunks(len(found)):
            sd = noise_of_observations(posterior, chosen, rows)
            values = likelihood.log_density(found.y[rows], networks(found.X[rows]), sd, _given(drawn, found, rows))
            yield rows, np.asarray(found.counts[rows] * values)
        return
    for places, moments in posterior.f_moments(found.X):
        sd = noise_of_observations(posterior, chosen, places)
        yield places, _left_out(found, likelihood, drawn, places, sd, moments.mean[chosen], moments.variance[chosen])


def _left_out(
    found: Observed, likelihood: Likelihood, drawn: Drawn, rows: Rows, sd: FloatArray, mean: FloatArray,
    variance: FloatArray,
) -> FloatArray:  # fmt: skip
    """Log p(y_i | y_-i, units, hyper-parameters), from the moments of f given all observations."""
    y, counts = found.y[rows], found.counts[rows]
    drawn = _given(drawn, found, rows)
    outputs, factor = likelihood.pseudo(y, drawn)
    precision = counts * factor / sd**2
    left = np.maximum(1.0 - precision * variance, _LEAST_SHARE)  # share of 1/variance that the others have given
    away = outputs - (outputs - mean) / left  # mean of f without observation i
    # p(y | f) ** c of a Gaussian is one with variance sd² / c, but for its constant; others count once
    if np.all(counts == 1.0) or not likelihood.additive:
        return likelihood.log_integrated(y, away, variance / left, sd, drawn)
    constant = 0.5 * np.log(2.0 * math.pi * sd**2 / counts) - 0.5 * counts * np.log(2.0 * math.pi * sd**2)
    return np.asarray(likelihood.log_integrated(y, away, variance / left, sd / np.sqrt(counts), drawn) + constant)


def _given(drawn: Drawn, found: Observed, rows: Rows) -> Drawn:
    """What is known of some observations, and what draws keep of them, if that is one number for each."""
    beside = None if found.beside is None else found.beside[rows]
    drawn = drawn.at(beside, found.counts[rows])
    return replace(drawn, kept=drawn.kept[:, rows]) if drawn.kept.shape[1] == len(found) else drawn


def log_density(posterior: Posterior) -> FloatArray:
    """Log posterior density of every draw up to a constant, shape (n_draws,): weights integrated out.

    Of the units with respect to a Poisson process of one unit per region, of the logarithms of noise, amplitude,
    level and degrees of freedom, of the curves' whitened coefficients and of the observations' Student-t scales:
    log p(y | ·) + Σ_k log λ(c_k) - ∫ λ + log p(hyper-parameters). For outcomes given by a link (labels, counts) it is
    the density of the drawn weights too, log p(y | f) + log p(weights) in place of the first term.
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
    log_p = draws.log_p if problem.likelihood.additive else _log_joint(posterior)
    total = log_p + units - level * integral - 0.5 * np.sum(draws.curves**2, axis=1)
    if posterior.slopes is not None and problem.prior.trend is not None:
        total -= 0.5 * np.sum((posterior.slopes / problem.prior.trend) ** 2, axis=1)
    for place, parameter in enumerate(problem.parameters):
        total += parameter.log_density(draws.values[:, place], problem.scaling)
    return np.asarray(total + problem.likelihood.log_augmented(posterior.drawn))


def _log_joint(posterior: Posterior) -> FloatArray:
    """Log p(y | f) + log p(weights) of every draw, shape (n_draws,), up to a constant."""
    problem, draws = posterior.problem, posterior.draws
    (component,) = problem.components
    total = np.zeros(len(draws))
    for _, values in log_likelihood_chunks(posterior):
        total += values.sum(axis=1)
    variance = component.weight_factor * draws.values[:, component.amplitude] ** 2
    owners = np.repeat(np.arange(len(draws)), draws.counts)
    squares = np.bincount(owners, draws.weights**2, len(draws))
    total -= 0.5 * (squares / variance + draws.counts * np.log(2.0 * math.pi * variance))
    bias = problem.prior.bias / problem.scaling.y_scale
    return total - 0.5 * (draws.biases / bias) ** 2 if bias > 0 else total
