"""The Gaussian process on a grid has the covariance of its kernel."""

import numpy as np
import pytest

from porbnet.errors import StatementError
from porbnet.grid_gp import GridGP, lengthscale_vector
from porbnet.region import Region


def implied_covariance(gp):
    """Covariance of the knots that the coefficients imply."""
    knots = gp.expand(np.eye(gp.n_coefficients)).reshape(gp.n_coefficients, -1)
    return knots.T @ knots


def kernel(gp, lengthscales):
    axes = [np.linspace(lo, hi, n) for (lo, hi), n in zip(gp.region.bounds, gp.shape, strict=True)]
    knots = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1) / lengthscales
    return gp.variance * np.exp(-0.5 * ((knots[:, None, :] - knots[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize(
    ("bounds", "lengthscales"),
    [
        ((0.0, 1.0), [0.25]),
        ((-3.0, 5.0), [0.1]),
        ((0.0, 1.0), [7.0]),
        ([(0, 1), (0, 2)], [0.5, 0.7]),
        ([(0, 1), (0, 1), (0, 1)], [0.8, 1.5, 0.9]),
    ],
)
def test_covariance_equals_the_kernel(bounds, lengthscales):
    gp = GridGP(Region.of(bounds), 5.0, np.array(lengthscales))
    np.testing.assert_allclose(implied_covariance(gp), kernel(gp, np.array(lengthscales)), atol=1e-6 * 5.0)


def test_draws_have_the_shape_of_the_knots(seed):
    gp = GridGP(Region.of([(0, 1), (0, 2)]), 1.0, np.array([0.5, 0.7]))
    assert gp.sample(3, np.random.default_rng(seed)).shape == (3, *gp.shape)


def test_refinement_adds_knots():
    region, lengthscale = Region.of((0, 1)), np.array([0.25])
    assert GridGP(region, 1.0, lengthscale, 2.0).shape[0] > GridGP(region, 1.0, lengthscale).shape[0]


def test_what_does_not_fit():
    with pytest.raises(StatementError, match=r"lengthscale=1e-05 .* must be at least"):
        GridGP(Region.of((0, 1)), 1.0, np.array([1e-5]))
    with pytest.raises(StatementError, match=r"region=.* has 4 dimensions.*must be 1, 2 or 3"):
        GridGP(Region.of([(0, 1)] * 4), 1.0, np.ones(4))


def test_lengthscale_vector():
    np.testing.assert_array_equal(lengthscale_vector("l", 2.0, 3), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(lengthscale_vector("l", [1.0, 2.0], 2), [1.0, 2.0])
    for bad in ([1.0, 2.0], -1.0, [[1.0]], "a"):
        with pytest.raises(StatementError, match="l="):
            lengthscale_vector("l", bad, 3)
