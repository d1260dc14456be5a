"""Regions: what they accept, and their geometry."""

import numpy as np
import pytest

from porbnet.base.region import Region
from porbnet.errors import StatementError


def test_one_dimension():
    region = Region.of((-1, 3))
    assert region.n_dims == 1 and region.volume == 4.0
    assert Region.of(region) is region
    assert Region.of([[-1.0, 3.0]]) == region and hash(Region.of([-1, 3])) == hash(region)
    assert region != Region.of((-1, 4))


def test_three_dimensions(seed):
    region = Region.of([(0, 1), (-2, 2), (5, 5.5)])
    assert region.volume == 2.0
    np.testing.assert_array_equal(region.widths, [1.0, 4.0, 0.5])
    draws = region.uniform(1000, np.random.default_rng(seed))
    assert draws.shape == (1000, 3) and region.contains(draws).all()
    np.testing.assert_array_equal(region.contains(np.array([[0, -2, 5], [0, -2.1, 5.0]])), [True, False])


@pytest.mark.parametrize(
    "bad",
    [
        (1, 0),
        (0, 0),
        (0, np.nan),
        (0, np.inf),
        (0, 1, 2),
        [],
        5.0,
        None,
        "ab",
        [(0, 1), (3, 2)],
        [(0, 1), (0,)],
        [[(0, 1)]],
        (False, True),
        (0, 1j),
        (-1e308, 1e308),
        (0, 1e-80),
        np.empty((0, 2)),
    ],
)
def test_bad_regions(bad):
    with pytest.raises(StatementError, match=r"region=.* is not allowed: it must be \(low, high\)"):
        Region.of(bad)


def test_dimensions_must_match():
    with pytest.raises(StatementError, match="must have the same number of dimensions"):
        Region.of((0, 1)).require_dims(2, "thing")
