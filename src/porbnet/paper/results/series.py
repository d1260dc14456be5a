"""Main text: posterior predictive of PoRB-NET and of the BNN on three real series."""

from __future__ import annotations

from typing import Any

from porbnet.paper import looks
from porbnet.paper.claims import Claim, claim, untestable
from porbnet.paper.frame import Numbers, ResumableMap, Settings, missing
from porbnet.paper.looks import MODEL_COLORS
from porbnet.paper.results.tables import all_splits

TITLE = "Three series: PoRB-NET and the BNN"
WHERE = "main text, figure of real data"
ABOUT = (
    "Split 1 of each series: mean of f, 90 % interval of f (dark) and of a new observation (light). Priors are "
    "matched in expected upcrossings of zero. The heart-rate series stands in for MIMIC's."
)
DATA = ("motorcycle94", "vix2018", "heartrate")
MODELS = ("PoRB-NET", "BNN, RBF")


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """The first split of each series with each model; shared with the tables."""
    return curves(DATA, MODELS, settings, work)


def curves(data: tuple[str, ...], models: tuple[str, ...], settings: Settings, work: ResumableMap) -> Numbers:
    """Curves on the first split, by data set and model; and what is missing."""
    found: Numbers = {"curves": {}, "missing": {}}
    for (name, model), rows in all_splits(data, models, settings, work, n=1).items():
        if missing(rows):
            found["missing"][f"{name}, {model}"] = missing(rows)
        else:
            found["curves"].setdefault(name, {})[model] = rows[0]
    return found


def draw(numbers: Numbers, plt: Any) -> Any:
    """Series across, models down."""
    return draw_curves(numbers, MODELS, plt)


def draw_curves(numbers: Numbers, models: tuple[str, ...], plt: Any) -> Any:
    """Panels of curves with their data; what is missing stays empty."""
    names = list(numbers["curves"])
    if not names:
        return None
    figure, axes = plt.subplots(
        len(models), len(names), figsize=(2.5 * len(names), 1.75 * len(models) + 0.3), sharex=True, sharey="col",
        layout="constrained", squeeze=False,
    )  # fmt: skip
    for j, name in enumerate(names):
        for i, model in enumerate(models):
            ax, row = axes[i, j], numbers["curves"][name].get(model)
            if row is None:
                ax.text(0.5, 0.5, "not computed\nin this run", ha="center", va="center", transform=ax.transAxes)
            else:
                looks.band(ax, row["curve"], MODEL_COLORS.get(model, looks.BLACK))
                looks.data(ax, row["data"])
            looks.finish(ax, name if i == 0 else "", "x" if i == len(models) - 1 else "", model if j == 0 else "")
    axes[0, 0].legend(loc="lower right", handletextpad=0.2)
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """Whether the BNN fluctuates more."""
    found = []
    for name, series in (("motorcycle94", "motorcycle"), ("heartrate", "mimic")):
        rows = numbers["curves"].get(name, {})
        title = f"{name}: the BNN's posterior fluctuates more than PoRB-NET's"
        stated = f"undesired large fluctuations of the BNN on {series}"
        if not all(m in rows for m in MODELS):
            found.append(untestable(title, stated, "; ".join(numbers["missing"].values()) or "not computed"))
            continue
        values = {f"{m}: mean upcrossings of zero of a posterior draw": rows[m]["upcrossings"] for m in MODELS}
        own, other = (rows[m]["upcrossings"] for m in MODELS)
        note = "a stand-in for the paper's series" if series == "mimic" else ""
        found.append(claim(title, stated, values, "at least 1.25 times PoRB-NET's", other >= 1.25 * own, note))
    return found
