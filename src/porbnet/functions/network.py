"""Explicit networks, one or many: f(x) = b + Σ_k w_k exp(-½ s_k² Σ_d (x_d - c_kd)² / r_d²), and gradients.

This is the only place where a network is evaluated. r is the anisotropy: ratios of the per-dimension lengthscales to
their geometric mean (all one in one dimension).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray


class Further(Protocol):
    """What units beyond those that a network lists add to it: the region has an end, the network has none.

    They are made where they are asked for, and are the same whenever they are.
    """

    def values(self, X: FloatArray) -> FloatArray | None:
        """What they add at points, shape (n_networks, n_points); None if nothing."""

    def gradient(self, X: FloatArray) -> FloatArray | None:
        """What they add to the gradients, shape (n_networks, n_points, n_dims); None if nothing."""

    def taken(self, rows: NDArray[np.int64]) -> Further:
        """Those of some of the networks."""

    def joined(self, others: Sequence[Further]) -> Further:
        """Those of these networks and of others, one after the other."""


@dataclass(frozen=True, eq=False)
class Trend:
    """Straight lines, or planes, one per network: slopes · (x - middle).

    slopes : (n_networks, n_dims), in the units of the output per unit of the input
    middle : (n_dims,) where they are zero, in the units of the input
    """

    slopes: FloatArray
    middle: FloatArray

    def values(self, X: FloatArray) -> FloatArray:
        """Values at points, shape (n_networks, n_points)."""
        return np.asarray(self.slopes @ (X - self.middle).T)

    def taken(self, rows: Any) -> Trend:
        """Those of some of the networks."""
        return Trend(self.slopes[rows], self.middle)

    @staticmethod
    def joined(parts: Sequence[Trend | None]) -> Trend | None:
        """Those of several networks; None if any has none."""
        present = [part for part in parts if part is not None]
        if not present or len(present) < len(parts):
            return None
        return Trend(np.concatenate([part.slopes for part in present]), present[0].middle)


@dataclass(frozen=True, eq=False)
class Networks(Sequence["Network"]):
    """A collection of networks of different widths, stored flat.

    Attributes
    ----------
    offsets : ndarray of shape (n_networks + 1,)
        Units of network m are offsets[m] to offsets[m + 1].
    centers : ndarray of shape (total_units, n_dims)
        In the units of the input.
    scales : ndarray of shape (total_units,)
        Inverse widths s_k, per unit of (anisotropy-scaled) input.
    weights : ndarray of shape (total_units,)
        In the units of the output.
    biases : ndarray of shape (n_networks,)
        In the units of the output.
    anisotropy : ndarray of shape (n_dims,)
        Lengthscale of each dimension over their geometric mean.
    common_scale : float, optional
        The scale of all units if it is known to be one and the same; values at many points are then found faster.
    further : Further, optional
        Units beyond the region, which the arrays above do not list.
    trend : Trend, optional
        A straight line, or plane, in the sum.
    """

    offsets: NDArray[np.int64]
    centers: FloatArray
    scales: FloatArray
    weights: FloatArray
    biases: FloatArray
    anisotropy: FloatArray
    common_scale: float | None = None
    further: Further | None = None
    trend: Trend | None = None

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return int(self.centers.shape[1])

    @property
    def n_units(self) -> NDArray[np.int64]:
        """Width of each network, shape (n_networks,)."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.biases)

    @overload
    def __getitem__(self, index: int) -> Network: ...
    @overload
    def __getitem__(self, index: slice) -> Networks: ...
    def __getitem__(self, index: int | slice) -> Network | Networks:
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            if step != 1:
                return Networks.of([self[i] for i in range(start, stop, step)])
            stop = max(start, stop)
            a, b = self.offsets[start], self.offsets[stop]
            return Networks(
                self.offsets[start : stop + 1] - a,
                self.centers[a:b],
                self.scales[a:b],
                self.weights[a:b],
                self.biases[start:stop],
                self.anisotropy,
                self.common_scale,
                None if self.further is None else self.further.taken(np.arange(start, stop)),
                None if self.trend is None else self.trend.taken(slice(start, stop)),
            )
        i = range(len(self))[index]
        a, b = self.offsets[i], self.offsets[i + 1]
        return Network(
            self.centers[a:b],
            self.scales[a:b],
            self.weights[a:b],
            float(self.biases[i]),
            self.anisotropy,
            self.common_scale,
            None if self.further is None else self.further.taken(np.array([i])),
            None if self.trend is None else self.trend.taken(slice(i, i + 1)),
        )

    def __iter__(self) -> Iterator[Network]:
        return (self[i] for i in range(len(self)))

    @classmethod
    def of(cls, networks: Sequence[Network]) -> Networks:
        """Collect single networks."""
        if not networks:
            raise _checks.fail("networks", networks, "there must be at least one")
        return cls(
            np.concatenate([[0], np.cumsum([n.n_units for n in networks])]).astype(np.int64),
            np.concatenate([n.centers for n in networks]),
            np.concatenate([n.scales for n in networks]),
            np.concatenate([n.weights for n in networks]),
            np.array([n.bias for n in networks]),
            networks[0].anisotropy,
            shared[0] if len(shared := list({n.common_scale for n in networks})) == 1 else None,
            joined([n.further for n in networks]),
            Trend.joined([n.trend for n in networks]),
        )

    def __call__(self, X: Any) -> FloatArray:
        """Values of every network at every point, shape (n_networks, n_points)."""
        return Places(X, self.anisotropy, self.common_scale).values(self)

    def within(self) -> Networks:
        """The same networks without any units beyond those that are listed."""
        return replace(self, further=None)

    def gradient(self, X: Any) -> FloatArray:
        """Gradients of every network at every point, shape (n_networks, n_points, n_dims)."""
        from porbnet.functions.network_kernels import evaluate_gradient

        places = Places(X, self.anisotropy)
        n_points = places.points.shape[1]
        out, buffer, values = np.zeros((len(self), self.n_dims, n_points)), np.empty(n_points), np.empty(n_points)
        centers = self.centers / self.anisotropy
        evaluate_gradient(places.points, self.offsets, centers, self.scales, self.weights, buffer, values, out)
        if places.order is not None:
            out[..., places.order] = out.copy()
        result = np.ascontiguousarray(np.swapaxes(out, 1, 2) / self.anisotropy)
        more = None if self.further is None else self.further.gradient(_checks.points("X", X, self.n_dims))
        if more is not None:
            result += more
        return result if self.trend is None else result + self.trend.slopes[:, None, :]


@dataclass(frozen=True, eq=False)
class Network:
    """One network, callable on points.

    Attributes
    ----------
    centers : ndarray of shape (n_units, n_dims)
    scales, weights : ndarray of shape (n_units,)
    bias : float
    anisotropy : ndarray of shape (n_dims,)
    common_scale : float, optional
    further : Further, optional
    trend : Trend, optional
        As in `Networks`.

    Examples
    --------
    >>> bump = Network(np.zeros((1, 1)), np.ones(1), np.ones(1), 0.5, np.ones(1))
    >>> bump([0.0])
    array([1.5])
    """

    centers: FloatArray
    scales: FloatArray
    weights: FloatArray
    bias: float
    anisotropy: FloatArray
    common_scale: float | None = None
    further: Further | None = None
    trend: Trend | None = None

    @property
    def n_units(self) -> int:
        """Number of units: the width of the network."""
        return len(self.weights)

    def __call__(self, X: Any) -> FloatArray:
        """Values at the points, shape (n_points,)."""
        return np.asarray(Networks.of([self])(X)[0])

    def gradient(self, X: Any) -> FloatArray:
        """Gradient at the points, shape (n_points, n_dims)."""
        return np.asarray(Networks.of([self]).gradient(X)[0])


def joined(parts: Sequence[Further | None]) -> Further | None:
    """What is beyond several networks, as that of all of them; None if any has nothing."""
    present = [part for part in parts if part is not None]
    if not present or len(present) < len(parts):
        return None
    return present[0].joined(present[1:])


class Places:
    """Points at which many networks are to be evaluated: scaled, sorted and otherwise prepared once.

    Attributes
    ----------
    given : ndarray of shape (n_points, n_dims)
        As they came.
    points : ndarray of shape (n_dims, n_points)
        Divided by the anisotropy and sorted by the first coordinate.
    order : ndarray of shape (n_points,), or None
        Where each sorted point belongs; None if the points came sorted.
    stretched : bool
        Whether the anisotropy is other than one.
    """

    def __init__(self, X: Any, anisotropy: FloatArray, common_scale: float | None = None) -> None:
        from porbnet.functions.network_grid import grid_plan

        self.given = _checks.points("X", X, len(anisotropy))
        points = self.given / anisotropy
        self.stretched = bool(np.any(anisotropy != 1.0))
        self.order: NDArray[np.int64] | None = None
        if np.any(points[1:, 0] < points[:-1, 0]):
            self.order = np.argsort(points[:, 0], kind="stable")
            points = points[self.order]
        self.points = np.ascontiguousarray(points.T)
        one_dimensional = len(anisotropy) == 1 and common_scale is not None
        self.plan = grid_plan(self.points[0], float(common_scale or 0.0)) if one_dimensional else None

    def values(self, networks: Networks, out: FloatArray | None = None) -> FloatArray:
        """Values of the networks, shape (n_networks, n_points), into `out` if given."""
        from porbnet.functions.network_grid import evaluate_with
        from porbnet.functions.network_kernels import evaluate

        if out is None:
            out = np.empty((len(networks), self.points.shape[1]))
        target = out if self.order is None else np.empty_like(out)
        centers = networks.centers / networks.anisotropy if self.stretched else networks.centers
        if self.plan is not None:
            evaluate_with(self.plan, networks.offsets, centers, networks.weights, networks.biases, target)
        else:
            parts = networks.scales, networks.weights, networks.biases, np.empty(self.points.shape[1]), target
            evaluate(self.points, networks.offsets, centers, *parts)
        if self.order is not None:
            out[:, self.order] = target
        more = None if networks.further is None else networks.further.values(self.given)
        if more is not None:
            out += more
        if networks.trend is not None:
            out += networks.trend.values(self.given)
        return out
