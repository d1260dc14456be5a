"""Step 2: the width of the network, by births and deaths with odds ½ : ½.

A birth draws a weight w' ~ N(0, v_w) from its prior and a center c': from λ/Λ where the intensity is known or constant,
uniformly where it is unknown and varies (thinned events held). A death picks one of the units. Units are unordered with
density Π λ(c_k) e^(-Λ) and weights Π N(w_k; 0, v_w), so that with L the likelihood of the network

    birth, c' uniform:   [L' λ(c') N(w')] · [½ / (K+1)] / (L · [½ N(w') / |C|])            = L'/L · λ(c') |C| / (K + 1)
    birth, c' ~ λ/Λ:     [L' λ(c') N(w')] · [½ / (K+1)] / (L · [½ N(w') λ(c') / Λ])        = L'/L · Λ / (K + 1)
    death of unit k:     the reciprocals with K in place of K + 1

Nothing is drawn for the scale, which follows from the intensity at c'. A death with K = 0 is no move. In the standard
coordinates |C| = 1. With e the residual and φ the unit's column, log L'/L = (± w eᵀφ - ½ w² φᵀφ) / σ², + for a birth.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.random import accept, normal, uniform
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import outcome
from porbnet.kernels.units import draw_center
from porbnet.kernels.views import part
from porbnet.sampling.published.target import add_unit, copy_unit, place_unit

BIRTH, DEATH = range(2)


@hot
def log_likelihood_ratio(network: Any, k: int, weight: float, noise: float) -> float:
    """Log L'/L of adding `weight` times unit k's column to f."""
    low = network.low[k]
    e, column = part(network.residual, low, network.high[k]), network.columns[k]
    with_e, square = 0.0, 0.0
    for i in range(len(e)):
        with_e += e[i] * column[i]
        square += column[i] * column[i]
    return float((weight * with_e - 0.5 * weight * weight * square) / (noise * noise))


@inner
def log_proposal_ratio(shape: Any, level: float, anywhere: bool, g: float, width: int) -> float:
    """Log λ(c') |C| / K of a unit with relative intensity g among K, or log Λ / K."""
    return math.log(level * (g if anywhere else shape.integral) / width)


@inner
def birth_or_death(state: Any, rng: Any) -> int:
    """One proposal; the network must be evaluated and stays so."""
    network, shape, component = state.network, state.plug, state.components[0]
    values = state.values
    n, noise, level = network.n, values[NOISE], values[component.level]
    anywhere = len(component.curve.z) > 0
    if uniform(rng) < 0.5:
        center = network.centers[n]  # the first free place
        if anywhere:
            for d in range(len(center)):
                center[d] = uniform(rng) * shape.widths[d]
        else:
            draw_center(shape, rng, center)
        weight = math.sqrt(component.weight_factor) * values[component.amplitude] * normal(rng)
        network.weights[n] = weight
        place_unit(state, shape, level, network, n)
        log_ratio = log_likelihood_ratio(network, n, weight, noise)
        log_ratio += log_proposal_ratio(shape, level, anywhere, network.relative[n], n + 1)
        if not accept(log_ratio, rng):
            return outcome(BIRTH, False)
        add_unit(network, n, weight)
        network.n = n + 1
        return outcome(BIRTH, True)
    if n == 0:
        return outcome(DEATH, False)
    k = min(int(uniform(rng) * n), n - 1)
    log_ratio = log_likelihood_ratio(network, k, -network.weights[k], noise)
    log_ratio -= log_proposal_ratio(shape, level, anywhere, network.relative[k], n)
    if not accept(log_ratio, rng):
        return outcome(DEATH, False)
    add_unit(network, k, -network.weights[k])
    if k != n - 1:
        copy_unit(network, n - 1, network, k)
    network.n = n - 1
    return outcome(DEATH, True)
