"""Predictions at many points take flat memory."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "scale.py"


@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read the Unix way")
def test_mean_and_sd_at_many_points_in_flat_memory():
    """200,000 points, 1,000 draws: a table of draws by points would take 1,600 MB."""
    command = [sys.executable, str(SCRIPT), "--one", "200000", "mean and sd"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["growth"] < 80.0
