"""A problem with fewer rows that says the same: when that pays, and for how sharp units (see `compression`)."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.kernels.state import TABLE
from porbnet.sampling.compression import MOST_NODES, Sharpness, compressed
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.measure import Measure
from porbnet.sampling.problem import Problem, StandsFor

FEWEST_ROWS = {1: 200, 2: 20_000, 3: 100_000}  # with several inputs nodes take seconds to find
WORTH = 0.8  # of the rows, that there may be left
MANY_ROWS = 50_000  # from which rows are compressed once for all chains, and from there again
CELLS = 2048  # of the first compression, along the range
MARGIN, ROOM = 1.5, 2.5  # units times the first must be within the limits; rows are made for units times the second
_BINS = 512
_ONE_AT_A_TIME = threading.RLock()  # chains in threads wait for what the first of them makes for all


class Source:
    """The observations of a problem, from which rows are made again and again as units get sharper.

    Parameters
    ----------
    problem : Problem
        With one component, and a likelihood that does not need every row.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        (component,) = problem.components
        stands = problem.stands_for
        is_plain = problem.weight is None and problem.counts is None and stands is None
        weights = problem.times if is_plain else problem.times * problem.known_root**2
        # Σ counts · log √precision, that of fewer rows is less
        self.log_root = 0.0 if is_plain else float(np.sum(problem.times * np.log(problem.known_root)))
        if stands is not None:
            self.log_root += stands.shift
        self.rows = Measure.of_rows(component.x, problem.outputs, weights, problem.times)
        if stands is not None:
            self.rows = replace(self.rows, within=stands.within, limit=stands.limit)
        kinks = problem.likelihood.kinks(problem.prior.region)
        if kinks is None:
            self.breaks = None
        else:
            scaling = problem.scaling
            self.breaks = [(k - lo) / f for k, lo, f in zip(kinks, scaling.low, scaling.divisor, strict=True)]
        self.hardest = float(self.rows.limit.min(initial=np.inf))  # scale of a unit beyond which no rows can be made
        self.coarse = self._coarse()

    def _coarse(self) -> Measure | None:
        """Many rows compressed once, for units so sharp that few problems have any."""
        if len(self.rows) < MANY_ROWS or len(self.rows.x) > 1:
            return None
        x = self.rows.x
        scale = CELLS * 2.0 / float(np.ptp(x)) if np.ptp(x) > 0 else 1.0
        return compressed(self.rows, Sharpness.everywhere(scale, len(x)), self.breaks)

    def is_enough(self, made: Sharpness, wanted: Sharpness) -> bool:
        """Whether rows made for some units are all that can be had for others: the rest is impossible."""
        return bool(np.isfinite(self.hardest) and np.all(np.minimum(wanted.scales, self.hardest) <= made.scales))

    def lean(self, sharpness: Sharpness, margin: float = 1.0) -> Problem:
        """The problem for units as sharp as stated; as it was if that would not save much."""
        sharpness = replace(sharpness, scales=np.minimum(sharpness.scales, self.hardest))
        found = compressed(self.rows, sharpness, self.breaks, self.coarse)
        if len(found) > WORTH * len(self.rows):
            return self.problem
        problem = self.problem
        known = np.sqrt(found.weights / found.counts)
        shift = self.log_root - float(np.sum(found.counts * np.log(known)))
        (component,) = problem.components
        return replace(
            problem,
            components=(replace(component, x=np.ascontiguousarray(found.x), is_sorted=True),),
            outputs=found.outputs,
            known_root=known,
            times=found.counts,
            stands_for=StandsFor(found.within, found.limit, shift, margin),
        )


def source_of(problem: Problem) -> Source | None:
    """Where fewer rows come from, or None if it is better to keep them all; one per problem, made once."""
    if len(problem.components) > 1 or not problem.likelihood.compresses:
        return None
    n_dims = problem.scaling.n_dims
    if problem.stands_for is None and (n_dims not in MOST_NODES or problem.n_points < FEWEST_ROWS[n_dims]):
        return None
    with _ONE_AT_A_TIME:
        if "source" not in problem.cache:
            problem.cache["source"] = Source(problem)
        found: Source = problem.cache["source"]
    return found


def sharpness_of(component: Any, values: FloatArray, room: float) -> Sharpness:
    """How sharp the units of a component (a record of the kernels) can be with its current intensity, times `room`."""
    shape, n_dims = component.shape, len(component.shape.widths)
    level = values[component.level]
    if shape.kind != TABLE:
        return Sharpness.everywhere(room * _scale(component, level * float(shape.bound)), n_dims)
    axes = [np.linspace(0.0, w, n) for w, n in zip(shape.widths, shape.sizes, strict=True)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, n_dims)
    return Sharpness(places, room * _scale(component, level * shape.values), np.array([a[1] - a[0] for a in axes]))


def lean_for_draws(problem: Problem, draws: ChainDraws) -> Problem:
    """The problem with as few rows as the units of some draws allow; made once for the same draws."""
    source = source_of(problem)
    if source is None:
        return problem
    with _ONE_AT_A_TIME:
        known = problem.cache.get("drawn")
        if known is None or known[0] is not draws:
            known = problem.cache["drawn"] = (draws, source.lean(sharpness_of_draws(problem, draws)))
        found: Problem = known[1]
    return found


def sharpness_of_draws(problem: Problem, draws: ChainDraws) -> Sharpness:
    """How sharp the units of some draws are, and where."""
    (component,) = problem.components
    levels = draws.relative * np.repeat(draws.values[:, component.level], draws.counts)
    scales, n_dims = _scale(component, levels), problem.scaling.n_dims
    if n_dims > 1 or len(scales) == 0:
        return Sharpness.everywhere(float(scales.max(initial=1e-300)), n_dims)
    width = float(component.widths[0]) / _BINS
    at = np.clip((draws.centers[:, 0] / width).astype(np.int64), 0, _BINS - 1)
    most = np.zeros(_BINS)
    np.maximum.at(most, at, scales)
    places: FloatArray = (np.arange(_BINS, dtype=np.float64)[:, None] + 0.5) * width
    return Sharpness(places, most, np.array([width]))


def _scale(component: Any, intensity: Any) -> Any:
    return component.s0 * np.exp(np.log(np.maximum(intensity, 1e-300)) / len(component.x))


def is_known(problem: Problem) -> bool:
    """Whether the intensity, and with it the scale of any unit, is known."""
    (component,) = problem.components
    return bool(component.process is None and problem.parameters[component.level].known)
