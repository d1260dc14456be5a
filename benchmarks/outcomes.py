"""Labels and counts against what scikit-learn has: log loss and log probability of counts on new rows, CPU beside it.

Each split draws 500 rows to fit and 500 to predict. Smoothness changes along x in a chirp of log-odds and a doppler of
log rates; it is the same everywhere in two sines. Peers:

    labels   GaussianProcessClassifier (squared exponential, its lengthscale and amplitude by maximum likelihood),
             HistGradientBoostingClassifier
    counts   a Poisson GAM (cubic splines and a ridge penalty, knots and penalty by cross-validation),
             HistGradientBoostingRegressor with Poisson loss

    python benchmarks/outcomes.py --splits 10

With `--beside` default fits stand beside a Gaussian fit of the same function at the same inputs, whose noise says as
much of f as a typical outcome does: CPU seconds, the verdict, effective draws of the slowest quantity per CPU second.

    python benchmarks/outcomes.py --beside --splits 3
"""

import argparse
import time
import warnings

import numpy as np
from scipy.special import expit
from scipy.stats import poisson
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.gaussian_process.kernels import RBF, ConstantKernel
from sklearn.linear_model import PoissonRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import SplineTransformer

from porbnet import PoRBNetClassifier, PoRBNetCountRegressor, PoRBNetRegressor

N = 500


def chirp(x):
    return 3.0 * np.sin(2.0 * np.pi * (0.5 + 8.0 * x**2) * x)


def doppler(x):
    return 1.5 + 2.5 * np.sqrt(x * (1.0 - x)) * np.sin(2.1 * np.pi / (x + 0.08))


def wave(x):
    return 2.0 * np.sin(9.0 * x)


def log_wave(x):
    return 1.5 + np.sin(9.0 * x)


LABELS = {"chirp of log-odds": chirp, "sine of log-odds": wave}
COUNTS = {"doppler of log rate": doppler, "sine of log rate": log_wave}


def labels(function, rng):
    x = rng.uniform(size=(N, 1))
    return x, (rng.random(N) < expit(function(x[:, 0]))).astype(int)


def counts(function, rng):
    x = rng.uniform(size=(N, 1))
    return x, rng.poisson(np.exp(function(x[:, 0])))


def of_labels(model, x, y):
    p = model.predict_proba(x)
    return float(np.mean(np.log(np.clip(p[np.arange(len(y)), y], 1e-15, 1.0))))


def of_counts(model, x, y):
    if hasattr(model, "log_density"):
        return float(model.log_density(x, y).mean())
    return float(np.mean(poisson.logpmf(y, np.maximum(model.predict(x), 1e-9))))


def peers(kind, seed, chains):
    own = {"n_jobs": 1, "progress": False, "random_state": seed, **chains}
    if kind == "labels":
        kernel = ConstantKernel(4.0, (1e-2, 1e3)) * RBF(0.1, (1e-3, 1e2))
        return {
            "porbnet": PoRBNetClassifier(**own),
            "GP": GaussianProcessClassifier(kernel, random_state=seed),
            "boosting": HistGradientBoostingClassifier(random_state=seed),
        }
    gam = make_pipeline(SplineTransformer(), PoissonRegressor(max_iter=2000))
    grid = {"splinetransformer__n_knots": [8, 15, 30, 60], "poissonregressor__alpha": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]}
    return {
        "porbnet": PoRBNetCountRegressor(**own),
        "porbnet, Poisson": PoRBNetCountRegressor(law="poisson", **own),
        "GAM": GridSearchCV(gam, grid, scoring="neg_mean_poisson_deviance"),
        "boosting": HistGradientBoostingRegressor(loss="poisson", random_state=seed),
    }


def as_much_noise(kind, f):
    """The noise sd of a Gaussian output that has the mean information of an outcome: p (1 - p), or the rate."""
    information = expit(f) * expit(-f) if kind == "labels" else np.exp(f)
    return 1.0 / np.sqrt(np.mean(information))


def beside_gaussian(n_splits):
    for kind, data, draw in (("labels", LABELS, labels), ("counts", COUNTS, counts)):
        for name, function in data.items():
            spent = {}
            for split in range(n_splits):
                rng = np.random.default_rng(split)
                x, y = draw(function, rng)
                f = function(x[:, 0])
                own = {"n_jobs": 1, "progress": False, "random_state": split}
                models = {
                    "outcomes": (peers(kind, split, {})["porbnet"], y),
                    "Gaussian": (PoRBNetRegressor(**own), f + as_much_noise(kind, f) * rng.standard_normal(N)),
                    "Gaussian, sd 0.3": (PoRBNetRegressor(**own), f + 0.3 * rng.standard_normal(N)),
                }
                for who, (model, outputs) in models.items():
                    began = time.process_time()
                    found = model.fit(x, outputs).diagnostics_
                    cpu = time.process_time() - began
                    verdict = "all" if found.converged else "predictions" if found.predictions_converged else "no"
                    rate = found.least_ess.least_ess / cpu
                    spent.setdefault(who, []).append(cpu)
                    print(f"  {name}, {split}: {who:18s}{cpu:7.1f} CPU s, converged: {verdict}, {rate:.0f} a CPU s")
            mean = {who: np.mean(values) for who, values in spent.items()}
            told = ", ".join(f"{mean['outcomes'] / m:.1f} times {who}" for who, m in mean.items() if who != "outcomes")
            print(f"{name}: {mean['outcomes']:.1f} CPU s, {told}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--draws", default="auto", help="draws of each chain, or auto")
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--beside", action="store_true", help="CPU beside Gaussian fits instead")
    options = parser.parse_args()
    chains = {"n_chains": options.chains, "n_draws": "auto" if options.draws == "auto" else int(options.draws)}
    warnings.simplefilter("ignore")
    peers("labels", 0, {"n_draws": 4, "n_warmup": 4})["porbnet"].fit(*labels(wave, np.random.default_rng(0)))
    peers("counts", 0, {"n_draws": 4, "n_warmup": 4})["porbnet"].fit(*counts(wave, np.random.default_rng(0)))
    if options.beside:
        PoRBNetRegressor(n_draws=4, n_warmup=4, n_jobs=1, progress=False).fit(*counts(wave, np.random.default_rng(0)))
        beside_gaussian(options.splits)
        return
    for kind, data, draw, score in (("labels", LABELS, labels, of_labels), ("counts", COUNTS, counts, of_counts)):
        for name, function in data.items():
            found = {}
            for split in range(options.splits):
                rng = np.random.default_rng(split)
                (x, y), (x_new, y_new) = draw(function, rng), draw(function, rng)
                for who, model in peers(kind, split, chains).items():
                    began = time.process_time()
                    value = score(model.fit(x, y), x_new, y_new)
                    good = getattr(model, "diagnostics_", None)
                    trusted = 1.0 if good is None else float(good.predictions_converged)
                    found.setdefault(who, []).append((value, time.process_time() - began, trusted))
            print(f"{name}, {options.splits} splits: mean log probability, its standard error, CPU s, converged")
            own = np.array(found["porbnet"])[:, 0]
            for who, rows in found.items():
                value, cpu, trusted = np.array(rows).T
                apart = own - value
                error = np.std(apart, ddof=1) / np.sqrt(len(apart)) if len(apart) > 1 else float("nan")
                print(
                    f"  {who:18s}{value.mean():9.4f}   porbnet better by {apart.mean():7.4f} ± {error:.4f}"
                    f"{cpu.mean():8.1f} s {trusted.mean():6.0%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
