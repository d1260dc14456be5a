"""The whole sweep: Geweke's joint-distribution test, and simulation-based calibration.

Geweke (2004): draws of (parameters, data) from the prior must have the law of a chain that alternates a sweep given the
data with fresh data given the parameters. Means of test functions are compared in combined standard errors (chain: by
effective sample size); a comparison leaves 4 of them with probability 6.3e-5, one of a test's once in a thousand seeds.

Simulation-based calibration (Talts et al. 2018): the rank of a true value among posterior draws is uniform, by
chi-square tests with a false-alarm rate of 1e-4 each.
"""

import numpy as np
import pytest
from collapsed_tools import LIMIT, estimate_mean, sample, set_outputs, worst, z_scores
from importance import columns, condition, draw_prior
from scipy import stats

from porbnet import LogNormal, Prior
from porbnet.intensity import Constant, SigmoidGP, UnknownConstant
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem

PRIORS = {
    "1-D, unknown": Prior(
        UnknownConstant(4.0, 3.0), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5, noise=LogNormal(0.6, 1.4),
        units_per_lengthscale=1.2,
    ),
    "1-D, curve": Prior(
        SigmoidGP(2.5, 2.0, 0.8), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5, noise=LogNormal(0.6, 1.4),
        units_per_lengthscale=1.2,
    ),
    "1-D, curve and its law": Prior(
        SigmoidGP(2.5, LogNormal(2.0, 2.0), LogNormal(0.8, 1.5)), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5,
        noise=LogNormal(0.6, 1.4), units_per_lengthscale=1.2,
    ),
    "2-D, constant": Prior(
        Constant(0.03), LogNormal(1.2, 1.4), region=[(0.0, 10.0), (-5.0, 5.0)], bias=0.5, noise=LogNormal(0.6, 1.4),
        units_per_lengthscale=0.9, anisotropy=[1.0, 1.5],
    ),
}  # fmt: skip


def simulate(prior, X, X_new, n, rng):
    """Prior draws with f at new points, shape (n_new, n), and outputs, shape (n_points, n)."""
    draws = draw_prior(prior, n, rng)
    xi, bias = rng.standard_normal(draws.alive.shape), prior.bias * rng.standard_normal(n)
    f, f_new = (bias + np.einsum("pkn,kn->pn", columns(prior, draws, at), xi) for at in (X, X_new))
    return draws, f_new, f + draws.noise * rng.standard_normal(f.shape)


def functions(counts, noise, amplitude, level, log_p, f_new):
    """Test functions, name -> values."""
    named = {
        "K": counts, "K²": counts**2, "noise": noise, "noise²": noise**2, "amplitude": amplitude, "log p": log_p,
        "f0": f_new[0], "f0²": f_new[0] ** 2, "f1": f_new[1], "f1²": f_new[1] ** 2, "f0 f1": f_new[0] * f_new[1],
        "K noise": counts * noise, "noise amplitude": noise * amplitude,
    }  # fmt: skip
    if np.ptp(level) > 0:
        named |= {"level": level, "level²": level**2, "K level": counts * level}
    return named


def successive(prior, X, X_new, n, rng, seed):
    """Test functions along a chain that redraws the outputs after every sweep, shape (1, n) each."""
    problem = Problem.of(prior, X, simulate(prior, X, X_new, 1, rng)[2][:, 0])
    scaling, hyper = problem.scaling, problem.hyper
    chain = CollapsedChain(problem, np.random.SeedSequence(seed), 0, n)
    points = np.concatenate([problem.data.x.T, scaling.inputs(X_new)])
    table = np.empty((n, 5 + len(X_new)))
    for i in range(n):
        chain.advance(1)
        draw = chain.pieces.pop()
        noise, amplitude, level = draw.values[0, :3]
        scales = hyper.s0 * (level * draw.relative) ** (1.0 / prior.n_dims)
        distance2 = ((points[:, None, :] - draw.centers) ** 2).sum(axis=2)
        f = draw.biases[0] + np.exp(-0.5 * scales**2 * distance2) @ draw.weights
        table[i, :5] = draw.counts[0], noise, amplitude, level, draw.log_p[0]
        table[i, 5:] = f[len(X) :]
        set_outputs(chain, f[: len(X)] + noise * rng.standard_normal(len(X)))
    counts, noise, amplitude, level, log_p = table[:, :5].T
    size = scaling.y_scale
    log_p = log_p - len(X) * np.log(size)
    named = functions(counts, noise * size, amplitude * size, level / scaling.volume, log_p, table[:, 5:].T * size)
    return {name: values[None, n // 50 :] for name, values in named.items()}


def geweke(prior, n_prior, n_chain, seed):
    """z scores of all test functions."""
    rng = np.random.default_rng(seed)
    X = prior.region.low + prior.region.widths * rng.uniform(0.1, 0.9, (5, prior.n_dims))
    X_new = prior.region.low + prior.region.widths * np.array([[0.3], [0.8]])
    draws, f_new, y = simulate(prior, X, X_new, n_prior, rng)
    log_p = condition(prior, draws, X, y, np.ones(len(X)), X_new)[0]
    named = functions(draws.counts.astype(float), draws.noise, draws.amplitude, draws.level, log_p, f_new)
    exact = {name: estimate_mean(values.reshape(1, -1)) for name, values in named.items()}
    along = {name: estimate_mean(v) for name, v in successive(prior, X, X_new, n_chain, rng, seed).items()}
    return z_scores(along, exact)


@pytest.mark.parametrize("kind", PRIORS)
def test_joint_distribution(kind, seed):
    key, z = worst(geweke(PRIORS[kind], 40_000, 20_000, seed))
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRIORS)
def test_joint_distribution_at_length(kind, seed):
    key, z = worst(geweke(PRIORS[kind], 400_000, 300_000, seed))
    assert abs(z) < LIMIT, (key, z)


# --- simulation-based calibration -----------------------------------------------------------------------------------


def ranks(prior, n_simulations, seed, n_points=8, n_draws=99, thin=12):
    """Ranks, 0 to n_draws, of true values among posterior draws, ties broken at random: name -> (n_simulations,)."""
    rng = np.random.default_rng(seed)
    X = prior.region.low + prior.region.widths * rng.uniform(0.1, 0.9, (n_points, prior.n_dims))
    X_new = prior.region.low + prior.region.widths * np.array([[0.3], [0.8]])
    truth, f_new, y = simulate(prior, X, X_new, n_simulations, rng)
    found = []
    for i in range(n_simulations):
        posterior = sample(prior, X, y[:, i], [seed, i], n_chains=1, n_warmup=150, n_draws=n_draws, thin=thin)
        f = posterior.f(X_new)
        pairs = {
            "K": (posterior.n_units, truth.counts[i]),
            "noise": (posterior.noise, truth.noise[i]),
            "amplitude": (posterior.amplitude, truth.amplitude[i]),
            "f0": (f[:, 0], f_new[0, i]),
            "f1": (f[:, 1], f_new[1, i]),
            "level": (posterior.intensity(X_new[:1])[:, 0], truth.level[i]),
        }
        if not isinstance(prior.intensity, UnknownConstant):
            del pairs["level"]
        found.append([np.sum(d < t) + rng.integers(np.sum(d == t) + 1) for d, t in pairs.values()])
    return dict(zip(pairs, np.array(found).T, strict=True))


def p_values(by_name, n_bins, n_draws=99):
    """Chi-square tests that the ranks are uniform."""
    p = {}
    for name, values in by_name.items():
        observed = np.bincount(values * n_bins // (n_draws + 1), minlength=n_bins)
        p[name] = stats.chisquare(observed).pvalue
    return p


@pytest.mark.parametrize("kind", PRIORS)
def test_calibration(kind, seed):
    p = p_values(ranks(PRIORS[kind], 150, seed), 10)
    assert min(p.values()) > 1e-4, p


@pytest.mark.slow
@pytest.mark.parametrize("kind", PRIORS)
def test_calibration_at_length(kind, seed):
    p = p_values(ranks(PRIORS[kind], 2000, seed, thin=25), 20)
    assert min(p.values()) > 1e-4, p
