"""The Gaussian part: given centers and hyper-parameters, bias and weights are N(m, P).

    A = ΦᵀΦ / σ² + diag(1/σ_b², 1/v_w, ...),   P = A⁻¹,   m = P Φᵀy / σ²
    log p(y) = -N/2 log(2πσ²) - ½ log σ_b² - K/2 log v_w - ½ log|A| - yᵀy / 2σ² + ½ mᵀAm

Observations with weights count as so many (N is their sum): their rows of Φ and y carry the weights' square roots.

A is factored from the Gram matrix, which is kept exactly, within its envelope (`arrange`). P and m are carried by
rank-one updates (bordering for a birth, Schur complement for a death) and computed afresh now and then.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inlined_kernel, inner_kernel
from porbnet.sampling.collapsed.state import BLOCK, Data, Hyper, Tuning, Units

MOST_UPDATES = 400  # rank-one updates before P is computed afresh
DRIFT = 1e-6  # of the mean, relative to its size, above which a refresh counts as forced


@inner_kernel
def arrange(units: Units) -> None:
    """Order of factorisation: units from left to right, the bias last.

    Units overlap only with near ones, so that in this order A is banded but for the bias's row, and its factor has
    zeros left of each row's first nonzero (the envelope).
    """
    n = units.n[0]
    for k in range(n):
        at = k
        while at > 0 and units.centers[units.order[at - 1] - 1, 0] > units.centers[k, 0]:
            units.order[at] = units.order[at - 1]
            at -= 1
        units.order[at] = k + 1
    units.order[n] = 0
    units.first[n] = 0
    reach = 0.0
    for i in range(n):
        k, first = units.order[i] - 1, i
        while first > 0 and units.ordered[first - 1] > units.low[k]:
            first -= 1
        units.first[i] = first
        reach = max(reach, units.high[k])
        units.ordered[i] = reach  # of all units so far


@inlined_kernel
def factorize(units: Units, noise2: float, weight_variance: float, bias_variance: float) -> float:
    """Lower Cholesky factor of A into units.factor; returns log|A|, or NaN if A is not positive definite."""
    arrange(units)
    n = units.n[0] + 1
    precision = 1.0 / noise2
    factor, gram = units.factor, units.gram
    log_det = 0.0
    for i in range(n):
        row, first = units.order[i], units.first[i]
        for j in range(first, i):
            start = max(first, units.first[j])
            mine, other = factor[i, start:j], factor[j, start:j]
            total = 0.0
            for m in range(j - start):
                total += mine[m] * other[m]
            factor[i, j] = (gram[row, units.order[j]] * precision - total) * factor[j, j]
        mine = factor[i, first:i]
        total = 0.0
        for m in range(i - first):
            total += mine[m] * mine[m]
        prior = 1.0 / bias_variance if row == 0 else 1.0 / weight_variance
        pivot = gram[row, row] * precision + prior - total
        if not pivot > 0.0:
            return math.nan
        log_det += math.log(pivot)
        factor[i, i] = 1.0 / math.sqrt(pivot)  # the diagonal is kept inverted: products instead of divisions
    return log_det


@inner_kernel
def log_marginal(data: Data, units: Units, noise2: float, weight_variance: float, bias_variance: float) -> float:
    """Log likelihood log p(y | centers, hyper-parameters); -inf if A cannot be factored to any use.

    Leaves the factor of A in units.factor and L⁻¹ Φᵀy / σ² in units.ordered.
    """
    log_det = factorize(units, noise2, weight_variance, bias_variance)
    if math.isnan(log_det):
        return -math.inf
    n = units.n[0] + 1
    fit = 0.0
    for i in range(n):
        first = units.first[i]
        mine, done = units.factor[i, first:i], units.ordered[first:i]
        total = units.moment[units.order[i]] / noise2
        for j in range(i - first):
            total -= mine[j] * done[j]
        units.ordered[i] = total * units.factor[i, i]
        fit += units.ordered[i] * units.ordered[i]
    if not fit <= data.totals[0] / noise2:  # yᵀC⁻¹y below zero: rounding has won, though every pivot was positive
        return -math.inf
    return float(
        -0.5 * data.totals[2] * math.log(2.0 * math.pi * noise2)
        - 0.5 * math.log(bias_variance)
        - 0.5 * units.n[0] * math.log(weight_variance)
        - 0.5 * log_det
        - 0.5 * data.totals[0] / noise2
        + data.totals[1]
        + 0.5 * fit
    )


@inner_kernel
def solve_transposed(units: Units, vector: Any) -> None:
    """Replace the vector by L⁻ᵀ times it, in the order of factorisation."""
    for i in range(units.n[0], -1, -1):
        first = units.first[i]
        vector[i] *= units.factor[i, i]
        value, row, rest = vector[i], units.factor[i, first:i], vector[first:i]
        for j in range(i - first):
            rest[j] -= row[j] * value


@inner_kernel
def refit(data: Data, units: Units, hyper: Hyper, values: Any, tuning: Tuning) -> float:
    """Mean m and factor of A from the Gram matrix; returns log p(y), and notes how far m had drifted. P is left stale.

    If A is not positive definite in floating point (units almost on top of each other, next to no noise), the Gram
    matrix's diagonal is raised by the least power of ten that makes it so, and the event is counted.
    """
    noise2 = values[0] * values[0]
    weight_variance = hyper.weight_factor * values[1] * values[1]
    n = units.n[0] + 1
    log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance)
    raised = 1e-14
    while log_p == -math.inf and raised < 1e-3:
        tuning.trouble[0] += 1.0
        for i in range(n):
            units.gram[i, i] *= 1.0 + raised
        raised *= 10.0
        log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance)
    solve_transposed(units, units.ordered)
    largest, drift = 1e-300, 0.0
    for i in range(n):
        row, value = units.order[i], units.ordered[i]
        largest = max(largest, abs(value))
        drift = max(drift, abs(value - units.mean[row]))
        units.mean[row] = value
    if units.updates[0] > 0:
        tuning.trouble[1] = max(tuning.trouble[1], drift / largest)
        if drift > DRIFT * largest:
            tuning.trouble[0] += 1.0
    units.updates[0] = -1
    return log_p


@inner_kernel
def refresh(data: Data, units: Units, hyper: Hyper, values: Any, tuning: Tuning) -> float:
    """P, m and the factor of A from the Gram matrix, see `refit`; returns log p(y)."""
    log_p = refit(data, units, hyper, values, tuning)
    invert(units)
    units.updates[0] = 0
    return log_p


@inlined_kernel
def invert(units: Units) -> None:
    """P from the factor: X = L⁻¹ row by row, then P = XᵀX, both in units.scratch; rows are added, which vectorises."""
    n = units.n[0] + 1
    factor, scratch = units.factor, units.scratch
    for i in range(n):
        for j in range(i):
            scratch[i, j] = 0.0
        for m in range(units.first[i], i):
            f = factor[i, m]
            for j in range(m + 1):
                scratch[i, j] -= f * scratch[m, j]
        for j in range(i):
            scratch[i, j] *= factor[i, i]
        scratch[i, i] = factor[i, i]
    for i in range(n):
        # row i of P needs X_mi for m >= i, and rows m >= i are still those of X
        f = scratch[i, i]
        for j in range(i + 1):
            scratch[i, j] *= f
        for m in range(i + 1, n):
            f = scratch[m, i]
            if f != 0.0:
                for j in range(i + 1):
                    scratch[i, j] += f * scratch[m, j]
    for i in range(n):
        row = units.order[i]
        for j in range(i + 1):
            column = units.order[j]
            units.inverse[row, column] = scratch[i, j]
            units.inverse[column, row] = scratch[i, j]


@inner_kernel
def needs_refresh(units: Units) -> bool:
    """Whether P is stale or has been updated often."""
    return bool(units.updates[0] < 0 or units.updates[0] > MOST_UPDATES)


@inlined_kernel
def border(units: Units, applied: Any, r: float, mu: float) -> None:
    """P and m after a birth; `applied` is q = P Φᵀφ / σ² for the rows before it, zero beyond.

    P' = [[P + qqᵀ/r, -q/r], [-qᵀ/r, 1/r]],  m' = (m - q μ, μ).
    """
    n = units.n[0] + 1  # rows before; the new unit takes row n
    whole = (n + BLOCK - 1) // BLOCK * BLOCK
    inverse = units.inverse
    scale = 1.0 / r
    for i in range(n):
        f = applied[i] * scale
        for j in range(whole):
            inverse[i, j] += f * applied[j]
    for i in range(n):
        f = -applied[i] * scale
        inverse[i, n] = f
        inverse[n, i] = f
        units.mean[i] -= applied[i] * mu
    inverse[n, n] = scale
    units.mean[n] = mu


@inner_kernel
def remove(units: Units, k: int, work: Any) -> None:
    """Take out unit k: P and m by the Schur complement, then the last unit takes its place."""
    n = units.n[0] + 1
    inverse, gram = units.inverse, units.gram
    at = k + 1
    pivot = 1.0 / inverse[at, at]
    mean_k = units.mean[at]
    whole = (n + BLOCK - 1) // BLOCK * BLOCK
    for j in range(n):
        work[j] = inverse[at, j]
    for j in range(n, whole):
        work[j] = 0.0
    for i in range(n):
        f = work[i] * pivot
        for j in range(whole):
            inverse[i, j] -= f * work[j]
        units.mean[i] -= f * mean_k
    last = n - 1
    if at != last:
        # column and row `last` move to `at` (P, Gram, mean, moment), and unit last - 1 to k
        for i in range(n):
            inverse[i, at] = inverse[i, last]
            gram[i, at] = gram[i, last]
        for j in range(n):
            inverse[at, j] = inverse[last, j]
            gram[at, j] = gram[last, j]
        inverse[at, at] = inverse[last, last]
        gram[at, at] = gram[last, last]
        units.mean[at] = units.mean[last]
        units.moment[at] = units.moment[last]
        move_unit(units, last - 1, k)
    units.n[0] -= 1
    units.updates[0] += 1


@inlined_kernel
def move_unit(units: Units, source: int, target: int) -> None:
    """Copy a unit's own arrays from one place to another."""
    for d in range(units.centers.shape[1]):
        units.centers[target, d] = units.centers[source, d]
    units.relative[target] = units.relative[source]
    units.scales[target] = units.scales[source]
    units.low[target] = units.low[source]
    units.high[target] = units.high[source]
    for i in range(units.high[source] - units.low[source]):
        units.columns[target, i] = units.columns[source, i]
