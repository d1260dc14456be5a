"""Rows compressed without loss: log p(y) of fewer rows against that of all of them, and against dense matrices."""

import math
import pickle
from dataclasses import replace

import numpy as np
import pytest
from fit_tools import quiet_fit

from porbnet import LogNormal, Prior, VaryingNoise
from porbnet.base.compiled import Passed, apply_to, kernel
from porbnet.intensity import UnknownConstant
from porbnet.kernels.gaussian import log_marginal, weigh
from porbnet.kernels.state import NOISE
from porbnet.kernels.units import append, clear
from porbnet.sampling import compression, lean
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.compression import Sharpness, compressed
from porbnet.sampling.draw_state import conditional_state
from porbnet.sampling.lean import Source
from porbnet.sampling.measure import Measure
from porbnet.sampling.problem import Problem

TOLERANCE = 1e-5  # of log p
N_STATES, N_UNITS = 32, {1: 12, 2: 5}
PLACES = ("uniform", "clustered", "gridded", "repeated")
ERRORS = ("constant", "varying", "known per row", "weighted")


# --- problems, states, and their log p ------------------------------------------------------------------------------


def places(kind, n, n_dims, rng):
    """Inputs on the unit box, shape (n, n_dims)."""
    if kind == "clustered":
        centers = rng.uniform(0.1, 0.9, (5, n_dims))
        return np.clip(centers[rng.integers(0, 5, n)] + 0.02 * rng.standard_normal((n, n_dims)), 0.0, 1.0)
    if kind == "gridded":
        per_side = round(n ** (1.0 / n_dims))
        axes = np.meshgrid(*[np.linspace(0.0, 1.0, per_side)] * n_dims, indexing="ij")
        return np.stack([a.ravel() for a in axes], axis=1)
    X = rng.uniform(size=(n, n_dims))
    return np.repeat(X[: n // 10], 10, axis=0) if kind == "repeated" else X


def problem_of(kind, errors, n_dims, rng, n=None, y=None):
    """Rows of a kind with errors of a kind."""
    many = 12_000 if errors == "varying" else 2500  # a noise curve of two inputs has many knots
    X = places(kind, n or (1500 if n_dims == 1 else many), n_dims, rng)
    y = np.sin(7.0 * X[:, 0]) + 0.3 * rng.standard_normal(len(X)) if y is None else y
    noise = (
        VaryingNoise(0.3, variance=1.0 / n_dims, lengthscale=0.6 if n_dims == 1 else 3.0)
        if errors == "varying"
        else 0.3
    )
    prior = Prior(0.3, 1.0, region=[(-0.1, 1.1)] * n_dims, bias=1.0, noise=noise)
    weight = rng.uniform(0.3, 3.0, len(X)) if errors == "known per row" else None
    counts = rng.uniform(0.2, 4.0, len(X)) if errors == "weighted" else None
    return Problem.of(prior, X, y, weight, counts)


@kernel
def empty(state):
    """No units."""
    clear(state.rows, state.units)


@kernel
def put_unit(state, scale):
    """A unit at state.work.center."""
    append(state.rows, state.components, state.units, 0, state.work.center, 1.0, scale, state.work.cross)


@kernel
def log_p_of(state):
    """Log p(y) of the units."""
    return log_marginal(state, state.units)


@kernel
def reweighted(state, reweigh):
    """Rows weighted by the noise curve."""
    apply_to(reweigh, state)
    weigh(state.rows)


def log_p(problem, centers, scales, values, z):
    """By the package's own kernels."""
    state = conditional_state(problem, len(scales) + 1)
    state.values[:] = values
    if len(z):
        state.errors.kept[:] = z
        reweighted(state, Passed(problem.likelihood.weigh))
    empty(state)
    for center, scale in zip(centers, scales, strict=True):
        state.work.center[:] = center
        put_unit(state, scale)
    return log_p_of(state)


def dense_log_p(problem, centers, scales, values, z):
    """By the covariance matrix of all observations."""
    (component,) = problem.components
    x, y, counts = component.x.T, problem.outputs, problem.times
    precision = problem.known_root**2
    if len(z):
        process = problem.likelihood.process(problem.prior.region)
        precision = precision * np.exp(-2.0 * process.values_at(z[None], problem.inputs)[0])
    distance2 = ((x[:, None] - centers[None]) ** 2).sum(axis=2)
    design = np.exp(-0.5 * scales**2 * distance2)
    noise2, variance = values[NOISE] ** 2 / precision, component.weight_factor * values[component.amplitude] ** 2
    bias2 = (problem.prior.bias / problem.scaling.y_scale) ** 2
    covariance = variance * design @ design.T + bias2 + np.diag(noise2 / counts)
    factor = np.linalg.cholesky(covariance)
    whitened = np.linalg.solve(factor, y)
    constant = 0.5 * np.log(2.0 * math.pi * noise2 / counts) - 0.5 * counts * np.log(2.0 * math.pi * noise2)
    return (
        -0.5 * whitened @ whitened
        - np.log(np.diag(factor)).sum()
        - 0.5 * len(y) * math.log(2.0 * math.pi)
        + constant.sum()
    )


def states(problem, sharpest, rng, n=N_STATES):
    """Units anywhere in the region with scales up to `sharpest`, the first of them exactly so; noise and amplitude.

    The noise is that of the data (0.4 in standard coordinates) within a factor of two or three: what is left of a unit
    counts as 1 / noise².
    """
    (component,) = problem.components
    n_kept = len(problem.errors().kept)
    for _ in range(n):
        # many smooth units on few lengthscales are all but collinear: log p then has rounding of its own
        n_dims = len(component.x)
        k = int(rng.integers(1, N_UNITS[n_dims] + 1))
        centers = rng.uniform(size=(k, n_dims)) * component.widths
        scales = sharpest * (np.exp(-2.0 * rng.exponential(size=k)) if n_dims == 1 else rng.uniform(0.5, 1.0, k))
        scales[0] = sharpest
        values = np.ones(len(problem.parameters))
        values[component.amplitude] = math.exp(0.7 * rng.standard_normal())
        values[NOISE] = 0.4 * math.exp(rng.uniform(-0.7, 1.1))
        yield centers, scales, values, rng.standard_normal(n_kept)


def worst_error(problem, fewer, sharpest, rng, n=N_STATES, n_dense=1):
    """Largest difference of log p between all rows and fewer; where a noise curve makes it more than 1e5, over that."""
    errors = []
    for i, state in enumerate(states(problem, sharpest, rng, n)):
        whole = log_p(problem, *state)
        errors.append(abs(log_p(fewer, *state) - whole) / max(1.0, abs(whole) / 1e5))
        if i < n_dense and problem.n_points < 3000:
            np.testing.assert_allclose(whole, dense_log_p(problem, *state), rtol=2e-9, atol=1e-6)
    return max(errors)


# --- 1,024 random states --------------------------------------------------------------------------------------------


QUICK = ("repeated", "known per row")
# nodes of two inputs take seconds to find: one case in every run, the others behind `make test-slow`
CASES = [
    pytest.param(kind, errors, n_dims, marks=[pytest.mark.slow] if n_dims == 2 and (kind, errors) != QUICK else [])
    for kind in PLACES
    for errors in ERRORS
    for n_dims in (1, 2)
]


@pytest.mark.parametrize(("kind", "errors", "n_dims"), CASES)
def test_log_p_of_fewer_rows(kind, errors, n_dims, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of(kind, errors, n_dims, rng)
    sharpest = 30.0 if n_dims == 1 else 3.5 if errors == "varying" else 1.5
    fewer = Source(problem).lean(Sharpness.everywhere(sharpest, n_dims))
    assert fewer.n_points < 0.7 * problem.n_points
    assert worst_error(problem, fewer, sharpest, rng) < TOLERANCE


def test_sharper_in_one_place(seed):
    """Cells are as long as the units near them allow; units elsewhere may be there with their tails."""
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "constant", 1, rng, 20_000)
    at = np.linspace(0.0, 1.0, 101)
    scales = np.where(at < 0.3, 200.0, 5.0)
    sharpness = Sharpness(at[:, None], scales, np.array([0.01]))
    fewer = Source(problem).lean(sharpness)
    even = Source(problem).lean(Sharpness.everywhere(200.0, 1))
    assert fewer.n_points < 0.6 * even.n_points
    for _ in range(30):
        centers = rng.uniform(size=(20, 1))
        allowed = np.interp(centers[:, 0], at, scales, left=200.0) * np.where(
            np.abs(centers[:, 0] - 0.3) < 0.02, 0.02, 1
        )
        values = np.ones(len(problem.parameters))
        values[NOISE] = rng.uniform(0.2, 1.0)
        state = (centers, allowed, values, np.zeros(0))
        assert abs(log_p(fewer, *state) - log_p(problem, *state)) < TOLERANCE


def test_rows_compressed_twice(seed):
    """Chunk after chunk, and the results together: the same to log p."""
    rng = np.random.default_rng(seed)
    problem = problem_of("clustered", "weighted", 1, rng, 6000)
    rows, sharpness = Source(problem).rows, Sharpness.everywhere(30.0, 1)
    chunks = [compressed(rows.taken(np.arange(i, len(rows), 3)), sharpness) for i in range(3)]
    again = compressed(Measure.joined(chunks), sharpness)
    assert len(again) < 0.6 * sum(map(len, chunks))
    source = Source(problem)
    source.rows = again
    assert worst_error(problem, source.lean(sharpness), 30.0, rng) < TOLERANCE


# --- what is kept exactly -------------------------------------------------------------------------------------------


SUMS = [
    pytest.param(kind, n_dims, marks=[pytest.mark.slow] if n_dims == 2 and kind != "repeated" else [])
    for kind in PLACES
    for n_dims in (1, 2)
]


@pytest.mark.parametrize(("kind", "n_dims"), SUMS)
def test_sums_are_kept(kind, n_dims, seed):
    rng = np.random.default_rng(seed)
    rows = Source(problem_of(kind, "weighted", n_dims, rng)).rows
    few = compressed(rows, Sharpness.everywhere(20.0 if n_dims == 1 else 1.0, n_dims))
    assert len(few) < 0.7 * len(rows) and np.all(few.weights > 0) and np.all(few.counts > 0)
    for measured in (
        lambda m: m.weights,
        lambda m: m.counts,
        lambda m: m.weights * m.outputs,
        lambda m: m.weights * (m.outputs**2 + m.within),
        lambda m: m.weights * m.x[0],
        lambda m: m.weights * m.x[-1] * m.outputs,
    ):
        np.testing.assert_allclose(measured(few).sum(), measured(rows).sum(), rtol=1e-11)


@pytest.mark.parametrize("n_dims", [1, 2])
def test_rows_at_one_place_are_one(n_dims, seed):
    """Exact for units of any scale."""
    rng = np.random.default_rng(seed)
    problem = problem_of("repeated", "known per row", n_dims, rng, 600)
    sharpest = 1e4
    fewer = Source(problem).lean(Sharpness.everywhere(sharpest, n_dims))
    assert fewer.n_points == 60 and np.all(fewer.stands_for.limit > sharpest)
    assert worst_error(problem, fewer, sharpest, rng) < 1e-8


def test_little_to_save_leaves_the_problem_alone(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "constant", 1, rng)
    assert Source(problem).lean(Sharpness.everywhere(1e5, 1)) is problem


# --- mutants --------------------------------------------------------------------------------------------------------


def _wrong_weights(few):
    return replace(few, known_root=few.known_root * (1.0 + 1e-6 * np.sin(np.arange(few.n_points))))


def _no_within(few):
    return replace(few, stands_for=replace(few.stands_for, within=np.zeros(few.n_points)))


def _no_shift(few):
    return replace(few, stands_for=replace(few.stands_for, shift=0.0))


def _outputs_at_places(few):
    """Outputs of the function at the nodes, in place of what the rows say."""
    return replace(few, outputs=few.outputs * (1.0 + 1e-5))


@pytest.mark.parametrize("mutant", [_wrong_weights, _no_within, _no_shift, _outputs_at_places])
def test_mutants_of_rows_are_seen(mutant, seed):
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "known per row", 1, rng)
    fewer = Source(problem).lean(Sharpness.everywhere(30.0, 1))
    assert worst_error(problem, mutant(fewer), 30.0, rng, n_dense=0) > 10 * TOLERANCE


def test_cells_that_are_too_long_are_seen(seed, monkeypatch):
    """The limits are what is needed: cells half as long again, and the error is seen."""
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "constant", 1, rng)
    monkeypatch.setattr(compression, "CARRIED_BY", {q: 1.8 * most for q, most in compression.CARRIED_BY.items()})
    fewer = Source(problem).lean(Sharpness.everywhere(30.0, 1))
    assert worst_error(problem, fewer, 30.0, rng, n_dense=0) > TOLERANCE


def test_kinks_that_are_forgotten_are_seen(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "varying", 1, rng)
    source = Source(problem)
    source.breaks = None
    assert worst_error(problem, source.lean(Sharpness.everywhere(30.0, 1)), 30.0, rng, n_dense=0) > 10 * TOLERANCE


# --- the guard ------------------------------------------------------------------------------------------------------


def test_a_unit_beyond_the_limit_is_impossible(seed):
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "constant", 1, rng)
    fewer = Source(problem).lean(Sharpness.everywhere(30.0, 1))
    limit = fewer.stands_for.limit.min()
    values, center = np.ones(len(problem.parameters)), np.array([[0.5]])
    assert 30.0 <= limit < 60.0
    assert np.isfinite(log_p(fewer, center, np.array([0.999 * limit]), values, np.zeros(0)))
    assert log_p(fewer, center, np.array([2.0 * limit]), values, np.zeros(0)) == -math.inf
    assert np.isfinite(log_p(problem, center, np.array([2.0 * limit]), values, np.zeros(0)))


def chirp(n, seed, noise=0.3):
    """A wave that gets faster."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, 1))
    return X, np.sin(30.0 * X[:, 0] ** 2) + noise * rng.standard_normal(n)


def running_problem(n=2000):
    """A problem that starts with much too long lengthscales."""
    X, y = chirp(n, 1)
    prior = Prior(UnknownConstant(4.0, 0.5), 1.0, region=(-0.1, 1.1), noise=LogNormal(0.3), bias=1.0)
    return Problem.of(prior, X, y)


def test_rows_are_made_anew_as_units_get_sharper(seed):
    """And how the work is cut up, or put on a shelf between, changes no bit of the draws."""
    problem, root = running_problem(), np.random.SeedSequence(seed)
    whole = CollapsedChain(problem, root, 100, 60, 2)
    first = whole.lean.n_points
    whole.advance(10**6)
    assert first < whole.lean.n_points < 0.5 * problem.n_points  # remade, for sharper units
    chain = CollapsedChain(problem, root, 100, 60, 2)
    rng = np.random.default_rng(seed)
    while not chain.finished:
        chain.advance(int(rng.integers(1, 25)))
        state, draws = chain.snapshot(), chain.draws()
        chain = CollapsedChain(problem, np.random.SeedSequence(0), 100, 60, 2)
        chain.restore(state, draws)
    for name, values in vars(whole.draws()).items():
        np.testing.assert_array_equal(getattr(chain.draws(), name), values)
    sharpest = whole.state.units.scales[: whole.state.units.n].max()
    assert sharpest <= whole.lean.stands_for.limit.max()


def test_a_pickle_leaves_behind_what_can_be_made_again():
    problem = running_problem()
    assert lean.source_of(problem) is not None and problem.cache
    again = pickle.loads(pickle.dumps(problem))
    assert again.cache == {} and again.n_points == problem.n_points
    np.testing.assert_array_equal(again.outputs, problem.outputs)


def test_a_guard_that_is_ignored_is_seen(seed):
    """Rows made for smooth units say something else of sharp ones."""
    rng = np.random.default_rng(seed)
    problem = problem_of("uniform", "constant", 1, rng)
    fewer = Source(problem).lean(Sharpness.everywhere(5.0, 1))
    unlimited = replace(fewer, stands_for=replace(fewer.stands_for, limit=np.full(fewer.n_points, np.inf)))
    assert worst_error(problem, unlimited, 60.0, rng, n_dense=0) > 1.0


# --- fits -----------------------------------------------------------------------------------------------------------


def both_ways(monkeypatch, X, y, **parameters):
    """The same fit with fewer rows and with all of them."""
    options = {"n_chains": 2, "n_warmup": 200, "n_draws": 300, "thin": 2, "random_state": 3} | parameters
    few = quiet_fit(X, y, **options)
    with monkeypatch.context() as patched:
        patched.setattr(lean, "FEWEST_ROWS", {1: 10**9, 2: 10**9, 3: 10**9})
        whole = quiet_fit(X, y, **options)
    assert lean.source_of(few.posterior_.problem) is not None
    return few, whole


def largest_z(few, whole, seed):
    """Largest difference of posterior means in standard errors: f at places, width, noise, amplitude, lengthscale."""
    from arviz_stats.base import array_stats

    def series(model):
        posterior, at = model.posterior_, np.linspace(0.02, 0.98, 7)[:, None]
        named = {f"f{i}": v for i, v in enumerate(posterior.mean_networks(at).T)}
        named |= {f"lengthscale{i}": np.log(v) for i, v in enumerate(posterior.lengthscale(at[::3]).T)}
        named |= {"width": posterior.n_units, "noise": posterior.noise, "amplitude": np.log(posterior.amplitude)}
        return {name: posterior.by_chain(v) for name, v in named.items()}

    worst = 0.0
    one, other = series(few), series(whole)
    for name, values in one.items():
        error2 = sum(s.var() / max(float(array_stats.ess(s, method="mean")), 4.0) for s in (values, other[name]))
        worst = max(worst, abs(values.mean() - other[name].mean()) / math.sqrt(error2))
    return worst


# of 13 differences one beyond 4.5 standard errors: once in 10,000 seeds, were the standard errors known
LIMIT = 4.5


def test_a_fit_of_fewer_rows(monkeypatch, seed):
    X, y = chirp(3000, seed)
    few, whole = both_ways(monkeypatch, X, y, lengthscale="constant")
    assert largest_z(few, whole, seed) < LIMIT
    at = np.linspace(0.0, 1.0, 50)[:, None]
    mean, sd = few.predict(at, return_std=True)
    other, other_sd = whole.predict(at, return_std=True)
    np.testing.assert_allclose(mean, other, atol=0.03)
    np.testing.assert_allclose(sd, other_sd, rtol=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("noise", ["learned", "varying"])
def test_many_weak_observations(noise, monkeypatch, seed):
    """Data that say little, so that units get as sharp as the prior lets them: refused proposals would show."""
    X, y = chirp(1500, seed, noise=5.0)
    few, whole = both_ways(monkeypatch, X, y, noise=noise, n_warmup=500, n_draws=1000, thin=4)
    assert largest_z(few, whole, seed) < LIMIT
