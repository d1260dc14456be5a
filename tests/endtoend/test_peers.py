"""The comparison with peers, from the command: fits in processes of their own, cells that are kept, the page."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "benchmarks" / "against_peers.py"


def run(folder, *options):
    command = [sys.executable, str(SCRIPT), "--folder", str(folder / "cells"), "--docs", str(folder / "docs"), *options]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_cells_are_kept_and_the_page_is_made_from_them(tmp_path):
    some = ["--peers", "porbnet", "sklearn-gp", "boosting", "--problems", "sine", "--splits", "1"]
    first = run(tmp_path, *some)
    assert first.count("LLH") == 3
    results = json.loads((tmp_path / "docs" / "benchmarks" / "results.json").read_text())
    assert len(results["cells"]) == 3
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "### sine" in page and "| **porbnet** |" in page
    assert (tmp_path / "docs" / "images" / "benchmarks-accuracy.png").stat().st_size > 5_000
    assert "LLH" not in run(tmp_path, *some)  # nothing is left to do
    assert run(tmp_path, "--peers", "sklearn-gp", "--problems", "sine", "--splits", "1", "--again").count("LLH") == 1


@pytest.mark.slow
def test_a_process_that_takes_too_long_is_cut_and_said(tmp_path):
    said = run(tmp_path, "--peers", "sklearn-gp", "--problems", "doppler-10000", "--limit", "5")
    assert "cut at 5 CPU s" in said
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "### doppler-10000" in page
