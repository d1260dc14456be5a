"""One chain of the collapsed sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.errors import StatementError
from porbnet.kernels.state import State, padded
from porbnet.sampling.collapsed.blocks import CAPACITY as BOX_CAPACITY
from porbnet.sampling.collapsed.blocks import TARGET, Blocks, block_state, empty_blocks
from porbnet.sampling.collapsed.lean_chain import LeanChain
from porbnet.sampling.collapsed.plan import Plan, Sizes, default_plan
from porbnet.sampling.collapsed.state import FIRST_STEPS
from porbnet.sampling.collapsed.sweep import ANEW, KINDS, START, run
from porbnet.sampling.moves import Move
from porbnet.sampling.problem import Problem
from porbnet.sampling.stored import Stored, storage

_PER_UNIT = ("owner", "centers", "relative", "scales", "low", "high", "with_bias")
_SQUARE = ("gram", "inverse", "factor")  # of which only the rows and columns of units matter
_CARRIED = ("moment", "mean", "order", "first", "ordered")
# units from which births, deaths and moves in blocks pay, with one input and with several; and the share of that below
# which they no longer do (benchmarks/units.py)
MOST_SQUARE, MOST_SQUARE_BEYOND = 90, 120
STILL_PACKED = 0.7


class CollapsedChain(LeanChain):
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
        self._extra = tuple(m.counted(len(KINDS) + i) for i, m in enumerate(moves))
        kinds = KINDS + tuple(m.name for m in moves)
        super().__init__(problem, seed, n_warmup, n_draws, thin, default_plan(problem) if plan is None else plan, kinds)

    def _begin(self, values: NDArray[np.float64]) -> None:
        """Room, and units from the prior in it."""
        self.state, self.block, self.blocks = self._made(self._first_sizes(), values)
        for component in self.state.components:  # curves scattered about their prior mean
            component.curve.z[:] = 0.3 * self.rng.standard_normal(len(component.curve.z))
        self.problem.likelihood.start(self.state.errors, self.rng)
        self._call(START)
        while self.state.units.lacking:
            self._resize(replace(self.sizes, packed=2 * self.sizes.packed, room=2 * self.sizes.room))
            self._call(START)

    # --- room ----------------------------------------------------------------------------------------------------

    @property
    def _most_square(self) -> int:
        """Units up to which there are no blocks; of several components and with moves from outside there never are."""
        if len(self.problem.components) > 1 or self._extra:
            return int(np.iinfo(np.int64).max)
        return MOST_SQUARE if self.problem.most_dims == 1 else MOST_SQUARE_BEYOND

    def _first_sizes(self) -> Sizes:
        expected = sum(c.expected for c in self.problem.components)
        most = int(expected + 6.0 * np.sqrt(expected)) + 16
        packed = expected > self._most_square
        units = most + self.plan.n_birth_death + (most // 8 + 128 if packed else 0)
        return Sizes.of(units, packed, 0, self.problem.most_dims)

    def _next_sizes(self) -> Sizes:
        """Room for the next sweep, in the form that pays for so many units."""
        state, sizes = self.state, self.sizes
        n, need = state.units.n, state.units.n + self.plan.n_birth_death + 2
        packed = n > (STILL_PACKED * self._most_square if sizes.packed else self._most_square)
        if packed:
            need += n // 8 + 128
        n_dims = self.problem.most_dims
        if packed != bool(sizes.packed):
            sizes = Sizes.of(3 * need // 2, packed, sizes.marks, n_dims)
        elif need >= sizes.units or state.units.lacking:
            units = max(3 * need // 2, 5 * sizes.units // 4)
            sizes = sizes.larger(Sizes.of(units, packed, sizes.marks, n_dims))
        if packed and n_dims == 1 and 2 * state.units.used + 4096 >= sizes.packed:
            sizes = replace(sizes, packed=4 * state.units.used + 16384, room=4 * state.units.used + 16384)
        if state.trial.lacking:
            sizes = replace(sizes, trial=2 * sizes.trial, room=2 * sizes.room)
        if state.room > sizes.marks:
            sizes = replace(sizes, marks=3 * state.room // 2)
        return sizes

    def make_room_for(self, n_units: int) -> None:
        """Room for so many units and those of the next sweep."""
        packed = bool(self.sizes.packed)
        need = n_units + self.plan.n_birth_death + 2 + (n_units // 8 + 128 if packed else 0)
        if need >= self.sizes.units:
            wanted = Sizes.of(3 * need // 2, packed, self.sizes.marks, self.problem.most_dims)
            self._resize(self.sizes.larger(wanted))

    def _made(self, sizes: Sizes, values: NDArray[np.float64]) -> tuple[State, State, Blocks]:
        state = self._fresh_state(sizes, values, FIRST_STEPS)
        state.most_square, state.least_packed = self._most_square, int(STILL_PACKED * self._most_square)
        return state, *self._beside(state)

    def _beside(self, state: State) -> tuple[State, Blocks]:
        """Work space of blocks; next to nothing where there are none."""
        n_dims, packed = self.lean.most_dims, bool(self.sizes.packed)
        table = state.components[0].shape.sizes
        process = self.problem.components[0].process
        state.trial.bare = int(packed and n_dims > 1 and not (process is not None and process.n_unknown))
        blocks = empty_blocks(self.sizes.units if packed else 0, n_dims, self.lean.n_points if packed else 0, table)
        return block_state(state, BOX_CAPACITY) if packed else state, blocks

    def _resize(self, sizes: Sizes) -> None:
        """The same units and parameters with other room, or on other rows; what is cached of the units is not set."""
        weights, drawn = self.blocks.weights, self.blocks.drawn
        self._take(sizes)
        self.state = self._moved_state(bool(sizes.packed))
        self.block, self.blocks = self._beside(self.state)
        n_weights = min(len(self.blocks.weights), len(weights))
        self.blocks.weights[:n_weights], self.blocks.drawn = weights[:n_weights], drawn

    def _run(self, stored: Stored, wanted: int) -> int:
        made = run(
            self.state, *self._work(), stored, self.n_sweeps, wanted, self.n_warmup, self.thin,
            self._augment, self._weigh, self._extra, self.rng,
        )  # fmt: skip
        if self.blocks.crowded:
            raise StatementError(
                f"the outputs ask for more than {BOX_CAPACITY} units where the prior expects about {TARGET:.0f}, which "
                "is more than a fit can hold in one place: raise the noise or the amplitude, or learn them; or lower "
                "the lengthscale"
            )
        return int(made)

    def _work(self) -> tuple[Any, Any]:
        """Work space of blocks as kernels take it: nothing is compiled of them until there are any."""
        return (self.block, self.blocks) if self.sizes.packed else (None, None)

    def _anew(self) -> None:
        self._call(ANEW)

    def _call(self, what: int) -> None:
        """START or ANEW."""
        run(
            self.state, *self._work(), storage(self.problem, 1, 1, self.n_kept), what, 0, self.n_warmup,
            self.thin, self._augment, self._weigh, self._extra, self.rng,
        )  # fmt: skip

    # --- to disk and back --------------------------------------------------------------------------------------

    def _cached(self) -> dict[str, NDArray[Any]]:
        """The units, and unless they are packed what is cached of them."""
        units = self.state.units
        saved = {"units": np.array([units.n, units.updates]), "drawn": np.array([self.blocks.drawn])}
        saved["weights"] = self.blocks.weights[: units.n + 1].copy()
        for name in _PER_UNIT:
            saved[f"units.{name}"] = getattr(units, name)[: units.n].copy()
        if self.sizes.packed:
            return saved
        used = padded(units.n + 1)
        for name in _SQUARE:
            saved[f"units.{name}"] = _square(getattr(units, name), units)[:used, :used].copy()
        for name in _CARRIED:
            saved[f"units.{name}"] = getattr(units, name)[:used].copy()
        windows = [units.columns[k, : units.high[k] - units.low[k]] for k in range(units.n)]
        saved["units.columns"] = np.concatenate([*windows, np.empty(0)])
        return saved

    def _put_back(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """What `_cached` has found."""
        units = self.state.units
        units.n, units.updates = (int(v) for v in snapshot["units"])
        for name in _PER_UNIT:
            getattr(units, name)[: units.n] = snapshot[f"units.{name}"]
        self.blocks.drawn = int(snapshot["drawn"][0])
        self.blocks.weights[: len(snapshot["weights"])] = snapshot["weights"]
        if self.sizes.packed:
            self._call(ANEW)  # packed units are computed afresh in every sweep, in this very way
            return
        for name in _SQUARE:
            saved = snapshot[f"units.{name}"]
            _square(getattr(units, name), units)[: saved.shape[0], : saved.shape[1]] = saved
        for name in _CARRIED:
            saved = snapshot[f"units.{name}"]
            getattr(units, name)[: len(saved)] = saved
        at = 0
        for k in range(units.n):
            length = int(units.high[k] - units.low[k])
            units.columns[k, :length] = snapshot["units.columns"][at : at + length]
            at += length


def _square(array: NDArray[np.float64], units: Any) -> NDArray[np.float64]:
    """A matrix of units that are not packed, as a square that shares its memory."""
    return array.reshape(len(units.moment), -1)
