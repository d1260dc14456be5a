"""Labels and counts on small problems: chains against importance sampling, and mutants that this must reject.

Some 8 to 12 numbers a case; one leaves 4 standard errors with probability 6.3e-5, so that a case gives a false alarm
once in 1,300 seeds.
"""

import math
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from collapsed_tools import LIMIT, worst, z_scores
from outcome_tools import chains, estimates, reference
from scipy import stats
from scipy.special import expit

from porbnet import LogNormal, Prior
from porbnet.base.compiled import inner
from porbnet.intensity import UnknownConstant
from porbnet.kernels.polya_gamma import polya_gamma
from porbnet.likelihood import Censored, Logistic, NegativeBinomial, Poisson
from porbnet.likelihood.counted import size_update

LABELS = np.array([1.0, 1.0, 0.0, 1.0, 0.0])
TIMES = np.array([1.0, 2.0, 1.0, 0.6, 3.5])


def stated(likelihood, amplitude=None):
    law = LogNormal(1.5, 1.6) if amplitude is None else amplitude
    return Prior(
        UnknownConstant(4.0, 3.0), law, region=(-0.3, 1.9), bias=0.8, noise=likelihood, units_per_lengthscale=1.2
    )


def log_labels(times):
    def log_likelihood(f, own):
        return np.sum(times * (LABELS * np.log(expit(f)) + (1 - LABELS) * np.log(expit(-f))), axis=1)

    return log_likelihood


COUNTS = np.array([3.0, 7.0, 0.0, 2.0, 1.0])
EXPOSURE = np.array([1.0, 3.0, 0.4, 2.5, 1.5])


def log_counts(times):
    def log_likelihood(f, own):
        size, mean = np.reshape(own, (-1, 1)), EXPOSURE * np.exp(f)
        return np.sum(times * stats.nbinom.logpmf(COUNTS, size, size / (size + mean)), axis=1)

    return log_likelihood


def log_poisson(f, own):
    return np.sum(stats.poisson.logpmf(COUNTS, EXPOSURE * np.exp(f)), axis=1)


ENDS = np.array([[0.2, 0.2], [-np.inf, 0.5], [-0.4, np.inf], [-0.3, 0.6], [-1.1, -1.1]])


def log_limits(f, own):
    """Known outputs at both ends, one below a limit, one above, one between two."""
    low, high, sd = *ENDS.T, np.reshape(own, (-1, 1))
    within = np.log(np.maximum(stats.norm.cdf(high, f, sd) - stats.norm.cdf(low, f, sd) + (low == high), 1e-300))
    known = np.array([0, 4])
    return np.sum(within, axis=1) + np.sum(stats.norm.logpdf(low[known], f[:, known], sd), axis=1)


SIZE = LogNormal(2.0, 1.8)
CASES = {
    "counts": (NegativeBinomial(SIZE, 0.3), COUNTS, log_counts(1.0), {"beside": EXPOSURE}),
    "counts that count several times": (
        NegativeBinomial(SIZE, 0.3),
        COUNTS,
        log_counts(TIMES),
        {"beside": EXPOSURE, "counts": TIMES},
    ),
    "outputs within limits": (
        Censored(LogNormal(0.5, 1.5)),
        np.array([0.2, 0.5, -0.4, -0.3, -1.1]),
        log_limits,
        {"beside": np.array([0.2, -np.inf, np.inf, 0.6, -1.1])},
    ),
    "Poisson": (Poisson(), COUNTS, log_poisson, {"beside": EXPOSURE}),
    "labels": (Logistic(), LABELS, log_labels(1.0), {}),
    "labels that count several times": (Logistic(0.7), LABELS, log_labels(TIMES), {"counts": TIMES}),
}


@cache
def truth(case):
    likelihood, _, log_likelihood, _ = CASES[case]
    return reference(stated(likelihood), log_likelihood, 7)


def scores(case, seed, likelihood=None, **lengths):
    own, y, _, known = CASES[case]
    posterior = chains(stated(own if likelihood is None else likelihood), y, seed, **known, **lengths)
    return z_scores(estimates(posterior), truth(case))


@pytest.mark.parametrize("case", CASES)
def test_posterior(case, seed):
    key, z = worst(scores(case, seed))
    assert abs(z) < LIMIT, (key, z)


# --- mutants --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WithoutHalf(Logistic):
    """κ = y in place of y - ½."""

    def observe(self, record, outputs, beside, counts):
        super().observe(record, outputs, beside, counts)
        record.halves[:] = counts * outputs


@inner
def one_more(state: Any, rng: Any) -> None:
    labels, rows = state.errors, state.rows
    for i in range(len(labels.kept)):
        labels.kept[i] = polya_gamma(rows.counts[i] + 1.0, rows.outputs[i] - rows.errors[i] + labels.center, rng)


@dataclass(frozen=True)
class OffByOne(Logistic):
    """Pólya-Gamma variates of a shape that is one too large."""

    augment: ClassVar[Any] = staticmethod(one_more)


@dataclass(frozen=True)
class Uncounted(Logistic):
    """Labels that count several times taken once, but for the precision."""

    def observe(self, record, outputs, beside, counts):
        super().observe(record, outputs, beside, counts)
        record.halves[:] = outputs - 0.5


@dataclass(frozen=True)
class Upward(Censored):
    """Outputs below a limit taken to be above it."""

    def observe(self, record, outputs, beside, counts):
        super().observe(record, outputs, np.abs(beside), counts)


@dataclass(frozen=True)
class Unexposed(NegativeBinomial):
    """Exposures forgotten."""

    def observe(self, record, outputs, beside, counts):
        super().observe(record, outputs, None, counts)


@inner
def one_less(state: Any, rng: Any) -> None:
    tallies, rows = state.errors, state.rows
    size_update(state, rng)
    for i in range(len(tallies.kept)):
        size = state.values[tallies.place]
        psi = rows.outputs[i] - rows.errors[i] + tallies.center + tallies.log_exposure[i] - math.log(size)
        tallies.kept[i] = polya_gamma(tallies.counted[i] + size + 1.0, psi, rng)


@dataclass(frozen=True)
class CountsOffByOne(NegativeBinomial):
    """Pólya-Gamma variates of counts, of a shape that is one too large."""

    augment: ClassVar[Any] = staticmethod(one_less)


@dataclass(frozen=True)
class Uncorrected(Poisson):
    """Draws of the law that stands in for Poisson's, far from it, as they are."""

    def stand_in(self, X, y, beside):
        return 0.5 * (y + 1.0)

    def log_correction(self, y, f, drawn, stand_in):
        return np.zeros(f.shape)


MUTANTS = {
    "below taken for above": ("outputs within limits", Upward(LogNormal(0.5, 1.5))),
    "exposure forgotten": ("counts", Unexposed(SIZE, 0.3)),
    "a shape of counts off by one": ("counts", CountsOffByOne(SIZE, 0.3)),
    "draws that are not weighed": ("Poisson", Uncorrected()),
    "κ without ½": ("labels", WithoutHalf()),
    "a shape off by one": ("labels", OffByOne()),
    "κ without its count": ("labels that count several times", Uncounted(0.7)),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_mutants_of_outcomes(name, seed):
    case, mutant = MUTANTS[name]
    assert abs(worst(scores(case, seed, mutant, n_draws=2500))[1]) > 1.5 * LIMIT
