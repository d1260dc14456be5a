"""One chain of the paper's sampler: its state, its generator, and the draws so far."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.kernels.state import Component, Shape, Tuning, empty_tuning
from porbnet.sampling.chain import BaseChain
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.options import PaperSampler
from porbnet.sampling.published.state import (
    FIRST_STEP,
    State,
    Thinned,
    Trajectory,
    empty_motion,
    empty_network,
)
from porbnet.sampling.published.sweep import KINDS, run
from porbnet.sampling.stored import Stored, storage
from porbnet.statement.prior import Prior


def check_prior(prior: Prior) -> None:
    """Raise `StatementError` if the paper's sampler cannot fit the statement."""
    if prior.trend is not None:
        raise _checks.fail("trend", prior.trend.tolist(), "with the paper's sampler it must be None")
    if prior.likelihood is not None and prior.likelihood.augment is not None:
        allowed = "with the paper's sampler it must be a positive number, a LogNormal or an InverseGamma"
        raise _checks.fail("noise", prior.noise, allowed)
    process = prior.intensity.curve(prior.region)
    if process is not None:
        learned = {"variance": process.variance_log_sd > 0, "lengthscale": len(process.lengthscales) > 1}
        for name, unknown in learned.items():
            if unknown:
                allowed = "of a SigmoidGP, with the paper's sampler it must be a number (one per dimension)"
                raise _checks.fail(name, getattr(prior.intensity, name), allowed)


class PaperChain(BaseChain):
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
        super().__init__(problem, seed, n_warmup, n_draws, thin, KINDS)
        self.sampler = PaperSampler() if sampler is None else sampler
        (setting,) = problem.components
        level, has_curve = setting.start_level, setting.process is not None
        stated = self.sampler.n_birth_death
        self.n_birth_death = max(10, round(setting.expected)) if stated is None else stated
        self.n_thinned = max(10, round(level)) if has_curve else 0
        self.n_average = self.sampler.n_average if self.sampler.plug_in and has_curve else 1
        values = problem.start_values(self.rng)
        component = setting.record(0)
        plug = setting.shape() if self.n_average > 1 else component.shape
        self.state = self._made(component, plug, values, *self._rooms(0, 0))
        if has_curve:  # scattered about its prior mean
            component.curve.z[:] = 0.3 * self.rng.standard_normal(len(component.curve.z))
            self._set_curve()
            plug.values[:], plug.integral = component.shape.values, component.shape.integral
        expected = level * component.shape.integral
        rooms = self._rooms(*(int(e + 6.0 * np.sqrt(e)) + 16 for e in (expected, level)))
        self.state = self._with_room(*rooms)
        self._run_from(-2, storage(problem, 1, 1, 0), 0)

    def _set_curve(self) -> None:
        """The intensity of the current coefficients."""
        self._run_from(-1, storage(self.problem, 1, 1, 0), 0)

    def _rooms(self, n_units: int, n_thinned: int) -> tuple[int, int]:
        """Room for so many units and thinned events and for the proposals of a sweep."""
        return n_units + self.n_birth_death + 1, n_thinned + self.n_average * self.n_thinned + 1

    def _made(
        self, component: Component, plug: Shape, values: NDArray[np.float64], capacity: int, n_places: int
    ) -> State:
        problem, options, n_dims = self.problem, self.sampler, len(component.x)
        curve, n_points, first = component.curve, problem.n_points, float(np.log(FIRST_STEP))
        path = Trajectory(
            z=np.zeros_like(curve.z), momentum=np.zeros_like(curve.z), by_z=np.zeros_like(curve.z),
            table=np.zeros_like(curve.table), by_knot=np.zeros_like(curve.table),
            shape=problem.components[0].shape(), total=np.zeros_like(curve.table), vector=np.zeros(n_dims),
        )  # fmt: skip
        return State(
            rows=problem.rows(),
            components=(component,),
            values=values,
            laws=problem.laws,
            errors=problem.errors(),
            network=empty_network(capacity, n_dims, n_points),
            trial=empty_network(capacity, n_dims, n_points),
            motion=empty_motion(capacity, n_dims),
            thinned=Thinned(n=0, places=np.zeros((n_places if len(curve.z) else 0, n_dims))),
            path=path,
            plug=plug,
            tuning=empty_tuning([float(np.log(0.2))] * 3, len(self.kinds)),
            dual=np.array([[first, first, 0.0, 0.0], [first, first, 0.0, 0.0]]),
            n_leapfrog=options.n_leapfrog,
            n_leapfrog_curve=options.n_leapfrog_intensity,
            target=options.target_acceptance,
            n_birth_death=self.n_birth_death,
            n_thinned=self.n_thinned,
            n_average=self.n_average,
        )

    def _with_room(self, capacity: int, n_places: int) -> State:
        """The same state with other room; network and events are left out."""
        state, n_points = self.state, self.problem.n_points
        n_dims, has_curve = len(state.components[0].x), len(state.components[0].curve.z) > 0
        return state.replaced(
            network=empty_network(capacity, n_dims, n_points),
            trial=empty_network(capacity, n_dims, n_points),
            motion=empty_motion(capacity, n_dims),
            thinned=Thinned(n=0, places=np.zeros((n_places if has_curve else 0, n_dims))),
        )

    @property
    def tuning(self) -> Tuning:
        """Step sizes and counts."""
        return self.state.tuning

    @property
    def capacity(self) -> int:
        """Units there is room for."""
        return len(self.state.network.weights)

    @property
    def n_kept(self) -> int:
        """There is no augmentation."""
        return 0

    def _run(self, stored: Stored, wanted: int) -> int:
        return self._run_from(self.n_sweeps, stored, wanted)

    def _run_from(self, first: int, stored: Stored, wanted: int) -> int:
        return int(run(self.state, stored, first, wanted, self.n_warmup, self.thin, self.rng))

    def _enlarge(self) -> None:
        """Room for half as many units and thinned events again as there are, if the next sweep needs it."""
        network, thinned = self.state.network, self.state.thinned
        n_units, n_places = self._rooms(network.n, thinned.n)
        if n_units > self.capacity or (len(thinned.places) and n_places > len(thinned.places)):
            kept = self._events()
            self.state = self._with_room(*self._rooms(3 * network.n // 2 + 16, 3 * thinned.n // 2 + 16))
            self._set_events(kept)

    def _finish(self, stored: Stored) -> None:
        from porbnet.sampling.published.conditional import fill

        fill(self.problem, stored)

    def _events(self) -> dict[str, NDArray[Any]]:
        """Network and thinned events; the rest of the network follows from them at the start of a sweep."""
        network, thinned = self.state.network, self.state.thinned
        return {
            "centers": network.centers[: network.n].copy(),
            "weights": network.weights[: network.n].copy(),
            "bias": np.array([network.bias]),
            "residual": network.residual.copy(),
            "thinned": thinned.places[: thinned.n].copy(),
        }

    def _set_events(self, kept: dict[str, NDArray[Any]]) -> None:
        network, thinned = self.state.network, self.state.thinned
        n, n_thinned = len(kept["weights"]), len(kept["thinned"])
        network.n, thinned.n = n, n_thinned
        network.centers[:n], network.weights[:n] = kept["centers"], kept["weights"]
        network.bias, network.residual[:] = float(kept["bias"][0]), kept["residual"]
        thinned.places[:n_thinned] = kept["thinned"]

    def snapshot(self) -> dict[str, NDArray[Any]]:
        """All that the next sweep needs beyond what the chain was made with; `restore` goes on from it."""
        state = self.state
        return {
            **self._own_snapshot(),
            "values": state.values.copy(),
            "z": state.components[0].curve.z.copy(),
            "plug": state.plug.values.copy(),
            "plug_integral": np.array([state.plug.integral]),
            "dual": state.dual.copy(),
            **self._events(),
            **{f"tuning.{name}": array for name, array in state.tuning.snapshot().items()},
        }

    def restore(self, snapshot: dict[str, NDArray[Any]], draws: ChainDraws) -> None:
        """Go on from a snapshot of a chain made in the same way, bit for bit; `draws` are those it had stored."""
        state = self.state
        state.values[:] = snapshot["values"]
        state.components[0].curve.z[:] = snapshot["z"]
        self._set_curve()
        state.plug.values[:], state.plug.integral = snapshot["plug"], float(snapshot["plug_integral"][0])
        state.dual[:] = snapshot["dual"]
        state.tuning.restore(snapshot, "tuning.")
        self.state = self._with_room(*self._rooms(len(snapshot["weights"]), len(snapshot["thinned"])))
        self._set_events(snapshot)
        self._own_restore(snapshot, draws)
