"""`porbnet predict`: mean, sd and interval at new inputs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porbnet.cli.common import DropMissing, Header, Json, Model, Quiet, Table, model_path, numbers, show, tell

if TYPE_CHECKING:
    from porbnet.cli.table import TableData


def command(
    model: Model,
    data: Table,
    of: Annotated[
        str,
        typer.Option(
            help="y: a new observation, noise included; f: the function; rate: of counts, per unit of exposure."
        ),
    ] = "y",
    exposure: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Of counts: how long or how much will be looked at; 1 by default."),
    ] = None,
    coverage: Annotated[float, typer.Option(help="Probability between lower and upper.")] = 0.9,
    quantiles: Annotated[str | None, typer.Option(metavar="Q,Q,...", help="Quantiles beside the interval.")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write: .csv, .tsv, .parquet or .feather; CSV on standard output if not given."),
    ] = None,
    header: Header = None,
    by_position: Annotated[
        bool, typer.Option("--by-position", help="Take the first columns in order, whatever their names.")
    ] = False,
    digits: Annotated[int, typer.Option(min=1, max=17, help="Significant digits in CSV.")] = 7,
    drop_missing: DropMissing = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Predict at the rows of a table: mean, sd and a central interval, as CSV.

    Input columns are found by the names they had in the fit; those of a table without names are taken in order.
    Dates may be given as dates or as numbers, in the unit and from the origin that `porbnet summary` tells.
    Of yes-or-no outcomes mean and interval are those of the probability of yes, and sd is that of the outcome.

    \b
    Examples:
      porbnet predict crash-fit new.csv
      porbnet predict crash-fit new.csv --of f --coverage 0.5 --out curve.csv
      seq 0 60 | porbnet predict crash-fit - --quantiles 0.1,0.5,0.9
      porbnet predict rates-fits new.csv                      of all series that fit-many has fitted
    """
    import numpy as np

    from porbnet.base import checks as _checks
    from porbnet.base.date_text import Dates
    from porbnet.base.dates import text_of
    from porbnet.cli.kinds import fit_of, predictors
    from porbnet.cli.reading import read_table
    from porbnet.cli.table import observations
    from porbnet.cli.writing import check_name, write_table
    from porbnet.estimators.files import load
    from porbnet.estimators.names import labels

    levels = [] if quantiles is None else numbers("quantiles", quantiles)
    levels = levels if isinstance(levels, list) else [levels]
    check_name(out)
    if (model / "many.json").exists():
        many = _of_many(model, read_table(data, header, quiet or as_json), coverage, of, quantiles)
        if as_json:
            show({"command": "predict", "of": of, "coverage": coverage, "columns": many}, "", True, False)
        else:
            write_table(many, out, digits)
        return
    fitted = load(model_path(model))
    table = read_table(data, header, quiet or as_json)
    wanted = labels(fit_of(fitted))[:-1]
    if not 0.0 < coverage < 1.0:
        raise _checks.fail("coverage", coverage, "it must lie between 0 and 1")
    taken = _columns(wanted, table, by_position)
    rows = observations(table, taken, None, drop_missing, with_output=False, beside=exposure)
    tell(rows, quiet or as_json)
    predict, interval = predictors(fitted, of, rows.beside)
    mean, sd = predict(rows.X)
    columns: dict[str, Any] = {}
    for name, column in zip(wanted, taken, strict=True):
        cells = table.shown(table.index(column, "--x"))
        columns[name] = [cell for cell, kept in zip(cells, rows.kept, strict=True) if kept]
    columns |= {"mean": mean.tolist(), "sd": sd.tolist()}
    lower, upper = interval(rows.X, [0.5 * (1.0 - coverage), 0.5 * (1.0 + coverage)]).T
    columns |= {"lower": lower.tolist(), "upper": upper.tolist()}
    for q in levels:
        columns[f"q{q:g}"] = interval(rows.X, [q])[:, 0].tolist()
    in_full = as_json or (out is not None and out.suffix.lower() not in ("", ".csv", ".tsv", ".tab", ".txt"))
    if in_full and isinstance(rows.X, np.ndarray):
        columns |= dict(zip(wanted, rows.X.T.tolist(), strict=True))
    elif in_full:
        values = zip(wanted, rows.X.values, strict=True)
        columns |= {name: (text_of(v.instants) if as_json else v.instants) if isinstance(v, Dates) else v.tolist()
                    for name, v in values}  # fmt: skip
    if as_json:
        show({"command": "predict", "of": of, "coverage": coverage, "columns": columns}, "", True, False)
    else:
        write_table(columns, out, digits)


def _of_many(folder: Path, table: TableData, coverage: float, of: str, quantiles: str | None) -> dict[str, Any]:
    """Predictions of many series; rows of series without a model have none."""
    from porbnet.cli.commands.fit_many import columns_of
    from porbnet.errors import StatementError
    from porbnet.many.many_fits import load_many

    if quantiles is not None:
        raise StatementError("--quantiles is for one model: of many series there are mean, sd and interval")
    fits = load_many(folder)
    found = fits.predict(columns_of(table, [*fits.by, *fits.inputs], fits.by), coverage=coverage, of=of)
    shown = {name: table.shown(table.index(name, "--x")) for name in (*fits.by, *fits.inputs)}
    answers = {name: found[name].tolist() for name in found.columns if name not in shown}
    return shown | {name: [None if v != v else v for v in values] for name, values in answers.items()}


def _columns(wanted: list[str], table: TableData, by_position: bool) -> list[str]:
    """Input columns by the names that they had in the fit; by position if that was asked for, or there are no names."""
    from porbnet.cli.table import listed
    from porbnet.errors import StatementError

    if by_position or not table.named:
        if len(table.names) < len(wanted) or (not by_position and len(table.names) != len(wanted)):
            raise StatementError(
                f"the model has {len(wanted)} input{'' if len(wanted) == 1 else 's'} ({listed(wanted)}), "
                f"but the table has {len(table.names)} column{'' if len(table.names) == 1 else 's'}"
            )
        return table.names[: len(wanted)]
    missing = [name for name in wanted if name not in table.names]
    if missing:
        raise StatementError(
            f"the table has no column {listed(missing)}, which the model was fitted to: there are "
            f"{listed(table.names)}; name them alike, or take the first {len(wanted)} in order with --by-position"
        )
    return wanted
