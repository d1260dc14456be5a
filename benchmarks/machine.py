"""The machine that the figures come from: a few throughputs to print beside them, and the file that keeps them.

`numpy exp` is the throughput that the targets of `efficiency.py` are stated with. All of it is CPU time of one core; a
busy machine lowers it, and lowers the other figures of the run with it.

Run it alone with `python benchmarks/machine.py`.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np


def rate(work: Callable[[], object], amount: float, repeats: int = 15) -> float:
    """Amount of work per CPU second of this thread, median over repeats."""
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        work()
        times.append(time.thread_time() - start)
    return amount / max(statistics.median(times), 1e-9)


def describe() -> dict[str, Any]:
    """Processor, versions, load, numpy's exp and the memory's bandwidth (one core)."""
    x = -np.random.default_rng(0).random(20_000) * 20.0
    out = np.empty_like(x)
    large = np.ones(8_000_000)
    target = np.empty_like(large)
    import numba

    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "numba": numba.__version__,
        "million_exp_per_second": round(rate(lambda: [np.exp(x, out=out) for _ in range(50)], 50 * len(x)) / 1e6),
        "python_million_additions_per_second": round(rate(lambda: sum(range(200_000)), 200_000) / 1e6),
        "copy_gb_per_second": round(rate(lambda: np.copyto(target, large), 16e-9 * len(large)), 1),
    }


def line(found: dict[str, Any] | None = None) -> str:
    """One line of text about the machine."""
    m = describe() if found is None else found
    return (
        f"machine: {m['processor']}, {m['cores']} cores, load {m['load']}; one core: numpy exp "
        f"{m['million_exp_per_second']} million/s, copy {m['copy_gb_per_second']} GB/s; "
        f"Python {m['python']}, numpy {m['numpy']}, numba {m['numba']}"
    )


def peak_memory() -> float:
    """Largest resident memory of this process so far, in MB."""
    status = Path("/proc/self/status")
    if status.exists():  # getrusage would count what the parent held when this process was started
        for text in status.read_text().splitlines():
            if text.startswith("VmHWM:"):
                return float(text.split()[1]) / 1024.0
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def save(path: str | None, results: Any, machine: dict[str, Any]) -> None:
    """Write results and machine to a JSON file, if one is named."""
    if path is not None:
        Path(path).write_text(json.dumps({"machine": machine, "results": results}, indent=1, default=float) + "\n")


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for text in info.read_text().splitlines():
            if text.startswith("model name"):
                return text.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


if __name__ == "__main__":
    print(line())
