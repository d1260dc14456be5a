"""Main text: uncertainty of PoRB-NET and of a BNN around the same data."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.paper import looks, models
from porbnet.paper.claims import Claim, claim, untestable
from porbnet.paper.frame import Numbers, ResumableMap, Settings, missing, short
from porbnet.paper.looks import BLUE, RED, finish
from porbnet.statement.prior import Prior

TITLE = "Posterior with stationary amplitude"
WHERE = "main text, first figure"
ABOUT = (
    "12 observations of a sine on [2, 4], noise sd 0.1. PoRB-NET: lengthscale 1, amplitude 1 on [-3, 9]. BNN: 50 RBF "
    "units, matched on [-1, 7] in expected upcrossings and in average variance. Mean and 90 % interval of f; nothing "
    "distinguishes left of the data from right but the origin."
)
LOW, HIGH, NOISE, AWAY = 2.0, 4.0, 0.1, 2.5


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Both fits."""
    tasks = [
        {"model": m, "seed": settings.seed, "sampling": settings.sampling, "nuts": settings.nuts}
        for m in ("PoRB-NET", "BNN")
    ]
    rows = work.map(one_fit, tasks)
    return {"missing": missing(rows), "PoRB-NET": rows[0], "BNN": rows[1]}


def one_fit(model: str, seed: int, sampling: dict[str, Any], nuts: dict[str, int]) -> Numbers:
    """Fit to the sine; the curve, and the sd of f at equal distances left and right of the data."""
    rng = np.random.default_rng(seed)
    X = np.linspace(LOW, HIGH, 12)[:, None]
    y = np.sin(2.0 * X[:, 0]) + NOISE * rng.standard_normal(12)
    prior = Prior(1.0, 1.0, noise=NOISE, region=(-3.0, 9.0))
    if model == "PoRB-NET":
        found = models.porbnet(X, y, sampling, seed, prior)
    else:
        from porbnet.baselines import matched_bnn

        found = models.bnn(X, y, matched_bnn(prior, (-1.0, 7.0)), NOISE, nuts, seed)
    _, (left, right) = found.predict([[LOW - AWAY], [HIGH + AWAY]], return_std=True, of="f")
    return {
        "curve": models.curve(found, np.linspace(-1.0, 7.0, 161)), "x": short(X[:, 0]), "y": short(y),
        "left": short(left), "right": short(right),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """Two panels."""
    shown = [m for m in ("BNN", "PoRB-NET") if "curve" in numbers[m]]
    figure, axes = plt.subplots(1, len(shown), figsize=(3.6 * len(shown), 2.5), sharey=True, layout="constrained",
                                squeeze=False)  # fmt: skip
    for ax, model in zip(axes[0], shown, strict=True):
        part = numbers[model]
        looks.band(ax, part["curve"], RED if model == "BNN" else BLUE, of="f")
        ax.plot(part["x"], part["y"], ".", color="black", markersize=4)
        ax.axvline(0.0, color="black", linewidth=0.6, linestyle=":")
        finish(ax, model, "x", "f(x)" if model == shown[0] else "")
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """The same uncertainty at equal distances, or not."""
    found = []
    words = f"sd of f {AWAY:g} right of the data, over that {AWAY:g} left of it (nearer the origin)"
    for model, stated, flat in (
        ("PoRB-NET", "captures amplitude stationarity", True),
        ("BNN", "suffers from amplitude non-stationarity", False),
    ):
        title = f"{model}: {stated}"
        if "curve" not in numbers[model]:
            found.append(untestable(title, stated, numbers["missing"]))
            continue
        ratio = numbers[model]["right"] / numbers[model]["left"]
        within = 0.8 <= ratio <= 1.25
        criterion = "between 0.8 and 1.25" if flat else "outside 0.8 to 1.25"
        found.append(claim(title, stated, {words: short(ratio, 3)}, criterion, within is flat))
    return found
