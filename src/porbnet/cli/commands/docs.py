"""`porbnet docs`: the documentation in the browser, from this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from porbnet.cli.common import Json, Quiet, show


def command(
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Whether to open the browser.")] = True,
    quiet: Quiet = False,
    as_json: Json = False,
) -> None:
    r"""Open the documentation, if it is on this machine; nothing is fetched.

    It is looked for in site/ of the checkout that the package is used from, where `make docs` builds it, and in
    share/doc/porbnet/html below the folder in which Python is installed.

    \b
    Examples:
      porbnet docs
      porbnet docs --no-browser                 say where it is
    """
    from porbnet.errors import StorageError

    page = next((path for path in places() if path.is_file()), None)
    if page is None:
        looked = " or ".join(repr(str(path.parent)) for path in places())
        raise StorageError(
            f"the documentation is not on this machine (looked for in {looked}): `make docs` in a checkout builds it; "
            "`porbnet COMMAND --help` and help(porbnet.PoRBNetRegressor) are always there"
        )
    address = page.resolve().as_uri()
    if browser:
        import webbrowser

        webbrowser.open(address)
    show({"command": "docs", "page": str(page.resolve()), "address": address}, address, as_json, quiet)


def places() -> list[Path]:
    """Where the first page may be: beside the sources, or where distributions put such things."""
    package = Path(__file__).parents[2]
    beside = package.parents[1] / "site" / "index.html"
    installed = Path(sys.prefix) / "share" / "doc" / "porbnet" / "html" / "index.html"
    return [beside, installed] if (package.parents[1] / "docs" / "conf.py").is_file() else [installed]
