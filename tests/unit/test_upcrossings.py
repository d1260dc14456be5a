"""Rice's formula and counts."""

import numpy as np
import pytest
from scipy.integrate import trapezoid

from porbnet import Prior
from porbnet.errors import StatementError
from porbnet.functions.upcrossings import count_upcrossings, rice_rate


def test_counts():
    values = np.array([[-1, 1, -1, 1, 1], [1, -1, -1, -1, 1], [1, 1, 1, 1, 1], [-1, 0, 0, 1, 0]])
    np.testing.assert_array_equal(count_upcrossings(values), [2, 1, 0, 1])
    np.testing.assert_array_equal(count_upcrossings(values, 5.0), [0, 0, 0, 0])


@pytest.mark.parametrize("level", [0.0, 0.7, -1.2])
def test_rice_is_the_integral_over_positive_slopes(level):
    """E[slope⁺ | f = level] times the density of f at the level, by brute force."""
    v, g, q = 1.3, 4.0, -0.9
    mean, sd = level * q / v, np.sqrt(g - q * q / v)
    slopes = np.linspace(0.0, mean + 12.0 * sd, 400_001)
    density = np.exp(-0.5 * ((slopes - mean) / sd) ** 2) / (sd * np.sqrt(2.0 * np.pi))
    expected = np.exp(-0.5 * level**2 / v) / np.sqrt(2.0 * np.pi * v) * trapezoid(slopes * density, slopes)
    assert rice_rate(np.array([v]), np.array([g]), np.array([q]), level)[0] == pytest.approx(expected, rel=1e-8)


def test_stationary_formula():
    prior = Prior(lengthscale=0.3, amplitude=2.0, bias=1.0, region=(-5.0, 5.0))
    expected = 2.0 / (2.0 * np.pi * 0.3) * np.sqrt(4.0 / 5.0)
    assert prior.upcrossings((-1.0, 1.0)) == pytest.approx(expected, rel=1e-9)


def test_draws_agree_with_rice_where_units_are_dense(seed):
    """Many units per lengthscale: f is nearly Gaussian. Within 4 standard errors plus a tenth for what is left."""
    prior = Prior(lengthscale=0.5, amplitude=1.0, region=(-3.0, 3.0), units_per_lengthscale=10.0)
    counts = prior.upcrossing_counts((-1.0, 1.0), n=4000, n_points=200, random_state=seed)
    rice = prior.upcrossings((-1.0, 1.0))
    assert abs(counts.mean() - rice) < 4.0 * counts.std() / np.sqrt(len(counts)) + 0.03 * rice
    drawn = prior.upcrossings((-1.0, 1.0), method="draws", n=50, random_state=seed)
    assert drawn == prior.upcrossing_counts((-1.0, 1.0), n=50, random_state=seed).mean()


def test_along_a_dimension():
    prior = Prior(lengthscale=[0.5, 1.0], amplitude=1.0, region=[(-4.0, 4.0), (-6.0, 6.0)])
    along = [prior.upcrossings((-1.0, 1.0), dimension=d, at=[0.0, 0.0]) for d in (0, 1)]
    np.testing.assert_allclose(along, [1.0 / (np.pi * 0.5), 1.0 / np.pi], rtol=1e-6)


def test_far_outside_the_region_as_many_as_within():
    prior = Prior(lengthscale=0.3, amplitude=2.0, region=(0.0, 1.0))
    np.testing.assert_allclose(prior.upcrossings((50.0, 51.0)), prior.upcrossings((0.0, 1.0)), rtol=1e-9)
    np.testing.assert_allclose(prior.upcrossings((50.0, 60.0)), 10.0 / (2.0 * np.pi * 0.3), rtol=1e-6)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"interval": (1.0, 0.0)}, "interval"),
        ({"interval": [(0.0, 1.0), (0.0, 1.0)]}, "interval"),
        ({"interval": (0, 1), "level": np.nan}, "level"),
        ({"interval": (0, 1), "level": "high"}, "level"),
        ({"interval": (0, 1), "dimension": 1}, "dimension"),
        ({"interval": (0, 1), "dimension": 0.0}, "dimension"),
        ({"interval": (0, 1), "method": "guess"}, "method"),
        ({"interval": (0, 1), "method": "draws", "n": 0}, "n="),
        ({"interval": (0, 1), "at": [[1.0], [2.0]]}, "at"),
        ({"interval": (0, 1), "at": [[1.0], [2.0, 3.0]]}, "at"),
    ],
)
def test_bad_arguments(arguments, name):
    prior = Prior(lengthscale=0.3, amplitude=2.0, region=(0.0, 1.0))
    with pytest.raises(StatementError, match=name):
        prior.upcrossings(**arguments)


def test_other_dimensions_must_be_held():
    prior = Prior(lengthscale=0.5, amplitude=2.0, region=[(0.0, 1.0), (0.0, 1.0)])
    with pytest.raises(StatementError, match="at=None"):
        prior.upcrossings((0.0, 1.0))
