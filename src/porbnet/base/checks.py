"""Validation of user input: one function per kind, one style of message.

Every message names the parameter, shows the value and says what is allowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.errors import StatementError

FloatArray = NDArray[np.float64]

LARGEST = 1e50  # beyond it, and below its inverse, squares and volumes would leave the range of doubles
MOST = 10**12  # of a count


def show(value: Any, limit: int = 80) -> str:
    """Short text of a value for a message."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= limit else text[: limit - 3] + "..."


def fail(name: str, value: Any, allowed: str) -> StatementError:
    """The error for a parameter `name` with a `value` that is not allowed."""
    return StatementError(f"{name}={show(value)} is not allowed: {allowed}")


def number(name: str, value: Any, *, minimum: float = 0.0, inclusive: bool = False, largest: float = LARGEST) -> float:
    """A finite real number above `minimum` (or equal to it, if `inclusive`), and within reason."""
    bound = "" if minimum == -np.inf else f" {'at least' if inclusive else 'greater than'} {minimum:g}"
    allowed = f"it must be a finite number{bound}"
    array = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype.kind in "iuf"
    if isinstance(value, bool | np.bool_) or not (isinstance(value, Real) or array):
        raise fail(name, value, allowed)
    try:
        result = float(value)
    except OverflowError:
        raise fail(name, value, allowed) from None
    if not np.isfinite(result) or result < minimum or (result == minimum and not inclusive):
        raise fail(name, value, allowed)
    if abs(result) > largest or (minimum == 0 and 0 < result < 1.0 / largest):
        raise fail(name, value, f"{allowed} (and between {1.0 / largest:g} and {largest:g} in magnitude)")
    return result


def positive(name: str, value: Any) -> float:
    """A finite number above zero."""
    return number(name, value)


def count(name: str, value: Any, *, minimum: int = 1) -> int:
    """A whole number of at least `minimum`."""
    if isinstance(value, bool | np.bool_) or not isinstance(value, Integral) or value < minimum:
        raise fail(name, value, f"it must be a whole number of at least {minimum}")
    if int(value) > MOST:
        raise fail(name, value, f"it must be a whole number of at least {minimum} (and {MOST:.0e} at most)")
    return int(value)


def choice(name: str, value: Any, options: Sequence[str]) -> str:
    """One of a few words."""
    if not isinstance(value, str) or value not in options:
        raise fail(name, value, "it must be one of " + ", ".join(repr(o) for o in options))
    return value


def real_array(name: str, value: Any, allowed: str) -> FloatArray:
    """An array of finite real numbers of any shape."""
    try:
        array = np.asarray(value)
    except Exception:  # whatever an object says when it is asked to be an array
        raise fail(name, value, allowed) from None
    if array.dtype.kind not in "iuf" or not np.all(np.isfinite(array)):
        raise fail(name, value, allowed)
    with np.errstate(over="ignore"):  # of numbers that only wider types hold
        array = array.astype(np.float64)
    if array.size and np.abs(array).max() > LARGEST:
        raise fail(name, value, f"{allowed} (and none above {LARGEST:g} in magnitude)")
    return array


def positive_array(name: str, value: Any, allowed: str) -> FloatArray:
    """An array of positive finite numbers of any shape."""
    array = real_array(name, value, allowed)
    if np.any(array <= 0):
        raise fail(name, value, allowed)
    if np.any(array < 1.0 / LARGEST):
        raise fail(name, value, f"{allowed} (and none below {1.0 / LARGEST:g})")
    return array


def points(name: str, value: Any, n_dims: int) -> FloatArray:
    """Input points as an array of shape (n_points, n_dims); in one dimension (n_points,) will do."""
    shapes = f"(n_points, {n_dims})" + (" or (n_points,)" if n_dims == 1 else "")
    allowed = f"it must be an array of finite numbers of shape {shapes}"
    array = real_array(name, value, allowed)
    if array.ndim == 0 and n_dims == 1:
        array = array.reshape(1, 1)
    if array.ndim == 1 and n_dims == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] != n_dims:
        raise StatementError(f"{name} has shape {np.shape(value)}: {allowed}")
    return np.ascontiguousarray(array)
