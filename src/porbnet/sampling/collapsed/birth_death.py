"""Birth, death and moves of units, with weights and bias integrated out.

Given everything else, add a unit with column φ. With u = Φᵀφ/σ², r = φᵀφ/σ² + 1/v_w - uᵀPu and μ = (φᵀy/σ² - uᵀm) /
r, the marginal likelihood changes by the factor

    B(φ) = p(y | with) / p(y | without) = (r v_w)^(-½) exp(½ r μ²)

and 1/r, μ are the posterior variance and mean of its weight: taking out unit k divides by B_k with 1/r = P_kk and μ
= m_k, which costs nothing (the Savage-Dickey ratio).

Birth and death are proposed with odds ½ : ½, in one of the components chosen at random. A birth draws c' from λ/Λ; a
death picks one of its K units at random. The prior of the unordered units has density Π λ(c_k) e^(-Λ), so

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

from porbnet.base.compiled import hot, inner
from porbnet.kernels.factor import add_last, mean_from_factor, row_of_inverse, solve, solve_transposed
from porbnet.kernels.gaussian import border, count_of, is_informed, remove
from porbnet.kernels.random import accept, normal, uniform
from porbnet.kernels.state import BLOCK, NOISE
from porbnet.kernels.tally import IDLE, outcome
from porbnet.kernels.units import (
    add_row,
    draw_center,
    fill_column,
    inside,
    place,
    products,
    relative_intensity,
    scale_at,
    too_sharp,
    weight_variance,
)
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.kernels.views import part
from porbnet.sampling.collapsed.state import STEP_MOVE

BIRTH, DEATH = range(2)
LOCAL, LONG = range(2)
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


@hot
def fit_candidate(state: Any, component: Any, scale: float, skip: int) -> Candidate:
    """Fit the unit at work.center with a given scale, unit `skip` taken out (none if `skip` is the number of units).

    Fills work.column, work.cross (Φᵀφ) and work.applied (P Φᵀφ / σ²). With unit k out, P becomes P - p pᵀ / P_kk and m
    becomes m - p m_k / P_kk, p the k-th column of P.
    """
    units, work, noise = state.units, state.work, state.values[NOISE]
    column, cross, applied = work.column, work.cross, work.applied
    inverse, mean = units.inverse, units.mean
    low, high = fill_column(state.rows, component, work.center, scale, column)
    if too_sharp(state.rows, component, work.center, scale, low, high):
        state.rows.coarse = 1
        return Candidate(math.inf, 0.0, 0.0, 0.0, low, high)  # its Bayes factor is not a number: never accepted
    n = units.n + 1
    others = part(cross, 1, len(cross))
    square, with_y, cross[0] = products(state.rows, units, column, low, high, np.int64(0), others)  # type: ignore[arg-type]
    whole = (n + BLOCK - 1) // BLOCK * BLOCK
    precision = 1.0 / (noise * noise)
    if skip + 1 < n:
        cross[skip + 1] = 0.0
    for i in range(n, whole):
        cross[i] = 0.0
    for i in range(whole):
        applied[i] = 0.0
    quadratic, by_factor = 0.0, is_informed(state)
    if by_factor:
        ordered, order = units.ordered, units.order
        for i in range(n):
            ordered[i] = cross[order[i]] * precision
        solve(units, ordered)
        for i in range(n):
            quadratic += ordered[i] * ordered[i]
        solve_transposed(units, ordered)
        for i in range(n):
            applied[order[i]] = ordered[i]
    else:
        for j in range(n):
            f = cross[j] * precision
            if f != 0.0:
                for i in range(whole):
                    applied[i] += f * inverse[j, i]
        for i in range(n, whole):
            applied[i] = 0.0
    with_mean = 0.0
    for i in range(n):
        with_mean += mean[i] * cross[i]
    if skip + 1 < n:
        f = applied[skip + 1] / inverse[skip + 1, skip + 1]  # uᵀp / P_kk
        with_mean -= f * mean[skip + 1] / precision
        quadratic -= f * applied[skip + 1]
        for i in range(n):
            applied[i] -= f * inverse[skip + 1, i]
    quadratic /= precision
    if not by_factor:
        quadratic = 0.0
        for i in range(whole):
            quadratic += applied[i] * cross[i]
    prior_precision = 1.0 / weight_variance(component, state.values)
    r = (square - quadratic) * precision + prior_precision
    mu = (with_y - with_mean) * precision / r
    return Candidate(r, mu, square, with_y, low, high)


@inner
def broken(state: Any, candidate: Candidate, variance: float) -> bool:
    """Whether rounding has broken r v_w > 1 (a posterior variance is below the prior's).

    Then P is marked stale, so that it is computed afresh before the next proposal; this one is abandoned.
    """
    if candidate.r * variance > 1.0 - 1e-6:
        return False
    state.tuning.forced += 1
    state.units.updates = -1
    return True


@inner
def log_bayes_factor(candidate: Candidate, variance: float) -> float:
    """Log Bayes factor, log B = -½ log(r v_w) + ½ r μ² of a unit that is not there."""
    return -0.5 * math.log(candidate.r * variance) + 0.5 * candidate.r * candidate.mu * candidate.mu


@inner
def insert(state: Any, owner: int, candidate: Candidate, g: float, scale: float) -> None:
    """Put the candidate in as the last unit: P or the factor, m, Gram matrix and its own arrays."""
    units, work = state.units, state.work
    k, cross, informed = units.n, work.cross, is_informed(state)
    if informed:
        extend(state, owner, candidate)
    else:
        border(units, work.applied, candidate.r, candidate.mu)
    place(units, k, owner, work.center, g, scale, candidate.low, candidate.high)
    copy(work.column, units.columns[k], candidate.high - candidate.low)
    add_row(units, part(cross, 1, len(cross)), candidate.square, candidate.with_y, cross[0])
    if informed:
        mean_from_factor(units, state.values[NOISE])
    units.updates += 1


@inner
def extend(state: Any, owner: int, candidate: Candidate) -> None:
    """The factor of A with the candidate in the last place."""
    units, cross = state.units, state.work.cross
    ordered, precision = units.ordered, 1.0 / (state.values[NOISE] * state.values[NOISE])
    quadratic = 0.0
    for i in range(units.n + 1):
        ordered[i] = cross[units.order[i]] * precision
    solve(units, ordered)
    for i in range(units.n + 1):
        quadratic += ordered[i] * ordered[i]
    prior_precision = 1.0 / weight_variance(state.components[owner], state.values)
    r = candidate.square * precision + prior_precision - quadratic
    add_last(units, ordered, larger(r, prior_precision))  # a posterior variance is below the prior's


@inner
def unit_of(units: Any, owner: int, n_components: int, which: int) -> int:
    """The place of a component's unit number `which`."""
    if n_components == 1:
        return which
    k = -1
    while which >= 0:
        k += 1
        which -= 1 if units.owner[k] == owner else 0
    return k


@inner
def birth_or_death(state: Any, rng: Any) -> int:
    """One birth-or-death step; see the module's docstring for the ratios. P must be current."""
    units, values, n_components = state.units, state.values, len(state.components)
    owner = 0 if n_components == 1 else smaller(int(uniform(rng) * n_components), n_components - 1)
    component = state.components[owner]
    shape, level, variance = component.shape, values[component.level], weight_variance(component, values)
    expected, n = level * shape.integral, count_of(units, owner, n_components)
    if uniform(rng) < 0.5:
        g = draw_center(shape, rng, state.work.center)
        scale = scale_at(component, level * g)
        candidate = fit_candidate(state, component, scale, units.n)
        if broken(state, candidate, variance):
            return outcome(BIRTH, False)
        log_ratio = log_bayes_factor(candidate, variance) + math.log(expected / (n + 1))
        if accept(log_ratio, rng):
            insert(state, owner, candidate, g, scale)
            return outcome(BIRTH, True)
        return outcome(BIRTH, False)
    if n == 0:
        return outcome(DEATH, False)
    k = unit_of(units, owner, n_components, smaller(int(uniform(rng) * n), n - 1))
    if is_informed(state):
        row_of_inverse(units, k + 1)
    log_ratio = math.log(n / expected) - log_bayes_factor_of(units, k, variance)
    if accept(log_ratio, rng):
        remove(state, k)
        return outcome(DEATH, True)
    return outcome(DEATH, False)


@inner
def log_bayes_factor_of(units: Any, k: int, variance: float) -> float:
    """Log Bayes factor log B_k of a unit that is there, from its posterior variance and mean."""
    own, mean = units.inverse[k + 1, k + 1], units.mean[k + 1]
    return float(0.5 * math.log(own / variance) + 0.5 * mean * mean / own)


@inner
def relocate(state: Any, k: int, candidate: Candidate, g: float, scale: float) -> None:
    """Put the candidate, fitted with unit k taken out, in the place of unit k."""
    units, work, owner = state.units, state.work, state.units.owner[k]
    last = units.n  # row that moves into unit k's place when it is taken out
    remove(state, k)
    # the candidate's products follow the units to their new places
    if k + 1 != last:
        work.cross[k + 1] = work.cross[last]
        work.applied[k + 1] = work.applied[last]
    work.applied[last] = 0.0
    insert(state, owner, candidate, g, scale)


@inner
def move_by_factor(state: Any, k: int, g: float, scale: float, log_ratio: float, rng: Any) -> bool:
    """The same ratio where the factor is carried: unit k is taken out, and it or the candidate at work.center put in.

    Its difference to the others would lose too many digits with unit k in place.
    """
    units, work, owner = state.units, state.work, state.units.owner[k]
    component, n_dims = state.components[owner], len(work.center)
    variance = weight_variance(component, state.values)
    old_g, old_scale, kept = units.relative[k], units.scales[k], work.vector
    copy(units.centers[k], kept, n_dims)
    for d in range(n_dims):
        kept[n_dims + d] = work.center[d]
    remove(state, k)
    log_b, accepted = 0.0, False
    for attempt in range(3):  # the unit as it was, the candidate, and the unit again if that is refused
        at = n_dims if attempt == 1 else 0
        copy(part(kept, at, at + n_dims), work.center, n_dims)
        candidate = fit_candidate(state, component, scale if attempt == 1 else old_scale, units.n)
        if attempt == 0:
            log_b = log_bayes_factor(candidate, larger(variance, 1.0 / candidate.r))
        elif attempt == 1:
            sound = not broken(state, candidate, variance)
            accepted = sound and accept(log_ratio + log_bayes_factor(candidate, variance) - log_b, rng)
            if accepted:
                insert(state, owner, candidate, g, scale)
        elif not accepted:
            insert(state, owner, candidate, old_g, old_scale)
    return accepted


@inner
def move(state: Any, rng: Any) -> int:
    """Move one unit, by a local step of a random length or to a fresh place. P must be current."""
    units, values, work = state.units, state.values, state.work
    n = units.n
    if n == 0:
        return IDLE
    k = smaller(int(uniform(rng) * n), n - 1)
    component = state.components[units.owner[k]]
    shape, variance = component.shape, weight_variance(component, values)
    if uniform(rng) < LONG_SHARE:
        kind = LONG
        g = draw_center(shape, rng, work.center)
        log_ratio = 0.0
    else:
        kind = LOCAL
        # the length does not depend on where the unit is, so the step is symmetric
        length = state.tuning.steps[STEP_MOVE] * SHORTEST * math.exp(uniform(rng) * math.log(LONGEST / SHORTEST))
        copy(units.centers[k], work.center, len(work.center))
        for d in range(component.x.shape[0]):
            work.center[d] += length * normal(rng)
        if not inside(shape, work.center):
            return outcome(kind, False)
        g = relative_intensity(shape, work.center)
        log_ratio = math.log(g / units.relative[k])
    scale = scale_at(component, values[component.level] * g)
    if is_informed(state):
        return outcome(kind, move_by_factor(state, k, g, scale, log_ratio, rng))
    candidate = fit_candidate(state, component, scale, k)
    if broken(state, candidate, variance):
        return outcome(kind, False)
    log_ratio += log_bayes_factor(candidate, variance) - log_bayes_factor_of(units, k, variance)
    if not accept(log_ratio, rng):
        return outcome(kind, False)
    relocate(state, k, candidate, g, scale)
    return outcome(kind, True)
