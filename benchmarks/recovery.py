"""Is a varying intensity found again? Coverage of its band on data drawn from the prior.

Each replicate draws an intensity λ(x) = λ* sigmoid(h(x)), λ* ~ Gamma, on [0, 1] with a margin, keeps it if its largest
value over the data is at least ten times its smallest, draws a network from it and 200 noisy readings, and fits the
prior that it was drawn from. Counted is how often the 90 % band of λ covers the true curve, over places and replicates;
the target is 85 to 95 %. Keeping only strongly varying curves is not part of the prior that is fitted, so that exactly
90 % is not to be expected.

    python benchmarks/recovery.py --jobs 2
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import machine
import numpy as np

from porbnet import Gamma, PoRBNetRegressor, Prior
from porbnet.intensity import SigmoidGP

N_POINTS, FACTOR, COVERAGE = 200, 10.0, 0.9
PLACES = np.linspace(0.0, 1.0, 21)[:, None]


def statement() -> Prior:
    """About 25 units on average, lengthscales from 0.03 to beyond the range."""
    curve = SigmoidGP(Gamma(4.0, 4.0 / 40.0), variance=4.0, lengthscale=0.25)
    return Prior(curve, 1.0, region=(-0.2, 1.2), bias=1.0, noise=0.1, units_per_lengthscale=1.5)


def replicate(seed: int) -> dict[str, Any]:
    """Draw, fit and compare once."""
    rng = np.random.default_rng([2026, seed])
    prior = statement()
    tried = 0
    while True:
        tried += 1
        truth = prior.intensity.draw(prior.region, rng)
        values = truth.value(PLACES)
        if values.max() >= FACTOR * values.min():
            break
    drawn = Prior(
        truth, prior.amplitude, region=prior.region, bias=prior.bias, noise=prior.noise,
        units_per_lengthscale=prior.units_per_lengthscale,
    )  # fmt: skip
    network = drawn.sample_networks(1, rng)
    X = np.sort(rng.random(N_POINTS))[:, None]
    y = network(X)[0] + prior.noise * rng.standard_normal(N_POINTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is reported
        model = PoRBNetRegressor(prior=prior, random_state=seed, n_jobs=1, progress=False).fit(X, y)
    band = model.intensity_at(PLACES, COVERAGE)
    return {
        "covered": ((band.lower <= values) & (values <= band.upper)).astype(float).tolist(),
        "factor": float(values.max() / values.min()),
        "width_of_band": float(np.median(np.log(band.upper / band.lower))),
        "units": len(network.weights),
        "tried": tried,
        "worst_rhat": model.diagnostics_.worst_rhat.rhat,
        "least_ess": min(r.ess_bulk for r in model.diagnostics_.rows),
    }


def main() -> int:
    from joblib import Parallel, delayed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicates", type=int, default=50)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write every replicate there")
    options = parser.parse_args()
    found = machine.describe()
    print(machine.line(found))
    rows = Parallel(n_jobs=options.jobs)(delayed(replicate)(seed) for seed in range(options.replicates))
    covered = np.array([r["covered"] for r in rows])
    error = covered.mean(axis=1).std(ddof=1) / np.sqrt(len(rows))
    print(
        f"{COVERAGE:.0%} band of the intensity covers {covered.mean():.3f} (standard error {error:.3f}); "
        "target 0.85-0.95"
    )
    print("by place", " ".join(f"{c:.2f}" for c in covered.mean(axis=0)))
    kept = len(rows) / sum(r["tried"] for r in rows)
    print(
        f"factor between places: median {np.median([r['factor'] for r in rows]):.0f} ({kept:.0%} of curves kept); "
        f"upper over lower end of the band: median {np.exp(np.median([r['width_of_band'] for r in rows])):.1f}; "
        f"worst R-hat: median {np.median([r['worst_rhat'] for r in rows]):.3f}, "
        f"largest {max(r['worst_rhat'] for r in rows):.3f}; least bulk draws {min(r['least_ess'] for r in rows):.0f}"
    )
    machine.save(options.json, {"replicates": rows}, found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
