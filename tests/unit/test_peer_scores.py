"""The scores by which models are compared (benchmarks/peers), against closed forms."""

import importlib
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import expon, norm

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def scores():
    sys.path.insert(0, str(BENCHMARKS))
    yield importlib.import_module("peers.scores")
    sys.path.remove(str(BENCHMARKS))


def test_one_normal_law_is_scored_in_closed_form(scores, seed):
    rng = np.random.default_rng(seed)
    y, mean, sd = rng.normal(size=40), rng.normal(size=40), rng.uniform(0.5, 2.0, 40)
    found = scores.score({"form": "mixture", "means": mean[None], "sds": sd[None]}, y)
    z = (y - mean) / sd
    crps = sd * (z * (2 * norm.cdf(z) - 1) + 2 * norm.pdf(z) - 1 / np.sqrt(np.pi))
    assert found["LLH"] == pytest.approx(norm.logpdf(y, mean, sd).mean(), abs=1e-12)
    assert found["CRPS"] == pytest.approx(crps.mean(), abs=1e-12)
    assert found["RMSE"] == pytest.approx(np.sqrt(np.mean((y - mean) ** 2)), abs=1e-12)
    assert found["cover90"] == np.mean(np.abs(z) <= norm.ppf(0.95))
    assert found["width90"] == pytest.approx(np.mean(2 * norm.ppf(0.95) * sd), rel=1e-9)


def test_many_normal_laws_are_one_mixture(scores, seed):
    """CRPS of a mixture in closed form: E|Y - y| - ½ E|Y - Y'|, pair by pair (Grimit and others 2006)."""
    rng = np.random.default_rng(seed)
    y, means, sds = rng.normal(size=20), rng.normal(size=(50, 20)), rng.uniform(0.3, 1.0, (50, 1))
    found = scores.score({"form": "mixture", "means": means, "sds": sds}, y)

    def absolute(m, s):
        return m * (2 * norm.cdf(m / s) - 1) + 2 * s * norm.pdf(m / s)

    pairs = absolute(means[:, None] - means, np.sqrt(sds[:, None] ** 2 + sds**2)).mean(axis=(0, 1))
    exact = absolute(y - means, np.broadcast_to(sds, means.shape)).mean(axis=0) - 0.5 * pairs
    assert found["CRPS"] == pytest.approx(exact.mean(), rel=0.02)  # from 2,000 samples: 20 deviations are 0.1 % to 1 %
    assert found["LLH"] == pytest.approx(np.log(norm.pdf(y, means, sds).mean(axis=0)).mean(), abs=1e-12)
    level = norm.cdf((scores.mixture_quantile(means, sds, 0.3) - means) / sds).mean(axis=0)
    assert level == pytest.approx(np.full(20, 0.3), abs=1e-9)


def test_quantiles_give_the_law_they_come_from(scores, seed):
    """A two-sided exponential law is uniform nowhere, but with 400 levels nearly so between two of them."""
    rng = np.random.default_rng(seed)
    levels = np.arange(1, 400) / 400

    def quantile(p):
        return np.where(p < 0.5, np.log(np.maximum(2 * p, 1e-300)), -np.log(2 * np.minimum(1 - p, 0.5)))

    y = quantile(rng.random(300))
    law = {
        "form": "quantiles",
        "levels": levels,
        "quantiles": np.tile(quantile(levels), (300, 1)),
        "mean": np.zeros(300),
    }
    found = scores.score(law, y)
    exact = np.abs(y) + np.exp(-np.abs(y)) - 0.75  # CRPS of a standard Laplace law
    assert found["CRPS"] == pytest.approx(exact.mean(), rel=0.01)
    assert found["LLH"] == pytest.approx(np.mean(expon.logpdf(np.abs(y)) - np.log(2)), abs=0.1)
    assert found["cover90"] == pytest.approx(np.mean(np.abs(y) <= np.log(10)), abs=0.02)


def test_a_law_of_quantiles_has_mass_one(scores):
    """Tails, gaps and quantiles that are equal: the density integrates to one."""
    levels = np.array([0.05, 0.25, 0.255, 0.5, 0.95])
    quantiles = np.array([[-1.0, 0.0, 0.0, 0.4, 2.0]])
    grid = np.linspace(-8.0, 12.0, 40_001)
    density, _, _ = scores._quantiles(levels, np.tile(quantiles, (len(grid), 1)), grid)
    assert np.sum(np.exp(density)) * (grid[1] - grid[0]) == pytest.approx(1.0, abs=2e-3)


def test_crps_of_quantiles_is_the_integral_it_stands_for(scores):
    """∫ (F(t) - 1[y ≤ t])² dt with F from the density, for outputs in both tails and between."""
    levels, quantiles = np.array([0.05, 0.25, 0.5, 0.75, 0.95]), np.array([-1.0, -0.2, 0.1, 0.4, 2.0])
    y, grid = np.array([-4.0, -0.5, 0.2, 3.0]), np.linspace(-10.0, 20.0, 30_001)
    _, found, _ = scores._quantiles(levels, np.tile(quantiles, (len(y), 1)), y)
    density, _, _ = scores._quantiles(levels, np.tile(quantiles, (len(grid), 1)), grid)
    step = grid[1] - grid[0]
    below = np.cumsum(np.exp(density)) * step
    exact = [np.sum((below - (grid >= each)) ** 2) * step for each in y]
    assert found == pytest.approx(exact, rel=2e-3)


def test_laws_that_are_no_numbers_are_refused(scores):
    with pytest.raises(ValueError, match="no numbers"):
        scores.score({"form": "mixture", "means": np.array([[np.nan]]), "sds": np.ones((1, 1))}, np.zeros(1))
    with pytest.raises(ValueError, match="form='cdf'"):
        scores.score({"form": "cdf"}, np.zeros(1))


def test_draws_that_repeat_themselves_count_once(scores, seed):
    free = np.random.default_rng(seed).normal(size=(2, 400, 3))
    slow = np.repeat(free[:, :40], 10, axis=1)
    assert scores.effective_draws(free)["ess_least"] > 400
    assert scores.effective_draws(slow)["ess_median"] < 200
    assert scores.effective_draws(free[:1])["rhat"] < 1.05
    apart = free + np.array([0.0, 3.0])[:, None, None]
    assert scores.effective_draws(apart)["rhat"] > 1.5
