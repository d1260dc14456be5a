"""Figures of the comparison by peer and problem: means over splits, and who is ahead of whom by how much."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Cell = dict[str, Any]
OWN = "porbnet"
LEAST = {"LLH": 0.01, "CRPS": 0.01, "RMSE": 0.01}  # a lead that counts: LLH in nats, the others as a share
COLUMNS = ("LLH", "CRPS", "RMSE", "cover90", "fit_seconds", "predict_seconds", "megabytes")


class Figures:
    """Cells of a run, by peer and problem."""

    def __init__(self, cells: list[Cell]) -> None:
        self.cells: dict[tuple[str, str], list[Cell]] = {}
        for cell in cells:
            self.cells.setdefault((cell["peer"], cell["problem"]), []).append(cell)

    def scored(self, peer: str, problem: str) -> dict[int, Cell]:
        """Splits that came to their end."""
        return {cell["split"]: cell for cell in self.cells.get((peer, problem), []) if "failed" not in cell}

    def failed(self, peer: str, problem: str) -> str | None:
        """Why there are no scores, if that is known."""
        found = [cell["failed"] for cell in self.cells.get((peer, problem), []) if "failed" in cell]
        return found[0] if found and not self.scored(peer, problem) else None

    def mean(self, peer: str, problem: str, name: str) -> float | None:
        """Mean over splits."""
        found = [cell[name] for cell in self.scored(peer, problem).values() if cell.get(name) is not None]
        return float(np.mean(found)) if found else None

    def versions(self, peer: str) -> str:
        """As the adapter told them."""
        found = {cell["versions"] for (key, _), cells in self.cells.items() if key == peer for cell in cells
                 if "versions" in cell}  # fmt: skip
        return "; ".join(sorted(found))


@dataclass(frozen=True)
class Lead:
    """By how much a peer is ahead of porbnet on a problem, over the splits that both have.

    llh : in nats per test row; not a number where a model has none
    crps, rmse : as a share of porbnet's
    won : splits in which its LLH is the higher one, of `n_splits`
    """

    peer: str
    llh: float
    crps: float
    rmse: float
    won: int
    n_splits: int

    @property
    def counts(self) -> bool:
        """Whether it is ahead in any score by more than the least lead."""
        return self.llh > LEAST["LLH"] or self.crps > LEAST["CRPS"] or self.rmse > LEAST["RMSE"]

    def told(self) -> str:
        """In words: the scores in which it is ahead."""
        parts = []
        if self.llh > LEAST["LLH"]:
            often = f" ({self.won} of {self.n_splits} splits)" if self.n_splits > 1 else ""
            parts.append(f"LLH by {self.llh:.2f}{often}")
        if self.crps > LEAST["CRPS"]:
            parts.append(f"CRPS by {self.crps:.0%}")
        if self.rmse > LEAST["RMSE"]:
            parts.append(f"RMSE by {self.rmse:.0%}")
        return ", ".join(parts)


def lead(figures: Figures, peer: str, problem: str) -> Lead | None:
    """How a peer stands to porbnet; None if they have no split in common."""
    own, other = figures.scored(OWN, problem), figures.scored(peer, problem)
    splits = sorted(set(own) & set(other))
    if not splits:
        return None

    def both(name: str) -> tuple[np.ndarray, np.ndarray]:
        return np.array([own[s][name] for s in splits]), np.array([other[s][name] for s in splits])

    told = all("LLH" in each[s] for each in (own, other) for s in splits)
    a, b = both("LLH") if told else np.full((2, len(splits)), np.nan)
    shares = {}
    for name in ("CRPS", "RMSE"):
        mine, theirs = both(name)
        shares[name] = float(1.0 - theirs.mean() / mine.mean())
    return Lead(peer, float((b - a).mean()), shares["CRPS"], shares["RMSE"], int(np.sum(b > a)), len(splits))
