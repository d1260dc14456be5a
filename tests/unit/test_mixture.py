"""Mixtures of Gaussians against scipy."""

import numpy as np
import pytest
from scipy import stats

from porbnet.posterior import mixture


@pytest.fixture(params=["equal", "weighted"])
def parts(request, seed):
    """Means, variances, and weights or None, of 50 components at 7 points; scales over four decades."""
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(50, 7)) * 10.0 ** np.arange(-3, 4)
    variance = (10.0 ** rng.uniform(-4, 0, size=(50, 7)) * 10.0 ** np.arange(-3, 4)) ** 2
    return mean, variance, None if request.param == "equal" else rng.dirichlet(np.ones(50))


def shares(parts):
    return np.full(50, 0.02) if parts[2] is None else parts[2]


def test_log_density(parts):
    value = parts[0][3] + 0.5 * np.sqrt(parts[1][3])
    truth = np.log(shares(parts) @ stats.norm(parts[0], np.sqrt(parts[1])).pdf(value))
    np.testing.assert_allclose(mixture.log_density(value, *parts), truth, rtol=1e-10)


def test_log_density_far_out_does_not_underflow(parts):
    assert np.all(np.isfinite(mixture.log_density(np.full(7, 1e9), *parts)))


def test_distribution(parts):
    truth = shares(parts) @ stats.norm(parts[0], np.sqrt(parts[1])).cdf(parts[0][3])
    np.testing.assert_allclose(mixture.distribution(parts[0][3], *parts), truth, rtol=1e-10)


@pytest.mark.parametrize("p", [1e-6, 0.025, 0.3, 0.5, 0.95, 1.0 - 1e-6])
def test_quantile_inverts_the_distribution(parts, p):
    at = mixture.quantile(p, *parts)
    spread = np.sqrt(np.average(parts[1] + parts[0] ** 2, axis=0, weights=shares(parts)))
    low, high = (mixture.distribution(at + sign * 2e-7 * spread, *parts) for sign in (-1, 1))
    assert np.all(low <= p) and np.all(high >= p)


def test_quantile_of_one_component_is_normal():
    at = mixture.quantile(0.9, np.array([[2.0]]), np.array([[9.0]]))
    np.testing.assert_allclose(at, stats.norm(2.0, 3.0).ppf(0.9), rtol=1e-7)


def test_quantile_of_two_far_spikes():
    """A median in the desert between two spikes, and quantiles on their slopes."""
    mean, variance = np.array([[-1.0], [1.0]]), np.full((2, 1), 1e-12)
    assert -1.0 < mixture.quantile(0.5, mean, variance)[0] < 1.0
    np.testing.assert_allclose(mixture.quantile(0.25, mean, variance), -1.0, atol=1e-6)
    np.testing.assert_allclose(mixture.quantile(0.75, mean, variance), 1.0, atol=1e-6)
