"""Every step of the paper's sampler by itself: it leaves the law it should invariant, and a wrong ratio is noticed.

Steps are repeated often enough between records that these are independent to a per cent or so. Then a chi-square test
of counts, Kolmogorov-Smirnov tests of places and values; each has a false-alarm rate of 1e-4, and there are about 20.
Each mutant is a copy of the step's file with one piece of text replaced, held to the same tests.
"""

import numpy as np
import pytest
from collapsed_tools import LIMIT, estimate_mean, worst, z_scores
from importance import Estimate, Reference, quantities, shares
from paper_tools import chain_of, evaluate_network, intensity_at, make_room, mutated, records
from scipy import stats
from scipy.special import expit
from test_collapsed_limits import P_VALUE, p_value_of_counts

from porbnet import Gamma, InverseGamma, LogNormal, Prior
from porbnet.intensity import Constant, FromFunction, SigmoidGP, UnknownConstant
from porbnet.intensity.tabulated import interpolate
from porbnet.kernels.state import NOISE
from porbnet.sampling.published.state import DUAL_CURVE, DUAL_NETWORK

CURVE = SigmoidGP(Gamma(6.0, 2.0), 3.0, 0.6)
STATED = {"region": (0.0, 2.0), "noise": 0.3, "units_per_lengthscale": 1.3}


def slope(X):
    return 0.4 + 2.0 * X[:, 0]


SLOPED, CURVED = (Prior(intensity, 1.5, bias=0.6, **STATED) for intensity in (FromFunction(slope), CURVE))


def distribution(density, low=0.0, high=1.0, n=2001):
    """Distribution function of a density on an interval, up to a constant."""
    edges = np.linspace(low, high, n)
    total = np.concatenate([[0.0], np.cumsum(density(0.5 * (edges[1:] + edges[:-1])))])
    return lambda x: np.interp(x, edges, total / total[-1])


def of_units(chain):
    """The units' relative intensity g as a function of standard coordinates."""
    shape = chain.state.components[0].shape
    return np.vectorize(lambda x: intensity_at(shape, np.array([x])))


def level_of(chain):
    """The level of the intensity."""
    return chain.state.values[chain.state.components[0].level]


def weight_sd_of(chain):
    """Prior sd of a weight."""
    component = chain.state.components[0]
    return np.sqrt(component.weight_factor) * chain.state.values[component.amplitude]


def check(p_values, mutant):
    """A right step passes, a mutant does not."""
    print({name: f"{p:.2g}" for name, p in p_values.items()})
    assert (min(p_values.values()) < P_VALUE) == (mutant is not None), p_values


def check_scores(scores, mutant):
    """The same for differences in standard errors."""
    key, z = worst(scores)
    print(key, z)
    assert (abs(z) > LIMIT) == (mutant is not None), (key, z)


def cases(*mutants, short=0):
    """The step itself and mutants, each (text, what it becomes); all but the first `short` in the long run only."""
    long = [pytest.param(m, marks=pytest.mark.slow) for m in mutants[short:]]
    return pytest.mark.parametrize(
        "mutant", [None, *mutants[:short], *long], ids=lambda m: "right" if m is None else m[1]
    )


# --- births and deaths of units -------------------------------------------------------------------------------------

BIRTH = "log_ratio += log_proposal_ratio(shape, level, anywhere, network.relative[n], n + 1)"


@pytest.mark.parametrize("prior", [SLOPED, CURVED], ids=["known", "uniform"])
@cases(
    (BIRTH, BIRTH.replace("n + 1", "max(n, 1)")),
    ("(g if anywhere else shape.integral)", "(0.5 * (1.0 + g) if anywhere else shape.integral ** 0.5)"),
    ("network.relative[k], n)", "network.relative[k], n + 1)"),
    short=1,
)
def test_births_and_deaths_recover_the_prior(prior, mutant, seed, tmp_path):
    """Width Poisson, centers from λ/Λ, weights from their prior."""
    chain = chain_of(prior, seed)
    make_room(chain, 60, 60)
    step = mutated("birth_death", *(mutant or ()), folder=tmp_path).birth_or_death
    drawn = records(step, 6000, 50, chain)
    expected = stats.poisson.pmf(np.arange(60), level_of(chain) * chain.state.components[0].shape.integral)
    p_values = {
        "width": p_value_of_counts(drawn.n, expected),
        "centers": stats.kstest(drawn.of_units(drawn.centers[:, :, 0]), distribution(of_units(chain))).pvalue,
        "weights": stats.kstest(drawn.of_units(drawn.weights) / weight_sd_of(chain), "norm").pvalue,
    }
    check(p_values, mutant)


@pytest.mark.slow
@cases(
    ("0.5 * weight * weight * square", "0.6 * weight * weight * square"),
    ("log_ratio = log_likelihood_ratio(network, k, -network.weights[k], noise)", "log_ratio = 0.0"),
)
def test_births_and_deaths_with_data(mutant, seed, tmp_path):
    """The whole posterior where there is no bias: against importance sampling, f with drawn weights.

    10 numbers; with another seed one of them leaves 4 standard errors once in 1,600.
    """
    prior = Prior(FromFunction(slope), 1.0, **STATED | {"noise": 0.8})
    X, X_new = np.array([[0.3], [0.9], [1.2], [1.7]]), np.array([[0.5], [1.5]])
    y = np.array([0.8, -0.4, 0.3, 1.0])
    exact = Reference(prior, X, y, X_new, np.random.default_rng(seed), n=60_000).estimates
    chain = chain_of(prior, seed, X, y)
    make_room(chain, 60, 60)
    chain.state.network.residual[:] = chain.state.rows.y
    scaling = chain.problem.scaling
    step = mutated("birth_death", *(mutant or ()), folder=tmp_path).birth_or_death
    drawn = records(step, 20_000, 40, chain)
    counts, centers = drawn.n, scaling.centers(drawn.of_units(drawn.centers[:, :, 0]))
    owners = np.repeat(np.arange(len(counts)), counts)
    named = quantities(prior, counts, shares(prior, centers), owners, None, None, None, np.zeros(len(counts)))
    scales, weights = prior.s0 * slope(centers[:, None]), drawn.of_units(drawn.weights) * scaling.y_scale
    for m, x in enumerate(X_new[:, 0]):
        part = weights * np.exp(-0.5 * (scales * (x - centers)) ** 2)
        named[f"f{m}"] = np.bincount(owners, part, minlength=len(counts))
    del named["log p"]
    found = {(name, "mean"): estimate_mean(v[None]) for name, v in named.items()}
    found |= {(name, "variance"): estimate_mean((v - v.mean())[None] ** 2) for name, v in named.items()}
    check_scores(z_scores(found, {key: exact[key] for key in found}), mutant)


# --- thinned events -------------------------------------------------------------------------------------------------


@cases(
    ("places[n]) / (n + 1))", "places[n]) / max(n, 1))"),
    ("math.log(level * thinned_share(shape, places[n])", "math.log(level * 0.5"),
    ("math.log(n / (level * thinned_share", "math.log(1.2 * n / (level * thinned_share"),
    short=1,
)
def test_births_and_deaths_of_thinned_events(mutant, seed, tmp_path):
    """Their number Poisson with mean λ* ∫(1 - g), their places from 1 - g."""
    chain = chain_of(CURVED, seed)
    make_room(chain, 10, 60)
    step = mutated("thinning", *(mutant or ()), folder=tmp_path).thinned_birth_or_death
    g = of_units(chain)
    drawn = records(step, 6000, 50, chain)
    expected = stats.poisson.pmf(np.arange(60), level_of(chain) * (1.0 - chain.state.components[0].shape.integral))
    places = drawn.of_thinned(drawn.thinned[:, :, 0])
    p_values = {
        "number": p_value_of_counts(drawn.n_thinned, expected),
        "places": stats.kstest(places, distribution(lambda x: 1.0 - g(x))).pvalue,
    }
    check(p_values, mutant)


@cases(
    ("accept(math.log(new / old), rng)", "accept(0.0, rng)"),
    ("reflect(places[m, d] + way, widths[d])[0]", "min(max(places[m, d] + way, 0.0), widths[d])"),
    short=1,
)
def test_moves_of_thinned_events(mutant, seed, tmp_path):
    """Eight events, moved 150 times between records: places from 1 - g, at the edges too."""
    chain = chain_of(CURVED, seed)
    make_room(chain, 10, 20)
    chain.state.thinned.n = 8
    step = mutated("thinning", *(mutant or ()), folder=tmp_path).move_thinned
    drawn = records(step, 1500, 150, chain)
    places, g = drawn.of_thinned(drawn.thinned[:, :, 0]), of_units(chain)
    p_values = {
        "places": stats.kstest(places, distribution(lambda x: 1.0 - g(x))).pvalue,
        "on the edge": 1.0 if np.all((places > 0.0) & (places < 1.0)) else 0.0,
    }
    check(p_values, mutant)


# --- the network ----------------------------------------------------------------------------------------------------


@cases(
    ("log_ratio = energy - kinetic(trial, motion)", "log_ratio = energy - 0.5 * kinetic(trial, motion)"),
    ("place = -place if place < 0.0 else 2.0 * width - place", "place = min(max(place, 0.0), width)"),
)
def test_trajectories_recover_the_prior(mutant, seed, tmp_path):
    """Four units without data, by rough trajectories: centers from λ/Λ, weights and bias from their priors."""
    chain = chain_of(SLOPED, seed)
    make_room(chain, 10, 10)
    state, network = chain.state, chain.state.network
    network.n, network.centers[:4, 0] = 4, np.linspace(0.2, 0.8, 4)
    evaluate_network(state)
    state.dual[DUAL_NETWORK, 1] = np.log(0.7)  # rough steps, so that some are rejected
    state.n_leapfrog = 5
    step = mutated("hmc", *(mutant or ()), folder=tmp_path).network_update
    drawn = records(step, 3000, 12, chain)
    assert 0.3 < chain.acceptance()["network"] < 1.0
    p_values = {
        "centers": stats.kstest(drawn.of_units(drawn.centers[:, :, 0]), distribution(of_units(chain))).pvalue,
        "weights": stats.kstest(drawn.of_units(drawn.weights) / weight_sd_of(chain), "norm").pvalue,
        "bias": stats.kstest(drawn.bias / np.sqrt(state.rows.bias_variance), "norm").pvalue,
    }
    check(p_values, mutant)


# --- the intensity --------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["constant", "curve"])
@cases(
    ("events * log_level - level * volume", "(events - 1) * log_level - level * volume"),
    ("events = network.n + (state.thinned.n if has_curve else 0)", "events = network.n * (2 - has_curve)"),
)
def test_the_level(kind, mutant, seed, tmp_path):
    """Density λ^(K+2α-1) e^(-λ-βλ²) given K units; Gamma(α + K + M, β + 1) with M thinned events."""
    prior = CURVED if kind == "curve" else Prior(UnknownConstant(3.0, 0.5), 1.5, **STATED)
    chain = chain_of(prior, seed)
    make_room(chain, 20, 20)
    state, level = chain.state, chain.state.components[0].level
    state.network.n, state.thinned.n = 5, 4 if kind == "curve" else 0
    state.network.centers[:5, 0] = state.thinned.places[:5, 0] = 0.5
    step = mutated("level", *(mutant or ()), folder=tmp_path).level_update
    drawn = records(step, 4000, 40, chain)
    alpha, beta = state.laws[level, 1:3]
    if kind == "curve":
        cdf = stats.gamma(alpha + 9.0, scale=1.0 / (beta + 1.0)).cdf
    else:
        cdf = distribution(lambda t: t ** (5.0 + 2.0 * alpha - 1.0) * np.exp(-t - beta * t * t), 0.0, 40.0)
    check({"level": stats.kstest(drawn.values[:, level], cdf).pvalue}, mutant)


@pytest.mark.slow
@cases(
    ("total += math.log(thinned_share(path.shape, thinned.places[m]))", "total += 0.0 * m"),
    ("total += math.log(network.relative[k])", "total += 0.0 * k"),
)
def test_the_curve(mutant, seed, tmp_path):
    """The intensity at five knots given two units and two thinned events, against importance sampling of h."""
    chain = chain_of(CURVED, seed)
    make_room(chain, 10, 10)
    state = chain.state
    units, events = [0.15, 0.3], [0.65, 0.9]
    state.network.n, state.thinned.n = 2, 2
    state.network.centers[:2, 0], state.thinned.places[:2, 0] = units, events
    evaluate_network(state)
    state.dual[DUAL_CURVE, 1] = np.log(0.4)
    state.n_leapfrog_curve = 5
    step = mutated("curve", *(mutant or ()), folder=tmp_path).curve_update
    drawn = records(step, 4000, 3, chain)
    assert 0.3 < chain.acceptance()["intensity"] < 1.0
    tables = expit(CURVED.intensity.process(CURVED.region).sample(20_000, np.random.default_rng(seed)))
    rows = np.arange(len(tables))
    at = [
        interpolate(tables, CURVED.region, np.full((len(tables), 1), place), rows)
        for place in chain.problem.scaling.centers(np.array([[*units, *events]]))[0]
    ]
    weight = at[0] * at[1] * (1.0 - at[2]) * (1.0 - at[3])
    weight /= weight.sum()
    scores = {}
    for knot in np.linspace(0, tables.shape[1] - 1, 5).astype(int):
        center = weight @ tables[:, knot]
        exact = Estimate(center, np.sqrt(np.sum((weight * (tables[:, knot] - center)) ** 2)))
        scores |= z_scores({knot: estimate_mean(drawn.intensity[None, :, knot])}, {knot: exact})
    check_scores(scores, mutant)


# --- noise and amplitude --------------------------------------------------------------------------------------------


def noise_given_residual(law, step, seed):
    """20,000 draws of the noise sd given five errors whose squares add up to 0.75."""
    prior = Prior(Constant(2.0), 1.5, **STATED | {"noise": law})
    chain = chain_of(prior, seed, np.linspace(0.1, 1.9, 5)[:, None], np.array([1.0, -1.0, 0.5, 0.3, 1.2]))
    scale = chain.problem.scaling.y_scale
    chain.state.network.residual[:] = np.array([0.3, -0.2, 0.5, 0.1, -0.6]) / scale
    return records(step, 20_000, 6, chain).values[:, NOISE] * scale


@cases(
    ("gamma(laws[NOISE, 1] + 0.5 * state.rows.count, rng)", "gamma(laws[NOISE, 1] + 0.5 * state.rows.count + 0.5, rng)")
)
def test_inverse_gamma_noise(mutant, seed, tmp_path):
    law, step = InverseGamma(3.0, 0.5), mutated("parameters", *(mutant or ()), folder=tmp_path).noise_update
    posterior = stats.invgamma(law.shape + 2.5, scale=law.scale + 0.375)
    check({"noise": stats.kstest(noise_given_residual(law, step, seed) ** 2, posterior.cdf).pvalue}, mutant)


@cases(("- state.rows.count * log_noise", "- (state.rows.count - 1) * log_noise"))
def test_log_normal_noise(mutant, seed, tmp_path):
    law, step = LogNormal(0.4, 1.6), mutated("parameters", *(mutant or ()), folder=tmp_path).noise_update
    density = np.vectorize(lambda s: np.exp(law.log_density(s)) * s**-5.0 * np.exp(-0.375 / s**2))
    noises = noise_given_residual(law, step, seed)
    check({"noise": stats.kstest(noises, distribution(density, 0.02, 4.0)).pvalue}, mutant)


@cases(("- width * log_amplitude", "- (width - 1) * log_amplitude"))
def test_amplitude(mutant, seed, tmp_path):
    """Given five weights."""
    law = LogNormal(1.2, 1.6)
    chain = chain_of(Prior(Constant(2.0), law, **STATED), seed)
    make_room(chain, 10, 10)
    network, component, scale = chain.state.network, chain.state.components[0], chain.problem.scaling.y_scale
    factor = component.weight_factor
    network.n, network.weights[:5] = 5, np.array([0.6, -0.9, 0.3, 1.2, -0.4]) / scale
    squares = np.sum(network.weights[:5] ** 2) * scale**2
    step = mutated("parameters", *(mutant or ()), folder=tmp_path).amplitude_update
    drawn = records(step, 20_000, 6, chain)
    density = np.vectorize(lambda a: np.exp(law.log_density(a)) * a**-5.0 * np.exp(-0.5 * squares / factor / a**2))
    p = stats.kstest(drawn.values[:, component.amplitude] * scale, distribution(density, 0.02, 20.0)).pvalue
    check({"amplitude": p}, mutant)
