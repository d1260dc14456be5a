"""Tables of the command line: delimiters, names, missing values, and complaints that point at a line."""

import numpy as np
import pytest

from porbnet.cli.reading import parse, read_table
from porbnet.cli.table import observations
from porbnet.errors import StatementError


def columns(text, x=None, y=None, drop=False, **options):
    found = observations(parse(text, **options), x, y, drop)
    return found.X.tolist(), found.y.tolist(), found.names


@pytest.mark.parametrize(
    "text",
    [
        "a,b\n1.5,2\n3,4\n",
        "a;b\n1.5;2\n3;4\n",
        "a;b\n1,5;2\n3;4\n",
        "a\tb\n1.5\t2\n3\t4\n",
        "a\tb\n1,5\t2,0\n3,0\t4,0\n",
        "\ufeffa,b\r\n1.5,2\r\n3,4\r\n".removeprefix("\ufeff"),
        'a,"b"\n"1.5",2\n\n3, 4',
        "\n\na , b\n 1.5 , 2 \n3,4\n\n",
    ],
    ids=["comma", "semicolon", "decimal comma", "tab", "tab and decimal comma", "windows", "quotes", "blanks"],
)
def test_forms_of_the_same_table(text):
    assert columns(text) == ([[1.5], [3.0]], [2.0, 4.0], ["a", "b"])


def test_without_names():
    assert columns("1,2\n3,4\n") == ([[1.0], [3.0]], [2.0, 4.0], ["1", "2"])
    assert columns("1,2\n3,4\n", x=["2"], y="1") == ([[2.0], [4.0]], [1.0, 3.0], ["2", "1"])
    assert columns("NA,2\n3,4\n5,6\n", drop=True)[0] == [[3.0], [5.0]]
    assert columns("2020,2021\n3,4\n5,6\n", header=True)[2] == ["2020", "2021"]
    with pytest.raises(StatementError, match="line 1 of column '1' is 'a'"):
        columns("a,b\n3,4\n", header=False)


def test_choice_of_columns():
    text = "time,east,north,height\n0,1,2,3\n4,5,6,7\n"
    assert columns(text)[2] == ["time", "east", "north", "height"]
    assert columns(text, x=["north", "east"], y="time") == (
        [[2.0, 1.0], [6.0, 5.0]],
        [0.0, 4.0],
        ["north", "east", "time"],
    )
    assert columns(text, x=["height"])[2] == ["height", "north"]
    assert columns(text, y="2")[2] == ["time", "north", "height", "east"]
    with pytest.raises(
        StatementError, match="--x 'depth' is not a column: there are 'time', 'east', 'north', 'height'"
    ):
        columns(text, x=["depth"])
    for wrong in (["time", "time"], ["time", "1"]):
        with pytest.raises(StatementError, match="chosen twice"):
            columns(text, x=wrong)
    with pytest.raises(StatementError, match="chosen twice"):
        columns(text, x=["time"], y="time")


@pytest.mark.parametrize("word", ["", "NA", "nan", "NULL", "None", ".", "?", "N/A"])
def test_missing_values_are_named_and_dropped_only_on_request(word):
    text = f"a,b\n1,2\n\n3,{word}\n5,6\n"
    with pytest.raises(StatementError, match=r"1 of 3 rows have missing values in 'b' \(lines 4\): .* --drop-missing"):
        columns(text)
    table = parse(text)
    found = observations(table, None, None, True)
    assert found.n_dropped == 1 and found.y.tolist() == [2.0, 6.0]
    with pytest.raises(StatementError, match="no row is left"):
        columns(f"a,b\n1,{word}\n", drop=True)


def test_missing_values_elsewhere_do_not_matter():
    assert columns("a,b,c\n1,2,\n3,4,x\n", x=["a"], y="b")[1] == [2.0, 4.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("\n\n", "has no rows"),
        ("a,b\n", "names but no rows"),
        ("a,b\n1,2\n1,2,3\n", "line 3 of the table has 3 cells, the first has 2"),
        ("a,a\n1,2\n", "two columns called 'a'"),
        ("a,b\n1,two\n", "line 2 of column 'b' is 'two': it must be a number"),
        ("a,b\n1,inf\n", "line 2 of column 'b' is infinite"),
        ("a\n1\n2\n", "one column"),
        ("a,b\n2020-01-01,2\nsoon,3\n", "line 3 of column 'a' is 'soon': it is not a date like 2024-03-31"),
        ("a,b\n1,2020-01-01\n", "column 'b' holds dates: the output must be numbers"),
        (
            "a,b\nnorth,1\nsouth,2\n",
            "line 2 of column 'a' is 'north': it must be a number; the column holds text",
        ),
    ],
)
def test_complaints(text, message):
    with pytest.raises(StatementError, match=message):
        columns(text)


def test_files(tmp_path):
    (tmp_path / "a.csv").write_bytes("\ufeffa,b\n1,2\n3,4\n".encode())
    assert read_table(str(tmp_path / "a.csv")).names == ["a", "b"]
    with pytest.raises(StatementError, match="No such file"):
        read_table(str(tmp_path / "b.csv"))
    (tmp_path / "c.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(StatementError, match="not text in UTF-8, UTF-16 or Latin-1"):
        read_table(str(tmp_path / "c.csv"))
    with pytest.raises(StatementError, match="directory"):
        read_table(str(tmp_path))


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_parquet_and_feather(tmp_path, suffix):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"a": [1.0, 2.0, np.nan], "b": [3, 4, 5]})
    path = tmp_path / f"t.{suffix}"
    getattr(frame, f"to_{suffix}")(path)
    found = observations(read_table(str(path)), ["a"], "b", True)
    assert found.X.tolist() == [[1.0], [2.0]] and found.y.tolist() == [3.0, 4.0] and found.n_dropped == 1
    path.write_bytes(b"nonsense")
    with pytest.raises(StatementError, match="cannot be read"):
        read_table(str(path))


def test_without_pyarrow(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    monkeypatch.setitem(sys.modules, "pyarrow.feather", None)
    with pytest.raises(StatementError, match=r"pip install 'porbnet\[tables\]'"):
        read_table(str(tmp_path / "a.parquet"))
