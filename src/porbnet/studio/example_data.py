"""Data sets that the page offers: those of the package, and some made by a formula."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from porbnet import datasets
from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.datasets import Dataset


@dataclass(frozen=True)
class Example:
    """A title for people, how to get the data, and the Python that gets X and y.

    outcome : what the output is, as `porbnet fit --outcome` has it
    exposure, exposure_name : of counts: how to get exposures, and what they are called
    """

    title: str
    load: Callable[[], Dataset]
    python: str
    outcome: str = "real"
    exposure: Callable[[], FloatArray] | None = None
    exposure_name: str = ""


def step() -> Dataset:
    """A jump from 0 to 1 in the middle, noise of sd 0.1; 80 rows."""
    rng = np.random.default_rng(1)
    x = np.sort(rng.uniform(0.0, 1.0, 80))
    return _made(x, np.where(x < 0.5, 0.0, 1.0), 0.1, rng, "0 to the left of one half, 1 to the right")


def chirp() -> Dataset:
    """A wave that gets quicker from left to right, noise of sd 0.1; 150 rows."""
    rng = np.random.default_rng(2)
    x = np.sort(rng.uniform(0.0, 1.0, 150))
    return _made(x, np.sin(2.0 * np.pi * (x + 6.0 * x**3)), 0.1, rng, "sin 2π(x + 6 x³)")


def doses() -> Dataset:
    """Yes or no, by a chance that rises quickly and falls slowly; 200 rows."""
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(0.0, 10.0, 200))
    f = 5.0 * np.exp(-0.35 * (x - 2.5)) / (1.0 + np.exp(-6.0 * (x - 2.5))) - 2.0
    yes = (rng.random(200) < 1.0 / (1.0 + np.exp(-f))).astype(np.float64)
    return Dataset(
        X=x[:, None], y=yes, names=("dose", "answered"), units=("1", "1"), source="Computed from a formula.",
        licence="MIT, with the package.", f=f,
        description="Whether there was an answer, 1 or 0; its log-odds jump near a dose of 2.5 and decay from there.",
    )  # fmt: skip


def visits() -> Dataset:
    """Counts over a day with a sharp peak, each in so many `hours`; 160 rows."""
    rng = np.random.default_rng(4)
    x = np.sort(rng.uniform(0.0, 24.0, 160))
    f = np.log(0.6 + 2.0 * np.exp(-0.5 * ((x - 16.0) / 4.0) ** 2) + 9.0 * np.exp(-0.5 * ((x - 8.0) / 0.6) ** 2))
    counts = rng.negative_binomial(8.0, 8.0 / (8.0 + hours() * np.exp(f))).astype(np.float64)
    return Dataset(
        X=x[:, None], y=counts, names=("time", "visits"), units=("h", "1"), source="Computed from a formula.",
        licence="MIT, with the package.", f=f,
        description="Visits, each row counted over so many hours: a rush at 8, a long afternoon.",
    )  # fmt: skip


def hours() -> FloatArray:
    """Exposures of `visits`, shape (160,)."""
    return np.random.default_rng(5).uniform(0.25, 3.0, 160).round(2)


def _made(x: FloatArray, f: FloatArray, noise: float, rng: np.random.Generator, formula: str) -> Dataset:
    return Dataset(
        X=x[:, None], y=f + noise * rng.standard_normal(len(x)), names=("x", "y"), units=("1", "1"),
        source="Computed from the formula in the description.", licence="MIT, with the package.",
        description=f"{formula}, plus normal noise of sd {noise}.", f=f,
    )  # fmt: skip


EXAMPLES = {
    "motorcycle": Example("Motorcycle accident", datasets.load_motorcycle, "datasets.load_motorcycle()"),
    "heartrate": Example("Heart rate", datasets.load_heartrate, "datasets.load_heartrate()"),
    "vix": Example("VIX 2018 (needs arch)", datasets.load_vix, "datasets.load_vix()"),
    "step": Example("A step", step, "example_data.step()"),
    "chirp": Example("A chirp", chirp, "example_data.chirp()"),
    "doses": Example("Doses: yes or no", doses, "example_data.doses()", "binary"),
    "visits": Example("Visits per hour: counts", visits, "example_data.visits()", "counts", hours, "hours"),
    "chirp2d": Example("A chirp over two inputs", datasets.load_chirp2d, "datasets.load_chirp2d()"),
    "exp2d": Example("A bump over two inputs", datasets.load_exp2d, "datasets.load_exp2d()"),
}


def example(name: str) -> Example:
    """By name."""
    return EXAMPLES[_checks.choice("example", name, tuple(EXAMPLES))]
