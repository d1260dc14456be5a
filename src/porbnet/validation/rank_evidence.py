"""The table of calibrations: one row per combination, one test per quantity, all read by one rule."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from porbnet.validation.combinations import Combination
from porbnet.validation.ecdf_bands import FAMILY, PLACES, holm, p_value
from porbnet.validation.evidence_keys import source_hash
from porbnet.validation.simulated_ranks import N_DRAWS, rank_block
from porbnet.work.resumable import ResumableMap

BLOCK = 25  # data sets of a task


def wanted_blocks(datasets: int) -> int:
    """Tasks for so many data sets, rounded up."""
    return -(-datasets // BLOCK)


def row(combination: Combination, work: ResumableMap, n_blocks: int) -> dict[str, Any]:
    """A row: for every quantity the counts of ranks in 20 equal parts, and the p of their uniformity."""
    tasks = [{"combination": asdict(combination), "first": i * BLOCK, "n": BLOCK} for i in range(n_blocks)]
    blocks = work.map(rank_block, tasks)
    quantities = {}
    for name in blocks[0]:
        ranks = np.concatenate([np.array(block[name], dtype=np.int64) for block in blocks])
        counts = np.bincount(ranks * PLACES // (N_DRAWS + 1), minlength=PLACES)
        quantities[name] = {"p": round(p_value(ranks, N_DRAWS), 6), "counts": " ".join(map(str, counts))}
    return {
        "name": combination.name,
        "parts": asdict(combination),
        "datasets": n_blocks * BLOCK,
        "source": source_hash()[:12],
        "quantities": quantities,
        "command": f"python -m porbnet.validation calibration --only '{combination.name}' "
        f"--datasets {n_blocks * BLOCK}",
    }


def judged(rows: list[dict[str, Any]], family: float = FAMILY) -> dict[str, Any]:
    """All tests of all rows together: which Holm's rule rejects, and how many leave their own 95 % band."""
    tests = [(r["name"], name, q["p"]) for r in rows for name, q in r["quantities"].items()]
    rejected = holm([p for *_, p in tests], family)
    return {
        "tests": len(tests),
        "family": family,
        "rejected": [{"row": r, "quantity": q, "p": p} for (r, q, p), no in zip(tests, rejected, strict=True) if no],
        "outside_own_band": sum(p <= 0.05 for *_, p in tests),
        "expected_outside": round(0.05 * len(tests), 1),
        "smallest_p": min((p for *_, p in tests), default=1.0),
    }
