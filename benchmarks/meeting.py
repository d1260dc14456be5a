"""Whether the chains of a default fit meet, in what time, and whether the intervals are right then.

Real series and surfaces (first splits of `protocol.py`), eight test functions at three sizes with a signal-to-noise
ratio of 7, each with one noise sd and with varying noise, and five functions without noise; three seeds each. A row of
the table gives the share of fits whose predictions (f and y) can be trusted by their own verdict, the share in which
everything can, CPU seconds on one core, and how often 90 % intervals cover the true f (away from jumps) and new y.

    python benchmarks/meeting.py --jobs 2 --out meeting.jsonl
    python benchmarks/meeting.py --only doppler step --sizes 200 --seeds 1

Fits found in the file of `--out` are not made again.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import machine
import numpy as np
import protocol
from numpy.typing import NDArray

Array = NDArray[np.float64]
SIZES = (200, 2_000, 20_000)
REAL = ("motorcycle94", "motorcycle133", "vix2018", "heartrate", "exp2d", "chirp2d")
RATIO = 7.0  # of signal to noise
N_SPLITS = 5

_BLOCKS = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
_BLOCK_HEIGHTS = np.array([4, -5, 3, -4, 5, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
_BUMP_HEIGHTS = np.array([4, 5, 3, 4, 5, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
_BUMP_WIDTHS = np.array([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])


def _blocks(x: Array) -> Array:
    return np.asarray((_BLOCK_HEIGHTS * (x[:, None] > _BLOCKS)).sum(axis=1))


def _bumps(x: Array) -> Array:
    return np.asarray((_BUMP_HEIGHTS * (1.0 + np.abs(x[:, None] - _BLOCKS) / _BUMP_WIDTHS) ** -4).sum(axis=1))


def _doppler(x: Array) -> Array:
    return np.asarray(np.sqrt(x * (1.0 - x)) * np.sin(2.1 * np.pi / (x + 0.05)))


def _heavisine(x: Array) -> Array:
    return np.asarray(4.0 * np.sin(4.0 * np.pi * x) - np.sign(x - 0.3) - np.sign(0.72 - x))


# function, and where it jumps (or has a cusp)
CURVES: dict[str, tuple[Callable[[Array], Array], Array]] = {
    "doppler": (_doppler, np.array([])),
    "bumps": (_bumps, _BLOCKS),
    "blocks": (_blocks, _BLOCKS),
    "heavisine": (_heavisine, np.array([0.3, 0.72])),
    "step": (lambda x: np.where(x > 0.5, 1.0, 0.0), np.array([0.5])),
    "chirp": (lambda x: np.sin(40.0 * x**2), np.array([])),
    "linear": (lambda x: 2.0 * x, np.array([])),
    "constant": (lambda x: np.zeros_like(x), np.array([])),
}


def _branin(x: Array) -> Array:
    a, b = 15.0 * x[:, 0] - 5.0, 15.0 * x[:, 1]
    bent = b - 5.1 / (4.0 * np.pi**2) * a**2 + 5.0 / np.pi * a - 6.0
    return np.asarray(bent**2 + 10.0 * (1.0 - 1.0 / (8.0 * np.pi)) * np.cos(a) + 10.0)


# without noise: function, inputs, rows
EXACT: dict[str, tuple[Callable[[Array], Array], int, int]] = {
    "branin60": (_branin, 2, 60),
    "branin200": (_branin, 2, 200),
    "surface80": (lambda x: np.sin(3.0 * x[:, 0]) + x[:, 0] * np.cos(4.0 * x[:, 1]), 2, 80),
    "chirp60": (lambda x: np.sin(40.0 * x[:, 0] ** 2), 1, 60),
    "ramps80": (lambda x: np.clip(8.0 * (x[:, 0] - 0.4), 0.0, 1.0), 1, 80),
}


class Case:
    """Data of a fit, and a truth where there is one.

    X, y : rows to fit
    X_test, y_test : new ones
    f_test : the true function there, or None
    away : which of them are away from jumps
    """

    def __init__(self, X: Array, y: Array, X_test: Array, y_test: Array, f_test: Array | None, away: Array) -> None:
        self.X, self.y, self.X_test, self.y_test, self.f_test, self.away = X, y, X_test, y_test, f_test, away


def case(task: dict[str, Any]) -> Case:
    """The data of a task."""
    name, seed = task["data"], task["seed"]
    if name in REAL:
        part = protocol.split(*protocol.load(name), task["split"])
        return Case(part.X, part.y, part.X_test, part.y_test, None, np.ones(len(part.y_test), bool))
    rng = np.random.default_rng([seed, sum(map(ord, name)), task["n"]])
    if name in EXACT:
        exact, n_dims, n = EXACT[name]
        X, X_test = rng.random((n, n_dims)), rng.random((400, n_dims))
        return Case(X, exact(X), X_test, exact(X_test), exact(X_test), np.ones(400, bool))
    function, jumps = CURVES[name]
    n = task["n"]
    x, x_test = np.sort(rng.random(n)), np.sort(rng.random(1000))
    spread = float(np.std(function(np.linspace(0.0, 1.0, 10_001))))
    sd = spread / RATIO if spread > 0 else 1.0
    f_test = function(x_test)
    apart = np.abs(x_test[:, None] - jumps).min(axis=1) if len(jumps) else np.ones(len(x_test))
    y_test = f_test + sd * rng.standard_normal(len(x_test))
    return Case(
        x[:, None], function(x) + sd * rng.standard_normal(n), x_test[:, None], y_test, f_test, apart > max(0.02, 4 / n)
    )


def fit(task: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """One default fit on one core, with its verdict, time and coverage."""
    from threadpoolctl import threadpool_limits

    from porbnet import PoRBNetRegressor

    data = case(task)
    noise = "varying" if task["noise"] == "varying" else "learned"
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        short = {"noise": noise, "n_chains": 1, "n_warmup": 2, "n_draws": 4, "progress": False, "n_jobs": 1}
        PoRBNetRegressor(random_state=0, **short).fit(data.X[:30], data.y[:30])  # kernels
        model = PoRBNetRegressor(noise=noise, random_state=task["seed"], n_jobs=1, progress=False, **settings)
        start = time.process_time()
        model.fit(data.X, data.y)
        seconds = time.process_time() - start
        density = model.log_density(data.X_test, data.y_test)
        interval = model.predict_interval(data.X_test, 0.9)
        of_f = model.predict_interval(data.X_test, 0.9, of="f")
    found = model.diagnostics_
    result: dict[str, Any] = {
        "converged": bool(found.converged),
        "predictions": bool(getattr(found, "predictions_converged", found.converged)),
        "cpu_seconds": seconds,
        "verdict": found.verdict,
        "draws": model.posterior_.n_draws_per_chain,
        "units": float(model.posterior_.n_units.mean()),
        "LLH": float(density.mean()),
        "RMSE": float(np.sqrt(np.mean((data.y_test - model.predict(data.X_test)) ** 2))),
        "cover_y": protocol.covered(data.y_test, interval),
        "worst": {
            kind: _worst(found.rows, kind) for kind in ("f", "width", "noise", "amplitude", "log level", "log ls")
        },
        "means": _means(model, data),
    }
    if data.f_test is not None:
        result["cover_f"] = protocol.covered(data.f_test[data.away], of_f[data.away])
    return result


def _worst(rows: Any, kind: str) -> tuple[float, float] | None:
    """Largest R-hat and least effective draws among quantities of a kind."""
    of_kind = [r for r in rows if r.name.split("[")[0] == kind and np.isfinite(r.rhat)]
    return (max(r.rhat for r in of_kind), min(r.least_ess for r in of_kind)) if of_kind else None


def _means(model: Any, data: Case) -> dict[str, list[float]]:
    """Means and Monte Carlo errors of what is diagnosed."""
    return {
        r.name: [r.mean, r.mcse] for r in model.diagnostics_.rows if r.name.split("[")[0] in ("f", "width", "noise")
    }


def tasks(options: argparse.Namespace) -> list[dict[str, Any]]:
    """What to fit."""
    found: list[dict[str, Any]] = []
    noises = options.noise or ["one", "varying"]
    wanted = lambda name: not options.only or name in options.only  # noqa: E731
    for seed in range(1, options.seeds + 1):
        for noise in noises:
            for name in REAL:
                splits = range(1, options.splits + 1)
                found += [{"data": name, "n": 0, "split": s, "noise": noise, "seed": seed} for s in splits]
            for name in CURVES:
                found += [{"data": name, "n": n, "split": 0, "noise": noise, "seed": seed} for n in options.sizes]
            for name in EXACT:
                found.append({"data": name, "n": 0, "split": 0, "noise": noise, "seed": seed})
    return [t for t in found if wanted(t["data"])]


def one(task: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """A task and its outcome."""
    return {**task, **fit(task, settings)}


def table(rows: list[dict[str, Any]]) -> list[str]:
    """A line per data set, size and kind of noise, and the figures that count."""
    head = f"{'data':<15}{'n':>7} {'noise':<8}{'fits':>5}{'pred.':>7}{'all':>6}{'cpu s':>8}{'worst':>8}"
    lines = [
        head + f"{'cover f':>9}{'cover y':>9}{'LLH':>8}{'RMSE':>8}{'units':>7}  worst R-hat (f, width, noise, log ls)"
    ]
    groups: dict[tuple[str, int, str], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault((row["data"], row["n"], row["noise"]), []).append(row)
    for (data, n, noise), group in groups.items():
        seconds = [r["cpu_seconds"] for r in group]
        cover_f = [r["cover_f"] for r in group if "cover_f" in r]
        rhat = [max((r["worst"][k][0] for r in group if r["worst"].get(k)), default=float("nan")) for k in
                ("f", "width", "noise", "log ls")]  # fmt: skip
        mean = {
            k: np.mean([r[k] for r in group]) for k in ("predictions", "converged", "cover_y", "LLH", "RMSE", "units")
        }
        lines.append(
            f"{data:<15}{n:>7} {noise:<8}{len(group):>5}{mean['predictions']:>7.2f}{mean['converged']:>6.2f}"
            f"{np.median(seconds):>8.1f}{max(seconds):>8.1f}{np.mean(cover_f) if cover_f else float('nan'):>9.3f}"
            f"{mean['cover_y']:>9.3f}{mean['LLH']:>8.3f}{mean['RMSE']:>8.3f}{mean['units']:>7.0f}  "
            + " ".join(f"{v:.3f}" for v in rhat)
        )
    for label, key in (("predictions can be trusted", "predictions"), ("everything can", "converged")):
        lines.append(f"{label}: {np.mean([r[key] for r in rows]):.3f} of {len(rows)} fits")
    return lines


def main() -> None:
    """Fit what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", help="data sets; all by default")
    parser.add_argument("--noise", nargs="*", choices=("one", "varying"))
    parser.add_argument("--sizes", nargs="*", type=int, default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--splits", type=int, default=N_SPLITS)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, help="file of results, a line of JSON per fit")
    parser.add_argument("--settings", type=json.loads, default={}, help="of the estimator, as JSON")
    options = parser.parse_args()
    from joblib import Parallel, delayed

    done = []
    if options.out and options.out.exists():
        done = [json.loads(line) for line in options.out.read_text().splitlines()]
    key = lambda t: tuple(t[k] for k in ("data", "n", "split", "noise", "seed"))  # noqa: E731
    wanted = tasks(options)
    known = {key(r): r for r in done}
    missing = [t for t in wanted if key(t) not in known]
    print(machine.describe())
    work = (delayed(one)(task, options.settings) for task in missing)
    for row in Parallel(n_jobs=options.jobs, return_as="generator_unordered")(work):
        known[key(row)] = row
        print(f"{key(row)}: {row['cpu_seconds']:.1f} s, {row['verdict']}", flush=True)
        if options.out:
            with options.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
    print("\n".join(table([known[key(t)] for t in wanted])))


if __name__ == "__main__":
    main()
