"""The comparison with importance sampling has power: it rejects samplers with an error in them.

One test, because the copy of the package that holds the mutants is compiled once (about 20 CPU seconds).
"""

from functools import cache

import numpy as np
import pytest
import test_curves_exact as curves
import test_windows_exact as windows
from collapsed_tools import LIMIT, always_in_blocks, estimates_of, sample, worst, z_scores
from importance import Reference
from mutants import MUTANTS, NAME, build, forget, switch_on
from test_collapsed_exact import FIXED, LEARNED, PLAN, STEPS, UNKNOWN, observations, one_dimensional, only_jump

from porbnet.intensity import Constant
from porbnet.sampling.collapsed.chain import CollapsedChain, Plan

PRIORS = {
    "constant": one_dimensional(Constant(1.2), LEARNED),
    "few": one_dimensional(Constant(0.4), FIXED, noise=2.0),
    "constant, moves": one_dimensional(Constant(1.2), FIXED),
    "piecewise, moves": one_dimensional(STEPS, FIXED),
    "unknown": one_dimensional(UNKNOWN, FIXED),
    "unknown, jump only": one_dimensional(UNKNOWN, FIXED),
    "piecewise, blocks": one_dimensional(STEPS, LEARNED),
}

# On which problem each mutant shows.
WHERE = {
    "Λ/K in place of Λ/(K + 1) in a birth": "constant",
    "a forced birth of the first unit, ratio not corrected": "few",
    "a step across the edge ends on the edge": "constant, moves",
    "a local move without the ratio of intensities": "piecewise, moves",
    "a stale inverse after an update of noise or amplitude": "constant",
    "a level update without K log λ": "unknown",
    "a level update without the Jacobian of the logarithm": "unknown",
    "a level jump down that switches no unit off": "unknown, jump only",
    "scales that do not follow the level": "unknown",
    "stored weights without their spread": "constant",
    "a box whose births count the whole region": "piecewise, blocks",
    "a box without edges": "piecewise, blocks",
    "stale weights outside a box": "piecewise, blocks",
    "a box without the units it had": "piecewise, blocks",
}

# The same for the curves, whose cases are those of test_curves_exact.py.
WHERE_OF_CURVES = {
    "an intensity update without Σ log λ": "centered alone",
    "an intensity update without ∫λ": "centered alone",
    "a marked update without silent points": "marked alone",
    "a stretched update without silent points": "stretched alone",
    "a stretched update whose window counts among what is held": "stretched alone",
    "an ellipse whose axis has a part that is held": "all updates",
    "an update of the curve's law with a narrower prior": "law, centered alone",
    "an update of the curve's law without the Jacobian of what it holds": "law, centered alone",
    "a curve that moves without its law": "law, marked alone",
    "a noise curve fitted to another noise level": "noise curve",
}

# And for windows, whose cases are those of test_windows_exact.py.
WHERE_OF_WINDOWS = {
    "a window whose births count the whole region": "all updates, narrow",
    "a death in a window by the ratio of one unit more": "many births",
    "a move in a window without the ratio of intensities": "many moves",
    "stale weights around a window": "all updates, narrow",
    "a window that forgets what its neighbours are of f": "all updates, narrow",
    "a curve in a window without Σ log λ": "alone",
    "a curve in a window without ∫λ": "alone",
    "a curve with units in a window without silent points": "with units",
    "a curve with places in a window without silent points": "with places",
    "an ellipse that forgets the curve on a window's edges": "all updates, narrow",
    "a shear of level and curve without its Jacobian": "upper learned",
    "a shift of level and curve without ∫λ": "upper learned",
    "a jump of level and curve that switches no unit off": "upper learned",
}


def in_windows(case, X, y, seed, chain_type, mutate, n_draws=10_000):
    """A posterior by windows, of a case of test_windows_exact.py."""
    prior, plan, settings = windows.CASES[case]

    def prepare(chain):
        mutate(chain)
        windows.windowed(**settings)(chain)

    return sample(prior, X, y, seed, n_draws=n_draws, thin=3, plan=plan, chain_type=chain_type, prepare=prepare)


@pytest.fixture
def mutated_chain(tmp_path):
    yield build(tmp_path)
    forget()


@pytest.mark.slow
def test_mutants_are_rejected(mutated_chain, seed, monkeypatch):
    """Every mutant is off by more than 4 standard errors somewhere; the copy with none on gives the very same draws."""
    mutated_chain, mutated_windows = mutated_chain
    rng = np.random.default_rng(seed)

    @cache
    def problem(kind):
        X, y, X_new = observations(PRIORS[kind], rng)
        return X, y, X_new, Reference(PRIORS[kind], X, y, X_new, rng, n=100_000).estimates

    def posterior(kind, chain_type=CollapsedChain, mutate=None):
        def prepare(chain):
            if mutate is not None:
                mutate(chain)
            if kind == "unknown, jump only":
                only_jump(chain)

        X, y, *_ = problem(kind)
        if kind.endswith("blocks"):
            with monkeypatch.context() as patch:
                for package in ("porbnet", NAME):
                    always_in_blocks(patch, package)
                return sample(PRIORS[kind], X, y, seed, n_draws=6000, plan=PLAN, chain_type=chain_type, prepare=prepare)
        n_warmup = 0 if kind == "unknown, jump only" else 300  # warm-up would widen the slice again
        plan = Plan(3, 15) if kind.endswith("moves") else PLAN
        return sample(
            PRIORS[kind], X, y, seed, n_warmup=n_warmup, n_draws=2500, plan=plan, chain_type=chain_type, prepare=prepare
        )

    for kind in PRIORS:
        innocent = posterior(kind)
        copy = posterior(kind, mutated_chain, switch_on(None))
        for name, values in vars(innocent.draws).items():
            np.testing.assert_array_equal(values, getattr(copy.draws, name), err_msg=f"{kind}: {name}")
        key, z = worst(z_scores(estimates_of(innocent, problem(kind)[2]), problem(kind)[3]))
        assert abs(z) < LIMIT, (kind, key, z)

    assert (WHERE | WHERE_OF_CURVES | WHERE_OF_WINDOWS).keys() == MUTANTS.keys()
    unnoticed = {}
    for name, kind in WHERE.items():
        wrong = posterior(kind, mutated_chain, switch_on(name))
        key, z = worst(z_scores(estimates_of(wrong, problem(kind)[2]), problem(kind)[3]))
        print(f"{name}: {z:.1f} ({key[1]} of {key[0]})")
        if abs(z) < LIMIT:
            unnoticed[name] = z
    for name, case in (WHERE_OF_CURVES | WHERE_OF_WINDOWS).items():
        prior, plan = (windows.CASES if name in WHERE_OF_WINDOWS else curves.CASES)[case][:2]
        X, y, X_new = curves.observations(rng)
        exact = curves.CurveReference(prior, X, y, X_new, rng, n=100_000).estimates
        if name in WHERE_OF_WINDOWS:
            wrong = in_windows(case, X, y, seed, mutated_windows, switch_on(name))
        else:
            wrong = sample(
                prior, X, y, seed, n_draws=2500, thin=3, plan=plan, chain_type=mutated_chain, prepare=switch_on(name)
            )
        found = curves.chain_estimates(wrong, X_new)
        key, z = worst(z_scores(found, {key: exact[key] for key in found}))
        print(f"{name}: {z:.1f} ({key[1]} of {key[0]})")
        if abs(z) < LIMIT:
            unnoticed[name] = z
    assert not unnoticed, unnoticed
