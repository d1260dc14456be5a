"""Where does a lead come from? Two models on one split, row by row: the difference of their scores, and its error.

    python benchmarks/lead.py bumps 1 stochtree

Prints the mean difference in CRPS and in squared error with its standard error over the rows to test, and the rows that
make most of it. For the sentences of `peers/why.py`, which are to say only what was looked into.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
from peers import problems
from peers.cells import ADAPTERS, ONE_THREAD, python_for
from peers.registry import PEERS, Peer
from peers.scores import rows_of

MOST_SHOWN = 6


def law_of(peer: Peer, part: problems.protocol.Split, split: int, seconds: float) -> dict[str, np.ndarray]:
    """What an adapter says of the rows to test."""
    with tempfile.TemporaryDirectory() as folder:
        stated, written = Path(folder) / "problem.npz", Path(folder) / "law.npz"
        np.savez(stated, X=part.X, y=part.y, X_test=part.X_test, y_test=part.y_test, seed=split, seconds=seconds)
        command = [str(python_for(peer)), str(ADAPTERS / peer.adapter), str(stated), str(written)]
        subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD, **peer.variables}, capture_output=True)
        with np.load(written) as law:
            return dict(law)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("problem", choices=problems.NAMES)
    parser.add_argument("split", type=int)
    parser.add_argument("peers", nargs="+", choices=list(PEERS))
    parser.add_argument("--seconds", type=float, default=40.0)
    options = parser.parse_args()
    part = problems.load(options.problem, options.split)
    found = {}
    for key in ["porbnet", *options.peers]:
        law = law_of(PEERS[key], part, options.split, options.seconds)
        _, mean, crps, interval = rows_of(law, part.y_test, options.split)
        found[key] = {"CRPS": crps, "squared error": (part.y_test - mean) ** 2, "mean": mean, "interval": interval}
    for key in options.peers:
        for name in ("CRPS", "squared error"):
            apart = found["porbnet"][name] - found[key][name]
            error = np.std(apart, ddof=1) / np.sqrt(len(apart))
            print(f"{options.problem} {options.split}, {key}: {name} lower by {apart.mean():.5f} ± {error:.5f}")
            total = apart.sum()
            for i in np.argsort(-np.abs(apart))[:MOST_SHOWN]:
                place = ", ".join(f"{v:.4f}" for v in part.X_test[i])
                print(
                    f"    x = {place}: {apart[i] / total:7.1%} of it; y {part.y_test[i]:.3f}, porbnet "
                    f"{found['porbnet']['mean'][i]:.3f} {np.round(found['porbnet']['interval'][i], 3)}, "
                    f"{key} {found[key]['mean'][i]:.3f} {np.round(found[key]['interval'][i], 3)}"
                )
            least = np.sort(np.abs(apart))[::-1][: len(apart) // 20]
            print(f"    twentieth of the rows with the largest differences: {least.sum() / np.abs(apart).sum():.0%}")


if __name__ == "__main__":
    main()
