"""From a fitted model to its folder: model, draws, report and pictures; what `fit` and `resume` have in common."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import typer

from porbnet.cli.common import INTERRUPTED, NOT_CONVERGED, fail, gathered_warnings, note, show, version
from porbnet.cli.writing import write_table

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

CHECKPOINT = "checkpoint"


Begun = Callable[[], None]


def finish(run: Callable[[Begun], PoRBNetRegressor], out: Path, command: str, as_json: bool, quiet: bool) -> None:
    """Sample, write all files, say what was learned, and leave with the exit code that fits.

    run : the fit; it calls its argument when everything is checked and sampling begins
    """

    def begun() -> None:
        if not sys.stderr.isatty():  # no bars there
            note(f"sampling; Ctrl-C keeps what there is, and `porbnet resume {_quoted(out)}` goes on", quiet or as_json)

    from porbnet.cli import document

    try:
        with gathered_warnings() as said:
            model = run(begun)
        if model._run_ended_early:
            _stopped(out)
        heard = [document.in_options(text) for text in said]
        found = write(model, out, command, heard)
    except KeyboardInterrupt as error:
        _stopped(out, str(error))
    names = ", ".join(Path(name).name for name in found["files"])
    summary = document.text(found)
    for text in heard:
        if not sys.stdout.isatty() or " ".join(text.split()) not in " ".join(summary.split()):  # once on one screen
            note(f"warning: {text}", quiet or as_json)
    lines = [summary, "", f"written to {out}: {names}"]
    if goes_on(model):
        lines.append(f"to go on from here: porbnet resume {_quoted(out)} --max-time TIME")
    show(found, "\n".join(lines), as_json, quiet)
    raise typer.Exit(0 if found["predictions_converged"] else NOT_CONVERGED)


def goes_on(model: PoRBNetRegressor) -> bool:
    """Whether a fit has ended for lack of time, and can go on from its checkpoint."""
    return bool(model._out_of_time and not model.diagnostics_.converged)


def _stopped(out: Path, why: str = "") -> NoReturn:
    if not (out / CHECKPOINT / "fit.npz").exists():
        fail("interrupted before sampling began: nothing is kept", INTERRUPTED)
    if "max_seconds" in why:  # nobody has interrupted it
        fail(f"--max-time was over before any draw was made; to go on: porbnet resume {_quoted(out)} --max-time TIME",
             INTERRUPTED)  # fmt: skip
    fail(f"interrupted: all draws so far are kept; to go on: porbnet resume {_quoted(out)}", INTERRUPTED)


def default_folder(data: str) -> Path:
    """Where the results of a table go if nothing is said."""
    if data == "-" or (os.path.exists(data) and not os.path.isfile(data)):  # standard input, a pipe
        return Path("porbnet-fit")
    name = Path(data)
    while name.suffix.lower() in (".gz", ".bz2", ".xz"):
        name = name.with_suffix("")
    return Path(f"{name.stem}-fit")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def write(model: PoRBNetRegressor, out: Path, command: str, said: list[str]) -> dict[str, Any]:
    """All files of a fit; the checkpoint goes when the model is safe."""
    from porbnet.cli import document, pictures, report
    from porbnet.storage.checkpoint import discard

    model.set_params(checkpoint=None)
    model.save(out / "model.npz")
    found = document.record(model)
    files = ["model.npz", "draws.csv"]
    _write_draws(model, out / "draws.csv")
    images: dict[str, str] = {}
    if pictures.have_matplotlib():
        with pictures.canvas():
            for kind in pictures.kinds_of(model):
                figure = pictures.figure(model, kind)
                pictures.save(figure, out / f"{kind}.png")
                images[kind] = pictures.svg(figure)
                (out / f"{kind}.svg").write_text(images[kind], encoding="utf-8")
                files += [f"{kind}.png", f"{kind}.svg"]
    else:
        said = [*said, "there are no pictures: pip install 'porbnet[plot]' brings what they need"]
    title = f"{found['output']} given {document.in_words(found['inputs'])}"
    (out / "report.html").write_text(report.html(model, found, title, images), encoding="utf-8")
    files.append("report.html")
    if not goes_on(model):
        discard(out / CHECKPOINT)  # unless someone has begun another fit there meanwhile
    return {
        "command": command,
        "porbnet": version(),
        **found,
        "warnings": said,
        "folder": str(out),
        "files": [str(out / name) for name in files],
    }


def _write_draws(model: PoRBNetRegressor, path: Path) -> None:
    """One line per draw, for spreadsheets."""
    posterior, slopes = model.posterior_, model.posterior_.slopes
    additive = posterior.problem.likelihood.additive
    columns = {
        "chain": [c + 1 for c in range(posterior.n_chains) for _ in range(posterior.n_draws_per_chain)],
        "draw": list(range(1, posterior.n_draws_per_chain + 1)) * posterior.n_chains,
        "width": posterior.n_units.tolist(),
        **({"noise": posterior.noise.tolist()} if additive else {}),
        "amplitude": posterior.amplitude.tolist(),
        "bias": posterior.bias.tolist(),
        **{f"slope_{d + 1}": column.tolist() for d, column in enumerate(() if slopes is None else slopes.T)},
        "log_likelihood": posterior.log_likelihood.tolist(),
    }
    write_table(columns, path)
