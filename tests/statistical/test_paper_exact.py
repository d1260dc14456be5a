"""Small problems: the paper's sampler against importance sampling from the prior, as in test_collapsed_exact.py.

20 to 30 numbers a case, f with drawn weights among them. With another seed a number leaves 4 standard errors with
probability 6.3e-5, some number of all cases once in 80 seeds.
"""

import numpy as np
import pytest
import test_curves_exact as curves
from collapsed_tools import LIMIT, estimates_of, finish, sample, worst, z_scores
from importance import Reference
from test_collapsed_exact import CASES, observations

from porbnet import PaperSampler
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.chain import PaperChain

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


@pytest.mark.parametrize("case", ["constant, inverse-gamma noise", "constant, learned"])
def test_a_count_of_two_is_a_row_given_twice(case, seed):
    """The same posterior; the noise depends on how many observations there are."""
    prior, rng = CASES[case][0], np.random.default_rng(seed)
    X, y, X_new = observations(prior, rng)
    found = []
    for times, rows in ((np.full(len(y), 2.0), np.arange(len(y))), (None, np.repeat(np.arange(len(y)), 2))):
        problem = Problem.of(prior, X[rows], y[rows], None, times)
        chains = [
            PaperChain(problem, s, 300, 4000, 3, SAMPLER) for s in np.random.SeedSequence([seed, len(rows)]).spawn(4)
        ]
        found.append(estimates_of(Posterior(problem, [finish(chain) for chain in chains]), X_new))
    scores = z_scores(*found)
    del scores["log p", "mean"], scores["log p", "variance"]
    key, z = worst(scores)
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["all updates", "upper learned"])
def test_curves_equal_importance_sampling(case, seed):
    prior, rng = curves.CASES[case][0], np.random.default_rng(seed)
    X, y, X_new = curves.observations(rng)
    exact = curves.CurveReference(prior, X, y, X_new, rng, n=100_000).estimates
    posterior = sample(prior, X, y, seed, thin=8, plan=SAMPLER, chain_type=PaperChain)
    found = curves.chain_estimates(posterior, X_new)
    key, z = worst(z_scores(found, {key: exact[key] for key in found}))
    assert abs(z) < LIMIT, (key, z)
