"""The command `porbnet`: thin commands over the public interface, one file each.

Commands import what is heavy when they run, so that `porbnet --help` is quick.
"""

from __future__ import annotations

import inspect
import os
import sys

import typer

from porbnet.cli.commands import (
    compare,
    data,
    docs,
    export,
    fit,
    fit_many,
    paper,
    plot,
    predict,
    prior,
    resume,
    studio,
    summary,
    warmup,
)
from porbnet.cli.common import BAD_INPUT, INTERRUPTED, fail, version
from porbnet.cli.usage import Command

_HELP = """Bayesian regression for functions that are quick in one place and slow in another.

\b
Try it:
  porbnet data motorcycle > crash.csv                fetch a data set
  porbnet fit crash.csv --x time --y acceleration    fit it: model, report and pictures in crash-fit/
  porbnet summary crash-fit/model.npz                what was learned, and whether to trust it
  porbnet predict crash-fit/model.npz new.csv        mean, sd and interval at new inputs
  porbnet resume crash-fit                           go on after Ctrl-C, or after the machine went away
  porbnet fit-many --help                            a fit for every series of a table, on a cluster if need be
  porbnet studio crash.csv                           state a prior and watch it learn, in the browser

\b
Every command explains itself: porbnet fit --help.
Exit codes: 0 done, 1 bad input, 2 wrong usage, 3 done but the chains have not converged, 130 interrupted.
"""

app = typer.Typer(
    name="porbnet", help=_HELP, no_args_is_help=True, add_completion=False, rich_markup_mode=None,
    pretty_exceptions_enable=False, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)  # fmt: skip


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"porbnet {version()}")
        raise typer.Exit


@app.callback()
def _common(
    asked: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Show the version."),
) -> None:
    pass


# raw docstrings have the mark of what is not to be wrapped in two letters
for _module in (
    fit,
    fit_many,
    resume,
    predict,
    summary,
    plot,
    export,
    prior,
    data,
    compare,
    paper,
    studio,
    warmup,
    docs,
):
    _help = inspect.cleandoc(_module.command.__doc__ or "").replace("\\b", "\b")
    app.command(_module.__name__.rsplit(".", 1)[1].replace("_", "-"), cls=Command, help=_help)(_module.command)


def main() -> None:
    """Run the command line; errors of the user end in one line, not in a traceback."""
    from porbnet.errors import PorbnetError

    try:
        app()
    except BrokenPipeError:  # the reader of our output has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(BAD_INPUT)
    except KeyboardInterrupt:
        fail("interrupted", INTERRUPTED)
    except MemoryError as error:
        fail(f"there is not enough memory: {error}" if str(error) else "there is not enough memory")
    except (PorbnetError, OSError, ImportError) as error:
        fail(str(error) or type(error).__name__)
