"""Bayesian optimisation by Thompson sampling, the example of the page, against random search."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from porbnet import PoRBNetRegressor

path = Path(__file__).parents[2] / "examples" / "optimisation.py"
spec = importlib.util.spec_from_file_location("optimisation", path)
example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(example)

SEEDS = range(12)


def test_the_drawn_functions_are_minimised_by_their_gradients():
    from porbnet import Prior

    functions = Prior(0.3, 1.0, region=example.BOUNDS).sample_networks(5, random_state=0)
    fine = np.linspace(*example.BOUNDS, 20_001)[:, None]
    for function in functions:
        at = example.least_place(function, example.BOUNDS)
        assert function([[at]])[0] <= function(fine).min() + 1e-6


@pytest.mark.slow
def test_thompson_sampling_beats_random_search():
    """With as many evaluations; for each seed, how often random search does as well.

    If it were no better than random search these shares were uniform, and Fisher's statistic -2 Σ log p a χ² with two
    degrees of freedom per seed: the test asks for a value that has probability 1e-4 then.
    """
    rng = np.random.default_rng(1)
    best = example.wiggle(rng.uniform(*example.BOUNDS, (20_000, 21))).min(axis=1)
    shares = []
    for seed in SEEDS:
        x, y = example.thompson(example.wiggle, example.BOUNDS, seed=seed)
        assert len(y) == 21 and x.min() >= 0.0 and x.max() <= 1.0
        shares.append((np.sum(best <= y.min()) + 1) / (len(best) + 1))
    assert stats.chi2(2 * len(shares)).sf(-2.0 * np.sum(np.log(shares))) < 1e-4


@pytest.mark.filterwarnings("ignore::porbnet.PorbnetWarning")
def test_it_is_a_surrogate_for_scikit_optimize():
    skopt = pytest.importorskip("skopt")
    surrogate = PoRBNetRegressor(noise=0.02, n_chains=1, n_warmup=200, n_draws=100, random_state=0, progress=False)
    optimizer = skopt.Optimizer(
        [example.BOUNDS], surrogate, acq_func="LCB", acq_optimizer="sampling", n_initial_points=6, random_state=0
    )
    for _ in range(8):
        place = optimizer.ask()
        result = optimizer.tell(place, float(example.wiggle(place[0])))
    assert len(result.models) >= 2 and isinstance(result.models[-1], PoRBNetRegressor)
    assert result.fun == pytest.approx(example.wiggle(result.x[0]))
