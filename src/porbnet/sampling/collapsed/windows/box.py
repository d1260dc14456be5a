"""The intensity over a window: its integral, its largest value, and places drawn from it."""

from __future__ import annotations

from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.bridge import first_of, last_of
from porbnet.kernels.random import uniform
from porbnet.kernels.units import relative_intensity
from porbnet.kernels.vectors import larger


@inner
def weigh_knots(shape: Any, visit: Any) -> None:
    """Set visit.area to what each knot of the window adds to an integral over it of a function multilinear between."""
    sizes, box = shape.sizes, visit.box
    for j in range(box.n):
        weight = 1.0
        for d in range(len(sizes)):
            step, place = shape.widths[d] / (sizes[d] - 1), box.places[d, j]
            edge = place == first_of(box.first[d]) or place == last_of(box.last[d], sizes[d])
            weight *= 0.5 * step if edge else step
        visit.area[j] = weight


@hot
def measure(shape: Any, visit: Any) -> None:
    """Set visit.mass to ∫ g over the window and visit.most to the largest g in it: g is multilinear between knots."""
    knots, area, values, total, most = visit.box.knots, visit.area, shape.values, 0.0, 0.0
    for j in range(visit.box.n):
        g = values[knots[j]]
        total += area[j] * g
        most = larger(most, g)
    visit.mass, visit.most = total, most


@inner
def volume(visit: Any) -> float:
    """Of the window."""
    total = 1.0
    for d in range(len(visit.low)):
        total *= visit.high[d] - visit.low[d]
    return total


@inner
def draw_inside(visit: Any, rng: Any, out: Any) -> None:
    """A place in the window, uniformly."""
    for d in range(len(visit.low)):
        out[d] = visit.low[d] + uniform(rng) * (visit.high[d] - visit.low[d])


@inner
def draw_place(shape: Any, visit: Any, rng: Any, out: Any) -> float:
    """A place in the window from g, by rejection; returns g there."""
    while True:
        draw_inside(visit, rng, out)
        g = relative_intensity(shape, out)
        if uniform(rng) * visit.most < g:
            return g
