"""`python -m porbnet.paper` from outside: killed, run again, and what it prints."""

import json
import subprocess
import sys
import time


def command(out):
    return [sys.executable, "-m", "porbnet.paper", "prior-samples", "--quick", "--jobs", "1", "--out", str(out)]


def test_a_killed_run_goes_on_where_it_was(tmp_path):
    running = subprocess.Popen(command(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while len(list(tmp_path.glob("cache/*.json"))) < 3:
            assert running.poll() is None and time.monotonic() < deadline
            time.sleep(0.01)
    finally:
        running.kill()
        running.wait()
    kept = len(list(tmp_path.glob("cache/*.json")))
    assert kept < 15 and not (tmp_path / "results.json").exists()
    done = subprocess.run(command(tmp_path), capture_output=True, text=True, check=True)
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found["run"]["reused"] == kept and found["run"]["computed"] == 15 - kept
    assert "reproduced" in done.stdout and str(tmp_path / "index.html") in done.stdout
    assert "one_prior" in done.stderr  # progress
