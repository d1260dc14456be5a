"""Keys, tables, sources and folders of many series."""

import json

import numpy as np
import pandas as pd
import polars
import pyarrow
import pyarrow.dataset
import pytest

from porbnet.base.date_text import Dates
from porbnet.errors import StatementError
from porbnet.estimators.inputs import Columns
from porbnet.many.kept import Folder, Log
from porbnet.many.series_keys import columns, file_name, key_of, plain, seed_of
from porbnet.many.series_tables import Roles, grouped, split
from porbnet.many.sources import counted, source_of

TABLE = {
    "site": ["b", "a", "b", None, "a", "b"],
    "well": [2, 1, 2, 1, 1, 7],
    "depth": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    "porosity": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
}
ROLES = Roles(("site", "well"), ("depth",), "porosity")
MAKERS = {"mapping": lambda t: t, "pandas": pd.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}


def test_a_key_is_the_same_whatever_table_it_comes_from():
    assert {key_of(v) for v in (7, 7.0, np.int32(7), np.float64(7.0), "7")} == {("7",)}
    assert key_of(("a", np.int8(1))) == ("a", "1")
    assert plain(float("nan")) is None
    assert plain(np.datetime64("2024-03-31")) == "2024-03-31"
    assert key_of(pd.Timestamp("2024-03-31 12:00")) == ("2024-03-31T12:00:00",)


def test_seeds_depend_on_key_and_root_alone_and_differ():
    seeds = {seed_of(root, (str(i),)) for root in (0, 1) for i in range(500)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**52 for seed in seeds)
    assert seed_of(0, ("17",)) == 1612334030554576  # for ever, or results of yesterday could not be made again


@pytest.mark.parametrize(("key", "safe"), [(("17",), "17"), (("a-b.c",), "a-b.c")])
def test_a_plain_key_names_its_file(key, safe):
    assert file_name(key) == safe


def test_names_of_files_are_safe_and_differ():
    keys = [("../etc",), ("A",), ("a",), ("a", "b"), ("a_b",), ("x" * 300,), ("x" * 301,), ("",), ("ü/\n",), (".",)]
    names = [file_name(key) for key in keys]
    assert len({name.lower() for name in names}) == len(keys)
    assert all(len(name) < 100 and not set(name) & set("/\\\n:") and name.strip(".") for name in names)


@pytest.mark.parametrize("kind", MAKERS)
def test_series_of_any_kind_of_table(kind):
    table = MAKERS[kind](TABLE)
    keys, rows, lost = grouped(table, ROLES.by)
    assert keys == [("b", 2), ("a", 1), ("b", 7)]
    assert [r.tolist() for r in rows] == [[0, 2], [1, 4], [5]]
    assert lost == 1
    found = dict(split([table, table], ROLES, frozenset({("a", "1")})))
    assert list(found) == [("a", 1)]
    series = found["a", 1]
    assert series.X.tolist() == [[2.0], [5.0], [2.0], [5.0]]
    assert series.y.tolist() == [0.2, 0.5, 0.2, 0.5]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_dates_and_missing_values(kind):
    when = np.array(["2024-01-01", "2024-01-02", "2024-01-03"], dtype="datetime64[us]")
    table = MAKERS[kind]({"k": [1, 1, 1], "when": when, "y": [1.0, np.nan, 3.0], "w": [1.0, 2.0, 3.0]})
    roles = Roles(("k",), ("when",), "y", {"sample_weight": "w"}, drop_missing=True)
    series = dict(split([table], roles, frozenset({("1",)})))[(1,)]
    assert isinstance(series.X, Columns)
    assert isinstance(series.X.values[0], Dates)
    assert series.X.values[0].instants.tolist() == when[[0, 2]].tolist()
    assert series.also["sample_weight"].tolist() == [1.0, 3.0]
    assert series.n_given == 3


def test_whole_numbers_with_missing_values_of_pandas():
    table = pd.DataFrame({"k": pd.array([1, 1, None], dtype="Int64"), "x": [1.0, 2.0, 3.0], "y": [1, 2, 3]})
    keys, _, lost = grouped(table, ("k",))
    assert (keys, lost) == ([(1,)], 1)


def test_words_are_a_failure_of_their_series():
    table = {"k": [1, 1], "x": np.array(["low", "high"], dtype=object), "y": [1.0, 2.0]}
    found = dict(split([table], Roles(("k",), ("x",), "y"), frozenset({("1",)})))[(1,)]
    assert isinstance(found, StatementError)


def test_a_parquet_folder_by_partitions_and_by_files(tmp_path):
    table = pyarrow.table({**TABLE, "site": ["b", "a", "b", "a", "a", "b"]})

    pyarrow.dataset.write_dataset(
        table, tmp_path / "hive", format="parquet", partitioning=["site"], partitioning_flavor="hive"
    )
    source = source_of(tmp_path / "hive", ROLES)
    source.scan(ROLES.by, lambda parts: ((i, counted(p, ROLES.by)) for i, p in enumerate(parts)))
    assert {key: source.n_rows(key) for key in source.series} == {("a", "1"): 3, ("b", "2"): 2, ("b", "7"): 1}
    batches = list(source.batches([*source.series], 1, ROLES))
    assert [len(batch.keys) for batch in batches] == [1, 1, 1]
    assert all(len(batch.parts) == 1 for batch in batches)
    with pytest.raises(StatementError, match="there is no column 'nothing'"):
        source_of(tmp_path / "hive", Roles(("nothing",), ("depth",), "porosity"))


def test_batches_of_a_frame_hold_their_own_rows_only():
    source = source_of(pd.DataFrame(TABLE), ROLES)
    source.scan(ROLES.by, lambda parts: ((i, counted(p, ROLES.by)) for i, p in enumerate(parts)))
    first, second = source.batches([*source.series], 2, ROLES)
    assert len(first.parts[0].frame["depth"]) == 4
    assert len(second.parts[0].frame["depth"]) == 1
    assert source.n_lost == 1


def test_half_a_line_counts_as_none_and_a_fit_outlives_a_failure(tmp_path):
    folder = Folder(tmp_path / "fits")
    folder.begin({"by": ["k"], "seed": 1})
    log = Log(folder, "run-1")
    log.add({"key": [1], "n": 5})
    log.add({"key": [2], "failed": "why"})
    path = folder.place / "rows" / "run-1.jsonl"
    path.write_bytes(path.read_bytes() + b'{"key": [3], "n"')  # a process that was killed
    again = Log(folder, "run-1")
    assert again.done == {("1",): True, ("2",): False}
    again.add({"key": [3], "n": 7})
    Log(folder, "run-2").add({"key": [1], "failed": "later"})
    Log(folder, "run-2").add({"key": [2], "n": 9})
    rows = {row["key"][0]: row.get("n") for row in folder.rows()}
    assert rows == {1: 5, 2: 9, 3: 7}
    folder.settle()
    assert [p.name for p in (folder.place / "rows").iterdir()] == ["kept.jsonl"]
    assert {row["key"][0]: row.get("n") for row in folder.rows()} == rows


def test_an_archive_survives_a_writer_that_died(tmp_path):
    import tarfile

    folder = Folder(tmp_path / "fits")
    folder.begin({"seed": 1})
    log = Log(folder, "run-1")
    first = log.archive(("1",), b"first" * 200)
    path = folder.place / "models" / "run-1.tar"
    second = log.archive(("2",), b"second")
    with tarfile.open(path) as archive:
        assert archive.getnames() == ["1.npz", "2.npz"]
    path.write_bytes(path.read_bytes() + b"half a header")
    third = log.archive(("3",), b"third")
    contents = [folder.model_bytes({"key": [i], "model": where}) for i, where in enumerate((first, second, third))]
    assert contents == [b"first" * 200, b"second", b"third"]


def test_a_folder_goes_on_only_with_the_same(tmp_path):
    folder = Folder(tmp_path / "fits")
    folder.begin({"by": ["k"], "seed": 1})
    assert folder.begin({"by": ["k"], "seed": 1})["seed"] == 1
    with pytest.raises(StatementError, match="holds fits with by="):
        folder.begin({"by": ["j"], "seed": 1})
    (tmp_path / "file").write_text("")
    with pytest.raises(StatementError, match="is a file"):
        Folder(tmp_path / "file").begin({})
    assert json.loads((folder.place / "many.json").read_text())["format"] == 1


@pytest.mark.parametrize("value", [None, 3, [], ["a", "a"], [""], ["a", 3]])
def test_columns_are_names(value):
    with pytest.raises(StatementError, match="by="):
        columns("by", value)
