"""Many series: what is promised of `fit_many`, measured; and the constants of docs/many.md.

    python benchmarks/many.py --what killed          a worker killed half-way, a poisoned series; then a killed client
    python benchmarks/many.py --what throughput      series per CPU second beside a plain loop of fits
    python benchmarks/many.py --what memory          10,000 tiny series
    python benchmarks/many.py --what parquet         a folder that the client never reads
    python benchmarks/many.py --what overhead        of a series, a batch and a task, with 1, 2 and 4 workers
    python benchmarks/many.py --what plan            a million series in an hour, by simulation

Without --what all of them. Clusters are a scheduler and workers in processes of their own, on this machine.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
from machine import describe, line, save

import porbnet
from porbnet.many.guard import end_idle
from porbnet.many.one_fit import described

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "endtoend"))
from many_tools import Cluster, frame, n_rows_written, same_fits, unsettled, wait_until

ROLES: dict[str, Any] = {"by": "patient", "x": "time", "y": "rate"}
SHORT: dict[str, Any] = {"n_chains": 2, "n_warmup": 100, "n_draws": 100, "thin": 2, "random_state": 0}
USUAL: dict[str, Any] = {"n_draws": 400, "max_seconds": None, "random_state": 0}
QUICK: dict[str, Any] = SHORT | {"lengthscale": "constant", "n_warmup": 20, "n_draws": 20, "thin": 1}
TINY: dict[str, Any] = {"lengthscale": "constant", "n_chains": 1, "n_warmup": 10, "n_draws": 10, "thin": 1}
MB = 2**20


def cpu_of(pids: list[int]) -> float:
    """CPU seconds of processes, with all that they have ever started and waited for, or that still runs."""
    total = 0.0
    for pid in pids:
        process = psutil.Process(pid)
        times = process.cpu_times()
        total += times.user + times.system + times.children_user + times.children_system
        for child in process.children(recursive=True):
            own = child.cpu_times()
            total += own.user + own.system + own.children_user + own.children_system
    return total


def in_parts(table: pd.DataFrame, folder: Path, n_files: int) -> Path:
    folder.mkdir(parents=True)
    for i, rows in enumerate(np.array_split(np.arange(len(table)), n_files)):
        table.iloc[rows].to_parquet(folder / f"part-{i:03d}.parquet", index=False)
    return folder


def killed(n_series: int, work: Path) -> dict[str, Any]:
    """Acceptance 1 and 2."""
    table = frame(n_series, least=60, most=200)
    parts = in_parts(table, work / "data", 20)
    began = time.perf_counter()
    local = porbnet.fit_many(table, **ROLES, out=work / "local", **QUICK)
    found: dict[str, Any] = {"series": n_series, "rows": len(table), "local_seconds": time.perf_counter() - began}
    print(f"local: {local}, {found['local_seconds']:.0f} s", flush=True)
    out, seen = work / "killed", []
    ever, began = unsettled(), time.perf_counter()
    with Cluster(work / "cluster", 2) as cluster:

        def kill() -> None:
            wait_until(lambda: out.exists() and n_rows_written(out) >= n_series // 2, 3600.0)
            cluster.workers[0].kill()
            seen.append(n_rows_written(out))

        thread = threading.Thread(target=kill)
        thread.start()
        fits = porbnet.fit_many(parts, **ROLES, out=out, client=cluster.address, **QUICK)
        thread.join()
    seconds = time.perf_counter() - began
    same_fits(fits, local)
    written = ever[str(out)]
    failures = fits.failures[["patient", "reason"]].to_dict("list")
    found |= {
        "killed_after": seen[0], "fitted": fits.n_fitted, "failures": failures, "written": len(written),
        "different": len(set(written)), "identical": True, "seconds": seconds,
    }  # fmt: skip
    print(f"a worker killed after {seen[0]}: {fits}, {seconds:.0f} s; {len(written)} rows were written, of "
          f"{len(set(written))} series, bit-identical to the local run; failures {failures}", flush=True)  # fmt: skip
    return found | {"client": killed_client(parts, n_series, local, work)}


def killed_client(parts: Path, n_series: int, local: Any, work: Path) -> dict[str, Any]:
    out = work / "client"
    with Cluster(work / "cluster-2", 2) as cluster:
        command = [
            sys.executable, "-m", "porbnet", "fit-many", str(parts), "--by", "patient", "--x", "time", "--y", "rate",
            "--lengthscale", "constant", "--chains", "2", "--warmup", "20", "--draws", "20", "--thin", "1",
            "--seed", "0", "--out", str(out), "--scheduler", cluster.address, "--json",
        ]  # fmt: skip
        began = time.perf_counter()
        client = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: (out / "rows").exists() and n_rows_written(out) >= n_series // 2, 3600.0)
        client.kill()
        client.wait()
        half = time.perf_counter() - began
        again = subprocess.run(command, check=False, capture_output=True, text=True)
    seconds = time.perf_counter() - began
    told = json.loads(again.stdout)
    fits = porbnet.load_many(out)
    first = n_series - told["fitted_now"] - told["failed"]
    same_fits(fits, local)
    print(f"client killed after {half:.0f} s: {first} were kept, {told['fitted_now']} fitted by the same command "
          f"again, {told['fitted']} of {told['series']} in all, the same table", flush=True)  # fmt: skip
    return {"kept": first, "fitted_now": told["fitted_now"], "fitted": told["fitted"], "seconds": seconds}


def throughput(n_series: int, options: dict[str, Any], work: Path, loo: bool) -> dict[str, float]:
    """Acceptance 3: series per CPU second."""
    table = frame(n_series + 1, least=60, most=200)
    table = table[table["patient"] != 5]
    groups = [(g[["time"]].to_numpy(), g["rate"].to_numpy()) for _, g in table.groupby("patient")]

    fitted = after = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, (X, y) in enumerate([groups[0], *groups]):
            before = time.process_time()
            model = porbnet.PoRBNetRegressor(**(options | {"random_state": i}), n_jobs=1, progress=False).fit(X, y)
            between = time.process_time()
            described(model, loo)
            model.save(work.parent / "model.npz")
            if i:  # the first has loaded what there is to load
                fitted, after = fitted + between - before, after + time.process_time() - between
    found = {"loop": len(groups) / fitted, "loop_with_rows_and_files": len(groups) / (fitted + after)}
    own = [os.getpid()]
    before = cpu_of(own)
    porbnet.fit_many(table, **ROLES, out=work / "local", n_jobs=2, loo=loo, **options)
    end_idle()
    found["local"] = len(groups) / (cpu_of(own) - before)
    parts = in_parts(table, work / "data", 4)
    with Cluster(work / "cluster", 2) as cluster:
        from distributed import Client

        with Client(cluster.address) as client:
            client.wait_for_workers(2)
            all_of_it = [os.getpid()]  # the cluster's processes are children of this one
            before = cpu_of(all_of_it)
            porbnet.fit_many(parts, **ROLES, out=work / "dask", client=client, loo=loo, **options)
            found["dask"] = len(groups) / (cpu_of(all_of_it) - before)
    for name in ("local", "dask"):
        found[f"{name}_over_loop"] = found[name] / found["loop"]
    print(f"{n_series} series, {'with' if loo else 'without'} leave-one-out, {options}: " +
          ", ".join(f"{k} {v:.3f}" for k, v in found.items()), flush=True)  # fmt: skip
    return found


class Watch(threading.Thread):
    """Largest resident memory of this process, and of each that it has started; and of these early on."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.own, self.children, self.early = 0, {}, {}  # type: ignore[var-annotated]
        self.going = True
        self.start()

    def run(self) -> None:
        """Look five times a second."""
        me, began = psutil.Process(), time.monotonic()
        while self.going:
            self.own = max(self.own, me.memory_info().rss)
            for child in me.children(recursive=True):
                try:
                    rss = child.memory_info().rss
                except psutil.Error:
                    continue
                self.children[child.pid] = max(self.children.get(child.pid, 0), rss)
                if time.monotonic() - began < 30.0:
                    self.early[child.pid] = max(self.early.get(child.pid, 0), rss)
            time.sleep(0.2)


def memory(n_series: int, work: Path) -> dict[str, float]:
    """Acceptance 4: memory above what the process had with the table in hand."""
    table = frame(n_series, least=8, most=12)
    porbnet.fit_many(table[table["patient"] < 2], **ROLES, out=work / "first", **TINY, random_state=0)
    baseline = psutil.Process().memory_info().rss
    watch = Watch()
    began = time.perf_counter()
    fits = porbnet.fit_many(
        table, **ROLES, out=work / "fits", models="archive", n_jobs=1, loo=False, **TINY, random_state=0
    )
    watch.going = False
    found = {
        "series": float(len(fits.table)),
        "seconds": time.perf_counter() - began,
        "growth_mb": (watch.own - baseline) / MB,
        "children_mb": sum(watch.children.values()) / MB,
        "children_growth_mb": max((v - watch.early.get(k, v)) / MB for k, v in watch.children.items()),
    }
    print(f"{n_series} tiny series in {found['seconds']:.0f} s: this process {found['growth_mb']:.0f} MB above "
          f"{baseline / MB:.0f} MB; its {len(watch.children)} processes {found['children_mb']:.0f} MB in all at most, "
          f"{found['children_growth_mb']:.0f} MB more than in the first half minute", flush=True)  # fmt: skip
    end_idle()
    return found


def bytes_read() -> int:
    """Bytes that this process has asked the system for."""
    return int(dict(part.split(": ") for part in Path("/proc/self/io").read_text().splitlines())["rchar"])


def parquet(n_series: int, work: Path) -> dict[str, float]:
    """Acceptance 5: what the client reads of a folder, and its memory."""
    writer = "import sys; sys.path[:0] = %r; from many import *; write_large(%d, %r)"
    paths = [str(Path(__file__).parent), *(p for p in sys.path if p)]
    subprocess.run([sys.executable, "-c", writer % (paths, n_series, str(work / "data"))], check=True)
    size = sum(path.stat().st_size for path in (work / "data").iterdir())
    with Cluster(work / "cluster", 2) as cluster:
        from distributed import Client

        with Client(cluster.address) as client:
            client.wait_for_workers(2)
            porbnet.fit_many(frame(2), **ROLES, out=work / "first", client=client, **TINY, random_state=0)
            import pyarrow.dataset

            pyarrow.dataset.dataset(work / "data")
            before, read = psutil.Process().memory_info().rss, bytes_read()  # nobody watches: that reads files, too
            fits = porbnet.fit_many(
                work / "data", **ROLES, out=work / "fits", client=client, models="none", loo=False, **TINY,
                random_state=0,
            )  # fmt: skip
            read, after = bytes_read() - read, psutil.Process().memory_info().rss
    found = {"series": len(fits.table), "folder_mb": size / MB, "read_mb": read / MB,
             "growth_mb": (after - before) / MB}  # fmt: skip
    print(f"{len(fits.table)} series in a folder of {size / MB:.0f} MB: the client read {read / MB:.1f} MB of anything "
          f"and grew by {found['growth_mb']:.0f} MB", flush=True)  # fmt: skip
    return found


def write_large(n_series: int, folder: str) -> None:
    rng = np.random.default_rng(0)
    Path(folder).mkdir(parents=True)
    for i, some in enumerate(np.array_split(np.arange(n_series), 50)):
        x = rng.uniform(0.0, 10.0, (len(some), 1500))
        y = np.sin(x) + 0.2 * rng.standard_normal(x.shape)
        key = np.repeat(some, x.shape[1])
        pd.DataFrame({"patient": key, "time": x.ravel(), "rate": y.ravel()}).to_parquet(
            Path(folder, f"{i:03d}.parquet")
        )


def own_cpu(pids: list[int]) -> float:
    """CPU seconds of processes themselves."""
    times = [psutil.Process(pid).cpu_times() for pid in pids]
    return sum(t.user + t.system for t in times)


def overhead(work: Path) -> list[dict[str, float]]:
    """CPU milliseconds of a task that does nothing, and of series that fail at once, in batches of 1 and of 50.

    CPU and not time on the clock, as the machine has two cores for up to ten processes. Client and scheduler are one
    process each: the inverse of what they spend on a task is the number of tasks in a second beyond which workers wait.
    """
    from distributed import Client

    from porbnet.work.bounded import on_cluster

    n_tasks, n_series = 1000, 800
    table = frame(n_series, least=20, most=20).assign(rate=np.nan)
    results = []
    for n_workers in (1, 2, 4):
        with Cluster(work / f"cluster-{n_workers}", n_workers) as cluster, Client(cluster.address) as client:
            client.wait_for_workers(n_workers)
            scheduler, workers = [cluster.scheduler.pid], [w.pid for w in cluster.workers]

            def submit(number: int, client: Any = client) -> Any:
                return client.submit(len, [number], pure=False)

            def costs(run: Any, n: int, pids: Any = (scheduler, workers)) -> list[float]:
                before = [own_cpu(pids[0]), cpu_of(pids[1]), own_cpu([os.getpid()])]
                run()
                after = [own_cpu(pids[0]), cpu_of(pids[1]), own_cpu([os.getpid()])]
                return [1e3 * (b - a) / n for a, b in zip(before, after, strict=True)]

            first = table[table["patient"] < 20]
            porbnet.fit_many(first, **ROLES, out=work / f"warm-{n_workers}", client=client, **TINY)
            list(on_cluster(client, submit, range(50)))
            row: dict[str, float] = {"workers": n_workers}
            names = ("scheduler", "workers", "client")
            found = costs(lambda: list(on_cluster(client, submit, range(n_tasks))), n_tasks)
            row |= {f"task_{name}_ms": value for name, value in zip(names, found, strict=True)}
            for size in (1, 50):
                out = work / f"fits-{n_workers}-{size}"
                found = costs(
                    lambda: porbnet.fit_many(table, **ROLES, out=out, client=client, batch_size=size, **TINY),  # noqa: B023
                    n_series,
                )
                row |= {f"series_of_{size}_{name}_ms": value for name, value in zip(names, found, strict=True)}
            results.append(row)
            print(", ".join(f"{k} {v:.2f}" for k, v in row.items()), flush=True)
    return results


def simulated(
    n_series: int, n_workers: int, batch: int, series: float, per_series: float, per_task: float, rng: Any
) -> float:
    """Seconds for all series: batches are handed out one after the other, `per_task` each, to workers that are free.

    series : seconds of a fit on average, with a log sd of 0.5; per_series : beside it
    per_task : of the client and the scheduler, who do one thing at a time
    """
    n_batches = -(-n_series // batch)
    works = batch * per_series + series * sum(rng.lognormal(-0.125, 0.5, n_batches) for _ in range(batch))
    free, clock, end = [0.0] * n_workers, 0.0, 0.0
    for work in works.tolist():
        clock = max(clock + per_task, heapq.heappop(free))
        heapq.heappush(free, clock + work)
        end = max(end, clock + work)
    return end


def plan(n_series: int, seconds: float, per_series: float, per_task: float) -> list[dict[str, float]]:
    rng, results = np.random.default_rng(0), []
    print(f"{n_series:,} series of {seconds:g} CPU s, {1e3 * per_series:g} ms beside, {1e3 * per_task:g} ms per task:")
    print(f"{'workers':>8}{'batch':>7}{'hours':>8}{'of ideal':>10}")
    for n_workers in (10, 100, 1000, 1500, 2000, 5000):
        for batch in (1, 10, 50):
            took = simulated(n_series, n_workers, batch, seconds, per_series, per_task, rng)
            share = n_series * seconds / n_workers / took
            results.append({"workers": n_workers, "batch": batch, "hours": took / 3600, "efficiency": share})
            print(f"{n_workers:>8}{batch:>7}{took / 3600:>8.2f}{share:>10.2f}", flush=True)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--what", choices=["killed", "throughput", "memory", "parquet", "overhead", "plan"])
    parser.add_argument("--series", type=int, help="fewer, to try")
    parser.add_argument("--json", metavar="FILE", help="keep the figures")
    options = parser.parse_args()
    machine = describe()
    print(line(machine))
    found: dict[str, Any] = {}
    n = options.series

    def wanted(name: str) -> bool:
        return options.what in (None, name)

    with tempfile.TemporaryDirectory(prefix="porbnet-many-") as place:
        work = Path(place)
        if wanted("killed"):
            found["killed"] = killed(n or 1000, work / "killed")
        if wanted("throughput"):
            for name, settings, times in (("usual", USUAL, 1), ("short", SHORT, 2)):
                for loo in (True, False):
                    place = work / f"{name}-{loo}"
                    found[f"{name}, {'with' if loo else 'without'} loo"] = throughput(
                        times * (n or 36), settings, place, loo
                    )
        if wanted("memory"):
            found["memory"] = memory(n or 10_000, work / "memory")
        if wanted("parquet"):
            found["parquet"] = parquet(n or 1000, work / "parquet")
        if wanted("overhead"):
            found["overhead"] = overhead(work / "overhead")
        if wanted("plan"):
            found["plan"] = plan(1_000_000, 5.0, 0.0025, 0.005)
            found["plan_short"] = plan(1_000_000, 0.35, 0.0025, 0.005)
    save(options.json, [found], machine)


if __name__ == "__main__":
    main()
