"""The Gaussian part: given centers and hyper-parameters, bias and weights are N(m, P).

    A = ΦᵀΦ / σ² + diag(1/σ_b², 1/v_w, ...),   P = A⁻¹,   m = P Φᵀy / σ²
    log p(y) = -N/2 log(2πσ²) - ½ log σ_b² - K/2 log v_w - ½ log|A| - yᵀy / 2σ² + ½ mᵀAm

A is factored from the Gram matrix, which is kept exactly; P and m are carried by rank-one updates (bordering for a
birth, Schur complement for a death) and computed afresh now and then.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet._numba import inlined_kernel
from porbnet._numba import lean_kernel as kernel
from porbnet.inference.collapsed.state import BLOCK, Data, Hyper, Tuning, Units

MOST_UPDATES = 400  # rank-one updates before P is computed afresh
DRIFT = 1e-6  # of the mean, relative to its size, above which a refresh counts as forced


@inlined_kernel
def factorize(units: Units, noise2: float, weight_variance: float, bias_variance: float) -> float:
    """Lower Cholesky factor of A into units.factor; returns log|A|, or NaN if A is not positive definite."""
    n = units.n[0] + 1
    precision = 1.0 / noise2
    factor, gram = units.factor, units.gram
    log_det = 0.0
    for i in range(n):
        for j in range(i):
            total = 0.0
            for m in range(j):
                total += factor[i, m] * factor[j, m]
            factor[i, j] = (gram[i, j] * precision - total) * factor[j, j]
        total = 0.0
        for m in range(i):
            total += factor[i, m] * factor[i, m]
        prior = 1.0 / bias_variance if i == 0 else 1.0 / weight_variance
        pivot = gram[i, i] * precision + prior - total
        if not pivot > 0.0:
            return math.nan
        log_det += math.log(pivot)
        factor[i, i] = 1.0 / math.sqrt(pivot)  # the diagonal is kept inverted: products instead of divisions
    return log_det


@kernel
def log_marginal(
    data: Data, units: Units, noise2: float, weight_variance: float, bias_variance: float, work: Any
) -> float:
    """Log likelihood log p(y | centers, hyper-parameters); -inf if A cannot be factored.

    Leaves the factor of A in units.factor and L⁻¹ Φᵀy / σ² in `work`.
    """
    log_det = factorize(units, noise2, weight_variance, bias_variance)
    if math.isnan(log_det):
        return -math.inf
    n = units.n[0] + 1
    fit = 0.0
    for i in range(n):
        total = units.moment[i] / noise2
        for j in range(i):
            total -= units.factor[i, j] * work[j]
        work[i] = total * units.factor[i, i]
        fit += work[i] * work[i]
    n_points = len(data.y)
    return float(
        -0.5 * n_points * math.log(2.0 * math.pi * noise2)
        - 0.5 * math.log(bias_variance)
        - 0.5 * units.n[0] * math.log(weight_variance)
        - 0.5 * log_det
        - 0.5 * data.totals[0] / noise2
        + data.totals[1]
        + 0.5 * fit
    )


@kernel
def refresh(data: Data, units: Units, hyper: Hyper, values: Any, tuning: Tuning, work: Any) -> float:
    """P, m and the factor of A from the Gram matrix; returns log p(y), and notes how far m had drifted.

    If A is not positive definite in floating point (units almost on top of each other, next to no noise), the Gram
    matrix's diagonal is raised by the least power of ten that makes it so, and the event is counted.
    """
    noise2 = values[0] * values[0]
    weight_variance = hyper.weight_factor * values[1] * values[1]
    n = units.n[0] + 1
    log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance, work)
    raised = 1e-14
    while log_p == -math.inf and raised < 1e-3:
        tuning.trouble[0] += 1.0
        for i in range(n):
            units.gram[i, i] *= 1.0 + raised
        raised *= 10.0
        log_p = log_marginal(data, units, noise2, weight_variance, hyper.bias_variance, work)
    factor, inverse = units.factor, units.inverse
    # m = L⁻ᵀ (L⁻¹ Φᵀy / σ²)
    largest, drift = 1e-300, 0.0
    for i in range(n - 1, -1, -1):
        total = work[i]
        for j in range(i + 1, n):
            total -= factor[j, i] * work[j]
        work[i] = total * factor[i, i]
        largest = max(largest, abs(work[i]))
        drift = max(drift, abs(work[i] - units.mean[i]))
        units.mean[i] = work[i]
    if units.updates[0] > 0:
        tuning.trouble[1] = max(tuning.trouble[1], drift / largest)
        if drift > DRIFT * largest:
            tuning.trouble[0] += 1.0
    # X = L⁻¹ row by row into the lower triangle of `inverse`, then P = XᵀX; rows are added, which vectorises
    for i in range(n):
        for j in range(i):
            inverse[i, j] = 0.0
        for m in range(i):
            f = factor[i, m]
            for j in range(m + 1):
                inverse[i, j] -= f * inverse[m, j]
        for j in range(i):
            inverse[i, j] *= factor[i, i]
        inverse[i, i] = factor[i, i]
    for i in range(n):
        # row i of P needs X_li for l >= i, and rows l >= i are still those of X
        f = inverse[i, i]
        for j in range(i + 1):
            inverse[i, j] *= f
        for m in range(i + 1, n):
            f = inverse[m, i]
            for j in range(i + 1):
                inverse[i, j] += f * inverse[m, j]
    for i in range(n):
        for j in range(i):
            inverse[j, i] = inverse[i, j]
    units.updates[0] = 0
    return log_p


@kernel
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


@kernel
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
