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

from porbnet.base.compiled import inner_kernel
from porbnet.sampling.collapsed.birth_death import accept
from porbnet.sampling.collapsed.state import Shape
from porbnet.sampling.collapsed.units import poisson, relative_intensity
from porbnet.sampling.published.hmc import reflect
from porbnet.sampling.published.state import THINNED_BIRTH, THINNED_DEATH, THINNED_MOVE, Thinned, Tuning

STEP = 0.1  # sd of a thinned event's step, in widths of the region


@inner_kernel
def thinned_share(shape: Shape, place: Any) -> float:
    """1 - g at a place; it is kept off zero, since its logarithm is taken."""
    return max(1.0 - relative_intensity(shape, place), 1e-300)


@inner_kernel
def draw_thinned(shape: Shape, level: float, thinned: Thinned, rng: Any) -> None:
    """Thinned events from their law given the intensity, as far as there is room."""
    n = 0
    for _ in range(poisson(level, rng)):
        if n == len(thinned.places):
            break
        for d in range(len(shape.widths)):
            thinned.places[n, d] = rng.random() * shape.widths[d]
        if rng.random() < thinned_share(shape, thinned.places[n]):
            n += 1
    thinned.n[0] = n


@inner_kernel
def thinned_birth_or_death(shape: Shape, level: float, thinned: Thinned, tuning: Tuning, rng: Any) -> None:
    """One proposal."""
    n, n_dims = thinned.n[0], thinned.places.shape[1]
    if rng.random() < 0.5:
        tuning.tried[THINNED_BIRTH] += 1
        for d in range(n_dims):
            thinned.places[n, d] = rng.random() * shape.widths[d]
        if accept(math.log(level * thinned_share(shape, thinned.places[n]) / (n + 1)), rng):
            tuning.accepted[THINNED_BIRTH] += 1
            thinned.n[0] = n + 1
    else:
        tuning.tried[THINNED_DEATH] += 1
        if n == 0:
            return
        m = min(int(rng.random() * n), n - 1)
        if accept(math.log(n / (level * thinned_share(shape, thinned.places[m]))), rng):
            tuning.accepted[THINNED_DEATH] += 1
            for d in range(n_dims):
                thinned.places[m, d] = thinned.places[n - 1, d]
            thinned.n[0] = n - 1


@inner_kernel
def move_thinned(shape: Shape, thinned: Thinned, tuning: Tuning, rng: Any) -> None:
    """One step of every thinned event; the place after the last is used for proposals."""
    n, n_dims = thinned.n[0], thinned.places.shape[1]
    proposal = thinned.places[n]
    for m in range(n):
        tuning.tried[THINNED_MOVE] += 1
        for d in range(n_dims):
            way = STEP * shape.widths[d] * rng.standard_normal()
            proposal[d] = reflect(thinned.places[m, d] + way, shape.widths[d])[0]
        old, new = thinned_share(shape, thinned.places[m]), thinned_share(shape, proposal)
        if accept(math.log(new / old), rng):
            tuning.accepted[THINNED_MOVE] += 1
            for d in range(n_dims):
                thinned.places[m, d] = proposal[d]
