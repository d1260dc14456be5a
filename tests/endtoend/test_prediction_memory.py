"""Predictions at many points take flat memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "prediction.py"


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A fit with 1,000 draws."""
    path = tmp_path_factory.mktemp("models") / "motorcycle.npz"
    subprocess.run([sys.executable, str(SCRIPT), "--fit", "motorcycle", str(path)], check=True)
    return path


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read the Unix way")
@pytest.mark.parametrize(
    "call", ["mean and sd", *(pytest.param(call, marks=pytest.mark.slow) for call in ("interval", "log density"))]
)
def test_predictions_at_many_points_in_flat_memory(call, saved):
    """200,000 points, 1,000 draws: a table of draws by points would take 1,600 MB."""
    command = [sys.executable, str(SCRIPT), "--one", "motorcycle", str(saved), "200000", call]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["growth"] < 100.0
