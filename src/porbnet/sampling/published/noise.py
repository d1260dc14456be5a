"""The noise and the amplitude, given the network.

- Noise variance σ² ~ InverseGamma(α, β), as the authors have it: conjugate, so it is drawn from
  σ² | e ~ InverseGamma(α + N/2, β + ½ Σ e_n²).
- Log-normal noise sd: Metropolis steps on log σ with density σ^(-N) exp(-½ Σ e_n² / σ²) times the prior's.
- Log-normal amplitude (a constant in the paper): Metropolis steps on log σ_w with density
  σ_w^(-K) exp(-½ Σ w_k² / v_w) times the prior's, v_w = (s0²/π)^(D/2) σ_w²; the likelihood does not contain it.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.birth_death import accept
from porbnet.sampling.collapsed.levels import log_noise_prior
from porbnet.sampling.collapsed.residuals import gamma
from porbnet.sampling.collapsed.state import AMPLITUDE, NOISE, Hyper
from porbnet.sampling.published.level import tune
from porbnet.sampling.published.state import AMPLITUDE_STEP, NOISE_STEP, STEP_AMPLITUDE, STEP_NOISE, Network, Tuning
from porbnet.sampling.published.target import sum_of_squares

N_STEPS = 4  # Metropolis steps per update: each costs next to nothing


@inner_kernel
def log_noise_density(hyper: Hyper, log_noise: float, squares: float, n_points: float) -> float:
    """Log density of log σ given the residual's squared length."""
    return float(log_noise_prior(hyper, log_noise) - n_points * log_noise - 0.5 * squares * math.exp(-2.0 * log_noise))


@inner_kernel
def log_amplitude_density(hyper: Hyper, log_amplitude: float, squares: float, width: int) -> float:
    """Log density of log σ_w given the weights' squared length."""
    z = (log_amplitude - hyper.amplitude_log_mean) / hyper.amplitude_log_sd
    fit = squares * math.exp(-2.0 * log_amplitude) / hyper.weight_factor
    return float(-0.5 * z * z - width * log_amplitude - 0.5 * fit)


@inner_kernel
def noise_update(
    hyper: Hyper, values: Any, network: Network, n_points: float, tuning: Tuning, adapt: float, rng: Any
) -> None:
    """Noise sd given the residual of `n_points` observations, each counted as often as its weight says."""
    squares = sum_of_squares(network)
    if hyper.noise_shape > 0.0:
        drawn = gamma(hyper.noise_shape + 0.5 * n_points, rng)
        values[NOISE] = math.sqrt((hyper.noise_scale + 0.5 * squares) / drawn)
        return
    for _ in range(N_STEPS):
        old = math.log(values[NOISE])
        new = old + math.exp(tuning.steps[STEP_NOISE]) * rng.standard_normal()
        tuning.tried[NOISE_STEP] += 1
        log_ratio = log_noise_density(hyper, new, squares, n_points) - log_noise_density(hyper, old, squares, n_points)
        accepted = accept(log_ratio, rng)
        if accepted:
            tuning.accepted[NOISE_STEP] += 1
            values[NOISE] = math.exp(new)
        tune(tuning, STEP_NOISE, accepted, adapt)


@inner_kernel
def amplitude_update(hyper: Hyper, values: Any, network: Network, tuning: Tuning, adapt: float, rng: Any) -> None:
    """Amplitude given the weights."""
    squares, n = 0.0, network.n[0]
    for k in range(n):
        squares += network.weights[k] * network.weights[k]
    for _ in range(N_STEPS):
        old = math.log(values[AMPLITUDE])
        new = old + math.exp(tuning.steps[STEP_AMPLITUDE]) * rng.standard_normal()
        tuning.tried[AMPLITUDE_STEP] += 1
        log_ratio = log_amplitude_density(hyper, new, squares, n) - log_amplitude_density(hyper, old, squares, n)
        accepted = accept(log_ratio, rng)
        if accepted:
            tuning.accepted[AMPLITUDE_STEP] += 1
            values[AMPLITUDE] = math.exp(new)
        tune(tuning, STEP_AMPLITUDE, accepted, adapt)
