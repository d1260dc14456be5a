"""`python -m porbnet.validation PART`: make evidence, keep it as JSON, write the page."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from porbnet.validation.evidence_keys import key
from porbnet.work.resumable import ResumableMap

PARTS = ("calibration", "joint", "mutants", "coverage", "drift", "page", "all")


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
        rows[combination.name] = row(combination, work, wanted_blocks(options.datasets))
        ordered = [rows[name] for name in names if name in rows]
        _write(place, {"judgement": judged(ordered), "rows": ordered})
        print(f"{combination.name}: p {min(q['p'] for q in rows[combination.name]['quantities'].values())}", flush=True)


def _kept(place: Path) -> dict[str, Any]:
    return dict(json.loads(place.read_text(encoding="utf-8"))) if place.exists() else {}


def _write(place: Path, document: dict[str, Any]) -> None:
    temporary = place.with_suffix(".part")
    temporary.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    temporary.replace(place)


_PARTS = {"calibration": _calibration}

if __name__ == "__main__":
    sys.exit(main())
