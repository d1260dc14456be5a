"""What chains of every sampler share: their generator, their draws, and the loop that makes sweeps."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.kernels.state import Tuning
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem
from porbnet.sampling.stored import MOST_STORED, Stored, piece, storage

MOST_KEPT = 2000  # draws of a chain whose length is not known beforehand


class BaseChain(ABC):
    """One chain; `advance` makes sweeps and keeps every draw after warm-up.

    Parameters
    ----------
    problem : Problem
    seed : SeedSequence
    n_warmup, n_draws, thin : int
        Sweeps of warm-up, draws to store, sweeps per draw.
    kinds : names of the kinds of moves, in the order in which `tuning` counts them

    Attributes
    ----------
    goal : int or None
        Sweeps to make in all, in place of what `n_draws` says. Such a chain may be told to go on for long: whenever it
        has `MOST_KEPT` draws it keeps every second one, and stores half as many from then on.
    """

    def __init__(
        self,
        problem: Problem,
        seed: np.random.SeedSequence,
        n_warmup: int,
        n_draws: int,
        thin: int,
        kinds: tuple[str, ...],
    ) -> None:
        self.problem = problem
        self.rng = np.random.default_rng(seed)
        self.n_warmup, self.n_draws, self.thin = n_warmup, n_draws, thin
        self.n_sweeps = 0
        self.goal: int | None = None
        self.kinds = kinds
        self.pieces: list[ChainDraws] = []

    @property
    @abstractmethod
    def tuning(self) -> Tuning:
        """Step sizes and counts."""

    @property
    @abstractmethod
    def capacity(self) -> int:
        """Units there is room for."""

    @property
    @abstractmethod
    def n_kept(self) -> int:
        """Numbers that a draw keeps of the likelihood's augmentation."""

    @abstractmethod
    def _run(self, stored: Stored, wanted: int) -> int:
        """Make up to `wanted` sweeps; returns how many were made, fewer if there is no room for the next."""

    @abstractmethod
    def _enlarge(self) -> None:
        """Make room for the next sweep if there is none."""

    def _finish(self, stored: Stored) -> None:  # noqa: B027 (some have nothing to complete)
        """Complete what a call of `_run` has stored."""

    @property
    def rows(self) -> Problem:
        """The problem with the rows that the chain works on."""
        return self.problem

    def prepare(self, snapshot: dict[str, NDArray[Any]]) -> None:  # noqa: B027 (some have nothing to prepare)
        """Take the form that a snapshot, perhaps from a stranger, is for; `ValueError` if that cannot be."""

    @property
    def total_sweeps(self) -> int:
        """Sweeps that the chain is to make in all."""
        return self.n_warmup + self.n_draws * self.thin if self.goal is None else self.goal

    @property
    def finished(self) -> bool:
        """Whether all sweeps are made."""
        return self.n_sweeps >= self.total_sweeps

    def advance(self, n_sweeps: int) -> int:
        """Make up to `n_sweeps` sweeps; returns how many were made. Draws do not depend on how the work is cut up."""
        n_sweeps = min(n_sweeps, self.total_sweeps - self.n_sweeps)
        made = 0
        while made < n_sweeps:
            wanted = min(n_sweeps - made, self._until_full())
            after = max(0, self.n_sweeps + wanted - max(self.n_warmup, self.n_sweeps)) // self.thin + 1
            n = max(1, min(after, MOST_STORED // self.capacity))
            stored = storage(self.problem, n, n * self.capacity, self.n_kept)
            done = self._run(stored, wanted)
            self.n_sweeps += done
            made += done
            if stored.n:
                self._finish(stored)
                self.pieces.append(piece(self.problem, stored))
            if self._until_full() == 0:
                self._thin_out()
            if made < n_sweeps:
                self._enlarge()
        return made

    def _until_full(self) -> int:
        """Sweeps until there are as many draws as are kept at most."""
        if self.goal is None:
            return self.total_sweeps
        return self.n_warmup + MOST_KEPT * self.thin - self.n_sweeps

    def _thin_out(self) -> None:
        """Keep every second draw: those that a chain with twice as many sweeps per draw stores."""
        self.pieces = [self.draws().every(2)]
        self.thin *= 2

    def acceptance(self) -> dict[str, float]:
        """Share of accepted proposals by kind of move, for the kinds that were tried."""
        tried, accepted = self.tuning.tried, self.tuning.accepted
        return {name: float(accepted[i] / tried[i]) for i, name in enumerate(self.kinds) if tried[i] > 0}

    def trouble(self) -> tuple[int, float]:
        """Times that lost precision was noticed and repaired, and the largest drift seen before a refresh."""
        return self.tuning.forced, self.tuning.drift

    def draws(self) -> ChainDraws:
        """All draws stored so far."""
        draws = ChainDraws.joined(self.pieces, self.problem.most_dims)
        self.pieces = [draws] if len(draws) else []  # once in memory, not twice
        return draws

    def _own_snapshot(self) -> dict[str, NDArray[Any]]:
        generator = json.dumps(self.rng.bit_generator.state).encode()
        counts = {"n_sweeps": np.array([self.n_sweeps]), "thin": np.array([self.thin])}
        return counts | {"generator": np.frombuffer(generator, np.uint8).copy()}

    def _own_restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        self.n_sweeps, self.thin = int(snapshot["n_sweeps"][0]), int(snapshot["thin"][0])
        self.rng.bit_generator.state = json.loads(snapshot["generator"].tobytes().decode())
        self.pieces = [draws] if len(draws) else []
