"""Tasks done in parallel, only so many under way at a time, results as they come: by threads, or on a Dask cluster."""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from queue import Empty, SimpleQueue
from typing import Any

from porbnet.errors import StatementError

_LOOK_SECONDS = 0.5
_TRIES = 2  # of a task that has ended several workers


@contextlib.contextmanager
def connected(address: str) -> Iterator[Any]:
    """A client of the cluster whose scheduler has this address."""
    try:
        from distributed import Client
    except ImportError as error:
        raise StatementError("a cluster needs Dask: pip install 'porbnet[cluster]'") from error
    try:
        client = Client(address, timeout="10s")  # type: ignore[no-untyped-call]
    except (OSError, ValueError) as error:
        raise StatementError(f"the scheduler at {address!r} cannot be reached: {error}") from error
    with client:
        yield client


class Lost:
    """In place of a result: what has ended a task that nobody could finish."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def by_threads(
    function: Callable[..., Any],
    tasks: Iterable[Any],
    n_jobs: int,
    stop: Callable[[], bool] = lambda: False,
    abandon: Callable[[], None] = lambda: None,
) -> Iterator[tuple[Any, Any]]:
    """Pairs of a task and `function(task)`, as they are done; no new ones once `stop` says so.

    Tasks are taken from the iterable when there is room for them. A task that raises an error gives `Lost`. After an
    interrupt `abandon` is called, which is to bring those under way to an end.
    """
    waiting, pool = iter(tasks), ThreadPoolExecutor(n_jobs)
    under_way: dict[Any, Any] = {}
    try:
        while True:
            room = 0 if stop() else n_jobs - len(under_way)
            for task in itertools.islice(waiting, room):
                under_way[pool.submit(function, task)] = task
            if not under_way:
                return
            done, _ = wait(under_way, timeout=_LOOK_SECONDS, return_when=FIRST_COMPLETED)
            for future in done:
                error = future.exception()
                yield under_way.pop(future), future.result() if error is None else Lost(error)
    except BaseException:
        abandon()
        raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def on_cluster(
    client: Any,
    submit: Callable[[Any], Any],
    tasks: Iterable[Any],
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Any, Any]]:
    """Pairs of a task and the result of its future, as they are done; about two tasks per thread of the cluster.

    A task whose worker dies is done by another one; one that has ended several workers gives `Lost`, and so does one
    that raises an error. Futures that are under way when the generator is closed are cancelled.

    submit : makes the future of a task
    """
    from distributed.scheduler import KilledWorker

    waiting, done = iter(tasks), SimpleQueue()  # type: ignore[var-annotated]
    under_way: dict[Any, Any] = {}
    tries: dict[int, int] = {}
    room, looked = 2, 0.0

    def begin(task: Any) -> None:
        future = submit(task)
        under_way[future] = task
        future.add_done_callback(done.put)

    try:
        while True:
            if time.monotonic() - looked > _LOOK_SECONDS:  # workers come and go
                room, looked = max(2 * sum(client.nthreads().values()), 2), time.monotonic()
            for task in itertools.islice(waiting, 0 if stop() else max(room - len(under_way), 0)):
                begin(task)
            if not under_way or stop():
                return
            try:
                future = done.get(timeout=_LOOK_SECONDS)
            except Empty:
                continue
            task = under_way.pop(future)
            error = future.exception() if future.status in ("error", "cancelled", "lost") else None
            tries[id(task)] = tries.get(id(task), 0) + 1
            if isinstance(error, KilledWorker) and tries[id(task)] < _TRIES:
                begin(task)
                continue
            tries.pop(id(task))
            yield task, future.result() if error is None else Lost(error)
            future.release()
    finally:
        if under_way:
            client.cancel(list(under_way))
