"""The factor of A carried from one unit to the next, where the data say too much for P.

With A = L Lᵀ and rows in the order of factorisation, a new unit takes the last place:

    L' = [[L, 0], [ℓᵀ, √r]],   ℓ = L⁻¹ Φᵀφ / σ²,   r as in `birth_death`.

Taking out the unit in place p leaves the rows above it as they are. What is below and to the right of it, L₂₂, becomes
the factor of L₂₂ L₂₂ᵀ + x xᵀ, x being column p below the diagonal: a rank-one update by plane rotations, which loses no
precision. Row and column p of P are two triangular systems. Each takes K² operations, as updates of P do, and the
error is that of a factorisation: N / σ² times the rounding unit instead of its square.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot
from porbnet.kernels.views import part


@hot
def solve(units: Any, vector: Any) -> None:
    """Replace the vector by L⁻¹ times it, in the order of factorisation."""
    factor = units.factor
    for i in range(units.n + 1):
        first, at = units.first[i], units.factor_at[i]
        row, done = part(factor, at + first, at + i), part(vector, first, i)
        total = vector[i]
        for j in range(i - first):
            total -= row[j] * done[j]
        vector[i] = total * factor[at + i]


@hot
def solve_transposed(units: Any, vector: Any) -> None:
    """Replace the vector by L⁻ᵀ times it, in the order of factorisation."""
    factor = units.factor
    for i in range(units.n, -1, -1):
        first, at = units.first[i], units.factor_at[i]
        vector[i] *= factor[at + i]
        value, row, rest = vector[i], part(factor, at + first, at + i), part(vector, first, i)
        for j in range(i - first):
            rest[j] -= row[j] * value


@hot
def mean_from_factor(units: Any, noise: float) -> None:
    """Set the mean, A⁻¹ Φᵀy / σ²."""
    n, ordered, order = units.n + 1, units.ordered, units.order
    for i in range(n):
        ordered[i] = units.moment[order[i]] / (noise * noise)
    solve(units, ordered)
    solve_transposed(units, ordered)
    for i in range(n):
        units.mean[order[i]] = ordered[i]


@hot
def row_of_inverse(units: Any, row: int) -> None:
    """Set row and column `row` of P from the factor."""
    n, ordered, order, inverse = units.n + 1, units.ordered, units.order, units.inverse
    for i in range(n):
        ordered[i] = 1.0 if order[i] == row else 0.0
    solve(units, ordered)
    solve_transposed(units, ordered)
    for i in range(n):
        inverse[row, order[i]] = ordered[i]
        inverse[order[i], row] = ordered[i]


@hot
def add_last(units: Any, row: Any, r: float) -> None:
    """Add the row ℓ of a new unit, which is number units.n + 1 among the rows of A; units.n is still without it."""
    n, factor = units.n + 1, units.factor
    first = 0
    while first < n and row[first] == 0.0:
        first += 1
    at = units.factor_at[n]
    for j in range(first, n):
        factor[at + j] = row[j]
    factor[at + n] = 1.0 / math.sqrt(r)
    units.first[n] = first
    units.order[n] = n


@hot
def take_out(units: Any, row: int) -> None:
    """Take a row of A out of the factor; units.n still counts it, and the last row of A gets its number."""
    n, factor, firsts, order = units.n + 1, units.factor, units.first, units.order
    p, x = 0, units.ordered
    while order[p] != row:
        p += 1
    for i in range(p + 1, n):
        x[i] = factor[units.factor_at[i] + p] if firsts[i] <= p else 0.0
    for k in range(p + 1, n):
        if x[k] == 0.0:
            continue
        at = units.factor_at[k]
        pivot = 1.0 / factor[at + k]
        radius = math.sqrt(pivot * pivot + x[k] * x[k])
        cosine, sine = pivot / radius, x[k] / radius
        factor[at + k] = 1.0 / radius
        for i in range(k + 1, n):
            below = units.factor_at[i] + k
            old = factor[below] if firsts[i] <= k else 0.0
            if old != 0.0 or x[i] != 0.0:
                if firsts[i] > k:
                    for j in range(k, firsts[i]):
                        factor[units.factor_at[i] + j] = 0.0
                    firsts[i] = k
                factor[below] = cosine * old + sine * x[i]
                x[i] = cosine * x[i] - sine * old
    for i in range(p + 1, n):  # up by one row and left by one column
        old_at, new_at, first = units.factor_at[i], units.factor_at[i - 1], firsts[i]
        if first < p:
            for j in range(first, p):
                factor[new_at + j] = factor[old_at + j]
        for j in range(p + 1 if first <= p else first, i + 1):
            factor[new_at + j - 1] = factor[old_at + j]
        firsts[i - 1] = first if first <= p else first - 1
        order[i - 1] = order[i]
    for i in range(n - 1):
        if order[i] == n - 1:
            order[i] = row
