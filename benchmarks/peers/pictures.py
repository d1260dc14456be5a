"""Pictures of the comparison: accuracy against time, both against rows, effective draws per second."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from peers import problems
from peers.figures import Figures
from peers.registry import PEERS

from porbnet.paper.looks import canvas
from porbnet.plot import PALETTE

_LOOKS = {
    "porbnet": ("blue", "*"), "sklearn-gp": ("green", "o"), "gpjax-sparse": ("green", "s"),
    "celerite2": ("green", "^"), "numpyro-gp": ("purple", "D"), "pymc-gibbs": ("purple", "v"),
    "numpyro-bnn": ("vermillion", "P"), "stochtree": ("orange", "o"), "pybayesppr": ("orange", "s"),
    "boosting": ("black", "X"),
}  # fmt: skip


def draw(figures: Figures, folder: Path) -> list[str]:
    """Draw all pictures into a folder; their file names."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for name, picture in (("accuracy", _accuracy), ("rows", _rows), ("draws", _draws)):
        with canvas() as plt:
            figure = picture(plt, figures)
            file = f"benchmarks-{name}.png"
            figure.savefig(folder / file, dpi=110)
            made.append(file)
    return made


def _mark(key: str) -> dict[str, Any]:
    color, marker = _LOOKS[key]
    size = 95 if key == "porbnet" else 32
    return {"color": PALETTE[color], "marker": marker, "s": size, "zorder": 3, "linewidths": 0.5, "edgecolors": "white"}


def _seconds(figures: Figures, key: str, problem: str) -> float | None:
    fit, predict = (figures.mean(key, problem, name) for name in ("fit_seconds", "predict_seconds"))
    return None if fit is None or predict is None else max(fit + predict, 0.01)


def _accuracy(plt: Any, figures: Figures) -> Any:
    """A panel per problem, a point per model: CRPS against CPU seconds."""
    names = [*problems.REAL, *problems.ROUGH]
    figure, axes = plt.subplots(3, 4, figsize=(10.5, 7.6), layout="constrained")
    for ax, name in zip(axes.flat, names, strict=True):
        for key in PEERS:
            x, y = _seconds(figures, key, name), figures.mean(key, name, "CRPS")
            if x is not None and y is not None:
                ax.scatter(x, y, label=PEERS[key].title, **_mark(key))
        ax.set(xscale="log", yscale="log", title=name, xlim=(0.01, 200.0))
        ax.yaxis.set_major_locator(plt.MaxNLocator(4))
        ax.yaxis.set_major_formatter(plt.FuncFormatter(lambda value, _: f"{value:.3g}"))
        ax.yaxis.set_minor_formatter(plt.NullFormatter())
    for ax in axes[-1]:
        ax.set_xlabel("CPU seconds, fit and predictions")
    for ax in axes[:, 0]:
        ax.set_ylabel("CRPS (low is good)")
    _legend(figure, axes.flat)
    return figure


def _rows(plt: Any, figures: Figures) -> Any:
    """CRPS, CPU seconds and memory against the number of rows."""
    figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.9), layout="constrained")
    for key in PEERS:
        found = []
        for n in problems.SIZES:
            name = f"doppler-{n}"
            seconds, crps = _seconds(figures, key, name), figures.mean(key, name, "CRPS")
            if seconds is not None and crps is not None:
                found.append((n, crps, seconds, figures.mean(key, name, "megabytes")))
        if found:
            n_rows, *columns = np.array(found).T
            for ax, values in zip(axes, columns, strict=True):
                ax.plot(n_rows, values, color=PALETTE[_LOOKS[key][0]], linewidth=0.8)
                ax.scatter(n_rows, values, label=PEERS[key].title, **_mark(key))
    labels = ("CRPS", "CPU seconds, fit and predictions", "peak memory, MB")
    for ax, label in zip(axes, labels, strict=True):
        ax.set(xscale="log", yscale="log", xlabel="rows to fit (Doppler function)", title=label)
    _legend(figure, axes)
    return figure


def _draws(plt: Any, figures: Figures) -> Any:
    """Effective draws per CPU second of a fit, a point per sampler and problem."""
    names = [*problems.REAL, *problems.ROUGH]
    figure, ax = plt.subplots(figsize=(8.0, 3.6), layout="constrained")
    for key in PEERS:
        found = [(i, rate) for i, name in enumerate(names) if (rate := effective_rate(figures, key, name)) is not None]
        if found:
            x, y = np.array(found).T
            ax.scatter(x, y, label=PEERS[key].title, **_mark(key))
    ax.set(yscale="log", ylabel="effective draws of f\nper CPU second of a fit")
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right")
    _legend(figure, [ax])
    return figure


def effective_rate(figures: Figures, key: str, problem: str) -> float | None:
    """Median bulk effective draws of f over places, per CPU second of the fit, warm-up included; mean over splits."""
    found = [cell["ess_median"] / max(cell["fit_seconds"], 0.01) for cell in figures.scored(key, problem).values()
             if cell.get("ess_median") is not None]  # fmt: skip
    return float(np.mean(found)) if found else None


def _legend(figure: Any, axes: Any) -> None:
    """One legend below all panels, a line per model that any panel has."""
    entries: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            entries.setdefault(label, handle)
    order = [peer.title for peer in PEERS.values() if peer.title in entries]
    figure.legend([entries[label] for label in order], order, loc="outside lower center", ncols=5)
