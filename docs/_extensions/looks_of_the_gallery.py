"""How pictures of the gallery look: matplotlib's own style, at one size, with room for labels."""

from __future__ import annotations

from typing import Any


def reset(gallery_conf: dict[str, Any], fname: str) -> None:
    """Called before each example, after matplotlib was reset."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({
        "figure.figsize": (6.4, 4.0),
        "figure.constrained_layout.use": True,
        "font.size": 10,
        "axes.titlelocation": "left",
        "axes.titlesize": 10,
        "legend.frameon": False,
    })  # fmt: skip
