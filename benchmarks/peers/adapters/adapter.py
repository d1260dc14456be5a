"""What every adapter shares: read a problem, fit, predict, write the predictive law with CPU seconds and memory.

An adapter is one small file that runs in the peer's own environment and needs nothing of porbnet: NumPy and the peer.

    python sklearn_gp.py problem.npz law.npz

problem.npz: X (n, n_dims), y (n,), X_test (m, n_dims), y_test (m,), seed, seconds (that a sampler may take for a fit,
where it can be told).

law.npz: `form`, and what this form has (`scores.py` reads it):

    "mixture"     means (k, m), sds (k, m) or (k, 1): k equally probable normal laws per test point
    "quantiles"   levels (q,), quantiles (m, q), mean (m,)
    "samples"     log_density (m,), mean (m,), samples (m, s), interval (m, 2) of 90 %

Samplers add f_draws (n_chains, n_draws, n_places): f at the test points of `places`, drawn with each draw. And in any
case: import_seconds, compile_seconds, fit_seconds, predict_seconds (CPU, user and system, of the process and its
children), megabytes (peak of this process), versions, note.
"""

from __future__ import annotations

import os
import resource
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

N_PLACES = 20


def cpu_seconds() -> float:
    """CPU time so far, user and system, of this process and of children that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def megabytes() -> float:
    """Largest resident memory of this process so far."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent held when this process was started
        for text in status.read_text().splitlines():
            if text.startswith("VmHWM:"):
                return float(text.split()[1]) / 1024.0
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def places(n_test: int) -> np.ndarray:
    """Test points at which f is looked at draw by draw."""
    return np.linspace(0, n_test - 1, min(N_PLACES, n_test)).astype(int)


class Problem:
    """Rows to fit and to test, as arrays; the seed; seconds that a fit may take."""

    def __init__(self, path: str) -> None:
        with np.load(path) as stored:
            self.X, self.y = stored["X"], stored["y"]
            self.X_test, self.y_test = stored["X_test"], stored["y_test"]
            self.seed, self.seconds = int(stored["seed"]), float(stored["seconds"])
        self.ready = cpu_seconds()

    def compiled(self) -> None:
        """To be called by `fit` when all is compiled: what went before is told apart."""
        self.ready = cpu_seconds()

    def time_is_over(self) -> bool:
        """Whether the fit has had the time that a sampler may take."""
        return cpu_seconds() - self.ready > self.seconds


def run(
    fit: Callable[[Problem], Any], predict: Callable[[Any, Problem], dict[str, Any]], versions: Callable[[], str]
) -> None:
    """Run an adapter; to be called at the end of its file, after its imports."""
    imported = cpu_seconds()
    problem = Problem(sys.argv[1])
    start = problem.ready
    model = fit(problem)
    fitted = cpu_seconds()
    law = predict(model, problem)
    np.savez(
        sys.argv[2],
        **law,
        import_seconds=imported,
        compile_seconds=problem.ready - start,
        fit_seconds=fitted - problem.ready,
        predict_seconds=cpu_seconds() - fitted,
        megabytes=megabytes(),
        versions=versions(),
    )
