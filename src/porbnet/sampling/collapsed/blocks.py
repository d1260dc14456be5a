"""Births, deaths and moves in blocks: many units at a cost that grows in proportion to them.

The region is cut into boxes of some tens of expected units. For one of them, hold everything outside, weights and bias
included:

    r = y - b - Σ_{k outside} w_k φ_k                    on the rows that units of the box can reach
    p(units and weights inside | rest) ∝ Π_inside λ(c_k) · N(r | Φ_in w_in, σ²) · N(w_in | 0, v)

which is the whole problem again, on a small scale and without a bias: the weights inside are integrated out, births,
deaths and moves are made as in `birth_death` (births from λ restricted to the box, moves out of it rejected), then
w_in ~ N(m_in, P_in) is drawn, and the next box sees it. Every step leaves the posterior of units and weights invariant.
Where the cuts lie, and how much is tried in a box, depends on chance and on the intensity, which do not change
meanwhile, and not on the units.

With one input the weights of all units are drawn jointly before the first box, and integrated out again after the last;
with several that would cost more than all the rest (`local`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, inner
from porbnet.base.records import Record
from porbnet.kernels.gaussian import draw_weights, is_informed, is_stale, refit, renew
from porbnet.kernels.random import uniform
from porbnet.kernels.state import CONSTANT, PIECES, IntArray, State, empty_units, empty_work, room_for_marks
from porbnet.kernels.tally import tally
from porbnet.kernels.units import (
    REACH,
    append,
    append_right,
    clear,
    copy_units,
    lower_bound,
    scale_at,
)
from porbnet.kernels.vectors import copy, larger, smaller
from porbnet.kernels.views import part
from porbnet.sampling.collapsed.birth_death import birth_or_death, move

BIRTH_DEATH, MOVE = 0, 2  # places of their kinds
TARGET = 40.0  # expected units of a box at most
CAPACITY = 255  # units of a box
MOST_BOXES = 4096
EDGE = 0.35  # share of a box's side, from either end, where it is not cut


class Blocks(Record):
    """What goes on between boxes.

    boxes : (MOST_BOXES, 2 n_dims) lower and upper corners of those that wait
    rows : (n_points,) the observations of the current box; n_rows : how many; filled : how many places of the box's own
        inputs are in use
    hats : (n_dims, most) integrals of the table's basis over the box, along each dimension
    residual : (n_points,) y - f times root precision
    weights : (capacity + 1,) of bias and units; drawn : 1 if they are those of the current units, see `local`
    fresh : (capacity,) weights of the units so far
    crowded : 1 if a box had more units than there is room for: they are then lost, and the chain with them
    target : expected units of a box at most
    n : units after the boxes so far; centers, relative, scales : (capacity, n_dims), (capacity,) of these
    """

    boxes: FloatArray
    rows: IntArray
    hats: FloatArray
    residual: FloatArray
    weights: FloatArray
    fresh: FloatArray
    centers: FloatArray
    relative: FloatArray
    scales: FloatArray
    n: int
    n_rows: int
    filled: int
    drawn: int
    crowded: int
    target: float


def empty_blocks(capacity: int, n_dims: int, n_points: int, sizes: Any) -> Blocks:
    """Room for so many units; sizes : (n_dims,) of the intensity's table."""
    return Blocks(
        boxes=np.zeros((MOST_BOXES, 2 * n_dims)),
        rows=np.zeros(max(n_points, 1), dtype=np.int64),
        hats=np.zeros((n_dims, int(max(sizes, default=1)))),
        residual=np.zeros(max(n_points, 1)),
        weights=np.zeros(capacity + 1),
        fresh=np.zeros(capacity),
        centers=np.zeros((capacity, n_dims)),
        relative=np.zeros(capacity),
        scales=np.zeros(capacity),
        n=0,
        n_rows=0,
        filled=0,
        drawn=0,
        crowded=0,
        target=TARGET,
    )


def block_state(state: State, capacity: int) -> State:
    """A state of the same kind for one box: rows and units of its own, parameters, curve and counts shared."""
    n_points, n_dims = len(state.rows.y), state.units.centers.shape[1]
    rows = state.rows.replaced(
        counts=np.ones(n_points), known_root=np.ones(n_points), outputs=np.zeros(n_points), root=np.zeros(n_points),
        y=np.zeros(n_points), errors=np.zeros(0), within=np.zeros(n_points), limit=np.full(n_points, np.inf),
        has_bias=0, slopes=np.zeros(0), slope_sd=np.zeros(0), line=np.zeros(0),
    )  # fmt: skip
    (component,) = state.components
    shape = component.shape.replaced(low=component.shape.low.copy(), high=component.shape.high.copy())
    x = np.full(component.x.shape, np.inf)
    own = component.replaced(x=x, shape=shape, **room_for_marks(0, n_dims))
    return state.replaced(
        rows=rows,
        components=(own,),
        units=empty_units(capacity, n_dims, n_points),
        trial=empty_units(0, n_dims, 0, room=1),
        work=empty_work(capacity, n_dims, n_points),
    )


@inner
def unit_moves(state: Any, rng: Any) -> None:
    """Births, deaths and moves of units, in turns."""
    for i in range(larger(state.n_birth_death, state.n_moves)):
        for kind in range(2):
            if i >= (state.n_birth_death if kind == 0 else state.n_moves):
                continue
            if is_stale(state):
                renew(state)
            if kind == 0:
                tally(state, BIRTH_DEATH, birth_or_death(state, rng))
            else:
                tally(state, MOVE, move(state, rng))
    if is_informed(state):
        state.units.updates = -1  # P is not that of the units


@inner
def integral_over(shape: Any, hats: Any, low: Any, high: Any) -> float:
    """∫ g over a box inside the region.

    g is Σ_i values_i Π_d B_id(c_d), B a hat between knots or the indicator of a piece: their integrals multiply.
    """
    n_dims, total = len(shape.widths), 1.0
    if shape.kind == CONSTANT:
        for d in range(n_dims):
            total *= high[d] - low[d]
        return total
    for d in range(n_dims):
        for i in range(shape.sizes[d]):
            hats[d, i] = hat_integral(shape, d, i, low[d], high[d])
    total = 0.0
    for index in range(len(shape.values)):
        weight, rest = shape.values[index], index
        for d in range(n_dims - 1, -1, -1):
            weight *= hats[d, rest % shape.sizes[d]]
            rest //= shape.sizes[d]
        total += weight
    return float(total)


@inner
def hat_integral(shape: Any, d: int, i: int, low: float, high: float) -> float:
    """∫ of the i-th basis function along a dimension over [low, high]."""
    if shape.kind == PIECES:
        start, stop = shape.break_offsets[d], shape.break_offsets[d + 1]
        left = shape.breaks[start + i - 1] if i > 0 else 0.0
        right = shape.breaks[start + i] if start + i < stop else shape.widths[d]
        return float(larger(smaller(right, high) - larger(left, low), 0.0))
    step = shape.widths[d] / (shape.sizes[d] - 1)
    return float(step * (hat_below(high / step - i) - hat_below(low / step - i)))


@inner
def hat_below(t: float) -> float:
    """∫ of max(1 - |u|, 0) up to t."""
    t = smaller(larger(t, -1.0), 1.0)
    return 0.5 + t - 0.5 * t * abs(t)


@inner
def least_intensity(shape: Any, hats: Any) -> float:
    """The least g on the box whose `hats` are set: of the knots or pieces that have a part in it."""
    if shape.kind == CONSTANT:
        return 1.0
    least, n_dims = shape.bound, len(shape.widths)
    for index in range(len(shape.values)):
        rest, there = index, True
        for d in range(n_dims - 1, -1, -1):
            there = there and hats[d, rest % shape.sizes[d]] > 0.0
            rest //= shape.sizes[d]
        if there:
            least = smaller(least, shape.values[index])
    return float(least)


@inner
def gather(state: Any, block: Any, blocks: Any, reach: float) -> None:
    """The observations that units of the box can reach, as the block's own rows; others are out of its sight."""
    rows, x, shape = state.rows, state.components[0].x, block.components[0].shape
    own, own_x, n_dims = block.rows, block.components[0].x, len(shape.widths)
    last = x.shape[1]
    start = lower_bound(x, np.int64(0), last, shape.low[0] - reach)  # type: ignore[arg-type]
    stop = lower_bound(x, start, last, shape.high[0] + reach)
    n, count = 0, 0.0
    for i in range(start, stop):
        near = True
        for d in range(1, n_dims):
            near = near and x[d, i] >= shape.low[d] - reach and x[d, i] <= shape.high[d] + reach
        if near:
            blocks.rows[n] = i
            for d in range(n_dims):
                own_x[d, n] = x[d, i]
            own.root[n] = rows.root[i]
            own.limit[n] = rows.limit[i]
            own.y[n] = blocks.residual[i]
            count += rows.root[i] * rows.root[i]
            n += 1
    for i in range(n, blocks.filled):
        own_x[0, i] = np.inf
    blocks.filled, blocks.n_rows = n, n
    own.safe, own.margin, own.coarse = rows.safe, rows.margin, 0
    own.count = count  # what its rows say, see `gaussian.is_informed`; of log p it is a constant


@hot
def add_weighted(units: Any, weights: Any, sign: float, out: Any) -> None:
    """Add the units' part of f, with weights in places 1, 2, ..., to weighted observations."""
    for k in range(units.n):
        low, w, column = units.low[k], sign * weights[k + 1], units.columns[k]
        reached = part(out, low, units.high[k])
        for i in range(units.high[k] - low):
            reached[i] += w * column[i]


@inner
def take_units(state: Any, block: Any, blocks: Any, first: int) -> int:
    """Units of the box as the block's own, their part of f put back into its outputs; returns where they end.

    With one input units stand from left to right: those of the box are the next ones from `first` on.
    """
    units, own, weights = state.units, block.units, block.work.vector
    shape, rows = block.components[0].shape, block.rows
    clear(rows, own)
    last = first
    for k in range(first, units.n):
        if len(shape.widths) == 1 and units.centers[k, 0] > shape.high[0]:
            break
        last = k + 1
        if belongs(shape, state.components[0].shape, units.centers[k]):
            if own.n + 2 >= len(own.scales):
                blocks.crowded = 1
                continue
            weights[own.n + 1] = blocks.weights[k + 1]
            g, scale = units.relative[k], units.scales[k]
            append(rows, block.components, own, 0, units.centers[k], g, scale, block.work.cross)
    add_weighted(own, weights, 1.0, rows.y)
    square = 0.0
    for i in range(blocks.n_rows):
        square += rows.y[i] * rows.y[i]
    rows.square = square
    for j in range(own.n):  # Φᵀ(r + Φ w) = Φᵀr + ΦᵀΦ w
        at = own.at[j + 1]
        for k in range(own.n):
            own.moment[j + 1] += own.gram[at + k + 1] * weights[k + 1]
    own.updates = -1
    return last


@inner
def belongs(box: Any, whole: Any, center: Any) -> bool:
    """Whether a center lies in a box, of which the upper edges are the next one's but for those of the region."""
    within = True
    for d in range(len(whole.widths)):
        within = within and center[d] >= box.low[d]
        within = within and (center[d] < box.high[d] or box.high[d] == whole.high[d])
    return within


@inner
def give_back(state: Any, block: Any, blocks: Any, rng: Any) -> None:
    """Draw the weights inside; what is left of the outputs, and the units from left to right, go back."""
    own, rows, weights = block.units, block.rows, block.work.vector
    refit(block)
    draw_weights(own, rng, weights)
    add_weighted(own, weights, -1.0, rows.y)
    for i in range(blocks.n_rows):
        blocks.residual[blocks.rows[i]] = rows.y[i]
    for i in range(own.n):
        k, n = own.order[i] - 1, blocks.n
        if n < len(blocks.scales):
            copy(own.centers[k], blocks.centers[n], own.centers.shape[1])
            blocks.relative[n] = own.relative[k]
            blocks.scales[n] = own.scales[k]
            blocks.fresh[n] = weights[k + 1]
            blocks.n = n + 1
    state.rows.coarse = larger(state.rows.coarse, rows.coarse)


@inner
def one_box(state: Any, block: Any, blocks: Any, first: int, mass: float, rng: Any) -> int:
    """Births, deaths and moves in the box that the block's shape says; returns where its units end among all."""
    shape, component = block.components[0].shape, state.components[0]
    level = state.values[component.level]
    least = least_intensity(shape, blocks.hats)
    gather(state, block, blocks, REACH / scale_at(component, level * least))
    last = take_units(state, block, blocks, first)
    share = mass / (level * component.shape.integral)
    block.n_birth_death = int(state.n_birth_death * share + 1.0)
    block.n_moves = int(state.n_moves * share + 1.0)
    if block.units.n + block.n_birth_death + 2 < len(block.units.scales):
        unit_moves(block, rng)
    else:
        block.units.lacking = 1
    give_back(state, block, blocks, rng)
    return last


@inner
def in_blocks(state: Any, block: Any, blocks: Any, rng: Any) -> None:
    """Births, deaths and moves of all units, box by box, given weights in `blocks`; leaves residuals and weights."""
    units, rows, component = state.units, state.rows, state.components[0]
    for i in range(len(rows.y)):
        blocks.residual[i] = rows.y[i] - (blocks.weights[0] * rows.root[i] if rows.has_bias == 1 else 0.0)
    add_weighted(units, blocks.weights, -1.0, blocks.residual)
    shape, level, n_dims = block.components[0].shape, state.values[component.level], len(component.shape.widths)
    boxes, waiting, first = blocks.boxes, 1, 0
    for d in range(n_dims):
        boxes[0, d], boxes[0, n_dims + d] = component.shape.low[d], component.shape.high[d]
    blocks.n = 0
    while waiting > 0:
        waiting -= 1
        for d in range(n_dims):
            shape.low[d], shape.high[d] = boxes[waiting, d], boxes[waiting, n_dims + d]
        shape.integral = integral_over(shape, blocks.hats, shape.low, shape.high)
        mass = level * shape.integral
        if mass > blocks.target and waiting + 2 < MOST_BOXES:
            waiting = cut(shape, boxes, waiting, rng)
            continue
        first_next = one_box(state, block, blocks, first, mass, rng)
        first = first_next if n_dims == 1 else 0
    put_together(state, blocks)


@inner
def put_together(state: Any, blocks: Any) -> None:
    """The units of all boxes from left to right, with what is cached of them."""
    order, centers = state.trial.order, blocks.centers
    for k in range(blocks.n):
        at = k
        while at > 0 and centers[order[at - 1], 0] > centers[k, 0]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = k
    clear(state.rows, state.trial)
    for i in range(blocks.n):
        k = order[i]
        blocks.weights[i + 1] = blocks.fresh[k]
        append_right(state.rows, state.components, state.trial, 0, centers[k], blocks.relative[k], blocks.scales[k])
    copy_units(state.trial, state.units)


@inner
def cut(shape: Any, boxes: Any, waiting: int, rng: Any) -> int:
    """Cut a box in two, at a random place along its longest side, the lower part next; returns how many wait."""
    n_dims, along = len(shape.widths), 0
    for d in range(n_dims):
        if shape.high[d] - shape.low[d] > shape.high[along] - shape.low[along]:
            along = d
    share = EDGE + (1.0 - 2.0 * EDGE) * uniform(rng)
    middle = shape.low[along] + share * (shape.high[along] - shape.low[along])
    for d in range(n_dims):
        for upper in range(2):  # the upper part below the lower part on the pile
            boxes[waiting + upper, d] = middle if d == along and upper == 0 else shape.low[d]
            boxes[waiting + upper, n_dims + d] = middle if d == along and upper == 1 else shape.high[d]
    return waiting + 2
