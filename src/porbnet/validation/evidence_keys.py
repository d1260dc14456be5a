"""Names of kept results: a hash of what draws depend on, so that evidence is made anew where a sampler has changed."""

from __future__ import annotations

import functools
import hashlib
import json
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import porbnet.errors

HASHED = ("functions", "intensity", "kernels", "likelihood", "sampling")


def key(function: Callable[..., Any], task: dict[str, Any]) -> str:
    """The name of a result: of the function, its arguments, its module, and the source that draws are made by."""
    parts = [function.__qualname__, json.dumps(task, sort_keys=True), source_hash(), _module_hash(function.__module__)]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:16]


@functools.cache
def source_hash() -> str:
    """Of the version and of all source that draws depend on."""
    root = Path(porbnet.errors.__file__).parent
    digest = hashlib.sha256(metadata.version("porbnet").encode())
    for room in HASHED:
        for path in sorted((root / room).rglob("*.py")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _module_hash(name: str) -> str:
    return hashlib.sha256(Path(str(sys.modules[name].__file__)).read_bytes()).hexdigest()
