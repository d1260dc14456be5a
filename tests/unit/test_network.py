"""The evaluator against the formula, by both of its ways, and its gradient against finite differences."""

import numpy as np
import pytest

from porbnet import Network, Networks
from porbnet.errors import StatementError
from porbnet.functions.network import Places
from porbnet.functions.network_grid import grid_plan
from porbnet.functions.network_kernels import REACH


def formula(networks, X):
    """f(x) = b + Σ_k w_k exp(-½ s_k² Σ_d (x_d - c_kd)² / r_d²), plainly and in extended precision."""
    rows = []
    for network in networks:
        u = X[:, None, :].astype(np.longdouble) / networks.anisotropy
        c = network.centers[None, :, :].astype(np.longdouble) / networks.anisotropy
        units = np.exp(-0.5 * network.scales**2 * ((u - c) ** 2).sum(axis=2))
        rows.append(network.bias + units @ network.weights)
    return np.array(rows, dtype=np.float64)


def random_networks(rng, n_dims, counts, *, common_scale=None, anisotropy=None):
    total = int(np.sum(counts))
    return Networks(
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        rng.uniform(-1.0, 2.0, (total, n_dims)),
        rng.uniform(0.5, 20.0, total) if common_scale is None else np.full(total, common_scale),
        rng.standard_normal(total),
        rng.standard_normal(len(counts)),
        np.ones(n_dims) if anisotropy is None else np.asarray(anisotropy),
        common_scale,
    )


COUNTS = [7, 0, 31, 1, 0, 12]


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize("stretched", [False, True])
def test_ragged_networks_at_unsorted_points(n_dims, stretched, seed):
    rng = np.random.default_rng(seed)
    anisotropy = np.array([0.4, 1.6, 2.5])[:n_dims] if stretched else None
    networks = random_networks(rng, n_dims, COUNTS, anisotropy=anisotropy)
    X = rng.uniform(-2.0, 3.0, (41, n_dims))
    np.testing.assert_allclose(networks(X), formula(networks, X), atol=1e-14 * 10.0)
    assert networks.n_units.tolist() == COUNTS


@pytest.mark.parametrize("common_scale", [0.3, 4.0, 23.57, 35.0])
def test_the_grid_gives_the_same_values(common_scale, seed):
    """Units of one scale at many points go through a grid; unsorted points, clusters and far units included."""
    rng = np.random.default_rng(seed)
    networks = random_networks(rng, 1, [50, 0, 300, 1], common_scale=common_scale)
    X = np.concatenate([rng.uniform(0.0, 1.0, 180), np.full(5, 0.5), rng.normal(0.3, 1e-4, 30)])[:, None]
    assert Places(X, networks.anisotropy, common_scale).plan is not None
    error = np.abs(networks(X) - formula(networks, X)) / np.sqrt(np.maximum(networks.n_units, 1))[:, None]
    assert error.max() < 1e-14  # relative to the size of a weight, as errors of units add up like their square root


def test_the_grid_is_used_only_where_it_pays():
    few, many = np.linspace(0.0, 1.0, 20), np.linspace(0.0, 1.0, 400)
    assert grid_plan(many, 20.0) is not None
    assert grid_plan(few, 20.0) is None
    assert grid_plan(many, 5000.0) is None
    assert grid_plan(np.empty(0), 1.0) is None


def test_the_grid_far_from_the_origin(seed):
    rng = np.random.default_rng(seed)
    networks = random_networks(rng, 1, [40, 40], common_scale=10.0)
    shifted = Networks(
        networks.offsets,
        networks.centers + 4096.0,
        networks.scales,
        networks.weights,
        networks.biases,
        np.ones(1),
        10.0,
    )
    X = np.linspace(4096.0, 4097.0, 200)[:, None]
    np.testing.assert_allclose(shifted(X), formula(shifted, X), atol=1e-11)


def test_beyond_reach_a_unit_is_below_rounding():
    assert np.exp(-0.5 * REACH**2) < 2.3e-16


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_gradient_against_finite_differences(n_dims, seed):
    rng = np.random.default_rng(seed)
    networks = random_networks(rng, n_dims, COUNTS, anisotropy=np.array([0.8, 1.1, 1.6])[:n_dims])
    X = rng.uniform(-1.5, 2.5, (23, n_dims))
    gradient = networks.gradient(X)
    assert gradient.shape == (len(COUNTS), 23, n_dims)
    step = 1e-6
    for d in range(n_dims):
        ahead, behind = X.copy(), X.copy()
        ahead[:, d] += step
        behind[:, d] -= step
        slope = (networks(ahead) - networks(behind)) / (2.0 * step)
        np.testing.assert_allclose(gradient[:, :, d], slope, atol=2e-6)


def test_no_units_at_all():
    networks = random_networks(np.random.default_rng(0), 2, [0, 0])
    X = np.ones((3, 2))
    np.testing.assert_array_equal(networks(X), np.repeat(networks.biases[:, None], 3, axis=1))
    np.testing.assert_array_equal(networks.gradient(X), np.zeros((2, 3, 2)))


def test_no_points_and_no_networks():
    networks = random_networks(np.random.default_rng(0), 1, [3, 2])
    assert networks(np.empty(0)).shape == (2, 0)
    assert networks.gradient(np.empty(0)).shape == (2, 0, 1)
    assert networks[1:1](np.ones(4)).shape == (0, 4)


def test_indexing_and_slicing(seed):
    rng = np.random.default_rng(seed)
    networks = random_networks(rng, 2, COUNTS)
    X = rng.uniform(-1.0, 2.0, (9, 2))
    values = networks(X)
    assert len(networks) == len(list(networks)) == 6
    np.testing.assert_array_equal(networks[2](X), values[2])
    np.testing.assert_array_equal(networks[-1](X), values[-1])
    np.testing.assert_array_equal(networks[1:4](X), values[1:4])
    np.testing.assert_array_equal(networks[::-2](X), values[::-2])
    np.testing.assert_array_equal(networks[2].gradient(X), networks.gradient(X)[2])
    np.testing.assert_array_equal(Networks.of(list(networks))(X), values)
    assert networks[2].n_units == 31
    with pytest.raises(IndexError):
        networks[6]


def test_one_network_of_many_has_the_same_bits_through_the_grid(seed):
    networks = random_networks(np.random.default_rng(seed), 1, [30, 5, 60], common_scale=8.0)
    X = np.linspace(0.0, 1.0, 200)
    np.testing.assert_array_equal(networks[2](X), networks(X)[2])
    np.testing.assert_array_equal(networks[1:](X), networks(X)[1:])


def test_a_bump_by_hand():
    bump = Network(np.array([[1.0]]), np.array([2.0]), np.array([3.0]), 0.5, np.ones(1))
    np.testing.assert_allclose(bump([1.0, 1.5, 100.0]), [3.5, 0.5 + 3.0 * np.exp(-0.5), 0.5], rtol=1e-15)
    np.testing.assert_allclose(bump.gradient([1.5]), [[-3.0 * 4.0 * 0.5 * np.exp(-0.5)]], rtol=1e-15)


def test_bad_points():
    networks = random_networks(np.random.default_rng(0), 2, [3])
    for bad in (np.ones(3), np.ones((3, 1)), [[np.nan, 1.0]], "ab"):
        with pytest.raises(StatementError, match="X"):
            networks(bad)
    with pytest.raises(StatementError, match="networks="):
        Networks.of([])
