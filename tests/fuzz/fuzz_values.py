"""Values that users hand over, by mistake or on purpose: plain ones, odd ones and hostile ones.

`mostly(good, bad)` takes the bad one now and then, so that most cases get past the first check and something deep is
reached with one thing wrong.
"""

import datetime
import math

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse
from hypothesis import strategies as st

from porbnet import Gamma, InverseGamma, LogNormal
from porbnet.intensity import Constant, FromFunction, Piecewise, SigmoidGP, Tabulated, UnknownConstant
from porbnet.likelihood import Censored, Gaussian, Logistic, NegativeBinomial, Poisson, RobustNoise, VaryingNoise


def mostly(good, bad=None, odds=12):
    """`good`, and once in `odds` times something else."""
    bad = junk if bad is None else bad
    return st.integers(1, odds).flatmap(lambda k: bad if k == odds else good)


class Awkward:
    """An object whose every conversion fails."""

    def __repr__(self):
        return "<script>alert(1)</script>"

    def __float__(self):
        raise RuntimeError("no float")

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


junk = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=8),
    st.binary(max_size=4),
    st.sampled_from([0, -1, 0.0, -1.0, math.nan, math.inf, -math.inf, 5e-324, 1e-300, 1e300, 1e308, 10**400, 1j]),
    st.sampled_from([[], (), {}, {"a": 1}, [None], ["a"], [1.0, None], [[1.0], [1.0, 2.0]], [[[1.0]]], ..., type]),
    st.builds(object),
    st.builds(Awkward),
    st.just(datetime.date(2024, 1, 1)),
    st.just(datetime.timedelta(days=1)),
    st.just(np.datetime64("NaT")),
    st.sampled_from(
        [np.array([]), np.array("a"), np.zeros((2, 2, 2)), np.array([np.nan]), np.ma.masked, np.float16(1)]
    ),
    st.just(pd.NA),
)
numbers = st.one_of(st.floats(1e-3, 1e3), st.sampled_from([1, 2, 0.5, np.float32(0.3), np.array(2.0)]))
wild = st.one_of(
    st.floats(allow_nan=True, allow_infinity=True),
    st.integers(),
    st.floats(-60, 60).map(lambda e: 10.0**e),
)
positive = mostly(numbers, st.one_of(junk, wild))
signed = mostly(st.one_of(st.just(0.0), numbers, numbers.map(lambda v: -v)), st.one_of(junk, wild))
counts = mostly(st.integers(1, 5), st.one_of(junk, st.sampled_from([0, -3, 2.0, 1.5, np.int64(2), 10**30])))
seeds = mostly(st.integers(0, 2**40), st.one_of(junk, st.builds(np.random.default_rng, st.just(0))), 12)
shares = mostly(st.floats(0.01, 0.99), st.one_of(junk, wild))


# --- arrays ---------------------------------------------------------------------------------------------------------


def matrix(seed, n, d, kind, scale, shift):
    """Numbers of a kind, shape (n, d)."""
    rng = np.random.default_rng(seed)
    values = {
        "uniform": lambda: rng.uniform(size=(n, d)),
        "normal": lambda: rng.standard_normal((n, d)),
        "constant": lambda: np.ones((n, d)),
        "few": lambda: rng.integers(0, 3, (n, d)).astype(float),
        "cauchy": lambda: rng.standard_cauchy((n, d)),
        "grid": lambda: np.linspace(0.0, 1.0, n)[:, None] + np.zeros((n, d)),
    }[kind]()
    return values * scale + shift


KINDS = ("uniform", "normal", "constant", "few", "cauchy", "grid")
exponents = mostly(st.integers(-3, 3), st.integers(-40, 40), 5).map(lambda e: 10.0**e)
shifts = mostly(st.just(0.0), st.sampled_from([1.0, -1e6, 1e12, 1e30]), 5)


def inputs(d=None, n=None):
    """Plain inputs of shape (n, d), of all sizes."""
    return st.builds(
        matrix,
        st.integers(0, 10**6),
        st.integers(2, 12) if n is None else st.just(n),
        mostly(st.just(1), st.integers(1, 3), 3) if d is None else st.just(d),
        st.sampled_from(KINDS),
        exponents,
        shifts,
    )


def spoiled(array, place, value):
    """The array with one entry replaced, if it can hold it."""
    numeric = np.asarray(array).dtype.kind in "fiu" and not isinstance(value, str | None.__class__)
    array = np.array(array, dtype=float if numeric else object)
    if array.size:
        array.flat[place % array.size] = value
    return array


def as_container(array, kind):
    """The same numbers in something else."""
    array = np.asarray(array)
    if array.dtype.kind == "U" and kind not in ("list", "pandas", "polars", "reversed", "empty", "one row", "deeper"):
        return array  # words have no arithmetic
    flat = array.ndim == 1
    makers = {
        "list": lambda: array.tolist(),
        "pandas": lambda: (
            pd.Series(array) if flat else pd.DataFrame(array, columns=[f"c{i}" for i in range(array.shape[1])])
        ),
        "polars": lambda: (
            pl.Series("s", array) if flat else pl.DataFrame(array, [f"c{i}" for i in range(array.shape[1])])
        ),
        "float32": lambda: array.astype(np.float32),
        "int": lambda: array.astype(np.int64),
        "bool": lambda: array > np.mean(array),
        "complex": lambda: array + 0j,
        "object": lambda: array.astype(object),
        "text": lambda: array.astype(str),
        "fortran": lambda: np.asfortranarray(array),
        "reversed": lambda: array[::-1],
        "masked": lambda: np.ma.masked_array(array, array > array.mean()),
        "sparse": lambda: scipy.sparse.csr_array(np.atleast_2d(array)),
        "dates": lambda: (np.datetime64("2024-01-01") + np.arange(array.size)).reshape(array.shape),
        "category": lambda: pd.Series(array.ravel()).astype("category"),
        "flat": lambda: array.ravel(),
        "deeper": lambda: array[None],
        "empty": lambda: array[:0],
        "one row": lambda: array[:1],
        "read only": lambda: _read_only(array),
        "duplicate names": lambda: pd.DataFrame(np.atleast_2d(array), columns=["c"] * np.atleast_2d(array).shape[1]),
        "float64[pyarrow]": lambda: pd.DataFrame(np.atleast_2d(array)).convert_dtypes(),
    }
    with np.errstate(all="ignore"):
        return makers[kind]()


def _read_only(array):
    array = np.array(array)
    array.flags.writeable = False
    return array


CONTAINERS = (
    "list",
    "pandas",
    "polars",
    "float32",
    "int",
    "bool",
    "complex",
    "object",
    "text",
    "fortran",
    "reversed",
    "masked",
    "sparse",
    "dates",
    "category",
    "flat",
    "deeper",
    "empty",
    "one row",
    "read only",
    "duplicate names",
    "float64[pyarrow]",
)
SPOILS = (math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, 1e51, "a", None, "<b>&", "")


def handed_over(arrays):
    """An array as it is, in another container, with a bad entry, or something else altogether."""
    spoilt = st.builds(spoiled, arrays, st.integers(0, 1000), st.sampled_from(SPOILS))
    other = st.builds(as_container, arrays, st.sampled_from(CONTAINERS))
    return mostly(arrays, st.one_of(spoilt, other, junk), 4)


# --- parts of statements --------------------------------------------------------------------------------------------

laws = mostly(
    st.one_of(
        st.builds(LogNormal, st.floats(1e-2, 1e2), st.floats(1.05, 5.0)),
        st.builds(InverseGamma, st.floats(0.5, 10.0), st.floats(0.1, 10.0)),
        st.builds(Gamma, st.floats(0.5, 10.0), st.floats(0.1, 10.0)),
    ),
    odds=10,
)
intensities = st.one_of(
    st.builds(Constant, st.floats(0.5, 20.0)),
    st.builds(UnknownConstant, st.floats(0.5, 5.0), st.floats(0.1, 5.0)),
    st.builds(SigmoidGP, st.floats(1.0, 20.0), st.floats(0.1, 4.0), st.floats(0.2, 2.0)),
    st.builds(lambda b, v: Piecewise([b], [v, 2.0 * v]), st.floats(-1.0, 2.0), st.floats(0.5, 10.0)),
    st.builds(lambda a: FromFunction(lambda X: 2.0 + np.sin(a * X[:, 0])), st.floats(0.0, 9.0)),
    st.builds(lambda v: Tabulated((-1.0, 2.0), [v, 2.0 * v, v]), st.floats(0.5, 9.0)),
    st.sampled_from(
        [FromFunction(lambda X: X[:, 0]), FromFunction(lambda X: np.full(len(X), np.nan)), FromFunction(lambda X: "a")]
    ),
)
likelihoods = st.one_of(
    st.builds(Gaussian, st.floats(0.01, 2.0)),
    st.builds(VaryingNoise, st.floats(0.01, 2.0), st.floats(0.1, 2.0), st.floats(0.1, 2.0)),
    st.builds(RobustNoise, st.floats(0.01, 2.0), st.floats(0.5, 9.0)),
    st.builds(Censored, st.floats(0.01, 2.0)),
    st.builds(Logistic, st.floats(-3.0, 3.0)),
    st.builds(NegativeBinomial, st.floats(0.5, 9.0), st.floats(-3.0, 3.0)),
    st.builds(Poisson, st.floats(-3.0, 3.0)),
)


def box(d):
    """A region of so many dimensions around [0, 1]."""
    return [(-1.0, 2.0)] * d if d > 1 else (-1.0, 2.0)


regions = mostly(
    st.integers(1, 3).map(box),
    st.one_of(
        junk,
        st.tuples(wild, wild),
        st.lists(st.tuples(wild, wild), max_size=3),
        st.sampled_from([(1.0, 1.0), (2.0, 1.0), (0.0, 1e-300), (-1e300, 1e300), (0, 1, 2), [(0, 1)] * 30, "auto"]),
    ),
    12,
)
lengthscales = mostly(
    st.one_of(st.floats(0.4, 3.0), intensities, st.lists(st.floats(0.4, 3.0), min_size=1, max_size=3)),
    st.one_of(junk, wild, st.sampled_from([lambda X: X[:, 0], lambda X: None, lambda: 1.0, Constant, np.sin])),
)
