"""`Prior.check`: a warning for each thing that is off, and silence when all is well."""

import warnings

import numpy as np
import pytest

from porbnet import LogNormal, Prior
from porbnet.errors import StatementWarning
from porbnet.intensity import SigmoidGP

X = np.linspace(0.0, 1.0, 50)


def problems(prior, inputs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        returned = prior.check(inputs)
    assert [str(w.message) for w in caught] == returned
    assert all(w.category is StatementWarning for w in caught)
    return returned


@pytest.mark.parametrize(
    "prior",
    [
        Prior(0.2, 1.0, region=(-0.4, 1.4)),
        Prior(0.2, LogNormal(1.0), region=(-0.4, 1.4), bias=1e6),
        Prior(lambda X: 0.1 + 0.1 * X[:, 0] ** 2, 1.0, region=(-0.4, 1.4)),
        Prior(SigmoidGP(upper=40.0, variance=1.0, lengthscale=0.5), 1.0, region=(-0.4, 1.4)),
    ],
    ids=["constant", "unknown amplitude, large bias", "callable", "sigmoid"],
)
def test_silence_when_all_is_well(prior):
    assert problems(prior, X) == []


def test_silence_in_two_dimensions(seed):
    inputs = np.random.default_rng(seed).uniform(0.0, 1.0, (100, 2))
    assert problems(Prior([0.3, 0.4], 1.0, region=[(-0.6, 1.6), (-0.8, 1.8)]), inputs) == []


def test_inputs_outside_the_region():
    (problem,) = problems(Prior(0.2, 1.0, region=(-0.4, 0.9)), X)
    assert problem.startswith("5 of 50 inputs lie outside the region: use a region that reaches 1.5 lengthscales")
    assert "[-0.3, 1.3]" in problem


def test_the_region_it_proposes_is_silent():
    assert problems(Prior(0.2, 1.0, region=[-0.3, 1.3]), X) == []


def test_region_too_close():
    (problem,) = problems(Prior(0.2, 1.0, region=(-0.02, 1.5)), X)
    assert "the region ends so close to the inputs" in problem and "amplitude²" in problem and "[-0.3, 1.3]" in problem


def test_lengthscale_below_the_spacing():
    (problem,) = problems(Prior(0.01, 1.0, region=(-0.4, 1.4)), X)
    assert "below the spacing of the inputs (typically 0.0204)" in problem and "raise the lengthscale" in problem


def test_lengthscale_beyond_the_range():
    (problem,) = problems(Prior(2.0, 1.0, region=(-8.0, 9.0)), X)
    assert "the lengthscale (2) is beyond the range of the inputs (1)" in problem and "lower the lengthscale" in problem


def test_one_dimension_beyond_its_range(seed):
    inputs = np.random.default_rng(seed).uniform(0.0, 1.0, (100, 2))
    (problem,) = problems(Prior([0.3, 3.0], 1.0, region=[(-0.6, 1.6), (-9.0, 10.0)]), inputs)
    assert "along dimension 1 is beyond the range" in problem


def test_thousands_of_units():
    with pytest.warns(StatementWarning, match=r"3,000 units in expectation, which is slow: raise the lengthscale"):
        Prior(0.001, 1.0, region=(0.0, 1.5))


def test_several_at_once():
    assert len(problems(Prior(2.0, 1.0, region=(-0.1, 1.1)), X)) == 2


def test_repeated_and_few_inputs():
    prior = Prior(0.2, 1.0, region=(-0.4, 1.4))
    assert problems(prior, np.repeat([0.2, 0.35, 0.5, 0.65], 20)) == []
    assert problems(prior, np.full(20, 0.5)) == []
    assert problems(prior, [0.5]) == []
    assert problems(prior, np.empty(0)) == []


def test_many_inputs_keep_their_ends():
    inputs = np.concatenate([np.linspace(0.0, 1.0, 20_000), [1.39]])
    (problem,) = problems(Prior(0.2, 1.0, region=(-0.4, 1.4)), inputs)
    assert "so close" in problem
