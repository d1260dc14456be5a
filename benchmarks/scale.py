"""Predictions at many points: time and peak memory of mean and sd at up to 1,000,000 points from 1,000 draws.

Each size runs in a process of its own, whose peak resident memory before and after the prediction is read from the
operating system. Flat memory means that the growth is that of the input and the results themselves (about a dozen
arrays of one number per point), whatever the number of draws. A table of draws by points would take 8 GB.

Run it with `python benchmarks/scale.py`, or with `--quick` for a tenth of the points.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
import warnings

import numpy as np

N_DRAWS = 1000


def peak_megabytes() -> float:
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def measure(n_points: int, call: str) -> dict[str, float]:
    """Fit a small data set, then predict at `n_points` unsorted points; peak memory before and after."""
    from porbnet import PoRBNetRegressor

    rng = np.random.default_rng(0)
    X = rng.uniform(size=(200, 1))
    y = np.sin(8.0 * X[:, 0]) + 0.1 * rng.standard_normal(200)
    model = PoRBNetRegressor("constant", n_warmup=300, n_draws=N_DRAWS // 4, random_state=0, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y)
    calls = {
        "mean": lambda P: model.predict(P),
        "mean and sd": lambda P: model.predict(P, return_std=True),
        "interval": lambda P: model.predict_interval(P),
        "log density": lambda P: model.log_density(P, np.zeros(len(P))),
    }
    calls[call](X)  # compile
    points = rng.uniform(size=(n_points, 1))
    before, start, cpu = peak_megabytes(), time.perf_counter(), time.process_time()
    calls[call](points)
    return {
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "growth": peak_megabytes() - before,
        "peak": peak_megabytes(),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the points")
    parser.add_argument("--one", nargs=2, metavar=("POINTS", "CALL"), help="one size, printed as JSON")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(int(options.one[0]), options.one[1])))
        return 0
    most = 100_000 if options.quick else 1_000_000
    cases = [("mean", most), ("mean and sd", most // 10), ("mean and sd", most), ("interval", most // 10)]
    print(f"{N_DRAWS:,} draws; growth is of peak memory during the prediction")
    print(f"{'':14}{'points':>10}{'wall s':>9}{'CPU s':>9}{'growth MB':>11}{'peak MB':>9}")
    growth = 0.0
    for call, n_points in cases:
        command = [sys.executable, __file__, "--one", str(n_points), call]
        row = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        print(
            f"{call:14}{n_points:>10,}{row['seconds']:>9.1f}{row['cpu']:>9.1f}{row['growth']:>11.0f}{row['peak']:>9.0f}",
            flush=True,
        )
        if call == "mean and sd":
            growth = max(growth, row["growth"])
    return 0 if growth < 100.0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
