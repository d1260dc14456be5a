"""A move from outside the package, in one file: a unit goes to its mirror image about the middle of the region.

The map is its own inverse and keeps lengths, so that the ratio is B(φ') / B_k · λ(c') / λ(c), as of any move.
"""

import math

from porbnet.base.compiled import inner
from porbnet.kernels.gaussian import needs_refresh, refresh
from porbnet.kernels.random import accept, uniform
from porbnet.kernels.tally import IDLE, outcome
from porbnet.kernels.units import relative_intensity, scale_at, weight_variance
from porbnet.sampling.collapsed.birth_death import (
    broken,
    fit_candidate,
    log_bayes_factor,
    log_bayes_factor_of,
    relocate,
)
from porbnet.sampling.moves import Move


@inner
def mirror(state, rng):
    """One unit, chosen at random, to its mirror image."""
    units, work = state.units, state.work
    if units.n == 0:
        return IDLE
    if needs_refresh(state):
        refresh(state)
    k = min(int(uniform(rng) * units.n), units.n - 1)
    component = state.components[units.owner[k]]
    for d in range(component.x.shape[0]):
        work.center[d] = component.shape.widths[d] - units.centers[k, d]
    g, variance = relative_intensity(component.shape, work.center), weight_variance(component, state.values)
    scale = scale_at(component, state.values[component.level] * g)
    candidate = fit_candidate(state, component, scale, k)
    if broken(state, candidate, variance):
        return outcome(0, False)
    log_ratio = math.log(g / units.relative[k])
    log_ratio += log_bayes_factor(candidate, variance) - log_bayes_factor_of(units, k, variance)
    if not accept(log_ratio, rng):
        return outcome(0, False)
    relocate(state, k, candidate, g, scale)
    return outcome(0, True)


MIRROR = Move("mirror", mirror)
