"""Labels, counts and limits, the whole sweep: Geweke's joint-distribution test and simulation-based calibration.

As in test_collapsed_joint.py, with outcomes redrawn from their own law after every sweep. Some 8 test functions a kind,
4 standard errors each: one kind gives a false alarm once in 2,000 seeds. Draws of a Poisson law are resampled when
chains are done, so that it has a calibration only. Ranks are tested at 1e-4 each, 4 or 5 a kind.
"""

import numpy as np
import pytest
from collapsed_tools import LIMIT, estimate_mean, worst, z_scores
from outcome_tools import X_NEW, X, chains, named_values, own_parameter, simulate
from scipy import stats
from scipy.special import expit
from test_outcomes_exact import EXPOSURE, SIZE, stated

from porbnet import LogNormal
from porbnet.base.compiled import kernel
from porbnet.kernels.polya_gamma import polya_gamma
from porbnet.likelihood import Censored, Logistic, NegativeBinomial, Poisson
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.collapsed.sweep import ANEW
from porbnet.sampling.problem import Problem

LIMITS = (-0.5, 0.6)  # outputs below the first and above the second are known to be that
KINDS = {
    "labels": Logistic(0.4),
    "counts": NegativeBinomial(SIZE, 0.3),
    "limits": Censored(LogNormal(0.5, 1.5)),
}


def outcomes(likelihood, f, own, rng):
    """Outcomes given f, shape (n, 5), and what is known beside them."""
    if isinstance(likelihood, Logistic):
        return (rng.random(f.shape) < expit(f)).astype(float), None
    if isinstance(likelihood, Poisson):
        return rng.poisson(np.minimum(EXPOSURE * np.exp(f), 1e9)).astype(float), EXPOSURE
    own = np.reshape(own, (-1, 1))
    if isinstance(likelihood, NegativeBinomial):
        mean = np.minimum(EXPOSURE * np.exp(f), 1e9)
        return rng.poisson(mean * rng.gamma(own, size=f.shape) / own).astype(float), EXPOSURE
    return within(f + own * rng.standard_normal(f.shape))


def within(y):
    """Outputs beyond the limits are known to be that."""
    return np.clip(y, *LIMITS), np.where(y < LIMITS[0], -np.inf, np.where(y > LIMITS[1], np.inf, y))


@kernel
def fill(out, shapes, tilts, rng):
    for i in range(len(out)):
        out[i] = polya_gamma(shapes[i], tilts[i], rng)


def redraw(chain, likelihood, f, own, rng):
    """New outcomes, and what the augmentation has of them, together from their law given f, into a running chain."""
    record, scale = chain.state.errors, chain.problem.scaling.y_scale
    if isinstance(likelihood, Censored):
        latent = f + own * rng.standard_normal(len(f))
        y, other = within(latent)
        likelihood.observe(record, y / scale, other / scale, np.ones(len(f)))
        record.kept[:] = latent / scale
    else:
        y, exposure = outcomes(likelihood, f[None], own, rng)
        likelihood.observe(record, y[0], exposure, np.ones(len(f)))
        labels = isinstance(likelihood, Logistic)
        shapes, tilts = (np.ones(len(f)), f) if labels else (y[0] + own, f + np.log(EXPOSURE) - np.log(own))
        fill(record.kept, shapes, tilts, rng)
    chain._call(ANEW)


def functions(counts, amplitude, f_new, own):
    """Bounded where moments of f are large: rates are exponentials of f."""
    return named_values(counts, amplitude, np.arctan(f_new), own)


def successive(likelihood, n, seed):
    """Test functions along a chain that redraws the outcomes after every sweep."""
    prior, rng = stated(likelihood), np.random.default_rng(seed)
    _, f, _, own = simulate(prior, 1, rng)
    y, beside = outcomes(likelihood, f, own, rng)
    other = beside if beside is None or beside.ndim == 1 else beside[0]
    problem = Problem.of(prior, X, y[0], beside=other)
    scaling, component = problem.scaling, problem.components[0]
    chain = CollapsedChain(problem, np.random.SeedSequence(seed), 0, n)
    points, place = np.concatenate([component.x.T, scaling.inputs(X_NEW)]), own_parameter(prior)
    rows = []
    for _ in range(n):
        chain.advance(1)
        draw = chain.pieces.pop()
        scales = component.s0 * draw.values[0, component.level] * draw.relative
        f = draw.biases[0] + np.exp(-0.5 * (scales * (points - draw.centers[:, 0])) ** 2) @ draw.weights
        f = f * scaling.y_scale + likelihood.middle
        at = None if place is None else problem.parameter(place[0])
        own = None if at is None else problem.parameters[at].natural(draw.values[0, at], scaling)
        amplitude = draw.values[0, component.amplitude] * scaling.y_scale
        rows.append([draw.counts[0], amplitude, *f[len(X) :], 1.0 if own is None else own])
        redraw(chain, likelihood, f[: len(X)], own, rng)
    table = np.array(rows)
    return functions(table[:, 0], table[:, 1], table[:, 2:4], None if place is None else table[:, 4])


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_joint_distribution_of_outcomes(kind, seed, n=20_000):
    likelihood, rng = KINDS[kind], np.random.default_rng(seed)
    draws, _, f_new, own = simulate(stated(likelihood), 100_000, rng)
    exact = functions(draws.counts, draws.amplitude, f_new, own)
    exact = {name: estimate_mean(values[None]) for name, values in exact.items()}
    along = {name: estimate_mean(v[None, n // 50 :]) for name, v in successive(likelihood, n, seed).items()}
    key, z = worst(z_scores(along, exact))
    assert abs(z) < LIMIT, (key, z)


# --- simulation-based calibration -----------------------------------------------------------------------------------


def ranks(likelihood, n_simulations, seed, n_draws=99):
    """Ranks, 0 to n_draws, of true values among posterior draws, ties broken at random."""
    prior, rng = stated(likelihood), np.random.default_rng(seed)
    draws, f, f_new, own = simulate(prior, n_simulations, rng)
    y, beside = outcomes(likelihood, f, own, rng)
    found = []
    for i in range(n_simulations):
        other = beside if beside is None or beside.ndim == 1 else beside[i]
        posterior = chains(prior, y[i], [seed, i], beside=other, n_chains=1, n_warmup=200, n_draws=n_draws, thin=15)
        at = posterior.f(X_NEW)
        pairs = {
            "K": (posterior.n_units, draws.counts[i]),
            "amplitude": (posterior.amplitude, draws.amplitude[i]),
            "f0": (at[:, 0], f_new[i, 0]),
            "f1": (at[:, 1], f_new[i, 1]),
        }
        if own is not None:
            pairs["own"] = posterior.parameter(own_parameter(prior)[0]), own[i]
        found.append([np.sum(d < t) + rng.integers(np.sum(d == t) + 1) for d, t in pairs.values()])
    return dict(zip(pairs, np.array(found).T, strict=True))


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*KINDS, "Poisson"])
def test_calibration_of_outcomes(kind, seed):
    by_name = ranks(KINDS.get(kind, Poisson()), 300, seed)
    p = {k: stats.chisquare(np.bincount(v * 10 // 100, minlength=10)).pvalue for k, v in by_name.items()}
    assert min(p.values()) > 1e-4, p
