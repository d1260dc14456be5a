"""Pictures of the studio in a headless Chromium: `python scripts/studio_images.py FOLDER` (docs/images by default).

Without a folder only those that the pages show are written. Look at them before you commit them.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parents[1]
PUBLISHED = ("studio-prior", "studio-fit")
COLOURS = 256
RESTS = ":is([data-phase=done], [data-phase='out of time'], [data-phase=failed])"


def run(page: Page, **how: int) -> None:
    """Fit, and wait until it is done."""
    for name, value in how.items():
        page.evaluate("([id, v]) => { document.getElementById(id).value = v; }", [name, value])
    page.wait_for_selector("#fit:enabled")
    page.click("#fit")
    page.wait_for_selector(f"html{RESTS}", state="attached", timeout=180_000)
    page.wait_for_timeout(500)


def example(page: Page, name: str) -> None:
    """Take an example."""
    page.select_option("#example", name)
    page.wait_for_selector("#fit:enabled")
    page.wait_for_timeout(800)


def upload(page: Page, folder: Path, name: str, text: str) -> None:
    """Choose a file."""
    (folder / name).write_text(text, encoding="utf-8")
    page.set_input_files("#file", str(folder / name))
    page.wait_for_timeout(1500)


def table(columns: dict[str, Any]) -> str:
    """Columns as CSV."""
    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(",".join(map(str, row)) + "\n" for row in rows)


def prior(page: Page, folder: Path) -> None:
    """The statement that the page begins with."""
    page.wait_for_timeout(1000)


def compare(page: Page, folder: Path) -> None:
    """Beside other priors."""
    page.click("#compare summary")
    page.wait_for_selector("#compare-charts figure:nth-child(4) canvas", timeout=60_000)
    page.wait_for_timeout(500)
    page.evaluate("document.getElementById('pictures').scrollTop = 1e6")


def fit(page: Page, folder: Path) -> None:
    """The motorcycle data, with a noise that varies."""
    example(page, "motorcycle")
    page.select_option("#noise-kind", "varying")
    run(page)


def live(page: Page, folder: Path) -> None:
    """A fit that runs."""
    example(page, "heartrate")
    page.evaluate("document.getElementById('n_draws').value = 20000")
    page.click("#fit")
    while page.evaluate("studio.shown.fit?.draws ?? 0") < 150:
        page.wait_for_timeout(100)


def surface(page: Page, folder: Path) -> None:
    """Two inputs as maps."""
    example(page, "exp2d")
    run(page, n_draws=300, thin=1)


def error(page: Page, folder: Path) -> None:
    """A file that cannot be read."""
    upload(page, folder, "bad.csv", "time,speed\n1,2\n2,fast\n3,4\n")


def labels(page: Page, folder: Path) -> None:
    """Yes or no."""
    example(page, "doses")
    run(page)


def counts(page: Page, folder: Path) -> None:
    """Counts with exposures."""
    example(page, "visits")
    run(page)


def several(page: Page, folder: Path) -> None:
    """Three inputs, from a file."""
    rng = np.random.default_rng(0)
    x = rng.uniform(size=(150, 3)).round(4)
    y = np.sin(6 * x[:, 0]) + 2 * (x[:, 1] - 0.5) ** 2 + 0.1 * rng.standard_normal(150)
    upload(page, folder, "three.csv", table({"east": x[:, 0], "north": x[:, 1], "depth": x[:, 2], "y": y.round(4)}))
    page.select_option("#column-x2", "north")
    page.click("#further summary")
    page.check("#further-inputs input[value=depth]")
    page.wait_for_selector("#data-words:has-text('depth')")
    page.select_option("#lengthscale-kind", "constant")
    run(page, n_draws=300, thin=1)


def dates(page: Page, folder: Path) -> None:
    """A dated series that rises, with a trend."""
    rng = np.random.default_rng(1)
    days = np.arange("2024-01-01", "2024-12-31", 3, dtype="datetime64[D]")
    t = np.arange(len(days)) / len(days)
    y = 5 * t + np.sin(14 * t) + 0.3 * rng.standard_normal(len(days))
    upload(page, folder, "sales.csv", table({"day": days, "sales": y.round(3)}))
    page.select_option("#trend-kind", "linear")
    run(page)


WIDE, PHONE = {"width": 1280, "height": 900}, {"width": 375, "height": 812}
SCENES: dict[str, tuple[Callable[[Page, Path], None], dict[str, int], str, bool]] = {
    "studio-prior": (prior, WIDE, "light", False),
    "studio-fit": (fit, WIDE, "light", False),
    "studio-compare": (compare, WIDE, "light", False),
    "studio-live": (live, WIDE, "light", False),
    "studio-map": (surface, WIDE, "light", False),
    "studio-error": (error, WIDE, "light", False),
    "studio-labels": (labels, WIDE, "light", False),
    "studio-counts": (counts, WIDE, "light", False),
    "studio-several": (several, WIDE, "light", False),
    "studio-dates": (dates, WIDE, "light", False),
    "studio-dark": (fit, WIDE, "dark", False),
    "studio-phone": (labels, PHONE, "light", True),
    "studio-phone-dark": (prior, PHONE, "dark", True),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--only", nargs="*", help="names of scenes")
    given = parser.parse_args()
    wanted = given.only or (PUBLISHED if given.folder is None else tuple(SCENES))
    folder = given.folder or ROOT / "docs" / "images"
    folder.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))))
    command = [sys.executable, "-m", "porbnet", "studio", "--no-browser"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    found = re.search(r"http\S+", server.stderr.readline())
    assert found is not None
    try:
        with sync_playwright() as driver, tempfile.TemporaryDirectory() as scratch:
            browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for name in wanted:
                scene, size, scheme, whole = SCENES[name]
                context = browser.new_context(viewport=size, color_scheme=scheme)
                page = context.new_page()
                page.on("pageerror", lambda e: print("error on the page:", e))
                page.goto(found[0])
                page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=60_000)
                scene(page, Path(scratch))
                path = folder / f"{name}.png"
                page.screenshot(path=path, full_page=whole)
                context.close()
                if name in PUBLISHED:
                    few = Image.open(path).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
                    few.save(path, optimize=True)
                print(f"{path}: {path.stat().st_size / 1000:.0f} kB")
            browser.close()
    finally:
        server.terminate()
        server.wait(10)


if __name__ == "__main__":
    main()
