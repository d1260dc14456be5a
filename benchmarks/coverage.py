"""Can the defaults be trusted? Convergence on the motorcycle data, and how often 90 % intervals cover new readings.

Convergence: `PoRBNetRegressor(random_state=0).fit(X, y)` on all 133 rows, nothing stated: worst R-hat and least bulk
effective draws of f (20 places), of the number of units, of the noise and of the rest. Coverage: 20 random 75/25
splits; share of held-out readings within the 90 % intervals of y.

    python benchmarks/coverage.py [--jobs 2]
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import machine
import numpy as np
import protocol

from porbnet import PoRBNetRegressor

TARGET_RHAT, TARGET_ESS, TARGET_COVER = 1.01, 400.0, (0.80, 0.97)


def convergence(settings: dict[str, Any], n_seeds: int) -> list[dict[str, Any]]:
    """R-hat and effective draws of a fit to all rows, by kind of quantity, for seeds 0, 1, ..."""
    X, y = protocol.load("motorcycle133")
    found = []
    for seed in range(n_seeds):
        cpu, wall = time.process_time(), time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the verdict is printed
            model = PoRBNetRegressor(random_state=seed, progress=False, **settings).fit(X, y)
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        kinds: dict[str, list[Any]] = {}
        for row in model.diagnostics_.rows:
            kinds.setdefault(row.name.split("[")[0], []).append(row)
        found.append(
            {
                "seed": seed,
                "cpu_seconds": cpu,
                "wall_seconds": wall,
                "verdict": model.diagnostics_.verdict,
                "kinds": {
                    name: {"rhat": max(r.rhat for r in rows), "bulk": min(r.ess_bulk for r in rows)}
                    for name, rows in kinds.items()
                },
            }
        )
        shown = ", ".join(f"{k} {v['rhat']:.4f} / {v['bulk']:.0f}" for k, v in found[-1]["kinds"].items())
        print(f"  seed {seed}: {shown}; CPU {cpu:.2f} s, wall {wall:.2f} s", flush=True)
        print(f"          {found[-1]['verdict']}")
    return found


def one_split(seed: int, settings: dict[str, Any]) -> dict[str, float]:
    """Coverage and mean width of the 90 % intervals of y on the test rows of one split."""
    part = protocol.split(*protocol.load("motorcycle133"), seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = PoRBNetRegressor(random_state=seed, n_jobs=1, progress=False, **settings).fit(part.X, part.y)
    interval = model.predict_interval(part.X_test, 0.9)
    return {
        "seed": seed,
        "covered": protocol.covered(part.y_test, interval),
        "width": float(np.mean(interval[:, 1] - interval[:, 0])),
        "worst_rhat": model.diagnostics_.worst_rhat.rhat,
    }


def main() -> int:
    from joblib import Parallel, delayed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--seeds", type=int, default=3, help="fits to all rows; the target is on seed 0")
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time")
    parser.add_argument("--noise", default="learned")
    parser.add_argument("--lengthscale", default="learned")
    parser.add_argument("--json", metavar="FILE", help="write the results there too")
    options = parser.parse_args()
    settings = {"noise": options.noise, "lengthscale": options.lengthscale}
    found = machine.describe()
    print(machine.line(found))
    print(f"\nmotorcycle133, defaults, {settings}: worst R-hat / least bulk effective draws")
    fits = convergence(settings, options.seeds)
    asked = {k: v for k, v in fits[0]["kinds"].items() if k in ("f", "width", "noise")}
    good = all(v["rhat"] < TARGET_RHAT and v["bulk"] > TARGET_ESS for v in asked.values())
    print(
        f"f, width and noise at seed 0: {'reached' if good else 'not reached'} "
        f"(R-hat below {TARGET_RHAT}, more than {TARGET_ESS:.0f} draws)"
    )
    rows = Parallel(n_jobs=options.jobs)(delayed(one_split)(s, settings) for s in range(1, options.splits + 1))
    shares = np.array([r["covered"] for r in rows])
    print(f"\n90 % intervals of y, {options.splits} splits 75/25, share of held-out readings covered")
    print("  by split: " + " ".join(f"{100 * s:.0f}" for s in shares))
    inside = bool(TARGET_COVER[0] <= shares.mean() <= TARGET_COVER[1])
    print(f"  mean {shares.mean():.3f}, sd {shares.std(ddof=1):.3f}, least {shares.min():.2f}, most {shares.max():.2f}")
    print(f"  mean within {TARGET_COVER[0]:.2f} to {TARGET_COVER[1]:.2f}: {'yes' if inside else 'no'}")
    print(f"  mean width of an interval {np.mean([r['width'] for r in rows]):.3f}")
    print(f"  splits with worst R-hat above {TARGET_RHAT}: {sum(r['worst_rhat'] > TARGET_RHAT for r in rows)}")
    machine.save(options.json, {"convergence": fits, "splits": rows, "reached": good and inside}, found)
    return 0 if good and inside else 1


if __name__ == "__main__":
    raise SystemExit(main())
