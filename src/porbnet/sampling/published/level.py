"""Step 3 where the intensity is constant, and the level λ* where it varies: Metropolis-Hastings on the log scale.

A step log λ' = log λ + ε N(0, 1) is symmetric, so the ratio is that of the densities of log λ:

    unknown constant, λ² ~ Gamma(α, β):       λ^K e^(-λ|C|) · L(y | scales of λ) · λ^(2α) e^(-βλ²)
    λ* ~ Gamma(α, β), M thinned events held:  λ*^(K+M) e^(-λ*|C|) · L(y | scales of λ*) · λ*^α e^(-βλ*)

The powers 2α and α hold the Jacobian: p(λ) ∝ λ^(2α-1) e^(-βλ²), times λ for the logarithm. Every unit's scale follows
λ, hence the likelihood. A known shape g stands for |C| by its integral, 1 with thinned events.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.random import accept, log_law, normal
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import outcome
from porbnet.sampling.published.state import STEP_LEVEL
from porbnet.sampling.published.target import copy_network, evaluate, sum_of_squares

TARGET = 0.44  # acceptance of a random walk in one dimension


@inner
def tune(tuning: Any, step: int, accepted: bool) -> None:
    """Let a random walk's step follow its acceptance."""
    change = tuning.adapt * ((1.0 if accepted else 0.0) - TARGET)
    tuning.steps[step] = min(max(tuning.steps[step] + change, -12.0), 2.0)


@inner
def log_level_density(state: Any, level: float, network: Any) -> float:
    """Log density of log λ; the network must be evaluated at that level."""
    component, noise = state.components[0], state.values[NOISE]
    has_curve = len(component.curve.z) > 0
    events = network.n + (state.thinned.n if has_curve else 0)
    volume = 1.0 if has_curve else component.shape.integral
    log_likelihood = -0.5 * sum_of_squares(network) / (noise * noise)
    log_level = math.log(level)
    prior = log_law(state.laws, component.level, level, log_level)
    return float(log_likelihood + events * log_level - level * volume + prior)


@inner
def level_update(state: Any, rng: Any) -> int:
    """One Metropolis step of the level; the network must be evaluated and stays so."""
    network, trial, component = state.network, state.trial, state.components[0]
    tuning = state.tuning
    old = state.values[component.level]
    new = old * math.exp(math.exp(tuning.steps[STEP_LEVEL]) * normal(rng))
    copy_network(network, trial)
    evaluate(state, component.shape, new, trial)
    log_ratio = log_level_density(state, new, trial)
    log_ratio -= log_level_density(state, old, network)
    accepted = accept(log_ratio, rng)
    if accepted:
        state.values[component.level] = new
        copy_network(trial, network)
    tune(tuning, STEP_LEVEL, accepted)
    return outcome(0, accepted)
