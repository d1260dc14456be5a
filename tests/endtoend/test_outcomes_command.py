"""`porbnet fit --outcome`: labels and counts from tables to folders, and what is said about them."""

import csv
import io
import json
import subprocess
import sys

import numpy as np
import pytest

SHORT = ["--draws", "20", "--warmup", "20", "--chains", "2", "--lengthscale", "constant", "--jobs", "1"]


def porbnet(*arguments, folder, text=None):
    done = subprocess.run(
        [sys.executable, "-m", "porbnet", *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def tables(tmp_path):
    rng = np.random.default_rng(1)
    x, hours = rng.uniform(size=40), rng.uniform(1.0, 3.0, 40)
    died = np.where(rng.random(40) < x, "yes", "no")
    visits = rng.poisson(hours * np.exp(x))
    with open(tmp_path / "died.csv", "w", encoding="utf-8") as file:
        file.write("dose,died\n" + "".join(f"{a:.4f},{b}\n" for a, b in zip(x, died, strict=True)))
    with open(tmp_path / "visits.csv", "w", encoding="utf-8") as file:
        file.write("time,hours,visits\n")
        file.write("".join(f"{a:.4f},{h:.4f},{n}\n" for a, h, n in zip(x, hours, visits, strict=True)))
    return tmp_path


def test_labels(tables):
    code, out, said = porbnet("fit", "died.csv", *SHORT, "--json", folder=tables)
    assert code in (0, 3), said
    found = json.loads(out)
    assert found["classes"] == ["no", "yes"] and "noise" not in found
    assert "fitted as yes or no, yes being 'yes'" in said
    assert (tables / "died-fit" / "chances.png").exists()
    code, out, said = porbnet("predict", "died-fit", "-", folder=tables, text="dose\n0.1\n0.9\n")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and all(0.0 < float(r["lower"]) < float(r["mean"]) < float(r["upper"]) < 1.0 for r in rows)


def test_counts(tables):
    code, out, said = porbnet(
        "fit", "visits.csv", "--outcome", "counts", "--exposure", "hours", *SHORT, "--json", folder=tables
    )
    assert code in (0, 3), said
    found = json.loads(out)
    assert found["inputs"] == ["time"] and "size" in found["also_learned"]
    code, out, said = porbnet(
        "predict", "visits-fit", "visits.csv", "--exposure", "hours", "--quantiles", "0.5", folder=tables
    )
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 0 and len(rows) == 40 and all(float(r["q0.5"]) == int(float(r["q0.5"])) for r in rows)


def test_bad_outcomes(tables):
    for arguments, words in (
        (["visits.csv", "--outcome", "binary"], "must hold two different values"),
        (["visits.csv", "--exposure", "hours"], "it is for --outcome counts"),
        (["visits.csv", "--outcome", "ordinal"], "it must be one of 'auto', 'real'"),
        (["died.csv", "--noise", "robust"], "there is none with --outcome binary"),
    ):
        code, _, said = porbnet("fit", *arguments, *SHORT, folder=tables)
        assert code == 1 and words in said, said
