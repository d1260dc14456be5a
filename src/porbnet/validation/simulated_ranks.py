"""Simulation-based calibration: ranks of true values among draws of the posterior that their own data lead to.

Truths are drawn from the prior, data from the truths, and a chain is run on each data set. If the sampler is right, the
rank of the truth among draws is uniform, whatever it is the truth of (Cook, Gelman and Rubin 2006; Talts et al. 2018);
ranks of quantities that depend on the data, too, such as the log likelihood, see what the others cannot (Modrák et al.
2023). Draws are thinned, since ranks among draws that follow each other closely are not uniform even if all is right.
"""

from __future__ import annotations

import warnings
import zlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.functions.network import Networks
from porbnet.likelihood import Censored, Drawn, Likelihood, LogScale
from porbnet.posterior.posterior import Posterior
from porbnet.posterior.reweighing import reweighed
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.sampling.samplers import sampler_of
from porbnet.statement.joint_draws import JointDraws, joint_draws
from porbnet.statement.prior import Prior
from porbnet.validation.combinations import LIMITS, ROWS, Combination, sampling_by

N_DRAWS = 99
WARMUP = {"collapsed": 200, "boxes": 200, "paper": 400}
THIN = {"collapsed": 25, "boxes": 25, "paper": 20}
Ranks = dict[str, NDArray[np.int64]]


@dataclass(frozen=True, eq=False)
class Simulated:
    """Truths and their data, draws along the first axis.

    X, X_new : inputs of rows, and of two places to predict
    f, f_new : function values; y : outputs; other : other ends of censored ones; y_new : an output at the second place
    """

    prior: Prior
    truth: JointDraws
    X: FloatArray
    X_new: FloatArray
    f: FloatArray
    f_new: FloatArray
    y: FloatArray
    other: FloatArray | None
    y_new: FloatArray
    exposure: FloatArray | None


def simulated(combination: Combination, n: int, first: int = 0) -> Simulated:
    """Truths number first, ..., first + n - 1 of a combination and a data set for each."""
    prior, root = combination.prior, zlib.crc32(combination.name.encode())
    region, likelihood = prior.region, _likelihood(prior)
    design = np.random.default_rng([root, 0])
    X = region.low + region.widths * design.uniform(0.1, 0.9, (ROWS, prior.n_dims))
    X_new = region.low + region.widths * np.array([[0.3], [0.8]])
    rng = np.random.default_rng([root, 1, first])
    truth = joint_draws(prior, n, rng)
    f, f_new = truth.networks(X) + likelihood.middle, truth.networks(X_new) + likelihood.middle
    exposure = combination.exposure
    y = likelihood.outputs(f, truth.noise_at(X), truth.drawn.at(exposure), rng)
    y_new = likelihood.outputs(f_new[:, 1:], truth.noise_at(X_new[1:]), _at_new(truth.drawn, exposure), rng)
    other = None
    if isinstance(likelihood, Censored):
        other = np.where(y < LIMITS[0], -np.inf, np.where(y > LIMITS[1], np.inf, y))
        y = np.clip(y, *LIMITS)
    return Simulated(prior, truth, X, X_new, f, f_new, y, other, y_new[:, 0], exposure)


def rank_block(combination: dict[str, Any], first: int, n: int) -> dict[str, list[int]]:
    """Ranks of every quantity in some data sets of a combination: a task of the validation."""
    chosen = Combination(**combination)
    return {name: [int(r) for r in values] for name, values in ranks(chosen, n, first).items()}


def ranks(combination: Combination, n: int, first: int = 0) -> Ranks:
    """Ranks, 0 to `N_DRAWS`, of true values among posterior draws, ties broken at random: name -> (n,)."""
    made = simulated(combination, n, first)
    breaker = np.random.default_rng([zlib.crc32(combination.name.encode()), 2, first])
    found: dict[str, list[int]] = {}
    with sampling_by(combination.sampler), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a fit of ten rows says of itself
        for i in range(n):
            seed = np.random.SeedSequence([zlib.crc32(combination.name.encode()), 3, first + i])
            posterior = _posterior(made, i, combination.sampler, seed)
            for name, (true, drawn) in _quantities(made, i, posterior, breaker).items():
                found.setdefault(name, []).append(_rank(true, drawn, breaker))
    return {name: np.array(values, dtype=np.int64) for name, values in found.items()}


def _rank(true: float, drawn: FloatArray, rng: np.random.Generator) -> int:
    if not (np.isfinite(true) and np.all(np.isfinite(drawn))):
        raise FloatingPointError("a rank of what is no number")
    return int(np.sum(drawn < true) + rng.integers(np.sum(drawn == true) + 1))


def _posterior(made: Simulated, i: int, sampler: str, seed: np.random.SeedSequence) -> Posterior:
    """Draws of the posterior given data set i."""
    likelihood = _likelihood(made.prior)
    y = np.log(made.y[i]) if isinstance(likelihood, LogScale) else made.y[i]
    beside = made.exposure if made.other is None else made.other[i]
    problem = Problem.of(made.prior, made.X, y, beside=beside)
    make = sampler_of("paper" if sampler == "paper" else "collapsed").make_chain
    chain = make(problem, seed, WARMUP[sampler], N_DRAWS, THIN[sampler])
    chain.advance(chain.total_sweeps)
    n_forced, drift = chain.trouble()
    result = ChainResult(
        draws=chain.draws(), acceptance=chain.acceptance(), n_forced=n_forced, drift=drift, seconds=0.0
    )
    posterior = Posterior(problem, [result], likelihood.middle)
    return posterior if likelihood.integrates else reweighed(posterior)


def _quantities(
    made: Simulated, i: int, posterior: Posterior, rng: np.random.Generator
) -> dict[str, tuple[float, FloatArray]]:
    """The truth and the draws of all that is ranked in data set i, by name."""
    prior, truth, likelihood = made.prior, made.truth, _likelihood(made.prior)
    networks: Networks = replace(posterior.networks, further=None)  # truths have the units of the region alone
    f_new = networks(made.X_new)
    rows = np.arange(len(posterior))
    beside = None if made.exposure is None else made.exposure[-1:]
    new = posterior.sample_outputs(made.X_new[1:], f_new[:, 1:].T, rows, rng, beside)[0]
    named = {
        "f, among the rows": (made.f_new[i, 0], f_new[:, 0]),
        "f, near the edge": (made.f_new[i, 1], f_new[:, 1]),
        "K": (float(truth.networks[i].n_units), posterior.n_units.astype(float)),
        "amplitude": (truth.amplitude[i], posterior.amplitude),
        "log likelihood": _log_likelihoods(made, i, networks(made.X), posterior),
        "a new y": (made.y_new[i], new),
    }
    for parameter in likelihood.parameters():
        if not parameter.known:
            named[parameter.name] = truth.drawn[parameter.name][i], posterior.parameter(parameter.name)
    if not prior.intensity.known:
        at = made.X_new[:1]
        named["λ"] = float(truth.intensities[i].value(at)[0]), posterior.intensity(at)[:, 0]
    if likelihood.varies:
        at = made.X_new[:1]
        named["noise at a place"] = float(truth.noise_at(at)[i, 0]), posterior.noise_at(at)[:, 0]
    return named


def _log_likelihoods(made: Simulated, i: int, f: FloatArray, posterior: Posterior) -> tuple[float, FloatArray]:
    """Log p(y | f, parameters) of data set i under its truth and under every draw."""
    likelihood, y = _likelihood(made.prior), made.y[i]
    beside = made.exposure if made.other is None else made.other[i]

    def total(f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        return np.asarray(likelihood.log_density(y, f, sd, drawn.at(beside)).sum(axis=1))

    one = slice(i, i + 1)
    true = total(made.f[one], made.truth.noise_at(made.X)[one], made.truth.drawn.taken(one))
    return float(true[0]), total(f, posterior.noise_at(made.X), posterior.drawn)


def _at_new(drawn: Drawn, exposure: FloatArray | None) -> Drawn:
    return drawn.at(None if exposure is None else exposure[-1:])


def _likelihood(prior: Prior) -> Likelihood:
    if prior.likelihood is None:
        raise ValueError("the prior states no noise")
    return prior.likelihood
