"""Residuals that plainly do not look like one noise sd: what is seen, what is not, and how often it is wrong."""

import numpy as np
import pytest
from fit_tools import quiet_fit

from porbnet import PoRBNetRegressor, datasets
from porbnet.errors import NoiseWarning
from porbnet.posterior import residuals
from porbnet.posterior.residuals import Changing, HeavyTails, judge, look


def standard(n, n_dims, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(size=(n, n_dims)), rng.standard_normal(n), rng


@pytest.mark.parametrize(("n", "n_dims"), [(40, 1), (150, 1), (100, 2)])
def test_false_alarms_are_as_rare_as_is_said(n, n_dims):
    """At a rate of 1e-4 each, more than 3 of 1,000 have a probability below 1e-4 (Poisson with mean 0.2)."""
    said = 0
    for seed in range(1000):
        X, z, _ = standard(n, n_dims, seed)
        said += judge(z, X, X[:, 0]) is not None
    assert said <= 3


def test_a_test_without_its_threshold_would_alarm(monkeypatch):
    monkeypatch.setattr(residuals, "FALSE_ALARMS", 0.5)
    monkeypatch.setattr(residuals, "LEAST_RATIO", 0.0)
    said = sum(judge(z, X, X[:, 0]) is not None for X, z, _ in (standard(100, 1, seed) for seed in range(40)))
    assert said > 4


@pytest.mark.parametrize("n_dims", [1, 3])
def test_changing_noise_is_seen_and_where(n_dims):
    X, z, _ = standard(400, n_dims, 1)
    found = judge(z * np.exp(1.5 * X[:, 0]), X, X[:, 0])
    assert isinstance(found, Changing)
    assert 2.0 < found.ratio < 9.0 and found.largest[0] > found.smallest[0] + 0.3


def test_outliers_are_heavy_tails_and_not_changing_noise():
    X, z, rng = standard(150, 1, 2)
    far = rng.permutation(150)[:8]
    z[far] += rng.choice([-1.0, 1.0], 8) * rng.uniform(7.0, 20.0, 8)
    found = judge(z / z.std(), X, X[:, 0])
    assert isinstance(found, HeavyTails) and found.n_rows == 150 and 4 <= found.n_far <= 8


def test_small_differences_are_not_plain():
    X, z, _ = standard(2000, 1, 3)
    assert judge(z * (1.0 + 0.2 * X[:, 0]), X, X[:, 0]) is None


def test_too_few_rows_or_no_spread_say_nothing():
    X, z, _ = standard(20, 1, 4)
    assert judge(z * np.exp(9.0 * X[:, 0]), X, X[:, 0]) is None
    assert judge(np.zeros(50), np.arange(50.0)[:, None], np.zeros(50)) is None
    X, z, _ = standard(60, 1, 5)
    assert judge(z, np.zeros((60, 1)), np.zeros(60)) is None


def test_a_fit_says_so_and_names_the_option():
    data = datasets.load_motorcycle()
    with pytest.warns(NoiseWarning, match=r"residuals are .* near x = .*noise='varying'.*noise='auto'"):
        model = PoRBNetRegressor("constant", n_draws=400, n_jobs=1, random_state=0).fit(data.X, data.y)
    assert "noise='varying' lets it change" in " ".join(model.summary().split())


def test_rows_given_several_times_count_once_and_other_likelihoods_are_left_alone():
    X, z, _ = standard(60, 1, 6)
    weights = np.full(60, 5.0)
    steep = z * np.exp(4.0 * X[:, 0])
    assert look(quiet_fit(X, z, weights, lengthscale=0.5, noise=1.0).posterior_) is None
    assert look(quiet_fit(X[:25], steep[:25], weights[:25], lengthscale=0.5, noise=10.0).posterior_) is None
    assert isinstance(look(quiet_fit(X, steep, lengthscale="constant").posterior_), Changing)
    assert look(quiet_fit(X, steep, lengthscale="constant", noise="varying").posterior_) is None
