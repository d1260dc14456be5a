"""The nouns of the kernels: rows, components, units, curves, laws of parameters; and the state that is made of them.

Kernels see standard coordinates: inputs divided by the anisotropy and by the region's size (so that the region has
volume one and starts at the origin), outputs divided by their spread. Row 0 of every matrix is the bias, row k + 1 is
unit k; only the first n + 1 rows and columns mean anything.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.records import Record

IntArray = NDArray[np.int64]

NOISE = 0  # the place of the noise sd among the values; a component knows the places of its own

BLOCK = 32
MOST_HELD, MOST_HELD_AROUND = 6, 16  # places of a curve, at random or around a box
MOST_UPDATES = 400  # rank-one updates before P is computed afresh
CONSTANT, PIECES, TABLE = range(3)  # kinds of `Shape`


def padded(n: int) -> int:
    """Length n rounded up: loops over whole blocks have no slow remainder."""
    return (n + BLOCK - 1) // BLOCK * BLOCK


class Rows(Record):
    """Observations as the Gaussian algebra sees them: a pseudo-output and a precision each.

    For Gaussian errors the pseudo-outputs are the outputs; a likelihood with an augmentation moves them, and the
    precisions, between sweeps (`porbnet.likelihood`).

    counts : (n_points,) how often each observation counts: the power of its likelihood
    known_root : (n_points,) square root of the part of the relative precision that is known
    outputs : (n_points,) pseudo-outputs
    root : (n_points,) square root of each observation's relative precision; after `weigh`, times that of its count
    y : (n_points,) pseudo-outputs, less the line, times root
    errors : (n_points,) work space of a likelihood: pseudo-output minus f, times known_root
    within : (n_points,) a row may stand for several observations: mean square of their outputs about `outputs`
    limit : (n_points,) and then for units up to this scale only (`sampling.compression`); infinite for plain rows
    square, log_root, count : Σ root² (outputs² + within), ½ Σ counts · log relative precision, Σ counts
    shift : what rows that stand for several leave out of log_root
    safe : the least of `limit`
    margin : times the scale of every unit there is should be within the limits
    coarse : 1 once a unit has been proposed that is not, or is there without the margin
    has_bias : 1 if the network has a bias, else 0
    bias_variance : σ_b² (1 if there is no bias)
    slopes : (n_dims,) of a straight line in f, or none; slope_sd : their standard deviations under the prior
    line : (n_points,) the line at each observation, which is taken off its pseudo-output; none without slopes
    """

    counts: FloatArray
    known_root: FloatArray
    outputs: FloatArray
    root: FloatArray
    y: FloatArray
    errors: FloatArray
    within: FloatArray
    limit: FloatArray
    square: float
    log_root: float
    count: float
    shift: float
    safe: float
    margin: float
    coarse: int
    has_bias: int
    bias_variance: float
    slopes: FloatArray
    slope_sd: FloatArray
    line: FloatArray

    CARRIED = ("outputs", "root", "y", "square", "log_root", "slopes", "line")


class Shape(Record):
    """The relative intensity g, λ(c) = level · g(c), on the box [0, width_1] x ... of volume one.

    kind : CONSTANT, PIECES (piecewise constant) or TABLE (multilinear between regular knots)
    widths : (n_dims,) edges of the box
    values : flat table of g (C order)
    sizes : (n_dims,) pieces or knots per dimension
    breaks : breaks of all dimensions, one after the other (pieces)
    break_offsets : (n_dims + 1,) where each dimension's breaks start
    bound : largest g
    integral : ∫ g over the box
    low, high : (n_dims,) the part of the box in which units are born, die and move: all of it, but for a block
    """

    kind: int
    widths: FloatArray
    values: FloatArray
    sizes: IntArray
    breaks: FloatArray
    break_offsets: IntArray
    bound: float
    integral: float
    low: FloatArray
    high: FloatArray

    CARRIED = ("values", "integral")


class Curve(Record):
    """A Gaussian process at knots, h = mean + √variance (B_1 ⊗ ... ⊗ B_D) z, see `functions.grid_gp`.

    There is none if z is empty.

    z : (n_whitened,) whitened coefficients, those of an unknown variance and lengthscale last
    table : (n_knots,) h, flat; cached: whoever moves z sets it
    bases : for each lengthscale B_1ᵀ, ..., B_Dᵀ (coefficients by knots) one after the other, flat, √variance (or that
        of its median) in the first
    ranks : (n_lengthscales, n_dims) coefficients per dimension, the most in the first row
    sizes : (n_dims,) knots per dimension
    area : (n_knots,) weights of the trapezoidal rule on the box
    spreads : (n_lengthscales, n_coefficients) root mean square of each column of B_1 ⊗ ... ⊗ B_D, if any of the law is
        unknown
    log_sd : of half the logarithm of the variance, 0 if it is known
    step : from one lengthscale to the next, in its coefficient
    mean, sd : its mean, and √variance (or that of its median)
    correlations : (n_dims,) of neighbouring knots along each dimension, if the kernel is exponential; else none

    Work space, which lives no longer than one update:

    buffers : (2, room)
    trial_z : (n_whitened,) a proposal; trial_table : (n_knots,) its curve
    flat : (n_whitened,) coefficients of a constant curve of height one; zero if the law of the curve is unknown
    axes : (2 + MOST_HELD_AROUND, n_whitened) the two half axes of the ellipse it lies on, and what they avoid
    tables : (2, n_knots) what both half axes add to the curve
    window : (n_dims, 2) first knot and number of knots of a window
    sums : (n_knots,) integrals of an intensity along an axis
    """

    z: FloatArray
    table: FloatArray
    bases: FloatArray
    ranks: IntArray
    sizes: IntArray
    area: FloatArray
    spreads: FloatArray
    log_sd: float
    step: float
    mean: float
    sd: float
    correlations: FloatArray
    buffers: FloatArray
    trial_z: FloatArray
    trial_table: FloatArray
    flat: FloatArray
    axes: FloatArray
    tables: FloatArray
    window: IntArray
    sums: FloatArray

    CARRIED = ("z", "table")


class Component(Record):
    """A sum of units: the inputs they see, where they may lie, and what their scales and weights follow.

    x : (n_dims, n_points) the inputs of this component, in the order of the rows
    sorted : 1 if the rows are in order of its first coordinate: its units then look at a window of them, else at all
    shape : relative intensity; trial : room for a proposed one
    curve : of a learned intensity, or empty
    s0 : scale of a unit where the intensity is one
    weight_factor : (s0² / π)^(D/2), weight variance for unit amplitude
    amplitude, level : places of its parameters among the values
    points, marks : (room, n_dims), (room,) marked points of the non-centered updates; no room without a curve
    moved : (room, n_dims) where these are under another intensity
    """

    x: FloatArray
    sorted: int
    shape: Shape
    trial: Shape
    curve: Curve
    s0: float
    weight_factor: float
    amplitude: int
    level: int
    points: FloatArray
    marks: FloatArray
    moved: FloatArray

    CARRIED = ("shape", "curve")


class Units(Record):
    """Units and what is cached of them, with room for more than there are.

    n : number of units
    owner : (capacity,) which component each belongs to
    centers : (capacity, most dimensions)
    relative : (capacity,) g at the center
    scales : (capacity,)
    low, high : (capacity,) window [low, high) of observations that a unit touches
    columns : (capacity, n_points) weighted unit values, window first: entry i - low is observation i
    packed : 1 if units stand from left to right and of ΦᵀΦ and the factor only what may not be zero is kept, row by
        row; 0 if these are whole squares, and P is kept too. size is capacity + 1 rounded up to whole blocks
    gram : (room,) ΦᵀΦ, flat: entry (i, j) is gram[at[i] + j], for j ≤ i and j ≥ first[i - 1] + 1 if packed; with the
        bias only (0, 0), the rest being `with_bias`
    with_bias : (capacity,) Φᵀ1
    moment : (size,) Φᵀy
    inverse : (size, size) P = A⁻¹; no room if packed
    mean : (size,) posterior mean of bias and weights
    factor : (room,) lower Cholesky factor of A with rows and columns in `order`, its diagonal inverted, flat: entry
        (i, j) is factor[factor_at[i] + j] from first[i] on; valid right after a factorisation
    order : (size,) rows in the order of factorisation: units from left to right, the bias last
    first : (size,) first nonzero place of each row of the factor, in that order
    at, factor_at : (size,)
    scratch : (size, size), no room if packed; ordered : (size,) work space in that order
    used : of gram, if packed
    bare : 1 if packed units are to have columns alone, and no Gram matrix
    updates : rank-one updates of P since it was last computed afresh; -1 if `factor` is not of the current A
    refused : 1 if these units, of a proposal, are impossible: sharper than the rows allow, or without room
    lacking : 1 once room was lacking
    """

    n: int
    owner: IntArray
    centers: FloatArray
    relative: FloatArray
    scales: FloatArray
    low: IntArray
    high: IntArray
    columns: FloatArray
    packed: int
    gram: FloatArray
    with_bias: FloatArray
    moment: FloatArray
    inverse: FloatArray
    mean: FloatArray
    factor: FloatArray
    order: IntArray
    first: IntArray
    at: IntArray
    factor_at: IntArray
    scratch: FloatArray
    ordered: FloatArray
    used: int
    bare: int
    updates: int
    refused: int
    lacking: int


class Work(Record):
    """Scratch space; nothing in it lives longer than one move.

    column : (n_points,) column of a candidate unit
    cross : (size,) Φᵀφ of the candidate
    applied : (size,) P Φᵀφ / σ²
    center : (most dimensions,) of the candidate
    vector : (size,) anything
    """

    column: FloatArray
    cross: FloatArray
    applied: FloatArray
    center: FloatArray
    vector: FloatArray


class Tuning(Record):
    """What warm-up adapts and then freezes, and counts.

    steps : step sizes, by places that the sampler names
    tried, accepted : (n_kinds,) counts by kind of move
    adapt : rate at which step sizes follow the chain, 0 once warm-up is over
    forced : times that lost precision was noticed and repaired
    drift : largest relative drift seen
    patience : rank-one updates of P before it is computed afresh: fewer where they lose precision
    """

    steps: FloatArray
    tried: IntArray
    accepted: IntArray
    adapt: float
    forced: int
    drift: float
    patience: int


class Nothing(Record):
    """A likelihood without an augmentation has none of these to carry.

    kept : (0,) what is carried from sweep to sweep, and stored with every draw
    """

    kept: FloatArray


class State(Record):
    """All that moves with the weights integrated out work on; predictions put draws into one, too.

    rows : observations
    components : what the function is the sum of
    values : (n_parameters,) noise sd, amplitude and level of each component, then what else the likelihood has
    laws : (n_parameters, 4) their laws
    errors : what the likelihood's augmentation works on
    units : the current units; trial : room for proposed ones
    work : scratch space
    tuning : step sizes and counts
    n_birth_death, n_moves : proposals per sweep
    n_centered, n_marked, n_stretched : updates of the intensity's curve with the centers held, with units, with places
    log_p : log p(y) of the current units; cached: set by whoever changes them between two moves that need it
    room : marked points that the next sweep may need room for, as `run` has found
    most_square, least_packed : how many units may be there as a square, how few packed
    """

    rows: Rows
    components: tuple[Component, ...]
    values: FloatArray
    laws: FloatArray
    errors: Any
    units: Units
    trial: Units
    work: Work
    tuning: Tuning
    n_birth_death: int
    n_moves: int
    n_centered: int
    n_marked: int
    n_stretched: int
    log_p: float
    room: int
    most_square: int
    least_packed: int

    CARRIED = ("rows", "components", "values", "errors", "tuning")


def empty_units(capacity: int, n_dims: int, n_points: int, room: int = 0) -> Units:
    """Room for `capacity` units: whole squares, or packed with so much room. Columns take memory where units reach."""
    size = padded(capacity + 1)
    square = (size, size) if room == 0 else (0, 0)
    rows = size * np.arange(size, dtype=np.int64) if room == 0 else np.zeros(size, dtype=np.int64)
    return Units(
        n=0,
        owner=np.zeros(capacity, dtype=np.int64),
        centers=np.zeros((capacity, n_dims)),
        relative=np.ones(capacity),
        scales=np.ones(capacity),
        low=np.zeros(capacity, dtype=np.int64),
        high=np.zeros(capacity, dtype=np.int64),
        columns=np.empty((capacity, max(n_points, 1))),
        packed=int(room > 0),
        gram=np.zeros(room or size * size),
        with_bias=np.zeros(capacity),
        moment=np.zeros(size),
        inverse=np.zeros(square),
        mean=np.zeros(size),
        factor=np.zeros(room + size if room else size * size),
        order=np.zeros(size, dtype=np.int64),
        first=np.zeros(size, dtype=np.int64),
        at=rows,
        factor_at=rows.copy(),
        scratch=np.zeros(square),
        ordered=np.zeros(size),
        used=1,
        bare=0,
        updates=0,
        refused=0,
        lacking=0,
    )


def empty_work(capacity: int, n_dims: int, n_points: int) -> Work:
    """Scratch space for as many units."""
    size = padded(capacity + 1)
    return Work(
        column=np.empty(max(n_points, 1)),
        cross=np.zeros(size),
        applied=np.zeros(size),
        center=np.zeros(n_dims),
        vector=np.zeros(size),
    )


def room_for_marks(n_points: int, n_dims: int) -> dict[str, FloatArray]:
    """Room for marked points of a component."""
    shape = (n_points, n_dims)
    return {"points": np.zeros(shape), "marks": np.zeros(n_points), "moved": np.zeros(shape)}


def empty_tuning(steps: list[float], n_kinds: int) -> Tuning:
    """Tuning before any warm-up."""
    return Tuning(
        steps=np.array(steps),
        tried=np.zeros(n_kinds, dtype=np.int64),
        accepted=np.zeros(n_kinds, dtype=np.int64),
        adapt=0.0,
        forced=0,
        drift=0.0,
        patience=MOST_UPDATES,
    )
