"""Rounding and bookkeeping: lost precision is noticed and repaired, and draws do not depend on how work is cut up."""

import os
from pathlib import Path

import numpy as np
import pytest
from collapsed_tools import current_centers, finish, gram_of, make_room, set_centers

from porbnet import LogNormal, Prior
from porbnet.base.compiled import kernel
from porbnet.intensity import UnknownConstant
from porbnet.kernels.gaussian import log_marginal
from porbnet.kernels.state import NOISE, empty_units
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem


def small_problem(seed, n=30, **stated):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 1))
    y = np.sin(5.0 * X[:, 0]) + 0.1 * rng.standard_normal(n)
    stated = {"amplitude": LogNormal(1.0, 2.0), "noise": LogNormal(0.2, 2.0), **stated}
    return Problem.of(Prior(UnknownConstant.about(8.0, 1.5), region=(-0.5, 1.5), bias=0.5, **stated), X, y)


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-9])
def test_lost_positive_definiteness_is_noticed_and_repaired(gap, seed):
    """40 units in four heaps and next to no noise: A cannot be factored as it is."""
    problem = small_problem(seed, noise=1e-9)
    chain = CollapsedChain(problem, np.random.SeedSequence(seed), 0, 60)
    heaps = np.repeat([0.1, 0.3, 0.6, 0.9], 10) + gap * np.arange(40)
    make_room(chain, 200)
    set_centers(chain, heaps[:, None])
    chain.advance(1)
    assert chain.tuning.forced > 0
    result = finish(chain)
    posterior = Posterior(problem, [result])
    X_new = np.linspace(0.0, 1.0, 7)[:, None]
    for values in (posterior.f(X_new), posterior.log_likelihood, *posterior.mean_and_variance(X_new), posterior.noise):
        assert np.all(np.isfinite(values))
    assert np.all(posterior.mean_and_variance(X_new)[1] > 0)
    assert np.all(posterior.log_likelihood <= highest_log_likelihood(posterior))


def highest_log_likelihood(posterior):
    """Densities of outputs never exceed that of noise alone at its mode."""
    return -0.5 * posterior.problem.n_points * np.log(2.0 * np.pi * posterior.noise**2)


@pytest.mark.parametrize("noise", [1e-3, 1e-6, *(pytest.param(n, marks=pytest.mark.slow) for n in (1e-5, 1e-7, 1e-9))])
def test_too_little_noise_gives_no_impossible_likelihoods(noise, seed):
    """Residuals a hundred or more times the stated noise, where rounding alone can make likelihoods of exp(1e11)."""
    problem = small_problem(seed, noise=noise)
    posterior = Posterior(problem, [finish(CollapsedChain(problem, np.random.SeedSequence(seed), 0, 200))])
    assert np.all(posterior.log_likelihood <= highest_log_likelihood(posterior))


def test_a_corrupted_inverse_is_noticed(seed):
    """A P with a wrong sign, as rounding may leave it: counted, computed afresh, and the chain goes on as it should."""
    problem = small_problem(seed, noise=0.1)
    chain = CollapsedChain(problem, np.random.SeedSequence(seed), 0, 200)
    chain.advance(50)
    before = chain.tuning.forced
    chain.state.units.inverse[:] *= 1e6
    chain.state.units.updates = 1
    chain.advance(50)
    assert chain.tuning.forced > before
    state = chain.state
    n, component = state.units.n + 1, state.components[0]
    A = gram_of(state.units) / state.values[NOISE] ** 2
    weight_variance = component.weight_factor * state.values[component.amplitude] ** 2
    A += np.diag([1.0 / state.rows.bias_variance] + [1.0 / weight_variance] * (n - 1))
    np.testing.assert_allclose(state.units.inverse[:n, :n] @ A, np.eye(n), atol=1e-6)


def assert_same_draws(one, other):
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, getattr(other, name), err_msg=name)


@pytest.mark.parametrize("pieces", [[1] * 700, [7] * 100, [699, 1], [1, 350, 2, 1000]])
def test_draws_do_not_depend_on_how_sweeps_are_cut(pieces, seed):
    problem = small_problem(seed)
    chains = [CollapsedChain(problem, np.random.SeedSequence(seed), 100, 200, 3) for _ in range(2)]
    chains[0].advance(1000)
    for n in pieces:
        chains[1].advance(n)
    assert all(chain.finished for chain in chains)
    assert_same_draws(chains[0].draws(), chains[1].draws())


def test_draws_do_not_depend_on_the_capacity(seed):
    """A chain that starts with room for its units alone, and grows, against one with room to spare."""
    problem = small_problem(seed, n=12)
    tight, roomy = (CollapsedChain(problem, np.random.SeedSequence(seed), 100, 300) for _ in range(2))
    make_room(tight, max(1, tight.state.units.n))
    make_room(roomy, 5000)
    start = tight.capacity
    for chain in (tight, roomy):
        chain.advance(400)
    assert tight.capacity > start
    assert roomy.capacity == 5000
    assert_same_draws(tight.draws(), roomy.draws())
    np.testing.assert_array_equal(current_centers(tight), current_centers(roomy))


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory in use is read from /proc")
def test_room_takes_no_memory_until_it_is_used():
    """Four matrices of 4,000 by 4,000 are half a gigabyte; packed, 4,000 units need little even when in use."""
    before = resident_bytes()
    square, packed = empty_units(4000, 1, 10), empty_units(4000, 1, 10, room=200_000)
    assert resident_bytes() - before < 20e6
    assert len(square.scales) == len(packed.scales) == 4000
    assert sum(a.nbytes for a in packed.arrays().values()) < 10e6


def resident_bytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_storage_in_pieces_gives_the_same_draws(seed, monkeypatch):
    """Little room for draws: `run` returns early, again and again."""
    problem = small_problem(seed, n=12)
    chains = []
    for room in (200_000, 1000):
        monkeypatch.setattr("porbnet.sampling.chain.MOST_STORED", room)
        chains.append(CollapsedChain(problem, np.random.SeedSequence(seed), 50, 200))
        chains[-1].advance(250)
    assert len(chains[1].pieces) > len(chains[0].pieces)
    assert_same_draws(*(chain.draws() for chain in chains))


@kernel
def log_p_of(state):
    """log p(y) from the Gram matrix."""
    return log_marginal(state, state.units)


def log_p_in_more_digits(state):
    """The same in extended precision, from the definition."""
    long, units, rows, component = np.longdouble, state.units, state.rows, state.components[0]
    K, noise2 = units.n, np.longdouble(state.values[NOISE]) ** 2
    gaps = component.x[0].astype(long)[:, None] - units.centers[:K, 0].astype(long)
    Phi = np.column_stack([np.ones(len(gaps), long), np.exp(-0.5 * (units.scales[:K].astype(long) * gaps) ** 2)])
    variances = np.full(K + 1, long(component.weight_factor) * long(state.values[component.amplitude]) ** 2)
    variances[0] = rows.bias_variance
    A, y = Phi.T @ Phi / noise2 + np.diag(1 / variances), rows.y.astype(long)
    L, along, b = np.zeros_like(A), np.zeros(K + 1, long), Phi.T @ y / noise2
    for i in range(K + 1):
        for j in range(i + 1):
            rest = A[i, j] - L[i, :j] @ L[j, :j]
            L[i, j] = np.sqrt(rest) if i == j else rest / L[j, j]
        along[i] = (b[i] - L[i, :i] @ along[:i]) / L[i, i]
    halves = len(y) * np.log(2 * np.pi * noise2) + np.log(variances).sum() + 2 * np.log(np.diag(L)).sum()
    return float(0.5 * (along @ along - y @ y / noise2 - halves))


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no numbers of more digits here")
@pytest.mark.parametrize("noise", [1e-2, 1e-3, 1e-4, 1e-5])
@pytest.mark.parametrize("kappa", [1.0, 2.5])
def test_likelihoods_hold_with_next_to_no_noise(kappa, noise, seed):
    """At noise down to the least that is accepted: nothing is repaired, and log p(y) is right."""
    rng = np.random.default_rng(seed)
    prior = Prior(0.03, 1.0, region=(0.0, 1.0), bias=1.0, noise=noise, units_per_lengthscale=kappa)
    x = np.sort(rng.random((150, 1)), axis=0)
    y = prior.sample_networks(1, random_state=rng)(x).ravel() + noise * rng.standard_normal(150)
    chain = CollapsedChain(Problem.of(prior, x, y), np.random.SeedSequence(seed), 50, 10)
    chain.advance(60)
    assert chain.trouble()[0] == 0
    assert log_p_of(chain.state) == pytest.approx(log_p_in_more_digits(chain.state), abs=max(1e-4, 1e-7 / noise))
