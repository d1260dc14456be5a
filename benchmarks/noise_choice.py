"""Whether noise="auto" chooses the noise that made the data, and a fit with one noise sd says when that is wrong.

Four kinds of data, 20 replicates each: a random three quarters of the motorcycle data (varying is right), a wave with a
noise curve (varying), with 5 % gross outliers (robust), and with one noise sd (learned). Printed: what was chosen and,
with --hints, how many fits with noise="learned" warned, and of what.

    python benchmarks/noise_choice.py [--replicates 20] [--only constant] [--first 0] [--hints]
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections import Counter

import numpy as np
from numpy.typing import NDArray

from porbnet import PoRBNetRegressor, datasets
from porbnet.errors import NoiseWarning

Array = NDArray[np.float64]
RIGHT = {"motorcycle": "varying", "curve": "varying", "outliers": "robust", "constant": "learned"}
TARGET = 0.9  # of the replicates of each kind
N_ROWS, OUTLIERS = 150, 0.05
# the choice is made before the full fit, which is not what is looked at
BRIEF = {"n_chains": 2, "n_warmup": 10, "n_draws": 10, "n_jobs": 1, "progress": False}


def data(kind: str, seed: int) -> tuple[Array, Array]:
    """One replicate: inputs of shape (n, 1) and outputs."""
    rng = np.random.default_rng([seed, sorted(RIGHT).index(kind)])
    if kind == "motorcycle":
        whole = datasets.load_motorcycle()
        rows = np.sort(rng.permutation(len(whole.y))[: round(0.75 * len(whole.y))])
        return whole.X[rows], whole.y[rows]
    x = np.sort(rng.uniform(0.0, 1.0, N_ROWS))
    errors = rng.standard_normal(N_ROWS)
    if kind == "curve":
        errors *= 0.25 * np.exp(2.0 * x)  # seven times as much on the right as on the left
    if kind == "outliers":
        far = rng.permutation(N_ROWS)[: round(OUTLIERS * N_ROWS)]
        errors[far] += rng.choice([-1.0, 1.0], len(far)) * rng.uniform(7.0, 20.0, len(far))  # noise sds
    return x[:, None], np.sin(7.0 * x) + 0.5 * np.cos(19.0 * x) + 0.2 * errors


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="number of the first replicate, its seed")
    parser.add_argument("--only", choices=sorted(RIGHT), action="append")
    parser.add_argument("--hints", action="store_true", help="also fit with noise='learned', and count what is said")
    arguments = parser.parse_args()
    missed = []
    for kind, right in RIGHT.items():
        if arguments.only and kind not in arguments.only:
            continue
        chosen: Counter[str] = Counter()
        said: Counter[str] = Counter()
        cpu = 0.0
        for seed in range(arguments.first, arguments.first + arguments.replicates):
            X, y = data(kind, seed)
            started = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model = PoRBNetRegressor(noise="auto", random_state=seed, **BRIEF).fit(X, y)
            cpu += time.process_time() - started
            chosen[model.noise_choice_.noise] += 1
            print(f"  {kind} {seed}: {model.noise_choice_}", flush=True)
            if arguments.hints:
                said[hint(X, y, seed)] += 1
        n = arguments.replicates
        print(f"{kind}: {right} in {chosen[right]} of {n} ({dict(chosen)}); {cpu / n:.1f} CPU seconds each")
        if arguments.hints:
            print(f"  a fit with one noise sd says: {dict(said)}")
        if chosen[right] < TARGET * n:
            missed.append(kind)
    print("target missed: " + ", ".join(missed) if missed else f"at least {TARGET:.0%} of each")
    return bool(missed)


def hint(X: Array, y: Array, seed: int) -> str:
    """What a fit with one noise sd says of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PoRBNetRegressor(n_jobs=1, progress=False, random_state=seed, max_seconds=30).fit(X, y)
    words = [str(w.message) for w in caught if issubclass(w.category, NoiseWarning)]
    return "nothing" if not words else "varying" if "'varying'" in words[0] else "robust"


if __name__ == "__main__":
    raise SystemExit(main())
