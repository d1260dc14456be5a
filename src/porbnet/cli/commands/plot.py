"""`porbnet plot`: pictures of a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porbnet.cli.common import Json, Model, Quiet, model_path, show

_KINDS = "One input: curves (fit, lengthscale, noise) or fit; two: maps; any number: partial, slices, width."


def command(
    model: Model,
    kind: Annotated[str | None, typer.Option(help=_KINDS)] = None,
    out: Annotated[Path | None, typer.Option(help="File to write: .png, .svg or .pdf; KIND.png if not given.")] = None,
    coverage: Annotated[float, typer.Option(help="Probability of the bands.")] = 0.9,
    dpi: Annotated[int, typer.Option(min=10, max=1200, help="Dots per inch of a .png.")] = 150,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Draw a saved model.

    \b
    Examples:
      porbnet plot crash-fit
      porbnet plot crash-fit --kind fit --out crash.svg
      porbnet plot crash-fit --kind width --out width.pdf
    """
    from porbnet.base import checks as _checks
    from porbnet.cli import pictures
    from porbnet.estimators.files import load

    if kind is not None:
        _checks.choice("--kind", kind, pictures.KINDS)
    fitted = load(model_path(model))
    chosen = pictures.kinds_of(fitted)[0] if kind is None else kind
    target = Path(f"{chosen}.png") if out is None else out
    with pictures.canvas():
        pictures.save(pictures.figure(fitted, chosen, coverage), target, dpi)
    show({"command": "plot", "kind": chosen, "files": [str(target)]}, f"written: {target}", as_json, quiet)
