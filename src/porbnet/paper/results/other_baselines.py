"""Appendix: PoRB-NET beside a Gaussian process of input-dependent lengthscale and MC dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from porbnet.paper.claims import Claim, claim, untestable
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.results.series import DATA, curves, draw_curves

TITLE = "PoRB-NET, L-GP and dropout"
WHERE = "appendix, figure of other baselines"
ABOUT = (
    "Split 1 of each series as above. L-GP: input-dependent lengthscale, all by NUTS; its cost grows with the cube of "
    "the rows. Dropout: one layer of 50 units, rates cross-validated over 0.0005, 0.001, 0.005 and 0.01."
)
MODELS = ("PoRB-NET", "L-GP", "dropout")


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Shared with the tables."""
    return curves(DATA, MODELS, settings, work)


def draw(numbers: Numbers, plt: Any) -> Any:
    """Series across, models down."""
    return draw_curves(numbers, MODELS, plt)


def claims(numbers: Numbers) -> list[Claim]:
    """Whether the uncertainties of PoRB-NET are like those of the L-GP."""
    found = []
    for name in DATA:
        title, stated = f"{name}: uncertainties like the L-GP's", "uncertainties that mimic the behavior of L-GP"
        rows = numbers["curves"].get(name, {})
        if "PoRB-NET" not in rows or "L-GP" not in rows:
            why = (
                numbers["missing"].get(f"{name}, L-GP") or numbers["missing"].get(f"{name}, PoRB-NET") or "not computed"
            )
            found.append(untestable(title, stated, why))
            continue
        sd = {m: np.log(rows[m]["curve"]["f_sd"]) for m in ("PoRB-NET", "L-GP")}
        correlation = float(np.corrcoef(sd["PoRB-NET"], sd["L-GP"])[0, 1])
        found.append(
            claim(title, stated, {"correlation of log sd of f over x": short(correlation, 3)}, "above 0.5",
                  correlation > 0.5)
        )  # fmt: skip
    return found
