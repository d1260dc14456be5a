"""`porbnet fit`: from a table to a model, a report and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porbnet.cli.common import (
    DropMissing,
    Header,
    Jobs,
    Json,
    MaxTime,
    Quiet,
    Scheduler,
    Seed,
    Table,
    XColumns,
    YColumn,
    cluster,
    note,
    numbers,
    regions,
    seconds,
    span,
    tell,
    whole,
)

if TYPE_CHECKING:
    from porbnet.cli.output import Begun
    from porbnet.cli.stream import Stream
    from porbnet.cli.table import Observations


def command(
    data: Table,
    x: XColumns = None,
    y: YColumn = None,
    outcome: Annotated[
        str,
        typer.Option(
            help="What the output is: real, binary (yes or no), counts, or positive (on a log scale). auto: real, or "
            "binary where the column holds nothing else, and it says so."
        ),
    ] = "auto",
    exposure: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Of counts: how long or how much was looked at in each row.")
    ] = None,
    lengthscale: Annotated[
        str,
        typer.Option(
            help="learned (a curve), constant (one unknown number), or a number; several with commas, one per input. "
            "Of dates: a number with its unit, as 12days, or 36h."
        ),
    ] = "learned",
    noise: Annotated[
        str,
        typer.Option(
            help="Noise sd: learned, varying (a curve), robust (heavy tails), auto (one of these), or a number."
        ),
    ] = "learned",
    amplitude: Annotated[str, typer.Option(help="Size of the function: learned, or a number.")] = "learned",
    region: Annotated[
        list[str] | None, typer.Option(metavar="LOW,HIGH", help="Where units may lie; once per input. Dates will do.")
    ] = None,
    trend: Annotated[
        str | None,
        typer.Option(help="linear (a straight line, or plane, in the function), or the sd of its slopes."),
    ] = None,
    units_per_lengthscale: Annotated[str, typer.Option(help="auto, or a number; more is slower.")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Folder for the results; DATA-fit if not given.")] = None,
    draws: Annotated[
        str, typer.Option(help="Draws kept per chain; auto goes on until they can be trusted, or --max-time is over.")
    ] = "auto",
    max_time: MaxTime = None,
    warmup: Annotated[int, typer.Option(min=0, help="Sweeps of warm-up.")] = 500,
    thin: Annotated[int, typer.Option(min=1, help="Sweeps per draw.")] = 4,
    chains: Annotated[int, typer.Option(min=1, help="Chains, run in parallel.")] = 4,
    seed: Seed = 0,
    jobs: Jobs = -1,
    scheduler: Scheduler = None,
    sampler: Annotated[str, typer.Option(help="collapsed, or paper (much slower, a reference).")] = "collapsed",
    header: Header = None,
    drop_missing: DropMissing = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace an earlier fit in the folder.")] = False,
    chunked: Annotated[
        bool, typer.Option("--chunked", help="Read the file in chunks, as is done with files above 200 MB.")
    ] = False,
    checkpoint_every: Annotated[float, typer.Option(min=0.0, help="Seconds between checkpoints.")] = 5.0,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Fit a table of observations and write a folder of results.

    The folder gets model.npz (for predict, plot, summary, and porbnet.load in Python), draws.csv, report.html and
    pictures. Ctrl-C keeps what was done: `porbnet resume FOLDER` goes on, and so it does after a crash.

    \b
    Examples:
      porbnet fit crash.csv                                   last column against all others
      porbnet fit crash.csv --x time --y acceleration --noise varying
      porbnet fit crash.csv --noise auto                      constant, heavy-tailed or varying: the data tell
      porbnet fit field.csv --x east --x north --y yield --lengthscale constant --out field
      cat crash.csv | porbnet fit - --draws 2000 --seed 7 --out crash
      porbnet fit long.csv --max-time 10min                   the default is two minutes
      porbnet fit visits.csv --y visits --outcome counts --exposure hours
      porbnet fit year.parquet --x time --y load --chunked    a file larger than memory, with one input
      porbnet fit crash.csv --scheduler tcp://10.0.0.7:8786   chains on a Dask cluster that sees the folder
      porbnet fit crash.csv --json > result.json              for scripts; the exit code is 3 if not converged
    """  # fmt: skip
    from porbnet.cli.kinds import hint, outcome_of
    from porbnet.cli.reading import read_table
    from porbnet.cli.stream import is_large, stream
    from porbnet.cli.table import Observations, chosen, listed, observations
    from porbnet.errors import StatementError

    parameters = {
        "lengthscale": span(lengthscale, ("learned", "constant")),
        "noise": numbers("noise", noise, ("learned", "varying", "robust", "auto")),
        "amplitude": numbers("amplitude", amplitude, ("learned",)),
        "units_per_lengthscale": numbers("units-per-lengthscale", units_per_lengthscale, ("auto",)),
        "region": regions(region),
        "trend": None if trend is None else numbers("trend", trend, ("linear",)),
    }
    n_draws, max_seconds = whole("draws", draws), seconds("max-time", max_time)
    rows: Observations | Stream
    kind, classes = _checked(outcome, exposure), None
    if is_large(data, chunked):
        if kind not in ("auto", "real"):
            raise StatementError(f"--outcome {kind}: a file that is read in chunks must have real outputs")
        kind, rows = "real", stream(data, x, y, header, drop_missing)
        note("note: read in chunks; of more than a million rows none is kept, but what they say of the curve", quiet)
    else:
        table = read_table(data, header, quiet)
        inputs, target = chosen(table, x, y, True, exposure)
        found = outcome_of(table, int(target or 0), kind)
        names = [table.names[i] for i in inputs]
        rows = observations(found.table, names, table.names[int(target or 0)], drop_missing, beside=exposure)
        for words in (found.words, "" if rows.y is None or found.words else hint(rows.y, kind)):
            note(f"note: {words}", quiet or not words)
        kind, classes = found.kind, found.classes
    if isinstance(rows, Observations):
        tell(rows, quiet)
    if x is None or y is None:
        note(f"note: output {rows.names[-1]!r}, input {listed(rows.names[:-1])}", quiet)
    folder = _folder(out, data, overwrite)
    if noise.strip() == "auto":
        note("note: short fits choose the noise first", quiet or as_json)
    running = {
        "n_draws": n_draws, "max_seconds": max_seconds, "n_warmup": warmup,
        "thin": thin, "n_chains": chains, "random_state": seed, "n_jobs": jobs,
        "sampler": sampler, "progress": False if quiet or as_json else None, "checkpoint_seconds": checkpoint_every,
    }  # fmt: skip
    from porbnet.cli.output import finish

    settings = _settings(kind, parameters | running)

    def run(begun: Begun) -> Any:
        return _fit(rows, folder, kind, classes, settings, overwrite, begun)

    with cluster(scheduler):
        finish(run, folder, "fit", as_json, quiet)


def _checked(outcome: str, exposure: str | None) -> str:
    """The outcome, if it is one."""
    from porbnet.base import checks as _checks
    from porbnet.cli.kinds import OUTCOMES

    _checks.choice("--outcome", outcome, OUTCOMES)
    if exposure is not None and outcome != "counts":
        raise _checks.fail("--exposure", exposure, "it is for --outcome counts")
    return outcome


def _settings(kind: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Parameters of the estimator of a kind of outcomes."""
    from porbnet.base import checks as _checks

    if kind == "positive":
        return parameters | {"outcome": "positive"}
    if kind == "real":
        return parameters
    others = {"noise": "learned", "sampler": "collapsed", "trend": None}  # of real outputs alone
    for name, default in others.items():
        if parameters[name] != default:
            raise _checks.fail(f"--{name}", parameters[name], f"there is none with --outcome {kind}")
    return {name: value for name, value in parameters.items() if name not in others}


def _fit(
    rows: Observations | Stream, folder: Path, kind: str, classes: list[str] | None, settings: dict[str, Any],
    overwrite: bool, begun: Begun,
) -> Any:  # fmt: skip
    from porbnet.cli.kinds import estimator_of
    from porbnet.cli.output import CHECKPOINT
    from porbnet.cli.stream import Stream

    model = estimator_of(kind)(**settings, checkpoint=folder / CHECKPOINT)
    model.labels_ = rows.names
    model._replaces_checkpoint = overwrite  # when all is checked; an earlier model stays until the new one is written
    if isinstance(rows, Stream):
        prepared = model._prepare(rows.read, None)
    elif classes is not None and rows.y is not None:
        import numpy as np

        prepared = model._prepare(rows.X, np.array(classes)[rows.y.astype(np.int64)])
    else:
        prepared = model._prepare(rows.X, rows.y, None, rows.beside)
    begun()
    return model._sample(*prepared)


def _folder(out: Path | None, data: str, overwrite: bool) -> Path:
    """The folder of results, which must not hold an earlier fit if that is not to be replaced. Nothing is touched."""
    from porbnet.cli.output import CHECKPOINT, default_folder
    from porbnet.errors import StatementError

    folder = out if out is not None else default_folder(data)
    if folder.exists() and not folder.is_dir():
        raise StatementError(f"--out {str(folder)!r} is a file: it must be a folder")
    if overwrite:
        return folder
    if (folder / CHECKPOINT / "fit.npz").exists():
        raise StatementError(
            f"{str(folder)!r} holds a fit that is not finished: `porbnet resume {folder}` goes on with it, "
            "--overwrite starts anew"
        )
    if (folder / "model.npz").exists():
        raise StatementError(f"{str(folder)!r} holds a fit already: choose another --out, or --overwrite it")
    return folder
