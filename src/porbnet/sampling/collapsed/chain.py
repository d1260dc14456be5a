"""One chain of the collapsed sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.compiled import Passed
from porbnet.kernels.state import NOISE, State, Tuning, empty_tuning, empty_units, empty_work, enlarged, padded
from porbnet.sampling.chain import BaseChain
from porbnet.sampling.collapsed.state import FIRST_STEPS
from porbnet.sampling.collapsed.sweep import ANEW, KINDS, START, run
from porbnet.sampling.compression import Sharpness
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.lean import MARGIN, ROOM, is_known, sharpness_of, source_of
from porbnet.sampling.moves import Move
from porbnet.sampling.problem import Problem
from porbnet.sampling.stored import Stored, storage

_SQUARE = ("gram", "inverse", "factor")  # parts of Units of which only the rows and columns of units matter
_NOT_CARRIED = ("columns", "scratch")  # packed by themselves, or work space


@dataclass(frozen=True)
class Plan:
    """How much of what a sweep does.

    n_birth_death, n_moves : proposals per sweep
    n_centered, n_marked : updates of the intensity's curve with the centers held, and with units
    """

    n_birth_death: int
    n_moves: int
    n_centered: int = 1
    n_marked: int = 3


def default_plan(problem: Problem) -> Plan:
    """Proposals per sweep, by the expected width E (measured in benchmarks/efficiency.py).

    With a learned level births and deaths are what lets the width follow it, and cost little beside the level's own
    updates. A learned curve takes the width along with it, and costs more.
    """
    expected = sum(c.expected for c in problem.components)
    births, moves = (0.5, 0.06)
    if any(not problem.parameters[c.level].known for c in problem.components):
        curves = any(c.process is not None for c in problem.components)
        births, moves = (1.0, 0.12) if curves else (2.0, 0.3)
    return Plan(int(np.clip(round(births * expected), 10, 120)), int(np.clip(round(moves * expected), 3, 30)))


class CollapsedChain(BaseChain):
    """State of one chain; `advance` makes sweeps and keeps every draw after warm-up.

    Parameters
    ----------
    problem : Problem
    seed : SeedSequence
    n_warmup, n_draws, thin : int
        Sweeps of warm-up, draws to store, sweeps per draw.
    plan : Plan, optional
        Proposals per sweep.
    moves : moves beside those there are, each made once a sweep
    """

    def __init__(
        self,
        problem: Problem,
        seed: np.random.SeedSequence,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
        plan: Plan | None = None,
        moves: tuple[Move, ...] = (),
    ) -> None:
        super().__init__(problem, seed, n_warmup, n_draws, thin, KINDS + tuple(m.name for m in moves))
        self.plan = default_plan(problem) if plan is None else plan
        likelihood = problem.likelihood
        self._augment = None if likelihood.augment is None else Passed(likelihood.augment)
        self._weigh = None if likelihood.weigh is None else Passed(likelihood.weigh)
        self._extra = tuple(m.counted(len(KINDS) + i) for i, m in enumerate(moves))
        values = problem.start_values(self.rng)
        self.source = source_of(problem)
        self.lean = problem
        self.sharpness: Sharpness | None = None
        if self.source is not None:
            self._sharpen(sharpness_of(problem.components[0].record(0), values, self._room))
        expected = sum(c.expected for c in problem.components)
        capacity = int(expected + 6.0 * np.sqrt(expected)) + self.plan.n_birth_death + 16
        self.state = self._made(capacity, values)
        for component in self.state.components:  # curves scattered about their prior mean
            component.curve.z[:] = 0.3 * self.rng.standard_normal(len(component.curve.z))
        likelihood.start(self.state.errors, self.rng)
        self._run_from(START, storage(problem, 1, 1, self.n_kept), 0)

    @property
    def _room(self) -> float:
        return 1.0 + 1e-9 if is_known(self.problem) else ROOM

    def _sharpen(self, sharpness: Sharpness) -> None:
        """Rows for units as sharp as that, or as any they have been made for."""
        assert self.source is not None
        self.sharpness = sharpness if self.sharpness is None else sharpness.raised(self.sharpness.scales)
        self.lean = self.source.lean(self.sharpness, 1.0 if is_known(self.problem) else MARGIN)

    def _with_rows(self) -> State:
        """The same state on the rows of `lean`; what is cached of the units is not set."""
        old, lean, capacity = self.state, self.lean, self.capacity
        n_dims, n_points = lean.most_dims, lean.n_points
        units = empty_units(capacity, n_dims, n_points)
        units.n = old.units.n
        for name in ("owner", "centers", "relative", "scales"):
            getattr(units, name)[...] = getattr(old.units, name)
        errors: Any = lean.errors()
        errors.kept[...] = old.errors.kept
        return old.replaced(
            rows=lean.rows(),
            components=tuple(c.replaced(x=s.x) for c, s in zip(old.components, lean.components, strict=True)),
            errors=errors,
            units=units,
            trial=empty_units(capacity, n_dims, n_points),
            work=empty_work(capacity, n_dims, n_points),
        )

    def _made(self, capacity: int, values: NDArray[np.float64]) -> State:
        problem, plan = self.lean, self.plan
        n_dims, n_points = problem.most_dims, problem.n_points
        return State(
            rows=problem.rows(),
            components=tuple(c.record(capacity) for c in problem.components),
            values=values,
            laws=problem.laws,
            errors=problem.errors(),
            units=empty_units(capacity, n_dims, n_points),
            trial=empty_units(capacity, n_dims, n_points),
            work=empty_work(capacity, n_dims, n_points),
            tuning=empty_tuning(FIRST_STEPS, len(self.kinds)),
            n_birth_death=plan.n_birth_death,
            n_moves=plan.n_moves,
            n_centered=plan.n_centered,
            n_marked=plan.n_marked,
            log_p=0.0,
            room=0,
        )

    def _with_room(self, capacity: int, units: Any) -> State:
        """The same state with room for so many units."""
        n_dims, n_points = self.lean.most_dims, self.lean.n_points
        components = tuple(
            c.replaced(points=np.zeros((capacity, c.points.shape[1])), marks=np.zeros(capacity))
            if len(c.curve.z)
            else c
            for c in self.state.components
        )
        return self.state.replaced(
            components=tuple(components),
            units=units,
            trial=empty_units(capacity, n_dims, n_points),
            work=empty_work(capacity, n_dims, n_points),
        )

    @property
    def tuning(self) -> Tuning:
        """Step sizes and counts."""
        return self.state.tuning

    @property
    def capacity(self) -> int:
        """Units there is room for."""
        return len(self.state.units.scales)

    @property
    def n_kept(self) -> int:
        """Numbers that a draw keeps of the likelihood's augmentation."""
        return len(self.state.errors.kept)

    def _run(self, stored: Stored, wanted: int) -> int:
        return self._run_from(self.n_sweeps, stored, wanted)

    def _run_from(self, first: int, stored: Stored, wanted: int) -> int:
        return int(
            run(
                self.state, stored, first, wanted, self.n_warmup, self.thin, self._augment, self._weigh, self._extra,
                self.rng,
            )
        )  # fmt: skip

    def _enlarge(self) -> None:
        wanted = None
        if self.state.rows.coarse:
            wanted = sharpness_of(self.state.components[0], self.state.values, self._room)
            assert self.source is not None and self.sharpness is not None
            if self.source.is_enough(self.sharpness, wanted):  # sharper units are impossible, and asking is of no use
                self.state.rows.coarse, self.state.rows.margin, wanted = 0, 0.0, None
        if wanted is not None:
            self._sharpen(wanted)
            self.state = self._with_rows()
            self._run_from(ANEW, storage(self.problem, 1, 1, self.n_kept), 0)
        if self.state.room > self.capacity:
            capacity = 3 * self.state.room // 2
            self.state = self._with_room(capacity, enlarged(self.state.units, capacity))

    @property
    def noise(self) -> float:
        """Current noise sd in the units of the output."""
        return float(self.state.values[NOISE] * self.problem.scaling.y_scale)

    # --- to disk and back --------------------------------------------------------------------------------------

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that the next sweep needs beside the problem and the constructor's arguments; draws not included.

        Carried numbers (the inverse, the Gram matrix) are saved as they are: computed afresh they would differ in the
        last digits, and the chain would go another way.
        """
        units = self.state.units
        used = padded(units.n + 1)
        saved = self._own_snapshot() | self.state.snapshot()
        saved["sharpness"] = np.zeros(0) if self.sharpness is None else self.sharpness.scales
        saved["capacity"], saved["units"] = np.array([self.capacity]), np.array([units.n, units.updates])
        for name, array in units.arrays().items():
            if name in _SQUARE:
                saved[f"units.{name}"] = array[:used, :used].copy()
            elif name not in _NOT_CARRIED:
                saved[f"units.{name}"] = array.copy()
        windows = [units.columns[k, : units.high[k] - units.low[k]] for k in range(units.n)]
        saved["units.columns"] = np.concatenate([*windows, np.empty(0)])
        return saved

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Continue from a snapshot and the draws made by then, bit for bit."""
        capacity = int(snapshot["capacity"][0])
        if self.sharpness is not None:
            self._sharpen(replace(self.sharpness, scales=snapshot["sharpness"]))
            self.state = self._with_rows()
        units = empty_units(capacity, self.lean.most_dims, self.lean.n_points)
        self.state = self._with_room(capacity, units)
        self.state.restore(snapshot)
        units.n, units.updates = (int(v) for v in snapshot["units"])
        for name, array in units.arrays().items():
            if name not in _NOT_CARRIED:
                saved = snapshot[f"units.{name}"]
                array[tuple(slice(0, s) for s in saved.shape)] = saved
        at = 0
        for k in range(units.n):
            length = int(units.high[k] - units.low[k])
            units.columns[k, :length] = snapshot["units.columns"][at : at + length]
            at += length
        self._own_restore(snapshot, draws)
