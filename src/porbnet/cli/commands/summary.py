"""`porbnet summary`: what a saved model has learned."""

from __future__ import annotations

from typing import Annotated

import typer

from porbnet.cli.common import Json, Model, model_path, show, version


def command(
    model: Model,
    diagnostics: Annotated[bool, typer.Option("--diagnostics", help="With R-hat and effective sample sizes.")] = False,
    as_json: Json = False,
) -> None:
    r"""Say what a saved model has learned, and whether to trust it.

    \b
    Examples:
      porbnet summary crash-fit
      porbnet summary crash-fit/model.npz --diagnostics
      porbnet summary crash-fit --json | jq .lengthscale
    """
    from porbnet.cli import document
    from porbnet.estimators.files import load

    found = document.record(load(model_path(model)))
    text = document.text(found) + ("\n\n" + document.diagnostics_text(found) if diagnostics else "")
    show({"command": "summary", "porbnet": version(), **found}, text, as_json, False)
