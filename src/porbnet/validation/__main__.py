"""`python -m porbnet.validation PART`: make evidence, keep it as JSON, write the page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from porbnet.validation.evidence_keys import key
from porbnet.work.resumable import ResumableMap

PARTS = ("calibration", "coverage", "drift", "page", "all")
SIZES = (50, 200, 800)  # rows of the fits to functions outside the model
KEPT = ("calibration", "joint", "mutants", "coverage", "drift", "fuzzing")


def main(arguments: list[str] | None = None) -> int:
    """Run one part, or all; a part that was interrupted goes on."""
    options = _options(arguments)
    work = ResumableMap(options.cache, key, options.jobs, options.progress)
    options.out.mkdir(parents=True, exist_ok=True)
    for part in PARTS[:-1] if options.part == "all" else [options.part]:
        _PARTS[part](options, work)
    return 0


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m porbnet.validation", description=__doc__)
    parser.add_argument("part", choices=PARTS)
    parser.add_argument("--datasets", type=int, default=300, help="simulated data sets per row of the calibration")
    parser.add_argument("--repetitions", type=int, default=20, help="fits per function and number of rows")
    parser.add_argument("--sweeps", type=int, default=1_000_000, help="of the long chain")
    parser.add_argument("--only", default="", help="rows with this in their names")
    parser.add_argument("--jobs", type=int, default=1, help="tasks at a time")
    parser.add_argument("--out", type=Path, default=Path("docs/validation"), help="folder of the JSON")
    parser.add_argument("--cache", type=Path, default=Path(".validation"), help="folder of kept results")
    parser.add_argument("--progress", action="store_true", help="a line per task")
    return parser.parse_args(arguments)


def _calibration(options: argparse.Namespace, work: ResumableMap) -> None:
    from porbnet.validation.combinations import combinations
    from porbnet.validation.rank_evidence import judged, row, wanted_blocks

    place = options.out / "calibration.json"
    rows = {r["name"]: r for r in _kept(place).get("rows", [])}
    names = [c.name for c in combinations()]
    for combination in combinations():
        if options.only.lower() not in combination.name.lower():
            continue
        before = rows.get(combination.name, {}).get("datasets", 0)  # a smaller run takes nothing away
        rows[combination.name] = row(combination, work, wanted_blocks(max(options.datasets, before)))
        ordered = [rows[name] for name in names if name in rows]
        _write(place, {"judgement": judged(ordered), "rows": ordered})
        print(f"{combination.name}: p {min(q['p'] for q in rows[combination.name]['quantities'].values())}", flush=True)


def _coverage(options: argparse.Namespace, work: ResumableMap) -> None:
    from porbnet.validation.rough_functions import FUNCTIONS, fit_once, row

    place = options.out / "coverage.json"
    rows = {(r["function"], r["n"]): r for r in _kept(place).get("rows", [])}
    for n in SIZES:
        for function in FUNCTIONS:
            if options.only.lower() in function.lower():
                before = rows.get((function, n), {}).get("repetitions", 0)
                wanted = range(max(options.repetitions, before))
                tasks = [{"function": function, "n": n, "repetition": i} for i in wanted]
                rows[function, n] = row(function, n, work.map(fit_once, tasks))
                ordered = [rows[f, m] for f in FUNCTIONS for m in SIZES if (f, m) in rows]
                _write(place, {"coverage": 0.9, "rows": ordered})
                print(f"{function}, {n} rows: {rows[function, n]}", flush=True)


def _drift(options: argparse.Namespace, work: ResumableMap) -> None:
    from porbnet.validation.drift import long_chain

    (found,) = work.map(long_chain, [{"sweeps": options.sweeps}])
    _write(options.out / "drift.json", found)
    print(found, flush=True)


def _page(options: argparse.Namespace, work: ResumableMap) -> None:
    from porbnet.validation.evidence_page import page

    text = page({part: _kept(options.out / f"{part}.json") for part in KEPT})
    options.out.with_suffix(".md").write_text(text, encoding="utf-8")


def _kept(place: Path) -> dict[str, Any]:
    return dict(json.loads(place.read_text(encoding="utf-8"))) if place.exists() else {}


def _write(place: Path, document: dict[str, Any]) -> None:
    temporary = place.with_suffix(".part")
    temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(place)


_PARTS = {"calibration": _calibration, "coverage": _coverage, "drift": _drift, "page": _page}

if __name__ == "__main__":
    sys.exit(main())
