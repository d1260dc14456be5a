"""`make demo` from outside, and the example of the Python interface."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_demo_is_porbnet_fit_and_ends_with_picture_and_report(tmp_path):
    """The recipe of the Makefile, as make would run it, with the command of this environment."""
    shown = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo", f"VENV={Path(sys.prefix)}"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    ).stdout.replace("\\\n", "")  # fmt: skip
    recipe = [line for line in shown.splitlines() if re.match(r"mkdir|\S*/porbnet |echo", line)]
    assert sum(" fit " in line for line in recipe) == 1 and len(recipe) == 4
    for line in recipe:
        done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if " fit " in line:
            assert "verdict: " in done.stdout and "noise sd" in done.stdout and "curves.png" in done.stdout
    assert "report.html" in done.stdout
    assert (tmp_path / "demo" / "curves.png").read_bytes().startswith(b"\x89PNG")
    for name in ("report.html", "curves.svg", "model.npz", "draws.csv"):
        assert (tmp_path / "demo" / name).stat().st_size > 10_000


def test_the_example_states_a_prior_and_writes_its_picture(tmp_path):
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "prior.py"), "--out", "pictures"],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for words in ("amplitude 2", "lengthscale 0.3", "units in expectation", "upcrossings"):
        assert words in result.stdout
    picture = (tmp_path / "pictures" / "prior.png").read_bytes()
    assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
