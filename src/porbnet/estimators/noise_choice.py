"""Which noise: `noise="auto"` chooses by short fits and leave-one-out, and a fit with the wrong one says so.

The full fit is then made with the noise that was chosen, from seeds of its own: its draws are those of a fit with that
noise stated. Of many rows, `MOST_ROWS` are looked at.
"""

from __future__ import annotations

import functools
import warnings
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import PorbnetWarning, SamplingInterrupted
from porbnet.estimators.names import place_in_words
from porbnet.likelihood import registered
from porbnet.posterior.leave_one_out import LeaveOneOut
from porbnet.posterior.noise_comparison import FROM_SIMPLE, NoiseChoice, choose
from porbnet.posterior.posterior import Posterior
from porbnet.posterior.residuals import HeavyTails, look
from porbnet.sampling.driver import run_chains
from porbnet.sampling.problem import Problem
from porbnet.sampling.samplers import CollapsedSampler, sampler_of

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor
    from porbnet.statement.prior import Prior

AUTO = "auto"
MOST_ROWS = 500
FEWEST_ROWS = 20
MOST_DIMS_OF_A_CURVE = 3
N_CHAINS, N_WARMUP, N_DRAWS, THIN = 4, 300, 250, 2
_APART = 0x6E6F697365  # a branch of the seed that no chain of the full fit has


def choose_noise(
    model: PoRBNetRegressor, X: FloatArray, y: FloatArray, counts: FloatArray | None, root: np.random.SeedSequence
) -> NoiseChoice:
    """The noise for rows of checked numbers, X of shape (n_points, n_dims), y and counts of shape (n_points,)."""
    _require_possible(model)
    seed = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, _APART))
    rows = _some_rows(len(y), seed)
    X_some, y_some, often = X[rows], y[rows], None if counts is None else counts[rows]
    with warnings.catch_warnings():  # the full fit says whatever there is to say
        warnings.simplefilter("ignore", PorbnetWarning)
        stated = {
            name: model._statement(X_some, y_some, name, often) for name in _candidates(model, X.shape[1], counts)
        }
        if len(rows) < FEWEST_ROWS or np.ptp(y_some) == 0.0:
            return NoiseChoice(FROM_SIMPLE[0], (), len(rows), len(y))
        found = {
            name: _short_fit(model, prior, offset, (X_some, y_some, often), seed)
            for name, (prior, offset) in stated.items()
        }
    return choose(found, len(y))


def _require_possible(model: PoRBNetRegressor) -> None:
    if not (model.sampler == "collapsed" or isinstance(model.sampler, CollapsedSampler)):
        raise _checks.fail("noise", model.noise, "with the paper's sampler it must be stated")
    if model.checkpoint is not None:
        from porbnet.storage.checkpoint import require_new

        require_new(model.checkpoint, model._replaces_checkpoint)


def _candidates(model: PoRBNetRegressor, n_dims: int, counts: FloatArray | None) -> list[str]:
    """What can be fitted: a curve of up to three inputs, heavy tails where outputs are real and weights are whole."""
    by_word = {kind.word: kind for kind in registered().values() if kind.word}
    names = [name for name in FROM_SIMPLE if counts is None or not getattr(by_word.get(name), "whole_weights", False)]
    curve, tails = n_dims <= MOST_DIMS_OF_A_CURVE, model.outcome == "real"
    return [name for name in names if {"varying": curve, "robust": tails}.get(name, True)]


def _some_rows(n: int, seed: np.random.SeedSequence) -> Any:
    if n <= MOST_ROWS:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).permutation(n)[:MOST_ROWS])


def _short_fit(
    model: PoRBNetRegressor, prior: Prior, offset: float, data: tuple[FloatArray, FloatArray, Any],
    seed: np.random.SeedSequence,
) -> LeaveOneOut:  # fmt: skip
    X, y, counts = data
    problem = Problem.of(prior, X, y - offset, None, counts)
    problem = replace(problem, order=np.arange(len(y)))
    sampler = sampler_of(model.sampler)
    seeds = np.random.SeedSequence(seed.entropy, spawn_key=seed.spawn_key).spawn(N_CHAINS)
    makers = [functools.partial(sampler.make_chain, problem, s, N_WARMUP, N_DRAWS, THIN) for s in seeds]
    run = run_chains(makers, n_jobs=model._jobs(N_CHAINS), progress=False, cold=sampler.is_cold(problem))
    if run.interrupted:
        raise SamplingInterrupted("interrupted while the noise was chosen: nothing to return")
    return Posterior(problem, run.results, offset).loo()


def noise_sentences(model: PoRBNetRegressor) -> list[str]:
    """How the noise of a fit was chosen, or that another would suit it better; none if there is nothing to say."""
    choice = getattr(model, "noise_choice_", None)
    return [str(choice)] if choice is not None else [hint] if (hint := noise_hint(model)) else []


def noise_hint(model: PoRBNetRegressor) -> str:
    """What the residuals of a fit plainly say against its constant noise, and what to state; empty if nothing."""
    known = model.posterior_.problem.parameters[0].known  # what is stated is not talked of
    if known or hasattr(model, "noise_choice_") or not model.diagnostics_.predictions_converged:
        return ""
    found = look(model.posterior_)
    if isinstance(found, HeavyTails):
        return (
            f"the errors have heavier tails than noise of one sd has: {found.n_far} of {found.n_rows:,} residuals are "
            f"beyond three sd, where {0.0027 * found.n_rows:.1g} would be: noise='robust' allows for outliers, "
            "noise='auto' chooses"
        )
    if found is None:
        return ""
    here, there = place_in_words(model, found.largest), place_in_words(model, found.smallest)
    if len(found.largest) > MOST_DIMS_OF_A_CURVE:
        advice = f"intervals are too narrow here, too wide there (noise='varying' is for {MOST_DIMS_OF_A_CURVE} inputs)"
    else:
        advice = "noise='varying' lets it change, noise='auto' chooses"
    ratio = f"{found.ratio:.2g}" if found.ratio < 100.0 else "over 100"
    return f"the noise is not constant: residuals are {ratio} times as large near {here} as near {there}: {advice}"
