"""Posteriors that are known: no data, fixed centers, many units per lengthscale, much data."""

import itertools

import numpy as np
import pytest
from collapsed_tools import sample, set_centers
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from porbnet import LogNormal, Prior
from porbnet.base.region import Region
from porbnet.intensity import Constant, FromFunction, Piecewise, UnknownConstant
from porbnet.sampling.collapsed.chain import Plan

P_VALUE = 1e-4  # of every test of a distribution below: its false-alarm rate


# --- no data gives the prior ----------------------------------------------------------------------------------------


def slope(X):
    return 0.7 + 1.1 * X[:, 0] + (0.0 if X.shape[1] == 1 else 0.5 * X[:, 1])


NO_DATA = {
    "constant": (Constant(1.5), 1),
    "unknown": (UnknownConstant(3.0, 1.5), 1),
    "piecewise": (Piecewise([0.5, 1.0], [0.3, 4.0, 1.0]), 1),
    "function": (FromFunction(slope), 1),
    "2-D constant": (Constant(0.8), 2),
    "2-D piecewise": (Piecewise([[1.2], [0.4]], [[0.3, 1.0], [1.5, 0.2]]), 2),
    "2-D function": (FromFunction(slope), 2),
}


def no_data(intensity, n_dims, seed):
    region = [(0.0, 2.0), (-1.0, 1.0)][:n_dims]
    prior = Prior(
        intensity, LogNormal(2.0, 1.5), region=region, bias=0.6, noise=LogNormal(0.3, 2.0), units_per_lengthscale=1.2
    )
    posterior = sample(prior, np.empty((0, n_dims)), np.empty(0), seed, n_chains=2, n_draws=2000, thin=12)
    return prior, posterior


def p_value_of_counts(counts, mass):
    """Chi-square test of counts against probabilities of 0, 1, 2, ...; cells expecting fewer than ten are joined."""
    observed = np.bincount(counts, minlength=len(mass)).astype(float)
    expected = len(counts) * mass
    observed, expected = observed[: len(mass)], expected[: len(mass)]
    low, high = np.flatnonzero(np.cumsum(expected) >= 10)[0], np.flatnonzero(np.cumsum(expected[::-1])[::-1] >= 10)[-1]
    edges = np.arange(low, high + 1)
    edges[0] = 0
    observed = np.add.reduceat(observed, edges)
    expected = np.add.reduceat(expected, edges)
    return stats.chisquare(observed, expected * observed.sum() / expected.sum()).pvalue


@pytest.mark.parametrize("kind", NO_DATA)
def test_no_data_gives_the_prior(kind, seed):
    """Width, centers, noise, amplitude, level, f; each test of a distribution fails one seed in ten thousand."""
    prior, posterior = no_data(*NO_DATA[kind], seed)
    widths = np.arange(60)
    if kind == "unknown":
        levels = posterior.intensity(np.zeros((1, 1)))[:, 0]
        square = prior.intensity.square
        assert stats.kstest(levels**2, stats.gamma(square.shape, scale=1.0 / square.rate).cdf).pvalue > P_VALUE
        probabilities, nodes = prior.intensity.level_nodes()
        mass = np.array(probabilities) @ stats.poisson.pmf(widths, np.array(nodes)[:, None] * prior.region.volume)
    else:
        mass = stats.poisson.pmf(widths, prior.expected_units)
    assert p_value_of_counts(posterior.n_units, mass) > P_VALUE
    centers = posterior.networks.centers
    for d in range(prior.n_dims):
        assert stats.kstest(centers[:, d], cumulative(prior, d)).pvalue > P_VALUE
    for values, stated in ((posterior.noise, prior.noise), (posterior.amplitude, prior.amplitude)):
        z = np.log(values / stated.median) / stated.log_sd
        assert stats.kstest(z, "norm").pvalue > P_VALUE
    f = posterior.f(prior.region.low + 0.6 * prior.region.widths[None])[:, 0]
    square = f**2
    variance = prior.variance(prior.region.low + 0.6 * prior.region.widths[None])[0]
    assert abs(square.mean() - variance) < 4.0 * square.std() / np.sqrt(len(f))
    assert abs(f.mean()) < 4.0 * f.std() / np.sqrt(len(f))


def cumulative(prior, d, n=2001):
    """Distribution function of one coordinate of a center, λ / Λ with the other coordinates summed out."""
    axes = [np.linspace(low, high, n if i == d else 201) for i, (low, high) in enumerate(prior.region.bounds)]
    middles = [0.5 * (axis[1:] + axis[:-1]) for axis in axes]
    points = np.stack([m.ravel() for m in np.meshgrid(*middles, indexing="ij")], axis=1)
    density = prior.intensity.value(points).reshape([len(m) for m in middles])
    along = density.sum(axis=tuple(i for i in range(prior.n_dims) if i != d))
    total = np.concatenate([[0.0], np.cumsum(along)])
    return lambda x: np.interp(x, axes[d], total / total[-1])


# --- fixed centers give Bayesian linear regression ------------------------------------------------------------------


def linear_regression(prior, centers, X, y, weight, X_new):
    """Mean and covariance of f and log p(y), in NumPy: the normal equations of bias and weights."""

    def design(points):
        scales = prior.s0 * prior.intensity.value(centers) ** (1.0 / prior.n_dims)
        gaps = (points[:, None, :] - centers[None]) / prior.anisotropy
        return np.hstack([np.ones((len(points), 1)), np.exp(-0.5 * scales**2 * (gaps**2).sum(axis=2))])

    prior_variance = np.full(1 + len(centers), (prior.s0**2 / np.pi) ** (prior.n_dims / 2) * prior.amplitude**2)
    prior_variance[0] = prior.bias**2
    Phi, Phi_new = design(X), design(X_new)
    noise_variance = prior.noise**2 / weight
    A = (Phi.T / noise_variance) @ Phi + np.diag(1.0 / prior_variance)
    mean = np.linalg.solve(A, Phi.T @ (y / noise_variance))
    marginal = stats.multivariate_normal(np.zeros(len(y)), (Phi * prior_variance) @ Phi.T + np.diag(noise_variance))
    return Phi_new @ mean, Phi_new @ np.linalg.solve(A, Phi_new.T), marginal.logpdf(y)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_fixed_centers_give_bayesian_linear_regression(n_dims, seed):
    rng = np.random.default_rng(seed)
    region = [(0.0, 2.0), (-10.0, 10.0), (5.0, 5.1)][:n_dims]
    anisotropy = [1.0, 8.0, 0.1][:n_dims]
    breaks, values = [[0.8], [2.0], [5.04]][:n_dims], 4.0 + 3.0 * (np.indices([2] * n_dims).sum(axis=0) % 2)
    prior = Prior(
        Piecewise(breaks[0] if n_dims == 1 else breaks, values), 1.4, region=region, bias=0.6, noise=0.3,
        anisotropy=anisotropy,
    )  # fmt: skip
    X, centers = (prior.region.uniform(n, rng) for n in (25, 12))
    X_new = Region(X.min(axis=0), X.max(axis=0)).uniform(9, rng)  # outside the data's box others may add to f
    y, weight = 3.0 + rng.standard_normal(25), rng.uniform(0.3, 3.0, 25)
    posterior = sample(
        prior, X, y, seed, weight=weight, n_chains=1, n_warmup=0, n_draws=3, thin=1, plan=Plan(0, 0),
        prepare=lambda chain: set_centers(chain, centers),
    )  # fmt: skip
    mean, covariance, log_p = linear_regression(prior, centers, X, y, weight, X_new)
    np.testing.assert_array_equal(posterior.n_units, 12)
    got_mean, got_variance = posterior.mean_and_variance(X_new)
    np.testing.assert_allclose(got_mean, mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(got_variance, np.diag(covariance), rtol=1e-8)
    np.testing.assert_allclose(posterior.covariance(X_new), covariance, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(posterior.mean_networks(X_new)[1], mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(posterior.log_likelihood, log_p, rtol=1e-8)


def test_drawn_weights_have_the_covariance_of_linear_regression(seed):
    """Squared Mahalanobis distances of f at 4 points from its exact mean are chi-square; false alarm 1e-4."""
    rng = np.random.default_rng(seed)
    prior = Prior(Constant(3.0), 1.4, region=(0.0, 2.0), bias=0.6, noise=0.3)
    X, centers, X_new = (prior.region.uniform(n, rng) for n in (15, 6, 4))
    y = rng.standard_normal(15)
    posterior = sample(
        prior, X, y, seed, n_chains=1, n_warmup=0, n_draws=4000, thin=1, plan=Plan(0, 0),
        prepare=lambda chain: set_centers(chain, centers),
    )  # fmt: skip
    mean, covariance, _ = linear_regression(prior, centers, X, y, np.ones(15), X_new)
    white = np.linalg.solve(np.linalg.cholesky(covariance), (posterior.f(X_new) - mean).T)
    assert stats.kstest(np.sum(white**2, axis=0), stats.chi2(4).cdf).pvalue > P_VALUE
    assert stats.kstest(white.sum(axis=0) / 2.0, "norm").pvalue > P_VALUE


# --- many units per lengthscale give a Gaussian process -------------------------------------------------------------


def test_many_units_per_lengthscale_approach_a_gaussian_process(seed):
    """Root-mean-square differences of mean and sd of f from scikit-learn's, in amplitudes, fall as κ grows.

    They fall like 1/κ once κ is large (the prior's excess kurtosis does), by 0.5 to 0.7 a step here; Monte Carlo error
    is about 0.0007 and 0.0001. The data are likely under the prior: the less so, the slower the approach.
    """
    rng = np.random.default_rng(seed)
    lengthscale, amplitude, bias, noise = 0.5, 1.0, 0.5, 0.3
    X = np.sort(rng.random(15))[:, None]
    y = 1.2 * np.sin(4.0 * X[:, 0]) + noise * rng.standard_normal(15)
    X_new = np.linspace(0.0, 1.0, 21)[:, None]
    kernel = ConstantKernel(amplitude**2) * RBF(lengthscale) + ConstantKernel(bias**2)
    process = GaussianProcessRegressor(kernel, alpha=noise**2, optimizer=None).fit(X, y)
    mean, sd = process.predict(X_new, return_std=True)
    table = {}
    for kappa in (1, 2, 4, 8, 16):
        prior = Prior(lengthscale, amplitude, region=(-1.0, 2.0), bias=bias, noise=noise, units_per_lengthscale=kappa)
        posterior = sample(prior, X, y, seed + kappa, n_draws=1000, thin=1)
        got_mean, got_variance = posterior.mean_and_variance(X_new)
        errors = np.array([got_mean - mean, np.sqrt(got_variance) - sd]) / amplitude
        table[kappa] = np.sqrt(np.mean(errors**2, axis=1))
    print("\n".join(f"κ = {kappa:2d}: mean off by {m:.4f}, sd by {s:.4f}" for kappa, (m, s) in table.items()))
    for kappa in (1, 2, 4, 8):
        assert np.all(table[2 * kappa] < 0.85 * table[kappa]), table
    assert np.all(table[16] < [0.006, 0.002]), table


# --- much data ------------------------------------------------------------------------------------------------------


def test_error_falls_as_data_grow(seed):
    """Mean squared error of the posterior mean of f, three data sets each, falls to a third or less per step."""
    rng = np.random.default_rng(seed)
    X_new = np.linspace(0.0, 1.0, 101)[:, None]

    def truth(X):
        return np.sin(6.0 * X[:, 0]) + np.exp(-200.0 * (X[:, 0] - 0.7) ** 2)

    prior = Prior(
        UnknownConstant.about(8.0, 2.0), LogNormal(1.0, 2.0), region=(-0.5, 1.5), bias=1.0, noise=LogNormal(0.3, 2.0)
    )
    errors = []
    for n in (10, 100, 1000):
        error = 0.0
        for _ in range(3):
            X = rng.random((n, 1))
            y = truth(X) + 0.3 * rng.standard_normal(n)
            posterior = sample(prior, X, y, seed + n, n_chains=1, n_draws=200, thin=1)
            error += np.mean((posterior.mean_and_variance(X_new)[0] - truth(X_new)) ** 2) / 3.0
        errors.append(error)
    assert all(later < earlier / 3.0 for earlier, later in itertools.pairwise(errors)), errors
