"""Birth, death and moves of units, with weights and bias integrated out.

Given everything else, add a unit with column φ. With u = Φᵀφ/σ², r = φᵀφ/σ² + 1/v_w - uᵀPu and μ = (φᵀy/σ² - uᵀm) /
r, the marginal likelihood changes by the factor

    B(φ) = p(y | with) / p(y | without) = (r v_w)^(-½) exp(½ r μ²)

and 1/r, μ are the posterior variance and mean of its weight: taking out unit k divides by B_k with 1/r = P_kk and μ
= m_k, which costs nothing (the Savage-Dickey ratio).

Birth and death are proposed with odds ½ : ½. A birth draws c' from λ/Λ; a death picks one of the units at random.
The prior of the unordered units has density Π λ(c_k) e^(-Λ), so

    birth, K -> K + 1:  [λ(c') B] · [½ · 1/(K+1)] / [½ · λ(c')/Λ] = B · Λ / (K + 1)
    death, K -> K - 1:  the reciprocal with K for K + 1:            = K / (Λ B_k)

With K = 0 a death is no move: it is proposed with the same ½ and rejected, so no correction is needed.

A move takes unit k to c': its ratio is B(φ') / B_k · λ(c') / λ(c) · (proposal). A local move adds a symmetric step
whose length does not depend on the state, and is rejected outside the region; a long move draws c' from λ/Λ, which
cancels the λ ratio.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.gaussian import border, remove
from porbnet.sampling.collapsed.state import (
    AMPLITUDE,
    BIRTH,
    BLOCK,
    DEATH,
    LEVEL,
    LOCAL_MOVE,
    LONG_MOVE,
    NOISE,
    STEP_MOVE,
    Data,
    Hyper,
    Shape,
    Tuning,
    Units,
    Work,
)
from porbnet.sampling.collapsed.units import (
    draw_center,
    fill_column,
    inside,
    place,
    products,
    relative_intensity,
    scale_at,
)

SHORTEST, LONGEST = 0.03, 6.0  # of a local move's step, in units of the reference width
LONG_SHARE = 0.25  # of moves that are long


class Candidate(NamedTuple):
    """A fitted candidate: r, μ, its products φᵀφ and φᵀy, and its window."""

    r: float
    mu: float
    square: float
    with_y: float
    low: int
    high: int


@inner_kernel
def accept(log_ratio: float, rng: Any) -> bool:
    """The one accept rule: with probability min(1, exp(log_ratio)); NaN is never accepted."""
    return bool(math.log(1.0 - rng.random()) < log_ratio)


@inner_kernel
def fit_candidate(
    data: Data, units: Units, hyper: Hyper, values: Any, work: Work, scale: float, skip: int
) -> Candidate:
    """Fit the unit at work.center with a given scale, unit `skip` taken out (none if `skip` is the number of units).

    Fills work.column, work.cross (Φᵀφ) and work.applied (P Φᵀφ / σ²). With unit k out, P becomes P - p pᵀ / P_kk and m
    becomes m - p m_k / P_kk, p the k-th column of P.
    """
    low, high = fill_column(data, work.center, scale, work.column)
    square, with_y = products(data, units, work.column, low, high, np.int64(0), work.cross)  # type: ignore[arg-type]
    n = units.n[0] + 1
    whole = (n + BLOCK - 1) // BLOCK * BLOCK
    precision = 1.0 / (values[NOISE] * values[NOISE])
    applied = work.applied
    if skip + 1 < n:
        work.cross[skip + 1] = 0.0
    for i in range(n, whole):
        work.cross[i] = 0.0
    for i in range(whole):
        applied[i] = 0.0
    for j in range(n):
        f = work.cross[j] * precision
        if f != 0.0:
            for i in range(whole):
                applied[i] += f * units.inverse[j, i]
    for i in range(n, whole):
        applied[i] = 0.0
    with_mean = 0.0
    for i in range(n):
        with_mean += units.mean[i] * work.cross[i]
    if skip + 1 < n:
        f = applied[skip + 1] / units.inverse[skip + 1, skip + 1]  # uᵀp / P_kk
        with_mean -= f * units.mean[skip + 1] / precision
        for i in range(n):
            applied[i] -= f * units.inverse[skip + 1, i]
    quadratic = 0.0
    for i in range(whole):
        quadratic += applied[i] * work.cross[i]
    prior_precision = 1.0 / (hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE])
    r = (square - quadratic) * precision + prior_precision
    mu = (with_y - with_mean) * precision / r
    return Candidate(r, mu, square, with_y, low, high)


@inner_kernel
def broken(candidate: Candidate, weight_variance: float, units: Units, tuning: Tuning) -> bool:
    """Whether rounding has broken r v_w > 1 (a posterior variance is below the prior's).

    Then P is marked stale, so that it is computed afresh before the next proposal; this one is abandoned.
    """
    if candidate.r * weight_variance > 1.0 - 1e-6:
        return False
    tuning.trouble[0] += 1.0
    units.updates[0] = -1
    return True


@inner_kernel
def log_bayes_factor(candidate: Candidate, weight_variance: float) -> float:
    """Log Bayes factor, log B = -½ log(r v_w) + ½ r μ² of a unit that is not there."""
    return -0.5 * math.log(candidate.r * weight_variance) + 0.5 * candidate.r * candidate.mu * candidate.mu


@inner_kernel
def insert(units: Units, work: Work, candidate: Candidate, g: float, scale: float) -> None:
    """Put the candidate in as the last unit: P, m, Gram matrix and its own arrays."""
    k = units.n[0]
    border(units, work.applied, candidate.r, candidate.mu)
    for j in range(k + 1):
        units.gram[j, k + 1] = work.cross[j]
        units.gram[k + 1, j] = work.cross[j]
    units.gram[k + 1, k + 1] = candidate.square
    units.moment[k + 1] = candidate.with_y
    place(units, k, work.center, g, scale, candidate.low, candidate.high)
    for i in range(candidate.high - candidate.low):
        units.columns[k, i] = work.column[i]
    units.n[0] = k + 1
    units.updates[0] += 1


@inner_kernel
def birth_or_death(
    data: Data, shape: Shape, hyper: Hyper, units: Units, values: Any, tuning: Tuning, work: Work, rng: Any
) -> None:
    """One birth-or-death step; see the module's docstring for the ratios. P must be current."""
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    expected = values[LEVEL] * shape.integral[0]
    n = units.n[0]
    if rng.random() < 0.5:
        tuning.tried[BIRTH] += 1
        g = draw_center(shape, rng, work.center)
        scale = scale_at(hyper, values[LEVEL] * g, len(work.center))
        candidate = fit_candidate(data, units, hyper, values, work, scale, n)
        if broken(candidate, weight_variance, units, tuning):
            return
        log_ratio = log_bayes_factor(candidate, weight_variance) + math.log(expected / (n + 1))
        if accept(log_ratio, rng):
            tuning.accepted[BIRTH] += 1
            insert(units, work, candidate, g, scale)
    else:
        tuning.tried[DEATH] += 1
        if n == 0:
            return
        k = min(int(rng.random() * n), n - 1)
        log_ratio = math.log(n / expected) - log_bayes_factor_of(units, k, weight_variance)
        if accept(log_ratio, rng):
            tuning.accepted[DEATH] += 1
            remove(units, k, work.vector)


@inner_kernel
def log_bayes_factor_of(units: Units, k: int, weight_variance: float) -> float:
    """Log Bayes factor log B_k of a unit that is there, from its posterior variance and mean."""
    variance = units.inverse[k + 1, k + 1]
    mean = units.mean[k + 1]
    return float(0.5 * math.log(variance / weight_variance) + 0.5 * mean * mean / variance)


@inner_kernel
def move(
    data: Data, shape: Shape, hyper: Hyper, units: Units, values: Any, tuning: Tuning, work: Work, rng: Any
) -> None:
    """Move one unit, by a local step of a random length or to a fresh place. P must be current."""
    n = units.n[0]
    if n == 0:
        return
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    k = min(int(rng.random() * n), n - 1)
    n_dims = len(work.center)
    if rng.random() < LONG_SHARE:
        kind = LONG_MOVE
        tuning.tried[kind] += 1
        g = draw_center(shape, rng, work.center)
        log_ratio = 0.0
    else:
        kind = LOCAL_MOVE
        tuning.tried[kind] += 1
        # the length does not depend on where the unit is, so the step is symmetric
        length = tuning.steps[STEP_MOVE] * SHORTEST * math.exp(rng.random() * math.log(LONGEST / SHORTEST))
        for d in range(n_dims):
            work.center[d] = units.centers[k, d] + length * rng.standard_normal()
        if not inside(shape, work.center):
            return
        g = relative_intensity(shape, work.center)
        log_ratio = math.log(g / units.relative[k])
    scale = scale_at(hyper, values[LEVEL] * g, n_dims)
    candidate = fit_candidate(data, units, hyper, values, work, scale, k)
    if broken(candidate, weight_variance, units, tuning):
        return
    log_ratio += log_bayes_factor(candidate, weight_variance) - log_bayes_factor_of(units, k, weight_variance)
    if accept(log_ratio, rng):
        tuning.accepted[kind] += 1
        last = units.n[0]  # row that moves into unit k's place when it is taken out
        remove(units, k, work.vector)
        # the candidate's products follow the units to their new places
        if k + 1 != last:
            work.cross[k + 1] = work.cross[last]
            work.applied[k + 1] = work.applied[last]
        work.applied[last] = 0.0
        insert(units, work, candidate, g, scale)
