"""What a first use costs: seconds to import, compile and run the whole path in a fresh process.

First process: an empty Numba cache; CPU seconds of import, fit (4 short chains, all learned), predictions with standard
deviations, intervals and densities. Second process, same cache: seconds from the first import to the end of the first
sweep. With --events also which functions the compiler spent its time on.

    python benchmarks/first_use.py [--events]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

TARGET_FIRST, TARGET_SECOND = 10.0, 1.5


def first(events: bool) -> dict[str, Any]:
    """The whole path, CPU seconds by stage; to be run in its own process."""
    begin = time.process_time()
    spent: dict[str, float] = {}

    def stage(name: str) -> None:
        spent[name] = time.process_time() - begin - sum(spent.values())

    recorder = _Recorder() if events else None
    import warnings

    import numpy as np

    from porbnet import PoRBNetRegressor

    stage("import")
    rng = np.random.default_rng(0)
    x = np.sort(rng.random((60, 1)), axis=0)
    y = np.sin(9.0 * x[:, 0]) + 0.2 * rng.standard_normal(60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # too few draws to converge
        model = PoRBNetRegressor(n_warmup=20, n_draws=20, random_state=0, n_jobs=1, progress=False).fit(x, y)
    stage("fit")
    model.predict(x, return_std=True)
    stage("predict with sd")
    model.predict_interval(x)
    stage("interval")
    model.log_density(x, y)
    stage("density")
    result: dict[str, Any] = {"total": time.process_time() - begin, "stages": spent}
    if recorder is not None:
        result["events"] = recorder.rows
    return result


class _Recorder:
    """Self and total seconds of every compilation, by function, from Numba's events."""

    def __init__(self) -> None:
        from numba.core import event

        self.rows: list[tuple[str, str, float, float]] = []
        stack: list[list[Any]] = []
        rows = self.rows

        class Listener(event.Listener):
            def on_start(self, e: Any) -> None:
                stack.append([time.process_time(), 0.0])

            def on_end(self, e: Any) -> None:
                started, inner = stack.pop()
                total = time.process_time() - started
                if stack:
                    stack[-1][1] += total
                function = e.data["dispatcher"].py_func
                where = f"{function.__module__}.{function.__qualname__}"
                rows.append((where, str(e.data["args"]), total - inner, total))

        event.register("numba:compile", Listener())


def second() -> dict[str, float]:
    """Seconds from the first import to the end of the first sweep; to be run in its own process."""
    wall, cpu = time.perf_counter(), time.process_time()
    import numpy as np

    from porbnet.estimators.regressor import PoRBNetRegressor  # noqa: F401 (users pay for it)
    from porbnet.sampling.collapsed.chain import CollapsedChain
    from porbnet.sampling.problem import Problem
    from porbnet.statement.defaults import default_prior

    imported = time.perf_counter() - wall
    rng = np.random.default_rng(0)
    x = np.sort(rng.random((60, 1)), axis=0)
    y = np.sin(9.0 * x[:, 0]) + 0.2 * rng.standard_normal(60)
    prior, offset = default_prior(x, y)
    chain = CollapsedChain(Problem.of(prior, x, y - offset), np.random.SeedSequence(0), 10, 10)
    chain.advance(1)
    return {
        "wall": time.perf_counter() - wall,
        "cpu": time.process_time() - cpu,
        "import_wall": imported,
    }


def child(cache: Path, *arguments: str) -> dict[str, Any]:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, __file__, *arguments], check=True, capture_output=True, text=True, env=environment
    )
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def show_events(rows: list[tuple[str, str, float, float]], most: int = 25) -> None:
    by_function: dict[str, list[float]] = {}
    for where, _, own, total in rows:
        entry = by_function.setdefault(where, [0, 0.0, 0.0])
        entry[0] += 1
        entry[1] += own
        entry[2] = max(entry[2], total)
    print(f"\n{'compiled function':<62}{'times':>6}{'self s':>9}{'largest total s':>17}")
    for where, (times, own, total) in sorted(by_function.items(), key=lambda item: -item[1][1])[:most]:
        print(f"{where:<62}{times:>6.0f}{own:>9.2f}{total:>17.2f}")
    print(f"{'all':<62}{len(rows):>6}{sum(r[2] for r in rows):>9.2f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", action="store_true", help="which functions were compiled, and how long it took")
    parser.add_argument("--repeats", type=int, default=5, help="of the second process")
    parser.add_argument("--json", metavar="FILE", help="write the results there too")
    parser.add_argument("--child", choices=("first", "second"), help="only this, as JSON")
    options = parser.parse_args()
    if options.child == "first":
        print(json.dumps(first(options.events)))
        return 0
    if options.child == "second":
        print(json.dumps(second()))
        return 0
    import machine

    found = machine.describe()
    print(machine.line(found))
    with tempfile.TemporaryDirectory() as folder:
        cache = Path(folder)
        once = child(cache, "--child", "first", *(["--events"] if options.events else []))
        again = [child(cache, "--child", "second") for _ in range(options.repeats)]
        warm = child(cache, "--child", "first")
        megabytes = sum(p.stat().st_size for p in cache.rglob("*") if p.is_file()) / 1e6
    print(f"\nfirst process, empty cache: {once['total']:.1f} CPU s (target {TARGET_FIRST:.0f})")
    for name, seconds in once["stages"].items():
        print(f"  {name:<18}{seconds:>7.2f}   with a full cache {warm['stages'][name]:>6.2f}")
    print(f"  the cache then holds {megabytes:.1f} MB")
    wall = statistics.median(r["wall"] for r in again)
    print(
        f"second process, import to first sweep: {wall:.2f} s (target {TARGET_SECOND}), of it import "
        f"{statistics.median(r['import_wall'] for r in again):.2f} s; "
        f"CPU {statistics.median(r['cpu'] for r in again):.2f} s; "
        f"best and worst of {len(again)}: {min(r['wall'] for r in again):.2f}, {max(r['wall'] for r in again):.2f}"
    )
    if options.events:
        show_events(once["events"])
    reached = once["total"] < TARGET_FIRST and wall < TARGET_SECOND
    print("targets reached" if reached else "targets not reached")
    machine.save(options.json, {"first": once, "warm": warm, "second": again, "reached": reached}, found)
    return 0 if reached else 1


if __name__ == "__main__":
    raise SystemExit(main())
