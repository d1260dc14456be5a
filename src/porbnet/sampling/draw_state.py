"""Draws as states: the units, parameters and weighted rows of a stored draw, for the Gaussian algebra given them."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.compiled import inner
from porbnet.base.records import Record
from porbnet.kernels.state import IntArray, State, empty_tuning, empty_units, empty_work
from porbnet.kernels.trend import take_line_off
from porbnet.kernels.units import append, clear, scale_at
from porbnet.kernels.vectors import copy
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem


class StoredDraws(Record):
    """Draws, as kernels read them; fields as in `ChainDraws`, with `offsets` of the units of each."""

    offsets: IntArray
    values: FloatArray
    kept: FloatArray
    slopes: FloatArray
    owner: IntArray
    centers: FloatArray
    relative: FloatArray


def conditional_state(problem: Problem, capacity: int) -> State:
    """Room for a draw of up to so many units, without what only moves need."""
    n_dims, n_points = problem.most_dims, problem.n_points
    return State(
        rows=problem.rows(),
        components=tuple(c.record(0) for c in problem.components),
        values=np.zeros(len(problem.parameters)),
        laws=problem.laws,
        errors=problem.errors(),
        units=empty_units(capacity, n_dims, n_points),
        trial=empty_units(0, n_dims, 0, room=1),
        work=empty_work(capacity, n_dims, n_points),
        tuning=empty_tuning([], 0),
        n_birth_death=0,
        n_moves=0,
        n_centered=0,
        n_marked=0,
        n_stretched=0,
        log_p=0.0,
        room=0,
        most_square=0,
        least_packed=0,
    )


def stored_draws(draws: ChainDraws) -> StoredDraws:
    """Draws as a record."""
    return StoredDraws(
        offsets=draws.offsets,
        values=np.ascontiguousarray(draws.values),
        kept=np.ascontiguousarray(draws.kept, dtype=np.float64),
        slopes=np.ascontiguousarray(draws.slopes),
        owner=np.ascontiguousarray(draws.owner),
        centers=np.ascontiguousarray(draws.centers),
        relative=np.ascontiguousarray(draws.relative),
    )


@inner
def put_values(state: Any, draws: Any, draw: int) -> None:
    """Parameters of a draw, and what its likelihood's augmentation carries."""
    values, kept = state.values, state.errors.kept
    for i in range(len(values)):
        values[i] = draws.values[draw, i]
    copy(draws.kept[draw], kept, len(kept))


@inner
def put_draw(state: Any, draws: Any, draw: int, first: int, last: int) -> None:
    """Units of a draw, which stand in places [first, last); its values must be there, and rows weighted as they say."""
    values, units = state.values, state.units
    if len(state.rows.slopes) > 0:
        copy(draws.slopes[draw], state.rows.slopes, len(state.rows.slopes))
        take_line_off(state.rows, state.components[0])
    clear(state.rows, units)
    for k in range(first, last):
        owner, g = draws.owner[k], draws.relative[k]
        component = state.components[owner]
        scale = scale_at(component, values[component.level] * g)
        append(state.rows, state.components, units, owner, draws.centers[k], g, scale, state.work.cross)
