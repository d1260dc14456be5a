"""Speed and memory of prior draws: 10,000 functions at 200 points with 50 expected units.

Prints the CPU time of `Prior.sample`, that of a plain NumPy loop over draws in the same run, and their ratio; then the
peak memory of a process that runs through `Prior.sample_chunks` for 10,000 and for 1,000,000 draws.

Run it with `python benchmarks/prior_speed.py`, or with `--quick` for a tenth of the draws.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from porbnet import Prior

REGION = (-0.25, 1.25)
LENGTHSCALE = 0.06  # with two units per lengthscale: 50 units on the region
X = np.linspace(0.0, 1.0, 200)


def the_prior() -> Prior:
    return Prior(lengthscale=LENGTHSCALE, amplitude=1.0, bias=0.5, region=REGION)


def plain_numpy(x: np.ndarray, n: int, seed: int) -> np.ndarray:
    """The same prior as anyone would write it: one draw after the other, one matrix of exponentials each."""
    rng = np.random.default_rng(seed)
    low, high = REGION
    s0 = np.sqrt(2.0) / 2.0
    rate = 2.0 / LENGTHSCALE
    s = s0 * rate
    weight_sd = (s0**2 / np.pi) ** 0.25
    out = np.empty((n, len(x)))
    for i in range(n):
        k = rng.poisson(rate * (high - low))
        c = rng.uniform(low, high, k)
        w = weight_sd * rng.standard_normal(k)
        b = 0.5 * rng.standard_normal()
        out[i] = b + np.exp(-0.5 * (s * (x[:, None] - c)) ** 2) @ w
    return out


def cpu_seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def compare(n: int, repeats: int) -> float:
    """Best CPU seconds of both, taken in turns so that a busy machine is unfair to neither."""
    prior = the_prior()
    prior.sample(X, 10, 0)  # compile or load from the cache
    plain_numpy(X, 10, 0)
    ours, theirs = [], []
    for repeat in range(repeats):
        ours.append(cpu_seconds(lambda seed=repeat: prior.sample(X, n, seed)))
        theirs.append(cpu_seconds(lambda seed=repeat: plain_numpy(X, n, seed)))
    mine, plain = min(ours), min(theirs)
    print(f"{n:,} functions at {len(X)} points, {prior.expected_units:.0f} expected units (CPU s, best of {repeats})")
    print(f"  porbnet           {mine:8.3f}   {1e6 * mine / n:7.1f} us a function")
    print(f"  plain NumPy loop  {plain:8.3f}   {1e6 * plain / n:7.1f} us a function")
    print(f"  ratio             {plain / mine:8.1f}   (by pair: {', '.join(ratios(ours, theirs))})")
    variances = prior.sample(X, n, 1)[:, 100].var(), plain_numpy(X, n, 1)[:, 100].var()
    print(f"  variance at x = 0.5: {variances[0]:.3f} and {variances[1]:.3f}, stated {prior.variance([0.5])[0]:.3f}")
    return plain / mine


def ratios(ours: list[float], theirs: list[float]) -> list[str]:
    return [f"{b / a:.1f}" for a, b in zip(ours, theirs, strict=True)]


def run_through(n: int) -> None:
    """Sum of squares of n draws in chunks, then this process's peak memory in megabytes."""
    total = np.zeros(len(X))
    for chunk in the_prior().sample_chunks(X, n, 0):
        total += (chunk**2).sum(axis=0)
    unit = 1024.0**2 if sys.platform == "darwin" else 1024.0
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit)


def memory(few: int, many: int) -> None:
    print("peak memory of a process that runs through sample_chunks")
    peaks = []
    for n in (few, many):
        done = subprocess.run(
            [sys.executable, __file__, "--run-through", str(n)], check=True, capture_output=True, text=True
        )
        peaks.append(float(done.stdout))
        print(f"  {n:>9,} draws   {peaks[-1]:7.1f} MB")
    print(f"  growth            {peaks[1] - peaks[0]:7.1f} MB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the draws")
    parser.add_argument("--run-through", type=int, metavar="N", help="only print the peak memory of N draws")
    options = parser.parse_args()
    if options.run_through:
        run_through(options.run_through)
        return 0
    share = 10 if options.quick else 1
    ratio = compare(10_000 // share, repeats=11)
    memory(10_000 // share, 1_000_000 // share)
    return 0 if ratio >= 10.0 else 1


if __name__ == "__main__":
    raise SystemExit(main())
