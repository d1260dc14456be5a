"""Chains: the same draws whatever runs them, progress, and Ctrl-C."""

import io
import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import joblib
import numpy as np
import pytest
from fit_tools import quiet_fit, same_draws, wave

from porbnet.errors import PorbnetWarning, SamplingInterrupted
from porbnet.sampling import driver
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.driver import Stop, run_chains

X, Y = wave(30)
FOUR = {"n_chains": 4, "n_warmup": 30, "n_draws": 30}


@pytest.fixture(scope="module")
def reference():
    return quiet_fit(X, Y, **FOUR, n_jobs=1)


@pytest.mark.parametrize("n_jobs", [2, 4, -1, None])
def test_number_of_jobs_changes_nothing(reference, n_jobs):
    assert same_draws(quiet_fit(X, Y, **FOUR, n_jobs=n_jobs), reference)


@pytest.mark.parametrize("backend", ["threading", "sequential", "loky"])
def test_backend_changes_nothing(reference, backend):
    with joblib.parallel_config(backend):
        assert same_draws(quiet_fit(X, Y, **FOUR, n_jobs=2), reference)


@pytest.mark.filterwarnings("default")  # of a cluster coming and going
def test_a_dask_cluster_changes_nothing(reference):
    distributed = pytest.importorskip("distributed")
    cluster = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, protocol="tcp"
    )
    with cluster, distributed.Client(cluster), joblib.parallel_config("dask"):
        fitted = quiet_fit(X, Y, **FOUR, n_jobs=-1)
        assert same_draws(fitted, reference)
        # predictions stay in this process
        np.testing.assert_array_equal(fitted.predict(X, return_std=True)[1], reference.predict(X, return_std=True)[1])


@pytest.mark.parametrize("seconds", [1e-9, 1e-4, 10.0])
def test_chunk_length_changes_nothing(reference, seconds, monkeypatch):
    monkeypatch.setattr(driver, "_CHUNK_SECONDS", seconds)
    assert same_draws(quiet_fit(X, Y, **FOUR, n_jobs=1), reference)


def test_storage_in_pieces_changes_nothing(reference, monkeypatch):
    """Room for one draw at a time."""
    monkeypatch.setattr("porbnet.sampling.chain.MOST_STORED", 1)
    assert same_draws(quiet_fit(X, Y, **FOUR, n_jobs=1), reference)


# --- the flag ------------------------------------------------------------------------------------------------------


def test_a_copy_in_another_process_sees_the_flag():
    stop = Stop()
    copy = pickle.loads(pickle.dumps(stop))
    assert not stop.is_set() and not copy.is_set()
    stop.set()
    assert stop.is_set() and copy.is_set()
    stop.forget()
    assert stop.is_set() and not copy.is_set()
    # set before it is sent
    assert pickle.loads(pickle.dumps(stop)).is_set()
    stop.forget()


def test_the_handler_is_put_back():
    before = signal.getsignal(signal.SIGINT)
    with Stop().on_interrupt():
        assert signal.getsignal(signal.SIGINT) is not before
    assert signal.getsignal(signal.SIGINT) is before


def test_first_interrupt_asks_second_insists():
    stop = Stop()
    with stop.on_interrupt():
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_where_interrupts_are_ignored_they_stay_ignored():
    """As in a job that a script put in the background: Ctrl-C is meant for what runs in front."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        stop = Stop()
        with stop.on_interrupt():
            signal.raise_signal(signal.SIGINT)
            assert not stop.is_set()
    finally:
        signal.signal(signal.SIGINT, before)


# --- chains that are told to stop ----------------------------------------------------------------------------------


class Slow(CollapsedChain):
    """A chain during whose sweep number `at` someone presses Ctrl-C."""

    def __init__(self, at, *arguments):
        super().__init__(*arguments)
        self.at = at

    def advance(self, n_sweeps):
        if self.n_sweeps >= self.at >= 0:
            self.at = -1
            signal.raise_signal(signal.SIGINT)
        return super().advance(1)


def makers(reference, at, n_draws=50):
    problem = reference.posterior_.problem
    seeds = np.random.SeedSequence(0).spawn(2)
    return [lambda s=s, i=i: Slow(at[i], problem, s, 5, n_draws) for i, s in enumerate(seeds)]


@pytest.mark.parametrize(
    ("at", "lengths", "message"),
    [
        ([-1, 12], [50], "interrupted: 50 draws of 1 of 2 chains are kept"),
        ([-1, 40], [36, 36], "interrupted: 36 draws of each chain are kept"),
        ([12, -1], [8], "interrupted: 8 draws of 1 of 2 chains are kept"),
    ],
    ids=["second begun", "second far", "second not begun"],
)
def test_interrupt_keeps_most_of_the_draws(reference, at, lengths, message):
    """Chains run one after the other: as many draws in all as chains of one length can have."""
    with pytest.warns(PorbnetWarning, match=message):
        results = run_chains(makers(reference, at), n_jobs=1, progress=False).results
    assert [len(r.draws) for r in results] == lengths
    whole = run_chains(makers(reference, at=[-1, -1]), n_jobs=1, progress=False).results
    for part, full in zip(results, whole, strict=False):
        np.testing.assert_array_equal(part.draws.centers, full.draws.first(len(part.draws)).centers)


def test_interrupt_before_any_draw_raises(reference):
    with pytest.raises(SamplingInterrupted, match="nothing to return"):
        run_chains(makers(reference, at=[3, -1]), n_jobs=1, progress=False)


def test_an_interrupt_is_a_keyboard_interrupt():
    assert issubclass(SamplingInterrupted, KeyboardInterrupt)


# --- Ctrl-C from outside -------------------------------------------------------------------------------------------

SCRIPT = """
import sys, warnings
import joblib, numpy as np
from porbnet import PoRBNetRegressor
from porbnet.errors import SamplingInterrupted

if __name__ == "__main__":
    backend, n_warmup = sys.argv[1], int(sys.argv[2])
    X = np.linspace(0, 1, 30)[:, None]
    y = np.sin(6 * X[:, 0])
    model = PoRBNetRegressor(n_chains=2, n_warmup=n_warmup, n_draws=10**7, noise=0.1, random_state=0, n_jobs=2,
                             progress=False)
    short = PoRBNetRegressor(n_chains=2, n_warmup=1, n_draws=1, noise=0.1, n_jobs=2, progress=False)
    warnings.simplefilter("ignore")
    with joblib.parallel_config(backend):
        short.fit(X, y)  # compiled, and workers started
        warnings.simplefilter("always")
        print("ready", flush=True)
        try:
            model.fit(X, y)
        except SamplingInterrupted as error:
            print("raised", error, flush=True)
            sys.exit(7)
    print("kept", model.posterior_.n_draws_per_chain, np.isfinite(model.predict(X)).all(), flush=True)
"""


def interrupted(tmp_path, backend, n_warmup, seconds=2.0):
    """Exit code, output and errors of a long fit that gets SIGINT after some seconds."""
    script = tmp_path / "fit.py"
    script.write_text(textwrap.dedent(SCRIPT))
    process = subprocess.Popen(
        [sys.executable, str(script), backend, str(n_warmup)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(seconds)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize("backend", ["threading", pytest.param("sequential", marks=pytest.mark.slow), "loky"])
def test_ctrl_c_keeps_the_draws(tmp_path, backend):
    code, out, err = interrupted(tmp_path, backend, n_warmup=5)
    assert code == 0, err
    word, n_draws, finite = out.split()
    assert word == "kept" and 10 < int(n_draws) < 10**7 and finite == "True"
    which = "1 of 2 chains" if backend == "sequential" else "each chain"
    assert f"PorbnetWarning: interrupted: {n_draws} draws of {which} are kept" in err


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
def test_ctrl_c_before_any_draw_raises(tmp_path):
    code, out, _ = interrupted(tmp_path, "threading", n_warmup=10**7)
    assert code == 7 and out.startswith("raised interrupted before any chain had stored a draw")


# --- progress ------------------------------------------------------------------------------------------------------


def test_progress_shows_phase_and_acceptance(reference, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr("porbnet.base.compiled._announced", False)
    run_chains(makers(reference, at=[-1, -1]), n_jobs=1, progress=True, cold=True)
    text = screen.getvalue()
    assert "chain 1" in text and "chain 2" in text and "birth 0." in text
    assert text.startswith("porbnet: compiling for this machine, once") and "55/55" in text


def test_no_progress_where_there_is_no_terminal(reference, monkeypatch):
    screen = io.StringIO()
    monkeypatch.setattr(sys, "stderr", screen)
    run_chains(makers(reference, at=[-1, -1]), n_jobs=1)
    assert screen.getvalue() == ""


_COLD = """
import numpy as np
from porbnet import PoRBNetRegressor
from porbnet.base.compiled import is_cold
from porbnet.sampling.collapsed.sweep import run
print(is_cold(run))
"""


def test_a_cold_cache_is_noticed(tmp_path):
    empty = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", _COLD], check=True, capture_output=True, text=True, env=empty)
    assert done.stdout == "True\n"
    plain = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-c", _COLD], check=True, capture_output=True, text=True, env=plain)
    assert done.stdout == "False\n"


def test_a_warm_kernel_is_not_cold(reference):
    from porbnet.base.compiled import is_cold
    from porbnet.sampling.collapsed.sweep import run

    assert reference and not is_cold(run)
