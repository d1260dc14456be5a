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

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.birth_death import accept
from porbnet.sampling.collapsed.levels import log_level_prior
from porbnet.sampling.collapsed.state import LEVEL, NOISE, Data, Hyper, Shape
from porbnet.sampling.published.state import LEVEL_STEP, STEP_LEVEL, Network, Thinned, Tuning
from porbnet.sampling.published.target import copy_network, evaluate, sum_of_squares

TARGET = 0.44  # acceptance of a random walk in one dimension


@inner_kernel
def tune(tuning: Tuning, step: int, accepted: bool, adapt: float) -> None:
    """Let a random walk's step follow its acceptance."""
    tuning.steps[step] = min(max(tuning.steps[step] + adapt * ((1.0 if accepted else 0.0) - TARGET), -12.0), 2.0)


@inner_kernel
def log_level_density(
    shape: Shape, hyper: Hyper, values: Any, level: float, network: Network, thinned: Thinned, has_curve: bool
) -> float:
    """Log density of log λ; the network must be evaluated at that level."""
    events = network.n[0] + (thinned.n[0] if has_curve else 0)
    volume = 1.0 if has_curve else shape.integral[0]
    log_likelihood = -0.5 * sum_of_squares(network) / (values[NOISE] * values[NOISE])
    return float(log_likelihood + events * math.log(level) - level * volume + log_level_prior(hyper, level))


@inner_kernel
def level_update(
    data: Data,
    shape: Shape,
    hyper: Hyper,
    values: Any,
    network: Network,
    trial: Network,
    thinned: Thinned,
    has_curve: bool,
    tuning: Tuning,
    adapt: float,
    rng: Any,
) -> None:
    """One Metropolis step of the level; the network must be evaluated and stays so."""
    new = values[LEVEL] * math.exp(math.exp(tuning.steps[STEP_LEVEL]) * rng.standard_normal())
    copy_network(network, trial)
    evaluate(data, shape, hyper, new, trial)
    log_ratio = log_level_density(shape, hyper, values, new, trial, thinned, has_curve)
    log_ratio -= log_level_density(shape, hyper, values, values[LEVEL], network, thinned, has_curve)
    tuning.tried[LEVEL_STEP] += 1
    accepted = accept(log_ratio, rng)
    if accepted:
        tuning.accepted[LEVEL_STEP] += 1
        values[LEVEL] = new
        copy_network(trial, network)
    tune(tuning, STEP_LEVEL, accepted, adapt)
