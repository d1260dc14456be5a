"""One chain of the collapsed sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.sampling.collapsed.field import reweight, set_intensity
from porbnet.sampling.collapsed.levels import room_needed
from porbnet.sampling.collapsed.process import expand
from porbnet.sampling.collapsed.state import (
    LEVEL,
    MOST_HELD,
    MOVE_NAMES,
    NOISE,
    STEP_MOVE,
    Data,
    Field,
    Plan,
    Shape,
    Trial,
    Varying,
    empty_tuning,
    empty_units,
    empty_work,
    enlarged,
    padded,
)
from porbnet.sampling.collapsed.sweep import Stored, run
from porbnet.sampling.collapsed.units import start_units
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem

_ROOM = 200_000  # units stored per call at most, unless one draw needs more
_SQUARE = ("gram", "inverse", "factor")  # parts of Units of which only the rows and columns of units matter
_NOT_CARRIED = ("columns", "scratch", "buffers")  # packed by themselves, or work space


def default_plan(problem: Problem) -> Plan:
    """Proposals per sweep, by the expected width E (measured in benchmarks/efficiency.py).

    With a learned level births and deaths are what lets the width follow it, and cost little beside the level's own
    updates. A learned curve takes the width along with it, and costs more.
    """
    expected = problem.start_level * float(problem.shape.integral[0])
    births, moves = (0.5, 0.06)
    if problem.hyper.level_shape > 0:
        births, moves = (1.0, 0.12) if len(problem.intensity.z) else (2.0, 0.3)
    return Plan(int(np.clip(round(births * expected), 10, 120)), int(np.clip(round(moves * expected), 3, 30)))


class CollapsedChain:
    """State of one chain; `advance` makes sweeps and keeps every draw after warm-up.

    Parameters
    ----------
    problem : Problem
    seed : SeedSequence
    n_warmup, n_draws, thin : int
        Sweeps of warm-up, draws to store, sweeps per draw.
    plan : Plan, optional
        Proposals per sweep.
    """

    def __init__(
        self,
        problem: Problem,
        seed: np.random.SeedSequence,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
        plan: Plan | None = None,
    ) -> None:
        self.problem = problem
        self.rng = np.random.default_rng(seed)
        self.n_warmup, self.n_draws, self.thin = n_warmup, n_draws, thin
        self.n_sweeps = 0
        self.data, self.shape = own_data(problem.data), own_shape(problem.shape)
        expected = problem.start_level * problem.shape.integral[0]
        self.plan = default_plan(problem) if plan is None else plan
        self.values = start_values(problem, self.rng)
        self.tuning = empty_tuning()
        self._start_curves()
        self._allocate(int(expected + 6.0 * np.sqrt(expected)) + self.plan.n_birth_death + 16)
        self._start_units()
        self.pieces: list[ChainDraws] = []

    def _start_curves(self) -> None:
        """Curves scattered about their prior mean."""
        problem = self.problem
        self.intensity, self.noise_field = own_field(problem.intensity), own_field(problem.noise)
        for field in (self.intensity, self.noise_field):
            field.z[:] = 0.3 * self.rng.standard_normal(len(field.z))
            if len(field.z):
                expand(field, field.z, field.table)
        n_rows = problem.data.x.shape[1] if problem.hyper.freedom_log_mean > 0 else 0
        self.row_weight = np.ones(n_rows)
        if len(self.intensity.z):
            set_intensity(self.intensity.table, self.intensity.area, self.shape)

    def _allocate(self, capacity: int) -> None:
        n_dims, n_points = self.problem.data.x.shape
        self.units = empty_units(capacity, n_dims, n_points)
        self._allocate_trial(capacity)

    def _allocate_trial(self, capacity: int) -> None:
        problem = self.problem
        n_dims, n_points = problem.data.x.shape
        self.work = empty_work(capacity, n_dims, n_points)
        z = max(len(self.intensity.z), len(self.noise_field.z))
        table = max(len(self.intensity.table), len(self.noise_field.table))
        self.trial = Trial(
            own_shape(problem.shape),
            empty_units(capacity, n_dims, n_points),
            np.zeros(z),
            np.zeros((2 + MOST_HELD, z)),
            np.zeros((n_dims, 2), dtype=np.int64),
            np.zeros(table),
            np.zeros((2, table)),
            np.zeros((4, n_points if len(self.noise_field.z) else 0)),
        )
        points = capacity if len(self.intensity.z) else 0
        self.varying = Varying(
            self.intensity, self.noise_field, problem.knots, problem.shares, self.row_weight,
            np.zeros((points, n_dims)), np.zeros(points),
        )  # fmt: skip
        if len(self.noise_field.z) or len(self.row_weight):
            reweight(self.data, self.varying, self.noise_field.table, self.data)

    def _start_units(self) -> None:
        """Units from the prior at the starting level."""
        hyper, level = self.problem.hyper, self.values[LEVEL]
        scale = start_units(self.data, self.shape, hyper, self.units, level, self.work, self.rng)
        self.tuning.steps[STEP_MOVE] = 1.0 / scale

    @property
    def total_sweeps(self) -> int:
        """Sweeps that the chain is to make in all."""
        return self.n_warmup + self.n_draws * self.thin

    @property
    def finished(self) -> bool:
        """Whether all sweeps are made."""
        return self.n_sweeps >= self.total_sweeps

    def advance(self, n_sweeps: int) -> int:
        """Make up to `n_sweeps` sweeps; returns how many were made. Draws do not depend on how the work is cut up."""
        problem = self.problem
        n_sweeps = min(n_sweeps, self.total_sweeps - self.n_sweeps)
        made = 0
        while made < n_sweeps:
            has_field = len(self.intensity.z) > 0
            need = room_needed(self.shape, problem.hyper, self.plan.n_birth_death, self.units, self.values, has_field)
            if need > len(self.units.scales):
                self.units = enlarged(self.units, 3 * need // 2)
                self._allocate_trial(3 * need // 2)
            wanted = n_sweeps - made
            stored = self._storage(wanted)
            done, n_stored = run(
                self.data, self.shape, problem.hyper, self.plan, self.units, self.varying, self.trial, self.values,
                self.tuning, self.work, stored, self.n_sweeps, wanted, self.n_warmup, self.thin,
                True if len(self.noise_field.z) or len(self.row_weight) else None, self.rng,
            )  # fmt: skip
            self.n_sweeps += done
            made += done
            if n_stored:
                self.pieces.append(_piece(stored, n_stored))
        return made

    def _storage(self, wanted: int) -> Stored:
        capacity = len(self.units.scales)
        after = max(0, self.n_sweeps + wanted - max(self.n_warmup, self.n_sweeps)) // self.thin + 1
        n = max(1, min(after, _ROOM // capacity))
        room = n * capacity
        return Stored(
            np.empty(n, dtype=np.int64), np.empty((n, len(self.values))), np.empty(n), np.empty(n), np.empty(n),
            np.empty((n, len(self.intensity.z))), np.empty((n, len(self.noise_field.z))),
            np.empty((n, len(self.row_weight)), dtype=np.float32),
            np.empty((room, self.problem.scaling.n_dims)), np.empty(room), np.empty(room), np.empty(room),
        )  # fmt: skip

    def acceptance(self) -> dict[str, float]:
        """Share of accepted proposals by kind of move, for the kinds that were tried."""
        tried, accepted = self.tuning.tried, self.tuning.accepted
        return {name: float(accepted[i] / tried[i]) for i, name in enumerate(MOVE_NAMES) if tried[i] > 0}

    @property
    def noise(self) -> float:
        """Current noise sd in the units of the output."""
        return float(self.values[NOISE] * self.problem.scaling.y_scale)

    def trouble(self) -> tuple[int, float]:
        """Times that lost precision was noticed and repaired, and the largest drift seen before a refresh."""
        return int(self.tuning.trouble[0]), float(self.tuning.trouble[1])

    def draws(self) -> ChainDraws:
        """All draws stored so far."""
        return ChainDraws.joined(self.pieces, self.problem.scaling.n_dims)

    # --- to disk and back --------------------------------------------------------------------------------------

    def _carried(self) -> dict[str, Any]:
        """What lives from sweep to sweep, beside the units: arrays of these are saved and restored in place."""
        return {
            "data": self.data, "shape": self.shape, "intensity": self.intensity, "noise": self.noise_field,
            "tuning": self.tuning,
        }  # fmt: skip

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that the next sweep needs beside the problem and the constructor's arguments; draws not included.

        Carried numbers (the inverse, the Gram matrix) are saved as they are: computed afresh they would differ in the
        last digits, and the chain would go another way.
        """
        state: dict[str, NDArray[Any]] = {
            "n_sweeps": np.array([self.n_sweeps]),
            "capacity": np.array([len(self.units.scales)]),
            "generator": np.frombuffer(json.dumps(self.rng.bit_generator.state).encode(), np.uint8).copy(),
            "values": self.values.copy(),
            "row_weight": self.row_weight.copy(),
        }
        for group, fields in self._carried().items():
            constant = getattr(self.problem, group, None)
            for name, array in fields._asdict().items():
                # what the chain shares with the problem is made again from it
                own = isinstance(array, np.ndarray) and array is not getattr(constant, name, None)
                if own and name not in _NOT_CARRIED:
                    state[f"{group}.{name}"] = array.copy()
        n, units = int(self.units.n[0]), self.units
        used = padded(n + 1)
        for name, array in units._asdict().items():
            if name in _SQUARE:
                state[f"units.{name}"] = array[:used, :used].copy()
            elif name not in _NOT_CARRIED:
                state[f"units.{name}"] = array.copy()
        windows = [units.columns[k, : units.high[k] - units.low[k]] for k in range(n)]
        state["units.columns"] = np.concatenate([*windows, np.empty(0)])
        return state

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Continue from a snapshot and the draws made by then, bit for bit."""
        self._allocate(int(snapshot["capacity"][0]))
        self.n_sweeps = int(snapshot["n_sweeps"][0])
        self.rng.bit_generator.state = json.loads(snapshot["generator"].tobytes().decode())
        self.values[:] = snapshot["values"]
        self.row_weight[:] = snapshot["row_weight"]
        for group, fields in self._carried().items():
            for name, array in fields._asdict().items():
                if f"{group}.{name}" in snapshot:
                    array[...] = snapshot[f"{group}.{name}"]
        for name, array in self.units._asdict().items():
            if name not in _NOT_CARRIED:
                saved = snapshot[f"units.{name}"]
                array[tuple(slice(0, s) for s in saved.shape)] = saved
        at = 0
        for k in range(int(self.units.n[0])):
            length = int(self.units.high[k] - self.units.low[k])
            self.units.columns[k, :length] = snapshot["units.columns"][at : at + length]
            at += length
        self.pieces = [draws] if len(draws) else []


def start_values(problem: Problem, rng: np.random.Generator) -> NDArray[np.float64]:
    """Noise, amplitude, level and degrees of freedom, scattered about their prior medians if they are unknown."""
    hyper = problem.hyper
    noise = np.exp(hyper.noise_log_mean + 0.5 * hyper.noise_log_sd * rng.standard_normal())
    amplitude = np.exp(hyper.amplitude_log_mean + 0.5 * hyper.amplitude_log_sd * rng.standard_normal())
    level = problem.start_level
    if hyper.level_shape > 0:
        level *= np.exp(0.2 * np.clip(rng.standard_normal(), -2.0, 2.0))
    return np.array([noise, amplitude, level, np.exp(hyper.freedom_log_mean)])


def own_data(data: Data) -> Data:
    """The observations, with weights of the chain's own."""
    return data._replace(root_weight=data.root_weight.copy(), y=data.y.copy(), totals=data.totals.copy())


def own_shape(shape: Shape) -> Shape:
    """The intensity's shape, with values of the chain's own."""
    return shape._replace(values=shape.values.copy(), integral=shape.integral.copy())


def own_field(field: Field) -> Field:
    """A curve with coefficients of the caller's own."""
    return field._replace(z=field.z.copy(), table=field.table.copy(), buffers=field.buffers.copy())


def prediction_state(problem: Problem) -> tuple[Data, Varying | None]:
    """Observations and curves of a caller's own, to be set to a draw's by `predict.weigh_draw`.

    None in place of the curves if the errors are Gaussian with one noise sd.
    """
    robust = problem.hyper.freedom_log_mean > 0
    if not robust and not len(problem.noise.z):
        return problem.data, None
    rows = np.ones(problem.data.x.shape[1] if robust else 0)
    varying = Varying(
        own_field(problem.intensity), own_field(problem.noise), problem.knots, problem.shares, rows,
        np.zeros((0, problem.scaling.n_dims)), np.zeros(0),
    )  # fmt: skip
    return own_data(problem.data), varying


def _piece(stored: Stored, n: int) -> ChainDraws:
    used = int(stored.counts[:n].sum())
    fields: dict[str, Any] = {}
    for name, array in stored._asdict().items():
        fields[name] = array[: used if name in ("centers", "relative", "weights", "mean_weights") else n].copy()
    return ChainDraws(**fields)
