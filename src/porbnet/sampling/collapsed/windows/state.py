"""What a visit of a window works on, and where windows are laid."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.records import Record
from porbnet.kernels.bridge import Box, empty_box
from porbnet.kernels.state import IntArray
from porbnet.sampling.collapsed.state import FIRST_STEPS

MOST_INSIDE = 64  # units of a window
MOST_TOGETHER = 90.0  # units over several inputs, up to which every sweep integrates all weights out
MOST_ROWS_OF_BIAS = 2000  # up to which the bias is integrated out in visits
MOST_OPEN = 40  # neighbours whose weights are integrated out
# among the step sizes, after those of `collapsed.state`: arcs of the curve's updates by kind and class of sizes, and
# lengths along the translation of level and curve
STEP_ARC, N_ARCS = len(FIRST_STEPS), 9
STEP_SHIFT, STEP_SHIFT_JUMP = STEP_ARC + N_ARCS, STEP_ARC + N_ARCS + 1
FIRST_WINDOW_STEPS = [*FIRST_STEPS, *[3.0] * N_ARCS, 1.0, 0.3]


class Inside(Record):
    """Units of a window, their weights and those of open neighbours integrated out; the first n of each array count.

    With Φ the columns of these units, U the products of open neighbours' columns with them over σ², and L the factor of
    the neighbours' own A (see `visit`), their weights have the precision matrix R and the right hand side ρ

        R = ΦᵀΦ/σ² + I/v - EᵀE,   E = L⁻¹U,   ρ = Φᵀy/σ² - Eᵀq,   q = L⁻¹ Φ_openᵀ y / σ²

    centers : (room, n_dims); relative, scales : (room,); low, high : (room,) windows of observations
    columns : (room, n_points) as in `kernels.state.Units`
    across : (room, most open + 1) E, a row per unit
    precision : (room, room) R; right : (room,) ρ
    factor : (room, room) lower Cholesky factor of R, its diagonal inverted; solved : (room,) factor⁻¹ ρ
    refused : 1 if these units are impossible: sharper than the rows allow, or too many
    """

    n: int
    refused: int
    centers: FloatArray
    relative: FloatArray
    scales: FloatArray
    low: IntArray
    high: IntArray
    columns: FloatArray
    across: FloatArray
    precision: FloatArray
    right: FloatArray
    factor: FloatArray
    solved: FloatArray


class Visit(Record):
    """A visit of a window, and what goes on between visits.

    sets : units inside, and room for proposed ones; current : which is which
    held : (MOST_INSIDE,) where the units inside stood among all; n_held : how many
    neighbours : (MOST_OPEN,) which of all units are open, the farthest first; n_open : how many, at most most_open
    distances : (MOST_OPEN,) theirs
    factor : (MOST_OPEN + 1, MOST_OPEN + 1) L, its diagonal inverted, the bias last; solved : (MOST_OPEN + 1,) q
    open_bias : 1 if the bias is integrated out too; it concerns all observations, and is held if these are many
    outputs : (n_points,) what is left of the observations by units neither inside nor open; between visits, by all
    weights : (capacity + 1,) of bias and units; drawn : 1 if they are those of the current units
    vector : (room,) anything that lives within a step

    The window:

    low, high : (n_dims,) its corners
    box : its knots
    area : (n_knots,) what each of them adds to an integral over it
    rest, noise : (n_knots,) inside it, deviations of the curve and those of a draw
    mass, most : ∫ g over it, the largest g in it

    Where windows are laid, which warm-up settles:

    density : (n_knots,) units near each knot; what follows from it is set by `aim.add_up`:
    below : (n_knots + 1,) its running sums
    sums : (n_cells,) sums of it over all knots below, per dimension one more than there are knots
    n_visits : per sweep
    size : of windows, times the usual one
    most_together : units over several inputs, up to which every sweep integrates all weights out
    """

    sets: tuple[Inside, ...]
    current: int
    held: IntArray
    n_held: int
    neighbours: IntArray
    n_open: int
    most_open: int
    distances: FloatArray
    factor: FloatArray
    solved: FloatArray
    open_bias: int
    outputs: FloatArray
    weights: FloatArray
    drawn: int
    vector: FloatArray
    low: FloatArray
    high: FloatArray
    box: Box
    area: FloatArray
    rest: FloatArray
    noise: FloatArray
    mass: float
    most: float
    density: FloatArray
    below: FloatArray
    sums: FloatArray
    n_visits: int
    size: float
    most_together: float

    CARRIED = ("density",)


def empty_inside(n_dims: int, n_points: int) -> Inside:
    """Room for the units of a window."""
    room = MOST_INSIDE + 2
    return Inside(
        n=0,
        refused=0,
        centers=np.zeros((room, n_dims)),
        relative=np.ones(room),
        scales=np.ones(room),
        low=np.zeros(room, dtype=np.int64),
        high=np.zeros(room, dtype=np.int64),
        columns=np.empty((room, max(n_points, 1))),
        across=np.zeros((room, MOST_OPEN + 1)),
        precision=np.zeros((room, room)),
        right=np.zeros(room),
        factor=np.zeros((room, room)),
        solved=np.zeros(room),
    )


def empty_visit(capacity: int, n_points: int, sizes: Any, expected: float, has_bias: bool) -> Visit:
    """Room for visits of windows among up to `capacity` units; sizes : (n_dims,) knots along each dimension.

    expected : units to begin with
    """
    n_dims, n_knots = len(sizes), math.prod(int(n) for n in sizes)
    n_points = max(n_points, 1)
    return Visit(
        sets=(empty_inside(n_dims, n_points), empty_inside(n_dims, n_points)),
        current=0,
        held=np.zeros(MOST_INSIDE + 2, dtype=np.int64),
        n_held=0,
        neighbours=np.zeros(MOST_OPEN + 1, dtype=np.int64),
        n_open=0,
        most_open=MOST_OPEN,
        distances=np.zeros(MOST_OPEN + 1),
        factor=np.zeros((MOST_OPEN + 1, MOST_OPEN + 1)),
        solved=np.zeros(MOST_OPEN + 1),
        open_bias=int(has_bias and n_points <= MOST_ROWS_OF_BIAS),
        outputs=np.zeros(n_points),
        weights=np.zeros(capacity + 1),
        drawn=0,
        vector=np.zeros(MOST_INSIDE + MOST_OPEN + 4),
        low=np.zeros(n_dims),
        high=np.zeros(n_dims),
        box=empty_box(sizes),
        area=np.zeros(n_knots),
        rest=np.zeros(n_knots),
        noise=np.zeros(n_knots),
        mass=0.0,
        most=1.0,
        density=np.full(n_knots, expected / n_knots),
        below=np.zeros(n_knots + 1),
        sums=np.zeros(math.prod(int(n) + 1 for n in sizes)),
        n_visits=1,
        size=1.0,
        most_together=MOST_TOGETHER,
    )
