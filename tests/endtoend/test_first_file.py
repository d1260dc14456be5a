"""A user's first file: small tables of every kind through the command and through Python, each with its outcome.

Whatever a case does not expect must not reach the terminal. Most run within this process and without pictures, which
saves the time; a few run the installed command.
"""

import bz2
import datetime
import decimal
import gzip
import importlib
import io
import json
import lzma
import os
import re
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import porbnet
from porbnet.cli import main, pictures

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")
for _part in ("feather", "parquet"):
    importlib.import_module(f"pyarrow.{_part}")

COMMAND = [str(Path(sys.executable).with_name("porbnet"))]
SHORT = ["--draws", "10", "--warmup", "10", "--chains", "1", "--lengthscale", "constant", "--jobs", "1"]
QUICK = {"n_draws": 10, "n_warmup": 10, "n_chains": 1, "lengthscale": "constant", "n_jobs": 1, "random_state": 0}
ALWAYS = [r"note: output '.*', input .*", r"sampling; Ctrl-C keeps .*", r"warning: run longer.*"]

X = np.array([0.5, 1.0, 2.0, 3.5, 4.0, 5.0, 6.5, 7.0, 8.0, 9.5])
Y = np.array([1.0, 1.5, 2.25, 2.0, 1.0, 0.25, -0.5, -0.25, 0.5, 1250.5]) * np.array([1.0] * 9 + [0.001])
Y[-1] = 1.2505
DAYS = np.array([0.0, 3.0, 4.0, 9.0, 15.0, 21.0, 30.0, 33.0, 40.0, 58.0])
DATES = np.datetime64("2024-01-29") + DAYS.astype("timedelta64[D]")
ISO = [str(d) for d in DATES]
DAY_FIRST = [f"{d[8:]}.{d[5:7]}.{d[:4]}" for d in ISO]


@pytest.fixture
def inside(monkeypatch, capsys, tmp_path):
    """The command within this process, without pictures unless they are asked for."""

    def call(*arguments, given=b"", pictured=False):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["porbnet", *map(str, arguments)])
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        if not pictured:
            monkeypatch.setattr(pictures, "have_matplotlib", lambda: False)
        with warnings.catch_warnings(record=True) as raw:
            warnings.simplefilter("always")
            with pytest.raises(SystemExit) as caught:
                main()
        assert not raw, [str(w.message) for w in raw]  # nothing raw of a library
        printed = capsys.readouterr()
        return subprocess.CompletedProcess(arguments, caught.value.code or 0, printed.out, printed.err)

    return call


def only(done, *expected):
    """Every line of standard error is expected, and everything expected is there."""
    lines = done.stderr.splitlines()
    for pattern in expected:
        assert any(re.fullmatch(pattern, line) for line in lines), (pattern, lines)
    for line in lines:
        assert any(re.fullmatch(p, line) for p in (*ALWAYS, *expected)), line
    assert "\x1b" not in done.stdout + done.stderr and "Traceback" not in done.stderr


def fitted(place, name="out"):
    return porbnet.load(place / name / "model.npz")


def written(place, name, content):
    path = place / name
    if callable(content):
        content(path)
    else:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# --- forms of one table of numbers ---------------------------------------------------------------------------------


def rows(separator=",", head=True, end="\n", form=repr):
    lines = [f"x{separator}y"] * head + [
        f"{form(float(a))}{separator}{form(float(b))}" for a, b in zip(X, Y, strict=True)
    ]
    return end.join(lines) + end


def comma(value):
    return repr(value).replace(".", ",")


def frame(**columns):
    return pyarrow.table(columns)


FORMS = {
    "comma.csv": rows(),
    "semicolon.csv": rows(";"),
    "semicolon-decimal-comma.csv": rows(";", form=comma),
    "tab.tsv": rows("\t"),
    "tab-decimal-comma.tsv": rows("\t", form=comma),
    "pipe.txt": rows("|"),
    "space.txt": rows(" "),
    "spaces.dat": rows("    "),
    "spaces-decimal-comma.dat": rows("  ", form=comma),
    "bom.csv": b"\xef\xbb\xbf" + rows().encode(),
    "windows.csv": rows(end="\r\n"),
    "old-mac.csv": rows(end="\r"),
    "utf16.csv": rows().encode("utf-16"),
    "quoted.csv": rows(form=lambda v: f'"{v!r}"'),
    "blank-lines.csv": rows(end="\n\n"),
    "blanks.csv": rows(" , "),
    "no-end.csv": rows().rstrip("\n"),
    "no-names.csv": rows(head=False),
    "no-names.txt": rows(" ", head=False),
    "scientific.csv": rows(form=lambda v: f"{v:.6e}"),
    "signs.csv": rows(form=lambda v: f"{v:+}"),
    "packed.csv.gz": gzip.compress(rows().encode()),
    "packed.csv.bz2": bz2.compress(rows().encode()),
    "packed.csv.xz": lzma.compress(rows().encode()),
    "packed-without-saying.csv": gzip.compress(rows().encode()),
    "t.parquet": lambda p: pyarrow.parquet.write_table(frame(x=X, y=Y), p),
    "t.feather": lambda p: pyarrow.feather.write_feather(frame(x=X, y=Y), p),
    "text-in.parquet": lambda p: pyarrow.parquet.write_table(frame(x=[repr(float(v)) for v in X], y=Y), p),
    "extra-column.csv": None,
}


@pytest.mark.parametrize("name", FORMS)
def test_forms_of_one_table(name, tmp_path, inside):
    content, chosen = FORMS[name], []
    if content is None:
        content = "site,x,y\n" + "".join(f"north,{a},{b}\n" for a, b in zip(X, Y, strict=True))
        chosen = ["--x", "x", "--y", "y"]
    done = inside("fit", written(tmp_path, name, content), *chosen, *SHORT, "--out", "out")
    assert done.returncode in (0, 3), done.stderr
    only(done)
    problem = fitted(tmp_path).posterior_.problem
    np.testing.assert_allclose(problem.X[:, 0], X, rtol=1e-12)
    np.testing.assert_allclose(problem.y + fitted(tmp_path).offset_, Y, rtol=1e-9, atol=1e-12)


def test_folders_are_named_after_the_data(tmp_path, inside):
    inside("fit", written(tmp_path, "a.csv.gz", FORMS["packed.csv.gz"]), *SHORT)
    inside("fit", "-", *SHORT, given=rows().encode())
    assert (tmp_path / "a-fit").is_dir() and (tmp_path / "porbnet-fit").is_dir()


NUMBERS = {
    "thousands.csv": ('x,y\n1,"1,234.5"\n2,"2,000"\n3,"12,345,678"\n', [1234.5, 2000.0, 12345678.0], None),
    "thousands-doubtful.csv": (
        'x,y\n1,"1,234"\n2,"2,000"\n', [1234.0, 2000.0],
        "note: commas in column 'y', as in '1,234', are read as thousands separators",
    ),
    "comma-doubtful.csv": (
        "x;y\n1;1,234\n2;2,125\n", [1.234, 2.125],
        "note: commas in column 'y', as in '1,234', are read as decimal commas",
    ),
    "thousands-dots.csv": ("x;y\n1;1.234,5\n2;2.000,25\n3;7,5\n", [1234.5, 2000.25, 7.5], None),
    "thousands-points-and-decimals.csv": ("x;y\n1;1,234.5\n2;2,000\n", [1234.5, 2000.0], None),
    "thousands-spaces.csv": ("x;y\n1;1 234,5\n2;12\u00a0345\n", [1234.5, 12345.0], None),
    "thousands-apostrophes.csv": ("x;y\n1;1'234.5\n2;2'000\n", [1234.5, 2000.0], None),
    "quoted-decimal-comma.csv": ('x,y\n1,"1,5"\n2,"2,25"\n', [1.5, 2.25], None),
    "truth.csv": ("x,y\nTrue,1.5\nFalse,2.5\ntrue,1.0\n", [2.5, 1.0, 1.5], None),
    "latin-1.csv": ("x,größe\n1,2.5\n2,3.5\n".encode("latin-1"), [2.5, 3.5], None),
}  # fmt: skip


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_as_people_write_them(name, tmp_path, inside):
    content, expected, remark = NUMBERS[name]
    done = inside("fit", written(tmp_path, name, content), *SHORT, "--out", "out")
    assert done.returncode in (0, 3), done.stderr
    few = rf"warning: {len(expected)} observations are few: .*"
    only(done, few, *([re.escape(remark)] if remark else []))
    model = fitted(tmp_path)
    np.testing.assert_allclose(model.posterior_.problem.y + model.offset_, expected, rtol=1e-12)
    assert name != "latin-1.csv" or model.labels_ == ["x", "größe"]


# --- dates -----------------------------------------------------------------------------------------------------------


def dated(cells, head=True):
    return ("when,y\n" if head else "") + "".join(f'"{a}",{b!r}\n' for a, b in zip(cells, Y.tolist(), strict=True))


def stamped(unit, zone=None):
    return pyarrow.array(DATES.astype(f"datetime64[{unit}]")).cast(pyarrow.timestamp(unit, zone))


def parquet(column):
    return lambda path: pyarrow.parquet.write_table(frame(when=column, y=Y), path)


SLASHES = [d.replace(".", "/") for d in DAY_FIRST]
DATED = {
    "days.csv": (dated(DAYS), None),
    "iso.csv": (dated(ISO), None),
    "iso-no-names.csv": (dated(ISO, head=False), None),
    "iso-time.csv": (dated([f"{d}T00:00:00" for d in ISO]), None),
    "iso-space.csv": (dated([f"{d} 00:00" for d in ISO]), None),
    "iso-fraction.csv": (dated([f"{d} 00:00:00.000" for d in ISO]), None),
    "iso-utc.csv": (dated([f"{d}T00:00:00Z" for d in ISO]), None),
    "iso-offset.csv": (dated([f"{d} 09:00:00+09:00" for d in ISO]), None),
    "iso-some-quoted.csv": (dated(ISO).replace('"', ""), None),
    "day-first.csv": (dated(DAY_FIRST), None),
    "day-first-slashes.csv": (dated(SLASHES), None),
    "day-first-dashes.csv": (dated([d.replace(".", "-") for d in DAY_FIRST]), None),
    "day-first-short.csv": (dated([re.sub(r"\b0", "", d) for d in DAY_FIRST]), None),
    "day-first-time.csv": (dated([f"{d} 0:00" for d in DAY_FIRST]), None),
    "month-first.csv": (
        dated([f"{d[3:5]}/{d[:2]}/{d[6:]}" for d in DAY_FIRST]),
        r"note: dates like '01/29/2024' are read month first, as 2024-01-29 in column 'when'",
    ),
    "iso.txt": (dated(ISO).replace('"', "").replace(",", " "), None),
    "iso.csv.gz": (gzip.compress(dated(ISO).encode()), None),
    "date32.parquet": (parquet(pyarrow.array(DATES)), None),
    **{f"{unit}.parquet": (parquet(stamped(unit)), None) for unit in ("s", "ms", "us", "ns")},
    "zone.parquet": (parquet(stamped("us", "Asia/Tokyo")), None),
    "text.parquet": (parquet(pyarrow.array(ISO)), None),
    "us.feather": (lambda p: pyarrow.feather.write_feather(frame(when=stamped("us"), y=Y), p), None),
}


@pytest.fixture(scope="module")
def by_days():
    """The answer for numbers of days."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return porbnet.PoRBNetRegressor(**QUICK).fit(DAYS[:, None], Y)


@pytest.mark.parametrize("name", DATED)
def test_dates_give_the_same_answer(name, tmp_path, inside, by_days):
    content, remark = DATED[name]
    path = written(tmp_path, name, content)
    done = inside("fit", path, *SHORT, "--out", "out")
    assert done.returncode in (0, 3), done.stderr
    only(done, *([remark] if remark else []))
    options = [] if "no-names" not in name else ["--by-position"]
    found = inside("predict", "out", path, "--digits", "17", *options)
    assert found.returncode == 0, found.stderr
    mean = [float(line.split(",")[-4]) for line in found.stdout.splitlines()[1:]]
    np.testing.assert_allclose(mean, by_days.predict(DAYS[:, None]), rtol=0, atol=1e-9)
    if name != "days.csv":
        assert "counts days since 2024-01-29" in done.stdout and re.search(r"lengthscale.* days\b", done.stdout)


PYTHON = {
    **{f"numpy {u}": DATES.astype(f"datetime64[{u}]")[:, None] for u in ("D", "s", "us", "ns")},
    "numpy text": np.array(ISO)[:, None],
    "pandas ns": pandas.DataFrame({"when": DATES.astype("datetime64[ns]")}),
    "pandas us": pandas.DataFrame({"when": DATES.astype("datetime64[us]")}),
    "pandas text": pandas.DataFrame({"when": ISO}),
    "pandas zone": pandas.DataFrame({"when": pandas.Series(DATES).dt.tz_localize("UTC")}),
    "polars": polars.DataFrame({"when": DATES.astype("datetime64[us]")}),
    "polars dates": polars.DataFrame({"when": DATES}),
    "pyarrow": frame(when=stamped("ns")),
    "objects": [[d.astype(object)] for d in DATES],
}


@pytest.mark.parametrize("name", PYTHON)
def test_dates_in_python_give_the_same_answer(name, capfd, by_days):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = porbnet.PoRBNetRegressor(**QUICK).fit(PYTHON[name], Y)
    assert [type(w.message).__name__ for w in said] == ["ConvergenceWarning"]
    np.testing.assert_allclose(model.predict(PYTHON[name]), by_days.predict(DAYS[:, None]), rtol=0, atol=1e-9)
    assert "days since 2024-01-29" in model.summary()
    assert capfd.readouterr() == ("", "")


# --- what is refused, in one line ----------------------------------------------------------------------------------

HEAD = "x,y\n1,2\n2,3\n3,5\n"
REFUSED = {
    "empty.csv": ("", [], "has no rows"),
    "names-only.csv": ("x,y\n", [], "has names but no rows"),
    "ragged.csv": (HEAD + "4,5,6\n", [], "line 5 of .* has 3 cells, the first has 2"),
    "twice.csv": ("x,x\n1,2\n", [], "two columns called 'x'"),
    "word.csv": (HEAD + "four,5\n", [], "line 5 of column 'x' is 'four': it must be a number"),
    "category.csv": ("site,y\nnorth,1\nsouth,2\n", [], "'site' is 'north': .* the column holds text: encode it"),
    "category.parquet": (
        lambda p: pyarrow.parquet.write_table(frame(site=pyarrow.array(["a"] * 2).dictionary_encode(), y=[1, 2]), p),
        [], "'site' is 'a': .* encode it",
    ),
    "spans.parquet": (
        lambda p: pyarrow.parquet.write_table(frame(x=(DATES - DATES[0]).astype("timedelta64[s]"), y=Y), p),
        [], "column 'x' holds time spans",
    ),
    "bad-date.csv": ("when,y\n2024-01-01,1\n2024-02-30,2\n", [], "line 3 .*'2024-02-30': it is not a date"),
    "mixed-order.csv": ("when,y\n31/12/2024,1\n12/31/2024,2\n", [], "line 3 .*'12/31/2024': it is not a date"),
    "mixed-zones.csv": ("when,y\n2024-01-01T00:00,1\n2024-02-01T00:00Z,2\n", [], "line 3 .* having a time zone"),
    "dates-as-output.csv": ("x,when\n1,2024-01-01\n2,2024-01-02\n", [], "column 'when' holds dates: the output"),
    "infinite.csv": (HEAD + "4,inf\n", [], "line 5 of column 'y' is infinite"),
    "missing.csv": (HEAD + "4,NA\n", [], r"1 of 4 rows have missing values in 'y' \(lines 5\): .* --drop-missing"),
    "missing-date.csv": ("when,y\n2024-01-01,1\n,2\n", [], r"1 of 2 rows have missing values in 'when'"),
    "all-missing.csv": ("x,y\n1,\n2,\n", ["--drop-missing"], "no row is left"),
    "commas.csv": ("x;y\n1;1,5\n2;1,234,567\n", [], "line 3 .*'1,234,567', where '1,5' has a decimal"),
    "one-column.csv": ("x\n1\n2\n", [], "there is one column"),
    "one-row.csv": ("x,y\n1,2\n", [], "there is one row, but a fit needs two or more"),
    "one-row-left.csv": ("x,y\n1,2\n2,\n", ["--drop-missing"], "there is one row, but a fit needs two or more"),
    "no-such-column.csv": (HEAD, ["--y", "z"], "--y 'z' is not a column: there are 'x', 'y'"),
    "superscript.csv": (HEAD, ["--y", "²"], "--y '²' is not a column"),
    "huge-number.csv": (HEAD, ["--y", "9" * 30], "--y '9+' is not a column"),
    "chosen-twice.csv": (HEAD, ["--x", "y", "--y", "y"], "a column is chosen twice"),
    "wide.csv": (
        "\n".join(",".join(str(i + j) for i in range(3000)) for j in range(3)), ["--header"],
        "2,999 columns that could be inputs: choose some with --x",
    ),
    "binary.csv": (b"\x00\x01\x02", [], "is not text"),
    "zip.csv": (b"PK\x03\x04....", [], "is a zip archive or a spreadsheet"),
    "broken.csv.gz": (gzip.compress(rows().encode())[:40], [], "cannot be unpacked"),
    "broken.parquet": (b"nonsense", [], "cannot be read"),
    "broken.xlsx": (b"nonsense", [], "cannot be read|need openpyxl"),
    "no-such-file": (None, [], "No such file or directory"),
    "regions.csv": (HEAD, ["--region", "0,1", "--region", "2,3"], "1 input dimension.* but region=.* has 2"),
    "region-turned.csv": (HEAD, ["--region", "5,1"], "region="),
    "span.csv": (HEAD, ["--lengthscale", "12days"], "lengthscale=.*: a time span needs one input, of dates"),
    "two-lengthscales.csv": (HEAD, ["--lengthscale", "1,2"], "lengthscale="),
    "jobs.csv": (HEAD, ["--jobs", "0"], "n_jobs=0 is not allowed"),
    "sampler.csv": (HEAD, ["--sampler", "gibbs"], "sampler='gibbs'"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_line(name, tmp_path, inside):
    content, options, message = REFUSED[name]
    path = tmp_path / name if content is None else written(tmp_path, name, content)
    lengthscale = [] if "--lengthscale" in options else ["--lengthscale", "constant"]
    jobs = [] if "--jobs" in options else ["--jobs", "1"]
    done = inside("fit", path, "--draws", "5", "--warmup", "5", *lengthscale, *jobs, *options, "--out", "out")
    assert done.returncode == 1 and done.stdout == ""
    *notes, last = done.stderr.splitlines()
    assert last.startswith("error: ") and re.search(message, last), last
    assert all(re.fullmatch(ALWAYS[0], line) for line in notes), notes  # and no promise of what Ctrl-C would keep
    assert not (tmp_path / "out").exists()


def test_devices_and_folders_are_refused(tmp_path, inside):
    for path, message in (("/dev/zero", "is a device"), (tmp_path, "Is a directory"), ("/dev/null", "has no rows")):
        done = inside("fit", path, *SHORT)
        assert done.returncode == 1 and re.fullmatch(f"error: .*{message}.*\n", done.stderr), done.stderr


def test_a_second_region_is_refused(inside):
    done = inside("prior", "--lengthscale", 1, "--amplitude", 1, "--region", "0,1", "--region", "2,3")
    assert done.returncode == 2 and "it was given 2 times, and can be given once" in done.stderr


# --- data that cannot tell much ------------------------------------------------------------------------------------

FEW = r"warning: \d observations are few: most of what the fit says is the prior"
NOISE = r"warning: the noise is as small as it can be, .*"
THIN = {
    "two-rows.csv": ("x,y\n1,2\n2,3\n", [FEW]),
    "two-same-rows.csv": ("x,y\n1,2\n1,2\n", [FEW, r"warning: y is 2 in every row.*", r"warning: X is the same .*"]),
    "constant-y.csv": ("x,y\n" + "".join(f"{i},3\n" for i in range(9)), [r"warning: y is 3 in every row: .*"]),
    "constant-y-of-zero.csv": ("x,y\n" + "".join(f"{i},0\n" for i in range(9)), [r"warning: y is 0 in every row: .*"]),
    "constant-x.csv": ("x,y\n" + "".join(f"4,{i * i}\n" for i in range(9)), [r"warning: X is the same .*"]),
    "constant-date.csv": ("x,y\n" + "".join(f"2024-01-01,{i}\n" for i in range(9)), [r"warning: X is the same .*"]),
    "constant-column.csv": (
        "a,b,y\n" + "".join(f"{i},1,{i % 4}\n" for i in range(9)),
        [r"warning: X has the same value in every row of column\(s\) 2: .*"],
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", THIN)
def test_thin_data_get_a_sentence(name, tmp_path, inside):
    content, sentences = THIN[name]
    done = inside("fit", written(tmp_path, name, content), *SHORT, "--out", "out", pictured=name == "constant-y.csv")
    assert done.returncode in (0, 3), done.stderr
    present = sentences + ([NOISE] if re.search(NOISE, done.stderr) else [])
    only(done, *present)
    model = fitted(tmp_path)
    assert np.all(np.isfinite(model.predict(model.posterior_.problem.X)))


@pytest.mark.parametrize(
    "name", ["two-rows.csv", "constant-y.csv", "constant-x.csv", "constant-date.csv", "constant-column.csv"]
)
def test_pictures_of_thin_data_do_not_collapse(name, tmp_path, inside):
    import matplotlib.pyplot as plt

    inside("fit", written(tmp_path, name, THIN[name][0]), *SHORT, "--out", "out")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # as of matplotlib, about axes with equal ends
        for ax in np.ravel(fitted(tmp_path).plot()):
            assert ax.get_xlim()[0] < ax.get_xlim()[1] and ax.get_ylim()[0] < ax.get_ylim()[1]
            ax.figure.canvas.draw()
            assert min(ax.get_window_extent().size) > 50  # dots
    plt.close("all")


# --- names ---------------------------------------------------------------------------------------------------------

NAMES = {
    "money": "cost_$ / price_$",
    "half a formula": "$x_{",
    "a page's tag": "<script>alert(1)</script>",
    "escapes": "\x1b[31mred\x1b[0m",
    "a bell and a turn": "a\x07\u202eb",
    "emoji": "größe 📈",
    "long": "n" * 500,
}


@pytest.mark.parametrize("name", NAMES)
def test_odd_names(name, tmp_path, inside):
    label = NAMES[name]
    path = written(tmp_path, "t.csv", f'"{label}",y\n' + rows(head=False))
    done = inside("fit", path, *SHORT, "--out", "out", pictured=name in ("money", "emoji"))
    assert done.returncode in (0, 3), done.stderr
    only(done)
    assert "\x07" not in done.stdout + done.stderr and "\u202e" not in done.stdout + done.stderr
    report = (tmp_path / "out" / "report.html").read_text()
    assert "<script>" not in report and "\x1b" not in report
    again = inside("predict", "out", path)
    assert again.returncode == 0 and "\x1b" not in again.stdout


# --- predictions ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def field(tmp_path_factory):
    """Fits of two inputs, east and north, and of dates."""
    place = tmp_path_factory.mktemp("field")
    rng = np.random.default_rng(0)
    inputs = rng.uniform(size=(30, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, names, X_, y in (
            ("field", ["east", "north", "yield"], inputs, inputs @ [1.0, -2.0]),
            ("series", ["when", "y"], DATES[:, None], Y),
        ):
            model = porbnet.PoRBNetRegressor(**QUICK)
            model.labels_ = names
            model.fit(X_, y).save(place / f"{name}.npz")
    return place


LAND = np.array([[0.1, 0.2], [0.3, 0.9]])
PREDICT = {
    "by name": ("east,north\n0.1,0.2\n0.3,0.9\n", [], None),
    "turned": ("north,east\n0.2,0.1\n0.9,0.3\n", [], None),
    "among others": ("site,north,lat,east\na,0.2,9,0.1\nb,0.9,9,0.3\n", [], None),
    "no names": ("0.1,0.2\n0.3,0.9\n", [], None),
    "by position": ("lat,lon\n0.1,0.2\n0.3,0.9\n", ["--by-position"], None),
    "other names": ("lat,lon\n0.1,0.2\n", [], "no column 'east', 'north', .*there are 'lat', 'lon'; .*--by-position"),
    "one other name": ("lat,north\n0.1,0.2\n", [], "the table has no column 'east'"),
    "too few": ("0.1\n", [], r"the model has 2 inputs \('east', 'north'\), but the table has 1 column"),
    "too many without names": ("0.1,0.2,0.3\n", [], "but the table has 3 columns"),
    "missing": ("east,north\n0.1,\n", [], "missing values in 'north'"),
    "dates for numbers": ("east,north\n2024-01-01,1\n", [], "column 'east' of X holds dates, but it held numbers"),
}  # fmt: skip


@pytest.mark.parametrize("name", PREDICT)
def test_columns_are_found_by_name(name, field, inside):
    text, options, message = PREDICT[name]
    done = inside("predict", field / "field.npz", "-", *options, given=text.encode())
    if message is not None:
        assert done.returncode == 1 and done.stdout == "" and re.fullmatch(f"error: .*{message}.*\n", done.stderr)
        return
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("east,north,mean,sd,lower,upper\n0.1,0.2,")
    mean = [float(line.split(",")[2]) for line in done.stdout.splitlines()[1:]]
    np.testing.assert_allclose(mean, porbnet.load(field / "field.npz").predict(LAND), rtol=1e-6)


LATER = {
    "as in the fit": ("when\n2024-02-03\n2024-02-13\n", None),
    "day first": ("when\n03.02.2024\n13.02.2024\n", None),
    "numbers": ("when\n5\n15\n", None),
    "numbers without names": ("5\n15\n", None),
    "dates without names": ("2024-02-03 00:00\n2024-02-13 00:00\n", None),
    "a zone": ("when\n2024-02-03T00:00Z\n", "column 'when' of X has a time zone, but there was none in the fit"),
    "words": ("when\nsoon\nlater\n", "line 2 of column 'when' is 'soon': it must be a number"),
}


@pytest.mark.parametrize("name", LATER)
def test_predictions_take_dates_or_numbers(name, field, inside):
    text, message = LATER[name]
    done = inside("predict", field / "series.npz", "-", given=text.encode())
    if message is not None:
        assert done.returncode == 1 and message in done.stderr
        return
    assert done.returncode == 0 and done.stderr == "" and done.stdout.startswith("when,mean,")
    mean = [float(line.split(",")[1]) for line in done.stdout.splitlines()[1:]]
    np.testing.assert_allclose(mean, porbnet.load(field / "series.npz").predict([[5.0], [15.0]]), rtol=1e-6)
    shown = [line.split(",")[0] for line in done.stdout.splitlines()[1:]]
    given = [line for line in text.splitlines() if line != "when"]
    assert shown == given  # as they were written


@pytest.mark.parametrize("suffix", ["csv", "tsv", "parquet", "feather", "xlsx", "png"])
def test_the_suffix_says_what_is_written(suffix, field, tmp_path, inside):
    done = inside("predict", field / "series.npz", "-", "--out", f"p.{suffix}", given=b"when\n2024-02-03\n2024-02-13\n")
    path = tmp_path / f"p.{suffix}"
    if suffix in ("xlsx", "png"):
        assert done.returncode == 1 and "must end in .csv, .tsv, .parquet or .feather" in done.stderr
        assert not path.exists()
        return
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    if suffix in ("csv", "tsv"):
        assert path.read_text().splitlines()[0].split("," if suffix == "csv" else "\t") == [
            "when",
            "mean",
            "sd",
            "lower",
            "upper",
        ]
        return
    table = pyarrow.parquet.read_table(path) if suffix == "parquet" else pyarrow.feather.read_table(path)
    assert str(table["when"].type).startswith("timestamp")
    mean, _ = porbnet.load(field / "series.npz").predict([[5.0], [15.0]], return_std=True)
    assert table["mean"].to_pylist() == mean.tolist()


def test_digits(field, inside):
    text = b"east,north\n0.1,0.2\n"
    short, long = (inside("predict", field / "field.npz", "-", *d, given=text).stdout for d in ([], ["--digits", "17"]))
    assert all(len(decimal.Decimal(cell).as_tuple().digits) <= 7 for cell in short.splitlines()[1].split(",")[2:])
    mean, _ = porbnet.load(field / "field.npz").predict(LAND[:1], return_std=True)
    assert float(long.splitlines()[1].split(",")[2]) == mean[0]
    document = json.loads(inside("predict", field / "field.npz", "-", "--json", given=text).stdout)
    assert document["columns"]["mean"] == mean.tolist()


def test_excel(tmp_path, inside, by_days):
    pytest.importorskip("openpyxl")
    pandas.DataFrame({"when": pandas.Series(DATES), "y": Y}).to_excel(tmp_path / "t.xlsx", index=False)
    done = inside("fit", "t.xlsx", *SHORT, "--out", "out")
    assert done.returncode in (0, 3), done.stderr
    only(done)
    np.testing.assert_allclose(fitted(tmp_path).predict(DATES[:, None]), by_days.predict(DAYS[:, None]), atol=1e-9)


# --- in Python -----------------------------------------------------------------------------------------------------

MESSAGES = {
    "masked": (np.ma.masked_less(X[:, None], 1.0), "X is a masked array with 1 masked value"),
    "category": (
        pandas.DataFrame({"s": pandas.Series(list("ab" * 5)).astype("category")}),
        "'s' of X is categorical: encode",
    ),
    "text": (pandas.DataFrame({"s": list("ab" * 5)}), "'s' of X holds text .'a'.: encode"),
    "polars text": (polars.DataFrame({"s": list("ab" * 5)}), "'s' of X holds text"),
    "spans": (pandas.DataFrame({"s": DATES - DATES[0]}), "'s' of X holds time spans"),
    "no date": (pandas.DataFrame({"s": [*DATES[:9], None]}), "'s' of X has 1 missing date"),
    "one dimension": (DATES, "has one dimension"),
    "both zones": (
        [[datetime.datetime(2024, 1, i + 1, tzinfo=datetime.UTC if i else None)] for i in range(10)],
        "time zone",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_refused_in_python(name, capfd):
    inputs, message = MESSAGES[name]
    with pytest.raises(porbnet.StatementError, match=message):
        porbnet.PoRBNetRegressor(**QUICK).fit(inputs, Y)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("name", "value"),
    [("lengthscale", "short"), ("noise", "loud"), ("amplitude", -1.0), ("region", (1, 0)), ("n_draws", 0),
     ("sampler", "x"), ("units_per_lengthscale", "many"), ("bias", -1.0)],
)  # fmt: skip
def test_parameters_are_refused_before_any_work(name, value, monkeypatch):
    monkeypatch.setattr("porbnet.estimators.regressor.run_chains", lambda *a: pytest.fail("sampling began"))
    with pytest.raises(porbnet.StatementError, match=name):
        porbnet.PoRBNetRegressor(**(QUICK | {name: value})).fit(X[:, None], Y)


def test_more_jobs_than_work(monkeypatch):
    """A million threads would be made."""
    seen = []
    real = porbnet.estimators.regressor.run_chains
    monkeypatch.setattr(
        "porbnet.estimators.regressor.run_chains", lambda m, n_jobs, **a: seen.append(n_jobs) or real(m, n_jobs, **a)
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = porbnet.PoRBNetRegressor(**(QUICK | {"n_jobs": 1_000_000})).fit(X[:, None], Y)
    model.predict(X[:, None], return_std=True)
    assert seen == [1]


# --- the command from outside --------------------------------------------------------------------------------------


def run(*arguments, cwd, env=None, **options):
    settings = {k: v for k, v in os.environ.items() if k != "MPLBACKEND"} | (env or {})
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        check=False,
        timeout=100,
        env=settings,
        **options,
    )


def test_from_outside_in_a_plain_locale(tmp_path):
    """LC_ALL=C: "R²" is not garbled; a pipe by name will do; nothing but what is expected is said."""
    os.mkfifo(tmp_path / "pipe")
    with subprocess.Popen(
        f"sleep 0.2; cat > '{tmp_path}/pipe' <<< $'x,y\n1,2\n2,3\n3,5\n4,4\n5,7\n6,7'",
        shell=True,
        executable="/bin/bash",
    ):
        done = run("fit", "pipe", *SHORT, cwd=tmp_path, env={"LC_ALL": "C"})
    assert done.returncode in (0, 3), done.stderr
    text = done.stdout.decode("ascii")
    assert ", R2 " in text and "written to porbnet-fit" in text
    only(subprocess.CompletedProcess([], 0, text, done.stderr.decode("ascii")))


def test_an_early_interrupt_is_answered(tmp_path):
    """Ctrl-C while the program waits for its data: one line, nothing promised, nothing left."""
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    process = subprocess.Popen([*COMMAND, "fit", "-", *SHORT], cwd=tmp_path, **pipes)
    time.sleep(2.0)
    process.send_signal(signal.SIGINT)
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and out == b""
    assert errors.decode().splitlines() in (
        ["note: waiting for data from standard input", "interrupted"],
        ["interrupted"],
    )
    assert not any(Path(tmp_path).iterdir())


@pytest.mark.parametrize("when", ["before", "after"])
def test_an_interrupt_says_what_is_kept(when, tmp_path, inside, monkeypatch):
    from porbnet.estimators.regressor import PoRBNetRegressor

    def interrupted(self, *arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(PoRBNetRegressor, "_prepare" if when == "before" else "_sample", interrupted)
    done = inside("fit", written(tmp_path, "t.csv", rows()), *SHORT, "--out", "out")
    assert done.returncode == 130
    last = done.stderr.splitlines()[-1]
    if when == "before":
        assert last == "interrupted before sampling began: nothing is kept" and "sampling;" not in done.stderr
    else:
        assert last.startswith("interrupted: all draws so far are kept; to go on: porbnet resume out")


def test_a_time_that_is_over_before_any_draw_is_no_interrupt(tmp_path, inside):
    done = inside("fit", written(tmp_path, "t.csv", rows()), "--max-time", "0.0001s", "--out", "out")
    last = done.stderr.splitlines()[-1]
    assert done.returncode == 130 and last.startswith("--max-time was over before any draw was made; to go on: porbnet")


@pytest.mark.parametrize(
    "name", ["fit", "resume", "predict", "summary", "plot", "export", "prior", "data", "compare", "paper", "warmup"]
)
def test_help_keeps_examples_apart(name, inside):
    text = inside(name, "--help").stdout
    assert "\\b" not in text and "\b" not in text
    assert re.search(rf"\n\s+(seq|cat|NUMBA\S+)?.*porbnet {name}[^\n]*\n", text)
    examples = re.split(r"Examples?:\n", text)[1].split("\n\n")[0].splitlines()
    assert all(line.startswith("    ") and line.count("porbnet ") <= 2 for line in examples)


def test_options_run_from_outside(tmp_path):
    """The installed command, once through: a dated table, its pictures, a prediction."""
    (tmp_path / "t.csv").write_text(dated(ISO))
    done = run("fit", "t.csv", *SHORT, "--out", "out", "--region", "2024-01-01,2024-06-01", cwd=tmp_path)
    assert done.returncode in (0, 3), done.stderr
    assert {"curves.png", "report.html", "model.npz"} <= set(os.listdir(tmp_path / "out"))
    assert fitted(tmp_path).prior_.region.bounds.tolist() == [[-28.0, 124.0]]
