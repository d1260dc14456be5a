"""`porbnet paper` from outside: killed, run again, its JSON, and what it refuses."""

import json
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

COMMAND = str(Path(sys.executable).with_name("porbnet"))


def paper(*arguments):
    return [COMMAND, "paper", *map(str, arguments)]


@pytest.mark.slow
def test_a_killed_run_goes_on_where_it_was(tmp_path):
    command = paper("prior-samples", "--quick", "--jobs", 1, "--out", tmp_path)
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
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
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found["run"]["reused"] == kept and found["run"]["computed"] == 15 - kept
    schema = json.loads(resources.files("porbnet.cli").joinpath("schemas", "paper.json").read_text())
    document = json.loads(done.stdout)
    jsonschema.validate(document, schema, cls=jsonschema.Draft202012Validator)
    assert document["claims"] == found["claims"] and str(tmp_path / "index.html") in document["files"]


def test_an_unknown_name_is_refused_in_one_line(tmp_path):
    done = subprocess.run(paper("figure-9", "--out", tmp_path / "new"), capture_output=True, text=True, check=False)
    assert done.returncode == 1 and done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert "'figure-9'" in done.stderr and "'covariogram'" in done.stderr
    assert not (tmp_path / "new").exists()
