"""Predictions at many points: CPU time and peak memory of mean and sd, intervals and log densities from 1,000 draws.

Four fits: of data like those of the motorcycle accidents (133 rows, few units), of a chirp (200 rows, some thirty units
whose lengthscales differ by a factor of ten), of a surface (300 rows, two inputs) and of a sine (10,000 rows, for which
computing the law of the weights is most of a first prediction). Each case runs in a process of its own, with a model
that was saved and has predicted nothing yet: the first call computes the law of the weights, the second one finds it.
Growth is that of the peak memory during both calls. Flat memory means that it is that of the inputs and the results
(some ten numbers per point), whatever the number of draws: a table of draws by points would take 8 GB.

    python benchmarks/prediction.py            all, about five minutes; --quick for a tenth of the points
    python benchmarks/prediction.py --save FILE
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import machine
import numpy as np

N_DRAWS = 1000
FITS = ("motorcycle", "chirp", "surface", "sine")
CALLS = ("mean", "mean and sd", "interval", "log density")
SIZES = (10_000, 100_000, 1_000_000)
TARGET_SECONDS, TARGET_GROWTH = 10.0, 150.0  # of mean and sd at the most points


def data(name: str) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
    """Rows of a data set, and how it is fitted."""
    from porbnet import datasets

    rng = np.random.default_rng(0)
    if name == "motorcycle":
        found = datasets.load_motorcycle()
        return found.X, found.y, {}
    if name == "chirp":
        X = rng.uniform(size=(200, 1))
        return X, np.sin(40.0 * X[:, 0] ** 2) + 0.1 * rng.standard_normal(200), {}
    if name == "surface":
        X = rng.uniform(size=(300, 2))
        return X, np.sin(8.0 * X[:, 0]) * np.cos(5.0 * X[:, 1]) + 0.1 * rng.standard_normal(300), {"n_warmup": 200}
    X = rng.uniform(size=(10_000, 1))
    short = {"lengthscale": "constant", "n_warmup": 50, "thin": 1}
    return X, np.sin(12.0 * X[:, 0]) + 0.3 * rng.standard_normal(10_000), short


def fit(name: str, path: Path) -> None:
    """Fit a data set and save the model."""
    from porbnet import PoRBNetRegressor

    X, y, settings = data(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whether chains have met does not matter here
        model = PoRBNetRegressor(n_draws=N_DRAWS // 4, random_state=0, progress=False, **settings).fit(X, y)
    model.save(path)


def measure(name: str, path: Path, n_points: int, call: str) -> dict[str, Any]:
    """CPU seconds of a first and a second call at unsorted points, and growth of peak memory in MB."""
    from porbnet import load

    X, y, _ = data(name)
    low, high = X.min(axis=0), X.max(axis=0)
    rng = np.random.default_rng(1)

    def run(model: Any, points: np.ndarray) -> None:
        if call == "interval":
            model.predict_interval(points)
        elif call == "log density":
            model.log_density(points, np.full(len(points), y.mean()))
        else:
            model.predict(points, return_std=call == "mean and sd")

    run(load(path), low + (high - low) * rng.uniform(size=(5000, X.shape[1])))  # compiled kernels are read from disk
    model = load(path)
    points = low + (high - low) * rng.uniform(size=(n_points, X.shape[1]))
    before, seconds = machine.peak_memory(), []
    for _ in range(2):
        start = time.process_time()
        run(model, points)
        seconds.append(time.process_time() - start)
    found = {"fit": name, "call": call, "points": n_points, "units": float(model.posterior_.n_units.mean())}
    return found | {"first": seconds[0], "second": seconds[1], "growth": machine.peak_memory() - before}


def in_fresh_process(*arguments: str) -> str:
    """Run this script with `arguments`; the last line that it prints."""
    done = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return (done.stdout.strip().splitlines() or [""])[-1]


def table(fits: list[str], calls: list[str], sizes: list[int], folder: Path) -> list[dict[str, Any]]:
    """Measure all cases, and print a line for each."""
    print(f"{N_DRAWS:,} draws; growth is of peak memory, seconds are CPU time")
    print(f"{'fit':12}{'units':>6}  {'call':12}{'points':>10}{'first s':>9}{'second s':>10}{'growth MB':>11}")
    rows = []
    for name in fits:
        path = folder / f"{name}.npz"
        in_fresh_process("--fit", name, str(path))
        for call in calls:
            for n in sizes:
                row = json.loads(in_fresh_process("--one", name, str(path), str(n), call))
                rows.append(row)
                print(
                    f"{name:12}{row['units']:>6.0f}  {call:12}{n:>10,}{row['first']:>9.2f}{row['second']:>10.2f}"
                    f"{row['growth']:>11.0f}",
                    flush=True,
                )
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the points")
    parser.add_argument("--fits", nargs="+", choices=FITS, default=list(FITS))
    parser.add_argument("--calls", nargs="+", choices=CALLS, default=list(CALLS))
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--save", help="a JSON file for the figures")
    parser.add_argument("--fit", nargs=2, metavar=("FIT", "MODEL"), help="one fit, saved")
    parser.add_argument("--one", nargs=4, metavar=("FIT", "MODEL", "POINTS", "CALL"), help="one case, as JSON")
    options = parser.parse_args()
    if options.fit:
        fit(options.fit[0], Path(options.fit[1]))
        return 0
    if options.one:
        name, path, n_points, call = options.one
        print(json.dumps(measure(name, Path(path), int(n_points), call)))
        return 0
    found = machine.describe()
    print(machine.line(found))
    sizes = [n // 10 for n in options.sizes] if options.quick else options.sizes
    with tempfile.TemporaryDirectory() as folder:
        rows = table(options.fits, options.calls, sizes, Path(folder))
    machine.save(options.save, rows, found)
    stated = [r for r in rows if r["call"] == "mean and sd"]
    good = all(r["first"] <= TARGET_SECONDS and r["growth"] <= TARGET_GROWTH for r in stated)
    print(f"mean and sd within {TARGET_SECONDS:g} CPU s and {TARGET_GROWTH:g} MB: {'yes' if good else 'no'}")
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
