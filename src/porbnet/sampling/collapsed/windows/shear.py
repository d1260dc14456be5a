"""The level λ* of a learned intensity, moved so that the intensity itself stays where it is.

λ = λ* sigmoid(h) is left as it is by λ* -> λ* e^δ together with h -> h' at every knot,

    sigmoid(h') = e^-δ sigmoid(h),      dh'/dh = (1 - sigmoid(h)) / (1 - sigmoid(h'))

and with it all units and log p(y). Moves by δ are a group, so that slice sampling along them, of

    log law(log λ* + δ) - ½ |z'|² + Σ_knots log dh'/dh

with z' the whitened h', leaves the posterior invariant. It costs next to nothing: no likelihood is needed.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.bridge import whiten
from porbnet.kernels.random import log_law, uniform
from porbnet.kernels.tally import outcome
from porbnet.kernels.vectors import smaller

MOST_SHRINKS = 40
_WIDTH, _LOG_WIDTHS = 0.5, 1.5  # of the interval that is searched, on the log scale; up to this longer or shorter
_LEAST = 1e-10  # of 1 - sigmoid(h'): beyond it the intensity is as good as its bound


@hot
def take_apart(curve: Any) -> None:
    """Set log g and 1 - g of the curve's sigmoid g, in curve.tables, which all points of the group need."""
    table, logs, rests = curve.table, curve.tables[0], curve.tables[1]
    for i in range(len(table)):
        e = math.exp(-abs(table[i]))
        rests[i] = e / (1.0 + e) if table[i] >= 0.0 else 1.0 / (1.0 + e)
        logs[i] = smaller(table[i], 0.0) - math.log1p(e)


@hot
def shifted(curve: Any, delta: float, out: Any) -> float:
    """Set `out` to h' at the knots; returns Σ log dh'/dh but for a constant, -inf if there is no such h'."""
    logs, rests, total, kept = curve.tables[0], curve.tables[1], 0.0, 1.0 - math.exp(-delta)
    for i in range(len(logs)):
        new = rests[i] + (1.0 - rests[i]) * kept  # 1 - sigmoid(h')
        if not new > _LEAST:
            return -math.inf
        log_new = math.log(new)
        out[i] = logs[i] - delta - log_new
        total -= log_new
    return total


@inner
def log_target(state: Any, component: Any, delta: float) -> float:
    """Log density along the group; leaves h' in curve.trial_table and z' in curve.trial_z."""
    curve, level = component.curve, state.values[component.level] * math.exp(delta)
    total = shifted(curve, delta, curve.trial_table)
    if total == -math.inf:
        return total
    total -= 0.5 * whiten(curve, curve.trial_table, curve.trial_z)
    return float(total + log_law(state.laws, component.level, level, math.log(level)))


@inner
def shear(state: Any, rng: Any) -> int:
    """One slice along the group."""
    component, units = state.components[0], state.units
    curve, shape = component.curve, component.shape
    take_apart(curve)
    height = log_target(state, component, 0.0) + math.log(1.0 - uniform(rng))
    width = _WIDTH * math.exp((2.0 * uniform(rng) - 1.0) * _LOG_WIDTHS)
    low = -width * uniform(rng)
    high = low + width
    for _ in range(MOST_SHRINKS):
        delta = low + uniform(rng) * (high - low)
        if log_target(state, component, delta) > height:
            factor = math.exp(-delta)
            for i in range(len(curve.table)):
                curve.table[i] = curve.trial_table[i]
                shape.values[i] *= factor
            shape.integral *= factor
            for k in range(units.n):
                units.relative[k] *= factor
            state.values[component.level] /= factor
            return outcome(0, True)
        if delta < 0.0:
            low = delta
        else:
            high = delta
    return outcome(0, False)
