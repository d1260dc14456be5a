"""A map over tasks, in parallel, whose results are kept in files as they are made: nothing is computed twice.

Tasks run by joblib (processes, threads, or whatever `joblib.parallel_config` says) or on a Dask cluster. Each result is
on disk before its task counts as done, in a file named by the caller's key; a map that was interrupted, or asked for
more tasks, does what is missing. Tasks do not know of each other, so that results do not depend on their order or on
where they run.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from porbnet.base.file_system import replace
from porbnet.work.bounded import Lost, on_cluster

Function = Callable[..., dict[str, Any]]


@dataclass(eq=False)
class ResumableMap:
    """Where tasks run and where their results are kept.

    Parameters
    ----------
    folder : Path
        Of the kept results; made if need be. On a Dask cluster workers and client must both reach it.
    key : callable
        Takes a function and a task, returns a name that changes with whatever the result depends on.
    n_jobs : int
        Tasks at a time, as in joblib.
    progress : bool
        A line per task on standard error.
    client : dask.distributed.Client, optional
        Run the tasks on its cluster instead; a task whose worker dies runs on another one.

    Attributes
    ----------
    n_reused, n_computed : int
        Results read from files, and made, so far.

    Examples
    --------
    >>> import tempfile
    >>> def square(value):
    ...     return {"square": value**2}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     first = ResumableMap(Path(folder), lambda function, task: str(task["value"]))
    ...     first.map(square, [{"value": 2}])
    ...     second = ResumableMap(Path(folder), first.key)
    ...     second.map(square, [{"value": 2}, {"value": 3}]), second.n_reused
    [{'square': 4}]
    ([{'square': 4}, {'square': 9}], 1)
    """

    folder: Path
    key: Callable[[Function, dict[str, Any]], str]
    n_jobs: int = 1
    progress: bool = False
    client: Any = None
    n_reused: int = field(default=0, init=False)
    n_computed: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)

    def map(self, function: Function, tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Results of `function(**task)` for every task, in their order; those kept from before are read.

        A function must be at the top level of its module (for processes), take what JSON can hold, and return a dict
        that it can. A missing optional package does not end the map: such a task gives {"missing": why}, which is not
        kept.
        """
        name = function.__name__.strip("_")
        paths = [self.folder / f"{name}-{self.key(function, task)}.json" for task in tasks]
        found = [_read(path) for path in paths]
        todo = [i for i, kept in enumerate(found) if kept is None]
        self.n_reused += len(tasks) - len(todo)
        made = self._made(function, [(tasks[i], paths[i]) for i in todo])
        for done, (place, result) in enumerate(made, start=1):
            found[todo[place]] = result
            self.n_computed += 1
            if self.progress:
                words = ", ".join(str(v) for v in tasks[todo[place]].values() if isinstance(v, str | int))
                print(f"  {name} {done}/{len(todo)}: {words[:90]}", file=sys.stderr, flush=True)
        return [result for result in found if result is not None]

    def _made(self, function: Function, todo: list[tuple[dict[str, Any], Path]]) -> Iterator[tuple[int, Any]]:
        """Place and result of every task, as they are made."""
        if self.client is not None:

            def submit(task: tuple[int, tuple[dict[str, Any], Path]]) -> Any:
                return self.client.submit(_run, function, *task[1], pure=False)

            for (place, _), result in on_cluster(self.client, submit, enumerate(todo)):
                if isinstance(result, Lost):
                    raise result.error
                yield place, result
            return
        from joblib import Parallel, delayed

        # processes by default, since samplers of other packages hold the lock of the interpreter
        n_jobs = min(self.n_jobs, max(len(todo), 1))
        results = Parallel(n_jobs=n_jobs, return_as="generator")(delayed(_run)(function, *work) for work in todo)
        yield from enumerate(results)


def _run(function: Function, task: dict[str, Any], path: Path) -> dict[str, Any]:
    """One task on one core; its result is on disk before anything else can go wrong."""
    from threadpoolctl import threadpool_limits

    kept = _read(path)
    if kept is not None:  # made already, by a worker that died before it could say so
        return kept
    try:
        with threadpool_limits(1):
            result = function(**task)
    except ImportError as error:
        return {"missing": str(error)}
    text = json.dumps(result, allow_nan=False)
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_text(text, encoding="utf-8")
    replace(temporary, path)
    return dict(json.loads(text))


def _read(path: Path) -> dict[str, Any] | None:
    """A kept result; a damaged file counts as none."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
