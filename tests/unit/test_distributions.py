"""Gamma, InverseGamma and LogNormal against SciPy."""

import numpy as np
import pytest
from scipy import stats

from porbnet import Gamma, InverseGamma, LogNormal
from porbnet.errors import StatementError


@pytest.mark.parametrize(("shape", "rate"), [(0.5, 2.0), (1.0, 1.0), (1110.9, 1.0)])
def test_gamma(shape, rate):
    ours, theirs = Gamma(shape, rate), stats.gamma(shape, scale=1.0 / rate)
    assert ours.mean == pytest.approx(theirs.mean())
    p = np.array([1e-3, 0.1, 0.5, 0.99])
    np.testing.assert_allclose(ours.quantile(p), theirs.ppf(p), rtol=1e-10)
    for value in theirs.ppf(p):
        assert ours.log_density(value) == pytest.approx(theirs.logpdf(value), rel=1e-10)
    assert ours.log_density(0.0) == -np.inf


@pytest.mark.parametrize(("shape", "scale"), [(0.5, 2.0), (3.0, 0.12), (50.0, 1.0)])
def test_inverse_gamma(shape, scale):
    ours, theirs = InverseGamma(shape, scale), stats.invgamma(shape, scale=scale)
    assert ours.mean == pytest.approx(theirs.mean())
    p = np.array([1e-3, 0.1, 0.5, 0.99])
    np.testing.assert_allclose(ours.quantile(p), theirs.ppf(p), rtol=1e-10)
    for value in theirs.ppf(p):
        assert ours.log_density(value) == pytest.approx(theirs.logpdf(value), rel=1e-10)
    assert ours.log_density(0.0) == -np.inf
    assert all(ours.log_density(ours.mode) > ours.log_density(f * ours.mode) for f in (0.99, 1.01))


@pytest.mark.parametrize(("median", "factor"), [(0.1, 3.0), (20.0, 1.5)])
def test_log_normal(median, factor):
    ours, theirs = LogNormal(median, factor), stats.lognorm(np.log(factor), scale=median)
    p = np.array([1e-3, 0.1, 0.5, 0.99])
    np.testing.assert_allclose(ours.quantile(p), theirs.ppf(p), rtol=1e-12)
    assert ours.mean_square == pytest.approx(theirs.moment(2), rel=1e-10)
    for value in theirs.ppf(p):
        assert ours.log_density(value) == pytest.approx(theirs.logpdf(value), rel=1e-10)
    assert ours.log_density(-1.0) == -np.inf


@pytest.mark.parametrize("law", [Gamma(3.0, 2.0), InverseGamma(3.0, 2.0), LogNormal(0.5, 2.0)])
def test_draws_follow_the_quantiles(law, seed):
    """Kolmogorov-Smirnov test; false alarms 1 in 10,000, and the seed is fixed."""
    draws = law.sample(5000, np.random.default_rng(seed))
    grid = np.linspace(0.0005, 0.9995, 1000)
    empirical = np.searchsorted(np.sort(draws), law.quantile(grid)) / len(draws)
    assert np.abs(empirical - grid).max() < stats.kstwobign.isf(1e-4) / np.sqrt(len(draws)) + 1e-3


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Gamma(-1.0, 1.0), "shape"),
        (lambda: Gamma(1e-9, 1.0), "shape"),
        (lambda: Gamma(1.0, 0.0), "rate"),
        (lambda: InverseGamma(0.0, 1.0), "shape"),
        (lambda: InverseGamma(1.0, -1.0), "scale"),
        (lambda: LogNormal(np.nan), "median"),
        (lambda: LogNormal(1.0, 1.0), "factor"),
        (lambda: LogNormal(1.0, 1e9), "factor"),
    ],
)
def test_bad_parameters(make, name):
    with pytest.raises(StatementError, match=f"^{name}="):
        make()
