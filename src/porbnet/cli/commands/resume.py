"""`porbnet resume`: go on with a fit that was interrupted or killed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porbnet.cli.common import Jobs, Json, Quiet

if TYPE_CHECKING:
    from porbnet.cli.output import Begun
    from porbnet.estimators.regressor import PoRBNetRegressor


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that `porbnet fit` was writing to.")],
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Go on with a fit after Ctrl-C, a crash or a power cut, to the draws it would have had without.

    \b
    Example:
      porbnet fit crash.csv --out crash    ... Ctrl-C
      porbnet resume crash
    """
    from porbnet.cli.output import CHECKPOINT, finish
    from porbnet.errors import StatementError
    from porbnet.estimators.files import resume

    if not (folder / CHECKPOINT / "fit.npz").exists():
        done = (folder / "model.npz").exists()
        raise StatementError(
            f"{str(folder)!r} holds "
            + ("a fit that is finished: nothing to go on with" if done else "no fit that was begun")
        )
    shown = False if quiet or as_json else None

    def run(begun: Begun) -> PoRBNetRegressor:
        begun()
        return resume(folder / CHECKPOINT, n_jobs=jobs, progress=shown)

    finish(run, folder, "resume", as_json, quiet)
