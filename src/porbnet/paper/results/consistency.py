"""An empirical look at the consistency theorem: the error as observations grow in number."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.paper import models
from porbnet.paper.claims import Claim, claim
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLUE, RED, finish
from porbnet.statement.prior import Prior

TITLE = "Consistency"
WHERE = "theorem on consistency (no figure in the paper)"
ABOUT = (
    "Root mean square error of the posterior mean on [0, 1] against the number of observations (random places, noise "
    "sd 0.2), constant intensity, all else default. Inside the model: a network drawn from a PoRB-NET prior. Outside: "
    "a triangular wave, whose corners no finite network has. Dots are repeats, lines their means."
)
NOISE = 0.2
TRUTHS = {"inside": "a network", "outside": "a triangular wave"}


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Errors by truth and number of observations."""
    sizes = [25, 50, 100, 200, 400] + ([800, 1600] if settings.n_repeats > 5 else [])
    n = settings.n_repeats
    tasks = [
        {"truth": t, "n": size, "seed": settings.seed + i, "sampling": settings.sampling}
        for t in TRUTHS
        for size in sizes
        for i in range(n)
    ]
    rows = iter(work.map(one_fit, tasks))
    return {"sizes": sizes} | {t: [[next(rows)["rmse"] for _ in range(n)] for _ in sizes] for t in TRUTHS}


def function(truth: str, x: FloatArray) -> FloatArray:
    """The true function at places of shape (n,)."""
    if truth == "outside":
        return np.asarray(2.0 * np.abs(2.0 * (1.5 * x - np.floor(1.5 * x + 0.5))) - 1.0)
    return np.asarray(Prior(0.15, 1.0, region=(-0.3, 1.3)).sample_networks(1, 3)[0](x[:, None]))


def one_fit(truth: str, n: int, seed: int, sampling: dict[str, Any]) -> Numbers:
    """Fit to n observations; the error of the mean."""
    rng = np.random.default_rng([seed, n])
    x = rng.random(n)
    y = function(truth, x) + NOISE * rng.standard_normal(n)
    found = models.porbnet(x[:, None], y, sampling, seed, lengthscale="constant")
    grid = np.linspace(0.0, 1.0, 301)
    return {"rmse": short(np.sqrt(np.mean((found.predict(grid[:, None]) - function(truth, grid)) ** 2)))}


def draw(numbers: Numbers, plt: Any) -> Any:
    """Both truths on logarithmic axes."""
    figure, ax = plt.subplots(figsize=(3.8, 2.8), layout="constrained")
    for truth, color in zip(TRUTHS, (BLUE, RED), strict=True):
        errors = np.array(numbers[truth])
        ax.plot(numbers["sizes"], errors, ".", color=color, alpha=0.4, markersize=4)
        ax.plot(numbers["sizes"], errors.mean(axis=1), color=color, label=f"{truth}: {TRUTHS[truth]}")
    sizes = np.array(numbers["sizes"], dtype=float)
    ax.plot(
        sizes, np.mean(numbers["inside"][0]) * (sizes / sizes[0]) ** -0.5, ":", color="black", label="n to the -1/2"
    )
    ax.set(xscale="log", yscale="log", xticks=numbers["sizes"], xticklabels=[str(s) for s in numbers["sizes"]])
    ax.minorticks_off()
    finish(ax, "", "observations", "error of the posterior mean")
    ax.legend()
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """The error falls, at a power of n."""
    found = []
    for truth, words in TRUTHS.items():
        means = np.mean(numbers[truth], axis=1)
        slope = float(np.polyfit(np.log(numbers["sizes"]), np.log(means), 1)[0])
        ends = {f"error at n = {numbers['sizes'][i]}": short(float(means[i]), 3) for i in (0, -1)}
        found.append(
            claim(f"error vanishes, function {truth} the model ({words})",
                  "the posterior concentrates around the truth",
                  {"slope of log error on log n": short(slope, 3)} | ends, "slope at most -0.25", slope <= -0.25)
        )  # fmt: skip
    return found
