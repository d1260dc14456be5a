"""Fits of many rows: CPU time and peak memory of default fits of 1,000 to 1,000,000 rows, which are compressed first.

Two functions, sin 40x² and sin 6x, with noise 0.3. Each fit runs in a process of its own, after a tiny one that
compiles and loads what there is to load; memory is the peak above that, when the data were there already. The targets:
CPU time of a million rows at most twice that of a thousand, memory at most four times the bytes of the data (of a
million rows: the chains themselves take more than a thousand rows do).

Run it with `python benchmarks/rows.py`, or with `--quick` up to 100,000 rows.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
import warnings
from typing import Any

import numpy as np

sys.path.insert(0, os.path.dirname(__file__))
from machine import describe, line, peak_memory, save

FUNCTIONS = {"sin 40x²": lambda x: np.sin(40.0 * x * x), "sine": lambda x: np.sin(6.0 * x)}
NOISE = 0.3
SIZES = (1_000, 10_000, 100_000, 1_000_000)


def measure(name: str, n: int) -> dict[str, Any]:
    """One default fit."""
    from porbnet import PoRBNetRegressor
    from porbnet.sampling.lean import lean_for_draws

    rng = np.random.default_rng(n)
    X = rng.uniform(size=(n, 1))
    y = FUNCTIONS[name](X[:, 0]) + NOISE * rng.standard_normal(n)
    warnings.simplefilter("ignore")
    quick = {"n_warmup": 5, "n_draws": 5, "n_chains": 2}
    PoRBNetRegressor(random_state=0, progress=False, **quick).fit(X[:300], y[:300]).predict(X[:300], return_std=True)
    before, wall, cpu = peak_memory(), time.perf_counter(), time.process_time()
    model = PoRBNetRegressor(random_state=1, progress=False).fit(X, y)
    seconds, cpu = time.perf_counter() - wall, time.process_time() - cpu
    growth = peak_memory() - before
    at = np.linspace(0.01, 0.99, 400)[:, None]
    mean, sd = model.predict(at, return_std=True, of="f")
    posterior = model.posterior_
    return {
        "cpu": cpu,
        "wall": seconds,
        "rows": lean_for_draws(posterior.problem, posterior.draws).n_points,
        "megabytes": growth,
        "data": 16e-6 * n,
        "rhat": model.diagnostics_.worst_rhat.rhat,
        "forced": model.diagnostics_.n_forced,
        "width": float(np.median(posterior.n_units)),
        "coverage": float(np.mean(np.abs(FUNCTIONS[name](at[:, 0]) - mean) < 1.645 * sd)),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 100,000 rows")
    parser.add_argument("--one", nargs=2, metavar=("FUNCTION", "ROWS"), help="one fit, printed as JSON")
    parser.add_argument("--json", metavar="FILE", help="keep the figures")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one[0], int(options.one[1]))))
        return 0
    machine = describe()
    print(line(machine))
    print(
        f"{'':10}{'rows':>10}{'left':>7}{'CPU s':>8}{'wall s':>8}{'MB':>7}{'data MB':>9}{'units':>7}{'R-hat':>8}"
        f"{'forced':>8}{'90 % of f':>11}"
    )
    results: list[dict[str, Any]] = []
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}  # threads that wait count as CPU time
    for name in FUNCTIONS:
        for n in SIZES[:-1] if options.quick else SIZES:
            command = [sys.executable, __file__, "--one", name, str(n)]
            out = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
            row = json.loads(out)
            results.append({"function": name, "n": n} | row)
            print(
                f"{name:10}{n:>10,}{row['rows']:>7,}{row['cpu']:>8.1f}{row['wall']:>8.1f}{row['megabytes']:>7.0f}"
                f"{row['data']:>9.2f}{row['width']:>7.0f}{row['rhat']:>8.3f}{row['forced']:>8}{row['coverage']:>11.2f}",
                flush=True,
            )
    save(options.json, results, machine)
    good = True
    for name in FUNCTIONS:
        fits = [r for r in results if r["function"] == name]
        good = good and fits[-1]["cpu"] <= 2.0 * fits[0]["cpu"]
        if fits[-1]["n"] == SIZES[-1]:
            good = good and fits[-1]["megabytes"] <= 4.0 * fits[-1]["data"]
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
