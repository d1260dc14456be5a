"""What the kernels of the paper's sampler work on, in the standard coordinates of `porbnet.sampling.collapsed.state`.

Data, the intensity (`Shape`), hyper-priors (`Hyper`) and the Gaussian process (`Field`) are those of the collapsed
sampler, and so is a chain's `values`: noise sd, amplitude, level. What differs is that weights and bias are there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from porbnet.sampling.collapsed.state import Field, Shape

(
    NETWORK,
    BIRTH,
    DEATH,
    THINNED_BIRTH,
    THINNED_DEATH,
    THINNED_MOVE,
    CURVE,
    LEVEL_STEP,
    NOISE_STEP,
    AMPLITUDE_STEP,
) = range(10)  # places in `Tuning.tried` and `Tuning.accepted`
MOVE_NAMES = (
    "network",
    "birth",
    "death",
    "thinned birth",
    "thinned death",
    "thinned move",
    "intensity",
    "level",
    "noise",
    "amplitude",
)

STEP_LEVEL, STEP_NOISE, STEP_AMPLITUDE = range(3)  # places in `Tuning.steps`
DUAL_NETWORK, DUAL_CURVE = range(2)  # rows of `Tuning.dual`


class Network(NamedTuple):
    """Centers, weights and bias, and what follows from them; with room for more units than there are.

    n : (1,) number of units K
    centers : (capacity, n_dims), weights : (capacity,), bias : (1,)
    relative : (capacity,) g at the center, the intensity over its level
    slope : (capacity, n_dims) derivative of g by the center
    scales : (capacity,)
    low, high : (capacity,) window [low, high) of observations that a unit touches
    columns : (capacity, n_points) weighted unit values, window first: entry i - low is observation i
    residual : (n_points,) weighted y - f
    """

    n: Any
    centers: Any
    weights: Any
    bias: Any
    relative: Any
    slope: Any
    scales: Any
    low: Any
    high: Any
    columns: Any
    residual: Any


class Motion(NamedTuple):
    """Momenta of a trajectory of the network, and the gradient of its log density.

    by_center, by_weight, by_bias : gradient, shaped as the network's
    center, weight, bias : momenta
    """

    by_center: Any
    by_weight: Any
    by_bias: Any
    center: Any
    weight: Any
    bias: Any


class Thinned(NamedTuple):
    """Thinned events: n (1,) their number M, places (capacity, n_dims)."""

    n: Any
    places: Any


class Curve(NamedTuple):
    """A trajectory of the Gaussian process of an unknown intensity.

    z, momentum, by_z : (n_coefficients,) coefficients, their momenta, the gradient
    table : (n_knots,) h at the knots, by_knot : (n_knots,) the gradient there
    shape : the intensity of z, with arrays of its own
    total : (n_knots,) sum over draws of λ at the knots, for the average
    vector : (n_dims,) anything
    """

    z: Any
    momentum: Any
    by_z: Any
    table: Any
    by_knot: Any
    shape: Shape
    total: Any
    vector: Any


class State(NamedTuple):
    """The whole state of a chain but for its `values`.

    network, trial : the current network, and room for a proposed one
    motion : momenta of a trajectory of the network
    thinned, field : thinned events and Gaussian process of an unknown, varying intensity
    curve : a trajectory of that process
    plug : the intensity that network and width are updated with: the current one, or an average (the paper's λ̂)
    """

    network: Network
    trial: Network
    motion: Motion
    thinned: Thinned
    field: Field
    curve: Curve
    plug: Shape


class Settings(NamedTuple):
    """How much of what a sweep does; see `PaperSampler`.

    n_thinned : births and deaths of thinned events per draw of the intensity
    n_average : draws of the intensity per sweep, 1 for the exact sampler
    """

    n_leapfrog: int
    target: float
    n_birth_death: int
    n_leapfrog_intensity: int
    n_thinned: int
    n_average: int


class Tuning(NamedTuple):
    """What warm-up adapts and then freezes, and counts.

    steps : (3,) log steps of the random walks of level, noise and amplitude
    dual : (2, 4) dual averaging of network and curve: log step, its average, mean error of acceptance, updates
    tried, accepted : (n_kinds,) counts by kind of move
    trouble : (2,) trajectories since warm-up that left the range of numbers; largest relative drift of the residual
    """

    steps: Any
    dual: Any
    tried: Any
    accepted: Any
    trouble: Any


FIRST_STEP = 0.05  # of a trajectory, in whitened coordinates, before any warm-up


def empty_network(capacity: int, n_dims: int, n_points: int) -> Network:
    """Room for `capacity` units."""
    return Network(
        n=np.zeros(1, dtype=np.int64),
        centers=np.zeros((capacity, n_dims)),
        weights=np.zeros(capacity),
        bias=np.zeros(1),
        relative=np.ones(capacity),
        slope=np.zeros((capacity, n_dims)),
        scales=np.ones(capacity),
        low=np.zeros(capacity, dtype=np.int64),
        high=np.zeros(capacity, dtype=np.int64),
        columns=np.empty((capacity, max(n_points, 1))),
        residual=np.zeros(n_points),
    )


def empty_motion(capacity: int, n_dims: int) -> Motion:
    """Room for the momenta of `capacity` units."""
    shapes = ((capacity, n_dims), capacity, 1) * 2
    return Motion(*(np.zeros(shape) for shape in shapes))


def empty_tuning() -> Tuning:
    """Tuning before any warm-up."""
    n = len(MOVE_NAMES)
    first = np.log(FIRST_STEP)
    return Tuning(
        np.log([0.2, 0.2, 0.2]),
        np.array([[first, first, 0.0, 0.0], [first, first, 0.0, 0.0]]),
        np.zeros(n, dtype=np.int64),
        np.zeros(n, dtype=np.int64),
        np.zeros(2),
    )
