"""The command: every subcommand on the motorcycle data, exit codes, JSON, Ctrl-C.

`run` runs the installed command in a process of its own, `inside` the same code within this one, which saves the start.
"""

import csv
import inspect
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from html.parser import HTMLParser
from importlib import resources
from pathlib import Path

import jsonschema
import numpy as np
import pytest

import porbnet
from porbnet import datasets
from porbnet.cli import main

COMMAND = Path(sys.executable).with_name("porbnet")
SHORT = ["--draws", "60", "--warmup", "60", "--chains", "2", "--lengthscale", "constant", "--jobs", "1"]
ENVIRONMENT = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"}


def run(*arguments, cwd, given=None):
    return subprocess.run(
        [str(COMMAND), *map(str, arguments)],
        cwd=cwd, input=given, capture_output=True, text=True, check=False, timeout=300, env=ENVIRONMENT,
    )  # fmt: skip


@pytest.fixture
def inside(monkeypatch, capsys):
    """Like `run`, within this process."""

    def call(*arguments, cwd, given=""):
        monkeypatch.chdir(cwd)
        monkeypatch.setattr(sys, "argv", ["porbnet", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode())))
        with pytest.raises(SystemExit) as caught:
            main()
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, caught.value.code or 0, printed.out, printed.err)

    return call


def schema(name):
    return json.loads(resources.files("porbnet.cli").joinpath("schemas", f"{name}.json").read_text())


def checked(text, name):
    """The JSON of a command, valid by its schema."""
    document = json.loads(text)
    jsonschema.validate(document, schema(name), cls=jsonschema.Draft202012Validator)
    return document


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with the data and a fit of them in crash-fit."""
    folder = tmp_path_factory.mktemp("command")
    done = run("data", "motorcycle", "--out", "crash.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    done = run("fit", "crash.csv", "--x", "time", "--y", "acceleration", *SHORT, "--json", cwd=folder)
    assert done.returncode in (0, 3), done.stderr
    (folder / "fit.json").write_text(done.stdout)
    (folder / "code").write_text(str(done.returncode))
    return folder


def test_fit_writes_everything(place):
    document = checked((place / "fit.json").read_text(), "fit")
    names = {Path(f).name for f in document["files"]}
    assert names == {
        "model.npz", "draws.csv", "report.html", "curves.png", "curves.svg", "width.png", "width.svg"
    }  # fmt: skip
    assert names == set(os.listdir(place / "crash-fit"))  # the checkpoint has gone
    assert document["observations"] == 133 and document["inputs"] == ["time"] and document["output"] == "acceleration"
    assert int((place / "code").read_text()) == (0 if document["converged"] else 3)
    assert (place / "crash-fit" / "curves.png").read_bytes().startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO((place / "crash-fit" / "draws.csv").read_text())))
    assert len(rows) == 120 and float(rows[0]["noise"]) > 0


def test_the_fit_is_that_of_the_estimator(place):
    """The command adds nothing of its own."""
    import warnings

    data = datasets.load_motorcycle()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        same = porbnet.PoRBNetRegressor("constant", n_draws=60, n_warmup=60, n_chains=2, random_state=0).fit(
            data.X, data.y
        )
    loaded = porbnet.load(place / "crash-fit" / "model.npz")
    np.testing.assert_array_equal(loaded.predict(data.X), same.predict(data.X))
    assert loaded.labels_ == ["time", "acceleration"]


def test_defaults_are_those_of_the_estimator():
    from porbnet.cli.commands.fit import command

    stated = {name: p.default for name, p in inspect.signature(command).parameters.items()}
    names = {"draws": "n_draws", "warmup": "n_warmup", "chains": "n_chains", "checkpoint_every": "checkpoint_seconds"}
    names |= {n: n for n in ("thin", "lengthscale", "noise", "amplitude", "units_per_lengthscale", "sampler")}
    expected = porbnet.PoRBNetRegressor().get_params()
    assert {n: stated[n] for n in names} == {n: expected[e] for n, e in names.items()}


def test_exit_code_3_where_not_converged(place, tmp_path, inside):
    done = inside("fit", place / "crash.csv", *SHORT, "--draws", "5", "--out", "f", cwd=tmp_path)
    assert done.returncode == 3
    assert (
        re.search("warning: (run longer|chains are in different places)", done.stderr) and "--draws auto" in done.stdout
    )
    assert "note: output 'acceleration', input 'time'" in done.stderr


def test_quiet_says_nothing(place, tmp_path, inside):
    done = inside("fit", place / "crash.csv", *SHORT, "--draws", "5", "--out", "f", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (3, "", "")


def test_summary(place, inside):
    text = inside("summary", "crash-fit", "--diagnostics", cwd=place)
    assert text.returncode == 0
    for words in ("133 observations", "verdict:", "lengthscale", "noise sd", "R-hat", "bulk ESS"):
        assert words in text.stdout
    document = checked(run("summary", "crash-fit/model.npz", "--json", cwd=place).stdout, "summary")
    fitted = json.loads((place / "fit.json").read_text())
    assert {k: v for k, v in document.items() if k != "command"} == {
        k: fitted[k] for k in document if k != "command"
    } | {"porbnet": porbnet.__version__}


def test_predict(place, inside):
    done = run("predict", "crash-fit", "-", "--quantiles", "0.25,0.5", cwd=place, given="time\n5\n20\n40\n")
    assert done.returncode == 0, done.stderr
    rows = np.array([[float(v) for v in row] for row in list(csv.reader(io.StringIO(done.stdout)))[1:]])
    assert done.stdout.startswith("time,mean,sd,lower,upper,q0.25,q0.5\n")
    model = porbnet.load(place / "crash-fit" / "model.npz")
    X = np.array([[5.0], [20.0], [40.0]])
    np.testing.assert_allclose(rows[:, 1:3].T, model.predict(X, return_std=True), rtol=1e-6)
    np.testing.assert_allclose(rows[:, 3:5], model.predict_interval(X), rtol=1e-6)
    np.testing.assert_allclose(rows[:, 5:], model.predict_quantiles(X, [0.25, 0.5]), rtol=1e-6)
    assert max(len(cell) for cell in done.stdout.split()[-1].split(",")) <= 13  # 7 digits, not 16
    document = checked(inside("predict", "crash-fit", "crash.csv", "--of", "f", "--json", cwd=place).stdout, "predict")
    assert len(document["columns"]["mean"]) == 133 and "acceleration" not in document["columns"]
    done = inside("predict", "crash-fit", "crash.csv", "--out", "p.csv", cwd=place)
    assert done.stdout == "" and (place / "p.csv").read_text().count("\n") == 134


def test_plot(place, inside):
    for name, start, call in (("a.png", b"\x89PNG", run), ("a.svg", b"<?xml", inside), ("a.pdf", b"%PDF", inside)):
        done = call("plot", "crash-fit", "--kind", "fit", "--out", name, "--json", cwd=place)
        assert done.returncode == 0, done.stderr
        checked(done.stdout, "plot")
        assert (place / name).read_bytes().startswith(start)


def test_export(place, inside):
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("arviz_base")
    done = inside("export", "crash-fit", "crash.nc", "--json", cwd=place)
    assert done.returncode == 0, done.stderr
    assert "posterior" in checked(done.stdout, "export")["groups"]
    with xarray.open_datatree(place / "crash.nc", engine="h5netcdf") as tree:
        assert tree["posterior"].sizes["chain"] == 2 and tree["posterior"].sizes["draw"] == 60
    assert inside("export", "crash-fit", "no/folder/a.nc", cwd=place).returncode == 1


def test_prior(tmp_path, inside):
    arguments = ["--lengthscale", "0.3", "--amplitude", "2", "--draws", "7"]
    done = inside("prior", *arguments, "--out", "d.csv", "--covariance", "c.csv", "--json", cwd=tmp_path)
    document = checked(done.stdout, "prior")
    assert document["sd"] == pytest.approx(2.0) and document["correlation_at_one_lengthscale"] == pytest.approx(
        np.exp(-0.5), abs=1e-3
    )
    assert (tmp_path / "d.csv").read_text().startswith("x,f1,f2,f3,f4,f5,f6,f7\n")
    table = np.loadtxt(tmp_path / "c.csv", delimiter=",", skiprows=1)
    assert table.shape == (100, 101) and np.allclose(table[:, 1:], table[:, 1:].T)
    done = inside("prior", *arguments, "--region=-1,4", "--out", "p.png", cwd=tmp_path)
    assert done.returncode == 0 and "units expected on [-1, 4]" in done.stdout
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_data(tmp_path, inside):
    done = inside("data", cwd=tmp_path)
    assert done.returncode == 0 and all(
        n in done.stdout for n in ("motorcycle", "heartrate", "exp2d", "chirp2d", "vix")
    )
    checked(inside("data", "--json", cwd=tmp_path).stdout, "data")
    rows = inside("data", "motorcycle", cwd=tmp_path).stdout.splitlines()
    data = datasets.load_motorcycle()
    assert rows[0] == "time,acceleration" and len(rows) == 134
    assert [float(v) for v in rows[5].split(",")] == [data.X[4, 0], data.y[4]]


def test_compare(place, inside):
    arguments = ["--folds", "2", "--draws", "20", "--warmup", "40", "--chains", "1", "--jobs", "1"]
    done = inside("compare", "crash.csv", *arguments, "--json", cwd=place)
    assert done.returncode in (0, 3), done.stderr
    methods = {m["name"]: m for m in checked(done.stdout, "compare")["methods"]}
    fits = {"porbnet", "porbnet-constant", "porbnet-varying", "porbnet-robust"}
    assert set(methods) == {*fits, "gp", "boosting", "spline", "linear"}
    scores = [m["llh"]["mean"] for m in methods.values()]
    assert scores == sorted(scores, reverse=True) and [m["rank"] for m in methods.values()] == list(range(1, 9))
    assert methods["porbnet-varying"]["rank"] == 1 and methods["linear"]["behind"]["mean"] > 0.5
    for name in fits | {"gp", "spline"}:
        assert methods[name]["rmse"]["mean"] < 0.75 * methods["linear"]["rmse"]["mean"]
        assert methods[name]["llh"]["mean"] > methods["linear"]["llh"]["mean"]
    done = inside("compare", "crash.csv", "--folds", "2", "--only", "linear", cwd=place)
    assert done.returncode == 0 and "linear" in done.stdout and "gp " not in done.stdout


def test_compare_takes_several_statements(place, inside):
    arguments = ["--folds", "2", "--draws", "5", "--warmup", "5", "--chains", "1", "--jobs", "1", "--rank-by", "rmse"]
    several = ["--noise", "20", "--noise", "learned", "--lengthscale", "constant", "--lengthscale", "9"]
    only = ["porbnet-constant-noise=20", "porbnet-lengthscale=9", "linear"]
    names = [word for name in only for word in ("--only", name)]
    done = inside("compare", "crash.csv", *arguments, *several, *names, cwd=place)
    assert done.returncode in (0, 3), done.stderr
    assert all(name in done.stdout for name in only) and "3. linear" in done.stdout
    assert "behind: squared error per observation" in done.stdout
    done = inside("compare", "crash.csv", "--noise", "magic", cwd=place)
    assert done.returncode == 2 and "learned, varying, robust, auto" in done.stderr


def test_the_noise_can_be_chosen(place, inside, monkeypatch):
    from porbnet.estimators import noise_choice

    monkeypatch.setattr(noise_choice, "N_WARMUP", 60)
    monkeypatch.setattr(noise_choice, "N_DRAWS", 40)
    done = inside("fit", "crash.csv", *SHORT, "--noise", "auto", "--out", "chosen", "--json", cwd=place)
    assert done.returncode in (0, 3), done.stderr
    document = checked(done.stdout, "fit")
    assert document["noise_choice"]["noise"] == "varying"
    assert document["noise_sentence"] in " ".join((place / "chosen" / "report.html").read_text("utf-8").split())
    again = inside("summary", "chosen", cwd=place)
    assert "noise: varying, chosen by leave-one-out over 133 rows" in again.stdout


# --- the report ----------------------------------------------------------------------------------------------------


class Page(HTMLParser):
    """Tags and what they point at."""

    VOID = frozenset({"meta", "link", "img", "br", "hr", "input"})

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.points_at, self.ids, self.text = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                self.points_at.append(value)
            if name == "id":
                self.ids.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def test_the_report_needs_nothing_from_elsewhere(place):
    text = (place / "crash-fit" / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == [] and text.startswith("<!DOCTYPE html>")
    assert all(target.startswith("#") for target in page.points_at)
    assert {target[1:] for target in page.points_at} <= set(page.ids) and len(page.ids) == len(set(page.ids))
    names = [tag for tag, _ in page.tags]
    assert "script" not in names and "link" not in names and "iframe" not in names and "@import" not in text
    assert names.count("svg") == 2 and names.count("h1") == 1 and names.count("main") == 1
    assert dict(page.tags)["html"]["lang"] == "en" and "title" in names
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes["role"] == "img" and attributes["aria-label"]
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    assert names.count("caption") == names.count("table") == 2
    shown = " ".join(page.text)
    assert "acceleration given time" in shown and "R-hat" in shown and "SigmoidGP" not in shown
    assert re.search(r"\d\.\d{8,}", shown.split("The statement")[1]) is None  # digits that nobody reads


@pytest.mark.skipif(shutil.which("chromium") is None, reason="no browser here")
def test_the_report_in_a_browser_without_a_network(place, tmp_path):
    """It is shown in full, and the browser is asked for nothing else."""
    log = tmp_path / "net.json"
    report = place / "crash-fit" / "report.html"
    options = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND"]
    done = subprocess.run(
        ["chromium", *options, f"--user-data-dir={tmp_path}", f"--log-net-log={log}", "--dump-dom", report.as_uri()],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0 and done.stdout.count("<svg") == 2 and "R-hat" in done.stdout
    assert report.as_uri() in log.read_text() and "w3.org" not in log.read_text()


def test_names_in_the_report_are_escaped(place, tmp_path, inside):
    table = (place / "crash.csv").read_text().replace("acceleration", "<script>alert(1)</script>")
    done = inside("fit", "-", *SHORT, "--draws", "5", "--out", "f", cwd=tmp_path, given=table)
    assert done.returncode == 3, done.stderr
    assert "<script" not in (tmp_path / "f" / "report.html").read_text()


# --- mistakes ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["fit", "nothing.csv"], 1, "error: 'nothing.csv' cannot be read: No such file or directory"),
        (
            ["fit", "crash.csv", "--x", "speed"],
            1,
            "error: --x 'speed' is not a column: there are 'time', 'acceleration'",
        ),
        (["fit", "crash.csv"], 1, "error: 'crash-fit' holds a fit already"),
        (["fit", "holes.csv"], 1, "error: 1 of 3 rows have missing values in 'b' (lines 3)"),
        (["fit", "crash.csv", "--noise", "-1", "--out", "x"], 1, "error: noise=-1.0 is not allowed"),
        (["fit", "crash.csv", "--sampler", "magic", "--out", "x"], 1, "error: sampler='magic' is not allowed"),
        (["fit", "crash.csv", "--out", "crash.csv"], 1, "is a file: it must be a folder"),
        (["fit", "crash.csv", "--out", "crash.csv/x"], 1, "could not be made: Not a directory"),
        (["fit", "crash.csv", "--region", "3,1", "--out", "x"], 1, "region="),
        (["fit", "crash.csv", "--lengthscale", "short"], 2, "--lengthscale"),
        (["fit", "crash.csv", "--draws", "0"], 2, "--draws"),
        (["fit", "crash.csv", "--draws", "many"], 2, "--draws"),
        (["fit"], 2, "DATA"),
        (["summary", "crash.csv"], 1, "error: 'crash.csv' is refused: porbnet did not write it"),
        (["summary", "nowhere"], 1, "No such file or directory"),
        (
            ["predict", "crash-fit", "holes.csv"],
            1,
            "no column 'time', which the model was fitted to",
        ),
        (["predict", "crash-fit", "crash.csv", "--of", "z"], 1, "of='z' is not allowed"),
        (["predict", "crash-fit", "crash.csv", "--coverage", "2"], 1, "coverage=2.0 is not allowed"),
        (["plot", "crash-fit", "--out", "a.docx"], 1, "must end in .png, .svg, .pdf"),
        (["plot", "crash-fit", "--kind", "cake"], 1, "--kind='cake' is not allowed"),
        (["plot", "crash-fit", "--out", "no/folder/a.png"], 1, "No such file or directory"),
        (["prior", "--lengthscale", "0", "--amplitude", "1"], 1, "is not allowed"),
        (["prior", "--amplitude", "1"], 2, "--lengthscale"),
        (["data", "titanic"], 1, "NAME='titanic' is not allowed"),
        (["compare", "crash.csv", "--only", "magic"], 1, "--only='magic' is not allowed"),
        (["compare", "crash.csv", "--folds", "100"], 1, "too many"),
        (["resume", "crash-fit"], 1, "holds a fit that is finished"),
        (["resume", "nowhere"], 1, "no fit that was begun"),
        (["bake"], 2, "bake"),
    ],
    ids=lambda a: " ".join(a)[:40] if isinstance(a, list) else "",
)
def test_mistakes_end_in_one_line(place, arguments, code, words, inside):
    (place / "holes.csv").write_text("a,b\n1,2\n3,NA\n5,6\n")
    done = inside(*arguments, cwd=place)
    assert done.returncode == code, done.stderr
    assert words in done.stderr and "Traceback" not in done.stderr and done.stdout == ""
    if code == 1:
        errors = [line for line in done.stderr.splitlines() if line.startswith("error:")]
        assert len(errors) == 1 and done.stderr.splitlines()[-1] == errors[0]


@pytest.mark.parametrize(
    "arguments", [["fit", "nothing.csv"], ["fit", "crash.csv", "--noise=-1", "--out", "x"], ["bake"]]
)
def test_mistakes_from_outside(place, arguments):
    done = run(*arguments, cwd=place)
    assert done.returncode == (2 if arguments == ["bake"] else 1)
    assert "rror: " in done.stderr and "Traceback" not in done.stderr and done.stdout == ""


def test_missing_values_are_dropped_on_request(place, tmp_path, inside):
    text = (place / "crash.csv").read_text() + "70,NA\n,3\n"
    done = inside(
        "fit", "-", *SHORT, "--draws", "5", "--drop-missing", "--json", "--out", "f", cwd=tmp_path, given=text
    )
    assert done.returncode == 3 and checked(done.stdout, "fit")["observations"] == 133
    assert "2 rows with missing values left out" in done.stderr


def test_several_inputs(tmp_path, inside):
    inside("data", "exp2d", "--out", "s.csv", cwd=tmp_path)
    columns = ["--x", "x1", "--x", "x2", "--y", "y"]
    done = inside("fit", "s.csv", *columns, *SHORT, "--draws", "5", "--warmup", "5", "--json", cwd=tmp_path)
    assert done.returncode == 3, done.stderr
    document = checked(done.stdout, "fit")
    assert document["inputs"] == ["x1", "x2"]
    assert {"maps.png", "maps.svg", "width.png"} <= {Path(f).name for f in document["files"]}
    done = inside("predict", "s-fit", "-", cwd=tmp_path, given="x2,x1\n0,1\n")
    assert done.stdout.startswith("x1,x2,mean,sd,lower,upper\n1,0,")


# --- Ctrl-C and resume ---------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_ctrl_c_then_resume(place, tmp_path, inside):
    long = f"--draws 300 --warmup 300 --chains 2 --lengthscale constant --jobs 1 --thin 6 {place / 'crash.csv'}".split()
    whole = inside("fit", *long, "--out", "whole", cwd=tmp_path)
    assert whole.returncode in (0, 3), whole.stderr
    arguments = [str(COMMAND), "fit", *long, "--out", "part", "--checkpoint-every", "0.05"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(arguments, cwd=tmp_path, env=ENVIRONMENT, **pipes)
    deadline = time.monotonic() + 120
    while not (tmp_path / "part" / "checkpoint" / "chain1-state.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=120)
    assert process.returncode == 130, errors
    assert out == "" and "Traceback" not in errors
    assert errors.splitlines()[-1].startswith("interrupted: all draws so far are kept") and errors.endswith(
        "porbnet resume part\n"
    )
    assert os.listdir(tmp_path / "part") == ["checkpoint"]
    again = inside("fit", *long, "--out", "part", cwd=tmp_path)
    assert again.returncode == 1 and "`porbnet resume part` goes on with it" in again.stderr
    done = run("resume", "part", "--json", cwd=tmp_path)
    assert done.returncode == whole.returncode, done.stderr
    assert checked(done.stdout, "fit")["command"] == "resume"
    a, b = (porbnet.load(tmp_path / name / "model.npz") for name in ("whole", "part"))
    for name, values in vars(a.posterior_.draws).items():
        np.testing.assert_array_equal(getattr(b.posterior_.draws, name), values)
    assert (tmp_path / "whole" / "draws.csv").read_bytes() == (tmp_path / "part" / "draws.csv").read_bytes()
    assert not (tmp_path / "part" / "checkpoint").exists()


# --- help ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["", "fit", "resume", "predict", "summary", "plot", "export", "prior", "data", "compare"]
)
def test_help_teaches_by_example(name, tmp_path, inside):
    done = inside(*([name] if name else []), "--help", cwd=tmp_path)
    assert done.returncode == 0 and f"porbnet {name}".strip() in done.stdout
    assert "Example" in done.stdout or "Try it:" in done.stdout


def test_help_is_quick(tmp_path):
    """Under half a second when warm; CPU time of the best of three, so that a busy machine does not matter."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.argv[1], '--help'], check=True, stdout=subprocess.DEVNULL)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)"
    )
    times = [
        float(
            subprocess.run(
                [sys.executable, "-c", code, str(COMMAND)], capture_output=True, text=True, check=True
            ).stdout
        )
        for _ in range(3)
    ]
    assert min(times) < 0.5


def test_help_loads_nothing_heavy():
    code = "import sys, porbnet.cli; print(' '.join({m.split('.')[0] for m in sys.modules}))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "numba", "sklearn", "matplotlib", "pandas", "pyarrow"} & set(loaded)


def test_version_and_module(tmp_path):
    assert run("--version", cwd=tmp_path).stdout == f"porbnet {porbnet.__version__}\n"
    done = subprocess.run([sys.executable, "-m", "porbnet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"porbnet {porbnet.__version__}\n"


def test_a_reader_that_leaves(tmp_path):
    """`porbnet data exp2d | head -1`."""
    done = subprocess.run(
        f"{COMMAND} data heartrate | head -1", shell=True, capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stdout == "time,heart rate\n" and "Traceback" not in done.stderr


# --- warmup ------------------------------------------------------------------------------------------------------


def test_warmup_compiles_every_kind_of_fit(tmp_path, inside):
    done = inside("warmup", "--json", cwd=tmp_path)
    parts = checked(done.stdout, "warmup")["parts"]
    assert [p["name"] for p in parts] == ["one noise sd", 'noise="varying"', 'noise="robust"', "the paper's sampler"]
    assert "one noise sd: " in done.stderr
    assert inside("warmup", "--quiet", cwd=tmp_path).stdout == ""


def test_what_a_fit_with_heavy_tails_learned(tmp_path, inside):
    inside("data", "motorcycle", "--out", "crash.csv", cwd=tmp_path)
    done = inside("fit", "crash.csv", "--noise", "robust", *SHORT, "--json", "--quiet", cwd=tmp_path)
    document = checked(done.stdout, "fit")
    assert set(document["also_learned"]) == {"freedom"} and document["titles"]["freedom"] == "degrees of freedom"
    assert "degrees of freedom" in (tmp_path / "crash-fit" / "report.html").read_text()
