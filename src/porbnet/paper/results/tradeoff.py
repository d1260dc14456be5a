"""Appendix: with few data from a stationary function a BNN must choose where to be wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.comparison import BNNPrior, GaussianProcessPrior
from porbnet.paper import looks, models
from porbnet.paper.claims import Claim, claim, untestable
from porbnet.paper.frame import Numbers, ResumableMap, Settings, missing, short
from porbnet.paper.looks import BLACK, BLUE, RED, finish
from porbnet.statement.prior import Prior

TITLE = "The BNN's trade-off"
WHERE = "appendix, BNN with small and large variances, and PoRB-NET"
ABOUT = (
    "Functions from a stationary Gaussian process (lengthscale √2, the sd of PoRB-NET's prior), 16 observations on "
    "[-5, 5] with two equal gaps, (-1, 1) and (2, 4), noise sd 0.1. BNN: 12 RBF units, all variances 1 or 7.4. "
    "PoRB-NET: 12 expected units on [-5, 5], scale 1, weight variance 1. Mean and 90 % interval of f; red: truth."
)
MODELS = {"BNN, variances 1": 1.0, "BNN, variances 7.4": 7.4, "PoRB-NET": None}
GAPS, HALF, NOISE, REACH, N_UNITS = (0.0, 3.0), 1.0, 0.1, 5.0, 12
N = 16
GRID = np.linspace(-REACH, REACH, 121)


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Every model on every function."""
    n = min(settings.n_repeats, 5)
    found: Numbers = {"missing": "", "n": n}
    for model in MODELS:
        tasks = [
            {"model": model, "seed": settings.seed + i, "sampling": settings.sampling, "nuts": settings.nuts}
            for i in range(n)
        ]
        rows = work.map(one_fit, tasks)
        found["missing"] = found["missing"] or missing(rows)
        if not missing(rows):
            means = {k: short(float(np.mean([r[k] for r in rows]))) for k in ("origin", "away", "covered_away")}
            found[model] = {"shown": rows[0], "ratio": short(means["origin"] / means["away"]), **means}
    return found


def one_fit(model: str, seed: int, sampling: dict[str, Any], nuts: dict[str, int]) -> Numbers:
    """Draw a function, fit the model, and read off the sd of f in both gaps."""
    level = N_UNITS / (2.0 * REACH)
    prior = Prior.from_paper(
        s0=1.0 / level, intensity=level, sigma_w2=level * math.sqrt(math.pi), sigma_b2=1.0, noise_variance=NOISE**2,
        region=(-REACH, REACH),
    )  # fmt: skip
    rng = np.random.default_rng([seed, 9])
    places = np.linspace(-REACH, REACH, 201)
    allowed = places[np.all([np.abs(places - g) > HALF for g in GAPS], axis=0)]
    X = allowed[np.linspace(0, len(allowed) - 1, N).astype(int)]
    truth = GaussianProcessPrior(math.sqrt(2.0), math.sqrt(level * math.sqrt(math.pi)), 1.0)
    f = truth.sample(np.concatenate([X, GRID]), 1, rng)[0]
    y = f[: len(X)] + NOISE * rng.standard_normal(len(X))
    variance = MODELS[model]
    if variance is None:
        found = models.porbnet(X[:, None], y, sampling, seed, prior)
    else:
        sd = math.sqrt(variance)
        network = BNNPrior(N_UNITS, "rbf", input_weight_sd=sd, input_bias_sd=sd, output_weight_sd=sd, output_bias_sd=sd)
        found = models.bnn(X[:, None], y, network, NOISE, nuts, seed)
    curve = models.curve(found, GRID)
    sds = np.array(curve["f_sd"])
    origin, away = (float(sds[np.abs(GRID - g) <= HALF].mean()) for g in GAPS)
    outer = np.abs(GRID) > 2.5
    inside = (f[len(X) :] >= curve["f_low"]) & (f[len(X) :] <= curve["f_high"])
    return {
        "curve": curve, "x": short(X, 4), "y": short(y, 4), "f": short(f[len(X) :], 4), "origin": short(origin),
        "away": short(away), "covered_away": short(inside[outer].mean()),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """One panel per model."""
    shown = [m for m in MODELS if m in numbers]
    figure, axes = plt.subplots(1, len(shown), figsize=(2.5 * len(shown), 2.3), sharey=True, layout="constrained",
                                squeeze=False)  # fmt: skip
    for ax, model in zip(axes[0], shown, strict=True):
        part = numbers[model]["shown"]
        looks.band(ax, part["curve"], BLUE if model == "PoRB-NET" else looks.PURPLE, of="f")
        ax.plot(part["curve"]["x"], part["f"], color=RED, linestyle="--", linewidth=1.0)
        ax.plot(part["x"], part["y"], ".", color=BLACK, markersize=4)
        finish(ax, model, "x", "f(x)" if model == shown[0] else "")
    low, high = min(numbers["PoRB-NET"]["shown"]["f"]), max(numbers["PoRB-NET"]["shown"]["f"])
    axes[0, 0].set_ylim(low - 3.0, high + 3.0)
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """Equal gaps, equal uncertainty, or not; and whether the interval holds the function."""
    small, large = list(MODELS)[:2]
    stated = (
        "underestimated uncertainty away from the origin",
        "overestimated, nonstationary uncertainty near the origin",
        "stationary uncertainty",
    )
    if small not in numbers or large not in numbers:
        return [untestable(f"{m}: {s}", s, numbers["missing"]) for m, s in zip(MODELS, stated, strict=True)]
    words, cover = (
        "sd of f in the gap at the origin, over that in the gap at 3",
        "share of f in the 90 % band, |x| > 2.5",
    )
    ratio, own = {m: numbers[m]["ratio"] for m in MODELS}, numbers["PoRB-NET"]
    n = numbers["n"]
    return [
        claim(f"{small}: {stated[0]}", stated[0],
              {cover: numbers[small]["covered_away"], f"{cover}, PoRB-NET": own["covered_away"]},
              f"below 0.8, mean of {n} functions", numbers[small]["covered_away"] < 0.8),
        claim(f"{large}: {stated[1]}", stated[1], {words: ratio[large]}, "above 1.25", ratio[large] > 1.25),
        claim(f"PoRB-NET: {stated[2]}", "captures stationary functions", {words: ratio["PoRB-NET"]},
              "between 0.8 and 1.25", 0.8 <= ratio["PoRB-NET"] <= 1.25),
    ]  # fmt: skip
