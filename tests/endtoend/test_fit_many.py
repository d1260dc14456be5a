"""Many fits, from outside: killed workers, killed clients, hanging series, tables of all kinds, a real Dask cluster."""

import json
import signal
import subprocess
import sys
import tarfile
import threading

import jsonschema
import numpy as np
import pandas as pd
import pytest
from many_tools import POISONED, SHORT, Cluster, Misbehaving, frame, n_rows_written, same_fits, unsettled, wait_until
from typer.testing import CliRunner

import porbnet
from porbnet.cli import app
from porbnet.errors import PorbnetWarning, StatementError

N = 9
ROLES = {"by": "patient", "x": "time", "y": "rate"}


@pytest.fixture(scope="module")
def data():
    return frame(N)


@pytest.fixture(scope="module")
def local(data, tmp_path_factory):
    return porbnet.fit_many(data, **ROLES, out=tmp_path_factory.mktemp("local"), n_jobs=1, **SHORT)


@pytest.fixture(scope="module")
def parts(data, tmp_path_factory):
    """A Parquet folder in which series lie across files and row groups."""
    folder = tmp_path_factory.mktemp("parts")
    edges = [0, 70, 120, len(data)]
    for i in range(3):
        data.iloc[edges[i] : edges[i + 1]].to_parquet(folder / f"part-{i}.parquet", row_group_size=40)
    return folder


def test_a_row_and_a_model_per_series_and_reasons_for_failures(data, local):
    assert local.table["patient"].tolist() == [i for i in range(N) if i != POISONED]
    assert (local.n_fitted, local.n_reused, local.n_missing, local.stopped) == (N - 1, 0, 0, "")
    assert local.failures["patient"].tolist() == [POISONED]
    assert "NaN" in local.failures["reason"].iloc[0]
    row = local.table.set_index("patient").loc[3]
    own = data[data["patient"] == 3]
    alone = SHORT | {"random_state": int(row["seed"])}
    with pytest.warns(porbnet.errors.ConvergenceWarning):
        model = porbnet.PoRBNetRegressor(**alone).fit(own[["time"]].to_numpy(), own["rate"].to_numpy())
    kept = local.load(3)
    assert np.array_equal(model.posterior_.draws.weights, kept.posterior_.draws.weights)
    assert row["n"] == len(own)
    assert row["verdict"] == kept.diagnostics_.verdict
    assert row["width"] == np.median(model.posterior_.n_units)
    assert row["elpd"] == pytest.approx(model.posterior_.loo().elpd, rel=1e-12)
    assert pd.read_csv(local.folder / "table.csv")["patient"].tolist() == local.table["patient"].tolist()
    assert pd.read_parquet(local.folder / "table.parquet")["noise"].tolist() == local.table["noise"].tolist()
    with pytest.raises(StatementError, match=r"has failed: .*NaN"):
        local.load(POISONED)
    with pytest.raises(StatementError, match="must be one of the 8 keys"):
        local.load("nobody")


def test_predictions_of_all_series_at_once_in_the_order_asked(local):
    new = pd.DataFrame({"time": [1.0, 5.0, 2.0, 7.0], "patient": [4, 2, 4, POISONED]})
    found = local.predict(new)
    assert found["patient"].tolist() == [4, 2, 4, POISONED]
    mean, sd = local.load(4).predict([[1.0], [2.0]], return_std=True)
    assert found["mean"].iloc[[0, 2]].tolist() == mean.tolist()
    assert found["sd"].iloc[[0, 2]].tolist() == sd.tolist()
    assert found["lower"].isna().tolist() == [False, False, False, True]
    with pytest.raises(StatementError, match="none of these values of patient"):
        local.predict({"patient": [99], "time": [1.0]})
    with pytest.raises(StatementError, match="must have a column 'time'"):
        local.predict({"patient": [1]})


def test_pictures_and_the_page(local):
    axes = local.plot(n=3)
    worst = local.table.sort_values("rhat", ascending=False)["patient"].tolist()[:3]
    assert [ax.get_title().split()[0] for ax in axes.flat if ax.get_visible()] == [str(k) for k in worst]
    page = local.report(n=2).read_text()
    assert "8 series fitted" in page
    assert "NaN" in page
    assert page.count("<img") == 1


def test_again_does_only_what_is_missing_failed_or_longer(data, local, tmp_path):
    out = tmp_path / "fits"
    first = porbnet.fit_many(data[data["patient"] < 4], **ROLES, out=out, n_jobs=1, **SHORT)
    mended = data.copy()
    mended.loc[mended["patient"] == POISONED, "rate"] = mended["rate"].fillna(0.0)
    mended = pd.concat([mended, pd.DataFrame({"patient": [2], "time": [5.5], "rate": [0.1]})])
    again = porbnet.fit_many(mended, **ROLES, out=out, n_jobs=1, **SHORT)
    assert (first.n_fitted, again.n_fitted, again.n_reused) == (4, N - 4 + 1, 3)
    assert len(again.failures) == 0
    assert again.table.set_index("patient").loc[2, "n"] == int((data["patient"] == 2).sum()) + 1
    with pytest.raises(StatementError, match="holds fits with estimator="):
        porbnet.fit_many(data, **ROLES, out=out, **(SHORT | {"n_draws": 31}))
    with pytest.raises(StatementError, match="holds fits with seed=3, where 4 is asked"):
        porbnet.fit_many(data, **ROLES, out=out, **(SHORT | {"random_state": 4}))
    assert len(porbnet.load_many(out)) == N


@pytest.mark.slow
def test_a_series_that_hangs_costs_that_series_only(data, tmp_path):
    own = data[data["patient"] < 3].copy()
    own.loc[np.flatnonzero(own["patient"] == 1)[:1], "rate"] = 1000.0
    fits = porbnet.fit_many(
        own, **ROLES, out=tmp_path / "fits", estimator=Misbehaving(**SHORT), max_seconds=1.0, n_jobs=1
    )
    assert fits.table["patient"].tolist() == [0, 2]
    assert fits.failures["reason"].tolist() == ["it was not done after 7 seconds"]


@pytest.mark.slow
def test_a_series_that_ends_its_process_costs_that_series_only(data, tmp_path):
    own = data[data["patient"] < 3].copy()
    own.loc[np.flatnonzero(own["patient"] == 1)[:1], "rate"] = 2000.0
    fits = porbnet.fit_many(own, **ROLES, out=tmp_path / "fits", estimator=Misbehaving(**SHORT), n_jobs=1)
    assert fits.table["patient"].tolist() == [0, 2]
    assert fits.failures["reason"].tolist() == ["the process that fitted it was ended by signal 9, twice"]


def test_time_that_is_up_and_ctrl_c_leave_the_rest_for_the_next_call(data, local, tmp_path):
    out = tmp_path / "fits"
    with pytest.warns(PorbnetWarning, match=r"time is up: .* are not fitted"):
        first = porbnet.fit_many(data, **ROLES, out=out, n_jobs=1, max_seconds_in_all=1e-3, batch_size=2, **SHORT)
    assert first.stopped == "time is up"
    assert first.n_missing == N - first.n_fitted - len(first.failures) > 0

    def interrupt():
        wait_until(lambda: n_rows_written(out) >= len(first.table) + 2)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.warns(PorbnetWarning, match=r"interrupted: .* are not fitted"):
        second = porbnet.fit_many(data, **ROLES, out=out, n_jobs=1, batch_size=2, models="archive", **SHORT)
    thread.join()
    assert second.stopped == "interrupted"
    assert len(first.table) + 1 <= len(second.table) < N
    third = porbnet.fit_many(data, **ROLES, out=out, n_jobs=1, models="archive", **SHORT)
    assert third.n_fitted == N - 1 - len(second.table)
    same_fits(third, local)
    archives = list((out / "models").glob("*.tar"))
    with tarfile.open(archives[0]) as archive:
        assert all(name.endswith(".npz") for name in archive.getnames())


def test_on_a_cluster_a_killed_worker_costs_nothing(parts, local, tmp_path, monkeypatch):
    """SIGKILL of a worker half-way: all others there, none twice, bit-identical to the local run."""
    from distributed import Client

    out, ever = tmp_path / "fits", unsettled(monkeypatch.setattr)
    with Cluster(tmp_path / "cluster", 2) as cluster, Client(cluster.address) as client:
        client.wait_for_workers(2)
        killed = []

        def kill_half_way():
            wait_until(lambda: out.exists() and n_rows_written(out) >= 3)
            cluster.workers[0].kill()
            killed.append(n_rows_written(out))

        thread = threading.Thread(target=kill_half_way)
        thread.start()
        fits = porbnet.fit_many(parts, **ROLES, out=out, client=client, batch_size=2, **SHORT)
        thread.join()
        assert 3 <= killed[0] < N
        assert fits.n_fitted == N - 1
        assert fits.failures["patient"].tolist() == [POISONED]
        same_fits(fits, local)
        assert sorted(ever[str(out)]) == [(i,) for i in range(N)]
        _other_tables_and_a_folder_that_workers_do_not_see(client, parts, local, tmp_path)


def _other_tables_and_a_folder_that_workers_do_not_see(client, parts, local, tmp_path):
    import dask.dataframe as dd

    lazy = dd.read_parquet(parts, split_row_groups=True).query("patient < 3")
    fits = porbnet.fit_many(lazy, **ROLES, out=tmp_path / "lazy", client=client, **SHORT)
    assert fits.table["rhat"].tolist() == local.table["rhat"].tolist()[:3]
    client.run(_blind)
    sent = porbnet.fit_many(lazy, **ROLES, out=tmp_path / "sent", client=client, **SHORT)
    assert [path.name for path in (tmp_path / "sent" / "models").iterdir()] != []
    same_fits(sent, fits)


def _blind():
    """A worker from which the folder of results cannot be seen."""
    from pathlib import Path

    from porbnet.many import batches

    batches.Plan.token = property(lambda plan: Path("/nowhere/at/all"))


def command(parts, out, *options):
    line = [sys.executable, "-m", "porbnet", "fit-many", str(parts), "--by", "patient", "--x", "time", "--y", "rate"]
    short = ["--chains", "2", "--warmup", "10", "--draws", "30", "--thin", "1", "--lengthscale", "constant"]
    return [*line, *short, "--seed", "3", "--jobs", "1", "--out", str(out), *options]


def test_the_command(parts, local, tmp_path):
    out = tmp_path / "fits"
    done = CliRunner().invoke(app, command(parts, out, "--json")[3:])
    assert done.exit_code == 3, done.output
    found = json.loads(done.stdout)
    with open(porbnet.__path__[0] + "/cli/schemas/fit-many.json") as file:
        jsonschema.validate(found, json.load(file))
    assert (found["series"], found["fitted"], found["failed"], found["missing"]) == (N, N - 1, 1, 0)
    assert found["fitted_now"] == N - 1
    assert (out / "report.html").exists()
    same_fits(porbnet.load_many(out), local)
    again = CliRunner().invoke(app, command(parts, out)[3:])
    assert f"{N - 1} of {N} series fitted (0 now)" in again.stdout
    (tmp_path / "new.csv").write_text(f"patient,time\n2,1.5\n{POISONED},1.5\n")
    told = CliRunner().invoke(app, ["predict", str(out), str(tmp_path / "new.csv"), "--digits", "17"])
    lines = told.stdout.splitlines()
    assert lines[0] == "patient,time,mean,sd,lower,upper"
    assert float(lines[1].split(",")[2]) == pytest.approx(local.load(2).predict([[1.5]])[0], rel=1e-8)
    assert lines[2] == f"{POISONED},1.5,,,,"


@pytest.mark.slow
def test_a_killed_client_and_the_same_command_again(parts, local, tmp_path):
    """On a cluster: workers finish the series at hand and drop it; the next client does what is missing."""
    out = tmp_path / "fits"
    with Cluster(tmp_path / "cluster", 2) as cluster:
        line = command(parts, out, "--batch-size", "2", "--scheduler", cluster.address)
        process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: (out / "rows").exists() and n_rows_written(out) >= 2)
        process.kill()
        process.wait()
        done = subprocess.run([*line, "--json"], check=False, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert (found["series"], found["fitted"], found["failed"], found["missing"]) == (N, N - 1, 1, 0)
    assert 0 < found["fitted_now"] < N - 1
    same_fits(porbnet.load_many(out), local)


@pytest.mark.slow
def test_ctrl_c_of_the_command(parts, local, tmp_path):
    out = tmp_path / "fits"
    process = subprocess.Popen(
        command(parts, out, "--batch-size", "2"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_until(lambda: (out / "rows").exists() and n_rows_written(out) >= 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate()
    assert process.returncode == 130
    assert "the same command again does the rest" in said
    assert 1 <= len(porbnet.load_many(out)) < N - 1
    done = subprocess.run(command(parts, out), check=False, capture_output=True, text=True)
    assert done.returncode == 3
    same_fits(porbnet.load_many(out), local)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"by": "doctor"}, "there is no column 'doctor': there are 'patient', 'time', 'rate'"),
        ({"x": "patient"}, "column 'patient' has two roles"),
        ({"y": ["rate"]}, r"y=\['rate'\] is not allowed: it must be the name of a column"),
        ({"n_draw": 3}, "n_draw= is no argument of fit_many, and no parameter of PoRBNetRegressor"),
        ({"n_draws": 0}, "n_draws=0 is not allowed"),
        ({"models": "some"}, "models='some' is not allowed"),
        ({"max_seconds": -1.0}, "max_seconds=-1.0 is not allowed"),
        ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
        ({"client": 7}, "client=7 is not allowed"),
        ({"random_state": "x"}, "random_state='x' is not allowed"),
        ({"frame": "nowhere.parquet"}, "there is no such file or folder"),
        ({"frame": 3}, "frame=3 is not allowed: it must be a frame"),
        ({"fit_params": {"sample_weight": 3}}, "fit_params=.* is not allowed"),
        ({"batch_size": 0}, "batch_size=0 is not allowed"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(data, tmp_path, changed, message):
    with pytest.raises(StatementError, match=message):
        porbnet.fit_many(**({"frame": data, **ROLES, "out": tmp_path / "fits"} | changed))
    assert not (tmp_path / "fits").exists()
