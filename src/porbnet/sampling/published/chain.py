"""One chain of the paper's sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.intensity import SigmoidGP
from porbnet.noise import RobustNoise, VaryingNoise
from porbnet.sampling.collapsed.chain import own_data, own_field, own_shape, start_values
from porbnet.sampling.collapsed.field import set_intensity
from porbnet.sampling.collapsed.process import expand
from porbnet.sampling.collapsed.state import empty_tuning as empty_collapsed_tuning
from porbnet.sampling.collapsed.state import empty_units, empty_work
from porbnet.sampling.collapsed.sweep import Stored
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.conditional import fill_conditionals
from porbnet.sampling.published.options import PaperSampler
from porbnet.sampling.published.state import (
    MOVE_NAMES,
    Curve,
    Settings,
    State,
    Thinned,
    empty_motion,
    empty_network,
    empty_tuning,
)
from porbnet.sampling.published.sweep import run, start
from porbnet.statement.prior import Prior

_ROOM = 200_000  # units stored per call at most, unless one draw needs more
_PER_UNIT = ("centers", "relative", "weights", "mean_weights")


def check_prior(prior: Prior) -> None:
    """Raise `StatementError` if the paper's sampler cannot fit the statement."""
    if isinstance(prior.noise, VaryingNoise | RobustNoise):
        allowed = "with the paper's sampler it must be a positive number, a LogNormal or an InverseGamma"
        raise _checks.fail("noise", prior.noise, allowed)
    if isinstance(prior.intensity, SigmoidGP):
        process = prior.intensity.process(prior.region)
        learned = {"variance": process.variance_log_sd > 0, "lengthscale": len(process.lengthscales) > 1}
        for name, unknown in learned.items():
            if unknown:
                allowed = "of a SigmoidGP, with the paper's sampler it must be a number (one per dimension)"
                raise _checks.fail(name, getattr(prior.intensity, name), allowed)


def settings_of(sampler: PaperSampler, problem: Problem) -> Settings:
    """The settings of a problem's chains, proposals counted."""
    level = problem.start_level
    expected = level * float(problem.shape.integral[0])
    n_birth_death = max(10, round(expected)) if sampler.n_birth_death is None else sampler.n_birth_death
    return Settings(
        sampler.n_leapfrog,
        sampler.target_acceptance,
        n_birth_death,
        sampler.n_leapfrog_intensity,
        max(10, round(level)) if len(problem.intensity.z) else 0,
        sampler.n_average if sampler.plug_in and len(problem.intensity.z) else 1,
    )


class PaperChain:
    """State of one chain; `advance` makes sweeps and keeps every draw after warm-up.

    Parameters
    ----------
    problem : Problem
    seed : SeedSequence
    n_warmup, n_draws, thin : int
        Sweeps of warm-up, draws to store, sweeps per draw.
    sampler : PaperSampler, optional
    """

    def __init__(
        self,
        problem: Problem,
        seed: np.random.SeedSequence,
        n_warmup: int,
        n_draws: int,
        thin: int = 1,
        sampler: PaperSampler | None = None,
    ) -> None:
        check_prior(problem.prior)
        self.problem = problem
        self.rng = np.random.default_rng(seed)
        self.n_warmup, self.n_draws, self.thin = n_warmup, n_draws, thin
        self.n_sweeps = 0
        self.settings = settings_of(PaperSampler() if sampler is None else sampler, problem)
        self.data, self.shape = own_data(problem.data), own_shape(problem.shape)
        self.plug = own_shape(problem.shape) if self.settings.n_average > 1 else self.shape
        self.field = own_field(problem.intensity)
        self.tuning = empty_tuning()
        self.values = start_values(problem, self.rng)
        self._start_curve()
        expected = problem.start_level * float(self.shape.integral[0])
        self._allocate(*(int(e + 6.0 * np.sqrt(e)) + 16 for e in (expected, problem.start_level)))
        start(self.data, self.shape, problem.hyper, self.state, self.values, self.rng)
        self.pieces: list[ChainDraws] = []

    def _start_curve(self) -> None:
        """The Gaussian process scattered about its prior mean."""
        if len(self.field.z):
            self.field.z[:] = 0.3 * self.rng.standard_normal(len(self.field.z))
            self._set_curve()
            self.plug.values[:] = self.shape.values
            self.plug.integral[:] = self.shape.integral

    def _set_curve(self) -> None:
        """The intensity of the current coefficients."""
        if len(self.field.z):
            expand(self.field, self.field.z, self.field.table)
            set_intensity(self.field.table, self.field.area, self.shape)

    def _allocate(self, n_units: int, n_thinned: int) -> None:
        """Room for so many units and thinned events and for the proposals of a sweep."""
        n_dims, n_points = self.problem.data.x.shape
        capacity = n_units + self.settings.n_birth_death + 1
        n_z, n_knots = len(self.field.z), len(self.field.table)
        n_places = n_thinned + self.settings.n_average * self.settings.n_thinned + 1 if n_z else 0
        curve = Curve(
            np.zeros(n_z), np.zeros(n_z), np.zeros(n_z), np.zeros(n_knots), np.zeros(n_knots),
            own_shape(self.problem.shape), np.zeros(n_knots), np.zeros(n_dims),
        )  # fmt: skip
        self.state = State(
            empty_network(capacity, n_dims, n_points),
            empty_network(capacity, n_dims, n_points),
            empty_motion(capacity, n_dims),
            Thinned(np.zeros(1, dtype=np.int64), np.zeros((n_places, n_dims))),
            self.field,
            curve,
            self.plug,
        )

    def _enlarge(self) -> None:
        """Room for half as many units and thinned events again as there are."""
        kept = self._events()
        self._allocate(3 * int(self.state.network.n[0]) // 2 + 16, 3 * int(self.state.thinned.n[0]) // 2 + 16)
        self._set_events(kept)

    def _events(self) -> dict[str, NDArray[Any]]:
        """Network and thinned events; the rest of the network follows from them at the start of a sweep."""
        network, thinned = self.state.network, self.state.thinned
        n = int(network.n[0])
        return {
            "centers": network.centers[:n].copy(),
            "weights": network.weights[:n].copy(),
            "bias": network.bias.copy(),
            "residual": network.residual.copy(),
            "thinned": thinned.places[: int(thinned.n[0])].copy(),
        }

    def _set_events(self, kept: dict[str, NDArray[Any]]) -> None:
        network, thinned = self.state.network, self.state.thinned
        n, n_thinned = len(kept["weights"]), len(kept["thinned"])
        network.n[0], thinned.n[0] = n, n_thinned
        network.centers[:n], network.weights[:n] = kept["centers"], kept["weights"]
        network.bias[:], network.residual[:] = kept["bias"], kept["residual"]
        thinned.places[:n_thinned] = kept["thinned"]

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
        n_sweeps = min(n_sweeps, self.total_sweeps - self.n_sweeps)
        made = 0
        while made < n_sweeps:
            if self._is_full():
                self._enlarge()
            wanted = n_sweeps - made
            stored = self._storage(wanted)
            done, n_stored = run(
                self.data, self.shape, self.problem.hyper, self.settings, self.state, self.values, self.tuning, stored,
                self.n_sweeps, wanted, self.n_warmup, self.thin, self.rng,
            )  # fmt: skip
            self.n_sweeps += done
            made += done
            if n_stored:
                self.pieces.append(self._piece(stored, n_stored))
        return made

    def _is_full(self) -> bool:
        """Whether the next sweep might need more room than there is."""
        settings, state = self.settings, self.state
        n_units = state.network.n[0] + settings.n_birth_death + 1
        n_events = state.thinned.n[0] + settings.n_average * settings.n_thinned + 1
        full = len(self.field.z) > 0 and n_events > len(state.thinned.places)
        return bool(full or n_units > len(state.network.weights))

    def _storage(self, wanted: int) -> Stored:
        capacity = len(self.state.network.weights)
        after = max(0, self.n_sweeps + wanted - max(self.n_warmup, self.n_sweeps)) // self.thin + 1
        n = max(1, min(after, _ROOM // capacity))
        room = n * capacity
        return Stored(
            np.empty(n, dtype=np.int64), np.empty((n, len(self.values))), np.empty(n), np.empty(n), np.empty(n),
            np.empty((n, len(self.field.z))), np.empty((n, 0)), np.empty((n, 0), dtype=np.float32),
            np.empty((room, self.problem.scaling.n_dims)), np.empty(room), np.empty(room), np.empty(room),
        )  # fmt: skip

    def _piece(self, stored: Stored, n: int) -> ChainDraws:
        n_dims, n_points = self.problem.data.x.shape
        capacity = int(stored.counts[:n].max(initial=0)) + 1
        fill_conditionals(
            self.data, self.problem.hyper, n, stored, empty_units(capacity, n_dims, n_points),
            empty_collapsed_tuning(), empty_work(capacity, n_dims, n_points),
        )  # fmt: skip
        used = int(stored.counts[:n].sum())
        fields: dict[str, Any] = {
            name: array[: used if name in _PER_UNIT else n].copy() for name, array in stored._asdict().items()
        }
        return ChainDraws(**fields)

    def acceptance(self) -> dict[str, float]:
        """Share of accepted proposals by kind of move, for the kinds that were tried."""
        tried, accepted = self.tuning.tried, self.tuning.accepted
        return {name: float(accepted[i] / tried[i]) for i, name in enumerate(MOVE_NAMES) if tried[i] > 0}

    def trouble(self) -> tuple[int, float]:
        """Trajectories that left the range of numbers (and were rejected), and the largest drift of the residual."""
        return int(self.tuning.trouble[0]), float(self.tuning.trouble[1])

    def draws(self) -> ChainDraws:
        """All draws stored so far."""
        return ChainDraws.joined(self.pieces, self.problem.scaling.n_dims)

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that the next sweep needs beyond what the chain was made with; `restore` goes on from it."""
        tuning = {f"tuning_{name}": array.copy() for name, array in self.tuning._asdict().items()}
        generator = json.dumps(self.rng.bit_generator.state)
        return {
            "n_sweeps": np.array([self.n_sweeps]),
            "values": self.values.copy(),
            "z": self.field.z.copy(),
            "plug": self.plug.values.copy(),
            "plug_integral": self.plug.integral.copy(),
            "generator": np.frombuffer(generator.encode(), dtype=np.uint8).copy(),
            **self._events(),
            **tuning,
        }

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Go on from a snapshot of a chain made in the same way, bit for bit; `draws` are those it had stored."""
        self.n_sweeps = int(snapshot["n_sweeps"][0])
        self.values[:] = snapshot["values"]
        self.field.z[:] = snapshot["z"]
        self._set_curve()
        self.plug.values[:] = snapshot["plug"]
        self.plug.integral[:] = snapshot["plug_integral"]
        self._allocate(len(snapshot["weights"]), len(snapshot["thinned"]))
        self._set_events(snapshot)
        for name, array in self.tuning._asdict().items():
            array[:] = snapshot[f"tuning_{name}"]
        self.rng.bit_generator.state = json.loads(snapshot["generator"].tobytes().decode())
        self.pieces = [draws] if len(draws) else []
