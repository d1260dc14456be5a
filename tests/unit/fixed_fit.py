"""A fit whose draws are made up, not sampled: pictures of it change only when the pictures do."""

import functools
from dataclasses import replace

import numpy as np
from scipy.special import expit

from porbnet import LogNormal, PoRBNetRegressor, Prior
from porbnet.intensity import Gamma, SigmoidGP
from porbnet.likelihood import VaryingNoise
from porbnet.posterior.diagnostics import diagnose
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem

N_CHAINS, N_DRAWS = 4, 50


def halton(n, base):
    """n numbers between 0 and 1, evenly spread and the same on every machine."""
    values = np.zeros(n)
    for i in range(n):
        k, share = i + 1, 1.0
        while k:
            share /= base
            values[i] += share * (k % base)
            k //= base
    return values


def data(n=60):
    """Inputs on [0, 10], a bump at 3 on a slope, and noise that grows."""
    X = np.sort(10.0 * halton(n, 2))[:, None]
    errors = 2.0 * halton(n, 3) - 1.0
    return X, 0.3 * X[:, 0] + 3.0 * np.exp(-2.0 * (X[:, 0] - 3.0) ** 2) + (0.1 + 0.08 * X[:, 0]) * errors


def _draws(problem, first):
    """N_DRAWS draws that look like a posterior: units crowd where the intensity is high."""
    n_z, n_noise = problem.components[0].process.n_whitened, len(problem.errors().kept)
    counts = 12 + np.floor(8.0 * halton(first + N_DRAWS, 5)[first:]).astype(np.int64)
    total = int(counts.sum())
    spread = halton(first + total, 7)[first:], halton(first + total, 11)[first:], halton(first + total, 13)[first:]
    u = {base: halton(first + N_DRAWS, base)[first:] for base in (17, 19, 23, 29)}
    values = np.stack([0.15 * np.exp(0.6 * u[17] - 0.3), np.exp(u[19] - 0.5), 20.0 + 10.0 * u[23]], 1)
    z = np.zeros((N_DRAWS, n_z))
    z[:, :4] = np.array([0.5, -1.0, 0.7, 0.3]) + 0.6 * (u[29][:, None] - 0.5) * np.array([1.0, 2.0, -1.0, 0.5])
    noise_z = np.zeros((N_DRAWS, n_noise))
    noise_z[:, :2] = np.array([0.0, -0.8]) + 0.4 * (u[17][:, None] - 0.5)
    centers = spread[0] ** (0.8 + 0.4 * spread[1])
    weights = 2.0 * (spread[2] - 0.5)
    zeros = np.zeros(N_DRAWS)
    return ChainDraws(
        counts=counts, values=values, log_p=zeros, biases=u[19] - 0.5, mean_biases=zeros, curves=z, kept=noise_z,
        owner=np.zeros(total, dtype=np.int64), centers=centers[:, None], relative=expit(4.0 * spread[1] - 2.0),
        weights=weights, mean_weights=0.9 * weights, slopes=np.zeros((len(counts), 0)),
    )  # fmt: skip


def _with_weights(posterior, chain):
    """The draws of a chain with bias and weights at their conditional means given the data, by dense matrices."""
    problem, draws = posterior.problem, posterior.results[chain].draws
    (component,), bias_variance = problem.components, problem.rows().bias_variance
    noise = posterior.noise_at(problem.inputs) / problem.scaling.y_scale
    means = []
    for i in range(N_DRAWS):
        units = slice(*draws.offsets[i : i + 2])
        scales = component.s0 * draws.values[i, 2] * draws.relative[units]
        phi = np.exp(-0.5 * (scales * (component.x.T - draws.centers[units, 0])) ** 2)
        phi = np.c_[np.ones(len(phi)), phi] / noise[chain * N_DRAWS + i, :, None]
        variance = component.weight_factor * draws.values[i, 1] ** 2
        precision = np.diag([1.0 / bias_variance] + [1.0 / variance] * (phi.shape[1] - 1))
        means.append(np.linalg.solve(phi.T @ phi + precision, phi.T @ (problem.outputs / noise[chain * N_DRAWS + i])))
    biases, weights = np.array([m[0] for m in means]), np.concatenate([m[1:] for m in means])
    return replace(draws, biases=biases, mean_biases=biases, weights=weights, mean_weights=weights)


@functools.cache
def fixed_fit():
    """A PoRBNetRegressor that looks fitted, with learned lengthscale and noise curves."""
    X, y = data()
    model = PoRBNetRegressor(noise="varying", n_jobs=1)
    spread, width, offset = y.std(), np.ptp(X), y.mean()
    level = 1.5 / (0.2 * width)
    prior = Prior(
        SigmoidGP(Gamma(4.0, 1.0 / level), 4.0, 0.2 * width),
        LogNormal(spread, 2.0),
        region=(X.min() - 0.3 * width, X.max() + 0.3 * width),
        bias=spread,
        noise=VaryingNoise(LogNormal(0.3 * spread, 3.0), 2.0, 0.15 * width),
        units_per_lengthscale=1.5,
    )
    problem = Problem.of(prior, X, y - offset)
    results = [
        ChainResult(_draws(problem, 1 + c * N_DRAWS), {"birth": 0.5, "death": 0.5}, 0, 0.0, 0.0)
        for c in range(N_CHAINS)
    ]
    model.n_features_in_ = 1
    model.prior_, model.offset_ = prior, offset
    made_up = Posterior(problem, results, offset)
    model.posterior_ = Posterior(
        problem, [replace(r, draws=_with_weights(made_up, c)) for c, r in enumerate(results)], offset
    )
    model.diagnostics_ = diagnose(model.posterior_)
    return model
