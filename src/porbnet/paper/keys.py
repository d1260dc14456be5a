"""Names of kept results: a hash of all that a number of the paper depends on, so that only what changed is made anew.

The function, its arguments, the version, and the source of everything that could change its result: the package but for
pictures, command line and this folder; and the module of the function but for what draws and judges.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import json
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import porbnet.errors

_AFTERWARDS = ("draw", "claims", "table", "_draw", "_claims")  # functions that work on numbers already computed
_NOT_HASHED = ("paper", "cli", "interop", "plot", "show", "work", "storage")
_SHARED = ("protocol.py", "models.py", "synthetic.py")


def key(function: Callable[..., Any], task: dict[str, Any]) -> str:
    """The name of a result."""
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


def _module_hash(function: Callable[..., Any]) -> str:
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
