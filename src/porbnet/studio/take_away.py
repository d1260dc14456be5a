"""What leaves the page: the statement as Python and as a command, the model, its report and its predictions."""

from __future__ import annotations

import io
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base.dates import text_of
from porbnet.cli.reading import visible
from porbnet.estimators.names import calendars, labels
from porbnet.estimators.regressor import PoRBNetRegressor
from porbnet.studio.example_data import example
from porbnet.studio.rows import Source
from porbnet.studio.running import Running
from porbnet.studio.statement_form import Form, LengthscaleCurve

_BY_POSITION = ("lengthscale", "amplitude")


def python(form: Form, source: Source | None, added: Any, removed: Any, running: Running) -> str:
    """A program that states the same prior and, where there are data, makes the same fit."""
    stated = form.parameters()
    curve = stated["lengthscale"] if isinstance(stated["lengthscale"], LengthscaleCurve) else None
    lines = ["import numpy as np"] if curve is not None or added or removed or source is None else []
    if curve is not None:
        lines.append("from scipy.interpolate import PchipInterpolator")
    if source is None:
        if stated["units_per_lengthscale"] == "auto":
            del stated["units_per_lengthscale"]
        lines += ["from porbnet import Prior", "", *_curve(curve)]
        lines += [f"prior = Prior({_arguments(stated, curve)})"]
        region = stated["region"]
        low, high = region[0] if isinstance(region[0], list) else region
        lines += [f"x = np.linspace({low!r}, {high!r}, 400)"]
        if not isinstance(region[0], list):
            lines += ["functions = prior.sample(x, n=50, random_state=0)  # shape (50, 400)"]
        return "\n".join(lines) + "\n"
    how = {"n_chains": running.n_chains, "n_warmup": running.n_warmup, "n_draws": running.n_draws, "thin": running.thin}
    lines += [*_imports(source), "", *_curve(curve), *_data(source, added, removed)]
    lines += [f"model = PoRBNetRegressor({_arguments(stated, curve)},"]
    lines += [f"    {_arguments(how, None)}, random_state={running.seed})"]
    lines += ["model.fit(X, y)", "prior = model.prior_", "print(model.summary())"]
    return "\n".join(lines) + "\n"


def _arguments(stated: dict[str, Any], curve: LengthscaleCurve | None) -> str:
    parts = []
    for name, value in stated.items():
        parts.append(f"{name}={'lengthscale' if curve is not None and name == 'lengthscale' else repr(value)}")
    return ", ".join(parts)


def _curve(curve: LengthscaleCurve | None) -> list[str]:
    if curve is None:
        return []
    x, values = curve.x.tolist(), curve.values.tolist()
    return [
        f"knots = PchipInterpolator({x!r}, np.log({values!r}))",
        "",
        "",
        "def lengthscale(X):",
        f"    return np.exp(knots(np.clip(X[:, 0], {x[0]!r}, {x[-1]!r})))",
        "",
        "",
    ]


def _imports(source: Source) -> list[str]:
    if source.kind == "example":
        call = example(source.name).python
        more = ["from porbnet.studio import example_data"] if call.startswith("example_data") else []
        names = "PoRBNetRegressor" if more else "PoRBNetRegressor, datasets"
        return [f"from porbnet import {names}", *more]
    if source.kind == "file":
        return [
            "from porbnet import PoRBNetRegressor",
            "from porbnet.cli.reading import read_table",
            "from porbnet.cli.table import observations",
            "from porbnet.estimators.inputs import as_numbers",
        ]
    return ["from porbnet import PoRBNetRegressor"]


def _data(source: Source, added: Any, removed: Any) -> list[str]:
    if source.kind == "example":
        lines = [f"data = {example(source.name).python}", "X, y = data.X, data.y"]
    elif source.kind == "file":
        columns = f"{list(source.x)!r}, {source.y!r}, drop_missing={source.drop_missing}"
        lines = [
            f"rows = observations(read_table({visible(source.name)!r}), {columns})",
            "X, y = rows.X, rows.y" if not (added or removed) else "X, y = as_numbers(rows.X)[0], rows.y",
        ]
        if not (added or removed):
            return lines
    else:
        lines = ["X, y = np.empty((0, 1)), np.empty(0)"]
    if removed:
        lines.append(f"X, y = np.delete(X, {removed!r}, axis=0), np.delete(y, {removed!r})")
    if added:
        lines.append(f"added = np.array({added!r})")
        lines.append("X, y = np.concatenate([X, added[:, :1]]), np.concatenate([y, added[:, 1]])")
    return lines


def command(form: Form, source: Source | None, added: Any, removed: Any, running: Running) -> str:
    """The same for a terminal; what the command line cannot say, a comment says."""
    stated, words, notes = form.parameters(), ["porbnet"], []
    if isinstance(stated["lengthscale"], LengthscaleCurve):
        notes.append("a curve of the lengthscale is for Python; it is learned here")
        stated["lengthscale"] = "learned" if source is not None else float(np.median(stated["lengthscale"].values))
    if source is None:
        words += ["prior", "--lengthscale", _word(stated["lengthscale"]), "--amplitude", _word(stated["amplitude"])]
        words += [f"--region={_word(stated['region'])}", "--bias", _word(stated["bias"])]
        if stated["units_per_lengthscale"] != "auto":
            words += ["--units-per-lengthscale", _word(stated["units_per_lengthscale"])]
        return _with_notes(words, notes)
    if source.kind == "hand" or added or removed:
        notes.append("points that were added or removed by hand are for Python; save them to a file first")
    name = f"{source.name}.csv" if source.kind == "example" else visible(source.name) or "points.csv"
    words += ["fit", name]
    for column in source.x:
        words += ["--x", column]
    if source.y is not None:
        words += ["--y", source.y]
    if source.drop_missing:
        words.append("--drop-missing")
    for option in ("lengthscale", "noise", "amplitude", "units_per_lengthscale"):
        if stated[option] not in ("learned", "auto"):
            words += [f"--{option.replace('_', '-')}", _word(stated[option])]
    if stated["region"] != "auto":
        pairs = stated["region"] if isinstance(stated["region"][0], list) else [stated["region"]]
        words += [f"--region={_word(pair)}" for pair in pairs]
    if stated["bias"] != "auto":
        notes.append("the bias is for Python; it is that of the data here")
    words += ["--draws", str(running.n_draws), "--warmup", str(running.n_warmup), "--thin", str(running.thin)]
    words += ["--chains", str(running.n_chains), "--seed", str(running.seed)]
    return _with_notes(words, notes)


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_word(v) for v in value)
    return value if isinstance(value, str) else f"{value!r}"


def _with_notes(words: list[str], notes: list[str]) -> str:
    return "".join(f"# {note}\n" for note in notes) + " ".join(map(shlex.quote, words)) + "\n"


def predictions(model: PoRBNetRegressor, places: Any) -> str:
    """Mean, sd and 90 % interval of a new observation at places, as CSV in full precision."""
    mean, sd = model.predict(places, return_std=True)
    lower, upper = model.predict_interval(places, 0.9).T
    names = labels(model)[:-1]
    columns: list[list[str]] = []
    for d, calendar in enumerate(calendars(model)):
        x = places[:, d]
        columns.append([repr(float(v)) for v in x] if calendar is None else text_of(calendar.instants(x)))
    columns += [[repr(float(v)) for v in values] for values in (mean, sd, lower, upper)]
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, "mean", "sd", "lower", "upper"])
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def report(model: PoRBNetRegressor) -> str:
    """The page that `porbnet fit` writes."""
    from porbnet.cli import document, pictures
    from porbnet.cli.report import html

    images: dict[str, str] = {}
    if pictures.have_matplotlib():
        with pictures.canvas():
            for kind in pictures.kinds_of(model):
                images[kind] = pictures.svg(pictures.figure(model, kind))
    found = document.record(model)
    return html(model, found, f"{found['output']} given {document.in_words(found['inputs'])}", images)


def write(model: PoRBNetRegressor, places: Any, what: str, folder: Path) -> str:
    """A file of a fit in a folder, by kind; returns its name."""
    if what == "model":
        model.save(folder / "model.npz")
        return "model.npz"
    if what == "report":
        (folder / "report.html").write_text(report(model), encoding="utf-8")
        return "report.html"
    (folder / "predictions.csv").write_text(predictions(model, places), encoding="utf-8")
    return "predictions.csv"
