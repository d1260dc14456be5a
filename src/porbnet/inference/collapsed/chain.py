"""One chain of the collapsed sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.inference.collapsed.birth_death import LONG_SHARE as LONG_SHARE
from porbnet.inference.collapsed.levels import room_needed
from porbnet.inference.collapsed.problem import Problem
from porbnet.inference.collapsed.state import (
    LEVEL,
    MOVE_NAMES,
    NOISE,
    STEP_MOVE,
    Plan,
    empty_tuning,
    empty_units,
    empty_work,
    enlarged,
)
from porbnet.inference.collapsed.sweep import Stored, run
from porbnet.inference.collapsed.units import append, clear, draw_center, scale_at
from porbnet.inference.draws import ChainDraws

_ROOM = 200_000  # units stored per call at most, unless one draw needs more


def default_plan(expected_units: float) -> Plan:
    """Proposals per sweep: about half the expected width of each kind, within reason."""
    n = int(np.clip(round(0.5 * expected_units), 10, 60))
    return Plan(n, n)


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
        expected = problem.start_level * problem.shape.integral
        self.plan = default_plan(expected) if plan is None else plan
        self.values = self._start_values()
        self.tuning = empty_tuning()
        n_dims, n_points = problem.data.x.shape
        self._allocate(int(expected + 6.0 * np.sqrt(expected)) + self.plan.n_birth_death + 16, n_dims, n_points)
        self._start_units()
        self.pieces: list[ChainDraws] = []

    def _start_values(self) -> NDArray[np.float64]:
        """Noise, amplitude and level, scattered about their prior medians if they are unknown."""
        hyper, rng = self.problem.hyper, self.rng
        noise = np.exp(hyper.noise_log_mean + 0.5 * hyper.noise_log_sd * rng.standard_normal())
        amplitude = np.exp(hyper.amplitude_log_mean + 0.5 * hyper.amplitude_log_sd * rng.standard_normal())
        level = self.problem.start_level
        if hyper.level_shape > 0:
            level *= np.exp(0.2 * np.clip(rng.standard_normal(), -2.0, 2.0))
        return np.array([noise, amplitude, level])

    def _allocate(self, capacity: int, n_dims: int, n_points: int) -> None:
        self.units = empty_units(capacity, n_dims, n_points)
        self.trial = empty_units(capacity, n_dims, n_points)
        self.work = empty_work(capacity, n_dims, n_points)

    def _start_units(self) -> None:
        """Units from the prior at the starting level."""
        problem, work = self.problem, self.work
        clear(problem.data, self.units)
        n = int(self.rng.poisson(self.values[LEVEL] * problem.shape.integral))
        for _ in range(min(n, len(self.units.scales) - 1)):
            g = draw_center(problem.shape, self.rng, work.center)
            scale = scale_at(problem.hyper, self.values[LEVEL] * g, len(work.center))
            append(problem.data, self.units, work.center, g, scale, work.cross)
        typical = scale_at(problem.hyper, self.values[LEVEL], problem.scaling.n_dims)
        self.tuning.steps[STEP_MOVE] = 1.0 / typical

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
            need = room_needed(problem.shape, problem.hyper, self.plan.n_birth_death, self.units, self.values)
            if need > len(self.units.scales):
                self._grow(2 * need)
            wanted = n_sweeps - made
            stored, room = self._storage(wanted)
            done, n_stored = run(
                problem.data, problem.shape, problem.hyper, self.plan, self.units, self.trial, self.values, self.tuning,
                self.work, stored, self.n_sweeps, wanted, self.n_warmup, self.thin, room, self.rng,
            )  # fmt: skip
            self.n_sweeps += done
            made += done
            if n_stored:
                self.pieces.append(_piece(stored, n_stored))
        return made

    def _storage(self, wanted: int) -> tuple[Stored, int]:
        capacity = len(self.units.scales)
        after = max(0, self.n_sweeps + wanted - max(self.n_warmup, self.n_sweeps)) // self.thin + 1
        n = max(1, min(after, _ROOM // capacity))
        room = max(n * capacity, capacity)
        n_dims = self.problem.scaling.n_dims
        stored = Stored(
            np.empty(n, dtype=np.int64), np.empty((n, 3)), np.empty(n), np.empty(n), np.empty(n),
            np.empty((room, n_dims)), np.empty(room), np.empty(room), np.empty(room),
        )  # fmt: skip
        return stored, room

    def _grow(self, capacity: int) -> None:
        n_dims, n_points = self.problem.data.x.shape
        self.units = enlarged(self.units, capacity)
        self.trial = empty_units(capacity, n_dims, n_points)
        self.work = empty_work(capacity, n_dims, n_points)

    def acceptance(self) -> dict[str, float]:
        """Share of accepted proposals by kind of move, for the kinds that were tried."""
        tried, accepted = self.tuning.tried, self.tuning.accepted
        return {name: float(accepted[i] / tried[i]) for i, name in enumerate(MOVE_NAMES) if tried[i] > 0}

    @property
    def noise(self) -> float:
        """Current noise sd in the units of the output."""
        return float(self.values[NOISE] * self.problem.scaling.y_scale)

    def draws(self) -> ChainDraws:
        """All draws stored so far."""
        return ChainDraws.joined(self.pieces, self.problem.scaling.n_dims)


def _piece(stored: Stored, n: int) -> ChainDraws:
    used = int(stored.counts[:n].sum())
    fields: dict[str, Any] = {}
    for name, array in stored._asdict().items():
        fields[name] = array[: used if name in ("centers", "relative", "weights", "mean_weights") else n].copy()
    return ChainDraws(**fields)
