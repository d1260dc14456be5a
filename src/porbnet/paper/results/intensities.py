"""Appendix: inferred intensities of the three series."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.paper.claims import Claim, claim, untestable
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLUE, finish
from porbnet.paper.results.series import DATA, curves

TITLE = "Inferred intensities of the three series"
WHERE = "appendix, figure of inferred intensities"
ABOUT = "Posterior mean and 90 % band of the intensity (units per unit of the scaled input), split 1, all defaults."


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Shared with the tables."""
    return curves(DATA, ("PoRB-NET",), settings, work)


def draw(numbers: Numbers, plt: Any) -> Any:
    """One panel per series, on a logarithmic axis."""
    names = list(numbers["curves"])
    figure, axes = plt.subplots(1, len(names), figsize=(2.5 * len(names), 2.2), layout="constrained", squeeze=False)
    for j, name in enumerate(names):
        row = numbers["curves"][name]["PoRB-NET"]["intensity"]
        axes[0, j].fill_between(row["x"], row["low"], row["high"], color=BLUE, alpha=0.25, linewidth=0)
        axes[0, j].plot(row["x"], row["mean"], color=BLUE)
        axes[0, j].set_yscale("log")
        finish(axes[0, j], name, "x", "intensity" if j == 0 else "")
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """Where the paper says that the intensity is high."""
    found = []
    for name, stated, high in (
        ("motorcycle94", "larger in the middle, where the function varies most", (0.2, 0.6)),
        ("vix2018", "higher towards the beginning and the end", None),
    ):
        title = f"{name}: intensity is {stated}"
        rows = numbers["curves"].get(name)
        if rows is None:
            found.append(untestable(title, stated, "; ".join(numbers["missing"].values())))
            continue
        row = rows["PoRB-NET"]["intensity"]
        x, mean = np.array(row["x"]), np.array(row["mean"])
        within = (x >= 0) & (x <= 1)
        there = (x > high[0]) & (x < high[1]) if high is not None else (x < 0.2) | (x > 0.75)
        ratio = float(mean[within & there].mean() / mean[within & ~there].mean())
        note = "" if high is not None else "the dates of the paper's series are not known; this is calendar 2018"
        where = "for x in 0.2 to 0.6" if high is not None else "for x below 0.2 or above 0.75"
        found.append(
            claim(title, stated, {f"mean intensity {where}, over that elsewhere": short(ratio, 3)}, "above 1.2",
                  ratio > 1.2, note)
        )  # fmt: skip
    for name in numbers["curves"]:
        row = numbers["curves"][name]["PoRB-NET"]
        slope = np.abs(np.gradient(row["curve"]["mean"], row["curve"]["x"]))
        rank = _rank_correlation(slope, np.array(row["intensity"]["mean"]))
        found.append(
            claim(f"{name}: intensity is larger where the function changes quickly",
                  "picks up where variations are faster",
                  {"rank correlation with the slope of the mean": short(rank, 3)}, "above 0.3", rank > 0.3)
        )  # fmt: skip
    why = "MIMIC needs credentials and is not shipped"
    found.append(untestable("mimic: intensity is higher between the two spikes", "higher between the two spikes", why))
    return found


def _rank_correlation(a: Any, b: Any) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic)
