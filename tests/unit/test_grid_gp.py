"""The Gaussian process on a grid has the covariance of its kernel."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from porbnet import LogNormal, Prior
from porbnet.base.compiled import kernel
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.functions.grid_gp import GridGP, lengthscale_vector
from porbnet.intensity import SigmoidGP
from porbnet.kernels.curves import curve_record
from porbnet.kernels.process import expand
from porbnet.sampling.problem import Problem


@kernel
def expanded(curve, z):
    """Set a curve's table from whitened coefficients."""
    expand(curve, z, curve.table)


def implied_covariance(gp):
    """Covariance of the knots that the coefficients imply."""
    knots = gp.expand(np.eye(gp.n_coefficients)).reshape(gp.n_coefficients, -1)
    return knots.T @ knots


def covariance(gp, lengthscales):
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
    np.testing.assert_allclose(implied_covariance(gp), covariance(gp, np.array(lengthscales)), atol=1e-6 * 5.0)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_covariance_of_every_lengthscale(n_dims):
    """Unknown variance and lengthscale are two more coefficients; the curve's own give the kernel for every value."""
    region, medians = Region.of([(0.0, 1.0), (0.0, 2.0), (-1.0, 0.0)][:n_dims]), np.array([1.0, 1.6, 1.2])[:n_dims]
    gp = GridGP(region, LogNormal(5.0, 2.0), medians, 1.0, np.log(1.3))
    assert gp.n_unknown == 2 and gp.n_whitened == gp.n_coefficients + 2
    np.testing.assert_allclose(gp.lengthscales, np.multiply.outer(1.3 ** (np.arange(-12, 13) / 5.0), medians))
    for row in (0, 1, 12, 24):
        z = np.concatenate([np.eye(gp.n_coefficients), np.zeros((gp.n_coefficients, 2))], axis=1)
        z[:, -2:] = -0.7, 0.2 * (row - 12) + 0.05
        knots = gp.expand(z).reshape(len(z), -1)
        factor = 2.0**-0.7
        np.testing.assert_allclose(gp.variances(z), 5.0 * factor)
        assert np.all(gp.which_lengthscales(z) == row)
        np.testing.assert_allclose(knots.T @ knots, factor * covariance(gp, gp.lengthscales[row]), atol=1e-6 * 5.0)


def test_lengthscales_beyond_the_last_are_the_last():
    gp = GridGP(Region.of((0.0, 1.0)), 1.0, np.array([0.5]), 1.0, np.log(1.5))
    z = np.zeros((5, gp.n_whitened))
    z[:, -1] = -9.0, -2.31, -2.29, 0.1001, 9.0
    assert gp.n_unknown == 1 and gp.which_lengthscales(z).tolist() == [0, 0, 1, 13, 24]


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_the_sampler_expands_the_same(n_dims, seed):
    curve = SigmoidGP(3.0, LogNormal(2.0, 2.0), [LogNormal(m, 1.3) for m in (1.0, 1.6, 1.2)[:n_dims]])
    prior = Prior(curve, 1.0, region=[(0.0, 1.0), (0.0, 2.0), (-1.0, 0.0)][:n_dims], noise=0.1)
    problem = Problem.of(prior, np.zeros((0, n_dims)), np.zeros(0))
    record = curve_record(problem.components[0].process, problem.scaling)
    process = curve.process(prior.region)
    z = np.random.default_rng(seed).standard_normal((60, process.n_whitened))
    z[:25, -1] = np.linspace(-2.4, 2.4, 25)
    wanted = process.expand(z).reshape(60, -1)
    for row, expected in zip(z, wanted, strict=True):
        expanded(record, row)
        np.testing.assert_allclose(record.table, expected, atol=1e-12)


def test_draws_have_the_shape_of_the_knots(seed):
    gp = GridGP(Region.of([(0, 1), (0, 2)]), 1.0, np.array([0.5, 0.7]))
    assert gp.sample(3, np.random.default_rng(seed)).shape == (3, *gp.shape)


def test_refinement_adds_knots():
    region, lengthscale = Region.of((0, 1)), np.array([0.25])
    assert GridGP(region, 1.0, lengthscale, 2.0).shape[0] > GridGP(region, 1.0, lengthscale).shape[0]


def test_what_does_not_fit():
    with pytest.raises(StatementError, match=r"lengthscale=1e-05 .* must be at least"):
        GridGP(Region.of((0, 1)), 1.0, np.array([1e-5]))
    with pytest.raises(StatementError, match=r"the shortest that its prior allows.* lower the factor"):
        GridGP(Region.of((0, 1)), 1.0, np.array([0.01]), 1.0, np.log(3.0))
    with pytest.raises(StatementError, match=r"region=.* has 4 dimensions.*must be 1, 2 or 3"):
        GridGP(Region.of([(0, 1)] * 4), 1.0, np.ones(4))


def test_lengthscale_vector():
    np.testing.assert_array_equal(lengthscale_vector("l", 2.0, 3), [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(lengthscale_vector("l", [1.0, 2.0], 2), [1.0, 2.0])
    for bad in ([1.0, 2.0], -1.0, [[1.0]], "a"):
        with pytest.raises(StatementError, match="l="):
            lengthscale_vector("l", bad, 3)


@pytest.mark.parametrize("lengthscale", [0.1, 0.03])
def test_the_basis_does_not_hang_on_the_number_of_cores(lengthscale):
    """To the last bit: draws and predictions are made of it."""
    region = Region(np.zeros(1), np.array([1.3]))
    basis = GridGP(region, 1.0, np.array([lengthscale])).bases[0][0]
    with threadpool_limits(1):
        on_one = GridGP(region, 1.0, np.array([lengthscale])).bases[0][0]
    np.testing.assert_array_equal(basis, on_one)
