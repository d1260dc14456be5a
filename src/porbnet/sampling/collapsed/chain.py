"""One chain of the collapsed sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.compiled import Passed
from porbnet.errors import StatementError
from porbnet.kernels.state import (
    NOISE,
    State,
    Tuning,
    empty_tuning,
    empty_units,
    empty_work,
    padded,
    room_for_marks,
)
from porbnet.kernels.trend import line_taken_off
from porbnet.sampling.chain import BaseChain
from porbnet.sampling.collapsed.blocks import CAPACITY as BOX_CAPACITY
from porbnet.sampling.collapsed.blocks import TARGET, Blocks, block_state, empty_blocks
from porbnet.sampling.collapsed.state import FIRST_STEPS
from porbnet.sampling.collapsed.sweep import ANEW, KINDS, START, run
from porbnet.sampling.compression import Sharpness
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.lean import MARGIN, ROOM, is_known, sharpness_of, source_of
from porbnet.sampling.moves import Move
from porbnet.sampling.problem import Problem
from porbnet.sampling.stored import Stored, storage
from porbnet.statement.prior import Prior

_PER_UNIT = ("owner", "centers", "relative", "scales", "low", "high", "with_bias")
_SQUARE = ("gram", "inverse", "factor")  # of which only the rows and columns of units matter
_CARRIED = ("moment", "mean", "order", "first", "ordered")
# units from which births, deaths and moves in blocks pay, with one input and with several; and the share of that below
# which they no longer do (benchmarks/units.py)
MOST_SQUARE, MOST_SQUARE_BEYOND = 90, 120
STILL_PACKED = 0.7
_PER_ROW = 48  # of a packed Gram matrix, entries to begin with
_MOST_SCALE = 1e12  # of units, over the region's size
_MOST_BYTES = 2**36  # that room for units may take
MOST_EXPECTED, MOST_EXPECTED_BEYOND = 50_000, 5_000  # units of a prior that is fitted, with one input and with several


@dataclass(frozen=True)
class Sizes:
    """Room: of units and proposed units, of their packed Gram matrices (0: a whole square), of marked points."""

    units: int
    packed: int
    trial: int
    room: int
    marks: int

    @classmethod
    def of(cls, units: int, packed: bool, marks: int, n_dims: int = 1) -> Sizes:
        """For so many units, a proposal having no fewer."""
        room = _PER_ROW * units if packed and n_dims == 1 else units * (units + 1) // 2 + 1
        return cls(units, room if packed else 0, units, room, marks)

    def are_sound(self, n_points: int) -> bool:
        """Whether numbers from a file can be sizes."""
        whole = all(0 <= n < 2**31 for n in astuple(self)) and 0 < self.units <= self.trial and self.room > 0
        square = 0 if self.packed else 3 * (self.units + 33) ** 2
        needed = 8 * (
            square + self.packed + 2 * self.room + 4 * self.marks + (self.units + self.trial) * (n_points + 20)
        )
        return whole and self.packed <= self.room and needed < _MOST_BYTES

    def larger(self, other: Sizes) -> Sizes:
        """The larger of both in every respect."""
        return Sizes(*(max(a, b) for a, b in zip(astuple(self), astuple(other), strict=True)))


def check_prior(prior: Prior) -> None:
    """Raise `StatementError` if a prior expects more units than a chain can hold."""
    most = MOST_EXPECTED if prior.n_dims == 1 else MOST_EXPECTED_BEYOND
    if prior.expected_units > most:
        raise StatementError(
            f"the prior expects {prior.expected_units:,.0f} units, more than a fit can hold: with {prior.n_dims} "
            f"input(s) at most {most:,}; raise the lengthscale, shrink the region or lower units_per_lengthscale"
        )


@dataclass(frozen=True)
class Plan:
    """How much of what a sweep does.

    n_birth_death, n_moves : proposals per sweep
    n_centered, n_marked, n_stretched : updates of the intensity's curve with the centers held, with units, with places
    """

    n_birth_death: int
    n_moves: int
    n_centered: int = 1
    n_marked: int = 2
    n_stretched: int = 2


def default_plan(problem: Problem) -> Plan:
    """Proposals per sweep, by the expected width E (measured in benchmarks/efficiency.py).

    With a learned level births and deaths are what lets the width follow it, and cost little beside the level's own
    updates. A learned curve takes the width along with it, and costs more. With several inputs updates with places cost
    more, as they run over whole tables of knots, than the effective draws they bring.
    """
    expected = sum(c.expected for c in problem.components)
    births, moves = (0.5, 0.06)
    if any(not problem.parameters[c.level].known for c in problem.components):
        curves = any(c.process is not None for c in problem.components)
        births, moves = (1.0, 0.12) if curves else (2.0, 0.3)
    plan = Plan(max(10, round(births * expected)), max(3, round(moves * expected)))
    return plan if problem.most_dims == 1 else replace(plan, n_stretched=0)


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
        self.state, self.block, self.blocks = self._made(self._first_sizes(), values)
        for component in self.state.components:  # curves scattered about their prior mean
            component.curve.z[:] = 0.3 * self.rng.standard_normal(len(component.curve.z))
        likelihood.start(self.state.errors, self.rng)
        self._call(START)
        while self.state.units.lacking:
            self._resize(replace(self.sizes, packed=2 * self.sizes.packed, room=2 * self.sizes.room))
            self._call(START)

    @property
    def rows(self) -> Problem:
        """The problem with the rows that the chain works on."""
        return self.lean

    @property
    def _room(self) -> float:
        return 1.0 + 1e-9 if is_known(self.problem) else ROOM

    def _sharpen(self, sharpness: Sharpness) -> None:
        """Rows for units as sharp as that, or as any they have been made for."""
        assert self.source is not None
        self.sharpness = sharpness if self.sharpness is None else sharpness.raised(self.sharpness.scales)
        self.lean = self.source.lean(self.sharpness, 1.0 if is_known(self.problem) else MARGIN)

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

    def _made(self, sizes: Sizes, values: NDArray[np.float64]) -> tuple[State, State, Blocks]:
        problem, plan = self.lean, self.plan
        n_dims, n_points = problem.most_dims, problem.n_points
        self._take(sizes)
        state = State(
            rows=problem.rows(),
            components=tuple(c.record(sizes.marks) for c in problem.components),
            values=values,
            laws=problem.laws,
            errors=problem.errors(),
            units=empty_units(sizes.units, n_dims, n_points, sizes.packed),
            trial=empty_units(sizes.trial, n_dims, n_points, sizes.room),
            work=empty_work(sizes.units, n_dims, n_points),
            tuning=empty_tuning(FIRST_STEPS, len(self.kinds)),
            n_birth_death=plan.n_birth_death,
            n_moves=plan.n_moves,
            n_centered=plan.n_centered,
            n_marked=plan.n_marked,
            n_stretched=plan.n_stretched,
            log_p=0.0,
            room=0,
            most_square=self._most_square,
            least_packed=int(STILL_PACKED * self._most_square),
        )
        return state, *self._beside(state)

    def _take(self, sizes: Sizes) -> None:
        """Sizes to come, unless they are more than can be had."""
        if not sizes.are_sound(self.lean.n_points):
            raise self._too_many(sizes)
        self.sizes = sizes

    def _too_many(self, sizes: Sizes) -> StatementError:
        return StatementError(
            f"room for {sizes.trial:,} units over {self.lean.n_points:,} rows takes more memory than there is: the "
            "outputs ask for ever more units, as they do where rows are repeated or weighted as if they were many; "
            "raise the lengthscale or the noise, shrink the region or lower units_per_lengthscale"
        )

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
        old, lean = self.state, self.lean
        n_dims, n_points = lean.most_dims, lean.n_points
        weights, drawn = self.blocks.weights, self.blocks.drawn
        self._take(sizes)
        units = empty_units(sizes.units, n_dims, n_points, sizes.packed)
        n = units.n = old.units.n
        order = np.argsort(old.units.centers[:n, 0], kind="stable") if sizes.packed else np.arange(n)
        for name in ("owner", "centers", "relative", "scales"):
            getattr(units, name)[:n] = getattr(old.units, name)[order]
        errors: Any = lean.errors()
        errors.kept[...] = old.errors.kept
        components = tuple(
            c.replaced(x=s.x, **room_for_marks(sizes.marks, len(s.x))) if len(c.curve.z) else c.replaced(x=s.x)
            for c, s in zip(old.components, lean.components, strict=True)
        )
        self.state = old.replaced(
            rows=lean.rows(),
            components=components,
            errors=errors,
            units=units,
            trial=empty_units(sizes.trial, n_dims, n_points, sizes.room),
            work=empty_work(sizes.units, n_dims, n_points),
        )
        if lean.n_slopes:
            self.state.rows.slopes[:] = old.rows.slopes
            line_taken_off(self.state.rows, self.state.components[0])
        self.block, self.blocks = self._beside(self.state)
        n_weights = min(len(self.blocks.weights), len(weights))
        self.blocks.weights[:n_weights], self.blocks.drawn = weights[:n_weights], drawn

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

    def _call(self, what: int) -> None:
        """START or ANEW."""
        run(
            self.state, *self._work(), storage(self.problem, 1, 1, self.n_kept), what, 0, self.n_warmup,
            self.thin, self._augment, self._weigh, self._extra, self.rng,
        )  # fmt: skip

    def _enlarge(self) -> None:
        try:
            self._adjust()
        except MemoryError as error:
            raise self._too_many(self.sizes) from error

    def _adjust(self) -> None:
        """Rows, room and form for the next sweep."""
        sizes, coarse = self._next_sizes(), bool(self.state.rows.coarse)
        if coarse:
            wanted = sharpness_of(self.state.components[0], self.state.values, self._room)
            assert self.source is not None and self.sharpness is not None
            if self.source.is_enough(self.sharpness, wanted):  # sharper units are impossible, and asking is of no use
                self.state.rows.coarse, self.state.rows.margin, coarse = 0, 0.0, False
            else:
                self._sharpen(wanted)
        if coarse or bool(sizes.packed) != bool(self.sizes.packed) or (sizes.packed and sizes != self.sizes):
            self._resize(sizes)
            self._call(ANEW)
        elif sizes != self.sizes:  # what is cached is carried over: computed afresh it would differ in the last digits
            cached = self._cached()
            self._resize(sizes)
            self._put_back(cached)

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
        saved = self._own_snapshot() | self.state.snapshot()
        saved["sharpness"] = np.zeros(0) if self.sharpness is None else self.sharpness.scales
        saved["sizes"] = np.array(astuple(self.sizes))
        return saved | self._cached()

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

    def prepare(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """Rows and room as a snapshot has them."""
        scales, sizes = snapshot["sharpness"], snapshot["sizes"]
        if self.sharpness is not None:
            if scales.shape != self.sharpness.scales.shape or not np.all((scales > 0) & (scales < _MOST_SCALE)):
                raise ValueError("sharpness is not that of units over this region")
            self._sharpen(replace(self.sharpness, scales=scales.astype(np.float64)))
        wanted = Sizes(*(int(v) for v in sizes.ravel()[:5])) if sizes.dtype.kind == "i" and sizes.size == 5 else None
        if wanted is None or not wanted.are_sound(self.lean.n_points):
            raise ValueError(f"sizes asks for room that no chain has: {sizes.tolist()}")
        self._resize(wanted)

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Continue from a snapshot and the draws made by then, bit for bit."""
        self.prepare(snapshot)
        self.state.restore(snapshot)
        self._put_back(snapshot)
        self._own_restore(snapshot, draws)

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
