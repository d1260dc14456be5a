"""Data sets that the page offers: those of the package, and two made by a formula."""

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
    """A title for people, how to get the data, and the Python that gets X and y."""

    title: str
    load: Callable[[], Dataset]
    python: str


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
    "chirp2d": Example("A chirp over two inputs", datasets.load_chirp2d, "datasets.load_chirp2d()"),
    "exp2d": Example("A bump over two inputs", datasets.load_exp2d, "datasets.load_exp2d()"),
}


def example(name: str) -> Example:
    """By name."""
    return EXAMPLES[_checks.choice("example", name, tuple(EXAMPLES))]
