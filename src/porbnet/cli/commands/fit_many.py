"""`porbnet fit-many`: a fit for every series of a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porbnet.cli.common import (
    INTERRUPTED,
    NOT_CONVERGED,
    DropMissing,
    Header,
    Jobs,
    Json,
    MaxTime,
    Quiet,
    Scheduler,
    Seed,
    fail,
    gathered_warnings,
    note,
    numbers,
    regions,
    seconds,
    show,
    span,
    version,
    whole,
)

if TYPE_CHECKING:
    from porbnet.cli.table import TableData
    from porbnet.many.many_fits import ManyFits

_DATA = "A Parquet file or folder, read part by part; or any table that `porbnet fit` reads."


def command(
    data: Annotated[str, typer.Argument(metavar="DATA", help=_DATA)],
    by: Annotated[list[str], typer.Option("--by", metavar="COLUMN", help="Tells series apart; may be repeated.")],
    x: Annotated[list[str], typer.Option("--x", metavar="COLUMN", help="Input column; repeat it for several.")],
    y: Annotated[str, typer.Option("--y", metavar="COLUMN", help="Output column.")],
    out: Annotated[Path, typer.Option(help="Folder for the results; what is there already is not done again.")],
    scheduler: Scheduler = None,
    lengthscale: Annotated[
        str, typer.Option(help="learned (a curve), constant (one unknown number), a number, or a time span.")
    ] = "learned",
    noise: Annotated[str, typer.Option(help="Noise sd: learned, varying, robust, or a number.")] = "learned",
    amplitude: Annotated[str, typer.Option(help="Size of the function: learned, or a number.")] = "learned",
    region: Annotated[
        list[str] | None, typer.Option(metavar="LOW,HIGH", help="Where units may lie; once per input.")
    ] = None,
    units_per_lengthscale: Annotated[str, typer.Option(help="auto, or a number; more is slower.")] = "auto",
    draws: Annotated[
        str, typer.Option(help="Draws kept per chain; auto goes on until they can be trusted, or --max-time is over.")
    ] = "auto",
    warmup: Annotated[int, typer.Option(min=0, help="Sweeps of warm-up.")] = 500,
    thin: Annotated[int, typer.Option(min=1, help="Sweeps per draw.")] = 4,
    chains: Annotated[int, typer.Option(min=1, help="Chains of each series.")] = 4,
    seed: Seed = 0,
    jobs: Jobs = -1,
    models: Annotated[str, typer.Option(help="files (one each), archive (tar files of many), or none.")] = "files",
    loo: Annotated[bool, typer.Option("--loo/--no-loo", help="Leave-one-out in the table.")] = True,
    max_time: MaxTime = None,
    max_time_in_all: Annotated[
        str | None, typer.Option(metavar="TIME", help="For all series; what is not done by then is left.")
    ] = None,
    batch_size: Annotated[int | None, typer.Option(min=1, help="Most series handed out at once.")] = None,
    header: Header = None,
    drop_missing: DropMissing = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Begin anew.")] = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Fit every series of a table, and write a table of results and a model of each.

    The folder gets table.csv and table.parquet (a row per series), failures.csv, report.html and the models. After
    Ctrl-C, a crash or new data the same command does what is missing or has failed. porbnet.load_many opens the folder.

    \b
    Examples:
      porbnet fit-many rates.parquet --by patient --x time --y rate --out rates
      porbnet fit-many wells/ --by field --by well --x depth --y porosity --out wells-fits --max-time 5min
      porbnet fit-many rates.parquet --by patient --x time --y rate --out rates --scheduler tcp://10.0.0.7:8786

    \b
    Exit codes: 0 done; 3 done, but some have failed, cannot be trusted yet or are left; 130 interrupted.
    """  # fmt: skip
    from porbnet.many.fit_many import fit_many

    parameters = {
        "lengthscale": span(lengthscale, ("learned", "constant")),
        "noise": numbers("noise", noise, ("learned", "varying", "robust")),
        "amplitude": numbers("amplitude", amplitude, ("learned",)),
        "units_per_lengthscale": numbers("units-per-lengthscale", units_per_lengthscale, ("auto",)),
        "region": regions(region),
        "n_draws": whole("draws", draws), "n_warmup": warmup, "thin": thin, "n_chains": chains, "random_state": seed,
    }  # fmt: skip
    silent = quiet or as_json
    with gathered_warnings() as said:
        fits = fit_many(
            _table(data, [*by, *x, y], by, header, silent), by, x, y, out=out, client=scheduler, n_jobs=jobs,
            models=models, loo=loo, drop_missing=drop_missing, overwrite=overwrite, batch_size=batch_size,
            max_seconds=_time("max-time", max_time), max_seconds_in_all=_time("max-time-in-all", max_time_in_all),
            progress=False if silent else None, **parameters,
        )  # fmt: skip
    for text in said:
        note(f"warning: {text}", silent)
    if fits.stopped == "interrupted":
        fail(f"interrupted: {len(fits):,} fits are kept; the same command again does the rest", INTERRUPTED)
    fits.report()
    found = _document(fits)
    show(found, _text(found), as_json, quiet)
    good = found["predictions_converged"] == found["series"]
    raise typer.Exit(0 if good else NOT_CONVERGED)


def _time(name: str, text: str | None) -> float | None:
    found = seconds(name, text)
    return None if isinstance(found, str) else float(found)


def _table(data: str, used: list[str], by: list[str], header: bool | None, quiet: bool) -> Any:
    """Parquet by its name, since it is read part by part; other tables as a mapping of columns."""
    if data != "-" and (Path(data).is_dir() or Path(data).suffix.lower() in (".parquet", ".pq")):
        return data
    from porbnet.cli.reading import read_table

    return columns_of(read_table(data, header, quiet), used, by)


def columns_of(table: TableData, used: list[str], by: list[str]) -> dict[str, Any]:
    """Columns of a table by name: keys as they are, others as numbers or dates."""
    import numpy as np

    found: dict[str, Any] = {}
    for name in used:
        place = table.index(name, "--by" if name in by else "--x or --y")
        found[name] = np.array(_whole(table.shown(place)), dtype=object) if name in by else table.column(place).values
    return found


def _whole(cells: list[Any]) -> list[Any]:
    """Texts that are all whole numbers as such."""
    whole = all(c is None or (isinstance(c, str) and re.fullmatch(r"-?[1-9]\d{0,17}|0", c)) for c in cells)
    return [None if c is None else int(c) for c in cells] if whole else cells


def _document(fits: ManyFits) -> dict[str, Any]:
    table, failures = fits.table, fits.failures
    names = ("table.csv", "table.parquet", "failures.csv", "report.html")
    return {
        "command": "fit-many",
        "porbnet": version(),
        "folder": str(fits.folder),
        "series": len(table) + len(failures) + fits.n_missing,
        "fitted": len(table),
        "fitted_now": fits.n_fitted,
        "converged": int(table["converged"].sum()) if len(table) else 0,
        "predictions_converged": int(table["predictions_converged"].sum()) if len(table) else 0,
        "failed": len(failures),
        "missing": fits.n_missing,
        "failures": [
            {"key": [str(row[name]) for name in fits.by], "reason": str(row["reason"])}
            for _, row in failures.head(1000).iterrows()
        ],
        "files": [str(fits.folder / name) for name in names if (fits.folder / name).exists()],
    }


def _text(found: dict[str, Any]) -> str:
    lines = [
        f"{found['fitted']:,} of {found['series']:,} series fitted ({found['fitted_now']:,} now), "
        f"{found['predictions_converged']:,} with predictions that can be trusted, {found['failed']:,} failed"
        + (f", {found['missing']:,} not done" if found["missing"] else "")
    ]
    lines += [f"  {', '.join(f['key'])}: {f['reason']}" for f in found["failures"][:10]]
    lines += ["  ..."] if found["failed"] > 10 else []
    names = ", ".join(Path(name).name for name in found["files"])
    return "\n".join([*lines, f"written to {found['folder']}: {names}, models"])
