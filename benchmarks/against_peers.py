"""porbnet beside its peers: same data, same splits, one core; test scores, CPU seconds and memory, as JSON and a page.

Each peer runs in a virtual environment of its own (`peers/environment.py`; made on first use, some minutes) through a
small adapter (`peers/adapters`), one process per peer, problem and split, and is skipped with a word if it cannot be
had. Finished cells are kept in the folder bench/ as one JSON file each, so a run that was interrupted goes on; at the
end all of them go into docs/benchmarks/results.json, and from there into docs/benchmarks.md with its pictures.

    python benchmarks/against_peers.py                                what is missing, then the page
    python benchmarks/against_peers.py --peers porbnet --again        porbnet's rows anew
    python benchmarks/against_peers.py --peers sklearn-gp --problems sine doppler --splits 1
    python benchmarks/against_peers.py --page                         the page alone, from what there is
    python benchmarks/against_peers.py --quick                        three models, small problems; nothing kept in docs

A whole run takes about an hour of one core. It may be stopped by Ctrl-C at any time.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

import machine
from peers import page, problems
from peers.cells import Store, python_for, run_cell
from peers.registry import PEERS, Peer, refusal

ROOT = Path(__file__).parents[1]
SECONDS = 40.0  # that a sampler may take for a fit, where it can be told
LIMIT = 150.0  # CPU seconds of a process, imports and compilation included
SPLITS = {"real": 3, "rough": 2, "rows": 1}
QUICK = {"peers": ["porbnet", "sklearn-gp", "boosting"], "problems": ["sine", "doppler-100"], "splits": 1}


def wanted(peer: Peer, chosen: list[str], splits: int | None) -> list[tuple[str, int]]:
    """Problems and splits of a peer, those that it cannot be asked left out."""
    found = []
    for group, names in problems.GROUPS.items():
        n = min(SPLITS[group], peer.n_splits) if splits is None else splits
        for name in names:
            if name in chosen and refusal(peer, problems.n_rows(name) or 0, problems.n_dims(name)) is None:
                found += [(name, split) for split in range(1, n + 1)]
    return found


def fill(store: Store, options: argparse.Namespace) -> None:
    """Run what is missing of what was asked for."""
    for peer in (PEERS[key] for key in options.peers):
        todo = [
            (name, split)
            for name, split in wanted(peer, options.problems, options.splits)
            if options.again or (peer.key, name, split) not in store.cells
        ]
        if not todo:
            continue
        python = python_for(peer)
        if python is None:
            store.add({"peer": peer.key, "problem": "*", "split": 0, "failed": "its environment could not be made"})
            continue
        for name, split in todo:
            start = time.monotonic()
            try:
                cell = run_cell(peer, python, name, split, options.seconds, options.limit)
            except ImportError as error:
                print(f"{name} left out: {error}")
                continue
            store.add(cell)
            print(f"{peer.key:13}{name:17}{split}  {time.monotonic() - start:6.1f} s  {told(cell)}", flush=True)


def told(cell: dict[str, object]) -> str:
    """One line about a finished cell."""
    if "failed" in cell:
        return f"failed: {cell['failed']}"
    return (
        f"LLH {cell['LLH']:7.3f}  CRPS {cell['CRPS']:.4f}  RMSE {cell['RMSE']:.4f}  cover {cell['cover90']:.2f}  "
        f"fit {cell['fit_seconds']:.1f} s  {cell['megabytes']:.0f} MB  {cell['note']}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", nargs="+", choices=list(PEERS), default=list(PEERS), metavar="NAME")
    parser.add_argument("--problems", nargs="+", choices=problems.NAMES, default=list(problems.NAMES), metavar="NAME")
    parser.add_argument("--splits", type=int, help="of every problem, instead of 3 (real), 2 (rough) and 1 (rows)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="a sampler may take for a fit")
    parser.add_argument("--limit", type=float, default=LIMIT, help="CPU seconds after which a process is ended")
    parser.add_argument("--again", action="store_true", help="run finished cells anew")
    parser.add_argument("--page", action="store_true", help="run nothing, make the page")
    parser.add_argument("--quick", action="store_true", help="three models on small problems, to try it; no page")
    parser.add_argument("--folder", type=Path, default=ROOT / "bench", help="of finished cells")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where page, pictures and results.json go")
    options = parser.parse_args()
    if options.quick:
        options.peers, options.problems, options.splits = QUICK["peers"], QUICK["problems"], QUICK["splits"]
        with tempfile.TemporaryDirectory() as folder:
            fill(Store(Path(folder), Path(folder) / "none.json"), options)
        return 0
    store = Store(options.folder, options.docs / "benchmarks" / "results.json")
    if options.page:
        store.write(store.machine)
    else:
        found = machine.describe()
        print(machine.line(found), flush=True)
        try:
            fill(store, options)
        except KeyboardInterrupt:
            print("stopped; the same command goes on", file=sys.stderr)
            return 130
        store.write({**found, "seconds": options.seconds, "limit": options.limit})
    page.write(options.docs)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
