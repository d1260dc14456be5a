"""The resumable map: nothing is computed twice, by joblib or on a real Dask cluster, whatever dies on the way."""

import json
import os
import signal
import time
from pathlib import Path

import pytest

from porbnet.work.resumable import ResumableMap


def name_of(function, task):
    return f"{function.__name__}-{task['value']}"


def square(value, folder):
    """Leaves a mark for every time that it is run."""
    Path(folder, f"ran-{value}-{time.time_ns()}-{os.getpid()}").touch()
    return {"square": value**2}


def square_unless_first(value, folder):
    """The first process that comes by task 3 dies of it."""
    marked = Path(folder, "died")
    if value == 3 and not marked.exists():
        marked.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return square(value, folder)


def times_run(folder, value):
    return len(list(Path(folder).glob(f"ran-{value}-*")))


def tasks(folder, n):
    return [{"value": i, "folder": str(folder)} for i in range(n)]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_kept_is_not_computed_again(tmp_path, n_jobs):
    marks = tmp_path / "marks"
    marks.mkdir()
    first = ResumableMap(tmp_path / "kept", name_of, n_jobs)
    assert first.map(square, tasks(marks, 3)) == [{"square": i * i} for i in range(3)]
    second = ResumableMap(tmp_path / "kept", name_of, n_jobs)
    assert second.map(square, tasks(marks, 5)) == [{"square": i * i} for i in range(5)]
    assert (first.n_computed, second.n_computed, second.n_reused) == (3, 2, 3)
    assert [times_run(marks, i) for i in range(5)] == [1] * 5


def test_progress_tells_each_task(tmp_path, capsys):
    ResumableMap(tmp_path / "kept", name_of, 1, progress=True).map(square, tasks(tmp_path, 2))
    lines = capsys.readouterr().err.splitlines()
    assert [line.split(":")[0] for line in lines] == ["  square 1/2", "  square 2/2"]


def test_a_result_that_json_cannot_hold_is_an_error_and_not_kept(tmp_path):
    def odd(value, folder):
        return {"value": float("nan")}

    with pytest.raises(ValueError, match=r"not JSON compliant|Out of range"):
        ResumableMap(tmp_path / "kept", name_of).map(odd, tasks(tmp_path, 1))
    assert list((tmp_path / "kept").iterdir()) == []


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as found:
        yield found


@pytest.mark.filterwarnings("ignore")
def test_on_a_cluster_with_a_worker_that_dies(tmp_path, cluster):
    """SIGKILL in the middle of a task: another worker does it, and everything is there once."""
    from distributed import Client

    marks = tmp_path / "marks"
    marks.mkdir()
    with Client(cluster) as client:
        client.upload_file(__file__)
        first = ResumableMap(tmp_path / "kept", name_of, client=client)
        assert first.map(square_unless_first, tasks(marks, 8)) == [{"square": i * i} for i in range(8)]
        assert (marks / "died").exists()
        kept = {p.name: json.loads(p.read_text()) for p in (tmp_path / "kept").iterdir()}
        assert len(kept) == 8
        second = ResumableMap(tmp_path / "kept", name_of, client=client)
        assert second.map(square_unless_first, tasks(marks, 8)) == [{"square": i * i} for i in range(8)]
        assert second.n_computed == 0
    assert [times_run(marks, i) for i in range(8)] == [1] * 8
