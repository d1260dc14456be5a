"""The whole sweep, with every likelihood: Geweke's joint-distribution test, and simulation-based calibration.

Geweke (2004): draws of (parameters, data) from the prior must have the law of a chain that alternates a sweep given the
data with fresh data given the parameters. What a likelihood's augmentation carries (a noise curve, the precisions of
Student-t errors) is among the parameters: fresh data are Gaussian given them. Means of test functions are compared in
combined standard errors (chain: by effective sample size); a comparison leaves 4 of them with probability 6.3e-5, one
of a test's (13 to 23) once in 700 seeds or more, one of all kinds' (213) once in 75.

Simulation-based calibration (Talts et al. 2018): the rank of a true value among posterior draws is uniform, by
chi-square tests with a false-alarm rate of 1e-4 each; a kind has 5 to 8 of them, those of a default run together 46, of
which one gives a false alarm once in 200 seeds.
"""

import math

import numpy as np
import pytest
from collapsed_tools import LIMIT, always_in_blocks, estimate_mean, f_of_region, sample, set_outputs, worst, z_scores
from importance import columns, condition, draw_errors, draw_prior
from scipy import stats

from porbnet import InverseGamma, LogNormal, Prior
from porbnet.intensity import Constant, SigmoidGP, UnknownConstant
from porbnet.likelihood import RobustNoise, VaryingNoise
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem

LEVEL = LogNormal(0.6, 1.4)


def unknown_constant(noise):
    return Prior(
        UnknownConstant(4.0, 3.0), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5, noise=noise,
        units_per_lengthscale=1.2,
    )  # fmt: skip


PRIORS = {
    "1-D, unknown": unknown_constant(LEVEL),
    "1-D, curve": Prior(
        SigmoidGP(2.5, 2.0, 0.8), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5, noise=LEVEL,
        units_per_lengthscale=1.2,
    ),
    "1-D, curve and its law": Prior(
        SigmoidGP(2.5, LogNormal(2.0, 2.0), LogNormal(0.8, 1.5)), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5,
        noise=LEVEL, units_per_lengthscale=1.2,
    ),
    "2-D, constant": Prior(
        Constant(0.03), LogNormal(1.2, 1.4), region=[(0.0, 10.0), (-5.0, 5.0)], bias=0.5, noise=LEVEL,
        units_per_lengthscale=0.9, anisotropy=[1.0, 1.5],
    ),
    "inverse gamma": unknown_constant(InverseGamma(6.0, 2.0)),
    "known precisions": unknown_constant(LEVEL),
    "varying": unknown_constant(VaryingNoise(LEVEL, 0.7, 0.8)),
    "varying, known precisions": unknown_constant(VaryingNoise(LEVEL, 0.7, 0.8)),
    "Student-t": unknown_constant(RobustNoise(LEVEL, LogNormal(3.0, 1.6))),
    "Student-t, known precisions": unknown_constant(RobustNoise(LEVEL, LogNormal(3.0, 1.6))),
    # so heavy that errors have no mean
    "Student-t, one degree": unknown_constant(RobustNoise(LEVEL, 1.0)),
    "Student-t, half a degree": unknown_constant(RobustNoise(LEVEL, 0.5)),
}  # fmt: skip

CURVE_2D = {
    "2-D, curve": Prior(
        SigmoidGP(0.08, 1.5, 5.0), LogNormal(1.2, 1.4), region=[(0.0, 10.0), (-5.0, 5.0)], bias=0.5, noise=LEVEL,
        units_per_lengthscale=0.9,
    ),
}  # fmt: skip
AT_LENGTH = (
    PRIORS
    | CURVE_2D
    | {f"Student-t, {freedom:g} degrees": unknown_constant(RobustNoise(LEVEL, freedom)) for freedom in (2.0, 4.0, 10.0)}
)
CALIBRATED = (  # in every run; the others at length only
    "1-D, unknown", "1-D, curve", "known precisions", "varying", "Student-t",
    "Student-t, half a degree",
)  # fmt: skip
PLAIN = list(PRIORS)[:4]  # Gaussian errors, intensities of all kinds; the others have other errors, and are shorter


def known_precisions(kind, n):
    """Relative precisions that are told to the sampler, shape (n,)."""
    return np.geomspace(0.1, 10.0, n) if kind.endswith("known precisions") else np.ones(n)


def simulate(prior, X, X_new, known, n, rng):
    """Prior draws, what else the likelihood has, f at new points, shape (n_new, n), and outputs, (n_points, n)."""
    draws, errors = draw_prior(prior, n, rng), draw_errors(prior, X, X_new, n, rng)
    xi, bias = rng.standard_normal(draws.alive.shape), prior.bias * rng.standard_normal(n)
    f, f_new = (bias + np.einsum("pkn,kn->pn", columns(prior, draws, at), xi) for at in (X, X_new))
    sd = draws.noise / np.sqrt(errors.precision * known[:, None])
    return draws, errors, f_new, f + sd * rng.standard_normal(f.shape)


def functions(counts, noise, amplitude, level, log_p, f_new, precision, freedom):
    """Test functions, name -> values.

    precision : (n_points, n) relative precisions that are not known; freedom : degrees of freedom, if they are learned
    """
    named = {
        "K": counts, "K²": counts**2, "noise": noise, "noise²": noise**2, "amplitude": amplitude, "log p": log_p,
        "f0": f_new[0], "f0²": f_new[0] ** 2, "f1": f_new[1], "f1²": f_new[1] ** 2, "f0 f1": f_new[0] * f_new[1],
        "K noise": counts * noise, "noise amplitude": noise * amplitude,
    }  # fmt: skip
    if np.ptp(level) > 0:
        named |= {"level": level, "level²": level**2, "K level": counts * level}
    if np.ptp(precision) > 0:
        a, b = np.log(precision[:2])
        named |= {"log r0": a, "log r0²": a**2, "log r0 log r1": a * b, "log r0 noise": a * noise}
    if freedom is not None and np.ptp(freedom) > 0:
        named |= {"log ν": np.log(freedom), "log ν²": np.log(freedom) ** 2, "log ν noise": np.log(freedom) * noise}
    return named


def precisions(problem):
    """How to get the relative precisions of rows from what a draw keeps, in NumPy."""
    prior = problem.prior
    if isinstance(prior.noise, VaryingNoise):
        process = prior.noise.process(prior.region)
        at_rows = process.values_at(np.eye(process.n_whitened), problem.X[problem.order])
        return lambda kept: np.exp(-2.0 * (kept @ at_rows))
    if isinstance(prior.noise, RobustNoise):
        return lambda kept: kept.astype(float)
    return lambda kept: np.ones(problem.n_points)


def successive(prior, X, X_new, known, n, rng, seed):
    """Test functions along a chain that redraws the outputs after every sweep, shape (1, n) each."""
    problem = Problem.of(prior, X, simulate(prior, X, X_new, known, 1, rng)[3][:, 0], known)
    scaling, component = problem.scaling, problem.components[0]
    chain = CollapsedChain(problem, np.random.SeedSequence(seed), 0, n)
    points = np.concatenate([component.x.T, scaling.inputs(X_new)])
    precision_of, known = precisions(problem), known[problem.order]
    table, kept = np.empty((n, 6 + len(X_new))), np.empty((len(X), n))
    for i in range(n):
        chain.advance(1)
        draw = chain.pieces.pop()
        noise, amplitude, level = draw.values[0, :3]
        scales = component.s0 * (level * draw.relative) ** (1.0 / prior.n_dims)
        distance2 = ((points[:, None, :] - draw.centers) ** 2).sum(axis=2)
        f = draw.biases[0] + np.exp(-0.5 * scales**2 * distance2) @ draw.weights
        precision = precision_of(draw.kept[0])
        table[i, :6] = draw.counts[0], noise, amplitude, level, draw.log_p[0], draw.values[0, -1]
        table[i, 6:] = f[len(X) :]
        kept[problem.order, i] = precision
        set_outputs(chain, f[: len(X)] + noise / np.sqrt(precision * known) * rng.standard_normal(len(X)))
    counts, noise, amplitude, level, log_p, freedom = table[:, :6].T
    size = scaling.y_scale
    log_p = log_p - len(X) * np.log(size)
    named = functions(
        counts, noise * size, amplitude * size, level / scaling.volume, log_p, table[:, 6:].T * size, kept,
        freedom if isinstance(prior.noise, RobustNoise) else None,
    )  # fmt: skip
    return {name: values[None, n // 50 :] for name, values in named.items()}


def geweke(kind, n_prior, n_chain, seed):
    """z scores of all test functions."""
    prior, rng = AT_LENGTH[kind], np.random.default_rng(seed)
    X = prior.region.low + prior.region.widths * rng.uniform(0.1, 0.9, (5, prior.n_dims))
    X_new = prior.region.low + prior.region.widths * np.array([[0.3], [0.8]])
    known = known_precisions(kind, len(X))
    draws, errors, f_new, y = simulate(prior, X, X_new, known, n_prior, rng)
    log_p = condition(prior, draws, X, y, errors.precision * known[:, None], X_new)[0]
    named = functions(
        draws.counts.astype(float), draws.noise, draws.amplitude, draws.level, log_p, f_new, errors.precision,
        errors.freedom,
    )  # fmt: skip
    exact = {name: estimate_mean(values.reshape(1, -1)) for name, values in named.items()}
    along = {name: estimate_mean(v) for name, v in successive(prior, X, X_new, known, n_chain, rng, seed).items()}
    return z_scores(along, exact)


@pytest.mark.parametrize("kind", PRIORS)
def test_joint_distribution(kind, seed):
    key, z = worst(geweke(kind, 40_000, 20_000 if kind in PLAIN else 10_000, seed))
    assert abs(z) < LIMIT, (key, z)


# with several inputs, blocks have updates of their own for everything else, too
@pytest.mark.parametrize(
    "kind",
    ["1-D, curve", "2-D, curve", *(pytest.param(k, marks=[pytest.mark.slow]) for k in ("2-D, constant", "varying"))],
)
def test_joint_distribution_in_blocks(kind, seed, monkeypatch):
    always_in_blocks(monkeypatch)
    key, z = worst(geweke(kind, 40_000, 20_000, seed))
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.slow
@pytest.mark.parametrize("kind", AT_LENGTH)
def test_joint_distribution_at_length(kind, seed):
    key, z = worst(geweke(kind, 400_000, 300_000, seed))
    assert abs(z) < LIMIT, (key, z)


# --- simulation-based calibration -----------------------------------------------------------------------------------


def ranks(kind, n_simulations, seed, n_points=8, n_draws=99, thin=12):
    """Ranks, 0 to n_draws, of true values among posterior draws, ties broken at random: name -> (n_simulations,)."""
    prior, rng = AT_LENGTH[kind], np.random.default_rng(seed)
    X = prior.region.low + prior.region.widths * rng.uniform(0.1, 0.9, (n_points, prior.n_dims))
    X_new = prior.region.low + prior.region.widths * np.array([[0.3], [0.8]])
    known = known_precisions(kind, n_points)
    truth, errors, f_new, y = simulate(prior, X, X_new, known, n_simulations, rng)
    found = []
    for i in range(n_simulations):
        posterior = sample(
            prior, X, y[:, i], [seed, i], weight=known, n_chains=1, n_warmup=150, n_draws=n_draws, thin=thin
        )
        f = f_of_region(posterior, X_new)
        pairs = {
            "K": (posterior.n_units, truth.counts[i]),
            "noise": (posterior.noise, truth.noise[i]),
            "amplitude": (posterior.amplitude, truth.amplitude[i]),
            "f0": (f[:, 0], f_new[0, i]),
            "f1": (f[:, 1], f_new[1, i]),
        }
        if isinstance(prior.intensity, UnknownConstant):
            pairs["level"] = posterior.intensity(X_new[:1])[:, 0], truth.level[i]
        if errors.log_sd is not None:
            pairs["noise at x0"] = posterior.noise_at(X_new)[:, 0], truth.noise[i] * math.exp(errors.log_sd[0, i])
        if errors.freedom is not None:
            first_row = int(np.flatnonzero(posterior.problem.order == 0)[0])
            pairs["r0"] = posterior.draws.kept[:, first_row], errors.precision[0, i]
        if errors.freedom is not None and np.ptp(errors.freedom) > 0:
            pairs["freedom"] = posterior.parameter("freedom"), errors.freedom[i]
        found.append([np.sum(d < t) + rng.integers(np.sum(d == t) + 1) for d, t in pairs.values()])
    return dict(zip(pairs, np.array(found).T, strict=True))


def p_values(by_name, n_bins, n_draws=99):
    """Chi-square tests that the ranks are uniform."""
    p = {}
    for name, values in by_name.items():
        observed = np.bincount(values * n_bins // (n_draws + 1), minlength=n_bins)
        p[name] = stats.chisquare(observed).pvalue
    return p


@pytest.mark.parametrize("kind", CALIBRATED)
def test_calibration(kind, seed):
    p = p_values(ranks(kind, 150 if kind in PLAIN else 100, seed), 10)
    assert min(p.values()) > 1e-4, p


@pytest.mark.slow
@pytest.mark.parametrize("kind", AT_LENGTH)
def test_calibration_at_length(kind, seed):
    p = p_values(ranks(kind, 2000, seed, thin=25), 20)
    assert min(p.values()) > 1e-4, p
