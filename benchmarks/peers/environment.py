"""A virtual environment of its own for a peer: made once under a cache folder, so that ours stays as it is."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def cache_folder() -> Path:
    """Where the environments are kept: PORBNET_BENCHMARK_CACHE, else porbnet-benchmarks in the user's cache folder."""
    stated = os.environ.get("PORBNET_BENCHMARK_CACHE")
    if stated:
        return Path(stated)
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "porbnet-benchmarks"


def python_of(name: str, packages: list[str], check: str) -> Path | None:
    """The interpreter of environment `name`, made by venv and pip if it is not there; None (said why) if it cannot be.

    check : a statement that must run in it, such as "import numpyro"
    """
    folder = cache_folder() / name
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if python.exists() and _runs([str(python), "-c", check]) is None:
        return python
    print(f"making an environment with {' '.join(packages)} in {folder} (once, some minutes) ...", flush=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages]
    for command in ([sys.executable, "-m", "venv", str(folder)], install, [str(python), "-c", check]):
        problem = _runs(command)
        if problem is not None:
            print(f"skipped {name}: {' '.join(command)} failed: {problem}", flush=True)
            return None
    return python


def _runs(command: list[str]) -> str | None:
    """None if the command succeeds, else the last line of what it said."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return str(error)
    if done.returncode == 0:
        return None
    said = (done.stderr or done.stdout).strip().splitlines()
    return said[-1] if said else f"exit code {done.returncode}"
