"""Appendix: low and high lengthscale of the model crossed with low and high lengthscale of the truth."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.paper import looks, models
from porbnet.paper.claims import Claim, claim
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLACK, BLUE, RED, finish
from porbnet.statement.prior import Prior

TITLE = "Lengthscale of the model and of the truth"
WHERE = "appendix, two by two lengthscales"
ABOUT = (
    "Functions drawn from the PoRB-NET prior on [0, 1] (amplitude 1, region [-0.4, 1.4]) with lengthscale 0.08 (low) "
    "or 0.25 (high); 30 training and 50 test observations at random places, noise sd 0.1. Mean test LLH per "
    "observation over functions."
)
LENGTHS, NOISE, N, N_TEST, REGION = {"low": 0.08, "high": 0.25}, 0.1, 30, 50, (-0.4, 1.4)
CELLS = [(t, m) for t in LENGTHS for m in LENGTHS]


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Four cells, each over several functions."""
    n = 2 * settings.n_repeats
    tasks = [
        {"truth": t, "model": m, "seed": settings.seed + i, "sampling": settings.sampling}
        for t, m in CELLS
        for i in range(n)
    ]
    rows = work.map(one_cell, tasks)
    found: Numbers = {"n": n}
    for j, (t, m) in enumerate(CELLS):
        part = rows[j * n : (j + 1) * n]
        found[f"{t}/{m}"] = {"shown": part[0], "llh": [r["llh"] for r in part]}
    return found


def one_cell(truth: str, model: str, seed: int, sampling: dict[str, Any]) -> Numbers:
    """One function of one lengthscale, fitted with one lengthscale."""
    root = np.random.SeedSequence([seed, list(LENGTHS).index(truth), 6])
    statement: dict[str, Any] = {"amplitude": 1.0, "region": REGION, "noise": NOISE}
    network = Prior(LENGTHS[truth], **statement).sample_networks(1, root.spawn(1)[0])[0]
    rng = np.random.default_rng(root.spawn(1)[0])
    X = rng.random(N + N_TEST)[:, None]
    y = network(X) + NOISE * rng.standard_normal(len(X))
    found = models.porbnet(X[:N], y[:N], sampling, seed, Prior(LENGTHS[model], **statement))
    grid = np.linspace(0.0, 1.0, 151)
    return {
        "llh": short(found.log_density(X[N:], y[N:]).mean()), "curve": models.curve(found, grid),
        "f": short(network(grid[:, None]), 4), "x": short(X[:N, 0], 4), "y": short(y[:N], 4),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """Truth down, model across."""
    figure, axes = plt.subplots(2, 2, figsize=(6.6, 4.2), sharex=True, sharey="row", layout="constrained")
    for ax, (t, m) in zip(axes.ravel(), CELLS, strict=True):
        cell = numbers[f"{t}/{m}"]
        part = cell["shown"]
        looks.band(ax, part["curve"], BLUE)
        ax.plot(part["curve"]["x"], part["f"], color=RED, linestyle="--", linewidth=1.0)
        ax.plot(part["x"], part["y"], ".", color=BLACK, markersize=3.5)
        title = f"truth {t}, model {m}: LLH {part['llh']:.2f} (mean {np.mean(cell['llh']):.2f})"
        finish(ax, title, "x" if t == "high" else "", "f(x)" if m == "low" else "")
        ax.set_ylim(min(part["f"]) - 0.8, max(part["f"]) + 0.8)
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """The diagonal wins in each row."""
    mean = {f"{t}/{m}": short(float(np.mean(numbers[f"{t}/{m}"]["llh"])), 4) for t, m in CELLS}
    values: dict[str, Any] = {f"truth {t}, model {m}: mean test LLH": mean[f"{t}/{m}"] for t, m in CELLS}
    for t, other in (("low", "high"), ("high", "low")):
        gain = np.array(numbers[f"{t}/{t}"]["llh"]) - np.array(numbers[f"{t}/{other}"]["llh"])
        values[f"truth {t}: functions on which the matching model wins"] = f"{int((gain > 0).sum())} of {len(gain)}"
    holds = mean["low/low"] > mean["low/high"] and mean["high/high"] > mean["high/low"]
    return [
        claim("matching the lengthscale gives the higher test LLH", "11.84 over 10.97; 10.51 over 8.27 (sums)", values,
              "mean test LLH highest on the diagonal, in both rows", holds)
    ]  # fmt: skip
