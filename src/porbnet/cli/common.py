"""What commands share: exit codes, options, and where words go."""

from __future__ import annotations

import contextlib
import json
import locale
import math
import re
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TextIO

import typer

if TYPE_CHECKING:
    from porbnet.cli.table import Observations

DONE, BAD_INPUT, USAGE, NOT_CONVERGED, INTERRUPTED = 0, 1, 2, 3, 130

_TABLE = "CSV (comma, semicolon, tab or spaces; .gz too), Parquet, Feather or .xlsx; - reads standard input."
_X = "Input column, by name or number from 1; repeat it for several inputs. All but the output if not given."
_HEADER = "Whether the first line has names; guessed if not given."

Table = Annotated[str, typer.Argument(metavar="DATA", help=_TABLE)]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.npz that `porbnet fit` wrote, or its folder.")]
XColumns = Annotated[list[str] | None, typer.Option("--x", metavar="COLUMN", help=_X)]
YColumn = Annotated[str | None, typer.Option("--y", metavar="COLUMN", help="Output column; the last if not given.")]
DropMissing = Annotated[bool, typer.Option("--drop-missing", help="Leave out rows with missing values.")]
Header = Annotated[bool | None, typer.Option("--header/--no-header", help=_HEADER)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of text.")]
MaxTime = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="As 90s, 10min or 2h, or seconds: sampling then ends with what there is."),
]
Seed = Annotated[int, typer.Option(help="Seed: the same seed gives the same numbers.", min=0)]
Scheduler = Annotated[
    str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Of a Dask cluster, as tcp://10.0.0.7:8786.")
]
Jobs = Annotated[int, typer.Option(help="What runs in parallel; -1 for all cores.")]


_ASCII = str.maketrans({"²": "2", "±": "+-", "×": "x", "–": "-", "—": "-", "…": "...", "’": "'"})


def plain(text: str, stream: TextIO) -> str:
    """Text that a terminal can show: nothing that it would obey, and our own signs in ASCII where it has no more."""
    text = "".join(c if c in "\n\t" or c.isprintable() else "\ufffd" for c in text)
    if "utf" not in locale.getencoding().lower():
        text = text.translate(_ASCII).replace("\ufffd", "?")
    encoding = getattr(stream, "encoding", None) or "utf-8"
    return text.encode(encoding, "replace").decode(encoding)


def fail(message: str, code: int = BAD_INPUT) -> NoReturn:
    """One line on standard error, then out."""
    line = ("" if code == INTERRUPTED else "error: ") + " ".join(message.split())
    print(plain(line, sys.stderr), file=sys.stderr)
    sys.exit(code)


def note(message: str, quiet: bool) -> None:
    """A line on standard error, where it is in nobody's way."""
    if not quiet:
        print(plain(" ".join(message.split()), sys.stderr), file=sys.stderr, flush=True)


def show(document: dict[str, Any], text: str, as_json: bool, quiet: bool) -> None:
    """The result of a command on standard output, as JSON or as text."""
    if as_json:
        ascii_only = "utf" not in (getattr(sys.stdout, "encoding", None) or "utf-8").lower()
        print(json.dumps(tidy(document), indent=2, ensure_ascii=ascii_only, allow_nan=False))
    elif not quiet:
        print(plain(text, sys.stdout))


def tidy(value: Any) -> Any:
    """JSON has no NaN and no infinities: null stands for them."""
    if isinstance(value, dict):
        return {k: tidy(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [tidy(v) for v in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


@contextmanager
def gathered_warnings() -> Iterator[list[str]]:
    """Warnings of the package as a list of lines, each once; others are dropped."""
    from porbnet.errors import PorbnetWarning

    said: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield said
        finally:
            said.extend(dict.fromkeys(str(w.message) for w in caught if issubclass(w.category, PorbnetWarning)))


def numbers(name: str, text: str, words: tuple[str, ...] = ()) -> Any:
    """One of some words, a number, or several with commas between; anything else is wrong usage."""
    if text in words:
        return text
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        allowed = ", ".join([*words, "a number", "numbers with commas between"])
        raise typer.BadParameter(f"{text!r} is none of: {allowed}", param_hint=f"--{name}") from None
    return values[0] if len(values) == 1 else values


def span(text: str, words: tuple[str, ...]) -> Any:
    """A lengthscale: words, numbers, or a time span such as 12days, 36h or 90 s."""
    match = re.fullmatch(r"\s*([0-9.eE+-]+)\s*(d|days?|h|hours?|m|minutes?|s|seconds?)\s*", text)
    if match is None:
        return numbers("lengthscale", text, words)
    from datetime import timedelta

    number = numbers("lengthscale", match[1])
    unit = {"d": "days", "h": "hours", "m": "minutes", "s": "seconds"}[match[2][0]]
    return timedelta(**{unit: number})


def regions(texts: list[str] | None) -> Any:
    """Pairs of numbers or of dates, one per input."""
    if not texts:
        return "auto"
    pairs = []
    for text in texts:
        parts = [part.strip() for part in text.split(",")]
        pairs.append(parts if all(re.match(r"\d{4}-\d\d", p) for p in parts) else numbers("region", text))
    return pairs


def tell(rows: Observations, quiet: bool) -> None:
    """What happened while a table was read."""
    if rows.n_dropped:
        note(f"note: {rows.n_dropped} rows with missing values left out", quiet)
    for remark in rows.remarks:
        note(f"note: {remark}", quiet)


@contextmanager
def cluster(address: str | None) -> Iterator[None]:
    """Chains of a fit on a Dask cluster, if one is named."""
    if address is None:
        yield
        return
    import joblib

    from porbnet.work.bounded import connected

    with connected(address), joblib.parallel_config("dask"):
        yield


def version() -> str:
    """The version that is installed."""
    from importlib import metadata

    return metadata.version("porbnet")


def model_path(path: Path) -> Path:
    """The model file, where its folder may be given too."""
    return path / "model.npz" if path.is_dir() else path


_UNITS_OF_TIME = {"": 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def whole(name: str, text: str) -> Any:
    """A whole number of at least one, or auto."""
    if text.strip().lower() == "auto":
        return "auto"
    try:
        value = int(text.replace("_", ""))
    except ValueError:
        value = 0
    if value < 1:
        raise typer.BadParameter(f"{text!r} is neither auto nor a whole number of at least 1", param_hint=f"--{name}")
    return value


def seconds(name: str, text: str | None) -> Any:
    """A time in seconds, or auto."""
    if text is None or text.strip().lower() == "auto":
        return "auto"
    found = re.fullmatch(r"([0-9.]+)\s*([a-z]*)", text.strip().lower())
    if found and found[2] in _UNITS_OF_TIME:
        with contextlib.suppress(ValueError):
            value = float(found[1]) * _UNITS_OF_TIME[found[2]]
            if 0.0 < value < math.inf:
                return value
    raise typer.BadParameter(f"{text!r} is not a time above zero, as 90s, 10min or 2h", param_hint=f"--{name}")
