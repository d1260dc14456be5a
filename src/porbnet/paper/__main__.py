"""`python -m porbnet.paper NAME|all --out DIR [--quick]`."""

from __future__ import annotations

import argparse

from porbnet.paper import RESULTS, VERDICTS, run


def main() -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(prog="python -m porbnet.paper", description=__doc__)
    parser.add_argument("names", nargs="*", default=["all"], metavar="NAME", help="all, or: " + ", ".join(RESULTS))
    parser.add_argument("--out", default="paper", metavar="DIR")
    parser.add_argument("--quick", action="store_true", help="minutes instead of hours")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1)
    options = parser.parse_args()
    found = run(options.names, options.out, quick=options.quick, n_jobs=options.jobs, seed=options.seed)
    for c in found.claims:
        print(f"{c['verdict']:<16}{c['result']}: {c['name']}")
    print(", ".join(f"{found.count(v)} {v}" for v in VERDICTS) + f"; {found.page}")
    return 1 if found.problems else 0


if __name__ == "__main__":
    raise SystemExit(main())
