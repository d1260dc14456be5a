"""Validation: what passes, and what the message says when it does not."""

from fractions import Fraction

import numpy as np
import pytest

from porbnet.base import checks as _checks
from porbnet.errors import StatementError


@pytest.mark.parametrize("value", [1, 2.5, np.float32(3), np.int64(4), np.array(5.0), Fraction(1, 3), 1e-40])
def test_positive_passes(value):
    assert _checks.positive("name", value) == float(value)


@pytest.mark.parametrize(
    "value", [0, -1, np.nan, np.inf, -np.inf, "1", None, True, np.True_, 1j, [1.0], np.ones(1), 10**400, 1e300, 1e-300]
)
def test_positive_fails_and_says_why(value):
    with pytest.raises(StatementError, match=r"^name=.* is not allowed: it must be a finite number greater than 0"):
        _checks.positive("name", value)


def test_zero_is_allowed_where_inclusive():
    assert _checks.number("bias", 0, inclusive=True) == 0.0
    with pytest.raises(StatementError, match="at least 0"):
        _checks.number("bias", -1e-3, inclusive=True)


def test_a_number_without_minimum_may_be_negative():
    assert _checks.number("level", -3, minimum=-np.inf) == -3.0
    with pytest.raises(StatementError, match=r"it must be a finite number$"):
        _checks.number("level", np.nan, minimum=-np.inf)


@pytest.mark.parametrize("value", [0, -3, 1.0, True, "2", None, np.nan])
def test_count_fails(value):
    with pytest.raises(StatementError, match="whole number of at least 1"):
        _checks.count("n", value)


def test_count_passes():
    assert _checks.count("n", np.int32(7)) == 7


def test_choice():
    assert _checks.choice("method", "a", ("a", "b")) == "a"
    for bad in ("c", None, 3, ["a"]):
        with pytest.raises(StatementError, match="it must be one of 'a', 'b'"):
            _checks.choice("method", bad, ("a", "b"))


@pytest.mark.parametrize("value", [[[1, 2], [3]], "ab", [None], [True], [1j], [np.nan], [np.inf], {1, 2}, [1e60]])
def test_real_array_fails(value):
    with pytest.raises(StatementError, match=r"X=.* is not allowed: it must be numbers"):
        _checks.real_array("X", value, "it must be numbers")


def test_points_takes_a_flat_array_only_in_one_dimension():
    assert _checks.points("X", [1, 2, 3], 1).shape == (3, 1)
    assert _checks.points("X", 1.0, 1).shape == (1, 1)
    assert _checks.points("X", np.empty(0), 1).shape == (0, 1)
    assert _checks.points("X", np.ones((4, 2)), 2).flags.c_contiguous
    for bad, n_dims in (([1.0, 2.0], 2), (np.ones((2, 2)), 1), (np.ones((2, 2, 1)), 1), (1.0, 2)):
        with pytest.raises(StatementError, match="X has shape"):
            _checks.points("X", bad, n_dims)


def test_long_values_are_cut():
    assert len(_checks.show("x" * 1000)) == 80
