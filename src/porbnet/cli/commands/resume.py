"""`porbnet resume`: go on with a fit that was interrupted or killed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porbnet.cli.common import Jobs, Json, MaxTime, Quiet, seconds

if TYPE_CHECKING:
    from porbnet.cli.output import Begun


def command(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="The folder that `porbnet fit` was writing to.")],
    max_time: MaxTime = None,
    jobs: Jobs = -1,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Go on with a fit after Ctrl-C, a crash or a power cut, to the draws it would have had without.

    \b
    Example:
      porbnet fit crash.csv --out crash    ... Ctrl-C
      porbnet resume crash
      porbnet resume crash --max-time 10min    of a fit whose time was over
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
    limit = seconds("max-time", max_time)
    shown = False if quiet or as_json else None

    def run(begun: Begun) -> Any:
        begun()
        return resume(folder / CHECKPOINT, max_seconds=limit, n_jobs=jobs, progress=shown)

    finish(run, folder, "resume", as_json, quiet)
