"""The law of the errors given the function: noise curve, Student-t errors.

The weights of the network are drawn for this step, (b, w) ~ N(m, P), and forgotten after it: a Gibbs step on the
joint law. Given them the residuals e_n are known, and an evaluation costs one pass over the observations instead of
a factorisation, so that many updates can be made at once.

- noise curve, σ(x) = σ exp(h(x)): elliptical slice sampling of the coefficients with log L = Σ_n -h_n - ½ e_n²
  e^(-2 h_n) / σ², each term as often as its observation counts. The h_n are linear in the coefficients: along an
  ellipse they are combined from those of its half axes.
- Student-t errors, y_n = f(x_n) + σ ε_n / √w_n with w_n ~ Gamma(ν/2, ν/2): σ and ν move together by Metropolis
  steps on the t likelihood of the residuals, w integrated out; then w_n | e_n ~ Gamma((ν + 1)/2, (ν + e_n² /
  σ²)/2).

The observations are then weighted anew. Known weights and the noise curve enter through e_n as it stands, scaled by
them.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import fast_exp, inlined_kernel, inner_kernel
from porbnet.sampling.collapsed.birth_death import accept
from porbnet.sampling.collapsed.field import LOG_ARCS, MOST_SHRINKS, reweight
from porbnet.sampling.collapsed.gaussian import solve_transposed
from porbnet.sampling.collapsed.levels import log_noise_prior
from porbnet.sampling.collapsed.process import draw_ellipse, expand, expand_given
from porbnet.sampling.collapsed.state import FREEDOM, LEVEL, NOISE, Data, Hyper, Trial, Units, Varying, Work
from porbnet.sampling.collapsed.units import complete, copy_units, rebuild

CURVE_UPDATES = 12  # of the noise curve per step: cheap, and where the noise is least it is slow to move
TAIL_STEPS = 12  # Metropolis steps of σ and ν


@inner_kernel
def draw_weights(units: Units, rng: Any, out: Any) -> None:
    """(b, w) ~ N(m, P) as m + L⁻ᵀ z; the factor of A must be fresh."""
    n = units.n[0] + 1
    for i in range(n):
        units.ordered[i] = rng.standard_normal()
    solve_transposed(units, units.ordered)
    for i in range(n):
        row = units.order[i]
        out[row] = units.mean[row] + units.ordered[i]


@inner_kernel
def residuals(data: Data, units: Units, weights: Any, out: Any) -> None:
    """out_n = (y_n - f(x_n)) times the known part of the root precision."""
    for i in range(len(data.y)):
        out[i] = data.y[i] - (weights[0] * data.root_weight[i] if data.has_bias == 1 else 0.0)
    for k in range(units.n[0]):
        low, w = units.low[k], weights[k + 1]
        part = out[low : units.high[k]]
        for i in range(units.high[k] - low):
            part[i] -= w * units.columns[k, i]
    for i in range(len(data.y)):
        out[i] *= data.known_root[i] / data.root_weight[i]


@inner_kernel
def at_observations(varying: Varying, table: Any, out: Any) -> None:
    """A noise curve at the observations, from its values at the knots."""
    for i in range(len(varying.knots)):
        h = 0.0
        for j in range(varying.knots.shape[1]):
            h += varying.shares[i, j] * table[varying.knots[i, j]]
        out[i] = h


@inner_kernel
def curve_log_likelihood(rows: Any, cosine: float, sine: float, squares: Any) -> float:
    """-½ Σ_n squares_n exp(-2 h_n), the part of log L that is not linear in the curve.

    rows : (4, n_points) with h = rows[0] + cosine · rows[1] + sine · rows[2]
    squares : (n_points,) counts_n e_n² / σ²
    """
    total = 0.0
    own, along, across = rows[0], rows[1], rows[2]
    for i in range(len(squares)):
        h = own[i] + cosine * along[i] + sine * across[i]
        total += squares[i] * fast_exp(min(max(-2.0 * h, -600.0), 600.0))
    return -0.5 * float(total)


@inner_kernel
def curve_update(varying: Varying, trial: Trial, counts: Any, squares: Any, rng: Any) -> None:
    """One elliptical slice update of the noise curve given the residuals; its table is left stale.

    The curve at the observations, trial.rows[0], is linear in the coefficients: on an ellipse it is a combination of
    what both half axes are there, and no proposal needs the curve at its knots.
    """
    field, rows = varying.noise, trial.rows
    draw_ellipse(field, False, trial.axes, trial.window, rng)
    for j in range(2):
        expand_given(field, trial.axes[j], field.z, trial.tables[j])
        at_observations(varying, trial.tables[j], rows[1 + j])
    along, across = 0.0, 0.0  # Σ_n counts_n h_n, of both half axes
    for i in range(len(squares)):
        along += counts[i] * rows[1, i]
        across += counts[i] * rows[2, i]
    height = curve_log_likelihood(rows, 0.0, 0.0, squares) + math.log(1.0 - rng.random())
    width = 2.0 * math.pi * math.exp(-rng.random() * LOG_ARCS)
    low = -width * rng.random()
    high = low + width
    for _ in range(MOST_SHRINKS):
        angle = low + rng.random() * (high - low)
        cosine, sine = math.cos(angle) - 1.0, math.sin(angle)
        if curve_log_likelihood(rows, cosine, sine, squares) - cosine * along - sine * across > height:
            for i in range(len(field.z)):
                field.z[i] += cosine * trial.axes[0, i] + sine * trial.axes[1, i]
            for i in range(len(squares)):
                rows[0, i] += cosine * rows[1, i] + sine * rows[2, i]
            return
        if angle < 0.0:
            low = angle
        else:
            high = angle


@inner_kernel
def gamma(shape: float, rng: Any) -> float:
    """Gamma(shape, 1) for shape ≥ ½, by Marsaglia and Tsang's method; below 1 by boosting."""
    boost = 1.0
    if shape < 1.0:
        boost = math.exp(math.log(1.0 - rng.random()) / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        z = rng.standard_normal()
        v = (1.0 + c * z) ** 3
        if v > 0.0 and math.log(1.0 - rng.random()) < 0.5 * z * z + d - d * v + d * math.log(v):
            return float(boost * d * v)


@inlined_kernel
def log_tails(hyper: Hyper, noise: float, freedom: float, errors: Any) -> float:
    """Log density of (log σ, log ν) given residuals with Student-t errors."""
    total = 0.0
    precision = 1.0 / (freedom * noise * noise)
    for i in range(len(errors)):
        total += math.log1p(errors[i] * errors[i] * precision)
    total *= -0.5 * (freedom + 1.0)
    constant = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom) - 0.5 * math.log(freedom)
    total += len(errors) * (constant - math.log(noise))
    if hyper.noise_log_sd > 0.0:
        total += log_noise_prior(hyper, math.log(noise))
    if hyper.freedom_log_sd > 0.0:
        z = (math.log(freedom) - hyper.freedom_log_mean) / hyper.freedom_log_sd
        total -= 0.5 * z * z
    return total


@inner_kernel
def tail_update(hyper: Hyper, varying: Varying, values: Any, errors: Any, rng: Any) -> None:
    """σ and ν by Metropolis steps of many lengths, then the weights of the observations."""
    noise, freedom, current = values[NOISE], values[FREEDOM], 0.0
    for step in range(TAIL_STEPS + 1):
        length = 0.0 if step == 0 else math.exp(-3.0 * rng.random())
        new_noise = noise * math.exp(0.5 * length * rng.standard_normal()) if hyper.noise_log_sd > 0.0 else noise
        new_freedom = freedom * math.exp(length * rng.standard_normal()) if hyper.freedom_log_sd > 0.0 else freedom
        value = log_tails(hyper, new_noise, new_freedom, errors)
        if step == 0 or accept(value - current, rng):
            noise, freedom, current = new_noise, new_freedom, value
    values[NOISE], values[FREEDOM] = noise, freedom
    for i in range(len(errors)):
        scaled = errors[i] * errors[i] / (noise * noise)
        varying.row_weight[i] = gamma(0.5 * (freedom + 1.0), rng) / (0.5 * (freedom + scaled))


@inner_kernel
def errors_update(
    data: Data, hyper: Hyper, units: Units, varying: Varying, trial: Trial, values: Any, work: Work, rng: Any
) -> None:
    """Noise curve and Student-t errors given a draw of the weights; P and the factor must be fresh, P is left stale."""
    draw_weights(units, rng, work.vector)
    residuals(data, units, work.vector, work.column)
    errors = work.column[: len(data.y)]
    if len(varying.noise.z) > 0:
        squares, precision = trial.rows[3], 1.0 / (values[NOISE] * values[NOISE])
        for i in range(len(errors)):
            squares[i] = data.counts[i] * errors[i] * errors[i] * precision
        at_observations(varying, varying.noise.table, trial.rows[0])
        for _ in range(CURVE_UPDATES):
            curve_update(varying, trial, data.counts, squares, rng)
        expand(varying.noise, varying.noise.z, varying.noise.table)
    if len(varying.row_weight) > 0:
        if len(varying.noise.z) > 0:
            for i in range(len(errors)):
                errors[i] *= math.exp(-trial.rows[0, i])
        tail_update(hyper, varying, values, errors, rng)
    reweight(data, varying, varying.noise.table, data)
    rebuild(data, hyper, units, values[LEVEL], trial.units)
    complete(trial.units)
    copy_units(trial.units, units)
