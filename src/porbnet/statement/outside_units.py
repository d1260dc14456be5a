"""Units beyond the region, as functions drawn from a prior or a posterior have them: made where they are asked for.

Space is cut into tiles around the region, as large as the units reach. The units of a tile come from a seed of its own,
so that a function is the same whenever and wherever it is looked at.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.functions.network import Further, Networks
from porbnet.intensity.base import segment_ids
from porbnet.intensity.continuation import Continuation
from porbnet.statement.moments import scale_of
from porbnet.statement.unbounded import FAR

MOST_DIMS = 3  # of units that are made one by one; with more inputs there would be too many
_DIFFERENCE = 1e-5  # of the region's widths
_TOGETHER = {1: 64, 2: 32, 3: 8}  # draws whose units come from one seed
_STEPS = {1: 1, 2: 2, 3: 4}  # from a size of tiles to twice that
_MOST_STEPS = 2000
_MOST_UNITS = 1e8  # of a tile: more would fill the memory

IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Outside:
    """Where units beyond the region come from, for a number of draws.

    stated : what the intensity of each draw is beyond the region, or what makes it when it is first needed
    region : where they are not
    s0, anisotropy : scale of a unit where the intensity is one; ratios of lengthscales
    weight_sd : (n_draws,) standard deviation of a weight
    seed : of all of them
    """

    stated: Continuation | Callable[[], Continuation]
    region: Region
    s0: float
    anisotropy: FloatArray
    weight_sd: FloatArray
    seed: np.random.SeedSequence

    @functools.cached_property
    def continuation(self) -> Continuation:
        """What the intensity of each draw is beyond the region."""
        return self.stated() if callable(self.stated) else self.stated

    @functools.cached_property
    def powers(self) -> IntArray:
        """The k of tiles, whose size is 2^(k / steps) times the region's: the smallest that no unit reaches across.

        For each draw and part of its continuation, shape (n_draws, n_parts).
        """
        n_dims = self.region.n_dims
        scales = scale_of(self.continuation.lowest(len(self.weight_sd)), self.s0, n_dims)
        reach = FAR * float(np.max(self.anisotropy / self.region.widths)) / scales
        powers = np.ceil(_STEPS[n_dims] * np.log2(reach))
        return np.asarray(np.clip(powers, -_MOST_STEPS, _MOST_STEPS), dtype=np.int64)

    def tiles(self, power: int, X: FloatArray) -> list[tuple[FloatArray, Region]]:
        """The tiles from which some point is reached, with their places; without those inside the region."""
        region, found = self.region, []
        size = region.widths * math.exp2(power / _STEPS[region.n_dims])
        own = np.unique(np.floor((X - region.low) / size), axis=0)
        near = [own + np.array(step) for step in itertools.product((-1.0, 0.0, 1.0), repeat=region.n_dims)]
        for index in np.unique(np.concatenate(near), axis=0):
            tile = Region(region.low + index * size, region.low + (index + 1.0) * size)
            inside = np.all((tile.low >= region.low) & (tile.high <= region.high))
            if not inside and np.all(tile.widths > 0.0) and np.all(np.isfinite(tile.bounds)):
                found.append((index, tile))
        return found

    def units(self, power: int, index: FloatArray, tile: Region, draws: IntArray) -> Networks:
        """The units that some draws have in a tile, as networks of theirs."""
        rng = self._generator(power, index, int(draws[0]) // _TOGETHER[self.region.n_dims])
        wanted = self.powers[draws] == power
        expected = float(np.sum(self.continuation.lowest(len(self.weight_sd))[draws] * wanted)) * tile.volume
        if expected > _MOST_UNITS:
            raise StatementError(
                f"some {expected:.2g} units beyond the region reach these points, of {_MOST_UNITS:g} at most: "
                "lower units_per_lengthscale"
            )
        units = self.continuation.sample_units(tile, draws, rng, wanted)
        weights = np.repeat(self.weight_sd[draws], units.counts) * rng.standard_normal(len(units.levels))
        kept = ~self.region.contains(units.centers)
        counts = np.bincount(segment_ids(units.counts)[kept], minlength=len(draws))
        return Networks(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            units.centers[kept],
            np.asarray(scale_of(units.levels[kept], self.s0, self.region.n_dims)),
            weights[kept],
            np.zeros(len(draws)),
            self.anisotropy,
        )

    def _generator(self, power: int, index: FloatArray, together: int) -> np.random.Generator:
        words = [_word(power), *(_word(int(i)) for i in index), together]
        key = tuple(part for word in words for part in (word & 0xFFFFFFFF, word >> 32))
        seed = np.random.SeedSequence(self.seed.entropy, spawn_key=(*self.seed.spawn_key, *key))
        return np.random.Generator(np.random.SFC64(seed))


def _word(i: int) -> int:
    """A whole number as one that is not negative."""
    return 2 * i if i >= 0 else -2 * i - 1


class Pins(Protocol):
    """Where functions beyond the region are held at zero: near the data, which have told what f is there."""

    def free(self, X: FloatArray) -> NDArray[np.bool_]:
        """Which points are not held, shape (n_points,)."""

    def places(self, X: FloatArray) -> FloatArray:
        """Where they are held on account of each point, shape (n_points, n_pins, n_dims)."""

    def coefficients(self, X: FloatArray, rows: IntArray) -> FloatArray:
        """What part of the values there is taken away at each point, shape (n_rows, n_points, n_pins)."""


@dataclass(frozen=True, eq=False)
class OutsideUnits:
    """The units beyond the region of some draws (`functions.network.Further`).

    source : where they come from
    rows : (n_networks,) which of its draws the networks are
    pins : where they are held at zero; None for a prior, which knows of no data
    """

    source: Outside
    rows: IntArray
    pins: Pins | None = None

    def values(self, X: FloatArray) -> FloatArray | None:
        """What they add at points, shape (n_networks, n_points)."""
        if self.pins is None:
            return self._sum(X, False)
        result, free = np.zeros((len(self.rows), len(X))), np.flatnonzero(self.pins.free(X))
        if not len(free):
            return None
        result[:, free] = self._sum(X[free], False) - self._held(self.pins, X[free])
        return result

    def gradient(self, X: FloatArray) -> FloatArray | None:
        """What they add to the gradients, shape (n_networks, n_points, n_dims)."""
        if self.pins is None:
            return self._sum(X, True)
        result, free = np.zeros((len(self.rows), *X.shape)), np.flatnonzero(self.pins.free(X))
        if not len(free):
            return None
        result[:, free] = self._sum(X[free], True)
        for d, width in enumerate(self.source.region.widths):  # what is held changes slowly: differences will do
            step = np.zeros(X.shape[1])
            step[d] = _DIFFERENCE * width
            ahead, behind = self._held(self.pins, X[free] + step), self._held(self.pins, X[free] - step)
            result[:, free, d] -= (ahead - behind) / (2.0 * step[d])
        return result

    def _held(self, pins: Pins, X: FloatArray) -> FloatArray:
        """What the values at the pins say of those at points, shape (n_networks, n_points)."""
        places = pins.places(X)
        unique, back = np.unique(places.reshape(-1, X.shape[1]), axis=0, return_inverse=True)
        at_pins = self._sum(unique, False)[:, back.ravel()].reshape(len(self.rows), *places.shape[:2])
        return np.asarray(np.einsum("nmq,nmq->nm", at_pins, pins.coefficients(X, self.rows)))

    def _sum(self, X: FloatArray, gradient: bool) -> FloatArray:
        """Values or gradients of all units that reach points, shape (n_networks, n_points) and (n_dims,) for these."""
        result = np.zeros((len(self.rows), *(X.shape if gradient else (len(X),))))
        for at, near, networks in self._parts(X):
            result[np.ix_(at, near)] += networks.gradient(X[near]) if gradient else networks(X[near])
        return result

    def _parts(self, X: FloatArray) -> Iterator[tuple[IntArray, IntArray, Networks]]:
        """Networks of further units, tile by tile: the rows they belong to, and the points they may reach."""
        source, rows = self.source, self.rows
        powers, together = source.powers, np.arange(len(source.powers)) // _TOGETHER[X.shape[1]]
        for power in np.unique(powers[rows]):
            wanted = np.flatnonzero(np.any(powers[rows] == power, axis=1))
            for index, tile in source.tiles(int(power), X):
                near = np.flatnonzero(Region(tile.low - tile.widths, tile.high + tile.widths).contains(X))
                for part in np.unique(together[rows[wanted]]) if len(near) else ():
                    draws = np.flatnonzero(np.any(powers == power, axis=1) & (together == part))
                    networks = source.units(int(power), index, tile, draws)
                    at = wanted[together[rows[wanted]] == part]
                    place = np.searchsorted(draws, rows[at])
                    if not np.array_equal(place, np.arange(len(draws))):
                        networks = Networks.of([networks[int(i)] for i in place])
                    if len(networks.weights):
                        yield at, near, networks

    def taken(self, rows: IntArray) -> OutsideUnits:
        """Those of some of the networks."""
        return OutsideUnits(self.source, self.rows[rows], self.pins)

    def joined(self, others: Sequence[Further]) -> Further:
        """Those of these networks and of others."""
        return _join([self, *others])


@dataclass(frozen=True, eq=False)
class Several:
    """What is beyond networks that come from several sources, one after the other.

    parts : of each source
    """

    parts: tuple[OutsideUnits, ...]

    def values(self, X: FloatArray) -> FloatArray | None:
        """What they add at points, shape (n_networks, n_points)."""
        return self._all([part.values(X) for part in self.parts], X.shape[:1])

    def gradient(self, X: FloatArray) -> FloatArray | None:
        """What they add to the gradients, shape (n_networks, n_points, n_dims)."""
        return self._all([part.gradient(X) for part in self.parts], X.shape)

    def _all(self, found: list[FloatArray | None], shape: tuple[int, ...]) -> FloatArray:
        sizes = [len(part.rows) for part in self.parts]
        return np.concatenate([np.zeros((n, *shape)) if v is None else v for v, n in zip(found, sizes, strict=True)])

    def taken(self, rows: IntArray) -> Further:
        """Those of some of the networks."""
        ends = np.cumsum([len(part.rows) for part in self.parts])
        which = np.searchsorted(ends, rows, side="right")
        starts = np.concatenate([[0], ends])
        runs = np.split(np.arange(len(rows)), np.flatnonzero(np.diff(which)) + 1) if len(rows) else []
        return _join([self.parts[which[run[0]]].taken(rows[run] - starts[which[run[0]]]) for run in runs])

    def joined(self, others: Sequence[Further]) -> Further:
        """Those of these networks and of others."""
        return _join([self, *others])


def _join(furthers: Sequence[Further]) -> Further:
    """Those of several, neighbours from one source taken together."""
    flat = [part for further in furthers for part in (further.parts if isinstance(further, Several) else [further])]
    units = [part for part in flat if isinstance(part, OutsideUnits)]
    if len(units) < len(flat):
        raise TypeError("units beyond the region of networks of different kinds cannot be joined")
    parts = [list(run) for _, run in itertools.groupby(units, key=lambda part: (id(part.source), id(part.pins)))]
    merged = [OutsideUnits(run[0].source, np.concatenate([p.rows for p in run]), run[0].pins) for run in parts]
    return merged[0] if len(merged) == 1 else Several(tuple(merged))
