"""Appendix: BNN against PoRB-NET as priors: functions, upcrossings, variogram."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.comparison import BNNPrior
from porbnet.functions.upcrossings import count_upcrossings
from porbnet.paper.claims import Claim, claim
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLACK, BLUE, COLORS, RED, finish
from porbnet.statement.function_prior import FunctionPrior
from porbnet.statement.prior import Prior

TITLE = "BNN and PoRB-NET as priors"
WHERE = "appendix, priors for BNN and PoRB-NET"
ABOUT = (
    "All weights and biases N(0, 1). BNN: 20 RBF units. PoRB-NET: scale 1, uniform intensity on [-10, 10] with 20 "
    "expected units. Draws, upcrossings of zero on [-10, 10], and Cov(x - k/2, x + k/2) for k = 0, 1, 2."
)
N_UNITS, REACH, GAPS, INNER = 20, 10.0, (0.0, 1.0, 2.0), 5.0
MODELS = ("BNN", "PoRB-NET")


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Both priors."""
    tasks = [{"model": m, "n": settings.n_prior_draws, "seed": settings.seed} for m in MODELS]
    return dict(zip(MODELS, work.map(one_prior, tasks), strict=True))


def prior_of(model: str) -> FunctionPrior:
    """The two priors of the figure."""
    if model == "BNN":
        return BNNPrior(
            N_UNITS, "rbf", input_weight_sd=1.0, input_bias_sd=1.0, output_weight_sd=1.0, output_bias_sd=1.0
        )
    return Prior.from_paper(
        s0=1.0, intensity=N_UNITS / (2 * REACH), sigma_w2=math.sqrt(math.pi), sigma_b2=1.0, region=(-REACH, REACH)
    )


def one_prior(model: str, n: int, seed: int) -> Numbers:
    """Draws, upcrossings (all, and those within 5 of the origin), variogram."""
    prior = prior_of(model)
    x = np.linspace(-REACH, REACH, 801)
    counts, inner = [], []
    for chunk in prior.sample_chunks(x, n, seed):
        counts.append(count_upcrossings(chunk))
        inner.append(count_upcrossings(chunk[:, np.abs(x) <= INNER]))
    every, near = np.concatenate(counts), np.concatenate(inner)
    coarse = x[::5]
    variogram = [short(np.diagonal(prior.covariance(coarse - g / 2, coarse + g / 2))) for g in GAPS]
    f = prior.sample(np.concatenate([np.linspace(-8, 8, 9) - 0.5, np.linspace(-8, 8, 9) + 0.5]), n, seed)
    return {
        "x": short(coarse, 4), "draws": short(prior.sample(coarse, 50, seed), 3), "variogram": variogram,
        "x_check": short(np.linspace(-8, 8, 9)), "check": short(np.mean(f[:, :9] * f[:, 9:], axis=0)),
        "upcrossings": short(every.mean()), "share_near": short(int(near.sum()) / max(int(every.sum()), 1)),
        "histogram": short(np.bincount(every) / n),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """Models down; draws, upcrossings, variogram across."""
    figure, axes = plt.subplots(2, 3, figsize=(7.4, 4.0), sharex="col", layout="constrained")
    for i, model in enumerate(MODELS):
        part, last = numbers[model], i == 1
        axes[i, 0].plot(part["x"], np.array(part["draws"]).T, color=RED, alpha=0.25, linewidth=0.5)
        finish(axes[i, 0], "prior draws" if i == 0 else "", "x" if last else "", model)
        axes[i, 0].set_ylim(-8, 8)
        heights = part["histogram"]
        axes[i, 1].bar(range(len(heights)), heights, width=1.0, color=BLUE, alpha=0.4)
        axes[i, 1].axvline(part["upcrossings"], color=BLACK, label=f"mean {part['upcrossings']:.2f}")
        axes[i, 1].legend()
        finish(axes[i, 1], "upcrossings of 0" if i == 0 else "", "count" if last else "", "share of draws")
        for gap, line, color in zip(GAPS, part["variogram"], COLORS, strict=False):
            axes[i, 2].plot(part["x"], line, color=color, label=f"k = {gap:g}")
        axes[i, 2].plot(part["x_check"], part["check"], ".", color=COLORS[1], markersize=4)
        finish(axes[i, 2], "Cov(x − k/2, x + k/2)" if i == 0 else "", "x" if last else "", bottom=0.0)
    axes[0, 2].legend()
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """Flat variogram or not; crossings near the origin or all over."""
    least, near = {}, {}
    for model in MODELS:
        part = numbers[model]
        inner = np.abs(part["x"]) <= INNER
        least[model] = short(min(float(np.min(v) / np.max(v)) for v in np.array(part["variogram"])[:, inner]), 3)
        near[f"{model}: share within 5 of the origin"] = part["share_near"]
        near[f"{model}: mean count"] = part["upcrossings"]
    words = "least over largest covariance for |x| ≤ 5, worst gap"
    return [
        claim("PoRB-NET can express a stationary prior", "stationary", {words: least["PoRB-NET"]}, "at least 0.95",
              least["PoRB-NET"] >= 0.95),
        claim("the BNN's prior is not stationary", "not stationary", {words: least["BNN"]}, "at most 0.5",
              least["BNN"] <= 0.5, "the output bias, N(0, 1) in both networks, holds the ratio up"),
        claim("upcrossings of the BNN gather near the origin, PoRB-NET's do not",
              "lengthscale concentrated near the origin",
              near, "more than 0.65 of the BNN's and 0.4 to 0.6 of PoRB-NET's lie in the inner half",
              near["BNN: share within 5 of the origin"] > 0.65
              and 0.4 <= near["PoRB-NET: share within 5 of the origin"] <= 0.6),
    ]  # fmt: skip
