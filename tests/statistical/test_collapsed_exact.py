"""Small problems: the collapsed sampler against importance sampling from the prior, for every kind of statement.

Each case compares posterior means and variances of the width, the centers' places, how many lie near the edge, the
marginal likelihood, f at three points (drawn, and its conditional mean) and whatever is learned of noise, amplitude and
level: 20 to 26 numbers. Standard errors are those of importance sampling (delta method) and of the chain (effective
sample size), combined. Seeds come from the tests' names, so a test that passes keeps passing; with another seed a
number leaves 4 standard errors with probability 6.3e-5 if its errors are normal, some number of a case once in 600
seeds, and some of all cases together (about 400 numbers) once in 40.
"""

import numpy as np
import pytest
from collapsed_tools import LIMIT, always_in_blocks, estimates_of, sample, worst, z_scores
from importance import Reference

from porbnet import InverseGamma, LogNormal, Prior
from porbnet.intensity import Constant, FromFunction, Piecewise, UnknownConstant
from porbnet.sampling.collapsed.chain import Plan
from porbnet.sampling.collapsed.state import STEP_LEVEL, STEP_LEVEL_JUMP

LEARNED = {"noise": LogNormal(0.5, 1.8), "amplitude": LogNormal(1.5, 1.7)}
INVERSE = InverseGamma(2.5, 0.6)
FIXED = {"noise": 0.4, "amplitude": 1.5}
PLAN = Plan(8, 10)  # births, deaths and moves in like numbers, so that an error in any of them shows
UNKNOWN = UnknownConstant(3.0, 3.0 / 1.2**2)  # about 1.2 units per unit of input
STEPS = Piecewise([1.2], [0.5, 1.9])


def wave(X):
    return 1.2 + 0.9 * np.sin(2.0 * X[:, 0])


def one_dimensional(intensity, stated, **more):
    return Prior(intensity, region=(-0.5, 2.2), **{"bias": 0.7, "units_per_lengthscale": 1.3, **stated, **more})


def box(intensity, n_dims, stated, **more):
    region = [(-1.0, 1.0), (0.0, 30.0), (2.0, 2.5)][:n_dims]
    anisotropy = [1.0, 12.0, 0.3][:n_dims]
    return Prior(intensity, region=region, bias=0.5, units_per_lengthscale=0.9, anisotropy=anisotropy, **stated, **more)


def only_jump(chain):
    """Slice sampling with a width of next to nothing stays where it is."""
    chain.tuning.steps[STEP_LEVEL] = 1e-300


def only_slice(chain):
    """A jump of length zero stays where it is."""
    chain.tuning.steps[STEP_LEVEL_JUMP] = 0.0


CASES = {
    "constant": (one_dimensional(Constant(1.2), FIXED), {}),
    "constant, learned": (one_dimensional(Constant(1.2), LEARNED), {}),
    "constant, inverse-gamma noise": (one_dimensional(Constant(1.2), LEARNED | {"noise": INVERSE}), {}),
    "constant, no bias": (one_dimensional(Constant(1.2), LEARNED, bias=0.0), {}),
    "unknown": (one_dimensional(UNKNOWN, FIXED), {}),
    "unknown, learned": (one_dimensional(UNKNOWN, LEARNED), {}),
    "unknown, jump only": (one_dimensional(UNKNOWN, FIXED), {"prepare": only_jump, "n_warmup": 0, "thin": 3}),
    "unknown, slice only": (one_dimensional(UNKNOWN, FIXED), {"prepare": only_slice, "n_warmup": 0, "thin": 3}),
    "piecewise": (one_dimensional(STEPS, FIXED), {}),
    "piecewise, learned": (one_dimensional(STEPS, LEARNED), {}),
    "function": (one_dimensional(FromFunction(wave), FIXED), {}),
    "function, learned": (one_dimensional(FromFunction(wave), LEARNED), {}),
    "weights": (one_dimensional(Constant(1.2), LEARNED), {"weight": np.array([0.3, 4.0, 1.0, 0.1, 2.5, 1.0, 0.7])}),
    "2-D constant": (box(Constant(0.05), 2, FIXED), {}),
    "2-D constant, learned": (box(Constant(0.05), 2, LEARNED), {}),
    "2-D unknown, learned": (box(UnknownConstant(3.0, 3.0 / 0.05**2), 2, LEARNED), {}),
    "2-D piecewise": (box(Piecewise([[0.2], [12.0]], [[0.02, 0.09], [0.08, 0.03]]), 2, FIXED), {}),
    "3-D constant": (box(Constant(0.1), 3, FIXED), {}),
    "3-D constant, learned": (box(Constant(0.1), 3, LEARNED), {}),
}


def observations(prior, rng):
    """Seven outputs of a bent line, unsorted inputs inside the inner 80 % of the region, and three new points."""
    share = 0.1 + 0.8 * rng.random((7, prior.n_dims))
    y = 1.0 + 1.5 * np.sin(5.0 * share[:, 0]) + 0.4 * rng.standard_normal(7)
    new = np.linspace(0.05, 0.9, 3)[:, None] * np.ones(prior.n_dims)
    return prior.region.low + share * prior.region.widths, y, prior.region.low + new * prior.region.widths


@pytest.mark.parametrize("case", CASES)
def test_equals_importance_sampling(case, seed):
    prior, options = CASES[case]
    rng = np.random.default_rng(seed)
    X, y, X_new = observations(prior, rng)
    reference = Reference(prior, X, y, X_new, rng, options.get("weight"))
    assert reference.ess > 3_000
    posterior = sample(prior, X, y, seed, plan=PLAN, **options)
    key, z = worst(z_scores(estimates_of(posterior, X_new), reference.estimates))
    assert abs(z) < LIMIT, (key, z)


SLOW = [pytest.mark.slow]
IN_BLOCKS = (
    "unknown, learned", "piecewise, learned", "2-D unknown, learned",
    pytest.param("constant, learned", marks=SLOW), pytest.param("constant, no bias", marks=SLOW),
    pytest.param("function, learned", marks=SLOW), pytest.param("weights", marks=SLOW),
    pytest.param("2-D piecewise", marks=SLOW), pytest.param("3-D constant, learned", marks=SLOW),
)  # fmt: skip


@pytest.mark.parametrize("case", IN_BLOCKS)
def test_blocks_equal_importance_sampling(case, seed, monkeypatch):
    """The same posteriors with births, deaths and moves in several boxes a sweep."""
    always_in_blocks(monkeypatch)
    test_equals_importance_sampling(case, seed)
