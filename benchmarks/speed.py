"""Cost of a sweep against the number of rows, and predictions at a million points, in time and memory.

Sweeps: n rows in one dimension, n from 1,000 to 100,000, of a sine with noise 0.3; the same prior throughout (about 30
units), first with everything known, then with noise, amplitude and lengthscale learned. For each n a fresh process
gives CPU seconds of a sweep (median over batches, warm-up and compilation excluded) and its peak memory. The slope is
that of log seconds against log n; linear cost is a slope of one.

Predictions: mean and standard deviation of y at 1,000,000 points from 1,000 draws in a fresh process (fit to the
motorcycle data), beside fewer points and fewer draws: memory grows by the inputs and the answer, 24 bytes a point.

    python benchmarks/speed.py            both; --quick for fewer and smaller ones
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from typing import Any

import machine
import numpy as np

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)
TARGET_SLOPE = 1.05
REGION, LENGTHSCALE = (-0.25, 1.25), 0.1


def sweep_cost(n: int, learned: bool, seconds: float) -> dict[str, float]:
    """CPU seconds of a sweep with n rows, units, and the process's peak memory; to be run in its own process."""
    from porbnet import LogNormal, Prior
    from porbnet.intensity import UnknownConstant
    from porbnet.sampling.collapsed.chain import CollapsedChain, Plan
    from porbnet.sampling.problem import Problem

    before = machine.peak_memory()
    rng = np.random.default_rng(n)
    x = rng.random((n, 1))
    y = np.sin(12.0 * x[:, 0]) + 0.3 * rng.standard_normal(n)
    level = 2.0 / LENGTHSCALE
    prior = Prior(
        UnknownConstant.about(level, 2.0) if learned else LENGTHSCALE,
        LogNormal(1.0, 2.0) if learned else 1.0,
        bias=1.0, noise=LogNormal(0.3, 2.0) if learned else 0.3, region=REGION,
    )  # fmt: skip
    problem = Problem.of(prior, x, y)
    n_batches, warmup = 9, 30
    chain = CollapsedChain(problem, np.random.SeedSequence(n), warmup, 10**9, plan=Plan(20, 5))
    chain.advance(warmup)
    start = time.thread_time()
    chain.advance(5)
    per_batch = int(np.clip(seconds / n_batches / max((time.thread_time() - start) / 5, 1e-9), 1, 20_000))
    times = []
    for _ in range(n_batches):
        start = time.thread_time()
        chain.advance(per_batch)
        times.append((time.thread_time() - start) / per_batch)
    units = chain.draws().counts
    return {
        "n": n,
        "seconds": float(np.median(times)),
        "K": float(units.mean()),
        "peak_mb": machine.peak_memory(),
        "import_mb": before,
        "data_mb": 32.0 * n / 1e6,
    }


def predictions(n_points: int, n_draws: int) -> dict[str, float]:
    """Mean and sd of y at n_points from n_draws: wall and CPU seconds and peak memory; to be run in its own process."""
    from porbnet import PoRBNetRegressor, datasets

    data = datasets.load_motorcycle()
    model = PoRBNetRegressor(n_chains=2, n_warmup=200, n_draws=n_draws // 2, random_state=0, progress=False)
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a short run is enough here
        model.fit(data.X, data.y)
    model.predict(data.X[:10], return_std=True)
    before = machine.peak_memory()
    points = np.linspace(data.X.min(), data.X.max(), n_points)[:, None]
    wall, cpu = time.perf_counter(), time.process_time()
    mean, sd = model.predict(points, return_std=True)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    assert np.all(np.isfinite(mean)) and np.all(sd > 0)
    return {
        "n_points": n_points,
        "n_draws": len(model.posterior_),
        "wall_seconds": wall,
        "cpu_seconds": cpu,
        "peak_mb": machine.peak_memory(),
        "before_mb": before,
        "inputs_and_answer_mb": 24.0 * n_points / 1e6,
    }


def in_fresh_process(*arguments: str) -> dict[str, float]:
    """Run this script with `arguments` and read the JSON that it prints."""
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def slope(rows: list[dict[str, float]]) -> float:
    """Least-squares slope of log seconds against log n."""
    return float(np.polyfit(np.log([r["n"] for r in rows]), np.log([r["seconds"] for r in rows]), 1)[0])


def sweeps(sizes: tuple[int, ...], learned: bool, seconds: float) -> dict[str, Any]:
    name = "noise, amplitude and lengthscale learned" if learned else "prior known"
    print(f"\na sweep of 20 births or deaths and 5 moves, {name}")
    print(f"{'rows':>9}{'ms':>10}{'us/row':>9}{'K':>7}{'peak MB':>9}{'of it import':>14}{'local slope':>13}")
    in_fresh_process("--sweep", str(sizes[0]), *(["--learned"] if learned else []), "--seconds", "0.1")  # compile
    rows: list[dict[str, float]] = []
    for n in sizes:
        r = in_fresh_process("--sweep", str(n), *(["--learned"] if learned else []), "--seconds", str(seconds))
        rows.append(r)
        local = f"{slope(rows[-2:]):.2f}" if len(rows) > 1 else ""
        print(
            f"{n:>9,}{1e3 * r['seconds']:>10.3f}{1e6 * r['seconds'] / n:>9.3f}{r['K']:>7.1f}{r['peak_mb']:>9.0f}"
            f"{r['import_mb']:>14.0f}{local:>13}",
            flush=True,
        )
    found = slope(rows)
    print(f"slope {found:.3f} (target {TARGET_SLOPE})")
    return {"learned": learned, "slope": found, "rows": rows}


def prediction_table(cases: list[tuple[int, int]]) -> list[dict[str, float]]:
    print("\nmean and sd of y, model.predict(X, return_std=True)")
    head = (
        f"{'points':>10}{'draws':>7}{'wall s':>9}{'CPU s':>9}{'peak MB':>9}{'before':>8}{'X, mean, sd':>13}{'rest':>7}"
    )
    print(head)
    rows = []
    for n_points, n_draws in cases:
        r = in_fresh_process("--predict", str(n_points), str(n_draws))
        rows.append(r)
        rest = r["peak_mb"] - r["before_mb"] - r["inputs_and_answer_mb"]
        print(
            f"{n_points:>10,}{r['n_draws']:>7,.0f}{r['wall_seconds']:>9.2f}{r['cpu_seconds']:>9.2f}{r['peak_mb']:>9.0f}"
            f"{r['before_mb']:>8.0f}{r['inputs_and_answer_mb']:>13.0f}{rest:>7.0f}",
            flush=True,
        )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 30,000 rows and 100,000 points")
    parser.add_argument("--seconds", type=float, default=4.0, help="CPU seconds of sweeps for each n")
    parser.add_argument("--json", metavar="FILE", help="write the results there too")
    parser.add_argument("--sweep", type=int, metavar="N", help="only print the cost of a sweep with N rows")
    parser.add_argument("--learned", action="store_true", help="with --sweep: hyper-parameters learned")
    parser.add_argument("--predict", type=int, nargs=2, metavar=("POINTS", "DRAWS"), help="only these predictions")
    options = parser.parse_args()
    if options.sweep:
        print(json.dumps(sweep_cost(options.sweep, options.learned, options.seconds)))
        return 0
    if options.predict:
        print(json.dumps(predictions(*options.predict)))
        return 0
    found = machine.describe()
    print(machine.line(found))
    sizes = SIZES[:-1] if options.quick else SIZES
    costs = [sweeps(sizes, learned, options.seconds) for learned in (False, True)]
    many = 100_000 if options.quick else 1_000_000
    rows = prediction_table([(many // 10, 1000), (many, 250), (many, 1000)])
    machine.save(options.json, {"sweeps": costs, "predictions": rows}, found)
    return 0 if all(c["slope"] <= TARGET_SLOPE for c in costs) else 1


if __name__ == "__main__":
    raise SystemExit(main())
