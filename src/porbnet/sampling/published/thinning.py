"""Step 3 i): thinned events, which make the unknown, varying intensity tractable (Adams, Murray and MacKay 2009).

Units and thinned events together are a Poisson process of the constant intensity λ*, in which an event at c is a unit
with probability g(c) = sigmoid(h(c)), so that no integral of λ is needed:

    p(units, events | h, λ*) = e^(-λ*|C|) Π_k λ* g(c_k) Π_m λ* (1 - g(c̃_m))

- Birth or death of a thinned event, odds ½ : ½, a birth's place uniform: births have the ratio
  |C| λ* (1 - g(c')) / (M + 1), deaths its reciprocal with M in place of M + 1. (The paper draws h' at a new place
  from the Gaussian process given its other values. Here h is represented by finitely many coefficients, so that it is
  known everywhere.)
- A thinned event is moved by a normal step, reflected at the edge (which leaves it symmetric): the ratio is
  (1 - g(c')) / (1 - g(c̃)).
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner
from porbnet.kernels.random import accept, normal, poisson, uniform
from porbnet.kernels.tally import outcome, tally
from porbnet.kernels.units import relative_intensity
from porbnet.sampling.published.hmc import reflect

BIRTH, DEATH = range(2)
STEP = 0.1  # sd of a thinned event's step, in widths of the region


@inner
def thinned_share(shape: Any, place: Any) -> float:
    """1 - g at a place; it is kept off zero, since its logarithm is taken."""
    return max(1.0 - relative_intensity(shape, place), 1e-300)


@inner
def draw_thinned(shape: Any, level: float, thinned: Any, rng: Any) -> None:
    """Thinned events from their law given the intensity, as far as there is room."""
    n = 0
    for _ in range(poisson(level, rng)):
        if n == len(thinned.places):
            break
        for d in range(len(shape.widths)):
            thinned.places[n, d] = uniform(rng) * shape.widths[d]
        if uniform(rng) < thinned_share(shape, thinned.places[n]):
            n += 1
    thinned.n = n


@inner
def thinned_birth_or_death(state: Any, rng: Any) -> int:
    """One proposal."""
    component, thinned = state.components[0], state.thinned
    shape, level, places = component.shape, state.values[component.level], thinned.places
    n, n_dims = thinned.n, places.shape[1]
    if uniform(rng) < 0.5:
        for d in range(n_dims):
            places[n, d] = uniform(rng) * shape.widths[d]
        accepted = accept(math.log(level * thinned_share(shape, places[n]) / (n + 1)), rng)
        if accepted:
            thinned.n = n + 1
        return outcome(BIRTH, accepted)
    if n == 0:
        return outcome(DEATH, False)
    m = min(int(uniform(rng) * n), n - 1)
    accepted = accept(math.log(n / (level * thinned_share(shape, places[m]))), rng)
    if accepted:
        for d in range(n_dims):
            places[m, d] = places[n - 1, d]
        thinned.n = n - 1
    return outcome(DEATH, accepted)


@inner
def move_thinned(state: Any, first: int, rng: Any) -> None:
    """One step of every thinned event, counted from `first`; the place after the last is used for proposals."""
    shape, thinned = state.components[0].shape, state.thinned
    places, widths = thinned.places, shape.widths
    n, n_dims = thinned.n, places.shape[1]
    proposal = places[n]
    for m in range(n):
        for d in range(n_dims):
            way = STEP * widths[d] * normal(rng)
            proposal[d] = reflect(places[m, d] + way, widths[d])[0]
        old, new = thinned_share(shape, places[m]), thinned_share(shape, proposal)
        accepted = accept(math.log(new / old), rng)
        if accepted:
            for d in range(n_dims):
                places[m, d] = proposal[d]
        tally(state, first, outcome(0, accepted))
