"""A chain whose sweeps go from window to window: of an intensity whose curve has the exponential kernel."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.functions.grid_gp import EXPONENTIAL
from porbnet.sampling.collapsed.lean_chain import LeanChain
from porbnet.sampling.collapsed.plan import Plan, Sizes
from porbnet.sampling.collapsed.windows.state import FIRST_WINDOW_STEPS, MOST_INSIDE, Visit, empty_visit
from porbnet.sampling.collapsed.windows.sweep import ANEW, KINDS, START, run_windows
from porbnet.sampling.problem import Problem
from porbnet.sampling.stored import Stored, storage

MOST_EXPECTED_INSIDE = MOST_INSIDE / 3.0  # units of the smallest windows, whose number varies
_PER_UNIT = ("owner", "centers", "relative", "scales")


def goes_by_windows(problem: Problem) -> bool:
    """Whether windows are for this problem: one component, whose curve has the exponential kernel with a known law.

    The smallest window, around one knot, must not be too large for the units that are expected in it.
    """
    if len(problem.components) != 1:
        return False
    process, expected = problem.components[0].process, problem.components[0].expected
    if process is None or process.kernel != EXPONENTIAL or process.n_unknown > 0:
        return False
    smallest = math.prod(min(2.0 / (n - 1), 1.0) for n in process.shape)
    return expected * smallest <= MOST_EXPECTED_INSIDE


def window_plan(problem: Problem) -> Plan:
    """Proposals per ten units expected in a window, and updates of the curve per visit."""
    return Plan(n_birth_death=10, n_moves=4, n_centered=1, n_marked=1, n_stretched=1 if problem.most_dims == 1 else 0)


class WindowChain(LeanChain):
    """State of one chain; `advance` makes sweeps and keeps every draw after warm-up.

    Parameters
    ----------
    problem : Problem
    seed : SeedSequence
    n_warmup, n_draws, thin : int
        Sweeps of warm-up, draws to store, sweeps per draw.
    plan : Plan, optional
        Proposals per visit.
    """

    _expands = False

    def __init__(
        self,
        problem: Problem,
        seed: np.random.SeedSequence,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
        plan: Plan | None = None,
    ) -> None:
        super().__init__(problem, seed, n_warmup, n_draws, thin, window_plan(problem) if plan is None else plan, KINDS)

    def _begin(self, values: NDArray[np.float64]) -> None:
        expected = self.problem.components[0].expected
        most = int(expected + 6.0 * np.sqrt(expected)) + 16
        self.state = self._fresh_state(self._sizes_for(most, 0), values, FIRST_WINDOW_STEPS)
        self.visit = self._visit(expected)
        curve = self.state.components[0].curve
        curve.z[:] = 0.3 * self.rng.standard_normal(len(curve.z))  # scattered about its prior mean
        self.problem.likelihood.start(self.state.errors, self.rng)
        self._call(START)
        while self.state.units.lacking:
            self._resize(replace(self.sizes, packed=2 * self.sizes.packed, room=2 * self.sizes.room))
            self._call(START)

    def _visit(self, expected: float) -> Visit:
        rows, sizes = self.state.rows, self.state.components[0].shape.sizes
        return empty_visit(self.sizes.units, self.lean.n_points, sizes, expected, rows.has_bias == 1)

    def _sizes_for(self, n: int, marks: int) -> Sizes:
        return Sizes.of(3 * (n + n // 2 + MOST_INSIDE) // 2 + 64, True, marks, self.problem.most_dims)

    def make_room_for(self, n_units: int) -> None:
        """Room for so many units and those of the next sweep."""
        wanted = self._sizes_for(n_units, self.sizes.marks)
        if wanted.units > self.sizes.units:
            self._resize(self.sizes.larger(wanted))

    def begin_anew(self) -> None:
        """Go on from units, parameters and a curve that were put into the state; weights are drawn."""
        self.visit.drawn = 0
        self._anew()

    def _next_sizes(self) -> Sizes:
        state, sizes = self.state, self.sizes
        units, trial = state.units, state.trial
        if units.lacking or trial.lacking or units.n + units.n // 2 + MOST_INSIDE >= sizes.units:
            sizes = sizes.larger(self._sizes_for(max(units.n, sizes.units // 2), sizes.marks))
        if 2 * units.used + 4096 >= sizes.packed or trial.lacking:
            room = max(4 * units.used + 16384, 2 * sizes.room if trial.lacking else 0)
            sizes = sizes.larger(replace(sizes, packed=room, room=room))
        return replace(sizes, marks=3 * state.room // 2) if state.room > sizes.marks else sizes

    def _resize(self, sizes: Sizes) -> None:
        old = self.visit
        self._take(sizes)
        self.state = self._moved_state(True)
        self.visit = self._visit(1.0)
        self.visit.restore(old.snapshot())
        n = min(len(old.weights), len(self.visit.weights))
        self.visit.weights[:n], self.visit.drawn = old.weights[:n], old.drawn

    def _run(self, stored: Stored, wanted: int) -> int:
        return int(
            run_windows(
                self.state, self.visit, stored, self.n_sweeps, wanted, self.n_warmup, self.thin,
                self._augment, self._weigh, self.rng,
            )
        )  # fmt: skip

    def _anew(self) -> None:
        self._call(ANEW)

    def _call(self, what: int) -> None:
        """START or ANEW."""
        run_windows(
            self.state, self.visit, storage(self.problem, 1, 1, self.n_kept), what, 0, self.n_warmup, self.thin,
            self._augment, self._weigh, self.rng,
        )  # fmt: skip

    # --- to disk and back --------------------------------------------------------------------------------------

    def _cached(self) -> dict[str, NDArray[Any]]:
        units, visit = self.state.units, self.visit
        saved = {"units": np.array([units.n, -1]), "drawn": np.array([visit.drawn])}
        saved["weights"] = visit.weights[: units.n + 1].copy()
        saved |= {f"visit.{name}": array for name, array in visit.snapshot().items()}
        return saved | {f"units.{name}": getattr(units, name)[: units.n].copy() for name in _PER_UNIT}

    def _put_back(self, snapshot: dict[str, NDArray[Any]]) -> None:
        units, visit = self.state.units, self.visit
        units.n = int(snapshot["units"][0])
        for name in _PER_UNIT:
            getattr(units, name)[: units.n] = snapshot[f"units.{name}"]
        visit.restore(snapshot, "visit.")
        visit.drawn = int(snapshot["drawn"][0])
        visit.weights[: len(snapshot["weights"])] = snapshot["weights"]
        self._call(ANEW)  # units are computed afresh in every sweep, in this very way
