"""Series, estimators that misbehave, and a Dask cluster of separate processes, for tests of many fits."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from porbnet import PoRBNetRegressor
from porbnet.many.kept import Folder

SHORT = {"n_chains": 2, "n_warmup": 10, "n_draws": 30, "thin": 1, "lengthscale": "constant", "random_state": 3}
POISONED = 5


def frame(n_series, seed=0, least=15, most=30):
    """Series of different lengths; the one called 5 has a NaN."""
    rng = np.random.default_rng(seed)
    parts = []
    for i in range(n_series):
        x = np.sort(rng.uniform(0.0, 10.0, rng.integers(least, most + 1)))
        y = np.sin(x * (1.0 + 0.05 * i)) + 0.2 * rng.standard_normal(len(x))
        parts.append(pd.DataFrame({"patient": i, "time": x, "rate": y}))
    table = pd.concat(parts, ignore_index=True)
    table.loc[np.flatnonzero(table["patient"] == POISONED)[3:4], "rate"] = np.nan
    return table


class Misbehaving(PoRBNetRegressor):
    """Hangs if an output is 1000, ends its process if one is 2000."""

    def fit(self, X, y=None, sample_weight=None):
        if self.n_draws > 1:  # and not when kernels are made ready
            if np.max(y) == 1000.0:
                time.sleep(3600)
            if np.max(y) == 2000.0:
                os.kill(os.getpid(), signal.SIGKILL)
        return super().fit(X, y, sample_weight)


def same_fits(first, second):
    """Whether two folders hold the same rows and the same models, bit for bit; times aside."""
    times = ["cpu_seconds", "seconds", "model"]
    pd.testing.assert_frame_equal(first.table.drop(columns=times), second.table.drop(columns=times), check_exact=True)
    for key in first.keys():  # noqa: SIM118
        one, other = first.load(key).posterior_.draws, second.load(key).posterior_.draws
        for name in ("values", "centers", "weights", "counts"):
            assert np.array_equal(getattr(one, name), getattr(other, name)), (key, name)


def rows_written(folder):
    """Keys of all rows that were ever written, as long as nobody has put them in order."""
    lines = [line for path in Path(folder, "rows").glob("*.jsonl") for line in path.read_text().splitlines()]
    return [tuple(json.loads(line)["key"]) for line in lines if line.strip()]


def n_rows_written(folder):
    """How many rows there are, quickly."""
    return sum(path.read_bytes().count(b"\n") for path in Path(folder, "rows").glob("*.jsonl"))


def unsettled(setattr_=setattr):
    """Keys of all rows that a run has written, by its folder, noted just before it puts them in order."""
    ever, settle = {}, Folder.settle

    def remembered(self):
        ever[str(self.place)] = rows_written(self.place)
        settle(self)

    setattr_(Folder, "settle", remembered)
    return ever


def wait_until(condition, seconds=300.0):
    """Wait for something to become true."""
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen"
        time.sleep(0.05)


class Cluster:
    """A scheduler and workers, each a process of its own, without nannies: who is killed stays dead."""

    def __init__(self, folder, n_workers, options=()):
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "scheduler.json"
        environment = os.environ | {"DASK_DISTRIBUTED__WORKER__MEMORY__TERMINATE": "False", "OMP_NUM_THREADS": "1"}
        environment["PYTHONPATH"] = os.pathsep.join(p for p in sys.path if p)

        def start(*arguments):
            return subprocess.Popen(
                [sys.executable, "-m", *arguments], env=environment, stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL, cwd=folder,
            )  # fmt: skip

        self.scheduler = start(
            "distributed.cli.dask_scheduler", "--port", "0", "--host", "127.0.0.1", "--no-dashboard",
            "--scheduler-file", str(file),
        )  # fmt: skip
        wait_until(lambda: file.exists() and file.stat().st_size > 0)
        self.address = json.loads(file.read_text())["address"]
        self.workers = [
            start("distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny", "--no-dashboard",
                  "--local-directory", str(folder / f"worker-{i}"), *options)
            for i in range(n_workers)
        ]  # fmt: skip

    def close(self):
        for process in [*self.workers, self.scheduler]:
            with contextlib.suppress(OSError):
                process.kill()
            process.wait()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()
