"""Cells of the comparison: one peer, one problem, one split; run in a process of its own and kept as one JSON file."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from peers import problems, scores
from peers.registry import Peer

ADAPTERS = Path(__file__).parent / "adapters"
ONE_THREAD = {f"{each}_NUM_THREADS": "1" for each in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")} | {
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1",
    "JAX_PLATFORMS": "cpu",
    "JAX_ENABLE_X64": "1",
}
SPENT = ("import_seconds", "compile_seconds", "fit_seconds", "predict_seconds", "megabytes")
Cell = dict[str, Any]


class Store:
    """Finished cells: files in a folder, and those of an earlier run's file where there is no newer one."""

    def __init__(self, folder: Path, kept: Path) -> None:
        self.folder, self.kept = folder, kept
        folder.mkdir(parents=True, exist_ok=True)
        earlier = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {"machine": {}, "cells": []}
        self.machine: dict[str, Any] = earlier["machine"]
        self.cells: dict[tuple[str, str, int], Cell] = {_key(cell): cell for cell in earlier["cells"]}
        for file in sorted(folder.glob("*.json")):
            cell = json.loads(file.read_text(encoding="utf-8"))
            self.cells[_key(cell)] = cell

    def add(self, cell: Cell) -> None:
        """Keep a cell: written whole or not at all."""
        self.cells[_key(cell)] = cell
        file = self.folder / f"{cell['peer']}.{cell['problem']}.{cell['split']}.json".replace("*", "all")
        part = file.with_suffix(".part")
        part.write_text(json.dumps(cell, indent=1) + "\n", encoding="utf-8")
        part.replace(file)

    def write(self, machine: dict[str, Any]) -> None:
        """All cells as one file."""
        every = [self.cells[key] for key in sorted(self.cells)]
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(json.dumps(cell) for cell in every)
        self.kept.write_text(f'{{"machine": {json.dumps(machine)},\n"cells": [\n{lines}\n]}}\n', encoding="utf-8")


def _key(cell: Cell) -> tuple[str, str, int]:
    return cell["peer"], cell["problem"], int(cell["split"])


def run_cell(peer: Peer, python: Path, problem: str, split: int, seconds: float, limit: float) -> Cell:
    """Fit, predict and score; what went wrong, or that time was over, is told in the cell.

    seconds : that a sampler may take for its fit, where it can be told
    limit : CPU seconds after which the process is ended
    """
    part = problems.load(problem, split)
    cell: Cell = {"peer": peer.key, "problem": problem, "split": split, "n": len(part.y), "n_dims": part.X.shape[1]}
    with tempfile.TemporaryDirectory() as folder:
        stated, written = Path(folder) / "problem.npz", Path(folder) / "law.npz"
        np.savez(stated, X=part.X, y=part.y, X_test=part.X_test, y_test=part.y_test, seed=split, seconds=seconds)
        problem_said = _run([str(python), str(ADAPTERS / peer.adapter), str(stated), str(written)], peer, limit)
        if problem_said is not None:
            return {**cell, "failed": problem_said}
        with np.load(written) as law:
            cell |= {name: round(float(law[name]), 3) for name in SPENT}
            cell |= {"versions": str(law["versions"]), "note": str(law["note"]) if "note" in law else ""}
            try:
                cell |= scores.score(law, part.y_test, seed=split)
                if "f_draws" in law:
                    cell |= scores.effective_draws(law["f_draws"])
            except ValueError as error:
                return {**cell, "failed": str(error)}
    return cell


def _run(command: list[str], peer: Peer, limit: float) -> str | None:
    """None if the adapter came to its end, else why not."""
    environment = {**os.environ, **ONE_THREAD, **peer.variables}
    start = time.monotonic()
    process = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=lambda: _confine(limit),
    )  # fmt: skip
    try:
        said = process.communicate(timeout=20.0 * limit)[1]  # asleep: CPU time would never be over
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return f"no end in {time.monotonic() - start:.0f} s"
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        raise
    if process.returncode == 0:
        return None
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        return f"cut at {limit:.0f} CPU s" if process.returncode == -signal.SIGXCPU else "ended by the system"
    last = [line for line in said.strip().splitlines() if line.strip()]
    return (last[-1] if last else f"exit code {process.returncode}")[:200]


def _confine(limit: float) -> None:
    """So many CPU seconds; runs in the child before the adapter does."""
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))


def python_for(peer: Peer) -> Path | None:
    """The interpreter of a peer, or None (said why) if it cannot be had."""
    from peers.environment import python_of

    if not peer.environment:
        return Path(sys.executable)
    return python_of(peer.environment, list(peer.packages), peer.check)
