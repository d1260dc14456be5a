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

from porbnet.base.compiled import inner
from porbnet.base.parameter import SQUARE_INVERSE_GAMMA
from porbnet.kernels.random import accept, gamma, log_law, normal
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import outcome, tally
from porbnet.sampling.published.level import tune
from porbnet.sampling.published.state import STEP_AMPLITUDE, STEP_NOISE
from porbnet.sampling.published.target import sum_of_squares

N_STEPS = 4  # Metropolis steps per update: each costs next to nothing


@inner
def log_noise_density(state: Any, log_noise: float, squares: float) -> float:
    """Log density of log σ given the residual's squared length."""
    law = log_law(state.laws, NOISE, 0.0, log_noise)
    return float(law - state.rows.count * log_noise - 0.5 * squares * math.exp(-2.0 * log_noise))


@inner
def log_amplitude_density(state: Any, log_amplitude: float, squares: float, width: int) -> float:
    """Log density of log σ_w given the weights' squared length."""
    component = state.components[0]
    law = log_law(state.laws, component.amplitude, 0.0, log_amplitude)
    fit = squares * math.exp(-2.0 * log_amplitude) / component.weight_factor
    return float(law - width * log_amplitude - 0.5 * fit)


@inner
def noise_update(state: Any, first: int, rng: Any) -> None:
    """Noise sd given the residual, each observation counted as often as its weight says; tallied from `first`."""
    squares, values, laws = sum_of_squares(state.network), state.values, state.laws
    tuning = state.tuning
    if laws[NOISE, 0] == SQUARE_INVERSE_GAMMA:
        drawn = gamma(laws[NOISE, 1] + 0.5 * state.rows.count, rng)
        values[NOISE] = math.sqrt((laws[NOISE, 2] + 0.5 * squares) / drawn)
        return
    for _ in range(N_STEPS):
        old = math.log(values[NOISE])
        new = old + math.exp(tuning.steps[STEP_NOISE]) * normal(rng)
        accepted = accept(log_noise_density(state, new, squares) - log_noise_density(state, old, squares), rng)
        if accepted:
            values[NOISE] = math.exp(new)
        tally(state, first, outcome(0, accepted))
        tune(tuning, STEP_NOISE, accepted)


@inner
def amplitude_update(state: Any, first: int, rng: Any) -> None:
    """Amplitude given the weights; tallied from `first`."""
    network, values, tuning = state.network, state.values, state.tuning
    which = state.components[0].amplitude
    squares, n = 0.0, network.n
    for k in range(n):
        squares += network.weights[k] * network.weights[k]
    for _ in range(N_STEPS):
        old = math.log(values[which])
        new = old + math.exp(tuning.steps[STEP_AMPLITUDE]) * normal(rng)
        log_ratio = log_amplitude_density(state, new, squares, n) - log_amplitude_density(state, old, squares, n)
        accepted = accept(log_ratio, rng)
        if accepted:
            values[which] = math.exp(new)
        tally(state, first, outcome(0, accepted))
        tune(tuning, STEP_AMPLITUDE, accepted)
