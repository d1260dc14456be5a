"""Appendix: a higher intensity in a gap of the data raises the uncertainty there."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.intensity import Piecewise
from porbnet.paper import looks, models
from porbnet.paper.claims import Claim, claim
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLACK, BLUE, GREEN, RED, finish
from porbnet.statement.prior import Prior

TITLE = "Uncertainty in a gap"
WHERE = "appendix, intensity raised in a gap of the data"
ABOUT = (
    "30 observations of a sine on [-5, 5] without (-1.5, 1.5), noise sd 0.1; green: the sine in the gap. Intensity 1 "
    "on [-6, 6], in the gap 1 to 4 times as high; s0² = 1, amplitude 1. Mean and 90 % interval of f; below, the "
    "intensity."
)
FACTORS, EDGE, NOISE = (1.0, 2.0, 3.0, 4.0), 1.5, 0.1
GRID = np.linspace(-5.0, 5.0, 161)


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """One fit per factor and data set."""
    n = settings.n_repeats
    tasks = [{"factor": f, "seed": settings.seed + i, "sampling": settings.sampling} for f in FACTORS for i in range(n)]
    rows = work.map(one_fit, tasks)
    parts = {f"{f:g}": rows[j * n : (j + 1) * n] for j, f in enumerate(FACTORS)}
    return {f: {"shown": part[0], "gap_sd": [r["gap_sd"] for r in part]} for f, part in parts.items()} | {"n": n}


def one_fit(factor: float, seed: int, sampling: dict[str, Any]) -> Numbers:
    """Fit with the intensity raised in the gap; the mean sd of f there."""
    rng = np.random.default_rng([seed, 8])
    X = rng.uniform(EDGE, 5.0, 30) * rng.choice([-1.0, 1.0], 30)
    y = np.sin(1.5 * X) + NOISE * rng.standard_normal(30)
    prior = Prior.from_paper(
        s0=1.0, intensity=Piecewise([-EDGE, EDGE], [1.0, factor, 1.0]), sigma_w2=1.0, sigma_b2=0.0,
        noise_variance=NOISE**2, region=(-6.0, 6.0),
    )  # fmt: skip
    found = models.porbnet(X[:, None], y, sampling, seed, prior)
    curve = models.curve(found, GRID)
    inside = np.abs(GRID) < EDGE
    return {
        "curve": curve, "x": short(X, 4), "y": short(y, 4), "gap_sd": short(np.array(curve["f_sd"])[inside].mean()),
        "other_sd": short(np.array(curve["f_sd"])[~inside].mean()),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """Factors 2 to 4 across: fit above, intensity below."""
    figure, axes = plt.subplots(2, 3, figsize=(7.4, 3.2), sharex=True, sharey="row", height_ratios=(2.4, 1.0),
                                layout="constrained")  # fmt: skip
    for j, factor in enumerate(FACTORS[1:]):
        part = numbers[f"{factor:g}"]["shown"]
        looks.band(axes[0, j], part["curve"], BLUE, of="f")
        axes[0, j].plot(part["x"], part["y"], ".", color=BLACK, markersize=3)
        inside = GRID[np.abs(GRID) < EDGE]
        axes[0, j].plot(inside, np.sin(1.5 * inside), color=GREEN, linestyle="--")
        finish(axes[0, j], f"{factor:g} times the intensity in the gap", "", "f(x)" if j == 0 else "")
        axes[1, j].plot(GRID, np.where(np.abs(GRID) < EDGE, factor, 1.0), color=RED)
        finish(axes[1, j], "", "x", "intensity" if j == 0 else "")
    axes[1, 0].set_ylim(0.0, 4.4)
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """The sd in the gap grows with the intensity there."""
    means = [short(float(np.mean(numbers[f"{f:g}"]["gap_sd"])), 3) for f in FACTORS]
    return [
        claim("predictive sd in the gap grows with the intensity there", "uncertainty can be adjusted by the intensity",
              {f"{f:g} times: mean sd of f in the gap": m for f, m in zip(FACTORS, means, strict=True)},
              f"increasing from 1 to 4 times, mean of {numbers['n']} data sets", bool(np.all(np.diff(means) > 0)))
    ]  # fmt: skip
