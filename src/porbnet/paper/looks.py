"""How the figures look; the only module of this folder that configures matplotlib."""

from __future__ import annotations

import contextlib
from typing import Any

from porbnet.plot import PALETTE
from porbnet.plot.style import canvas as plot_canvas

COLORS = tuple(PALETTE[name] for name in ("blue", "vermillion", "green", "orange", "purple", "sky", "black"))
BLUE, RED, GREEN, ORANGE, PURPLE, SKY, BLACK = COLORS
MODEL_COLORS = {
    "PoRB-NET": BLUE, "PoRB-NET, varying noise": SKY, "GP": GREEN, "GP, HMC": GREEN, "B-RBFN": ORANGE,
    "BNN, RBF": RED, "BNN, tanh": RED, "L-GP": PURPLE, "L-GP, varying noise": PURPLE,
    "dropout": BLACK,
}  # fmt: skip
_STYLE: dict[Any, Any] = {
    "font.size": 8.5, "axes.labelsize": 8.5, "axes.titlesize": 9, "xtick.labelsize": 7.5, "ytick.labelsize": 7.5,
    "legend.frameon": False, "legend.fontsize": 7.5, "lines.linewidth": 1.3, "axes.spines.top": False,
    "axes.spines.right": False, "axes.linewidth": 0.7, "savefig.dpi": 140, "pdf.fonttype": 42,
}  # fmt: skip


def canvas() -> contextlib.AbstractContextManager[Any]:
    """matplotlib.pyplot in the style of these figures, without a window; figures are closed at the end."""
    return plot_canvas(_STYLE)


def finish(ax: Any, title: str = "", xlabel: str = "", ylabel: str = "", bottom: float | None = None) -> None:
    """Title, labels and the lower end of the axis."""
    ax.set(title=title, xlabel=xlabel, ylabel=ylabel)
    if bottom is not None:
        ax.set_ylim(bottom=bottom)


def band(ax: Any, curve: dict[str, Any], color: str, *, of: str = "y", label: str = "", mean: str = "mean") -> None:
    """A mean with the 90 % interval of f (dark) and of y (light), from lists by name."""
    x = curve["x"]
    if of == "y" and "y_low" in curve:
        ax.fill_between(x, curve["y_low"], curve["y_high"], color=color, alpha=0.13, linewidth=0)
    ax.fill_between(x, curve["f_low"], curve["f_high"], color=color, alpha=0.3, linewidth=0)
    ax.plot(x, curve[mean], color=color, label=label or None)


def data(ax: Any, rows: dict[str, Any]) -> None:
    """Training points in black, test points in red circles."""
    ax.plot(rows["x"], rows["y"], ".", color=BLACK, markersize=2.5, alpha=0.7, label="training data")
    if rows.get("x_test"):
        ax.plot(rows["x_test"], rows["y_test"], "o", color=RED, markersize=2.2, fillstyle="none", markeredgewidth=0.6,
                label="test data")  # fmt: skip
