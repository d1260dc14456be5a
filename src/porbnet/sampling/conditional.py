"""Draws as states: the units, parameters and weighted rows of a stored draw, for the Gaussian algebra given them."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import inner
from porbnet.base.records import Record
from porbnet.kernels.state import Component, IntArray, Rows, Tuning, Units, Work, empty_tuning, empty_units, empty_work
from porbnet.kernels.units import append, clear, scale_at
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem


class Conditional(Record):
    """What the Gaussian algebra of a draw works on; fields as in a chain's state."""

    rows: Rows
    components: tuple[Component, ...]
    values: FloatArray
    errors: Any
    units: Units
    work: Work
    tuning: Tuning


class StoredDraws(Record):
    """Draws, as kernels read them; fields as in `ChainDraws`, with `offsets` of the units of each."""

    offsets: IntArray
    values: FloatArray
    kept: FloatArray
    owner: IntArray
    centers: FloatArray
    relative: FloatArray


def conditional_state(problem: Problem, capacity: int) -> Conditional:
    """Room for a draw of up to so many units."""
    n_dims, n_points = problem.most_dims, problem.n_points
    return Conditional(
        rows=problem.rows(),
        components=tuple(c.record(problem.scaling, 0) for c in problem.components),
        values=np.zeros(len(problem.parameters)),
        errors=problem.errors(),
        units=empty_units(capacity, n_dims, n_points),
        work=empty_work(capacity, n_dims, n_points),
        tuning=empty_tuning([], 0),
    )


def stored_draws(draws: ChainDraws) -> StoredDraws:
    """Draws as a record."""
    return StoredDraws(
        offsets=draws.offsets,
        values=np.ascontiguousarray(draws.values),
        kept=np.ascontiguousarray(draws.kept, dtype=np.float64),
        owner=np.ascontiguousarray(draws.owner),
        centers=np.ascontiguousarray(draws.centers),
        relative=np.ascontiguousarray(draws.relative),
    )


@inner
def put_draw(state: Any, draws: Any, draw: int, first: int, last: int) -> None:
    """Parameters of a draw, and its units, which stand in places [first, last); rows must be weighted as it says."""
    values, units = state.values, state.units
    for i in range(len(values)):
        values[i] = draws.values[draw, i]
    clear(state.rows, units)
    for k in range(first, last):
        owner, g = draws.owner[k], draws.relative[k]
        component = state.components[owner]
        scale = scale_at(component, values[component.level] * g)
        append(state.rows, state.components, units, owner, draws.centers[k], g, scale, state.work.cross)
