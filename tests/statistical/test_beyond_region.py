"""Beyond the region: a prior is the one of a region ten times larger, in its formulas and in its draws.

Comparisons are means of products f(x1) f(x2) over independent draws, in Monte Carlo standard errors, with pairs inside
the region, across its edge and outside. The largest of 21 exceeds 4.5 with probability 1.5e-4 under a normal law;
products of heavy-tailed f have tails a little above that, so that a case fails once in some thousand seeds.
"""

import numpy as np
import pytest

from porbnet import Prior
from porbnet.intensity import Constant, FromFunction, Piecewise, SigmoidGP, UnknownConstant

REGION, LARGE = (0.0, 1.5), (-6.75, 8.25)
LIMIT = 4.5


def wave(X):
    return 8.0 + 4.0 * np.sin(3.0 * X).prod(axis=1)


KINDS = {
    "constant": lambda D: Constant(6.0),
    "unknown constant": lambda D: UnknownConstant(9.0, 0.25),
    "piecewise": lambda D: (
        Piecewise([0.7], [4.0, 9.0]) if D == 1 else Piecewise([[0.7], [0.4]], [[4.0, 8.0], [8.0, 5.0]])
    ),
    "callable": lambda D: FromFunction(wave),
    "learned": lambda D: SigmoidGP(12.0, 2.0, 0.9 if D == 1 else 2.5),
}
CASES = [(kind, 1) for kind in KINDS] + [
    pytest.param(kind, 2, marks=() if kind in ("constant", "piecewise") else pytest.mark.slow) for kind in KINDS
]


def places(n_dims):
    """In the middle, near the edge on both sides of it, at a corner, outside, and far outside."""
    X = np.full((6, n_dims), 0.75)
    X[1, 0], X[2, 0], X[4, 0] = 0.1, -0.15, -0.5
    X[3], X[5] = 1.5, 4.0
    return X


def made(kind, n_dims, region):
    return Prior(KINDS[kind](n_dims), 1.5, region=[region] * n_dims, bias=0.4, units_per_lengthscale=1.6)


def deviations(products, formula, n):
    """Largest difference of mean products and a formula, in standard errors."""
    mean = products[0] / n
    error = np.sqrt((products[1] / n - mean**2) / n)
    return np.max(np.abs((mean - formula) / error))


def products(draws, X, n, seed):
    """Sums of f(x1) f(x2) and of their squares over n draws, 500 at a time."""
    total = np.zeros((2, len(X), len(X)))
    for child in np.random.SeedSequence(seed).spawn(n // 500):
        f = draws(X, 500, child)
        total += [f.T @ f, (f**2).T @ (f**2)]
    return total


@pytest.mark.parametrize(("kind", "n_dims"), CASES)
def test_formulas_are_those_of_a_larger_region(kind, n_dims):
    X = places(n_dims)
    small, large = made(kind, n_dims, REGION), made(kind, n_dims, LARGE)
    np.testing.assert_allclose(small.covariance(X), large.covariance(X), atol=2e-6)
    np.testing.assert_allclose(small.variance(X), np.diag(small.covariance(X)), atol=2e-6)
    np.testing.assert_allclose(small.gradient_variance(X), large.gradient_variance(X), rtol=1e-5)


@pytest.mark.parametrize(("kind", "n_dims"), CASES)
def test_draws_have_the_covariance_of_the_formula(kind, n_dims, seed):
    prior, X = made(kind, n_dims, REGION), places(n_dims)
    n = 20_000 if n_dims == 1 else 5_000
    assert deviations(products(prior.sample, X, n, seed), prior.covariance(X), n) < LIMIT


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "n_dims"), [(kind, D) for kind in KINDS for D in (1, 2)])
def test_draws_on_a_larger_region_have_it_too(kind, n_dims, seed):
    """The acceptance test: draws on a region ten times larger against the formula of the small one."""
    prior, large, X = made(kind, n_dims, REGION), made(kind, n_dims, LARGE), places(n_dims)
    n = 40_000 if n_dims == 1 else 5_000
    assert deviations(products(large.sample, X, n, seed), prior.covariance(X), n) < LIMIT


def test_units_of_the_region_alone_are_rejected(seed):
    """The mutant: draws without what is beyond do not have the covariance of the formula."""
    prior, X, n = made("constant", 1, REGION), places(1), 5_000
    alone = products(lambda X, n, seed: prior.sample_networks(n, seed).within()(X), X, n, seed)
    assert deviations(alone, prior.covariance(X), n) > 3.0 * LIMIT


def test_units_in_the_region_twice_are_rejected(seed, monkeypatch):
    """The mutant: tiles that reach into the region, whose units there are not left out."""
    from porbnet.base.region import Region
    from porbnet.statement.outside_units import Outside

    # broad units, whose tiles are larger than the region
    prior, X, n = Prior(Constant(2.0), 1.5, region=REGION, units_per_lengthscale=1.6), places(1), 5_000
    assert deviations(products(prior.sample, X, n, seed), prior.covariance(X), n) < LIMIT
    units = Outside.units

    def careless(self, *arguments):
        object.__setattr__(self, "region", Region(self.region.high + 1e6, self.region.high + 1e6 + self.region.widths))
        return units(self, *arguments)

    monkeypatch.setattr(Outside, "units", careless)
    assert deviations(products(prior.sample, X, n, seed), prior.covariance(X), n) > LIMIT
