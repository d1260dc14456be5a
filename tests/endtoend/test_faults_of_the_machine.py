"""Full disks byte by byte, kills while a model is written, signals that stop and end, memory that is not there."""

import os
import resource
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

import porbnet
from porbnet import PoRBNetRegressor, Prior
from porbnet.errors import PorbnetWarning, StatementError, StorageError

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no such signals and limits")
COMMAND = Path(sys.executable).with_name("porbnet")
SHORT = {"n_chains": 1, "n_warmup": 20, "n_draws": 20, "n_jobs": 1, "progress": False}
WAVE = np.linspace(0.0, 1.0, 25)[:, None]


@pytest.fixture(scope="module")
def fits():
    """Two short fits that differ."""
    y = np.sin(6.0 * WAVE[:, 0])
    with pytest.warns(PorbnetWarning):
        return [PoRBNetRegressor("constant", random_state=i, **SHORT).fit(WAVE, y + i) for i in range(2)]


def saved_with(model, path, limit):
    """Save a model where no file may grow beyond so many bytes."""
    before, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    try:
        model.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def check_every(fits, tmp_path, limits):
    """The old model stays to the last bit, nothing else is left behind, and the error is the package's own."""
    path = tmp_path / "model.npz"
    fits[0].save(path)
    old = path.read_bytes()
    for limit in limits:
        with pytest.raises(StorageError, match=r"model\.npz"):
            saved_with(fits[1], path, limit)
        assert path.read_bytes() == old, limit
        assert os.listdir(tmp_path) == ["model.npz"], limit
    saved_with(fits[1], path, 2 * len(old))
    assert porbnet.load(path).summary() == fits[1].summary()


def new_size(fits, tmp_path):
    fits[1].save(tmp_path / "size")
    size = (tmp_path / "size").stat().st_size
    (tmp_path / "size").unlink()
    return size


def test_a_disk_that_is_full_somewhere(fits, tmp_path):
    """Sixty places of the file, its first and last bytes among them."""
    size = new_size(fits, tmp_path)
    check_every(fits, tmp_path, [0, 1, 2, *np.linspace(3, size - 3, 54).astype(int).tolist(), size - 2, size - 1])


@pytest.mark.slow
def test_a_disk_that_is_full_at_every_byte(fits, tmp_path):
    check_every(fits, tmp_path, range(new_size(fits, tmp_path)))


SAVING = """
import os, random, signal, sys, time, warnings
import numpy as np
import porbnet

warnings.simplefilter("ignore")
folder, seed = sys.argv[1], int(sys.argv[2])
x = np.linspace(0.0, 1.0, 25)[:, None]
fits = [porbnet.PoRBNetRegressor("constant", random_state=i, n_chains=1, n_warmup=20, n_draws=200, n_jobs=1,
                                 progress=False).fit(x, np.sin(6 * x[:, 0]) + i) for i in range(2)]
path = os.path.join(folder, "model.npz")
whole = []
for fit in fits:
    fit.save(path)
    whole.append(open(path, "rb").read())
rng, seen, left = random.Random(seed), set(), 0
for _ in range(40):
    pid = os.fork()
    if pid == 0:
        while True:
            for fit in fits:
                fit.save(path)
    time.sleep(rng.uniform(0.0, 0.03))
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    seen.add(whole.index(open(path, "rb").read()))  # one of them to the last bit, or an error here
    left = max(left, len(os.listdir(folder)) - 1)
print("seen", sorted(seen), "left behind at most", left)
"""


@pytest.mark.slow
def test_kills_while_a_model_is_written(tmp_path, seed):
    """Forty kills: the file is always one model or the other, whole."""
    script = tmp_path / "saving.py"
    script.write_text(textwrap.dedent(SAVING))
    (tmp_path / "models").mkdir()
    arguments = [sys.executable, str(script), str(tmp_path / "models"), str(seed)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "seen [0, 1]" in done.stdout, done.stdout  # kills came at different moments


# --- signals ---------------------------------------------------------------------------------------------------------

ARGUMENTS = ["--draws", "1500", "--warmup", "500", "--chains", "2", "--seed", "5", "--lengthscale", "constant"]


def popen(*arguments, folder):
    environment = os.environ | {"MPLBACKEND": "Agg"}
    return subprocess.Popen(
        [str(COMMAND), *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def when_sampling(process, folder):
    """Wait for the first checkpoint."""
    began = time.monotonic()
    while process.poll() is None and not list(folder.glob("checkpoint/chain*-state.npz")):
        assert time.monotonic() - began < 120
        time.sleep(0.02)
    assert process.poll() is None, process.communicate()


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with a table and the fit of it that nobody disturbed."""
    folder = tmp_path_factory.mktemp("signals")
    process = popen("data", "motorcycle", "--out", "crash.csv", folder=folder)
    assert process.communicate() and process.returncode == 0
    process = popen("fit", "crash.csv", *ARGUMENTS, "--out", "whole", folder=folder)
    assert process.communicate() and process.returncode in (0, 3)
    return folder


def assert_same(folder, name):
    one, other = (porbnet.load(folder / part / "model.npz").posterior_.draws for part in ("whole", name))
    for key, values in vars(one).items():
        np.testing.assert_array_equal(getattr(other, key), values, err_msg=key)


@pytest.mark.slow
def test_a_fit_that_is_ended_politely_can_be_resumed(whole):
    """SIGTERM, as batch systems send it: the checkpoint stays, `resume` ends with the same draws."""
    process = popen("fit", "crash.csv", *ARGUMENTS, "--out", "ended", "--checkpoint-every", "0.1", folder=whole)
    when_sampling(process, whole / "ended")
    process.terminate()
    process.communicate()
    assert process.returncode in (-signal.SIGTERM, 130, 143)
    resumed = popen("resume", "ended", folder=whole)
    assert resumed.communicate() and resumed.returncode in (0, 3)
    assert_same(whole, "ended")


@pytest.mark.slow
def test_a_fit_that_is_stopped_goes_on(whole):
    """SIGSTOP for two seconds, twice, as a laptop that sleeps: the same draws."""
    process = popen("fit", "crash.csv", *ARGUMENTS, "--out", "stopped", "--checkpoint-every", "0.1", folder=whole)
    when_sampling(process, whole / "stopped")
    for _ in range(2):
        process.send_signal(signal.SIGSTOP)
        time.sleep(2.0)
        process.send_signal(signal.SIGCONT)
        time.sleep(0.1)
    process.communicate()
    assert process.returncode in (0, 3)
    assert_same(whole, "stopped")


# --- memory ----------------------------------------------------------------------------------------------------------


def test_a_command_that_asks_for_more_memory_than_there_is(inside_command):
    arguments = ["prior", "--lengthscale", "0.5", "--amplitude", "1", "--draws", str(10**12), "--out", "draws.csv"]
    code, said = inside_command(*arguments)
    assert code == 1 and said.startswith("error: ") and "memory" in said and "Traceback" not in said


def test_more_draws_than_memory_are_refused_before_any_work():
    prior = Prior(0.5, 1.0, region=(0.0, 1.0))
    with pytest.raises(StatementError, match=r"n=1000000000000 functions at 25 points take 2e\+05 GB"):
        prior.sample(WAVE, 10**12)
    with pytest.raises(StatementError, match=r"n=.* 1e\+12 at most"):
        prior.sample(WAVE, 10**30)


@pytest.fixture
def inside_command(tmp_path):
    def run(*arguments):
        process = popen(*arguments, folder=tmp_path)
        _, errors = process.communicate()
        return process.returncode, errors.decode()

    return run
