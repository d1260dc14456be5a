"""The demo runs from outside, prints its summaries and writes its pictures."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_prints_summaries_and_writes_pictures(tmp_path):
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--out", "pictures"],
        cwd=tmp_path,
        env={**os.environ, "MPLBACKEND": "Agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == 0, result.stderr
    for words in ("amplitude 2", "lengthscale 0.3", "units in expectation", "upcrossings", "4 chains", "noise sd"):
        assert words in result.stdout
    for name in ("prior.png", "motorcycle.png"):
        picture = (tmp_path / "pictures" / name).read_bytes()
        assert picture.startswith(b"\x89PNG") and len(picture) > 10_000
