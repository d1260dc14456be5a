"""One call of `fit_many`: scan the source, fit what is missing, put the results in order."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from porbnet.errors import PorbnetWarning, StatementError
from porbnet.many.batches import Outcome, Plan, run_batch
from porbnet.many.guard import close_run
from porbnet.many.kept import Folder, Log
from porbnet.many.many_fits import ManyFits
from porbnet.many.series_keys import Key, key_of
from porbnet.many.sources import Batch, Partition, Source, counted
from porbnet.work.bounded import Lost, by_threads, on_cluster

_MOST_IN_BATCH = 50
_BATCHES_PER_JOB = 8  # if there are enough series, so that none waits long for the last one
_MOST_PARTITIONS = 4  # of a Dask frame that are kept on the cluster for the batches to come


class ManyRun:
    """One call: scan, fit what is missing, put the results in order."""

    def __init__(
        self, plan: Plan, folder: Folder, source: Source, client: Any, n_jobs: int, batch_size: int | None,
        in_all: float | None, progress: bool | None,
    ) -> None:  # fmt: skip
        self.plan, self.folder, self.source, self.client, self.n_jobs = plan, folder, source, client, n_jobs
        self.batch_size, self.progress = batch_size, progress
        self.until = None if in_all is None else time.monotonic() + in_all
        self.n_fitted = self.n_failed = 0
        self._kept_futures: dict[int, Any] = {}

    def through(self) -> ManyFits:
        """Do it."""
        self.source.scan(self.plan.roles.by, self._counts)
        if not self.source.series:
            raise StatementError(f"frame has no series: no row has a value in {', '.join(self.plan.roles.by)}")
        if self.source.n_lost:
            text = f"{self.source.n_lost:,} rows without a value of {', '.join(self.plan.roles.by)} are left out"
            warnings.warn(text, PorbnetWarning, stacklevel=3)
        todo = self._todo()
        self.plan.token.touch()
        bar = self._bar(len(todo))
        try:
            self._fit(todo, bar)
        except KeyboardInterrupt:
            pass  # what is done is kept
        finally:
            bar.close()
            self._close()
        return self._finished(len(todo))

    def _counts(self, parts: list[Any]) -> Iterator[tuple[int, Any]]:
        """What every part holds, asked of the cluster's workers if there is one."""
        by = self.plan.roles.by
        if self.client is None or len(parts) == 1:
            for i, part in enumerate(parts):
                yield i, counted(part, by)
            return

        def submit(task: tuple[int, Any]) -> Any:
            part = task[1].future(self.client) if isinstance(task[1], Partition) else task[1]
            return self.client.submit(counted, part, by, pure=False)

        for (i, _), found in on_cluster(self.client, submit, enumerate(parts)):
            if isinstance(found, Lost):
                raise found.error
            yield i, found

    def _todo(self) -> list[Key]:
        """Series without a fit of as many rows as there are now."""
        done = {
            key_of(row["key"]): row["n_given"] for row in self.folder.rows() if "failed" not in row and "n_given" in row
        }
        found = [key for key in self.source.series if done.get(key) != self.source.n_rows(key)]
        self.n_reused = len(self.source.series) - len(found)
        return found

    def _fit(self, todo: list[Key], bar: Any) -> None:
        workers = self.n_jobs if self.client is None else max(sum(self.client.nthreads().values()), 1)
        size = self.batch_size or int(np.clip(len(todo) // (workers * _BATCHES_PER_JOB), 1, _MOST_IN_BATCH))
        batches = self._queue(self.source.batches(todo, size, self.plan.roles))
        if self.client is None:

            def local(batch: Batch) -> Outcome:
                return run_batch(self.plan, batch, told=bar.update_one)

            done = by_threads(local, batches, self.n_jobs, self._time_is_up, lambda: close_run(self.plan.run))
        else:
            done = on_cluster(self.client, self._submit, batches, self._time_is_up)
        with contextlib.closing(done):  # type: ignore[type-var]
            for batch, outcome in done:
                self._take(batch, outcome, bar)

    def _queue(self, batches: Iterator[Batch]) -> Iterator[Batch]:
        """Batches, and what is left of those that came back unfinished."""
        self._again: list[Batch] = []
        for batch in batches:
            yield batch
            while self._again:
                yield self._again.pop()
        while self._again:
            yield self._again.pop()

    def _submit(self, batch: Batch) -> Any:
        frames = tuple(self._future(part) for part in batch.parts if isinstance(part, Partition))
        sent = Batch(batch.name, batch.keys, ()) if frames else batch
        return self.client.submit(run_batch, self.plan, sent, frames, pure=False)

    def _future(self, part: Partition) -> Any:
        """The partition on the cluster, kept there while batches of it are sent."""
        if id(part) not in self._kept_futures:
            if len(self._kept_futures) >= _MOST_PARTITIONS:
                self._kept_futures.pop(next(iter(self._kept_futures)))
            self._kept_futures[id(part)] = part.future(self.client)
        return self._kept_futures[id(part)]

    def _take(self, batch: Batch, outcome: Any, bar: Any) -> None:
        if isinstance(outcome, Lost):
            self._lose(batch, outcome.error, bar)
            return
        log = Log(self.folder, f"{self.plan.run}-{batch.name}-sent") if outcome.carried else None
        for row, content in outcome.carried:
            if log is None:
                continue
            if content is not None and self.plan.models == "archive":
                row["model"] = log.archive(key_of(row["key"]), content)
            elif content is not None:
                path = log.model_path(key_of(row["key"]))
                path.write_bytes(content)
                row["model"] = {"file": path.name}
            log.add(row)
        self.n_fitted += outcome.n_fitted
        self.n_failed += outcome.n_failed
        if self.client is not None:
            bar.update(outcome.n_fitted, outcome.n_failed)
        if outcome.rest and not self._time_is_up():
            self._again.append(Batch(batch.name, frozenset(outcome.rest), batch.parts))

    def _lose(self, batch: Batch, error: BaseException, bar: Any) -> None:
        """A batch that nobody could finish: what it has done stands, the rest are failures."""
        log = Log(self.folder, f"{self.plan.run}-{batch.name}")
        known = [log.done[key] for key in batch.keys.intersection(log.done)]
        for key in sorted(batch.keys.difference(log.done)):
            reason = f"its batch was lost: {type(error).__name__}: {' '.join(str(error).split())[:200]}"
            log.add({"key": list(self.source.values[key]), "run": self.plan.run, "failed": reason})
            self.n_failed += 1
            bar.update(0, 1)
        self.n_fitted += sum(known)
        self.n_failed += len(known) - sum(known)
        bar.update(sum(known), len(known) - sum(known))

    _stopped = False

    def _time_is_up(self) -> bool:
        if self.until is not None and time.monotonic() > self.until and not self._stopped:
            self._stopped = True
            close_run(self.plan.run)
        return self._stopped

    def _close(self) -> None:
        close_run(self.plan.run)
        self._kept_futures.clear()
        if self.client is not None:
            with contextlib.suppress(Exception):  # workers that are gone have nothing to close
                self.client.run(close_run, self.plan.run)
        with contextlib.suppress(OSError):
            self.plan.token.unlink()

    def _finished(self, n_todo: int) -> ManyFits:
        self.folder.settle()
        left = n_todo - self.n_fitted - self.n_failed
        stopped = ("time is up" if self._stopped else "interrupted") if left else ""
        fits = ManyFits(
            self.folder.place, n_fitted=self.n_fitted, n_reused=self.n_reused, n_missing=left, stopped=stopped
        )
        fits.write()
        if left:
            text = f"{stopped}: {left:,} of {len(self.source.series):,} series are not fitted"
            warnings.warn(f"{text}; the same call again goes on", PorbnetWarning, stacklevel=4)
        return fits

    def _bar(self, total: int) -> Any:
        shown = sys.stderr.isatty() if self.progress is None else bool(self.progress)
        return _Bar(total, shown)


class _Bar:
    """Progress over series, with the time left and how many have failed."""

    def __init__(self, total: int, shown: bool) -> None:
        from tqdm.auto import tqdm

        self._bar = tqdm(total=total, unit="series", disable=not shown, smoothing=0.05)
        self._failed = 0

    def update(self, fitted: int, failed: int) -> None:
        """Some are done."""
        self._failed += failed
        if self._failed:
            self._bar.set_postfix_str(f"{self._failed} failed", refresh=False)
        self._bar.update(fitted + failed)

    def update_one(self, fitted: bool) -> None:
        """One is done."""
        self.update(int(fitted), int(not fitted))

    def close(self) -> None:
        """No more."""
        self._bar.close()
