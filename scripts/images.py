"""The pictures on the pages, drawn anew: `python scripts/images.py` writes docs/images.

Each comes from the code that the page shows or names, so that a change of defaults reaches the pictures too. Look at
them before you commit them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from PIL import Image

from porbnet import PoRBNetRegressor, datasets, plot

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "examples"))
import prior  # noqa: E402  the example, whose picture opens the README

COLOURS = 64  # line art needs no more, and the files shrink to a third


def motorcycle() -> Any:
    """The fit of the README."""
    data = datasets.load_motorcycle()
    model = PoRBNetRegressor(random_state=0, progress=False).fit(data.X, data.y)
    figure, ax = plt.subplots(figsize=(6.4, 3.2), layout="constrained")
    plot.fit(model, data.X, data.y, ax=ax).legend(frameon=False, fontsize=8, ncols=2, loc="lower right")
    ax.set(xlabel="time (ms)", ylabel="acceleration (g)")
    return figure


def pictures() -> Any:
    """The six panels of docs/pictures.md, by the page's own code."""
    page = (ROOT / "docs" / "pictures.md").read_text(encoding="utf-8")
    code = page.split("```python\n")[1].split("```")[0]
    namespace: dict[str, Any] = {}
    exec(code.replace("figure.savefig", "# "), namespace)
    return namespace["figure"]


def maps() -> Any:
    """The surface of docs/pictures.md, at the usual length."""
    data = datasets.load_exp2d()
    model = PoRBNetRegressor(random_state=0, progress=False).fit(data.X, data.y)
    return plot.maps(model, data.X, data.y)[0].figure


def save(figure: Any, path: Path, dpi: int) -> None:
    """Write a figure, then the same with few colours."""
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
    shrink(path)


def shrink(path: Path) -> None:
    """The same picture with a palette."""
    with Image.open(path) as image:
        few = image.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "images")
    out = parser.parse_args().out
    out.mkdir(parents=True, exist_ok=True)
    prior.picture(prior.state_prior(), out / "prior.png", dpi=130)
    shrink(out / "prior.png")
    save(motorcycle(), out / "motorcycle.png", 130)
    save(pictures(), out / "pictures.png", 90)
    save(maps(), out / "maps.png", 80)
    for path in sorted(out.glob("*.png")):
        print(path)


if __name__ == "__main__":
    main()
