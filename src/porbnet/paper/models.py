"""The models of the tables and figures: made by name, fitted quietly, scored and drawn in one way."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.errors import PorbnetWarning
from porbnet.functions.upcrossings import count_upcrossings
from porbnet.paper import protocol
from porbnet.paper.frame import Numbers, Settings, short
from porbnet.statement.prior import Prior

GRID = np.linspace(-0.03, 1.03, 160)
QUICK_MODELS = ("PoRB-NET", "PoRB-NET, varying noise", "GP", "B-RBFN", "BNN, RBF", "L-GP", "dropout")
MORE_MODELS = ("GP, HMC", "BNN, tanh", "L-GP, varying noise")
COSTLY = (*MORE_MODELS, "L-GP", "dropout")


def porbnet(X: Any, y: Any, sampling: dict[str, Any], seed: int, prior: Prior | None = None, **stated: Any) -> Any:
    """A fitted `PoRBNetRegressor` on one core; its convergence is in `diagnostics_`."""
    from porbnet.estimators.regressor import PoRBNetRegressor

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        model = PoRBNetRegressor(prior=prior, random_state=seed, n_jobs=1, progress=False, **sampling, **stated)
        return model.fit(X, y)


def bnn(X: Any, y: Any, prior: Any, noise: Any, nuts: dict[str, int], seed: int) -> Any:
    """A fitted `BNNRegressor`."""
    from porbnet.baselines import BNNRegressor

    return BNNRegressor(prior, noise, random_state=seed, **nuts).fit(X, y)


def fitted(name: str, X: FloatArray, y: FloatArray, sizes: Settings, seed: int) -> Any:
    """A model by name, fitted with nothing tuned."""
    if name.startswith("PoRB-NET"):
        return porbnet(X, y, sizes.sampling, seed, noise="varying" if "varying" in name else "learned")
    from porbnet import baselines
    from porbnet.statement.defaults import default_prior

    if name.startswith("BNN"):
        prior, _ = default_prior(X, y)
        ends = (float(X.min()), float(X.max()))
        network = baselines.matched_bnn(prior, ends, activation="tanh" if "tanh" in name else "rbf")
        return bnn(X, y, network, prior.noise, sizes.nuts, seed)
    if name.startswith("L-GP"):
        varying = ("lengthscale", "noise") if "noise" in name else ("lengthscale",)
        return baselines.LGPRegressor(varying, random_state=seed, **sizes.nuts).fit(X, y)
    if name == "dropout":
        return baselines.DropoutRegressor(n_epochs=sizes.dropout_epochs, random_state=seed).fit(X, y)
    if name == "B-RBFN":
        return baselines.BRBFNRegressor(random_state=seed, **sizes.sampling).fit(X, y)
    method = "hmc" if "HMC" in name else "ml"
    return baselines.GPRegressor(method, random_state=seed, **sizes.nuts).fit(X, y)


def score_split(data: str, model: str, split: int, sizes: dict[str, int]) -> Numbers:
    """One model on one split of one data set: scores, and for the first split the curve too."""
    settings = Settings(**sizes)
    part = protocol.split(*protocol.load(data), split)
    start = time.process_time()
    found = fitted(model, part.X, part.y, settings, settings.seed + split)
    seconds = time.process_time() - start
    density = found.log_density(part.X_test, part.y_test)
    error = part.y_test - found.predict(part.X_test)
    result: Numbers = {
        "llh": short(density.mean()), "median_log_density": short(np.median(density)),
        "rmse": short(np.sqrt(np.mean(error**2))), "cpu_seconds": short(seconds, 3),
    }  # fmt: skip
    if model.startswith("PoRB-NET"):
        result["worst_rhat"] = short(found.diagnostics_.worst_rhat.rhat, 4)
    if split == 1:
        result["curve"] = curve(found, GRID)
        result["data"] = {
            "x": short(part.X[:, 0], 4), "y": short(part.y, 4), "x_test": short(part.X_test[:, 0], 4),
            "y_test": short(part.y_test, 4),
        }  # fmt: skip
        if model.startswith(("PoRB-NET", "BNN")):
            functions = found.sample_f(np.linspace(0.0, 1.0, 400)[:, None], 300, 0).T
            result["upcrossings"] = short(count_upcrossings(functions).mean(), 4)
        if model == "PoRB-NET":
            result["intensity"] = intensity_band(found, GRID)
    return result


def curve(model: Any, x: FloatArray, coverage: float = 0.9) -> Numbers:
    """Mean, sd of f, and the intervals of f and of y at places."""
    points = x[:, None]
    mean, sd = model.predict(points, return_std=True, of="f")
    found: Numbers = {"x": short(x, 4), "mean": short(mean, 4), "f_sd": short(sd, 4)}
    for of in ("f", "y"):
        low, high = model.predict_interval(points, coverage, of=of).T
        found |= {f"{of}_low": short(low, 4), f"{of}_high": short(high, 4)}
    return found


def intensity_band(model: Any, x: FloatArray, coverage: float = 0.9) -> Numbers:
    """Posterior mean and band of the intensity at places."""
    found = model.intensity_at(x[:, None], coverage)
    return {"x": short(x, 4), "mean": short(found.mean, 4), "low": short(found.lower, 4), "high": short(found.upper, 4)}
