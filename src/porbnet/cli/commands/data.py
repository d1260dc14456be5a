"""`porbnet data`: the data sets of the package as CSV."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from porbnet.cli.common import Json, show

NAMES = ("motorcycle", "heartrate", "exp2d", "chirp2d", "vix")


def command(
    name: Annotated[str | None, typer.Argument(help="Which; leave it out for a list.")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write; standard output if not given.")] = None,
    as_json: Json = False,
) -> None:
    r"""Write a data set as CSV, or list them.

    \b
    Examples:
      porbnet data                              the list, with sources and licences
      porbnet data motorcycle > crash.csv
      porbnet data chirp2d --out surface.csv
    """
    import numpy as np

    from porbnet import datasets
    from porbnet.base import checks as _checks

    if name is not None:
        _checks.choice("NAME", name, NAMES)
        dataset = getattr(datasets, f"load_{name}")()
        numbers = np.column_stack([dataset.X, dataset.y]).tolist()
        rows = [",".join(dataset.names), *(",".join(map(repr, row)) for row in numbers)]
        if out is None:
            print("\n".join(rows))
        else:
            out.write_text("\n".join(rows) + "\n", encoding="utf-8")
        return
    listed: list[dict[str, Any]] = []
    for known in NAMES:
        try:
            dataset = getattr(datasets, f"load_{known}")()
        except ImportError as error:
            listed.append(
                {"name": known, "rows": 0, "columns": [], "description": str(error), "source": "", "licence": ""}
            )
            continue
        columns = [f"{n} ({u})" if u != "1" else n for n, u in zip(dataset.names, dataset.units, strict=True)]
        listed.append(
            {"name": known, "rows": len(dataset), "columns": columns, "description": dataset.description,
             "source": dataset.source, "licence": dataset.licence}
        )  # fmt: skip
    text = []
    for entry in listed:
        size = f"{entry['rows']} rows: {', '.join(entry['columns'])}" if entry["rows"] else "not installed"
        text += [f"{entry['name']:<12}{size}", f"{'':<12}{entry['description']}"]
        text += [f"{'':<12}{entry[k]}" for k in ("source", "licence") if entry[k]] + [""]
    show({"command": "data", "data": listed}, "\n".join(text).rstrip(), as_json, False)
