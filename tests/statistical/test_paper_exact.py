"""Small problems: the paper's sampler against importance sampling from the prior, as in test_collapsed_exact.py.

20 to 30 numbers a case, f with drawn weights among them. With another seed a number leaves 4 standard errors with
probability 6.3e-5, some number of all cases once in 80 seeds.
"""

import numpy as np
import pytest
import test_curves_exact as curves
from collapsed_tools import LIMIT, estimates_of, sample, worst, z_scores
from importance import Reference
from test_collapsed_exact import CASES, observations

from porbnet import PaperSampler
from porbnet.inference.paper.chain import PaperChain

SAMPLER = PaperSampler(n_leapfrog=8, n_birth_death=10, n_leapfrog_intensity=8)
SHORT = ("unknown, learned", "weights")
LONG = (
    "constant, no bias",
    "constant, inverse-gamma noise",
    "piecewise, learned",
    "function, learned",
    "2-D piecewise",
    "3-D constant, learned",
)


@pytest.mark.parametrize("case", [*SHORT, *(pytest.param(case, marks=pytest.mark.slow) for case in LONG)])
def test_equals_importance_sampling(case, seed):
    prior, options = CASES[case]
    rng = np.random.default_rng(seed)
    X, y, X_new = observations(prior, rng)
    reference = Reference(prior, X, y, X_new, rng, options.get("weight"), n=100_000)
    posterior = sample(prior, X, y, seed, thin=4, plan=SAMPLER, chain_type=PaperChain, **options)
    key, z = worst(z_scores(estimates_of(posterior, X_new), reference.estimates))
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["both updates", "upper learned"])
def test_curves_equal_importance_sampling(case, seed):
    prior, rng = curves.CASES[case][0], np.random.default_rng(seed)
    X, y, X_new = curves.observations(rng)
    exact = curves.CurveReference(prior, X, y, X_new, rng, n=100_000).estimates
    posterior = sample(prior, X, y, seed, thin=8, plan=SAMPLER, chain_type=PaperChain)
    found = curves.chain_estimates(posterior, X_new)
    key, z = worst(z_scores(found, {key: exact[key] for key in found}))
    assert abs(z) < LIMIT, (key, z)
