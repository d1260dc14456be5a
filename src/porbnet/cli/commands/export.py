"""`porbnet export`: a saved model for ArviZ and other languages."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porbnet.cli.common import Json, Model, Quiet, model_path, show


def command(
    model: Model,
    out: Annotated[Path, typer.Argument(metavar="FILE.nc", help="netCDF file to write.")],
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Write a saved model as netCDF in the schema of ArviZ: draws, diagnostics, log likelihood, data.

    \b
    Example:
      porbnet export crash-fit crash.nc
      python -c "import xarray; print(xarray.open_datatree('crash.nc'))"
    """
    from porbnet.errors import StorageError
    from porbnet.estimators.files import load

    tree = load(model_path(model)).posterior_.to_arviz()
    try:
        tree.to_netcdf(out, engine="h5netcdf")
    except OSError as error:
        raise StorageError(f"{str(out)!r} could not be written: {error.strerror or error}") from error
    groups = sorted(name.strip("/") for name in tree.groups if name != "/")
    text = f"written: {out} ({', '.join(groups)})"
    show({"command": "export", "files": [str(out)], "groups": groups}, text, as_json, quiet)
