"""Are the draws what they were? Fits over all options and both samplers, held against those of another commit.

A change that only moves code about must not change a draw. Before it, and after it:

    python scripts/same_draws.py store before.npz
    python scripts/same_draws.py compare before.npz

A compiler that may reorder sums makes another of the same sum when the code around it changes, and the last digits
follow. Two ways to see past that: --in-order compiles without that freedom (into a cache of its own), and
NUMBA_DISABLE_JIT=1 runs plain Python (with shorter chains). The exit code is 0 if every number is the same, bit for
bit; otherwise the largest relative difference is shown beside each fit.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from typing import Any

if "--in-order" in sys.argv:
    os.environ["NUMBA_CACHE_DIR"] = tempfile.mkdtemp()
    import numba

    _njit = numba.njit
    numba.njit = lambda *given, **options: _njit(*given, **(options | {"fastmath": False}))

import numpy as np

from porbnet import Gamma, InverseGamma, LogNormal, PaperSampler, PoRBNetRegressor, Prior

try:
    from porbnet.likelihood import RobustNoise
except ImportError:  # as it was called before
    from porbnet.noise import RobustNoise
from porbnet.intensity import Piecewise, SigmoidGP, Tabulated, UnknownConstant

PLAIN = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")


def series(n: int = 40, n_dims: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.random((n, n_dims))
    return X, np.sin(7.0 * X[:, 0]) + X.sum(axis=1) + (0.1 + 0.2 * X[:, 0]) * rng.standard_normal(n)


def prior(lengthscale: Any = 0.3, noise: Any = 0.2, **other: Any) -> Prior:
    stated = {"bias": 1.0, "region": (-0.3, 1.3), "units_per_lengthscale": 1.5} | other
    return Prior(lengthscale, LogNormal(1.0, 2.0), noise=noise, **stated)


def cases() -> dict[str, dict[str, Any]]:
    """Arguments of the estimator by name; `dims`, `weight` and `n` are about the data."""
    line = np.linspace(0.2, 0.6, 40)
    learned = SigmoidGP(Gamma(4.0, 0.3), LogNormal(3.0, 2.0), LogNormal(0.3, 2.0))
    known = SigmoidGP(20.0, 5.0, 0.25)
    bounds = [[-0.3, 1.3]]
    return {
        "learned": {},
        "constant": {"lengthscale": "constant"},
        "stated": {"lengthscale": 0.2, "noise": 0.2, "amplitude": 1.0},
        "function": {"lengthscale": lambda X: 0.2 + 0.1 * X[:, 0]},
        "piecewise": {"prior": prior(Piecewise([0.5], [4.0, 9.0]))},
        "table": {"prior": prior(Tabulated(bounds, np.array([4.0, 8.0, 5.0, 6.0])))},
        "unknown constant": {"prior": prior(UnknownConstant(3.0, 0.05), LogNormal(0.2, 2.0))},
        "law of the curve": {"prior": prior(learned)},
        "known upper level": {"prior": prior(known)},
        "without bias": {"prior": prior(bias=0.0)},
        "inverse gamma": {"prior": prior(noise=InverseGamma(3.0, 0.1))},
        "varying noise": {"noise": "varying"},
        "robust": {"noise": "robust"},
        "robust, freedom 4": {"prior": prior(noise=RobustNoise(LogNormal(0.2, 2.0), 4.0))},
        "known noise": {"noise": line},
        "weights": {"weight": 0.5 + line},
        "varying noise and weights": {"noise": "varying", "weight": 0.5 + line},
        "two inputs": {"dims": 2},
        "two inputs, varying noise": {"dims": 2, "noise": "varying"},
        "three inputs": {"dims": 3, "lengthscale": "constant"},
        "paper": {"sampler": PaperSampler(n_leapfrog=10), "lengthscale": "constant"},
        "paper, learned": {"sampler": PaperSampler(n_leapfrog=10), "prior": prior(known, LogNormal(0.2, 2.0))},
        "paper, plug-in": {
            "sampler": PaperSampler(n_leapfrog=10, plug_in=True, n_average=3),
            "prior": prior(known, InverseGamma(3.0, 0.1)),
        },
        "paper, weights": {"sampler": PaperSampler(n_leapfrog=10), "lengthscale": 0.3, "weight": 0.5 + line},
    }


def numbers(arguments: dict[str, Any]) -> dict[str, np.ndarray]:
    """Draws of one fit and predictions from them."""
    stated = dict(arguments)
    n_dims, weight = stated.pop("dims", 1), stated.pop("weight", None)
    X, y = series(n_dims=n_dims)
    length = {"n_warmup": 3, "n_draws": 4, "thin": 2} if PLAIN else {"n_warmup": 200, "n_draws": 200, "thin": 2}
    model = PoRBNetRegressor(**stated, **length, n_chains=2, n_jobs=1, random_state=7, progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, y, sample_weight=weight)
        posterior, networks, places = model.posterior_, model.posterior_.networks, X[:7]
        mean, sd = model.predict(places, return_std=True)
        return {
            "width": posterior.n_units, "noise": posterior.noise, "amplitude": posterior.amplitude,
            "bias": posterior.bias, "log likelihood": posterior.log_likelihood,
            "centers": networks.centers, "scales": networks.scales, "weights": networks.weights,
            "mean weights": posterior.mean_networks.weights, "intensity": posterior.intensity(places),
            "noise at": posterior.noise_at(places), "mean": mean, "sd": sd,
        }  # fmt: skip


def difference(one: np.ndarray, other: np.ndarray) -> float:
    """0 if they are the same bit for bit, else the largest relative difference (inf if they have other shapes)."""
    if one.shape != other.shape:
        return float("inf")
    if np.array_equal(one, other, equal_nan=True):
        return 0.0
    return float(np.max(np.abs(one - other) / np.maximum(np.abs(other), 1e-300)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("store", "compare"))
    parser.add_argument("file")
    parser.add_argument("--in-order", action="store_true", help="compile so that sums keep their order")
    parser.add_argument("--only", nargs="+", metavar="CASE")
    options = parser.parse_args()
    chosen = {name: case for name, case in cases().items() if not options.only or name in options.only}
    found = {f"{name}/{part}": a for name, case in chosen.items() for part, a in numbers(case).items()}
    if options.what == "store":
        np.savez(options.file, **found)
        return 0
    with np.load(options.file) as stored:
        worst = 0.0
        for name in chosen:
            parts = {k: difference(v, stored[k]) for k, v in found.items() if k.startswith(f"{name}/")}
            part = max(parts, key=lambda k: parts[k])
            worst = max(worst, parts[part])
            told = "the same" if parts[part] == 0.0 else f"differs by {parts[part]:.1e} in {part.split('/')[1]}"
            print(f"{name:<28}{told}")
    return 0 if worst == 0.0 else 1


if __name__ == "__main__":
    sys.exit(main())
