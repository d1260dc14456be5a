"""Births, deaths and moves of units inside a window.

The ratios are those of `birth_death`, with Λ the integral of λ over the window and K the units inside. For a unit in
place k of those inside, with p the k-th column of R⁻¹ and m = R⁻¹ρ: its weight has posterior variance p_k and mean m_k,
so that taking it out divides by

    B_k = (p_k / v)^½ exp(½ m_k² / p_k)

A move to another place of the window: a candidate with products c with those inside has, once unit k is out,

    r = R_cc - cᵀR⁻¹c + (c·p)² / p_k,     rest = ρ_c - cᵀm + (c·p) m_k / p_k,     B = (r v)^-½ exp(½ rest² / r)

and the ratio is B / B_k · λ(c') / λ(c): steps are symmetric, as their lengths depend on the window alone.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.random import accept, normal, uniform
from porbnet.kernels.tally import IDLE, outcome
from porbnet.kernels.units import relative_intensity, scale_at, weight_variance
from porbnet.kernels.vectors import smaller
from porbnet.sampling.collapsed.windows.box import draw_place
from porbnet.sampling.collapsed.windows.state import MOST_INSIDE
from porbnet.sampling.collapsed.windows.visit import (
    copy_inside,
    extend,
    is_in_window,
    log_bayes_factor,
    put,
    refactor,
    settle,
)

BIRTH, DEATH = range(2)
LONGEST, LOG_LENGTHS = 0.5, math.log(30.0)  # of a step over the window's sides; from the longest to the shortest


@inner
def has_room(state: Any, visit: Any, n: int) -> bool:
    """Whether so many units may be inside; what is refused for want of room among all of them is noted."""
    if state.units.n - visit.n_held + n + 1 >= len(state.units.scales):
        state.units.lacking = 1
        return False
    return n <= MOST_INSIDE


@hot
def column_of_inverse(own: Any, k: int, out: Any) -> float:
    """Set `out` to the k-th column of R⁻¹; returns m_k."""
    factor, n, mean = own.factor, own.n, 0.0
    for i in range(k):
        out[i] = 0.0
    for i in range(k, n):
        row, total = factor[i], 1.0 if i == k else 0.0
        for t in range(k, i):
            total -= row[t] * out[t]
        out[i] = total * row[i]
        mean += out[i] * own.solved[i]
    for i in range(n - 1, -1, -1):
        total = out[i]
        for t in range(i + 1, n):
            total -= factor[t, i] * out[t]
        out[i] = total * factor[i, i]
    return mean


@inner
def birth_or_death(state: Any, visit: Any, rng: Any) -> int:
    """One birth-or-death step inside the window."""
    own, component, values = visit.sets[visit.current], state.components[0], state.values
    level, variance, n = values[component.level], weight_variance(component, values), visit.sets[visit.current].n
    expected, center = level * visit.mass, state.work.center
    if uniform(rng) < 0.5:
        if not has_room(state, visit, n + 1):
            return outcome(BIRTH, False)
        g = draw_place(component.shape, visit, rng, center)
        own.refused = 0
        put(state, visit, own, n, center, g, scale_at(component, level * g))
        if own.refused == 1:
            own.refused = 0
            return outcome(BIRTH, False)
        r = extend(own, n)
        accepted = accept(log_bayes_factor(r, own.solved[n], variance) + math.log(expected / (n + 1)), rng)
        if accepted:
            settle(own, n, r)
        return outcome(BIRTH, accepted)
    if n == 0:
        return outcome(DEATH, False)
    k = smaller(int(uniform(rng) * n), n - 1)
    mean = column_of_inverse(own, k, visit.vector)
    own_variance = visit.vector[k]
    log_b = 0.5 * math.log(own_variance / variance) + 0.5 * mean * mean / own_variance
    accepted = accept(math.log(n / expected) - log_b, rng)
    if accepted:
        copy_inside(own, n - 1, k, n)
        refactor(own, n - 1, variance)
    return outcome(DEATH, accepted)


@inner
def move(state: Any, visit: Any, rng: Any) -> int:
    """Move one unit inside the window."""
    own, component, values = visit.sets[visit.current], state.components[0], state.values
    n, center, shape = own.n, state.work.center, state.components[0].shape
    if n == 0:
        return IDLE
    variance, p = weight_variance(component, values), visit.vector
    k = smaller(int(uniform(rng) * n), n - 1)
    length = LONGEST * math.exp(-uniform(rng) * LOG_LENGTHS)
    for d in range(len(visit.low)):
        center[d] = own.centers[k, d] + length * (visit.high[d] - visit.low[d]) * normal(rng)
    if not is_in_window(state, visit, center):
        return outcome(0, False)
    g = relative_intensity(shape, center)
    own.refused = 0
    put(state, visit, own, n, center, g, scale_at(component, values[component.level] * g))
    if own.refused == 1:
        own.refused = 0
        return outcome(0, False)
    mean = column_of_inverse(own, k, p)
    log_ratio = math.log(g / own.relative[k]) - 0.5 * math.log(p[k] / variance) - 0.5 * mean * mean / p[k]
    along = 0.0
    for i in range(n):
        along += own.precision[n, i] * p[i]
    r, rest = extend(own, n) + along * along / p[k], own.solved[n] + along * mean / p[k]
    accepted = accept(log_ratio + log_bayes_factor(r, rest, variance), rng)
    if accepted:
        copy_inside(own, n, k, n + 1)
        refactor(own, n, variance)
    return outcome(0, accepted)
