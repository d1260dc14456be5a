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
    Quiet,
    Seed,
    Table,
    XColumns,
    YColumn,
    note,
    numbers,
    regions,
    span,
    tell,
)

if TYPE_CHECKING:
    from porbnet.cli.output import Begun
    from porbnet.cli.stream import Stream
    from porbnet.cli.table import Observations


def command(
    data: Table,
    x: XColumns = None,
    y: YColumn = None,
    lengthscale: Annotated[
        str,
        typer.Option(
            help="learned (a curve), constant (one unknown number), or a number; several with commas, one per input. "
            "Of dates: a number with its unit, as 12days, or 36h."
        ),
    ] = "learned",
    noise: Annotated[
        str, typer.Option(help="Noise sd: learned, varying (a curve), robust (heavy tails), or a number.")
    ] = "learned",
    amplitude: Annotated[str, typer.Option(help="Size of the function: learned, or a number.")] = "learned",
    region: Annotated[
        list[str] | None, typer.Option(metavar="LOW,HIGH", help="Where units may lie; once per input. Dates will do.")
    ] = None,
    units_per_lengthscale: Annotated[str, typer.Option(help="auto, or a number; more is slower.")] = "auto",
    out: Annotated[Path | None, typer.Option(help="Folder for the results; DATA-fit if not given.")] = None,
    draws: Annotated[int, typer.Option(min=1, help="Draws kept per chain.")] = 1000,
    warmup: Annotated[int, typer.Option(min=0, help="Sweeps of warm-up.")] = 500,
    thin: Annotated[int, typer.Option(min=1, help="Sweeps per draw.")] = 4,
    chains: Annotated[int, typer.Option(min=1, help="Chains, run in parallel.")] = 4,
    seed: Seed = 0,
    jobs: Jobs = -1,
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
      porbnet fit field.csv --x east --x north --y yield --lengthscale constant --out field
      cat crash.csv | porbnet fit - --draws 2000 --seed 7 --out crash
      porbnet fit year.parquet --x time --y load --chunked    a file larger than memory, with one input
      porbnet fit crash.csv --json > result.json              for scripts; the exit code is 3 if not converged
    """  # fmt: skip
    from porbnet.cli.reading import read_table
    from porbnet.cli.stream import is_large, stream
    from porbnet.cli.table import Observations, listed, observations

    parameters = {
        "lengthscale": span(lengthscale, ("learned", "constant")),
        "noise": numbers("noise", noise, ("learned", "varying", "robust")),
        "amplitude": numbers("amplitude", amplitude, ("learned",)),
        "units_per_lengthscale": numbers("units-per-lengthscale", units_per_lengthscale, ("auto",)),
        "region": regions(region),
    }
    rows: Observations | Stream
    if is_large(data, chunked):
        rows = stream(data, x, y, header, drop_missing)
        note("note: read in chunks; of more than a million rows none is kept, but what they say of the curve", quiet)
    else:
        rows = observations(read_table(data, header, quiet), x, y, drop_missing)
    if isinstance(rows, Observations):
        tell(rows, quiet)
    if x is None or y is None:
        note(f"note: output {rows.names[-1]!r}, input {listed(rows.names[:-1])}", quiet)
    folder = _folder(out, data, overwrite)
    running = {
        "n_draws": draws, "n_warmup": warmup, "thin": thin, "n_chains": chains, "random_state": seed, "n_jobs": jobs,
        "sampler": sampler, "progress": False if quiet or as_json else None, "checkpoint_seconds": checkpoint_every,
    }  # fmt: skip
    from porbnet.cli.output import finish

    finish(lambda begun: _fit(rows, folder, parameters | running, overwrite, begun), folder, "fit", as_json, quiet)


def _fit(rows: Observations | Stream, folder: Path, parameters: dict[str, Any], overwrite: bool, begun: Begun) -> Any:
    from porbnet.cli.output import CHECKPOINT
    from porbnet.cli.stream import Stream
    from porbnet.estimators.regressor import PoRBNetRegressor

    model = PoRBNetRegressor(**parameters, checkpoint=folder / CHECKPOINT)
    model.labels_ = rows.names
    model._replaces_checkpoint = overwrite  # when all is checked; an earlier model stays until the new one is written
    prepared = model._prepare(rows.read, None) if isinstance(rows, Stream) else model._prepare(rows.X, rows.y)
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
