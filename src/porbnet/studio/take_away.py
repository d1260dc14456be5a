"""What leaves the page: the statement as Python and as a command, the model, its report and its predictions."""

from __future__ import annotations

import io
import shlex
from pathlib import Path
from typing import Any

import numpy as np

from porbnet.base.dates import text_of
from porbnet.cli.commands.data import NAMES as OFFERED
from porbnet.cli.kinds import estimator_of, fit_of, predictors
from porbnet.cli.reading import visible
from porbnet.estimators.names import calendars, labels
from porbnet.studio.example_data import example
from porbnet.studio.live_fit import LiveFit
from porbnet.studio.rows import Rows, Source
from porbnet.studio.running import Running
from porbnet.studio.statement_form import LEARNED, Form, LengthscaleCurve


def python(form: Form, source: Source | None, added: Any, removed: Any, running: Running, rows: Rows | None) -> str:
    """A program that states the same prior and, where there are data, makes the same fit."""
    kind = "real" if source is None or rows is None else rows.kind
    stated = form.parameters(kind)
    if kind in ("real", "positive") and stated["trend"] is None:
        del stated["trend"]
    curve = stated["lengthscale"] if isinstance(stated["lengthscale"], LengthscaleCurve) else None
    labels = kind == "binary" and source is not None and source.kind == "file"
    lines = ["import numpy as np"] if curve is not None or added or removed or source is None or labels else []
    if curve is not None:
        lines.append("from scipy.interpolate import PchipInterpolator")
    if source is None or rows is None:
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
    estimator = estimator_of(kind).__name__
    lines += [*_imports(source, estimator, kind), "", *_curve(curve), *_data(source, rows, added, removed)]
    lines += [f"model = {estimator}({_arguments(stated, curve)},"]
    lines += [f"    {_arguments(how, None)}, random_state={running.seed})"]
    lines += ["model.fit(X, y)" if rows.beside is None else "model.fit(X, y, exposure=exposure)"]
    lines += ["prior = model.prior_", "print(model.summary())"]
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


def _imports(source: Source, estimator: str, kind: str) -> list[str]:
    if source.kind == "example":
        own = example(source.name).python.startswith("example_data")
        names = estimator if own else f"{estimator}, datasets"
        return [f"from porbnet import {names}", *(["from porbnet.studio import example_data"] if own else [])]
    if source.kind == "file":
        return [
            f"from porbnet import {estimator}",
            *(["from porbnet.cli.kinds import outcome_of"] if kind == "binary" else []),
            "from porbnet.cli.reading import read_table",
            "from porbnet.cli.table import observations",
            "from porbnet.estimators.inputs import as_numbers",
        ]
    return [f"from porbnet import {estimator}"]


def _data(source: Source, rows: Rows, added: Any, removed: Any) -> list[str]:
    exposed = rows.beside is not None
    if source.kind == "example":
        lines = [f"data = {example(source.name).python}", "X, y = data.X, data.y"]
        lines += ["exposure = example_data.hours()"] if exposed else []
    elif source.kind == "file":
        lines = _file(source, rows, bool(added or removed))
    else:
        lines = ["X, y = np.empty((0, 1)), np.empty(0)"]
    names = "X, y, exposure" if exposed else "X, y"
    if removed:
        parts = ["np.delete(X, removed, axis=0)", "np.delete(y, removed)", "np.delete(exposure, removed)"]
        lines += [f"removed = {removed!r}", f"{names} = {', '.join(parts[: 2 + exposed])}"]
    if added:
        parts = ["np.concatenate([X, added[:, :1]])", "np.concatenate([y, added[:, 1]])"]
        parts += ["np.concatenate([exposure, np.ones(len(added))])"] if exposed else []
        lines += [f"added = np.array({added!r})", f"{names} = {', '.join(parts)}"]
    if rows.kind == "binary":
        lines.append("y = y.astype(int)" if rows.classes is None else "y = np.array(found.classes)[y.astype(int)]")
    return lines


def _file(source: Source, rows: Rows, edited: bool) -> list[str]:
    """From the file to X and y; of labels y is 0 or 1."""
    lines, table = [], f"read_table({visible(source.name)!r})"
    if rows.kind == "binary":
        lines = [f"table = {table}", f"found = outcome_of(table, table.names.index({source.y!r}), 'binary')"]
        table = "found.table"
    columns = f"{list(source.x)!r}, {source.y!r}, drop_missing={source.drop_missing}"
    columns += f", beside={source.exposure!r}" if rows.beside is not None else ""
    lines.append(f"rows = observations({table}, {columns})")
    lines.append("X, y = as_numbers(rows.X)[0], rows.y" if edited else "X, y = rows.X, rows.y")
    return [*lines, "exposure = rows.beside"] if rows.beside is not None else lines


def command(form: Form, source: Source | None, added: Any, removed: Any, running: Running, rows: Rows | None) -> str:
    """The same for a terminal; what the command line cannot say, a comment says."""
    kind = "real" if source is None or rows is None else rows.kind
    stated, notes = form.parameters(kind), []
    if isinstance(stated["lengthscale"], LengthscaleCurve):
        notes.append("a curve of the lengthscale is for Python; it is learned here")
        stated["lengthscale"] = "learned" if source is not None else float(np.median(stated["lengthscale"].values))
    if source is None or rows is None:
        words = ["porbnet", "prior", "--lengthscale", _word(stated["lengthscale"])]
        words += ["--amplitude", _word(stated["amplitude"])]
        words += [f"--region={_word(stated['region'])}", "--bias", _word(stated["bias"])]
        if stated["units_per_lengthscale"] != "auto":
            words += ["--units-per-lengthscale", _word(stated["units_per_lengthscale"])]
        if stated["trend"] is not None:
            notes.append("the trend is for Python; there is none here")
        return _with_notes(words, notes)
    if source.kind == "hand" or added or removed:
        notes.append("points that were added or removed by hand are for Python; save them to a file first")
    words = ["porbnet", "fit", *_columns(source, rows, notes), *_options(stated, notes)]
    words += ["--draws", str(running.n_draws), "--warmup", str(running.n_warmup), "--thin", str(running.thin)]
    words += ["--chains", str(running.n_chains), "--seed", str(running.seed)]
    return _with_notes(words, notes)


def _columns(source: Source, rows: Rows, notes: list[str]) -> list[str]:
    """The table, its columns, and what the output is."""
    name = f"{source.name}.csv" if source.kind == "example" else visible(source.name) or "points.csv"
    if source.kind == "example" and source.name in OFFERED:
        notes.append(f"first: porbnet data {source.name} > {name}")
    elif source.kind == "example":
        notes.append("this example is one of the page: save it to a file first")
    words = [name]
    for column in source.x:
        words += ["--x", column]
    if source.y is not None:
        words += ["--y", source.y]
    if rows.kind != "real" or source.outcome == "real":
        words += ["--outcome", rows.kind]
    if rows.exposure:
        words += ["--exposure", rows.exposure]
    return [*words, "--drop-missing"] if source.drop_missing else words


def _options(stated: dict[str, Any], notes: list[str]) -> list[str]:
    """What is stated of the prior."""
    words = []
    for option in ("lengthscale", "noise", "amplitude", "units_per_lengthscale", "trend"):
        value = stated.get(option)
        if value is not None and value != LEARNED.get(option):
            words += [f"--{option.replace('_', '-')}", _word(value)]
    if stated["region"] != "auto":
        pairs = stated["region"] if isinstance(stated["region"][0], list) else [stated["region"]]
        words += [f"--region={_word(pair)}" for pair in pairs]
    if stated["bias"] != "auto":
        notes.append("the bias is for Python; it is that of the data here")
    if stated.get("law") == "poisson" or stated.get("size", "learned") != "learned":
        notes.append("the size of counts is for Python; it is learned here")
    return words


def _word(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(_word(v) for v in value)
    return value if isinstance(value, str) else f"{value!r}"


def _with_notes(words: list[str], notes: list[str]) -> str:
    return "".join(f"# {note}\n" for note in notes) + " ".join(map(shlex.quote, words)) + "\n"


def predictions(model: Any, places: Any) -> str:
    """What `porbnet predict` says at places, with its 90 % interval, as CSV in full precision."""
    fit = fit_of(model)
    moments, quantiles = predictors(model, "y", None)
    mean, sd = moments(places)
    lower, upper = quantiles(places, [0.05, 0.95]).T
    names = labels(fit)[:-1]
    columns: list[list[str]] = []
    for d, calendar in enumerate(calendars(fit)):
        x = places[:, d]
        columns.append([repr(float(v)) for v in x] if calendar is None else text_of(calendar.instants(x)))
    columns += [[repr(float(v)) for v in values] for values in (mean, sd, lower, upper)]
    import csv

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*names, "mean", "sd", "lower", "upper"])
    writer.writerows(zip(*columns, strict=True))
    return text.getvalue()


def report(model: Any) -> str:
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


def write(fit: LiveFit, what: str, folder: Path) -> str:
    """A file of a fit in a folder, by kind; returns its name."""
    model = fit.model
    if what == "model":
        model.save(folder / "model.npz")
        return "model.npz"
    if what == "report":
        (folder / "report.html").write_text(report(model), encoding="utf-8")
        return "report.html"
    (folder / "predictions.csv").write_text(predictions(model, fit.places), encoding="utf-8")
    return "predictions.csv"
