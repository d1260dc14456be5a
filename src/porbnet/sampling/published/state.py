"""The state of a chain of the paper's sampler, in the standard coordinates of `porbnet.kernels.state`.

Rows, the component (its inputs, intensity and curve), parameters and their laws are those of every sampler. What
differs is that weights and bias are there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.records import Record
from porbnet.kernels.state import Component, IntArray, Rows, Shape, Tuning

STEP_LEVEL, STEP_NOISE, STEP_AMPLITUDE = range(3)  # places in `Tuning.steps`: log steps of the random walks
DUAL_NETWORK, DUAL_CURVE = range(2)  # rows of `State.dual`
FIRST_STEP = 0.05  # of a trajectory, in whitened coordinates, before any warm-up


class Network(Record):
    """Centers, weights and bias, and what follows from them; with room for more units than there are.

    n : number of units K
    bias : the bias
    centers : (capacity, n_dims), weights : (capacity,)
    relative : (capacity,) g at the center, the intensity over its level
    slope : (capacity, n_dims) derivative of g by the center
    scales : (capacity,)
    low, high : (capacity,) window [low, high) of observations that a unit touches
    columns : (capacity, n_points) weighted unit values, window first: entry i - low is observation i
    residual : (n_points,) weighted y - f
    """

    n: int
    bias: float
    centers: FloatArray
    weights: FloatArray
    relative: FloatArray
    slope: FloatArray
    scales: FloatArray
    low: IntArray
    high: IntArray
    columns: FloatArray
    residual: FloatArray


class Motion(Record):
    """Momenta of a trajectory of the network, and the gradient of its log density.

    by_center, by_weight, by_bias : gradient, shaped as the network's
    center, weight, bias : momenta
    """

    by_center: FloatArray
    by_weight: FloatArray
    by_bias: float
    center: FloatArray
    weight: FloatArray
    bias: float


class Thinned(Record):
    """Thinned events: their number M, places (capacity, n_dims)."""

    n: int
    places: FloatArray


class Trajectory(Record):
    """A trajectory of the Gaussian process of an unknown intensity.

    z, momentum, by_z : (n_coefficients,) coefficients, their momenta, the gradient
    table : (n_knots,) h at the knots, by_knot : (n_knots,) the gradient there
    shape : the intensity of z
    total : (n_knots,) sum over draws of λ at the knots, for the average
    vector : (n_dims,) anything
    """

    z: FloatArray
    momentum: FloatArray
    by_z: FloatArray
    table: FloatArray
    by_knot: FloatArray
    shape: Shape
    total: FloatArray
    vector: FloatArray


class State(Record):
    """All that the steps work on.

    rows, components, values, laws, errors : as in every sampler; one component, no augmentation
    network, trial : the current network, and room for a proposed one
    motion : momenta of a trajectory of the network
    thinned, path : thinned events of an unknown, varying intensity, and a trajectory of its process
    plug : the intensity that network and width are updated with: the current one, or an average (the paper's λ̂)
    tuning : steps and counts; forced counts trajectories since warm-up that left the range of numbers
    dual : (2, 4) dual averaging of network and curve: log step, its average, mean error of acceptance, updates
    n_leapfrog, n_leapfrog_curve : leapfrog steps of a trajectory of the network, of the curve
    target : wanted share of accepted trajectories
    n_birth_death, n_thinned : births and deaths of units per sweep, of thinned events per draw of the intensity
    n_average : draws of the intensity per sweep, 1 for the exact sampler
    """

    rows: Rows
    components: tuple[Component, ...]
    values: FloatArray
    laws: FloatArray
    errors: Any
    network: Network
    trial: Network
    motion: Motion
    thinned: Thinned
    path: Trajectory
    plug: Shape
    tuning: Tuning
    dual: FloatArray
    n_leapfrog: int
    n_leapfrog_curve: int
    target: float
    n_birth_death: int
    n_thinned: int
    n_average: int


def empty_network(capacity: int, n_dims: int, n_points: int) -> Network:
    """Room for `capacity` units."""
    return Network(
        n=0,
        bias=0.0,
        centers=np.zeros((capacity, n_dims)),
        weights=np.zeros(capacity),
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
    places = np.zeros((capacity, n_dims))
    return Motion(
        by_center=places, by_weight=np.zeros(capacity), by_bias=0.0, center=places.copy(), weight=np.zeros(capacity),
        bias=0.0,
    )  # fmt: skip
