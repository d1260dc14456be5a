"""Which noise? Fits of the same rows that differ in their errors alone, compared by leave-one-out, and the one to take.

The simplest comes first: one sd, then heavy tails (one number more), then a curve. A later one is taken over the one so
far only if it is better by more than `CLEARLY` standard errors of the difference,

    Σ_i d_i > CLEARLY · √n · sd(d_i),   d_i = log p(y_i | y_-i, later) - log p(y_i | y_-i, so far)

and by more than `LEAST`, as the standard error is not to be trusted where two fits say nearly the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.errors import ModelFileError
from porbnet.posterior.leave_one_out import LeaveOneOut

FROM_SIMPLE = ("learned", "robust", "varying")
CLEARLY = 2.0  # standard errors
LEAST = 2.0  # of log density, over all rows


@dataclass(frozen=True)
class Candidate:
    """One kind of noise that was tried.

    Attributes
    ----------
    noise : str
        As it is stated: "learned", "robust" or "varying".
    elpd, se : float
        Expected log predictive density of the rows by leave-one-out, and its standard error.
    behind, behind_se : float
        How far it is behind the one that was chosen (below zero: it is better, but not clearly), and the standard error
        of that difference; 0 of the chosen one.
    n_high_k : int
        Rows of which its leave-one-out cannot be trusted.
    """

    noise: str
    elpd: float
    se: float
    behind: float
    behind_se: float
    n_high_k: int


@dataclass(frozen=True)
class NoiseChoice:
    """What noise="auto" has chosen, and why; printed, it says so in a sentence.

    Attributes
    ----------
    noise : str
        The choice, as it is stated: "learned", "robust" or "varying".
    candidates : tuple of Candidate
        All that were tried, the simplest first; empty if there was nothing to choose.
    n_rows, n_given : int
        Rows that were looked at, and rows that there are.
    """

    noise: str
    candidates: tuple[Candidate, ...]
    n_rows: int
    n_given: int

    def __str__(self) -> str:
        if not self.candidates:
            return f"noise: {self.noise}, as the {self.n_rows:,} rows do not tell"
        rows = f"{self.n_rows:,} rows" if self.n_rows == self.n_given else f"{self.n_rows:,} of {self.n_given:,} rows"
        others = [c for c in self.candidates if c.noise != self.noise]
        return (
            f"noise: {self.noise}, chosen by leave-one-out over {rows}: "
            + "; ".join(_against(c) for c in others)
            + _doubts(self.candidates)
        )

    def as_dict(self) -> dict[str, Any]:
        """For files."""
        return asdict(self) | {"candidates": [asdict(c) for c in self.candidates]}

    @classmethod
    def from_dict(cls, stated: Any) -> NoiseChoice:
        """From a file; `ModelFileError` if it cannot be one."""
        try:
            candidates = tuple(_candidate(c) for c in stated["candidates"])
            n_rows, n_given = (_checks.count(name, stated[name], minimum=0) for name in ("n_rows", "n_given"))
            return cls(_word(stated["noise"]), candidates, n_rows, n_given)
        except (LookupError, TypeError, ValueError) as error:
            raise ModelFileError("it does not say how its noise was chosen") from error


def _candidate(stated: Any) -> Candidate:
    names = ("elpd", "se", "behind", "behind_se")
    elpd, se, behind, behind_se = (_checks.number(name, stated[name], minimum=-math.inf) for name in names)
    n_high_k = _checks.count("n_high_k", stated["n_high_k"], minimum=0)
    return Candidate(_word(stated["noise"]), elpd, se, behind, behind_se, n_high_k)


def _word(value: Any) -> str:
    return _checks.choice("noise", value, FROM_SIMPLE)


def _against(other: Candidate) -> str:
    """How the chosen one stands to another."""
    size = f"{abs(other.behind):.1f} ± {other.behind_se:.1f} better"
    if other.behind >= 0.0:
        return f"{size} than {other.noise}"
    return f"{other.noise} is {size}, which is not clear enough"


def _doubts(candidates: tuple[Candidate, ...]) -> str:
    most = max(candidates, key=lambda c: c.n_high_k)
    if most.n_high_k == 0:
        return ""
    rows = "1 row" if most.n_high_k == 1 else f"{most.n_high_k:,} rows"
    return f" (uncertain of {rows} with {most.noise})"


def choose(found: Mapping[str, LeaveOneOut], n_given: int) -> NoiseChoice:
    """The noise to take, from leave-one-out of fits by name of the noise, all of the same rows in the same order."""
    names = [name for name in FROM_SIMPLE if name in found and math.isfinite(found[name].elpd)]
    if not names:
        return NoiseChoice(FROM_SIMPLE[0], (), 0, n_given)
    chosen = names[0]
    for name in names[1:]:
        gain, se = difference(found[name], found[chosen])
        if gain > max(CLEARLY * se, LEAST):
            chosen = name
    candidates = []
    for name in names:
        behind, behind_se = difference(found[chosen], found[name])
        one = found[name]
        candidates.append(Candidate(name, one.elpd, one.se, behind, behind_se, one.n_high_k))
    return NoiseChoice(chosen, tuple(candidates), len(found[chosen].pointwise), n_given)


def difference(one: LeaveOneOut, other: LeaveOneOut) -> tuple[float, float]:
    """How much better one is than the other, and the standard error of that, from the rows' own differences."""
    gains = one.pointwise - other.pointwise
    return float(gains.sum()), math.sqrt(len(gains)) * float(np.std(gains, ddof=1))
