"""From names of results to a folder with numbers, figures, one JSON and one page."""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from porbnet.base import checks as _checks
from porbnet.errors import PorbnetWarning
from porbnet.paper import looks, page
from porbnet.paper.claims import VERDICTS, Claim, untestable
from porbnet.paper.keys import key
from porbnet.paper.settings import Settings
from porbnet.work.resumable import ResumableMap

RESULTS = (
    "amplitude",
    "covariogram",
    "prior-samples",
    "learned-intensity",
    "series",
    "tables",
    "scale-rule",
    "prior-comparison",
    "tradeoff",
    "lengthscales",
    "architecture",
    "gap",
    "intensities",
    "other-baselines",
    "consistency",
)
"""Names of the results, in the order of the page."""


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a run left behind.

    page, results : Path, the HTML page and the JSON
    claims : list of dict with name, paper, value, criterion, verdict, note and result
    problems : list of str, results that could not be computed, with the error
    """

    page: Path
    results: Path
    claims: list[Claim]
    problems: list[str]

    def count(self, verdict: str) -> int:
        """How many claims have a verdict."""
        return sum(c["verdict"] == verdict for c in self.claims)


def run(
    names: str | Sequence[str] = "all",
    out: str | Path = "paper",
    *,
    quick: bool = False,
    n_jobs: int = -1,
    seed: int = 0,
    progress: bool = True,
    settings: Settings | None = None,
) -> Outcome:
    """Compute results of the paper again, draw them, and judge its claims.

    Parameters
    ----------
    names : "all", or one or more of `RESULTS`
    out : path
        Folder for `index.html`, `results.json`, `figures/` and `numbers/`. What was computed there before is used again
        as long as nothing that it depends on has changed, so that a run that was interrupted goes on.
    quick : bool
        Small sizes, for minutes instead of hours.
    n_jobs : int
        Tasks at a time; -1 for one per core.
    seed : int
        Of everything but the splits, which are fixed.
    progress : bool
        Lines on standard error.
    settings : Settings, optional
        Sizes in full, in place of `quick` and `seed`.

    Returns
    -------
    Outcome
    """
    chosen = _chosen(names)
    sizes = settings or (Settings.quick(seed) if quick else Settings(seed=seed))
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, int) or n_jobs == 0:
        raise _checks.fail("n_jobs", n_jobs, "it must be a whole number other than 0 (-1: one per core)")
    folder = Path(out)
    for part in ("figures", "numbers", "cache"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    work = ResumableMap(folder / "cache", key, _cores() if n_jobs < 0 else n_jobs, progress)
    start, sections, problems = time.perf_counter(), [], []
    for i, name in enumerate(chosen, start=1):
        if progress:
            print(f"[{i}/{len(chosen)}] {name}", file=sys.stderr, flush=True)
        section, problem = _one(name, folder, sizes, work)
        sections.append(section)
        problems += problem
    seconds = time.perf_counter() - start
    return _write(folder, sizes, quick and settings is None, sections, problems, seconds, work)


def _chosen(names: str | Sequence[str]) -> list[str]:
    asked = [names] if isinstance(names, str) else list(names)
    for name in asked:
        _checks.choice("names", name, ("all", *RESULTS))
    return [name for name in RESULTS if "all" in asked or name in asked]


def _cores() -> int:
    from joblib import cpu_count

    return int(cpu_count())


def _one(name: str, folder: Path, sizes: Settings, work: ResumableMap) -> tuple[dict[str, Any], list[str]]:
    """One result: its section of the page, and what went wrong."""
    module = importlib.import_module(f"porbnet.paper.results.{name.replace('-', '_')}")
    section: dict[str, Any] = {
        "name": name, "title": module.TITLE, "where": module.WHERE, "about": module.ABOUT, "image": None, "claims": [],
    }  # fmt: skip
    try:
        numbers = module.compute(sizes, work)
        (folder / "numbers" / f"{name}.json").write_text(json.dumps(numbers, allow_nan=False), encoding="utf-8")
        section["claims"] = [c | {"result": name} for c in module.claims(numbers)]
        section["image"] = _draw(module, numbers, folder / "figures", name)
        if hasattr(module, "table"):
            section["table"] = module.table(numbers)
    except (OSError, KeyboardInterrupt, PorbnetWarning):  # a full disk ends the run, what is kept is kept
        raise
    except Exception as error:  # one result that fails must not take the others with it
        problem = f"{name} failed: {type(error).__name__}: {error}"
        print(problem, file=sys.stderr)
        if not section["claims"]:
            section["claims"] = [untestable(module.TITLE, "", problem) | {"result": name}]
        return section, [problem]
    return section, []


def _draw(module: Any, numbers: dict[str, Any], folder: Path, name: str) -> bytes | None:
    """Write the figure as PNG and PDF; None where there is nothing to draw."""
    with looks.canvas() as plt:
        figure = module.draw(numbers, plt)
        if figure is None:
            return None
        figure.savefig(folder / f"{name}.pdf", metadata={"CreationDate": None})
        figure.savefig(folder / f"{name}.png")
    return _fewer_colours(folder / f"{name}.png")


def _fewer_colours(path: Path) -> bytes:
    """Rewrite a PNG with a palette of 96 colours: a third of the size, no difference to the eye."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(96, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    return path.read_bytes()


def _write(
    folder: Path, sizes: Settings, quick: bool, sections: list[dict[str, Any]], problems: list[str], seconds: float,
    work: ResumableMap,
) -> Outcome:  # fmt: skip
    version = metadata.version("porbnet")
    every = [c for s in sections for c in s["claims"]]
    words = ", ".join(f"{k.replace('_', ' ')} {v:,}" for k, v in sizes.as_dict().items())
    label = f"{'Quick run' if quick else 'Run'} with sizes: {words}."
    document = {
        "porbnet": version,
        "quick": quick,
        "settings": sizes.as_dict(),
        "counts": {v: sum(c["verdict"] == v for c in every) for v in VERDICTS},
        "claims": every,
        "problems": problems,
        "run": {"seconds": round(seconds, 1), "computed": work.n_computed, "reused": work.n_reused},
    }
    results = folder / "results.json"
    results.write_text(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")
    index = folder / "index.html"
    index.write_text(page.html("The paper's results, again", label, sections, problems, version), encoding="utf-8")
    return Outcome(index, results, every, problems)
