"""Tables in chunks: the same columns and numbers as the whole file, and complaints that point at a row."""

import numpy as np
import pandas as pd
import pytest

from porbnet.cli import stream as streams
from porbnet.cli.reading import read_table
from porbnet.cli.stream import is_large, stream
from porbnet.cli.table import observations
from porbnet.errors import StatementError


@pytest.fixture
def frame(monkeypatch):
    monkeypatch.setattr(streams, "_BATCH", 70)
    monkeypatch.setattr(streams, "_LINES", 70)
    rng = np.random.default_rng(0)
    return pd.DataFrame({"time": rng.uniform(size=500), "load": rng.standard_normal(500), "wind": np.arange(500)})


def together(found):
    parts = list(found.read())
    assert len(parts) > 5
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


@pytest.mark.parametrize("suffix", ["parquet", "csv", "tsv"])
@pytest.mark.parametrize("columns", [(None, None), (["time"], "load"), (["wind"], None), (["1", "wind"], "load")])
def test_the_same_as_the_whole_file(tmp_path, frame, suffix, columns):
    path = str(tmp_path / f"a.{suffix}")
    if suffix == "parquet":
        frame.to_parquet(path, row_group_size=130)
    else:
        frame.to_csv(path, index=False, sep="," if suffix == "csv" else "\t")
    whole, found = observations(read_table(path), *columns, False), stream(path, *columns, None, False)
    X, y = together(found)
    np.testing.assert_array_equal(X, whole.X)
    np.testing.assert_array_equal(y, whole.y)
    assert found.names == whole.names
    np.testing.assert_array_equal(together(found)[0], X)  # a second pass


def test_without_names_and_with_decimal_commas(tmp_path, frame):
    path = str(tmp_path / "a.csv")
    frame.to_csv(path, index=False, header=False, sep=";", decimal=",")
    X, y = together(stream(path, ["1"], "2", None, False))
    np.testing.assert_allclose(X[:, 0], frame["time"])
    np.testing.assert_allclose(y, frame["load"])


@pytest.mark.parametrize("suffix", ["parquet", "csv"])
def test_missing_values(tmp_path, frame, suffix):
    path = str(tmp_path / f"a.{suffix}")
    frame.loc[3, "load"] = np.nan
    frame.to_parquet(path) if suffix == "parquet" else frame.to_csv(path, index=False)
    with pytest.raises(StatementError, match=r"row 4 of .*missing value.*--drop-missing"):
        together(stream(path, ["time"], "load", None, False))
    assert len(together(stream(path, ["time"], "load", None, True))[1]) == 499


def test_what_is_no_number(tmp_path, frame):
    path = str(tmp_path / "a.parquet")
    frame.assign(load="high").to_parquet(path)
    with pytest.raises(StatementError, match=r"column 'load' has .*string.* values: in .* chunks they must be numbers"):
        together(stream(path, ["time"], "load", None, False))
    with pytest.raises(StatementError, match="--y 'height' is not a column"):
        stream(path, ["time"], "height", None, False)
    (tmp_path / "b.parquet").write_bytes(b"no table")
    with pytest.raises(StatementError, match=r"b\.parquet' cannot be read"):
        stream(str(tmp_path / "b.parquet"), None, None, None, False)


def test_which_files_are_large(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("x,y\n1,2\n")
    assert not is_large(str(path), False) and is_large(str(path), True)
    monkeypatch.setattr(streams, "LARGE", 5)
    assert is_large(str(path), False) and not is_large("-", False)
    with pytest.raises(StatementError, match="--chunked '-': only files ending in"):
        is_large("-", True)
    with pytest.raises(StatementError, match="cannot be read: No such file"):
        is_large(str(tmp_path / "none.csv"), False)
