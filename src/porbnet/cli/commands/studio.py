"""`porbnet studio`: the page in the browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from porbnet.cli.common import plain


def command(
    data: Annotated[
        Path | None, typer.Argument(metavar="[DATA]", help="A table to begin with: CSV, Parquet, Feather or .xlsx.")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on; this machine alone if not given.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes one that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the browser.")] = True,
) -> None:
    r"""State a prior by hand, drop a file, and watch the fit learn: a page in the browser, from this machine alone.

    Needs `pip install "porbnet[studio]"`. Nothing is fetched from the internet and nothing leaves the machine. The
    printed address has a token that lets a browser in; Ctrl-C ends the server and all that it has begun.

    \b
    Examples:
      porbnet studio
      porbnet studio crash.csv
      porbnet studio --port 8765 --no-browser
    """  # fmt: skip
    from porbnet.studio.launch import serve

    serve(data, host, port, browser, lambda line: print(plain(line, sys.stderr), file=sys.stderr, flush=True))
