"""A chain on as few rows as its units allow, with room for as many units as it has: what both forms of sweeps share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.compiled import Passed
from porbnet.errors import StatementError
from porbnet.kernels.state import NOISE, State, Tuning, empty_tuning, empty_units, empty_work, room_for_marks
from porbnet.kernels.trend import line_taken_off
from porbnet.sampling.chain import BaseChain
from porbnet.sampling.collapsed.plan import Plan, Sizes
from porbnet.sampling.compression import Sharpness
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.lean import MARGIN, ROOM, is_known, sharpness_of, source_of
from porbnet.sampling.problem import Problem

_MOST_SCALE = 1e12  # of units, over the region's size


class LeanChain(BaseChain):
    """One chain of the collapsed sampler; how sweeps are made is left to its kinds.

    Parameters
    ----------
    problem : Problem
    seed : SeedSequence
    n_warmup, n_draws, thin : int
        Sweeps of warm-up, draws to store, sweeps per draw.
    plan : Plan
        Proposals per sweep.
    kinds : names of the kinds of moves
    """

    state: State
    sizes: Sizes
    _expands = True  # whether its moves need the bases of a curve

    def __init__(
        self,
        problem: Problem,
        seed: np.random.SeedSequence,
        n_warmup: int,
        n_draws: int,
        thin: int,
        plan: Plan,
        kinds: tuple[str, ...],
    ) -> None:
        super().__init__(problem, seed, n_warmup, n_draws, thin, kinds)
        self.plan = plan
        likelihood = problem.likelihood
        self._augment = None if likelihood.augment is None else Passed(likelihood.augment)
        self._weigh = None if likelihood.weigh is None else Passed(likelihood.weigh)
        values = problem.start_values(self.rng)
        self.source = source_of(problem)
        self.lean = problem
        self.sharpness: Sharpness | None = None
        if self.source is not None:
            self._sharpen(sharpness_of(problem.components[0].record(0), values, self._room))
        try:
            self._begin(values)
        except MemoryError as error:
            raise self._too_many(self.sizes) from error

    @abstractmethod
    def _begin(self, values: NDArray[np.float64]) -> None:
        """Room, and units from the prior in it."""

    @abstractmethod
    def _next_sizes(self) -> Sizes:
        """Room for the next sweep."""

    @abstractmethod
    def _resize(self, sizes: Sizes) -> None:
        """The same units and parameters with other room, or on other rows; what is cached of the units is not set."""

    @abstractmethod
    def _anew(self) -> None:
        """What is cached of the units."""

    @abstractmethod
    def make_room_for(self, n_units: int) -> None:
        """Room for so many units and those of the next sweep."""

    def begin_anew(self) -> None:
        """Go on from units, parameters and curves that were put into the state."""
        self._anew()

    @abstractmethod
    def _cached(self) -> dict[str, NDArray[Any]]:
        """The units, and what is carried of them from sweep to sweep."""

    @abstractmethod
    def _put_back(self, snapshot: dict[str, NDArray[Any]]) -> None:
        """What `_cached` has found."""

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

    def _fresh_state(self, sizes: Sizes, values: NDArray[np.float64], steps: list[float]) -> State:
        """A state with room and nothing in it."""
        problem, plan = self.lean, self.plan
        n_dims, n_points = problem.most_dims, problem.n_points
        self._take(sizes)
        return State(
            rows=problem.rows(),
            components=tuple(c.record(sizes.marks, self._expands) for c in problem.components),
            values=values,
            laws=problem.laws,
            errors=problem.errors(),
            units=empty_units(sizes.units, n_dims, n_points, sizes.packed),
            trial=empty_units(sizes.trial, n_dims, n_points, sizes.room),
            work=empty_work(sizes.units, n_dims, n_points),
            tuning=empty_tuning(steps, len(self.kinds)),
            n_birth_death=plan.n_birth_death,
            n_moves=plan.n_moves,
            n_centered=plan.n_centered,
            n_marked=plan.n_marked,
            n_stretched=plan.n_stretched,
            log_p=0.0,
            room=0,
            most_square=0,
            least_packed=0,
        )

    def _moved_state(self, in_order: bool) -> State:
        """The state with the room of `sizes` on the rows of `lean`; what is cached of the units is not set.

        in_order : whether units are to stand from left to right
        """
        old, lean, sizes = self.state, self.lean, self.sizes
        n_dims, n_points = lean.most_dims, lean.n_points
        units = empty_units(sizes.units, n_dims, n_points, sizes.packed)
        n = units.n = old.units.n
        order = np.argsort(old.units.centers[:n, 0], kind="stable") if in_order else np.arange(n)
        for name in ("owner", "centers", "relative", "scales"):
            getattr(units, name)[:n] = getattr(old.units, name)[order]
        errors: Any = lean.errors()
        errors.kept[...] = old.errors.kept
        components = tuple(
            c.replaced(x=s.x, **room_for_marks(sizes.marks, len(s.x))) if len(c.curve.z) else c.replaced(x=s.x)
            for c, s in zip(old.components, lean.components, strict=True)
        )
        state = old.replaced(
            rows=lean.rows(),
            components=components,
            errors=errors,
            units=units,
            trial=empty_units(sizes.trial, n_dims, n_points, sizes.room),
            work=empty_work(sizes.units, n_dims, n_points),
        )
        if lean.n_slopes:
            state.rows.slopes[:] = old.rows.slopes
            line_taken_off(state.rows, state.components[0])
        return state

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
            self._anew()
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
        saved["sizes"] = np.array(self.sizes.numbers)
        return saved | self._cached()

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
