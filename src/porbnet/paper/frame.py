"""What a result is: numbers first, pictures second, claims third."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from porbnet.paper.claims import Claim
from porbnet.paper.settings import Settings
from porbnet.work.resumable import ResumableMap

Numbers = dict[str, Any]


class Result(Protocol):
    """A module of `porbnet.paper.results`.

    TITLE : str, what it shows. WHERE : str, where in the paper. ABOUT : str, what was done, with the settings.
    """

    TITLE: str
    WHERE: str
    ABOUT: str

    def compute(self, settings: Settings, work: ResumableMap) -> Numbers:
        """All numbers, as JSON can hold them."""

    def draw(self, numbers: Numbers, plt: Any) -> Any:
        """A matplotlib figure of the numbers."""

    def claims(self, numbers: Numbers) -> list[Claim]:
        """The paper's claims, each with its number and verdict."""


def short(values: Any, digits: int = 5) -> Any:
    """Numbers for a file: lists of floats with so many significant digits."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 0:
        return float(f"{float(array):.{digits}g}")
    return [short(v, digits) for v in array]


def missing(rows: list[dict[str, Any]]) -> str:
    """Why some of the tasks could not run; empty if all did."""
    return next((str(r["missing"]) for r in rows if "missing" in r), "")


__all__ = ["Claim", "Numbers", "Result", "ResumableMap", "Settings", "missing", "short"]
