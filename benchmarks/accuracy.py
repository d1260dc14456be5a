"""How good are the predictions? Test scores over random 75/25 splits, beside scikit-learn's Gaussian process.

The protocol is that of `protocol.py` (splits 1 to 20; compare with the figures of others on 1 to 10). Scores in the
scaled outputs: LLH, mean log predictive density; RMSE of the mean; CRPS; share of test rows within the 90 % interval of
y; CPU seconds of a fit on one core. Nothing is tuned per data set. The Gaussian process has a squared-exponential
kernel, one lengthscale per input, and noise, all by maximal marginal likelihood.

    python benchmarks/accuracy.py --data motorcycle94 motorcycle133 --jobs 2
    python benchmarks/accuracy.py --noise varying --lengthscale learned

vix2018 is read from the package arch (pip install arch) and left out with a line if that is not there.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import machine
import numpy as np
import protocol

SCORES = ("LLH", "RMSE", "CRPS", "cover90", "cpu_seconds")
N_SAMPLES = 4000  # of y, for the CRPS
_ready = False


def porbnet_scores(part: protocol.Split, settings: dict[str, Any], seed: int) -> dict[str, float]:
    """Fit the estimator to a split and score it."""
    from porbnet import PoRBNetRegressor

    _warm(settings, part.X.shape[1])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # convergence is reported as a score
        model = PoRBNetRegressor(random_state=seed, n_jobs=1, progress=False, **settings)
        start = time.process_time()
        model.fit(part.X, part.y)
        seconds = time.process_time() - start
    density = model.log_density(part.X_test, part.y_test)
    samples = model.sample_y(part.X_test, N_SAMPLES, random_state=seed)
    worst = model.diagnostics_.worst_rhat
    return {
        **_scores(part, density, model.predict(part.X_test), model.predict_interval(part.X_test, 0.9)),
        "CRPS": float(protocol.crps_of_samples(part.y_test, samples).mean()),
        "cpu_seconds": seconds,
        "worst_rhat": worst.rhat,
        "least_ess": min(r.ess_bulk for r in model.diagnostics_.rows),
        "units": float(model.posterior_.n_units.mean()),
    }


def gp_scores(part: protocol.Split, seed: int) -> dict[str, float]:
    """The same for scikit-learn's Gaussian process."""
    from scipy.stats import norm
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    n_dims = part.X.shape[1]
    kernel = ConstantKernel(0.25, (1e-4, 1e2)) * RBF([0.2] * n_dims, (1e-3, 1e2)) + WhiteKernel(0.05, (1e-8, 1e1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # parameters at their bounds
        start = time.process_time()
        model = GaussianProcessRegressor(kernel, n_restarts_optimizer=3, random_state=seed).fit(part.X, part.y)
        seconds = time.process_time() - start
        mean, sd = model.predict(part.X_test, return_std=True)
    half = norm.ppf(0.95) * sd
    return {
        **_scores(part, norm.logpdf(part.y_test, mean, sd), mean, np.column_stack([mean - half, mean + half])),
        "CRPS": float(protocol.crps_of_normal(part.y_test, mean, sd).mean()),
        "cpu_seconds": seconds,
    }


def _scores(part: protocol.Split, density: np.ndarray, mean: np.ndarray, interval: np.ndarray) -> dict[str, float]:
    return {
        "LLH": float(density.mean()),
        "median_log_density": float(np.median(density)),
        "RMSE": float(np.sqrt(np.mean((part.y_test - mean) ** 2))),
        "cover90": protocol.covered(part.y_test, interval),
    }


def _warm(settings: dict[str, Any], n_dims: int) -> None:
    """Compile or load the kernels once per process, so that no fit is charged for it."""
    global _ready
    if _ready:
        return
    from porbnet import PoRBNetRegressor

    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = {**settings, "n_chains": 2, "n_warmup": 5, "n_draws": 8}
        model = PoRBNetRegressor(random_state=0, n_jobs=1, progress=False, **short)
        model.fit(rng.random((20, n_dims)), rng.random(20))
    _ready = True


def one(name: str, model: str, settings: dict[str, Any], seed: int) -> dict[str, Any]:
    """One split of one data set with one model, on one core."""
    from threadpoolctl import threadpool_limits

    part = protocol.split(*protocol.load(name), seed)
    with threadpool_limits(1):
        scores = porbnet_scores(part, settings, seed) if model == "porbnet" else gp_scores(part, seed)
    return {"data": name, "model": model, "seed": seed, **scores}


def summary(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of the table for one data set and model: all splits, then splits 1 to 10, then medians."""
    lines = []
    parts = [(f"splits 1-{max(r['seed'] for r in rows)}", rows)]
    if len(rows) > 10:
        parts.append(("splits 1-10", [r for r in rows if r["seed"] <= 10]))
    for label, part in parts:
        cells = []
        for score in SCORES:
            values = np.array([r[score] for r in part])
            spread = values.std(ddof=1) if len(values) > 1 else 0.0
            cells.append(f"{values.mean():>9.3f} ({spread:.3f})")
        lines.append(f"  {label:<13}" + "".join(f"{c:>18}" for c in cells))
    medians = "".join(f"{np.median([r[s] for r in rows]):>9.3f}{'':>9}" for s in SCORES)
    lines.append(
        f"  {'medians':<13}{medians}   median log density {np.median([r['median_log_density'] for r in rows]):.3f}"
    )
    if "worst_rhat" in rows[0]:
        rhat, draws = np.array([(r["worst_rhat"], r["least_ess"]) for r in rows]).T
        lines.append(
            f"  worst R-hat: median {np.median(rhat):.3f}, largest {rhat.max():.3f}; least bulk draws: median "
            f"{np.median(draws):.0f}, least {draws.min():.0f}; units {np.mean([r['units'] for r in rows]):.0f}"
        )
    return lines


def available(names: list[str]) -> list[str]:
    """Those data sets that can be read here."""
    kept = []
    for name in names:
        try:
            protocol.load(name)
        except ImportError as error:
            print(f"{name} left out: {error}")
        else:
            kept.append(name)
    return kept


def main() -> int:
    from joblib import Parallel, delayed

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=protocol.DATASETS, default=list(protocol.DATASETS), metavar="NAME")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--noise", default="learned", help="of the estimator: learned, varying, robust")
    parser.add_argument("--lengthscale", default="learned", help="of the estimator: learned or constant")
    parser.add_argument("--draws", type=int, help="per chain, instead of the estimator's default")
    parser.add_argument("--warmup", type=int, help="sweeps, instead of the estimator's default")
    parser.add_argument("--jobs", type=int, default=1, help="splits at a time, each on one core")
    parser.add_argument("--json", metavar="FILE", help="write every split's scores there")
    options = parser.parse_args()
    settings: dict[str, Any] = {"noise": options.noise, "lengthscale": options.lengthscale}
    if options.draws:
        settings["n_draws"] = options.draws
    if options.warmup is not None:
        settings["n_warmup"] = options.warmup
    found = machine.describe()
    print(machine.line(found))
    print(f"porbnet with {settings}; mean (sd) over splits")
    every: list[dict[str, Any]] = []
    models = ("porbnet", "GP")
    for name in available(options.data):
        print(f"\n{name}")
        print(f"  {'':<13}" + "".join(f"{s:>18}" for s in ("LLH", "RMSE", "CRPS", "90 % cover", "CPU s a fit")))
        for model in models:
            rows = Parallel(n_jobs=options.jobs)(
                delayed(one)(name, model, settings, seed) for seed in range(1, options.splits + 1)
            )
            every += rows
            print(f" {model}")
            print("\n".join(summary(rows)), flush=True)
        machine.save(options.json, {"settings": settings, "splits": every}, found)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
