"""Thousands of hostile cases, in processes of their own: `python tests/fuzz/fuzz_run.py --cases 10000`.

Cases come in blocks of one target and one seed. A block runs in a process with a memory limit; what case it is at
stands in a file, so that a crash or a hang is seen with its cause. Blocks without faults are kept: a run goes on where
it was, and makes those with faults again; `--again` makes all anew.
Counts by kind, and every fault, are written as JSON. Exit code 1 if there is a fault.
"""

import argparse
import collections
import faulthandler
import hashlib
import json
import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BLOCK = 100
MEMORY = 8 * 2**30
BLOCK_SECONDS = 6 * 3600


def run_block(target, number, out):
    """One block, in this process; the result is written to a file."""
    from fuzz_outcomes import BLOCKED, SECONDS, outcome_of
    from fuzz_targets import TARGETS
    from hypothesis import HealthCheck, Phase, given, seed, settings

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    seen, faults, longest = collections.Counter(), [], [0.0, ""]
    at = out.with_suffix(".at")

    @seed(number)
    @settings(
        max_examples=BLOCK,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(TARGETS[target])
    def case(call):
        at.write_text(call.what, encoding="utf-8", errors="replace")
        faulthandler.dump_traceback_later(2 * BLOCKED * SECONDS, exit=True)
        began = time.process_time()
        found = outcome_of(call.make)
        faulthandler.cancel_dump_traceback_later()
        if time.process_time() - began > longest[0]:
            longest[:] = time.process_time() - began, call.what
        seen[found.kind] += 1
        if found.is_fault:
            faults.append({"target": target, "kind": found.kind, "call": call.what, "detail": found.detail})

    case()
    document = {
        "counts": dict(seen),
        "faults": faults,
        "longest": {"seconds": round(longest[0], 1), "call": longest[1]},
    }
    temporary = out.with_suffix(".part")
    temporary.write_text(json.dumps(document), encoding="utf-8", errors="replace")
    temporary.replace(out)


def one_block(target, number, folder, again):
    """The result of a block, kept or made; a process that died counts as a fault."""
    name = hashlib.sha256(f"{target} {number} {BLOCK}".encode()).hexdigest()[:16]
    out = folder / f"fuzz-{name}.json"
    if again or not out.exists() or json.loads(out.read_text(encoding="utf-8"))["faults"]:
        out.unlink(missing_ok=True)
        command = [sys.executable, __file__, "--block", target, str(number), str(out)]
        environment = os.environ | {"MPLBACKEND": "Agg"}
        try:
            left = subprocess.run(command, capture_output=True, text=True, timeout=BLOCK_SECONDS, env=environment)
        except subprocess.TimeoutExpired:
            left = None
        if not out.exists():
            at = out.with_suffix(".at")
            what = at.read_text(encoding="utf-8", errors="replace") if at.exists() else "before the first case"
            code = "too long" if left is None else f"exit code {left.returncode}: {left.stderr[-1500:]}"
            return {
                "counts": {"crash": 1},
                "longest": {"seconds": 0.0, "call": ""},
                "faults": [{"target": target, "kind": "crash", "call": what, "detail": code}],
            }
    return json.loads(out.read_text(encoding="utf-8"))


def blocks_of(cases, only):
    """Pairs of target and seed, targets in turn."""
    from fuzz_targets import TARGETS

    names = [name for name in TARGETS if only.lower() in name.lower()]
    n = -(-cases // BLOCK)
    return [(names[i % len(names)], i // len(names)) for i in range(n)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--only", default="", help="targets with this in their names")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("docs/validation/fuzzing.json"))
    parser.add_argument("--cache", type=Path, default=Path(".validation"))
    parser.add_argument("--again", action="store_true", help="make blocks anew that are kept")
    parser.add_argument("--block", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.block:
        run_block(options.block[0], int(options.block[1]), Path(options.block[2]))
        return 0
    options.cache.mkdir(parents=True, exist_ok=True)
    wanted = blocks_of(options.cases, options.only)
    counts, faults, longest = {}, [], {"seconds": 0.0, "call": ""}
    with ThreadPoolExecutor(options.jobs) as pool:
        made = pool.map(lambda b: one_block(*b, options.cache, options.again), wanted)
        for i, ((target, _), found) in enumerate(zip(wanted, made, strict=True), start=1):
            own = collections.Counter(counts.get(target, {}))
            own.update(found["counts"])
            counts[target] = dict(sorted(own.items()))
            faults += found["faults"]
            longest = max(longest, found["longest"], key=lambda v: v["seconds"])
            print(f"{i}/{len(wanted)} {target}: {found['counts']}", flush=True)
            for fault in found["faults"]:
                print(f"  {fault['kind']}: {fault['call']}\n  {fault['detail']}", flush=True)
    total = collections.Counter()
    for own in counts.values():
        total.update(own)
    document = {
        "cases": sum(total.values()),
        "counts": dict(sorted(total.items())),
        "by_target": dict(sorted(counts.items())),
        "faults": faults,
        "longest_seconds": longest["seconds"],
        "command": f"python tests/fuzz/fuzz_run.py --cases {options.cases}"
        + (f" --only '{options.only}'" if options.only else ""),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    options.out.write_text(
        json.dumps(document, indent=1, ensure_ascii=False) + "\n", encoding="utf-8", errors="replace"
    )
    print(f"{document['cases']} cases: {document['counts']}; {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
