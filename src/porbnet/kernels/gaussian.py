"""The Gaussian part: given centers and parameters, bias and weights are N(m, P).

    A = ΦᵀΦ / σ² + diag(1/σ_b², 1/v_w, ...),   P = A⁻¹,   m = P Φᵀy / σ²
    log p(y) = -N/2 log(2πσ²) - ½ log σ_b² - Σ_k ½ log v_k - ½ log|A| - yᵀy / 2σ² + ½ mᵀAm

Units of all components stand side by side, each with the weight variance of its own. Observations with weights count
as so many (N is their sum): their rows of Φ and y carry the weights' square roots.

A is factored from the Gram matrix, which is kept exactly, within its envelope (`units.arrange`). P and m are carried by
rank-one updates (bordering for a birth, Schur complement for a death) and computed afresh now and then; where the data
say much, the factor is carried in place of P (`factor`).

Every kernel here takes a state with `rows`, `components`, `values` and, where it says so, `units` and `tuning`.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.factor import mean_from_factor, solve_transposed, take_out
from porbnet.kernels.random import normal
from porbnet.kernels.state import BLOCK, MOST_UPDATES, NOISE
from porbnet.kernels.units import arrange, copy_unit, weight_variance
from porbnet.kernels.vectors import larger, smaller
from porbnet.kernels.views import part

INFORMED = 1e5  # observations over the noise variance, that of the outputs being one
GROWTH = 1e-3  # of the drift that counts, below which P may be updated more often
DRIFT = 1e-6  # of the mean, relative to its size, above which a refresh counts as forced


@hot
def factorize(state: Any, units: Any) -> float:
    """Lower Cholesky factor of A into units.factor; returns log|A|, or NaN if A is not positive definite."""
    arrange(units)
    n, noise = units.n + 1, state.values[NOISE]
    precision = 1.0 / (noise * noise)
    factor, gram, order = units.factor, units.gram, units.order
    firsts, owner, with_bias = units.first, units.owner, units.with_bias
    gram_at, factor_at = units.at, units.factor_at
    log_det = 0.0
    for i in range(n):
        row, first, at = order[i], firsts[i], factor_at[i]
        row_at = gram_at[row]
        for j in range(first, i):
            start, other_at = larger(first, firsts[j]), factor_at[j]
            mine, other = part(factor, at + start, at + j), part(factor, other_at + start, other_at + j)
            total = 0.0
            for m in range(j - start):
                total += mine[m] * other[m]
            entry = with_bias[order[j] - 1] if row == 0 else gram[row_at + order[j]]
            factor[at + j] = (entry * precision - total) * factor[other_at + j]
        mine = part(factor, at + first, at + i)
        total = 0.0
        for m in range(i - first):
            total += mine[m] * mine[m]
        if row == 0:
            prior = 1.0 / state.rows.bias_variance
        else:
            prior = 1.0 / weight_variance(state.components[owner[row - 1]], state.values)
        pivot = gram[row_at + row] * precision + prior - total
        if not pivot > 0.0:
            return math.nan
        log_det += math.log(pivot)
        factor[at + i] = 1.0 / math.sqrt(pivot)  # the diagonal is kept inverted: products instead of divisions
    return log_det


@inner
def log_weight_variances(state: Any, units: Any) -> float:
    """Σ_k ½ log v_k over all units."""
    total, n_components = 0.0, len(state.components)
    for c in range(n_components):
        total += 0.5 * count_of(units, c, n_components) * math.log(weight_variance(state.components[c], state.values))
    return total


@inner
def count_of(units: Any, which: int, n_components: int) -> int:
    """How many units a component has."""
    if n_components == 1:
        return int(units.n)
    n = 0
    for k in range(units.n):
        n += 1 if units.owner[k] == which else 0
    return n


@hot
def log_marginal(state: Any, units: Any) -> float:
    """Log likelihood log p(y | centers, parameters); -inf if A cannot be factored to any use.

    Leaves the factor of A in units.factor and L⁻¹ Φᵀy / σ² in units.ordered.
    """
    if units.refused == 1:
        return -math.inf
    log_det = factorize(state, units)
    if math.isnan(log_det):
        return -math.inf
    rows, n, noise = state.rows, units.n + 1, state.values[NOISE]
    noise2 = noise * noise
    factor, ordered, order = units.factor, units.ordered, units.order
    moment = units.moment
    fit = 0.0
    for i in range(n):
        first, at = units.first[i], units.factor_at[i]
        mine, done = part(factor, at + first, at + i), part(ordered, first, i)
        total = moment[order[i]] / noise2
        for j in range(i - first):
            total -= mine[j] * done[j]
        ordered[i] = total * factor[at + i]
        fit += ordered[i] * ordered[i]
    if not fit <= rows.square / noise2:  # yᵀC⁻¹y below zero: rounding has won, though every pivot was positive
        return -math.inf
    return float(
        -0.5 * rows.count * math.log(2.0 * math.pi * noise2)
        - 0.5 * math.log(rows.bias_variance)
        - log_weight_variances(state, units)
        - 0.5 * log_det
        - 0.5 * rows.square / noise2
        + rows.log_root
        + 0.5 * fit
    )


@inner
def is_informed(state: Any) -> bool:
    """Whether the data say so much that P, whose entries may differ by their number over σ², loses too many digits.

    A product P u with u = Φᵀφ / σ² has a relative error of about (N / σ²)² times the rounding unit. Beyond `INFORMED`
    the factor of A, which loses N / σ² times that unit, is carried in its place (`factor`).
    """
    noise = state.values[NOISE]
    return bool(state.rows.count > INFORMED * noise * noise)


@inner
def refit(state: Any) -> float:
    """Mean m and factor of A from the Gram matrix; returns log p(y), and notes how far m had drifted. P is left stale.

    If A is not positive definite in floating point (units almost on top of each other, next to no noise), the Gram
    matrix's diagonal is raised by the least power of ten that makes it so, and the event is counted.
    """
    units, tuning = state.units, state.tuning
    n = units.n + 1
    log_p = log_marginal(state, units)
    raised = 1e-14
    while log_p == -math.inf and raised < 1e-3:
        tuning.forced += 1
        for i in range(n):
            units.gram[units.at[i] + i] *= 1.0 + raised
        raised *= 10.0
        log_p = log_marginal(state, units)
    solve_transposed(units, units.ordered)
    largest, drift = 1e-300, 0.0
    for i in range(n):
        row, value = units.order[i], units.ordered[i]
        largest = larger(largest, abs(value))
        drift = larger(drift, abs(value - units.mean[row]))
        units.mean[row] = value
    if units.updates > 0:
        tuning.drift = larger(tuning.drift, drift / largest)
        if drift > DRIFT * largest:
            tuning.forced += 1
            tuning.patience = larger(tuning.patience // 2, 1)
        elif drift < GROWTH * DRIFT * largest:
            tuning.patience = smaller(2 * tuning.patience, MOST_UPDATES)
    units.updates = -1
    return log_p


@inner
def refresh(state: Any) -> float:
    """P, m and the factor of A from the Gram matrix, see `refit`; returns log p(y)."""
    log_p = refit(state)
    invert(state.units)
    state.units.updates = 0
    return log_p


@hot
def invert(units: Any) -> None:
    """P from the factor: X = L⁻¹ row by row, then P = XᵀX, both in units.scratch; rows are added, which vectorises."""
    n = units.n + 1
    factor, scratch, inverse = units.factor, units.scratch, units.inverse
    order = units.order
    for i in range(n):
        at = units.factor_at[i]
        for j in range(i):
            scratch[i, j] = 0.0
        for m in range(units.first[i], i):
            f = factor[at + m]
            for j in range(m + 1):
                scratch[i, j] -= f * scratch[m, j]
        for j in range(i):
            scratch[i, j] *= factor[at + i]
        scratch[i, i] = factor[at + i]
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
        row = order[i]
        for j in range(i + 1):
            column = order[j]
            inverse[row, column] = scratch[i, j]
            inverse[column, row] = scratch[i, j]


@inner
def needs_refresh(state: Any) -> bool:
    """Whether P is stale or has been updated too often."""
    return bool(is_stale(state) or (state.units.updates > 0 and is_informed(state)))


@inner
def is_stale(state: Any) -> bool:
    """Whether what is carried, P or the factor, is not that of the units, or has been updated too often."""
    updates = state.units.updates
    return bool(updates < 0 or updates > state.tuning.patience)


@inner
def renew(state: Any) -> None:
    """What is carried, P or the factor, afresh; P is left stale where it is the factor."""
    if is_informed(state):
        refit(state)
        state.units.updates = 0
    else:
        refresh(state)


@hot
def border(units: Any, applied: Any, r: float, mu: float) -> None:
    """P and m after a birth; `applied` is q = P Φᵀφ / σ² for the rows before it, zero beyond.

    P' = [[P + qqᵀ/r, -q/r], [-qᵀ/r, 1/r]],  m' = (m - q μ, μ).
    """
    n = units.n + 1  # rows before; the new unit takes row n
    whole = (n + BLOCK - 1) // BLOCK * BLOCK
    inverse, mean = units.inverse, units.mean
    scale = 1.0 / r
    for i in range(n):
        f = applied[i] * scale
        for j in range(whole):
            inverse[i, j] += f * applied[j]
    for i in range(n):
        f = -applied[i] * scale
        inverse[i, n] = f
        inverse[n, i] = f
        mean[i] -= applied[i] * mu
    inverse[n, n] = scale
    mean[n] = mu


@inner
def remove(state: Any, k: int) -> None:
    """Take out unit k: of the factor, or of P and m by the Schur complement; then the last unit takes its place."""
    units = state.units
    if is_informed(state):
        take_out(units, k + 1)
        move_last(units, k)
        mean_from_factor(units, state.values[NOISE])
    else:
        reduce(units, k, state.work.vector)
        move_last(units, k)
    units.updates += 1


@hot
def reduce(units: Any, k: int, work: Any) -> None:
    """P and m without unit k, and the last row and column in its place."""
    n, inverse, mean, at = units.n + 1, units.inverse, units.mean, k + 1
    pivot, mean_k = 1.0 / inverse[at, at], mean[at]
    whole = (n + BLOCK - 1) // BLOCK * BLOCK
    for j in range(n):
        work[j] = inverse[at, j]
    for j in range(n, whole):
        work[j] = 0.0
    for i in range(n):
        f = work[i] * pivot
        for j in range(whole):
            inverse[i, j] -= f * work[j]
        mean[i] -= f * mean_k
    last = n - 1
    for i in range(n):
        inverse[i, at] = inverse[i, last]
        inverse[at, i] = inverse[last, i]
    inverse[at, at] = inverse[last, last]


@hot
def move_last(units: Any, k: int) -> None:
    """The last unit takes the place of unit k: Gram matrix, means, products and its own arrays; P aside."""
    last, at = units.n, k + 1
    gram, rows = units.gram, units.at
    if at != last:
        for i in range(1, units.n + 1):
            gram[rows[i] + at] = gram[rows[i] + last]
            gram[rows[at] + i] = gram[rows[last] + i]
        gram[rows[at] + at] = gram[rows[last] + last]
        units.with_bias[k] = units.with_bias[last - 1]
        units.mean[at] = units.mean[last]
        units.moment[at] = units.moment[last]
        copy_unit(units, last - 1, units, k)
    units.n -= 1


@inner
def draw_weights(units: Any, rng: Any, out: Any) -> None:
    """(b, w) ~ N(m, P) as m + L⁻ᵀ z; the factor of A must be fresh."""
    n, ordered = units.n + 1, units.ordered
    for i in range(n):
        ordered[i] = normal(rng)
    solve_transposed(units, ordered)
    for i in range(n):
        row = units.order[i]
        out[row] = units.mean[row] + ordered[i]


@hot
def residuals(state: Any, weights: Any) -> None:
    """Set rows.errors to (y_n - f(x_n)) times the known part of the root precision."""
    rows, units = state.rows, state.units
    out, y, root = rows.errors, rows.y, rows.root
    known = rows.known_root
    for i in range(len(y)):
        out[i] = y[i] - (weights[0] * root[i] if rows.has_bias == 1 else 0.0)
    for k in range(units.n):
        low, w, column = units.low[k], weights[k + 1], units.columns[k]
        reached = part(out, low, units.high[k])
        for i in range(units.high[k] - low):
            reached[i] -= w * column[i]
    for i in range(len(y)):
        out[i] *= known[i] / root[i]


@inner
def weigh(rows: Any) -> None:
    """Weighted pseudo-outputs and totals from the relative precisions (their roots in rows.root) and the counts."""
    squares, logs = 0.0, 0.0
    counts, outputs, roots = rows.counts, rows.outputs, rows.root
    ys, within = rows.y, rows.within
    line, has_line = rows.line, len(rows.line) > 0
    for i in range(len(outputs)):
        root = roots[i]
        logs += counts[i] * math.log(root)
        root *= math.sqrt(counts[i])
        y = (outputs[i] - line[i] if has_line else outputs[i]) * root
        roots[i] = root
        ys[i] = y
        squares += y * y + within[i] * root * root
    rows.square = squares
    rows.log_root = logs + rows.shift
