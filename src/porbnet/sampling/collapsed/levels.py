"""Updates of the noise, the amplitude and an unknown constant level of the intensity, weights integrated out.

Noise sd σ and amplitude σ_w have log-normal priors, or σ² an inverse-gamma one; each is updated on the log scale by
slice sampling of

    log p(y | centers, σ, σ_w, λ) + log prior,

which needs one factorisation of A per evaluation, the Gram matrix being kept.

The level λ (of a constant intensity, λ² ~ Gamma(α, β) as in the paper; of a sigmoid-GP intensity, λ* ~ Gamma(α, β))
is updated twice:

- level alone (centered): the centers stay; K log λ - λ ∫g joins the target, and every unit's scale follows λ.
- level with units (non-centered): give every unit a mark t_k ~ U(0, λ g(c_k)) and think of a unit-rate process of
  marked points above the region, of which those below λ g are the units. Move log λ by a symmetric step with the
  marked points held: raising λ switches on the silent points between, which are Poisson with mean (λ' - λ) ∫g and
  density g; lowering it switches off each unit with probability 1 - λ'/λ. The points' own law is untouched, so the
  ratio is p(y | λ') p(log λ') / p(y | λ) p(log λ).
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inlined_kernel, inner_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.birth_death import accept
from porbnet.sampling.collapsed.gaussian import log_marginal
from porbnet.sampling.collapsed.state import (
    AMPLITUDE,
    AMPLITUDE_SLICE,
    LEVEL,
    LEVEL_JUMP,
    LEVEL_SLICE,
    NOISE,
    NOISE_SLICE,
    STEP_AMPLITUDE,
    STEP_LEVEL,
    STEP_LEVEL_JUMP,
    STEP_NOISE,
    Data,
    Hyper,
    Shape,
    Tuning,
    Units,
    Work,
)
from porbnet.sampling.collapsed.units import (
    append,
    clear,
    complete,
    copy_units,
    draw_center,
    poisson,
    rebuild,
    scale_at,
)

MOST_SHRINKS = 60
WIDTH_FACTOR = 15.0  # of a slice's interval, over the mean distance travelled (a third of it if nothing shrinks)
# of the level in one update: larger jumps are rejected either way, which keeps the step symmetric, and the slice's
# interval is no longer than that
MOST_GROWTH = 2.5
LEAST_LOG_NOISE = math.log(1e-5)  # in standard deviations of y


@kernel
def room_needed(shape: Shape, hyper: Hyper, n_birth_death: int, units: Units, values: Any, has_field: bool) -> int:
    """Units and marked points that one sweep may need room for; more are drawn with probability below 1e-30."""
    growth = 1.0
    need = units.n[0] + n_birth_death + 2
    if hyper.level_shape > 0.0:
        most = (MOST_GROWTH - 1.0) * values[LEVEL] * shape.integral[0]
        need += int(most + 12.0 * math.sqrt(most)) + 60
        growth = MOST_GROWTH * MOST_GROWTH  # two updates of the level before marks are drawn
    if has_field:
        most = growth * values[LEVEL]
        need += int(most + 12.0 * math.sqrt(most)) + 60
    return int(need)


@inner_kernel
def is_unknown(hyper: Hyper, which: int) -> bool:
    """Whether a hyper-parameter is learned."""
    if which == NOISE:
        return bool(hyper.noise_log_sd > 0.0)
    if which == AMPLITUDE:
        return bool(hyper.amplitude_log_sd > 0.0)
    return bool(which == LEVEL and hyper.level_shape > 0.0)


@inner_kernel
def log_level_prior(hyper: Hyper, level: float) -> float:
    """Log density of log level, up to a constant: level^p ~ Gamma(α, β) gives p α log level - β level^p."""
    power = level if hyper.level_power == 1.0 else level * level
    return hyper.level_power * hyper.level_shape * math.log(level) - hyper.level_rate * power


@inner_kernel
def log_noise_prior(hyper: Hyper, log_noise: float) -> float:
    """Log density of log σ, up to a constant: normal, or -2 α log σ - β / σ² if σ² ~ InverseGamma(α, β).

    The normal ends at `LEAST_LOG_NOISE` (or a thousandth of its median, if that is less): outputs that a network can
    match exactly would else send σ to where rounding decides.
    """
    if hyper.noise_shape > 0.0:
        return -2.0 * hyper.noise_shape * log_noise - hyper.noise_scale * math.exp(-2.0 * log_noise)
    if log_noise < min(LEAST_LOG_NOISE, hyper.noise_log_mean - 7.0):
        return -math.inf
    z = (log_noise - hyper.noise_log_mean) / hyper.noise_log_sd
    return -0.5 * z * z


@inlined_kernel
def log_target(
    which: int,
    log_value: float,
    data: Data,
    shape: Shape,
    hyper: Hyper,
    units: Units,
    trial: Units,
    values: Any,
) -> float:
    """Log density of one hyper-parameter on the log scale, the others and the centers held.

    For the level the units are rebuilt into `trial`.
    """
    noise, amplitude = values[NOISE], values[AMPLITUDE]
    if which == LEVEL:
        level = math.exp(log_value)
        rebuild(data, hyper, units, level, trial)
        log_p = log_marginal(
            data, trial, noise * noise, hyper.weight_factor * amplitude * amplitude, hyper.bias_variance
        )
        return float(log_p + log_level_prior(hyper, level) + units.n[0] * log_value - level * shape.integral[0])
    if which == NOISE:
        noise = math.exp(log_value)
        log_prior = log_noise_prior(hyper, log_value)
    else:
        amplitude = math.exp(log_value)
        z = (log_value - hyper.amplitude_log_mean) / hyper.amplitude_log_sd
        log_prior = -0.5 * z * z
    log_p = log_marginal(data, units, noise * noise, hyper.weight_factor * amplitude * amplitude, hyper.bias_variance)
    return log_p + log_prior


@inner_kernel
def slice_update(
    which: int,
    data: Data,
    shape: Shape,
    hyper: Hyper,
    units: Units,
    trial: Units,
    values: Any,
    tuning: Tuning,
    adapt: float,
    rng: Any,
) -> None:
    """Slice sampling (Neal 2003): an interval of a fixed width at a random place around the current value, shrinking.

    Without steps out the width decides how far it can go in one update, which warm-up sets to several times the typical
    distance. A level update leaves the units rebuilt at the new level.
    """
    step = STEP_NOISE if which == NOISE else (STEP_AMPLITUDE if which == AMPLITUDE else STEP_LEVEL)
    row = NOISE_SLICE if which == NOISE else (AMPLITUDE_SLICE if which == AMPLITUDE else LEVEL_SLICE)
    width = tuning.steps[step]
    if which == LEVEL:
        width = min(width, math.log(MOST_GROWTH))
    current = math.log(values[which])
    left = current - width * rng.random()
    right = left + width
    tuning.tried[row] += 1
    # one loop with one call of the target, which is large and compiled where it is called: first time for the height
    at, proposal, height, shrinks = current, current, 0.0, -1
    while shrinks < MOST_SHRINKS:
        value = log_target(which, at, data, shape, hyper, units, trial, values)
        if shrinks < 0:
            if value == -math.inf:
                break  # A cannot be factored: nothing to compare with
            height = value + math.log(1.0 - rng.random())
        elif value > height:
            tuning.accepted[row] += 1
            proposal = at
            break
        elif at < current:
            left = at
        else:
            right = at
        at = left + rng.random() * (right - left)
        shrinks += 1
    if adapt > 0.0:
        wanted = WIDTH_FACTOR * abs(proposal - current) + 1e-3
        tuning.steps[step] = (1.0 - adapt) * width + adapt * wanted
    if proposal != current:
        values[which] = math.exp(proposal)
        units.updates[0] = -1
        if which == LEVEL:
            complete(trial)
            copy_units(trial, units)


@inner_kernel
def level_jump(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    units: Units,
    trial: Units,
    values: Any,
    tuning: Tuning,
    work: Work,
    log_p: float,
    adapt: float,
    rng: Any,
) -> None:
    """Level with units: the non-centered step; `log_p` is the current log marginal likelihood."""
    old = values[LEVEL]
    new = old * math.exp(tuning.steps[STEP_LEVEL_JUMP] * rng.standard_normal())
    n_dims = data.x.shape[0]
    tuning.tried[LEVEL_JUMP] += 1
    if new > MOST_GROWTH * old or old > MOST_GROWTH * new:
        return
    clear(data, trial)
    for k in range(units.n[0]):
        if new >= old or rng.random() * old < new:
            g = units.relative[k]
            append(data, trial, units.centers[k], g, scale_at(hyper, new * g, n_dims), work.cross)
    if new > old:
        for _ in range(poisson((new - old) * shape.integral[0], rng)):
            g = draw_center(shape, rng, work.center)
            append(data, trial, work.center, g, scale_at(hyper, new * g, n_dims), work.cross)
    noise2 = values[NOISE] * values[NOISE]
    weight_variance = hyper.weight_factor * values[AMPLITUDE] * values[AMPLITUDE]
    new_log_p = log_marginal(data, trial, noise2, weight_variance, hyper.bias_variance)
    log_prior = log_level_prior(hyper, new) - log_level_prior(hyper, old)
    accepted = accept(new_log_p - log_p + log_prior, rng)
    if accepted:
        tuning.accepted[LEVEL_JUMP] += 1
        values[LEVEL] = new
        copy_units(trial, units)
    if adapt > 0.0:
        change = adapt * ((1.0 if accepted else 0.0) - 0.35)
        tuning.steps[STEP_LEVEL_JUMP] = min(max(tuning.steps[STEP_LEVEL_JUMP] * math.exp(change), 1e-3), 3.0)
