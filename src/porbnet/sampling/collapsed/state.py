"""What the kernels work on: the data, the intensity, the hyper-priors and the current units.

Kernels see standard coordinates: inputs divided by the anisotropy and by the region's size (so that the region has
volume one and starts at the origin), outputs divided by their spread. Row 0 of every matrix is the bias, row k + 1 is
unit k; only the first n + 1 rows and columns mean anything.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

NOISE, AMPLITUDE, LEVEL, FREEDOM = range(4)  # places in a chain's `values`

(
    BIRTH,
    DEATH,
    LOCAL_MOVE,
    LONG_MOVE,
    LEVEL_JUMP,
    LEVEL_SLICE,
    NOISE_SLICE,
    AMPLITUDE_SLICE,
    FIELD_CENTERED,
    FIELD_MARKED,
) = range(10)  # places in `Tuning.tried` and `Tuning.accepted`
MOVE_NAMES = (
    "birth",
    "death",
    "local move",
    "long move",
    "level with units",
    "level alone",
    "noise",
    "amplitude",
    "intensity alone",
    "intensity with units",
)


class Data(NamedTuple):
    """Observations, sorted by the first input dimension.

    x : (n_dims, n_points) inputs
    counts : (n_points,) how often each observation counts: the power of its likelihood
    root_weight : (n_points,) square root of each observation's count times its relative precision
    y : (n_points,) outputs times root_weight
    known_root : (n_points,) square root of the part of the relative precision that is known
    outputs : (n_points,) outputs
    totals : (3,) Σ y², ½ Σ counts · log relative precision, and Σ counts
    has_bias : 1 if the network has a bias, else 0
    """

    x: Any
    counts: Any
    root_weight: Any
    y: Any
    known_root: Any
    outputs: Any
    totals: Any
    has_bias: int


class Shape(NamedTuple):
    """The relative intensity g, λ(c) = level · g(c), on the box [0, width_1] x ... of volume one.

    kind : 0 constant, 1 piecewise constant, 2 multilinear between regular knots
    widths : (n_dims,) edges of the box
    values : flat table of g (C order)
    sizes : (n_dims,) pieces or knots per dimension
    breaks : breaks of all dimensions, one after the other (kind 1)
    break_offsets : (n_dims + 1,) where each dimension's breaks start
    bound : largest g
    integral : (1,) ∫ g over the box
    """

    kind: int
    widths: Any
    values: Any
    sizes: Any
    breaks: Any
    break_offsets: Any
    bound: float
    integral: Any


class Hyper(NamedTuple):
    """Fixed numbers of the prior.

    s0 : scale of a unit where the intensity is one
    weight_factor : (s0² / π)^(D/2), weight variance for unit amplitude
    bias_variance : σ_b² (1 if there is no bias)
    noise_log_mean, noise_log_sd : of the log noise sd; sd 0 means fixed
    amplitude_log_mean, amplitude_log_sd : of the log amplitude; sd 0 means fixed
    level_shape, level_rate, level_power : level^power ~ Gamma(shape, rate); shape 0 means a fixed level
    freedom_log_mean, freedom_log_sd : of the log degrees of freedom of the errors; mean 0 means Gaussian errors
    noise_shape, noise_scale : if the shape is not 0, the noise variance ~ InverseGamma(shape, scale), and
        noise_log_mean, noise_log_sd only say where chains start
    """

    s0: float
    weight_factor: float
    bias_variance: float
    noise_log_mean: float
    noise_log_sd: float
    amplitude_log_mean: float
    amplitude_log_sd: float
    level_shape: float
    level_rate: float
    level_power: float
    freedom_log_mean: float
    freedom_log_sd: float
    noise_shape: float
    noise_scale: float


class Plan(NamedTuple):
    """How much of what a sweep does.

    n_birth_death, n_moves : proposals per sweep
    n_centered, n_marked : updates of the intensity's curve with the centers held, and with units
    """

    n_birth_death: int
    n_moves: int
    n_centered: int = 1
    n_marked: int = 3


class Units(NamedTuple):
    """Units and what is cached of them, with room for more than there are.

    n : (1,) number of units
    centers : (capacity, n_dims)
    relative : (capacity,) g at the center
    scales : (capacity,)
    low, high : (capacity,) window [low, high) of observations that a unit touches
    columns : (capacity, n_points) weighted unit values, window first: entry i - low is observation i
    gram : (size, size) ΦᵀΦ, size being capacity + 1 rounded up to whole blocks
    moment : (size,) Φᵀy
    inverse : (size, size) P = A⁻¹
    mean : (size,) posterior mean of bias and weights
    factor : (size, size) lower Cholesky factor of A with rows and columns in `order`, its diagonal inverted; valid
        right after a factorisation
    order : (size,) rows in the order of factorisation: units from left to right, the bias last
    first : (size,) first nonzero place of each row of the factor, in that order
    scratch : (size, size), ordered : (size,) work space in that order
    updates : (1,) rank-one updates of P since it was last computed afresh; -1 if `factor` is not of the current A
    """

    n: Any
    centers: Any
    relative: Any
    scales: Any
    low: Any
    high: Any
    columns: Any
    gram: Any
    moment: Any
    inverse: Any
    mean: Any
    factor: Any
    order: Any
    first: Any
    scratch: Any
    ordered: Any
    updates: Any


class Field(NamedTuple):
    """A Gaussian process at knots, h = √variance (B_1 ⊗ ... ⊗ B_D) z, see `functions.grid_gp`; nothing if z is empty.

    z : (n_whitened,) whitened coefficients, those of an unknown variance and lengthscale last
    table : (n_knots,) h, flat
    bases : for each lengthscale B_1ᵀ, ..., B_Dᵀ (coefficients by knots) one after the other, flat, √variance (or that
        of its median) in the first
    ranks : (n_lengthscales, n_dims) coefficients per dimension, the most in the first row
    sizes : (n_dims,) knots per dimension
    area : (n_knots,) weights of the trapezoidal rule on the box
    buffers : (2, room) work space
    spreads : (n_lengthscales, n_coefficients) root mean square of each column of B_1 ⊗ ... ⊗ B_D, if any of the law is
        unknown; (1, 0) otherwise
    log_sd : of √variance, 0 if it is known
    step : between lengthscales, in units of their coefficient
    """

    z: Any
    table: Any
    bases: Any
    ranks: Any
    sizes: Any
    area: Any
    buffers: Any
    spreads: Any
    log_sd: float
    step: float


class Varying(NamedTuple):
    """What varies over the input.

    intensity, noise : Field of the intensity's h and of log noise
    knots, shares : (n_points, 2^D) knots of the noise field around each observation, and their shares
    row_weight : (n_points,) scale-mixture weights of Student-t errors, or empty
    points, marks : (capacity, n_dims), (capacity,) marked points of the non-centered update
    """

    intensity: Field
    noise: Field
    knots: Any
    shares: Any
    row_weight: Any
    points: Any
    marks: Any


class Trial(NamedTuple):
    """Room for a proposed state.

    shape, units : as the current ones, with their own arrays
    z : (most coefficients,) proposal
    axes : (2 + MOST_HELD, most coefficients) the two half axes of the ellipse it lies on, and what they avoid
    window : (n_dims, 2) first knot and number of knots of a window
    table : (most knots,) the curve of a proposal
    tables : (2, most knots) what both half axes add to a curve
    rows : (4, n_points) at the observations: the noise curve, both half axes, and squared residuals; (4, 0) if there
        is no such curve
    """

    shape: Shape
    units: Units
    z: Any
    axes: Any
    window: Any
    table: Any
    tables: Any
    rows: Any


class Tuning(NamedTuple):
    """What warm-up adapts and then freezes.

    steps : (5,) reference width of moves, log step of the level jump, slice widths: see the constants below
    tried, accepted : (n_kinds,) counts by kind of move
    trouble : (2,) refreshes forced by lost precision; largest drift of the mean seen at a refresh
    """

    steps: Any
    tried: Any
    accepted: Any
    trouble: Any


class Work(NamedTuple):
    """Scratch space; nothing in it lives longer than one move.

    column : (n_points,) column of a candidate unit
    cross : (size,) Φᵀφ of the candidate
    applied : (size,) P Φᵀφ / σ²
    center : (n_dims,) of the candidate
    vector : (size,) anything
    """

    column: Any
    cross: Any
    applied: Any
    center: Any
    vector: Any


STEP_MOVE, STEP_LEVEL_JUMP, STEP_LEVEL, STEP_NOISE, STEP_AMPLITUDE = range(5)


BLOCK = 32
MOST_HELD = 6  # places of a curve


def padded(n: int) -> int:
    """Length n rounded up: loops over whole blocks have no slow remainder."""
    return (n + BLOCK - 1) // BLOCK * BLOCK


def empty_units(capacity: int, n_dims: int, n_points: int) -> Units:
    """Room for `capacity` units; the columns are touched only where units reach."""
    size = padded(capacity + 1)
    return Units(
        n=np.zeros(1, dtype=np.int64),
        centers=np.zeros((capacity, n_dims)),
        relative=np.ones(capacity),
        scales=np.ones(capacity),
        low=np.zeros(capacity, dtype=np.int64),
        high=np.zeros(capacity, dtype=np.int64),
        columns=np.empty((capacity, max(n_points, 1))),
        gram=np.zeros((size, size)),
        moment=np.zeros(size),
        inverse=np.zeros((size, size)),
        mean=np.zeros(size),
        factor=np.zeros((size, size)),
        order=np.zeros(size, dtype=np.int64),
        first=np.zeros(size, dtype=np.int64),
        scratch=np.zeros((size, size)),
        ordered=np.zeros(size),
        updates=np.zeros(1, dtype=np.int64),
    )


def enlarged(units: Units, capacity: int) -> Units:
    """The same units with room for more. Of the matrices only what is in use: the rest takes no memory until it is."""
    bigger = empty_units(capacity, units.centers.shape[1], units.columns.shape[1])
    used = padded(units.n[0] + 1)
    for name, array in units._asdict().items():
        target = getattr(bigger, name)
        if name == "columns":
            for k in range(units.n[0]):
                length = units.high[k] - units.low[k]
                target[k, :length] = array[k, :length]
        elif name in ("gram", "inverse", "factor", "scratch"):
            target[:used, :used] = array[:used, :used]
        else:
            target[tuple(slice(0, s) for s in array.shape)] = array
    return bigger


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


def empty_tuning() -> Tuning:
    """Tuning before any warm-up."""
    steps = np.array([1.0, 0.3, 1.0, 0.5, 1.0])
    n = len(MOVE_NAMES)
    return Tuning(steps, np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64), np.zeros(2))
