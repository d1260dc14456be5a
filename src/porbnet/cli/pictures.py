"""Pictures of a fit as files and as SVG for the report."""

from __future__ import annotations

import contextlib
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porbnet.base import checks as _checks
from porbnet.cli.document import training_data
from porbnet.cli.kinds import fit_of, kind_of
from porbnet.errors import StatementError

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

KINDS = ("fit", "chances", "curves", "maps", "partial", "slices", "width")
FORMATS = (".png", ".svg", ".pdf")
_STYLE: dict[Any, Any] = {
    "font.size": 9, "axes.labelsize": 9, "axes.titlesize": 9, "legend.frameon": False, "legend.fontsize": 8,
    "svg.hashsalt": "porbnet", "axes.spines.top": False, "axes.spines.right": False,
}  # fmt: skip
_MOST_DOTS = 5000
_NO_MATPLOTLIB = "pictures need matplotlib: pip install 'porbnet[plot]'"


def have_matplotlib() -> bool:
    """Whether pictures can be made."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None


def canvas() -> contextlib.AbstractContextManager[Any]:
    """matplotlib.pyplot in the house style, without a window; figures are closed at the end."""
    if not have_matplotlib():
        raise StatementError(_NO_MATPLOTLIB)
    from porbnet.plot import style

    return style.canvas(_STYLE)


def kinds_of(model: PoRBNetRegressor) -> tuple[str, ...]:
    """Pictures that are made of a fit."""
    if kind_of(model) != "real":
        return ("chances" if fit_of(model).posterior_.n_dims == 1 else "partial", "width")
    return {1: ("curves", "width"), 2: ("maps", "width")}.get(model.posterior_.n_dims, ("partial", "slices", "width"))


def possible_kinds(model: PoRBNetRegressor) -> tuple[str, ...]:
    """Pictures that can be made of a fit, the first ones first."""
    if kind_of(model) != "real":
        return kinds_of(model)
    n_dims = model.posterior_.n_dims
    others = {1: ("fit",), 2: ("partial", "slices")}.get(n_dims, ())
    return (*kinds_of(model), *others)


def figure(model: PoRBNetRegressor, kind: str, coverage: float = 0.9) -> Any:
    """A figure of a fit, its axes named after the data; call within `canvas`."""
    from porbnet import plot

    possible = possible_kinds(model)
    if kind not in possible:
        allowed = f"of a fit of {model.posterior_.n_dims} input(s) it must be one of {', '.join(map(repr, possible))}"
        raise _checks.fail("--kind", kind, allowed)
    X, y = training_data(model)
    if X is not None:  # more dots would hide each other
        X, y = (values[:: -(-len(values) // _MOST_DOTS)] for values in (X, y))
    if kind == "width":
        ax = plot.width(fit_of(model))
        ax.legend()
        return ax.figure
    if kind == "chances":
        return plot.chances(model)[0].figure
    if kind_of(model) != "real":
        return plot.partial_dependence(fit_of(model), coverage=coverage)[0].figure
    if kind == "fit":
        ax = plot.fit(model, X, y, coverage=coverage)
        _legend(ax)
        return ax.figure
    if kind == "maps":
        return plot.maps(model, X, y)[0].figure
    if kind in ("partial", "slices"):
        draw = plot.partial_dependence if kind == "partial" else plot.slices
        axes = draw(model, X, y, coverage=coverage)
        axes[0].figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=4)
        return axes[0].figure
    axes = plot.curves(model, X, y, coverage=coverage)
    _legend(axes[0])
    return axes[0].figure


def _legend(ax: Any) -> None:
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, 1.13), ncols=5)


def save(fig: Any, path: Path, dpi: int = 150) -> None:
    """Write a figure; the suffix says in which format. The same figure gives the same bytes."""
    if path.suffix.lower() not in FORMATS:
        raise StatementError(f"--out {str(path)!r}: the name must end in {', '.join(FORMATS)}")
    fig.savefig(path, dpi=dpi, metadata=None if path.suffix.lower() == ".png" else _dateless(path.suffix.lower()))


def _dateless(suffix: str) -> dict[str, None]:
    return {"Date": None} if suffix == ".svg" else {"CreationDate": None}


def svg(fig: Any) -> str:
    """A figure as the text of an SVG file."""
    buffer = io.StringIO()
    fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return buffer.getvalue()
