"""`kill -9` at random moments: a fit that is killed and resumed again and again ends with the draws of one that is not.

The first test forks a process that has everything loaded, so that kills cost little; the second kills the installed
command itself.
"""

import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

import porbnet
from porbnet.errors import PorbnetWarning

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
COMMAND = Path(sys.executable).with_name("porbnet")

FORKING = """
import glob, os, random, signal, sys, time, warnings
import numpy as np
import porbnet
from porbnet import datasets
from porbnet.sampling import driver
from porbnet.storage import archive, checkpoint

warnings.simplefilter("ignore")
folder, seed, wanted = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
driver._CHUNK_SECONDS = 0.01
data = datasets.load_motorcycle()
parameters = dict(n_chains=2, n_warmup=300, n_draws=3000, thin=4, random_state=3, n_jobs=2, progress=False)


def start():
    porbnet.PoRBNetRegressor(**parameters, checkpoint=folder, checkpoint_seconds=0.05).fit(data.X, data.y)


def go_on():
    porbnet.resume(folder, n_jobs=2, progress=False)


def child(work):
    pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print("child failed:", repr(error), flush=True)
            os._exit(9)
    return pid


rng = random.Random(seed)
# the parent makes no threads before it forks: kernels are loaded, joblib is not yet used
whole = porbnet.PoRBNetRegressor(**parameters | dict(n_jobs=1)).fit(data.X, data.y)
np.savez(folder + "-whole.npz", **vars(whole.posterior_.draws))
total = 300 + 3000 * 4


def reached():
    names = sorted(glob.glob(folder + "/chain*-state.npz"))
    states = [archive.read(n, "porbnet chain", checkpoint.VERSION) for n in names]
    return [int(s.arrays["n_sweeps"][0]) for s in states]


# each kill comes when the chains have reached a place drawn at random, and a random moment later
kills, work = 0, start
for place in sorted(rng.uniform(0.0, 0.7 * total) for _ in range(wanted)):
    before = sum(reached())
    pid = child(work)
    while sum(reached()) <= max(before, place) and os.waitpid(pid, os.WNOHANG) == (0, 0):
        time.sleep(0.005)
    time.sleep(rng.uniform(0.0, 0.05))
    os.kill(pid, signal.SIGKILL)
    if not os.WIFSIGNALED(os.waitpid(pid, 0)[1]):
        sys.exit(f"ended by itself after {kills} kills")
    kills += 1
    print("killed", *reached(), flush=True)
    work = go_on
"""


def test_many_kills_change_nothing(tmp_path, seed):
    """Eight kills of one fit, at moments drawn from the test's seed."""
    script = tmp_path / "killed.py"
    script.write_text(textwrap.dedent(FORKING))
    folder = tmp_path / "checkpoint"
    done = subprocess.run(
        [sys.executable, str(script), str(folder), str(seed), "8"],
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("killed") == 8
    places = {line for line in done.stdout.splitlines() if len(line.split()) == 3}
    assert len(places) >= 4, done.stdout  # kills came at different places of the fit
    assert (folder / "chain1-state.npz").exists()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        resumed = porbnet.resume(folder, n_jobs=2, progress=False)
    with np.load(f"{folder}-whole.npz") as whole:
        for name, values in vars(resumed.posterior_.draws).items():
            np.testing.assert_array_equal(values, whole[name], err_msg=name)


ARGUMENTS = ["--draws", "1500", "--warmup", "500", "--chains", "2", "--seed", "5", "--lengthscale", "constant"]


def command(*arguments, folder):
    environment = {**os.environ, "MPLBACKEND": "Agg"}
    return [str(COMMAND), *arguments], {
        "cwd": folder,
        "env": environment,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
    }


@pytest.mark.slow
def test_the_command_survives_kills(tmp_path, seed):
    """Ten kills of `porbnet fit` and `porbnet resume`, as a user would have them."""
    rng = np.random.default_rng(seed)
    arguments, options = command("data", "motorcycle", "--out", "crash.csv", folder=tmp_path)
    subprocess.run(arguments, **options, check=True)
    arguments, options = command("fit", "crash.csv", *ARGUMENTS, "--out", "whole", folder=tmp_path)
    assert subprocess.run(arguments, **options, check=False).returncode in (0, 3)
    kills = 0
    arguments, options = command(
        "fit", "crash.csv", *ARGUMENTS, "--out", "killed", "--checkpoint-every", "0.1", folder=tmp_path
    )
    while kills < 10:
        process = subprocess.Popen(arguments, **options)
        began = time.monotonic()
        # until sampling has begun, then a random time
        while process.poll() is None and time.monotonic() - began < 60:
            if _newest(tmp_path / "killed" / "checkpoint") > _started(process):
                break
            time.sleep(0.02)
        time.sleep(rng.uniform(0.0, 0.3))
        process.send_signal(signal.SIGKILL)
        _, errors = process.communicate()
        assert process.returncode == -signal.SIGKILL, errors
        kills += 1
        arguments, options = command("resume", "killed", folder=tmp_path)
    assert subprocess.run(arguments, **options, check=False).returncode in (0, 3)
    whole, killed = (porbnet.load(tmp_path / name / "model.npz") for name in ("whole", "killed"))
    for name, values in vars(whole.posterior_.draws).items():
        np.testing.assert_array_equal(getattr(killed.posterior_.draws, name), values)
    assert not (tmp_path / "killed" / "checkpoint").exists()
    shutil.rmtree(tmp_path / "killed")


def _newest(folder):
    times = [p.stat().st_mtime for p in folder.glob("chain*-state.npz")] if folder.exists() else []
    return max(times, default=0.0)


_STARTS = {}


def _started(process):
    return _STARTS.setdefault(process.pid, time.time())
