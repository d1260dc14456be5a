"""The pictures on the pages, drawn anew: `python scripts/images.py` writes docs/images.

Each comes from the code that the page shows or names, so that a change of defaults reaches the pictures too. Look at
them before you commit them.
"""

from __future__ import annotations

import argparse
import contextlib
import re
import shutil
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from PIL import Image

from porbnet import PoRBNetRegressor, datasets, plot
from porbnet.errors import ExtrapolationWarning

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


def extrapolating() -> Any:
    """Waves and a rising series, each with no trend and with a line: docs/extrapolating.md."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 10.0, 60))
    noise = 0.2 * rng.standard_normal(60)
    series = {"waves": np.sin(x) + noise, "rising": 0.8 * x + np.sin(x) + noise}
    figure, axes = plt.subplots(2, 2, figsize=(7.2, 4.6), layout="constrained", sharex=True, sharey="row")
    places = np.linspace(-6.0, 22.0, 400)
    for row, (name, y) in zip(axes, series.items(), strict=True):
        for ax, trend in zip(row, (None, "linear"), strict=True):
            model = PoRBNetRegressor("constant", trend=trend, random_state=0, progress=False).fit(x[:, None], y)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ExtrapolationWarning)
                ends = model.predict_interval(places[:, None], of="f")
                drawn = model.sample_f(places[:, None], 5, random_state=3)
                mean = model.predict(places[:, None])
            ax.fill_between(places, *ends.T, color="C0", alpha=0.2, linewidth=0)
            ax.plot(places, drawn, color="C0", linewidth=0.6, alpha=0.7)
            ax.plot(places, mean, color="C0", linewidth=1.6)
            ax.plot(x, y, "k.", markersize=2.5)
            for edge in model.prior_.region.bounds[0]:
                ax.axvline(edge, color="0.6", linewidth=0.8, linestyle=":")
            ax.set_title(f"{name}, {'no trend' if trend is None else 'linear trend'}", fontsize=9)
    return figure


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


def tutorial(out: Path) -> None:
    """The pictures that the code of the tutorial saves, by running it."""
    code = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "tutorial.md").read_text("utf-8"), re.S | re.M)
    namespace: dict[str, Any] = {"__name__": "__main__"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        for block in code:
            exec(block, namespace)
        for picture in sorted(Path().glob("*.png")):
            shutil.copyfile(picture, out / picture.name)
            shrink(out / picture.name)


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
    save(extrapolating(), out / "extrapolating.png", 100)
    tutorial(out.resolve())
    for path in sorted(out.glob("*.png")):
        print(path)


if __name__ == "__main__":
    main()
