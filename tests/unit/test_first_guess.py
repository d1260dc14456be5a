"""The first guess of a lengthscale, against draws whose lengthscale is known."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from porbnet.statement import first_guess
from porbnet.statement.defaults import default_prior
from porbnet.statement.first_guess import lengthscale_share, neighbours, samples


def gp_draw(X, lengthscale, noise, rng):
    """A draw from a squared-exponential process, amplitude 1, with noise."""
    gaps = X[:, None] - X[None]
    values, vectors = np.linalg.eigh(np.exp(-0.5 * np.sum(gaps**2, axis=-1) / lengthscale**2))
    f = vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(X)))
    return f + noise * rng.standard_normal(len(X))


@pytest.mark.parametrize("n", [100, pytest.param(600, marks=pytest.mark.slow)])
@pytest.mark.parametrize("lengthscale", [0.03, 0.1, 0.3])
def test_the_lengthscale_of_a_process_is_found(n, lengthscale):
    rng = np.random.default_rng(0)
    guesses = []
    for _ in range(5):
        x = rng.random((n, 1))
        guesses.append(lengthscale_share(x, gp_draw(x, lengthscale, 0.2, rng)))
    assert np.exp(np.mean(np.log(guesses))) == pytest.approx(lengthscale, rel=0.2)


@pytest.mark.parametrize("n_dims", [2, 3])
def test_the_lengthscale_of_several_inputs_is_over_the_root_of_their_number(n_dims):
    rng = np.random.default_rng(1)
    X = rng.random((200, n_dims))
    y = gp_draw(X, 0.3 * np.sqrt(n_dims), 0.1, rng)
    assert lengthscale_share(X, y) == pytest.approx(0.3, rel=0.3)


@pytest.mark.parametrize("lengthscale", [0.002, 0.02, 0.2])
def test_many_rows_tell_of_short_and_long_lengthscales(lengthscale):
    rng = np.random.default_rng(2)
    x = rng.random((100_000, 1))
    wave = np.sin(x[:, 0] / lengthscale) + 0.3 * rng.standard_normal(len(x))
    # the grid ends at 0.004; a sine has a process's lengthscale of about 1.4 times its inverse frequency
    assert max(lengthscale, 0.004) <= lengthscale_share(x, wave) <= 2.5 * lengthscale


def test_the_marginal_likelihood_is_that_of_the_process(monkeypatch):
    """One lengthscale against another, noise held: the ratio of Gaussian densities at the most likely amplitude."""
    rng = np.random.default_rng(3)
    x = rng.random((12, 1))
    y = gp_draw(x, 0.2, 0.3, rng)
    ratio, shares = 0.09, np.array([0.1, 0.3])
    monkeypatch.setattr(first_guess, "SHARES", shares)
    monkeypatch.setattr(first_guess, "RATIOS", np.array([ratio]))
    monkeypatch.setattr(first_guess, "FACTOR", 1e6)
    logs = []
    for share in shares:
        matrix = np.exp(-0.5 * ((x - x.T) / share) ** 2) + ratio * np.eye(12)
        scale = y @ np.linalg.solve(matrix, y) / 12
        logs.append(multivariate_normal(np.zeros(12), scale * matrix).logpdf(y))
    # a log-normal of factor 10^6 is flat, but for the shift of half its variance
    weights = np.exp(np.array(logs) - max(logs)) * np.sqrt(shares)
    assert lengthscale_share(x, y) == float(f"{1.0 / np.average(1.0 / shares, weights=weights):.2g}")


def test_rows_that_count_twice_are_rows_that_are_there_twice():
    rng = np.random.default_rng(4)
    x = rng.random((40, 2))
    y = gp_draw(x, 0.3, 0.2, rng)
    counts = rng.integers(0, 4, 40)
    repeated = np.repeat(np.arange(40), counts)
    assert lengthscale_share(x, y, counts.astype(float)) == lengthscale_share(x[repeated], y[repeated])
    assert lengthscale_share(x, y, counts.astype(float)) != lengthscale_share(x, y)


@pytest.mark.parametrize("y", [np.zeros(20), np.array([1.0])], ids=["constant", "one row"])
def test_without_information_the_guess_is_the_prior_s(y):
    x = np.linspace(0.0, 1.0, len(y))[:, None]
    assert lengthscale_share(x, y) == pytest.approx(first_guess.SHARE, rel=0.1)


def test_samples_are_of_neighbours_and_of_all_rows():
    X = np.random.default_rng(5).random((5_000, 2))
    widths = [np.ptp(X[rows], axis=0).max() for rows in samples(X)]
    assert [len(np.unique(rows)) for rows in samples(X)] == [first_guess.MOST_ROWS] * first_guess.N_SAMPLES
    assert widths[0] < 0.35 and widths == sorted(widths) and widths[-1] > 0.95
    assert sorted(neighbours(X)) == list(range(5_000))


def test_the_prior_follows_the_data_s_roughness():
    x = np.linspace(0.0, 1.0, 200)[:, None]
    smooth, rough = (default_prior(x, np.sin(f * x[:, 0]))[0] for f in (5.0, 100.0))
    assert rough.intensity.upper.mean > 8.0 * smooth.intensity.upper.mean


def test_the_prior_of_several_inputs_stays_affordable():
    rng = np.random.default_rng(6)
    X = rng.random((150, 3))
    y = gp_draw(X, 0.05, 0.01, rng)
    prior, _ = default_prior(X, y)
    assert prior.units_per_lengthscale == pytest.approx(0.7) and prior.expected_units <= 150.0


@pytest.mark.parametrize("n_dims", [1, 2])
def test_many_rows_in_any_order(n_dims, seed):
    """Some of them are looked at, the same ones whatever order they came in; as good as all of them."""
    rng = np.random.default_rng(seed)
    n = 2 * first_guess.MOST_LOOKED_AT + 7
    X = np.round(rng.uniform(size=(n, n_dims)), 3)  # rows of one place, told apart by their outputs
    y = np.sin(20.0 * X[:, 0]) + 0.3 * rng.standard_normal(n)
    shuffled = rng.permutation(n)
    some, others = first_guess.looked_at(X, y, None), first_guess.looked_at(X[shuffled], y[shuffled], None)
    for one, other in zip(some[:2], others[:2], strict=True):
        assert len(one) == first_guess.MOST_LOOKED_AT
        np.testing.assert_array_equal(one, other)
    few = slice(0, 5000)
    assert lengthscale_share(X, y) == pytest.approx(lengthscale_share(X[few], y[few]), rel=0.5)
