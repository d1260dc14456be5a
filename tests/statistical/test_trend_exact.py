"""A straight line in f: chains against importance sampling from the prior, in whole squares and in blocks.

Given centers, outputs are Gaussian with covariance σ_b² 1 1ᵀ + Σ_d τ_d² x_d x_dᵀ + v_w Φ Φᵀ + σ² I, slopes integrated
out, while the sampler draws slopes and works with the inverse covariance of the weights. Draws of the prior weighted by
that density give posterior means of the width, of each slope and its square, and of f at a place in the region and
beyond it. Standard errors of both sides are known; of the largest of at most 9 one exceeds 4.5 once in
16,000 seeds.
"""

import numpy as np
import pytest
from collapsed_tools import always_in_blocks

from porbnet import Prior
from porbnet.intensity import Constant
from porbnet.kernels import trend
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem

LIMIT = 4.5
N_PRIOR, N_SWEEPS = 15_000, 8_000


def data(n_dims):
    rng = np.random.default_rng(12)
    X = rng.uniform(0.1, 0.9, (6, n_dims))
    return X, 1.5 * X[:, 0] + 0.4 * np.sin(9.0 * X[:, 0]) - 0.8


def stated(n_dims):
    sds = [2.0] if n_dims == 1 else [2.0, 1.0]
    return Prior(
        Constant(3.0), 1.0, region=[(0.0, 1.0)] * n_dims, bias=1.0, noise=0.3, units_per_lengthscale=1.2, trend=sds
    )


def exact(prior, X, y, places, seed):
    """Posterior means and standard errors of width, slopes, their squares and f at places, by importance sampling."""
    rng, middle = np.random.default_rng(seed), 0.5
    counts = rng.poisson(3.0, N_PRIOR)
    variance, scale = prior.weight_variance, prior.s0 * 3.0 ** (1.0 / prior.n_dims)
    logs, values = np.empty(N_PRIOR), []
    every, line = np.concatenate([X, places]), prior.trend**2
    fixed = prior.bias**2 + (line * (every - middle)) @ (every - middle).T
    slope_y = line[:, None] * (X - middle).T
    n = len(y)
    for i, k in enumerate(counts):
        c = rng.random((k, prior.n_dims))
        Phi = np.exp(-0.5 * scale**2 * np.sum((every[:, None] - c) ** 2, axis=2))
        K = fixed + variance * Phi @ Phi.T
        L = np.linalg.cholesky(K[:n, :n] + prior.noise**2 * np.eye(n))
        z = np.linalg.solve(L, y)
        logs[i] = -0.5 * z @ z - np.sum(np.log(np.diag(L)))
        a = np.linalg.solve(L, slope_y.T)
        mean = a.T @ z
        b = np.linalg.solve(L, K[:n, n:])
        values.append([k, *mean, *(mean**2 + line - np.sum(a * a, axis=0)), *(b.T @ z)])
    values, weights = np.array(values), np.exp(logs - logs.max())
    mean = weights @ values / weights.sum()
    error = np.sqrt(np.sum((weights[:, None] * (values - mean)) ** 2, axis=0)) / weights.sum()
    return mean, error


def sampled(prior, X, y, places, seed):
    """The same from two chains, with standard errors from batches."""
    scaling_of = Problem.of(prior, X, y)
    batches = []
    for child in np.random.SeedSequence(seed).spawn(2):
        chain = CollapsedChain(scaling_of, child, 500, N_SWEEPS, 1)
        while not chain.finished:
            chain.advance(1000)
        draws, scaling = chain.draws(), scaling_of.scaling
        slopes = draws.slopes * scaling.y_scale / scaling.divisor
        f = []
        owners = np.repeat(np.arange(len(draws)), draws.counts)
        level = scaling_of.components[0].start_level
        scale = prior.s0 * level ** (1.0 / prior.n_dims)
        for place in scaling.inputs(places):
            phi = np.exp(-0.5 * scale**2 * np.sum((draws.centers - place) ** 2, axis=1))
            units = draws.biases + np.bincount(owners, draws.weights * phi, len(draws))
            f.append(units * scaling.y_scale + slopes @ (scaling.centers(place[None])[0] - 0.5))
        table = np.column_stack([draws.counts, slopes, slopes**2, *f])
        batches.append(table.reshape(40, -1, table.shape[1]).mean(axis=1))
    batches = np.concatenate(batches)
    return batches.mean(axis=0), batches.std(axis=0, ddof=1) / np.sqrt(len(batches))


def worst(n_dims, seed):
    prior, (X, y) = stated(n_dims), data(n_dims)
    places = np.full((2, n_dims), 0.4)
    places[1, 0] = 1.6
    truth, truth_error = exact(prior, X, y, places, seed)
    found, error = sampled(prior, X, y, places, seed)
    return np.max(np.abs(found - truth) / np.hypot(truth_error, error))


@pytest.mark.parametrize("n_dims", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_equals_importance_sampling(n_dims, seed):
    assert worst(n_dims, seed) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize("n_dims", [1, 2])
def test_equals_importance_sampling_in_blocks(n_dims, seed, monkeypatch):
    always_in_blocks(monkeypatch)
    assert worst(n_dims, seed) < LIMIT


def test_a_slope_without_its_prior_is_rejected(seed):
    """The mutant: chains whose slopes have an sd ten times larger, which is next to none."""
    prior, (X, y), places = stated(1), data(1), np.array([[0.4], [1.6]])
    truth, truth_error = exact(prior, X, y, places, seed)
    wrong = Prior(Constant(3.0), 1.0, region=(0.0, 1.0), bias=1.0, noise=0.3, units_per_lengthscale=1.2, trend=[20.0])
    found, error = sampled(wrong, X, y, places, seed)
    assert np.max(np.abs(found - truth) / np.hypot(truth_error, error)) > LIMIT


def test_rows_stand_for_observations_under_a_line():
    """Sums that the kernels see of compressed rows with a line taken off, against those of all rows."""
    from porbnet.sampling.compression import Sharpness
    from porbnet.sampling.lean import source_of

    rng = np.random.default_rng(3)
    X = np.sort(rng.uniform(size=(3000, 1)), axis=0)
    y = 3.0 * X[:, 0] + np.sin(8.0 * X[:, 0]) + 0.2 * rng.standard_normal(3000)
    whole = Problem.of(Prior(0.3, 1.0, region=(-0.3, 1.3), bias=1.0, noise=0.2, trend=3.0), X, y)
    lean = source_of(whole).lean(Sharpness.everywhere(20.0, 1))
    assert lean.n_points < 0.5 * whole.n_points
    found = []
    for problem in (whole, lean):
        rows, component = problem.rows(), problem.components[0].record(0)
        rows.slopes[0] = 1.7
        trend.line_taken_off(rows, component)
        unit = np.exp(-0.5 * 15.0**2 * (component.x[0] - 0.4) ** 2) * rows.root
        line = (component.x[0] - 0.5) * rows.root
        found.append([rows.square, unit @ rows.y, line @ rows.y, line @ line, unit @ line, rows.root @ rows.y])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-8)
