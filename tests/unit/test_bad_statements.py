"""Hundreds of bad statements: each is a StatementError that names the parameter and says what is allowed.

Nothing else may escape: no TypeError, no OverflowError, and no NumPy warning (warnings are errors in these tests).
"""

import math
import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from porbnet import Gamma, LogNormal, Prior
from porbnet.errors import StatementError
from porbnet.intensity import Constant, FromFunction, Piecewise, SigmoidGP, Tabulated, UnknownConstant

MANY = settings(
    max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)
SOME = settings(MANY, max_examples=100)

# --- the ingredients -----------------------------------------------------------------------------------------------

not_numbers = st.one_of(
    st.none(),
    st.booleans(),
    st.text(max_size=5),
    st.binary(max_size=3),
    st.complex_numbers(),
    st.just(object()),
    st.just({}),
    st.just({"a": 1}),
    st.just({1.0}),
    st.just(range(0)),
    st.just(...),
    st.just(type),
    st.dates(),
    st.just(np.array([True])),
    st.just(np.array(["a"])),
    st.just(np.datetime64("2020-01-01")),
    st.just(np.array(1j)),
)
never_positive = st.one_of(
    st.floats(max_value=0.0, allow_nan=False),
    st.just(math.nan),
    st.just(math.inf),
    st.just(np.float32("nan")),
    st.just(np.array(-1.0)),
    st.integers(max_value=0),
    st.just(10**400),
    st.floats(min_value=1e101, allow_infinity=False),
    st.floats(min_value=0.0, max_value=1e-101),
)
bad_positive = st.one_of(not_numbers, never_positive, st.lists(st.floats(), max_size=3), st.just(np.ones(1)))
negative = st.one_of(st.floats(max_value=-1e-300), st.integers(max_value=-1), st.just(math.nan), st.just(math.inf))
bad_list = st.one_of(
    not_numbers.filter(lambda v: not isinstance(v, range)),
    st.just([[1.0], [1.0, 2.0]]),
    st.just([1.0, None]),
    st.just([1.0, "a"]),
    st.just([True, False]),
    st.just([1.0, math.nan]),
    st.just([1.0, math.inf]),
    st.just([1.0, 1j]),
    st.just([[[1.0]]]),
)


@st.composite
def bad_region(draw):
    kind = draw(st.sampled_from(["reversed", "flat", "not finite", "shape", "junk"]))
    a, b = sorted([draw(st.floats(-1e3, 1e3)), draw(st.floats(-1e3, 1e3))])
    if kind == "reversed":
        pair = (max(b, a + 1.0), a)
        return draw(st.sampled_from([pair, [(0.0, 1.0), pair], [pair, (0.0, 1.0)], np.array([pair])]))
    if kind == "flat":
        return draw(st.sampled_from([(a, a), [(0.0, 1.0), (a, a)]]))
    if kind == "not finite":
        bad = draw(st.sampled_from([math.nan, math.inf, -math.inf, 1e300]))
        return draw(st.sampled_from([(bad, 1.0), (0.0, bad), [(0.0, 1.0), (bad, 2.0)]]))
    if kind == "shape":
        return draw(st.sampled_from([(), (a,), (a, b, b + 1.0), [[(a, b)]], a, [(0.0, 1.0), (2.0,)], np.empty((0, 2))]))
    return draw(bad_list)


def swing(kind, place):
    """A function of the points that is bad near a place in [0, 1]."""

    def function(X):
        d = np.abs(X[:, 0] - place)
        base = np.ones(len(X))
        return {
            "zero": np.where(d < 0.05, 0.0, base),
            "touches zero": d,
            "negative": np.where(d < 0.05, -2.0, base),
            "dips below zero": d**2 - 1e-7,
            "nan": np.where(d < 0.05, np.nan, base),
            "inf": np.where(d < 0.05, np.inf, base),
            "1/d": 1.0 / d,
            "log": 9.0 - np.log(d),
            "1/sqrt": 1.0 / np.sqrt(d),
            "text": "abc",
            "none": None,
            "complex": base * 1j,
            "bools": base > 0,
            "too many": np.ones(len(X) + 1),
            "pairs": np.ones((len(X), 2)),
            "ragged": [[1.0], [1.0, 2.0]],
        }[kind]

    return function


KINDS = (
    "zero", "touches zero", "negative", "dips below zero", "nan", "inf", "1/d", "log", "1/sqrt",
    "text", "none", "complex", "bools", "too many", "pairs", "ragged",
)  # fmt: skip
bad_functions = st.builds(swing, st.sampled_from(KINDS), st.floats(0.0, 1.0))


def raises_as_promised(make, *names):
    """The statement fails, and the message names one of the parameters, shows something and says what is allowed."""
    with pytest.raises(StatementError) as caught:
        make()
    message = str(caught.value)
    assert any(re.search(rf"\b{name}\b", message) for name in names), message
    assert "must" in message or "allowed" in message, message
    assert re.search(r"=|has shape|\bat \[|near \[|returned|raised|dimension", message), message
    assert len(message) < 700, message


GOOD = {"lengthscale": 0.5, "amplitude": 1.0, "region": (0.0, 1.0)}
PAPER = {"s0": 1.0, "intensity": 5.0, "sigma_w2": 1.0, "sigma_b2": 1.0, "region": (0.0, 1.0)}


# --- the statements ------------------------------------------------------------------------------------------------


@MANY
@given(name=st.sampled_from(["amplitude", "noise", "units_per_lengthscale"]), value=bad_positive)
def test_numbers_of_a_prior(name, value):
    if name == "noise" and value is None:
        return  # not stated, which is allowed
    raises_as_promised(lambda: Prior(**{**GOOD, name: value}), name)


@SOME
@given(value=st.one_of(not_numbers, negative))
def test_bias(value):
    raises_as_promised(lambda: Prior(**GOOD, bias=value), "bias")


@MANY
@given(value=st.one_of(not_numbers.filter(lambda v: not callable(v)), never_positive, bad_list))
def test_lengthscale(value):
    if callable(value):
        return
    raises_as_promised(lambda: Prior(**{**GOOD, "lengthscale": value}), "lengthscale")


@MANY
@given(value=bad_region())
def test_region(value):
    raises_as_promised(lambda: Prior(**{**GOOD, "region": value}), "region")


@MANY
@given(function=bad_functions)
def test_callable_lengthscale(function):
    raises_as_promised(lambda: Prior(**{**GOOD, "lengthscale": function}), "lengthscale")


@MANY
@given(function=bad_functions, n_dims=st.sampled_from([1, 2]))
def test_callable_intensity(function, n_dims):
    region = [(0.0, 1.0)] * n_dims
    raises_as_promised(lambda: Prior(FromFunction(function), 1.0, region=region), "intensity")


@SOME
@given(bound=st.one_of(bad_positive.filter(lambda v: v is not None), st.floats(0.1, 0.99)))
def test_bound_of_a_function(bound):
    raises_as_promised(lambda: Prior(FromFunction(lambda X: 1.0, bound=bound), 1.0, region=(0, 1)), "bound")


@SOME
@given(function=not_numbers.filter(lambda v: not callable(v)))
def test_function_that_cannot_be_called(function):
    raises_as_promised(lambda: FromFunction(function), "function")


@MANY
@given(name=st.sampled_from(["s0", "intensity", "sigma_w2", "noise_variance"]), value=bad_positive)
def test_numbers_of_the_paper(name, value):
    if name == "noise_variance" and value is None:
        return
    raises_as_promised(lambda: Prior.from_paper(**{**PAPER, name: value}), name)


@SOME
@given(value=st.one_of(not_numbers, negative))
def test_bias_of_the_paper(value):
    raises_as_promised(lambda: Prior.from_paper(**{**PAPER, "sigma_b2": value}), "sigma_b2")


@MANY
@given(data=st.data())
def test_numbers_of_intensities_and_distributions(data):
    statements = [
        (Constant, ["level"]),
        (UnknownConstant, ["shape", "rate"]),
        (UnknownConstant.about, ["level", "factor"]),
        (Gamma, ["shape", "rate"]),
        (LogNormal, ["median", "factor"]),
        (lambda **k: SigmoidGP(**{"upper": 1.0, "variance": 1.0, "lengthscale": 1.0, **k}), ["upper", "variance"]),
    ]
    make, names = data.draw(st.sampled_from(statements))
    bad = data.draw(st.sampled_from(names))
    value = data.draw(bad_positive)
    good = {name: 2.0 for name in names}
    raises_as_promised(lambda: make(**{**good, bad: value}), bad)


@SOME
@given(value=st.one_of(bad_list, never_positive, st.just([1.0, -1.0]), st.just([0.0])))
def test_lengthscale_of_the_sigmoid_gp(value):
    raises_as_promised(lambda: SigmoidGP(upper=1.0, variance=1.0, lengthscale=value), "lengthscale")


bad_priors = st.one_of(not_numbers, never_positive, st.just(Gamma(1.0, 1.0)), st.just(LogNormal(1.0, 3.0)))


@SOME
@given(value=bad_priors, first=st.booleans())
def test_priors_of_the_lengthscales_of_the_sigmoid_gp(value, first):
    """One prior with something beside it that is none, or has another factor."""
    pair = [value, LogNormal(1.0, 2.0)] if first else (LogNormal(1.0, 2.0), value)
    raises_as_promised(lambda: SigmoidGP(upper=1.0, variance=1.0, lengthscale=pair), "lengthscale")


@SOME
@given(median=st.floats(1e-3, 1.0), factor=st.floats(1.01, 1e3), n_dims=st.sampled_from([1, 2, 3]))
def test_priors_that_reach_lengthscales_too_short_for_the_region(median, factor, n_dims):
    """Allowed if the shortest has knots enough, refused otherwise; nothing else."""
    shortest = median * factor**-2.4
    most = {1: 2047, 2: 159, 3: 47}[n_dims] / 4.0

    def make():
        Prior(SigmoidGP(1.0, LogNormal(2.0), LogNormal(median, factor)), 1.0, region=[(0.0, 1.0)] * n_dims)

    if shortest * most < 1.0 - 1e-9:
        raises_as_promised(make, "lengthscale")
    elif shortest * most > 1.0 + 1e-9:
        make()


@MANY
@given(data=st.data())
def test_piecewise(data):
    if data.draw(st.booleans()):
        breaks = data.draw(
            st.one_of(bad_list, st.just([0.5, 0.5]), st.just([0.7, 0.2]), st.just([0.0, 0.5]), st.just([0.5, 1.0]))
        )
        raises_as_promised(lambda: Prior(Piecewise(breaks, [1.0, 2.0, 3.0]), 1.0, region=(0, 1)), "breaks")
    else:
        values = data.draw(
            st.one_of(bad_list, never_positive, st.just([1.0]), st.just([1.0, 0.0, 1.0]), st.just([1.0, -2.0, 1.0]))
        )
        raises_as_promised(lambda: Prior(Piecewise([0.3, 0.6], values), 1.0, region=(0, 1)), "values", "breaks")


@SOME
@given(
    values=st.one_of(bad_list, never_positive, st.just([1.0]), st.just([]), st.just([1.0, 0.0]), st.just([-1.0, 1.0]))
)
def test_tabulated(values):
    raises_as_promised(lambda: Tabulated((0.0, 1.0), values), "values")


@SOME
@given(value=st.one_of(bad_list, never_positive, st.just([1.0]), st.just([1.0, 2.0, 3.0]), st.just([1.0, -1.0])))
def test_anisotropy(value):
    if value is None:
        return
    raises_as_promised(
        lambda: Prior(Constant(4.0), 1.0, region=[(0.0, 1.0), (0.0, 1.0)], anisotropy=value), "anisotropy"
    )


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ([0.5] * 4, "lengthscale"),
        (np.ones((2, 2)), "lengthscale"),
        ([], "lengthscale"),
        (Piecewise([[0.5]] * 4, np.ones([2] * 4)), "Piecewise"),
        (SigmoidGP(1.0, 1.0, [1.0] * 4), "lengthscale"),
        (Tabulated([(0, 1)] * 4, np.ones([2] * 4)), "Tabulated"),
    ],
)
def test_wrong_dimension(statement, name, n_dims):
    raises_as_promised(lambda: Prior(statement, 1.0, region=[(0.0, 1.0)] * n_dims), name)


def test_both_ways_of_stating_ratios_at_once():
    raises_as_promised(lambda: Prior([0.5, 0.6], 1.0, region=[(0, 1), (0, 1)], anisotropy=[1.0, 2.0]), "anisotropy")


@MANY
@given(data=st.data())
def test_arguments_of_methods(data):
    prior = Prior([0.5, 0.5], 1.0, region=[(0.0, 1.0), (0.0, 1.0)])
    X = [[0.5, 0.5]]
    bad_points = st.one_of(
        bad_list, st.just([0.5]), st.just(0.5), st.just([[0.5]]), st.just([[math.nan, 0.0]]), st.just(np.ones((2, 3)))
    )
    bad_count = st.one_of(not_numbers, st.integers(max_value=0), st.floats())
    bad_seed = st.one_of(not_numbers.filter(lambda v: v is not None), st.integers(max_value=-1), st.floats())
    calls = [
        (lambda v: prior.sample(v, 1, 0), bad_points, "X"),
        (lambda v: list(prior.sample_chunks(v, 1, 0)), bad_points, "X"),
        (lambda v: prior.covariance(v), bad_points, "X1"),
        (lambda v: prior.covariance(X, v), bad_points.filter(lambda v: v is not None), "X2"),
        (lambda v: prior.variance(v), bad_points, "X"),
        (lambda v: prior.lengthscale_at(v), bad_points, "X"),
        (lambda v: prior.intensity_at(v), bad_points, "X"),
        (lambda v: prior.curvature_lengthscale_at(v), bad_points, "X"),
        (lambda v: prior.check(v), bad_points, "X"),
        (lambda v: prior.sample_networks(1, 0)(v), bad_points, "X"),
        (lambda v: prior.sample_networks(1, 0).gradient(v), bad_points, "X"),
        (lambda v: prior.sample(X, v, 0), bad_count, "n"),
        (lambda v: prior.sample_networks(v, 0), bad_count, "n"),
        (lambda v: prior.sample(X, 1, v), bad_seed, "random_state"),
        (lambda v: prior.sample_networks(1, v), bad_seed, "random_state"),
        (lambda v: prior.upcrossings(v, at=[0.5, 0.5]), bad_region(), "interval"),
        (lambda v: prior.upcrossings((0, 1), at=v), bad_points.filter(lambda v: not np.array_equal(v, X)), "at"),
        (lambda v: prior.upcrossings((0, 1), at=[0, 0], level=v), st.one_of(not_numbers, st.just(math.nan)), "level"),
    ]
    call, strategy, name = data.draw(st.sampled_from(calls))
    value = data.draw(strategy)
    raises_as_promised(lambda: call(value), name)
