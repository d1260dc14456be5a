"""The state of a chain of the collapsed sampler: one nested record that every move takes."""

from __future__ import annotations

from typing import Any

from porbnet.base.checks import FloatArray
from porbnet.base.records import Record
from porbnet.kernels.state import Component, Rows, Tuning, Units, Work

STEP_MOVE, STEP_LEVEL_JUMP, STEP_LEVEL, STEP_NOISE, STEP_AMPLITUDE = range(5)  # places in `Tuning.steps`
FIRST_STEPS = [1.0, 0.3, 1.0, 0.5, 1.0]


class State(Record):
    """All that moves work on.

    rows : observations
    components : what the function is the sum of
    values : (n_parameters,) noise sd, amplitude and level of each component, then what else the likelihood has
    laws : (n_parameters, 4) their laws
    errors : what the likelihood's augmentation works on
    units : the current units; trial : room for proposed ones
    work : scratch space
    tuning : step sizes and counts
    n_birth_death, n_moves : proposals per sweep
    n_centered, n_marked : updates of the intensity's curve with the centers held, and with units
    log_p : log p(y) of the current units; cached: set by whoever changes them between two moves that need it
    room : units that the next sweep may need room for, as `run` has found
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
    log_p: float
    room: int

    CARRIED = ("rows", "components", "values", "errors", "tuning")
