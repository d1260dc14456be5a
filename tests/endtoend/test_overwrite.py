"""`porbnet fit --overwrite`: what was there goes only when something sound takes its place."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import porbnet
from porbnet.cli import main
from porbnet.storage import checkpoint

SHORT = ["--draws", "20", "--warmup", "20", "--chains", "1", "--lengthscale", "constant", "--jobs", "1", "--quiet"]


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    """The command within this process, in a folder with data: exit code and what it said on standard error."""
    x = np.linspace(0.0, 1.0, 25)
    np.savetxt(tmp_path / "data.csv", np.column_stack([x, np.sin(7.0 * x)]), delimiter=",", header="x,y", comments="")
    monkeypatch.chdir(tmp_path)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["porbnet", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        return caught.value.code or 0, capsys.readouterr().err

    return call


def contents(folder):
    return {p.relative_to(folder): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.name != "lock"}


def unfinished(folder):
    """The checkpoint of some fit."""
    x = np.linspace(0.0, 1.0, 20)[:, None]
    porbnet.PoRBNetRegressor(
        0.3, noise=0.1, n_chains=1, n_warmup=5, n_draws=5, n_jobs=1, progress=False, random_state=0, checkpoint=folder
    ).fit(x, np.cos(5.0 * x[:, 0]))


@pytest.mark.filterwarnings("ignore::porbnet.errors.ConvergenceWarning")
def test_a_statement_that_is_refused_leaves_everything_as_it_was(command, tmp_path):
    assert command("fit", "data.csv", *SHORT, "--out", "old")[0] in (0, 3)
    unfinished(tmp_path / "old" / "checkpoint")
    before = contents(tmp_path / "old")
    for mistake in (["--noise", "-1"], ["--sampler", "none"], ["--region", "0.2,0.1"], ["--lengthscale", "1,2"]):
        code, said = command("fit", "data.csv", *SHORT, *mistake, "--out", "old", "--overwrite")
        assert code in (1, 2) and said and contents(tmp_path / "old") == before, mistake
    code, _ = command("fit", "data.csv", *SHORT, "--seed", "5", "--out", "old", "--overwrite")
    assert code in (0, 3)
    after = contents(tmp_path / "old")
    assert set(after) == {p for p in before if p.parts[0] != "checkpoint"}
    assert all(after[p] != before[p] for p in after if p.name in ("model.npz", "draws.csv"))


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
def test_a_fit_that_is_running_is_left_alone_and_the_old_model_stays_until_there_is_a_new_one(command, tmp_path):
    pytest.importorskip("fcntl")
    assert command("fit", "data.csv", *SHORT, "--out", "old")[0] in (0, 3)
    before = contents(tmp_path / "old")
    long = ["fit", "data.csv", *SHORT, "--draws", "1000000", "--out", "old", "--overwrite", "--checkpoint-every", "0"]
    running = subprocess.Popen([sys.executable, "-m", "porbnet", *long], cwd=tmp_path)
    try:
        deadline = time.monotonic() + 120
        while not (tmp_path / "old" / "checkpoint" / "chain1-state.npz").exists() and time.monotonic() < deadline:
            time.sleep(0.01)
        code, said = command("fit", "data.csv", *SHORT, "--seed", "5", "--out", "old", "--overwrite")
        assert code == 1 and "is in use: another process works on this fit" in said
        checkpoint.discard(tmp_path / "old" / "checkpoint")  # as the end of another fit would
        assert running.poll() is None and (tmp_path / "old" / "checkpoint" / "chain1-state.npz").exists()
    finally:
        running.send_signal(signal.SIGKILL)
        running.wait()
    now = contents(tmp_path / "old")
    assert {p: now[p] for p in before} == before
    code, said = command("fit", "data.csv", *SHORT, "--out", "old")
    assert code == 1 and "`porbnet resume old` goes on with it" in said
    code, said = command("fit", "data.csv", *SHORT, "--seed", "5", "--out", "old", "--overwrite")
    assert code in (0, 3), said
    assert set(contents(tmp_path / "old")) == set(before)


@pytest.mark.filterwarnings("ignore::porbnet.errors.ConvergenceWarning")
@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_disk_too_full_for_the_new_fit_keeps_the_old(command, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400k", "tmpfs", disk], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        unfinished(disk / "old" / "checkpoint")
        before = contents(disk / "old")
        room = os.statvfs(disk)
        (disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize))
        code, said = command("fit", "data.csv", *SHORT, "--out", str(disk / "old"), "--overwrite")
        assert code == 1 and "No space left on device" in said
        assert contents(disk / "old") == before
    finally:
        subprocess.run(["umount", disk], check=True)
