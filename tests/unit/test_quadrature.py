"""Gauss-Legendre rules on boxes."""

import numpy as np
import pytest

from porbnet.base.region import Region
from porbnet.errors import PorbnetWarning
from porbnet.functions import quadrature


def test_panel_rule_is_exact_for_polynomials():
    nodes, weights = quadrature.panel_rule(-1.0, 2.0, 3, np.array([0.3, 5.0]))
    assert weights.sum() == pytest.approx(3.0, rel=1e-14)
    assert weights @ nodes**15 == pytest.approx((2.0**16 - 1.0) / 16.0, rel=1e-13)


def test_breaks_make_steps_exact():
    nodes, weights = quadrature.panel_rule(0.0, 1.0, 4, np.array([0.3]))
    assert weights @ (nodes < 0.3) == pytest.approx(0.3, rel=1e-14)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_box_rule(n_dims):
    region = Region.of([(0.0, 1.0 + d) for d in range(n_dims)])
    nodes, weights = quadrature.box_rule(region, [2] * n_dims)
    assert weights.sum() == pytest.approx(region.volume, rel=1e-13)
    expected = np.prod([(1.0 + d) ** (d + 2) / (d + 2) for d in range(n_dims)])
    powers = np.prod([nodes[:, d] ** (d + 1) for d in range(n_dims)], axis=0)
    assert weights @ powers == pytest.approx(expected, rel=1e-12)


def test_integrate_settles():
    value = quadrature.integrate(lambda X: np.exp(-200.0 * (X[:, 0] - 0.31) ** 2), Region.of((0.0, 1.0)))
    assert value == pytest.approx(np.sqrt(np.pi / 200.0), rel=1e-8)


def test_integrate_says_when_it_does_not_settle():
    region = Region.of([(0.0, 1.0), (0.0, 1.0)])
    with pytest.warns(PorbnetWarning, match="settled only to"):
        value = quadrature.integrate(lambda X: 1.0 + (X.sum(axis=1) > 0.7123), region)
    assert value == pytest.approx(2.0 - 0.7123**2 / 2.0, rel=1e-3)


def test_grid_points_include_the_corners():
    points = quadrature.grid_points(Region.of([(0, 1), (2, 4)]), 3)
    assert points.shape == (9, 2)
    assert {(0.0, 2.0), (1.0, 4.0), (0.5, 3.0)} <= set(map(tuple, points))
