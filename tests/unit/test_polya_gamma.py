"""Pólya-Gamma variates against their closed-form moments, their density, and each other."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.special import gammaln

from porbnet.base.compiled import kernel
from porbnet.kernels.polya_gamma import LEAST, cubes_beyond, n_terms, polya_gamma

N = 40_000


@kernel
def fill(out, shape, tilt, rng):
    for i in range(len(out)):
        out[i] = polya_gamma(shape, tilt, rng)


def draws(shape, tilt, seed, n=N):
    out = np.empty(n)
    fill(out, float(shape), float(tilt), np.random.default_rng(seed))
    return out


def moments(shape, tilt):
    """Mean and variance of PG(shape, tilt), Polson, Scott and Windle (2013)."""
    z = max(abs(tilt), 1e-3)
    variance = (2.0 * math.tanh(z / 2) - z / math.cosh(z / 2) ** 2) / (4.0 * z**3) if z < 700 else 1.0 / (2.0 * z**3)
    return shape * math.tanh(z / 2) / (2.0 * z), shape * variance


def density(w, shape, tilt):
    """The density, by its alternating series; with enough terms for any w, and not too far to the right."""
    n = np.arange(400)[:, None]
    logs = gammaln(n + shape) - gammaln(n + 1) - (2 * n + shape) ** 2 / (8.0 * w) + np.log(2 * n + shape)
    series = np.sum((-1.0) ** n * np.exp(logs), axis=0) / np.sqrt(2.0 * math.pi * w**3)
    constant = (shape - 1) * math.log(2.0) - gammaln(shape) + shape * math.log(math.cosh(tilt / 2))
    return np.exp(constant - 0.5 * tilt**2 * w) * series


# whole shapes by Devroye's method, others and large ones by the sum; tilts on both sides of its two ways below the cut
SHAPES = [(1, 0.0), (1, 1.0), (1, -3.5), (1, 8.0), (1, 90.0), (1, 2000.0), (3, 1.0)]
SHAPES += [(0.05, 1.0), (0.7, 0.0), (2.5, -2.0), (7, 0.01), (30.5, 5.0), (3000.0, -4.0), (1.5, 60.0)]


@pytest.mark.parametrize(("shape", "tilt"), SHAPES)
def test_mean_and_variance(shape, tilt, seed):
    """4.5 standard errors at 28 numbers: about 1 in 5,000."""
    found, (mean, variance) = draws(shape, tilt, seed), moments(shape, tilt)
    assert abs(found.mean() - mean) < 4.5 * math.sqrt(variance / N)
    kurtosis = np.mean((found - mean) ** 4) / variance**2
    assert abs(found.var() / variance - 1.0) < 4.5 * math.sqrt((kurtosis - 1.0) / N)


@pytest.mark.parametrize(
    ("shape", "tilt"), [(1, 0.0), (1, 2.0), (1, 6.0), (3, 1.0), (0.7, 0.0), (2.5, 2.0), (5.5, 1.0)]
)
def test_law(shape, tilt, seed):
    """Kolmogorov-Smirnov against the integrated density; 7 tests at 1e-4: about 1 in 1,400."""
    mean, variance = moments(shape, tilt)
    grid = np.geomspace(2e-4, mean + 14.0 * math.sqrt(variance), 20_000)
    p = np.maximum(density(grid, shape, tilt), 0.0)
    cdf = np.concatenate([[0.0], np.cumsum(0.5 * (p[1:] + p[:-1]) * np.diff(grid))])
    assert abs(cdf[-1] - 1.0) < 1e-5
    found = draws(shape, tilt, seed)
    assert stats.kstest(found, lambda w: np.interp(w, grid, cdf)).pvalue > 1e-4


def test_a_shape_that_is_off_by_one_is_seen(seed):
    found, (mean, variance) = draws(2, 1.0, seed), moments(1, 1.0)
    assert abs(found.mean() - mean) > 50 * math.sqrt(variance / N)


def test_what_the_sum_leaves_out():
    """The first two cumulants are exact; of the third and fourth next to nothing is missing, as the module says."""
    k = np.arange(500_000) + 0.5
    for tilt in (0.0, 1.0, 2.0, 3.5, 5.0, 7.0, 8.5, 10.0, 20.0, 100.0, 600.0):
        c = tilt / (2.0 * math.pi)
        d = 1.0 / (k**2 + c**2)
        n = n_terms.py_func(c)
        second, third, fourth = (np.sum(d[n:] ** j) for j in (2, 3, 4))
        found = cubes_beyond.py_func(n, c * c)
        assert abs(found - third) < 1e-6 * np.sum(d**3), tilt
        assert abs(found**2 / second - fourth) < (1e-5 if tilt <= 10.0 else 2e-4) * np.sum(d**4), tilt


def test_tiny_shapes_stay_above_zero(seed):
    assert draws(1e-3, 2.0, seed, 2000).min() >= LEAST
