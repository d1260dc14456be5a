"""Moments of f at many points: read off polynomials or computed at each point, they are the same; and what is kept."""

import copy
import functools
import pickle
import threading
import warnings

import numpy as np
import pytest
from fit_tools import model, quiet_fit, wave

from porbnet import LogNormal, Prior
from porbnet.errors import StatementWarning
from porbnet.intensity import FromFunction, Piecewise, SigmoidGP, Tabulated, UnknownConstant
from porbnet.posterior import cells, conditional_weights, function_moments

REGION = (-0.3, 1.3)
PROMISE = 1e-9  # of the amplitude, in mean and sd of f


def wavy(X):
    return 6.0 + 4.0 * np.sin(5.0 * X[:, 0])


INTENSITIES = {
    "constant": lambda D: 0.35,
    "unknown constant": lambda D: UnknownConstant.about(6.0, 1.3),
    "piecewise": lambda D: Piecewise([0.5], [20.0, 4.0]) if D == 1 else Piecewise([[0.5], []], [[15.0], [5.0]]),
    "function": lambda D: FromFunction(wavy),
    "table": lambda D: Tabulated([REGION] * D, np.linspace(3.0, 9.0, 3**D).reshape([3] * D)),
    "learned": lambda D: SigmoidGP(15.0, 2.0, [0.5] * D),
    "learned with its law": lambda D: SigmoidGP(15.0, LogNormal(2.0), [LogNormal(0.5, 1.3)] * D),
}
CASES = [(name, n_dims) for name in INTENSITIES for n_dims in (1, 2)]


@functools.cache
def posterior_of(name, n_dims):
    X, y = wave(n_dims=n_dims)
    prior = Prior(INTENSITIES[name](n_dims), 3.0, region=[REGION] * n_dims, bias=10.0, noise=LogNormal(0.3))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatementWarning)  # the region is small on purpose: points lie beyond it
        return quiet_fit(X, y, prior=prior, n_draws=20).posterior_


def points(n_dims, seed, n=20_000):
    """Unsorted points inside the region, on its edges and corners, and far beyond."""
    inside = np.random.default_rng(seed).uniform(*REGION, size=(n, n_dims))
    edges = inside[:1000].copy()
    edges[:500, 0], edges[500:, -1] = REGION
    corners = np.array(np.meshgrid(*[REGION] * n_dims)).reshape(n_dims, -1).T
    beyond = np.random.default_rng(seed + 1).uniform(-3.0, 4.0, size=(n // (4 if n_dims == 1 else 60), n_dims))
    return np.concatenate([inside, edges, corners, beyond, np.full((1, n_dims), 1e4)])


def off(got, expected, posterior):
    """Largest differences of mean and sd, in amplitudes."""
    amplitude = posterior.amplitude.mean()
    sds = [np.sqrt(variance) for variance in (got[1], expected[1])]
    return max(np.max(np.abs(got[0] - expected[0])), np.max(np.abs(sds[0] - sds[1]))) / amplitude


def whole(posterior, X):
    """Tables of `f_moments`, put together."""
    mean, variance = np.full((2, len(posterior), len(X)), np.nan)
    for rows, moments in posterior.f_moments(X):
        mean[:, rows], variance[:, rows] = moments.mean, moments.variance
    return mean, variance


@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]}-{c[1]}d")
def test_both_ways_agree(case, monkeypatch, seed):
    posterior, X = posterior_of(*case), points(case[1], seed, 20_000 if case[1] == 1 else 40_000)
    if case[1] > 1:  # what is beyond the data is computed point by point: a thousand will do
        X = np.concatenate([X[posterior.beyond.box.contains(X)], X[posterior.beyond.free(X)][::20]])
    monkeypatch.setattr(function_moments, "_EXPONENTIAL", 1e9)  # tables by way of cells, whatever the cost
    some = X[::7] if case[1] == 1 else X
    assert posterior.moments.layout(posterior.problem.scaling.inputs(some)).cells
    ways = []
    for gain in (2.0, np.inf):
        monkeypatch.setattr(function_moments, "_LEAST_GAIN", gain)
        ways.append((posterior.mean_and_variance(X), posterior.mean(X), whole(posterior, some)))
    (average, mean, tables), (direct, direct_mean, direct_tables) = ways
    assert off(average, direct, posterior) < PROMISE
    assert np.max(np.abs(mean - direct_mean)) < PROMISE * posterior.amplitude.mean()
    assert off(tables, direct_tables, posterior) < 5.0 * PROMISE  # of single draws, whose weights may be large
    assert not np.array_equal(average[0], direct[0])  # two ways indeed


def test_too_few_nodes_would_be_noticed(monkeypatch, seed):
    """The mutant of the test above: as many nodes as f needs are too few for its variance."""
    posterior, X = posterior_of("learned", 1), points(1, seed)
    monkeypatch.setattr(function_moments, "_LEAST_GAIN", np.inf)
    direct = posterior.mean_and_variance(X)
    monkeypatch.setattr(function_moments, "_LEAST_GAIN", 2.0)
    monkeypatch.setattr(cells, "N_NODES", 12)
    assert off(posterior.mean_and_variance(X), direct, posterior) > 10.0 * PROMISE


def test_a_small_sd_is_not_lost_in_a_large_amplitude(monkeypatch, seed):
    """With next to no noise the sd of f falls to 1e-4 amplitudes; it must come out to 1e-4 of itself even so."""
    X = np.linspace(0.0, 1.0, 600)[:, None]
    y = np.sin(12.0 * X[:, 0] ** 2) + 1e-3 * np.random.default_rng(seed).standard_normal(600)
    prior = Prior(0.15, 1.0, region=(-0.3, 1.3), bias=1.0, noise=1e-3)
    posterior = quiet_fit(X, y, prior=prior, n_draws=10).posterior_
    places = np.random.default_rng(seed).uniform(size=(4000, 1))
    sd = np.sqrt(posterior.mean_and_variance(places)[1])
    monkeypatch.setattr(function_moments, "_LEAST_GAIN", np.inf)
    assert sd.min() < 3e-4
    np.testing.assert_allclose(sd, np.sqrt(posterior.mean_and_variance(places)[1]), rtol=1e-4)


@pytest.mark.parametrize("n_dims", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_neither_chunks_nor_threads_change_anything(n_dims, monkeypatch, seed):
    posterior, X = posterior_of("learned", n_dims), points(n_dims, seed)
    expected = posterior.mean_and_variance(X, 1), whole(posterior, X[:6000])
    threads = posterior.mean_and_variance(X, 3)
    np.testing.assert_array_equal(threads, expected[0])
    monkeypatch.setattr(function_moments, "_MOST_POINTS", 500)
    monkeypatch.setattr(function_moments, "_MOST_BYTES", 16 * len(posterior) * 300)
    monkeypatch.setattr(function_moments, "_NEAR_BYTES", 16 * len(posterior) * 20)
    np.testing.assert_allclose(posterior.mean_and_variance(X), expected[0], rtol=1e-11)
    np.testing.assert_allclose(whole(posterior, X[:6000]), expected[1], rtol=1e-9)


# --- predictions that are made of them ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
@pytest.mark.parametrize(("kind", "of"), [("learned", "y"), ("learned", "f"), ("varying", "y"), ("robust", "y")])
def test_quantiles_and_densities_at_many_points_are_those_at_few(kind, of, seed):
    noise = {"learned": {}, "varying": {"noise": "varying"}, "robust": {"noise": "robust"}}[kind]
    fitted = quiet_fit(*wave(), n_draws=20, **noise)
    X = points(1, seed, 1500)
    y = 10.0 + 3.0 * np.random.default_rng(seed).standard_normal(len(X))
    intervals, densities = fitted.predict_interval(X, of=of), fitted.log_density(X, y)
    for few in (slice(start, None, 53) for start in range(3)):  # too few for a cell
        gaps = np.abs(intervals[few] - fitted.predict_interval(X[few], of=of))
        assert np.max(gaps / fitted.predict(X[few], return_std=True, of=of)[1][:, None]) < 3e-7
        np.testing.assert_allclose(densities[few], fitted.log_density(X[few], y[few]), rtol=1e-6, atol=1e-6)


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
def test_skpro_has_its_rows_in_order(seed):
    """Points of a cell come together, and go back to where they belong."""
    pytest.importorskip("skpro")
    import pandas as pd

    from porbnet import PoRBNetRegressor
    from porbnet.interop.skpro import PoRBNetProba

    X, y = (pd.DataFrame(values) for values in wave())
    short = {"n_chains": 1, "n_warmup": 60, "n_draws": 20, "random_state": 0, "progress": False}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = PoRBNetProba(PoRBNetRegressor(**short)).fit(X, y)
    new = pd.DataFrame(points(1, seed, 1000))
    rows = [rows for rows, _ in fitted.regressor_.posterior_.f_moments(new.to_numpy())]
    assert any(not isinstance(r, slice) for r in rows)
    means = fitted.predict_proba(new).mean().to_numpy()[:, 0]
    np.testing.assert_allclose(means, fitted.regressor_.predict(new.to_numpy()), rtol=1e-7)


# --- what is kept ------------------------------------------------------------------------------------------------


@pytest.fixture
def counted(monkeypatch):
    """Draws whose m and P were computed, so far."""
    seen = []
    original = conditional_weights.weights_kernel

    def count(state, draws, first, last, *rest):
        seen.extend(range(first, last))
        original(state, draws, first, last, *rest)

    monkeypatch.setattr(conditional_weights, "weights_kernel", count)
    return seen


def fresh():
    """A posterior that has predicted nothing yet."""
    return copy.deepcopy(model("constant").posterior_)


def test_weights_are_computed_once_and_reused(counted):
    posterior, X = fresh(), wave()[0]
    first = posterior.mean_and_variance(X)
    assert sorted(counted) == list(range(len(posterior)))
    second = posterior.mean_and_variance(X)
    list(posterior.f_moments(X))
    posterior.covariance(X)
    posterior.log_density(X, np.zeros(len(X)))
    assert len(counted) == len(posterior)
    np.testing.assert_array_equal(first, second)
    assert 0 < posterior.moments.weights.nbytes < 1_000_000


@pytest.mark.parametrize("room", [0.0, 0.5])
def test_beyond_the_limit_they_are_computed_again_with_the_same_result(room, counted, monkeypatch):
    posterior, X = fresh(), wave()[0]
    expected = posterior.mean_and_variance(X)
    limit = int(room * posterior.moments.weights.nbytes)
    monkeypatch.setattr(conditional_weights, "MOST_BYTES", limit)
    monkeypatch.setattr(conditional_weights, "_GROUP_BYTES", 3000)
    posterior = fresh()
    for _ in range(2):
        np.testing.assert_allclose(posterior.mean_and_variance(X), expected, rtol=1e-13)
        assert posterior.moments.weights.nbytes <= limit
    again = len(counted) - 2 * len(posterior)
    assert again == len(posterior) if room == 0.0 else 0 < again < 0.8 * len(posterior)


def test_nothing_of_it_is_pickled():
    posterior, X = fresh(), wave()[0]
    before = len(pickle.dumps(posterior))
    expected = posterior.mean_and_variance(X)
    assert len(pickle.dumps(posterior)) == before
    back = pickle.loads(pickle.dumps(posterior))
    assert back.moments.weights.nbytes == 0
    np.testing.assert_array_equal(back.mean_and_variance(X), expected)


def test_many_threads_may_ask_at_once():
    posterior, X = fresh(), wave()[0]
    expected, found = fresh().mean_and_variance(X), [None] * 6

    def ask(i):
        found[i] = posterior.mean_and_variance(X)

    threads = [threading.Thread(target=ask, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for got in found:
        np.testing.assert_array_equal(got, expected)
    kept = posterior.moments.weights
    assert kept.nbytes == sum(given.nbytes for given in kept._kept.values())
