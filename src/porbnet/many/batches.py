"""A batch of series, fitted one after the other by whoever has it: a thread here, or a worker of a cluster."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porbnet.errors import StatementError
from porbnet.many.guard import Guard, Guards, guards_of
from porbnet.many.kept import Folder, Log, Row
from porbnet.many.series_keys import Key, key_of, seed_of
from porbnet.many.series_tables import Roles, Series, split
from porbnet.many.sources import Batch

_MOST_BYTES = 64 * 2**20  # of models that travel at once
_TRIES = 2  # of a series whose process dies


@dataclass(frozen=True, eq=False)
class Plan:
    """What is to be done with every series.

    run : name of the run
    estimator : pickled
    roles : of the columns
    seed : of all
    folder : of the results; whoever sees `token` in it writes there
    models : "files", "archive" or "none"
    loo : whether leave-one-out is computed
    most_seconds : after which a series is taken to hang; None for never
    """

    run: str
    estimator: bytes
    roles: Roles
    seed: int
    folder: str
    models: str
    loo: bool
    most_seconds: float | None

    @property
    def token(self) -> Path:
        """A file that tells who sees the folder."""
        return Path(self.folder) / f".{self.run}.token"


@dataclass(eq=False)
class Outcome:
    """What came of a batch.

    n_fitted, n_failed : series
    rest : keys that were not come to
    carried : rows and models that whoever asked has to write, as the folder is not seen from here
    """

    n_fitted: int = 0
    n_failed: int = 0
    rest: set[Key] = field(default_factory=set)
    carried: list[tuple[Row, bytes | None]] = field(default_factory=list)

    def note(self, key: Key, fitted: bool) -> None:
        """A series is done."""
        self.rest.discard(key)
        self.n_fitted, self.n_failed = self.n_fitted + fitted, self.n_failed + (not fitted)


def run_batch(
    plan: Plan, batch: Batch, frames: tuple[Any, ...] = (), told: Callable[[bool], None] | None = None
) -> Outcome:
    """Fit the series of a batch. What is kept of it already, by a worker that has died, is not done again.

    frames : parts of the batch, if they are here already
    told : called after each series, with whether it is fitted
    """
    log = Log(Folder(plan.folder), f"{plan.run}-{batch.name}") if plan.token.exists() else None
    outcome = Outcome(rest=set(batch.keys))
    for key in outcome.rest.intersection(() if log is None else log.done):
        outcome.note(key, log is not None and log.done[key])
    frames = frames or tuple(part.read(plan.roles.names) for part in batch.parts)
    guards, cancelled, carried = guards_of(plan.run), _cancelled(), 0
    with tempfile.TemporaryDirectory(prefix="porbnet-") as scratch:
        for values, series in split(frames, plan.roles, frozenset(outcome.rest)):
            row, content = _fitted(plan, guards, log, values, series, Path(scratch))
            if row is None or guards.closed or cancelled():  # what was not let finish is nobody's
                break
            if log is None:
                outcome.carried.append((row, content))
                carried += 0 if content is None else len(content)
            else:
                if content is not None:
                    row["model"] = log.archive(key_of(values), content)
                log.add(row)
            outcome.note(key_of(values), "failed" not in row)
            if told is not None:
                told("failed" not in row)
            if carried > _MOST_BYTES:
                break
    return outcome


def _fitted(
    plan: Plan, guards: Guards, log: Log | None, values: tuple[Any, ...], series: Series | StatementError, scratch: Path
) -> tuple[Row | None, bytes | None]:
    """The row of a series, and its model if that is not in a file of its own; None if one is to stop."""
    key = key_of(values)
    seed = seed_of(plan.seed, key)
    row: Row = {"key": list(values), "run": plan.run, "seed": seed}
    if isinstance(series, StatementError):
        return row | {"failed": str(series)}, None
    path = None if plan.models == "none" else scratch / "model.npz"
    own_file = log is not None and plan.models == "files"
    if log is not None and own_file:
        path = log.model_path(key)
    request = {
        "series": series, "seed": seed, "labels": [*plan.roles.x, plan.roles.y], "loo": plan.loo,
        "path": None if path is None else os.fspath(path),
    }  # fmt: skip
    found = _asked(guards, plan.estimator, request, plan.most_seconds)
    if found is None:
        return None, None
    row |= {"n": len(series.y), "n_given": series.n_given, **found}
    if "failed" in found or path is None:
        return row, None
    if own_file:
        return row | {"model": {"file": path.name}}, None
    return row, path.read_bytes()


def _asked(
    guards: Guards, estimator: bytes, request: Mapping[str, Any], most_seconds: float | None
) -> dict[str, Any] | None:
    """Ask a process, and another one should it die; None if all are told to stop."""
    how = ""
    for _ in range(_TRIES):
        guard: Guard = guards.take()
        found = guard.fit(estimator, dict(request), most_seconds)
        if guards.closed:
            guards.drop(guard)
            return None
        if found is None:
            how = guard.how_it_died()
            guards.drop(guard)
            continue
        if guard.ended:
            guards.drop(guard)
        else:
            guards.give_back(guard)
        return found
    return {"failed": f"the process that fitted it {how}, twice"}


def _cancelled() -> Callable[[], bool]:
    """Whether a cluster has lost interest in the task that this thread works on: its client is gone, or stopped."""
    if "distributed" not in sys.modules:
        return lambda: False
    with contextlib.suppress(ImportError, ValueError, AttributeError):
        from distributed.worker import get_worker, thread_state  # type: ignore[attr-defined]

        worker, key = get_worker(), thread_state.key
        return lambda: getattr(worker.state.tasks.get(key), "state", "gone") not in ("executing", "long-running")
    return lambda: False
