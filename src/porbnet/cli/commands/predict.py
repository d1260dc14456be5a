"""`porbnet predict`: mean, sd and interval at new inputs."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porbnet.cli.common import DropMissing, Header, Json, Model, Quiet, Table, model_path, note, numbers, show

if TYPE_CHECKING:
    from porbnet.cli.table import TableData
    from porbnet.estimators.regressor import PoRBNetRegressor


def command(
    model: Model,
    data: Table,
    of: Annotated[str, typer.Option(help="y: a new observation, noise included; f: the function.")] = "y",
    coverage: Annotated[float, typer.Option(help="Probability between lower and upper.")] = 0.9,
    quantiles: Annotated[str | None, typer.Option(metavar="Q,Q,...", help="Quantiles beside the interval.")] = None,
    out: Annotated[Path | None, typer.Option(help="CSV file to write; standard output if not given.")] = None,
    header: Header = None,
    drop_missing: DropMissing = False,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Predict at the rows of a table: mean, sd and a central interval, as CSV.

    Input columns are found by the names they had in the fit, else taken in order.

    \b
    Examples:
      porbnet predict crash-fit new.csv
      porbnet predict crash-fit new.csv --of f --coverage 0.5 --out curve.csv
      seq 0 60 | porbnet predict crash-fit - --quantiles 0.1,0.5,0.9
    """
    from porbnet.cli.table import observations, read_table
    from porbnet.estimators.files import load

    levels = [] if quantiles is None else numbers("quantiles", quantiles)
    levels = levels if isinstance(levels, list) else [levels]
    fitted = load(model_path(model))
    table = read_table(data, header)
    rows = observations(table, _columns(fitted, table), None, drop_missing, with_output=False)
    if rows.n_dropped:
        note(f"note: {rows.n_dropped} rows with missing values left out", quiet)
    mean, sd = fitted.predict(rows.X, return_std=True, of=of)
    columns: dict[str, Any] = dict(zip(rows.names, rows.X.T.tolist(), strict=True))
    columns |= {"mean": mean.tolist(), "sd": sd.tolist()}
    lower, upper = fitted.predict_interval(rows.X, coverage, of=of).T
    columns |= {"lower": lower.tolist(), "upper": upper.tolist()}
    for q in levels:
        columns[f"q{q:g}"] = fitted.predict_quantiles(rows.X, [q], of=of)[:, 0].tolist()
    if as_json:
        show({"command": "predict", "of": of, "coverage": coverage, "columns": columns}, "", True, False)
    elif out is None:
        _write(columns, sys.stdout)
    else:
        with open(out, "w", newline="", encoding="utf-8") as file:
            _write(columns, file)


def _write(columns: dict[str, Any], file: Any) -> None:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))


def _columns(model: PoRBNetRegressor, table: TableData) -> list[str]:
    """Input columns: those named as in the fit, else the first ones if there are just enough."""
    from porbnet.cli.document import labels
    from porbnet.errors import StatementError

    wanted = labels(model)[:-1]
    if all(name in table.names for name in wanted):
        return wanted
    if len(table.names) == len(wanted):
        return table.names
    raise StatementError(
        f"the model's inputs are {', '.join(map(repr, wanted))}, but the table has "
        f"{', '.join(map(repr, table.names))}: name its columns so, or leave others out"
    )
