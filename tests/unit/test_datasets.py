"""The data sets: shapes, first rows, formulas, and where they come from."""

import sys
import types

import numpy as np
import pytest

from porbnet import datasets
from porbnet.errors import StatementError

LOADERS = {
    "motorcycle133": (datasets.load_motorcycle, (133, 1)),
    "motorcycle94": (lambda: datasets.load_motorcycle("94"), (94, 1)),
    "heartrate": (datasets.load_heartrate, (500, 1)),
    "exp2d": (datasets.load_exp2d, (200, 2)),
    "chirp2d": (datasets.load_chirp2d, (300, 2)),
}


@pytest.mark.parametrize("name", LOADERS)
def test_shapes_and_words(name):
    load, shape = LOADERS[name]
    data = load()
    assert data.X.shape == shape and data.y.shape == shape[:1] and len(data) == shape[0]
    assert data.n_dims == shape[1]
    assert data.X.dtype == data.y.dtype == np.float64
    assert np.all(np.isfinite(data.X)) and np.all(np.isfinite(data.y))
    assert len(data.names) == len(data.units) == shape[1] + 1
    assert data.source and data.licence and data.description
    assert data.names[-1] in repr(data) and str(len(data)) in repr(data)
    assert (data.f is not None) == (shape[1] == 2)


def test_each_call_gives_arrays_of_its_own():
    first, second = datasets.load_heartrate(), datasets.load_heartrate()
    first.X[:] = 0.0
    assert second.X.max() > 0.0


def test_dataset_is_frozen():
    with pytest.raises(AttributeError):
        datasets.load_heartrate().y = np.zeros(3)


def test_motorcycle_values():
    data = datasets.load_motorcycle()
    assert data.X[0, 0] == 2.4 and data.y[0] == 0.0
    assert data.X[-1, 0] == 57.6 and data.y.min() == -134.0 and data.y.max() == 75.0
    assert data.units == ("ms", "g")


def test_the_short_form_has_one_row_per_time_and_is_part_of_the_long_one():
    short, long = datasets.load_motorcycle("94"), datasets.load_motorcycle("133")
    assert np.all(np.diff(short.X[:, 0]) > 0)
    assert set(zip(short.X[:, 0], short.y, strict=True)) <= set(zip(long.X[:, 0], long.y, strict=True))


def test_unknown_form_is_refused():
    with pytest.raises(StatementError, match=r"form='95'.*'133', '94'"):
        datasets.load_motorcycle("95")


def test_heartrate_runs_forward_for_five_minutes():
    data = datasets.load_heartrate()
    assert np.all(np.diff(data.X[:, 0]) > 0)
    assert 250 < np.ptp(data.X) < 350
    assert 30 < data.y.min() < data.y.max() < 300


def test_exp2d_is_its_formula():
    data = datasets.load_exp2d()
    x1, x2 = data.X.T
    np.testing.assert_allclose(data.f, x1 * np.exp(-(x1**2) - x2**2), atol=2e-6)
    # false-alarm rate about 1e-4 if the noise were drawn anew; it is fixed
    assert abs(np.std(data.y - data.f) / 0.01 - 1) < 4 / np.sqrt(2 * 200)


def test_chirp2d_is_its_formula():
    data = datasets.load_chirp2d()
    x1, x2 = data.X.T
    b = np.pi * (2 * x1 + 0.5 * x2 + 1)
    np.testing.assert_allclose(data.f, 0.1 * (np.sin(b * x1) + np.sin(b * x2)), atol=4e-6)
    assert abs(np.std(data.y - data.f) / 0.025 - 1) < 4 / np.sqrt(2 * 300)


def _fake_arch(monkeypatch, days, values):
    """As much of arch as the loader uses."""

    class Iloc:
        def __getitem__(self, key):
            assert key == (slice(None), 0)
            return values

    module = types.ModuleType("arch.data.vix")
    module.load = lambda: types.SimpleNamespace(index=days, iloc=Iloc())
    monkeypatch.setitem(sys.modules, "arch", types.ModuleType("arch"))
    monkeypatch.setitem(sys.modules, "arch.data", types.ModuleType("arch.data"))
    monkeypatch.setitem(sys.modules, "arch.data.vix", module)


def test_vix_counts_weekdays_and_drops_missing_days(monkeypatch):
    days = np.array(["2017-12-29", "2018-01-01", "2018-01-02", "2018-01-03", "2018-01-08"], dtype="datetime64[ns]")
    _fake_arch(monkeypatch, days, np.array([11.0, np.nan, 9.8, 9.2, 9.5]))
    data = datasets.load_vix()
    np.testing.assert_array_equal(data.X, [[1.0], [2.0], [5.0]])
    np.testing.assert_array_equal(data.y, [9.8, 9.2, 9.5])
    with pytest.raises(StatementError, match=r"year=2019.*2017 to 2018"):
        datasets.load_vix(2019)


def test_vix_without_arch_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "arch", None)
    monkeypatch.setitem(sys.modules, "arch.data.vix", None)
    with pytest.raises(ImportError, match="pip install arch"):
        datasets.load_vix()


def test_vix_from_arch():
    pytest.importorskip("arch")
    data = datasets.load_vix()
    assert data.X.shape == (251, 1) and data.X[0, 0] == 1.0 and np.all(np.diff(data.X[:, 0]) > 0)


def test_mimic_reads_an_extract(tmp_path):
    path = tmp_path / "series.csv"
    path.write_text("hours,heart rate\n2.0,80\n0.5,\n1.0,90.5\n", encoding="utf-8")
    data = datasets.load_mimic(path)
    assert data.X.tolist() == [[1.0], [2.0]] and data.y.tolist() == [90.5, 80.0]
    assert data.names == ("hours", "heart rate")


@pytest.mark.parametrize(
    "text", [None, "", "a,b\n", "a,b\n1,2\n", "a,b,c\n1,2,3\n4,5,6\n", "a,b\n1,2\n3\n", "a,b\n,1\n2,3\n3,4\n"]
)
def test_mimic_says_what_it_needs(text, tmp_path):
    path = tmp_path / "series.csv"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(StatementError, match=r"(?s)path=.*two columns.*credentialed access.*load_heartrate"):
        datasets.load_mimic(path)
