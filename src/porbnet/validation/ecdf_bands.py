"""Are ranks uniform? Simultaneous bands for their distribution function, and one rule for many tests.

The rank of a true value among L posterior draws is uniform on 0, ..., L. The distribution function of N ranks is looked
at in some places; at each the number of ranks below it is binomial. The statistic is the smallest of the two-sided tail
probabilities over all places, its law under uniform ranks is simulated: p is the share of simulated sets of ranks whose
smallest tail probability is as small (Säilynoja, Bürkner and Vehtari 2022). A band holds where no place leaves it.

Many such tests are read together by Holm's rule: with a probability of `FAMILY` or less any of them is rejected if all
ranks are uniform.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from porbnet.base.checks import FloatArray

PLACES = 20
FAMILY = 0.05
_SIMULATED = 200_000
_AT_A_TIME = 20_000


@functools.cache
def tail_table(n: int, places: int = PLACES) -> FloatArray:
    """Two-sided tail probabilities of 0, ..., n ranks below each inner place, shape (n + 1, places - 1)."""
    shares = np.arange(1, places) / places
    counts = np.arange(n + 1)[:, None]
    below = stats.binom.cdf(counts, n, shares)
    above = stats.binom.sf(counts - 1, n, shares)
    return np.asarray(np.minimum(2.0 * np.minimum(below, above), 1.0))


@functools.cache
def null_law(n: int, places: int = PLACES) -> FloatArray:
    """The statistic of simulated sets of n uniform ranks, in order."""
    table, rng = tail_table(n, places), np.random.default_rng(n)
    found = []
    for _ in range(_SIMULATED // _AT_A_TIME):
        below = np.cumsum(rng.multinomial(n, np.full(places, 1.0 / places), size=_AT_A_TIME), axis=1)[:, :-1]
        found.append(table[below, np.arange(places - 1)].min(axis=1))
    return np.sort(np.concatenate(found))


def below_places(ranks: NDArray[np.int64], n_draws: int, places: int = PLACES) -> NDArray[np.int64]:
    """How many ranks lie below each inner place, shape (places - 1,); n_draws + 1 must be a multiple of the places."""
    if (n_draws + 1) % places:
        raise ValueError(f"{n_draws} draws make {n_draws + 1} ranks, which is no multiple of {places}")
    counts = np.bincount(ranks * places // (n_draws + 1), minlength=places)
    return np.asarray(np.cumsum(counts)[:-1])


def p_value(ranks: NDArray[np.int64], n_draws: int, places: int = PLACES) -> float:
    """Probability of a statistic as small as that of these ranks, if they are uniform; at least 1 / 200,001.

    Examples
    --------
    >>> p_value(np.arange(100), 99), round(p_value(np.arange(100) // 2, 99), 9)
    (1.0, 5e-06)
    """
    table = tail_table(len(ranks), places)
    statistic = float(table[below_places(ranks, n_draws, places), np.arange(places - 1)].min())
    law = null_law(len(ranks), places)
    as_small = int(np.searchsorted(law, statistic * (1.0 + 1e-12), side="right"))
    return min((as_small + 1.0) / (len(law) + 1.0), 1.0)


def band(n: int, level: float = 0.95, places: int = PLACES) -> tuple[FloatArray, FloatArray]:
    """Least and largest share of n ranks below each inner place that a band of this level holds."""
    law = null_law(n, places)
    as_small = np.searchsorted(law, law, side="right")  # of simulated sets, for each of them
    unlikely = law[(as_small + 1.0) / (len(law) + 1.0) <= 1.0 - level]
    least = float(unlikely[-1]) * (1.0 + 1e-12) if len(unlikely) else -1.0
    inside = tail_table(n, places) > least
    low = np.argmax(inside, axis=0)
    high = n - np.argmax(inside[::-1], axis=0)
    return low / n, high / n


def holm(p: Sequence[float], family: float = FAMILY) -> list[bool]:
    """Which of many hypotheses are rejected by Holm's rule, with a probability of `family` at most if all are true.

    Examples
    --------
    >>> holm([0.001, 0.02, 0.9])
    [True, True, False]
    """
    order = sorted(range(len(p)), key=lambda i: p[i])
    rejected = [False] * len(p)
    for step, i in enumerate(order):
        if p[i] > family / (len(p) - step):
            break
        rejected[i] = True
    return rejected
