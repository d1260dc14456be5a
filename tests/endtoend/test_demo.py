"""The demo runs from outside, prints its summary and writes its picture."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_demo_prints_a_summary_and_writes_a_picture(tmp_path):
    result = subprocess.run(
        [sys.executable, str(ROOT / "examples" / "demo.py"), "--out", "pictures"],
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
