"""`porbnet paper`: the paper's figures and tables, again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porbnet.cli.common import BAD_INPUT, Jobs, Json, Quiet, Seed, fail, note, show

_NAMES = "all, or names of results; `porbnet paper --list` shows them."


def command(
    names: Annotated[list[str] | None, typer.Argument(metavar="NAME", help=_NAMES)] = None,
    out: Annotated[Path, typer.Option(help="Folder for the page, the figures and the numbers.")] = Path("paper"),
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes: minutes instead of hours.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Names of the results, and nothing else.")] = False,
    seed: Seed = 0,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Compute the paper's figures and tables again, with a verdict per claim.

    Writes one page (index.html), results.json, figures and numbers. What was computed before in the same folder is used
    again, so that a run that was interrupted goes on. Needs the extra: pip install 'porbnet[paper]'.

    \b
    Examples:
      porbnet paper all --quick --out paper
      porbnet paper covariogram gap --out paper
      porbnet paper all --out paper                  the paper's sizes: hours
    """
    from importlib.util import find_spec

    from porbnet.paper import RESULTS, VERDICTS, run

    if listed:
        print("\n".join(RESULTS))
        return
    if find_spec("matplotlib") is None:
        fail("figures need matplotlib: pip install 'porbnet[paper]'")
    found = run(names or ["all"], out, quick=quick, n_jobs=jobs, seed=seed, progress=not (quiet or as_json))
    counts = {verdict: found.count(verdict) for verdict in VERDICTS}
    document = {
        "command": "paper",
        "claims": found.claims,
        "counts": counts,
        "problems": found.problems,
        "files": [str(found.page), str(found.results)],
    }
    lines = [f"{c['verdict']:<16}{c['result']}: {c['name']}" for c in found.claims]
    lines += ["", ", ".join(f"{n} {verdict}" for verdict, n in counts.items()), f"written: {found.page}"]
    show(document, "\n".join(lines), as_json, quiet)
    if found.problems:
        for problem in found.problems:
            note(f"error: {problem}", quiet=False)
        raise typer.Exit(BAD_INPUT)
