"""Two components: f = b + f_1(x_1) + f_2(x_2), each with its own inputs, intensity, amplitude and units."""

import math

import numpy as np
import pytest
from arviz_stats.base import array_stats

from porbnet import LogNormal, Prior
from porbnet.intensity import SigmoidGP, UnknownConstant
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem
from porbnet.statement.joint_draws import joint_draws

X1 = np.array([[0.7], [0.1], [0.4], [0.9], [0.2]])
X2 = np.array([[1.0, 0.2], [0.3, 0.8], [0.5, 0.5], [0.1, 0.1], [0.9, 0.6]])
Y = np.array([0.6, -0.4, 1.1, 0.2, -0.9])
NOISE, BIAS = 0.5, 0.6

FIRST = Prior(SigmoidGP(5.0, 1.0, 0.4), LogNormal(0.8, 1.5), region=(-0.2, 1.2), bias=BIAS, noise=NOISE)
SECOND = Prior(UnknownConstant.about(3.0, 1.4), 1.2, region=[[-0.1, 1.1], [-0.1, 1.1]])


def problem():
    return Problem.of(FIRST, X1, Y).with_component(SECOND, X2)


def phi(network, X):
    gaps = X[:, None, :] - network.centers[None]
    return np.exp(-0.5 * (network.scales * np.sqrt((gaps**2).sum(axis=2))) ** 2)


def importance(n, rng):
    """Weights and quantities of draws from the prior, network weights integrated out."""
    one, two = joint_draws(FIRST, n, rng), joint_draws(SECOND, n, rng)
    factors = [(p.s0**2 / math.pi) ** (p.n_dims / 2.0) for p in (FIRST, SECOND)]
    logs = np.empty(n)
    for i in range(n):
        a, b = phi(one.networks[i], X1), phi(two.networks[i], X2)
        covariance = BIAS**2 + NOISE**2 * np.eye(5)
        covariance = covariance + factors[0] * one.amplitude[i] ** 2 * a @ a.T + factors[1] * 1.2**2 * b @ b.T
        factor = np.linalg.cholesky(covariance)
        logs[i] = -0.5 * np.sum(np.linalg.solve(factor, Y) ** 2) - np.log(np.diag(factor)).sum()
    found = {
        "units of the first": one.networks.n_units.astype(float),
        "units of the second": two.networks.n_units.astype(float),
        "log amplitude of the first": np.log(one.amplitude),
        "log level of the second": np.log(two.level),
    }
    return np.exp(logs - logs.max()), found


def chain_draws(stated, seed, n_draws):
    chain = CollapsedChain(stated, np.random.SeedSequence(seed), 500, n_draws)
    chain.advance(chain.total_sweeps)
    draws = chain.draws()
    owners = np.repeat(np.arange(len(draws)), draws.counts)
    amplitude, level = stated.parameter("amplitude"), stated.parameter("level 2")
    volume = stated.components[1].scaling.volume
    return chain, {
        "units of the first": np.bincount(owners[draws.owner == 0], minlength=len(draws)).astype(float),
        "units of the second": np.bincount(owners[draws.owner == 1], minlength=len(draws)).astype(float),
        "log amplitude of the first": np.log(draws.values[:, amplitude] * stated.scaling.y_scale),
        "log level of the second": np.log(draws.values[:, level] / volume),
    }


def test_two_components_reach_their_posterior(seed):
    """Against importance sampling from the prior; 5 standard errors at 4 quantities: about 1 in 400,000."""
    weights, wanted = importance(6000, np.random.default_rng(seed))
    share = weights / weights.sum()
    assert 1.0 / np.sum(share**2) > 300.0  # effective draws
    chain, found = chain_draws(problem(), seed % 1000, 20_000)
    for name, values in found.items():
        truth = share @ wanted[name]
        doubt = math.sqrt((share**2) @ (wanted[name] - truth) ** 2)
        error = float(array_stats.mcse(values[None], chain_axis=0, draw_axis=1))
        assert abs(values.mean() - truth) < 5.0 * math.hypot(doubt, error), (name, values.mean(), truth, doubt, error)
    assert chain.acceptance()["birth"] > 0.3


def test_gaussian_algebra_is_over_all_components():
    """log p(y) of a state against the covariance of both."""
    chain, _ = chain_draws(problem(), 3, 5)
    state, stated = chain.state, chain.problem
    covariance = state.rows.bias_variance + state.values[0] ** 2 * np.eye(5)
    order = np.argsort(X1[:, 0])
    for i, component in enumerate(stated.components):
        mine = state.units.owner[: state.units.n] == i
        centers, scales = state.units.centers[: state.units.n][mine], state.units.scales[: state.units.n][mine]
        gaps = component.x.T[:, None, :] - centers[None, :, : len(component.x)]
        values = np.exp(-0.5 * (scales * np.sqrt((gaps**2).sum(axis=2))) ** 2)
        covariance = covariance + component.weight_factor * state.values[component.amplitude] ** 2 * values @ values.T
    y = Y[order] / stated.scaling.y_scale
    _, log_det = np.linalg.slogdet(2.0 * math.pi * covariance)
    assert state.log_p == pytest.approx(-0.5 * (log_det + y @ np.linalg.solve(covariance, y)), rel=1e-7)


def test_parameters_of_a_component_have_names_of_their_own():
    assert [p.name for p in problem().parameters] == ["noise", "amplitude", "level", "amplitude 2", "level 2"]
    assert [c.is_sorted for c in problem().components] == [True, False]


def test_a_chain_of_two_components_goes_on_from_its_snapshot():
    whole, _ = chain_draws(problem(), 5, 40)
    first = CollapsedChain(problem(), np.random.SeedSequence(5), 500, 40)
    first.advance(520)
    second = CollapsedChain(problem(), np.random.SeedSequence(6), 500, 40)
    second.restore(first.snapshot(), first.draws())
    second.advance(second.total_sweeps)
    for name, array in vars(whole.draws()).items():
        np.testing.assert_array_equal(array, getattr(second.draws(), name), err_msg=name)
