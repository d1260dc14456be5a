"""Chebyshev interpolation, and cells that are short beside the units near them."""

import numpy as np
import pytest

from porbnet.posterior import cells
from porbnet.posterior.cells import LONGEST, N_NODES, Layout, layout, tail, through_cells
from porbnet.posterior.chebyshev import box_nodes, coefficients, interpolate, interpolation_matrix, nodes


def uniform(n, n_dims, seed, low=0.0, high=1.0):
    return np.random.default_rng(seed).uniform(low, high, size=(n, n_dims))


@pytest.mark.parametrize("n", [1, 2, 7, 24])
def test_polynomials_below_the_number_of_nodes_are_exact(n, seed):
    t = np.r_[uniform(50, 1, seed, -1.0)[:, 0], nodes(n), -1.0, 1.0]
    polynomial = np.polynomial.Chebyshev(np.random.default_rng(seed).standard_normal(n))
    np.testing.assert_allclose(interpolation_matrix(t, n) @ polynomial(nodes(n)), polynomial(t), atol=1e-12)
    np.testing.assert_allclose(coefficients(n) @ polynomial(nodes(n)), polynomial.coef, atol=1e-12)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize("n_functions", [2, 9])  # one by one, and all at once
def test_interpolation_on_boxes(n_dims, n_functions, seed):
    low, high = np.array([0.3, -2.0, 5.0])[:n_dims], np.array([0.5, 1.0, 5.1])[:n_dims]
    slopes = np.random.default_rng(seed).standard_normal((n_functions, n_dims))
    points = low + (high - low) * uniform(40, n_dims, seed)

    def functions(X):
        return np.prod((slopes[:, None, :] * (X - low) + 1.0) ** 3, axis=2)

    found = interpolate(functions(box_nodes(low, high, 5)), low, high, points, 5)
    np.testing.assert_allclose(found, functions(points), rtol=1e-9, atol=1e-9)


def test_a_box_without_width(seed):
    low = high = np.array([0.4, 0.2])
    found = interpolate(np.full((1, 16), 3.0), low, high, np.tile(low, (5, 1)), 4)
    np.testing.assert_allclose(found, 3.0)


@pytest.mark.parametrize("n_dims", [1, 2])
def test_every_point_has_one_place_and_cells_are_short_beside_the_units_near_them(n_dims, seed):
    points = uniform(60_000, n_dims, seed, -0.5, 1.5)
    points[:50] = uniform(50, n_dims, seed, 3.0, 4.0)  # far away, too few for a cell
    centers, scales = uniform(30, n_dims, seed + 1), np.geomspace(2.0, 80.0 if n_dims == 1 else 15.0, 30)
    scales[centers[:, 0] < 0.5] = 2.0
    found = layout(points, centers, scales, 2.0)
    rows = np.sort(np.concatenate([found.rest, *[c.rows for c in found.cells]]))
    np.testing.assert_array_equal(rows, np.arange(len(points)))
    edges = []
    for cell in found.cells:
        inside = found.points[cell.rows]
        assert np.all((inside >= cell.low) & (inside <= cell.high)) and len(inside) >= 2 * N_NODES**n_dims
        nearest = np.clip(centers, cell.low, cell.high)
        near = np.linalg.norm(nearest - centers, axis=1) * scales < 6.5
        edges.append(np.max(cell.high - cell.low))
        assert edges[-1] * np.max(scales, where=near, initial=0.0) <= LONGEST
    assert n_dims == 2 or max(edges) > 3.0 * min(edges)  # long where units are broad


def test_few_points_or_no_units_make_no_cells(seed):
    assert not layout(uniform(40, 1, seed), np.zeros((1, 1)), np.ones(1), 2.0).cells
    assert not layout(uniform(4000, 1, seed), np.empty((0, 1)), np.empty(0), 2.0).cells
    assert layout(np.full((4000, 1), 0.3), np.zeros((1, 1)), np.ones(1), 2.0).cells


def test_functions_that_are_rough_somewhere_are_halved_there_or_computed(seed):
    """A kink at 0.3, where only computing helps; a hump at 0.8 that is smooth in shorter cells."""
    points = uniform(30_000, 1, seed)
    asked = []

    def compute(X):
        asked.append(len(X))
        return np.abs(X.T - 0.3) + np.exp(-200.0 * (X.T - 0.8) ** 2)

    def is_smooth(values):
        return bool(np.all(tail(values, 1) < 1e-11))

    found = layout(points, np.array([[0.5]]), np.array([2.0]), 2.0)
    got = through_cells(found, 1, compute, is_smooth)
    assert sum(asked) < 8000
    np.testing.assert_allclose(got, compute(points), atol=1e-9)
    unchecked = through_cells(found, 1, compute)  # without the check it would not do
    assert np.max(np.abs(unchecked - compute(points))) > 1e-4


def test_points_of_no_cell_are_computed_as_they_are(seed):
    points = uniform(10, 2, seed)
    got = through_cells(Layout(points, [], np.arange(10)), 1, lambda X: X.sum(axis=1)[None])
    np.testing.assert_array_equal(got[0], points.sum(axis=1))


def test_the_matrix_of_interpolation_stays_small(monkeypatch, seed):
    points = uniform(5000, 1, seed)
    found = layout(points, np.array([[0.5]]), np.array([2.0]), 2.0)
    whole = through_cells(found, 1, lambda X: np.sin(X.T))
    monkeypatch.setattr(cells, "_MOST_NUMBERS", 10 * N_NODES)
    np.testing.assert_allclose(through_cells(found, 1, lambda X: np.sin(X.T)), whole, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(whole[0], np.sin(points[:, 0]), atol=1e-12)
