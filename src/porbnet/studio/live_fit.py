"""A fit that can be watched, stopped and gone on with: chains in threads, and pictures of what they know so far.

The chains are those of every fit: the same problem, seeds and kernels. A fit that is let through has the draws that
the estimator would have, bit for bit, unless it began where an earlier one stood.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.cli.common import gathered_warnings
from porbnet.errors import PorbnetError, StatementError
from porbnet.estimators.noise_choice import noise_sentences
from porbnet.posterior.diagnostics import Diagnostics, Effort, diagnose
from porbnet.posterior.posterior import Posterior
from porbnet.posterior.reweighing import reweighed, warn_of_weights
from porbnet.sampling.collapsed.lean_chain import LeanChain
from porbnet.sampling.collapsed.warm_start import begin_where
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.driver import ChainResult, common_length
from porbnet.sampling.samplers import sampler_of
from porbnet.studio.live_summary import ChainTables, posterior_of
from porbnet.studio.rows import Rows
from porbnet.studio.running import Running
from porbnet.studio.shown_outcomes import SHOWN, Begun, begin
from porbnet.studio.statement_form import Form

_CHUNK_SECONDS = 0.1
_FRAME_SECONDS = 0.15
_VERDICT_SECONDS, _VERDICT_SHARE = 1.5, 0.015  # between verdicts at least, and of the time that they may take
_FEWEST_JUDGED = 50  # draws of each chain before a word on them while they run
_PATIENCE = 2.0  # seconds to wait for the end of a sweep
_LESS_WARMUP = 2  # times less, where a fit begins where another stood
LINE_PLACES, MAP_SIDE, SLICE_PLACES = 200, 24, 60
MOST_SLICES = 9


class LiveFit:
    """One fit of one page.

    Parameters
    ----------
    rows : Rows
    form : Form
    running : Running
    publish : callable
        Takes the fit; called about six times a second while chains run, and at every change of phase.
    before : LiveFit, optional
        Where chains begin, if they can.

    Attributes
    ----------
    phase : "preparing", "running", "stopped", "done", "out of time" or "failed"
    error : why it failed
    model : the estimator, fitted to what there is; None while chains run
    places : where the fit is shown: along one input, on a grid over two, along each of several with the others at their
        medians
    """

    def __init__(
        self,
        rows: Rows,
        form: Form,
        running: Running,
        publish: Callable[[LiveFit], None],
        before: LiveFit | None = None,
    ) -> None:
        self.rows, self.form, self.running, self._publish = rows, form, running, publish
        self._before = None if before is None or not _alike(before.rows, rows) else before._chains
        self.model: Any = None
        self.places, self.tables = _places(rows), list[ChainTables]()
        self.said: list[str] = []
        self._said_first: list[str] = []
        self._begun: Begun | None = None
        if form.parameters(rows.kind).get("noise") != "auto":  # choosing it takes a while, which nobody is to wait for
            self._prepare()
        self.phase, self.error, self.continued = "preparing", "", False
        self.diagnostics: Diagnostics | None = None
        self.frames, self.publishing, self.spent, self._began = 0, 0.0, 0.0, 0.0
        self._chains: list[LeanChain] = []
        self._new: list[list[ChainDraws]] = [[] for _ in range(running.n_chains)]
        self._now: list[FloatArray | None] = [None] * running.n_chains
        self._cpu = [0.0] * running.n_chains
        self._lock, self._stop = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None

    def _prepare(self) -> None:
        """Check everything; choose the noise if that is asked for."""
        with gathered_warnings() as said:
            self._begun = begin(self.rows, self.form, self.running)
        self.said = self._said_first = said
        self.tables = [
            ChainTables(self._begun.problem, self._begun.offset, self.places, self.running.seed + i, self.rows)
            for i in range(self.running.n_chains)
        ]

    @property
    def begun(self) -> Begun:
        """The estimator and its problem, once they are prepared."""
        assert self._begun is not None
        return self._begun

    # --- what others may do --------------------------------------------------------------------------------------

    def start(self) -> None:
        """Run until the draws are made, time is up, or `stop`."""
        self._stop.clear()
        self.model = None
        self._thread = threading.Thread(target=self._run, name="fit", daemon=True)
        self._thread.start()

    def stop(self, wait: float = _PATIENCE) -> None:
        """End at the next chance; waits for it so many seconds."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(wait)

    @property
    def rests(self) -> bool:
        """Whether no chain runs."""
        return self._thread is None or not self._thread.is_alive()

    def go_on(self, more: int) -> None:
        """Go on from where the chains stand; if they were done, for so many more draws of each."""
        self.require_rest()
        if self._chains and all(c.finished for c in self._chains):
            for chain in self._chains:
                chain.n_draws += more
        self.start()

    def require_rest(self) -> None:
        """Stop, and refuse to go on if that takes too long: the page is not to wait for one long sweep."""
        self.stop()
        if not self.rests:
            raise StatementError("the chains are in the midst of a long sweep: try again when they have stopped")

    @property
    def seconds(self) -> float:
        """Seconds that chains have run."""
        return self.spent + (time.monotonic() - self._began if self.phase == "running" else 0.0)

    @property
    def sweeps(self) -> tuple[int, int]:
        """Sweeps made and to be made, over all chains."""
        return sum(c.n_sweeps for c in self._chains), sum(c.total_sweeps for c in self._chains)

    @property
    def warming_up(self) -> bool:
        """Whether no chain has made its warm-up."""
        return all(c.n_sweeps < c.n_warmup for c in self._chains)

    def standing(self) -> list[FloatArray]:
        """Where each chain stands: f at the places, weights at their means."""
        return [now for now in self._now if now is not None]

    # --- the threads ---------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._to("preparing")
            if self._begun is None:
                self._prepare()
            if self._stop.is_set():
                self._to("stopped")
                return
            if not self._chains:
                self._make()
            self._began = time.monotonic()
            self._to("running")
            threads = [
                threading.Thread(target=self._run_chain, args=(i,), daemon=True) for i in range(len(self._chains))
            ]
            for thread in threads:
                thread.start()
            self._watch(threads)
            self.spent += time.monotonic() - self._began
            if not self.error:
                self._settle()
        except PorbnetError as error:
            self.error = str(error)
        except Exception as error:
            self.error = f"{type(error).__name__}: {error}"
        if self.error:
            self._to("failed")

    def _to(self, phase: str) -> None:
        self.phase = phase
        self._publish(self)

    def _make(self) -> None:
        running, sampler = self.running, sampler_of("collapsed")
        before = [] if self._before is None else self._before
        n_warmup = running.n_warmup // _LESS_WARMUP if before else running.n_warmup
        for i, seed in enumerate(self.begun.root.spawn(running.n_chains)):
            chain = sampler.make_chain(self.begun.problem, seed, n_warmup, running.n_draws, running.thin)
            if before and begin_where(chain, before[i % len(before)]):
                self.continued = True
            self._chains.append(chain)
        self._before = None

    def _run_chain(self, index: int) -> None:
        chain, n_sweeps = self._chains[index], 1
        started = time.thread_time() - self._cpu[index]
        try:
            while not chain.finished and not self._stop.is_set() and self.seconds < self.running.seconds:
                before = time.perf_counter()
                n_pieces = len(chain.pieces)
                made = chain.advance(n_sweeps)
                elapsed = max(time.perf_counter() - before, 1e-6)
                n_sweeps = int(np.clip(made * _CHUNK_SECONDS / elapsed, 1, 4 * n_sweeps + 1))
                with self._lock:
                    self._new[index] += chain.pieces[n_pieces:]
                if chain.n_sweeps < chain.n_warmup:
                    self._now[index] = SHOWN[self.rows.kind].link(_standing(chain, self.places, self.begun.offset))
        except Exception as error:
            self.error = str(error) if isinstance(error, PorbnetError) else f"{type(error).__name__}: {error}"
            self._stop.set()
        self._cpu[index] = time.thread_time() - started

    def _watch(self, threads: list[threading.Thread]) -> None:
        """Pictures and verdicts until the chains rest."""
        next_verdict = time.monotonic() + _VERDICT_SECONDS
        while any(t.is_alive() for t in threads):
            began, cpu = time.monotonic(), time.thread_time()
            self._take_in()
            if began > next_verdict and self._judge():
                took = time.monotonic() - began
                next_verdict = began + max(_VERDICT_SECONDS, took / _VERDICT_SHARE)
            self.frames += 1
            self._publish(self)
            self.publishing += time.thread_time() - cpu
            until = began + _FRAME_SECONDS
            while (left := until - time.monotonic()) > 0 and any(t.is_alive() for t in threads):
                threads[0].join(left) if threads[0].is_alive() else time.sleep(min(left, 0.02))
        for thread in threads:
            thread.join()
        self._take_in()

    def _take_in(self) -> None:
        with self._lock:
            new, self._new = self._new, [[] for _ in self._new]
        for table, pieces in zip(self.tables, new, strict=True):
            for one in pieces:
                table.add(one)

    def _judge(self) -> bool:
        """A verdict on the draws so far; whether there are enough to say anything."""
        pieces = [list(c.pieces) for c in self._chains]
        lengths = [sum(len(p) for p in some) for some in pieces]
        n = min(lengths)
        if n < _FEWEST_JUDGED:
            return False
        problem = self.begun.problem
        results = [ChainResult(posterior_of(problem, some, 0.0).draws.first(n), {}, 0, 0.0, 0.0) for some in pieces]
        with gathered_warnings():
            self._diagnose(self._posterior(results), out_of_time=False)
        return True

    def _posterior(self, results: list[ChainResult]) -> Posterior:
        found = Posterior(self.begun.problem, results, self.begun.offset)
        return found if self.begun.problem.likelihood.integrates else reweighed(found)

    def _diagnose(self, posterior: Posterior, out_of_time: bool) -> Diagnostics:
        effort = Effort(self.seconds, None, posterior.n_draws_per_chain, out_of_time)
        self.diagnostics = found = diagnose(posterior, effort, self.begun.fit._described_place)
        return found

    def _settle(self) -> None:
        """A fitted model of what there is."""
        results = [
            ChainResult(c.draws(), c.acceptance(), *c.trouble(), self._cpu[i]) for i, c in enumerate(self._chains)
        ]
        done = all(c.finished for c in self._chains)
        if min(len(r.draws) for r in results) == 0:
            self._to("stopped" if self._stop.is_set() else "out of time")
            return
        with gathered_warnings() as said:
            results = results if done else common_length(results)
            begun, fit = self.begun, self.begun.fit
            fit.prior_, fit.offset_ = begun.problem.prior, begun.offset
            fit.posterior_ = self._posterior(results)
            fit.diagnostics_ = self._diagnose(fit.posterior_, not done and not self._stop.is_set())
            for part in (fit, begun.model):
                part.set_params(n_draws=fit.posterior_.n_draws_per_chain, n_chains=len(results))
            warn_of_weights(fit.posterior_)
            said += noise_sentences(fit)
            model = begun.finish()
        self.said = list(dict.fromkeys([*self._said_first, *said]))
        self.model = model
        self._to("done" if done else "stopped" if self._stop.is_set() else "out of time")


def _standing(chain: LeanChain, places: FloatArray, offset: float) -> FloatArray:
    """Values of f at places for the units and mean weights at which a chain stands."""
    from porbnet.functions.network import Networks, Trend

    units, scaling, slopes = chain.state.units, chain.problem.scaling, chain.state.rows.slopes
    n = units.n
    bias = float(units.mean[0]) if chain.problem.prior.bias > 0 else 0.0
    line = Trend(slopes[None] * scaling.y_scale / scaling.divisor, chain.problem.prior.middle) if len(slopes) else None
    network = Networks(
        np.array([0, n]),
        scaling.centers(units.centers[:n]),
        units.scales[:n] / scaling.size,
        units.mean[1 : n + 1] * scaling.y_scale,
        np.array([offset + bias * scaling.y_scale]),
        chain.problem.prior.anisotropy,
        trend=line,
    )
    return np.asarray(network(places)[0])


def _places(rows: Rows) -> FloatArray:
    n_dims = rows.n_dims
    if n_dims > 2:
        middle = np.median(rows.X, axis=0)
        slices = np.tile(middle, (min(n_dims, MOST_SLICES), SLICE_PLACES, 1))
        for d, (low, high) in enumerate(rows.ends()[:MOST_SLICES]):
            slices[d, :, d] = np.linspace(low, high, SLICE_PLACES)
        return slices.reshape(-1, n_dims)
    sides = [np.linspace(low, high, LINE_PLACES if n_dims == 1 else MAP_SIDE) for low, high in rows.ends()]
    return np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, n_dims)


def _alike(old: Rows, new: Rows) -> bool:
    """Whether a state of chains of the ones has a meaning for the others."""
    return old.kind == new.kind and old.names[:-1] == new.names[:-1]
