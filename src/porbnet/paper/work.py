"""Tasks of a run: in parallel, each kept in a file named after its content, so that nothing is computed twice.

The name is a hash of the task's function, its arguments, the version, and the source of everything that could change
its result: the package but for pictures, command line and this folder; and the module of the function but for what
draws and judges. A run that was interrupted, or whose pictures were changed, picks up where it was.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

import porbnet.errors
from porbnet.paper.settings import Settings

_AFTERWARDS = ("draw", "claims", "table", "_draw", "_claims")  # functions that work on numbers already computed
_NOT_HASHED = ("paper", "cli", "interop", "plot", "summary.py", "html.py", "files.py")
_SHARED = ("protocol.py", "models.py", "synthetic.py")

Task = Callable[..., dict[str, Any]]


class Work:
    """Where tasks run and where their results are kept.

    Parameters
    ----------
    folder : Path
        Of the kept results.
    settings : Settings
    n_jobs : int
        Tasks at a time, each on one core.
    progress : bool
        A line per task on standard error.
    """

    def __init__(self, folder: Path, settings: Settings, n_jobs: int = 1, progress: bool = False) -> None:
        self.folder, self.settings, self.n_jobs, self.progress = folder, settings, n_jobs, progress
        self.n_reused = self.n_computed = 0
        folder.mkdir(parents=True, exist_ok=True)

    def map(self, function: Task, tasks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """Results of `function(**task)` for every task, in their order; those kept from before are read.

        A function must be at the top level of its module, take what JSON can hold, and return a dict that it can. A
        missing optional package does not end the run: such a task gives {"missing": why}, which is not kept.
        """
        from joblib import Parallel, delayed

        paths = [self.folder / f"{function.__name__.strip('_')}-{key(function, task)}.json" for task in tasks]
        found = [_read(path) for path in paths]
        todo = [i for i, kept in enumerate(found) if kept is None]
        self.n_reused += len(tasks) - len(todo)
        # processes, since samplers of other packages hold the lock of the interpreter
        results = Parallel(n_jobs=min(self.n_jobs, max(len(todo), 1)), return_as="generator")(
            delayed(_run)(function, tasks[i], paths[i]) for i in todo
        )
        for done, (i, result) in enumerate(zip(todo, results, strict=True), start=1):
            found[i] = result
            self.n_computed += 1
            if self.progress:
                words = ", ".join(str(v) for v in tasks[i].values() if isinstance(v, str | int))
                print(f"  {function.__name__.strip('_')} {done}/{len(todo)}: {words[:90]}", file=sys.stderr, flush=True)
        return [result for result in found if result is not None]


def _run(function: Task, task: dict[str, Any], path: Path) -> dict[str, Any]:
    """One task on one core; its result is on disk before anything else can go wrong."""
    from threadpoolctl import threadpool_limits

    try:
        with threadpool_limits(1):
            result = function(**task)
    except ImportError as error:
        return {"missing": str(error)}
    temporary = path.with_suffix(f".{os.getpid()}.part")
    temporary.write_text(json.dumps(result, allow_nan=False), encoding="utf-8")
    temporary.replace(path)
    return dict(json.loads(json.dumps(result)))


def _read(path: Path) -> dict[str, Any] | None:
    """A kept result; a damaged file counts as none."""
    try:
        return dict(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None


def key(function: Task, task: dict[str, Any]) -> str:
    """The name of a result: a hash of all that it depends on."""
    parts = [function.__qualname__, json.dumps(task, sort_keys=True), _package_hash(), _module_hash(function)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.cache
def _package_hash() -> str:
    """Of the version and the source of the package, as far as numbers depend on it."""
    root = Path(porbnet.errors.__file__).parent
    digest = hashlib.sha256(metadata.version("porbnet").encode())
    for path in sorted(root.rglob("*.py")):
        inside = path.relative_to(root).parts
        if inside[0] not in _NOT_HASHED or (inside[0] == "paper" and inside[-1] in _SHARED):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def _module_hash(function: Task) -> str:
    """Of the source of a function's module without what only draws and judges."""
    source = Path(str(sys.modules[function.__module__].__file__)).read_text(encoding="utf-8")
    return _source_hash(source)


def _only_words(node: ast.stmt) -> bool:
    """Whether a statement of a module does not bear on its numbers: what draws, judges and describes."""
    if isinstance(node, ast.Assign):
        return ast.unparse(node.targets[0]) in ("TITLE", "WHERE", "ABOUT")
    return isinstance(node, ast.FunctionDef) and node.name.startswith(_AFTERWARDS)


@functools.cache
def _source_hash(source: str) -> str:
    tree = ast.parse(source)
    tree.body = [node for node in tree.body if not _only_words(node)]
    return hashlib.sha256(ast.unparse(tree).encode()).hexdigest()
