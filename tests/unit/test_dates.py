"""Dates as inputs: the same answer from every container and resolution, remembered, with or without a time zone."""

import datetime
import warnings

import numpy as np
import pytest
from fit_tools import SHORT, quiet_fit

import porbnet
from porbnet.base.date_text import NotADate, read_dates
from porbnet.base.dates import Calendar, decode, encode
from porbnet.errors import ModelFileError, StatementError

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

DAYS = np.cumsum(np.random.default_rng(4).integers(1, 9, 40)).astype(float)
DAYS -= DAYS[0]
VALUES = np.sin(DAYS / 30.0) + 0.1 * np.random.default_rng(5).standard_normal(40)
DATES = np.datetime64("2021-03-04") + DAYS.astype("timedelta64[D]")
TEXT = [str(d) for d in DATES]
LATER = np.array(["2021-05-01", "2021-07-01"], dtype="datetime64[D]")
QUICK = {"n_warmup": 20, "n_draws": 20, "n_chains": 1, "thin": 1, "lengthscale": "constant"}


def zoned(dates):
    return pandas.Series(dates).dt.tz_localize("UTC").dt.tz_convert("Asia/Tokyo")


FORMS = {
    **{f"numpy {unit}": DATES.astype(f"datetime64[{unit}]")[:, None] for unit in ("D", "h", "s", "ms", "us", "ns")},
    "numpy text": np.array(TEXT)[:, None],
    "list of dates": [[d.astype(object)] for d in DATES],
    "list of datetimes": [[d.astype("datetime64[us]").astype(object)] for d in DATES],
    "pandas ns": pandas.DataFrame({"when": DATES.astype("datetime64[ns]")}),
    "pandas us": pandas.DataFrame({"when": DATES.astype("datetime64[us]")}),
    "pandas text": pandas.DataFrame({"when": TEXT}),
    "pandas objects": pandas.DataFrame({"when": DATES.astype(object)}),
    "pandas arrow": pandas.DataFrame({"when": pandas.Series(DATES).astype("timestamp[us][pyarrow]")}),
    "pandas zone": pandas.DataFrame({"when": zoned(DATES)}),
    "polars": polars.DataFrame({"when": DATES.astype("datetime64[us]")}),
    "polars dates": polars.DataFrame({"when": DATES}),
    "polars zone": polars.DataFrame({"when": DATES.astype("datetime64[ms]")}).with_columns(
        polars.col("when").dt.replace_time_zone("UTC")
    ),
    "pyarrow": pyarrow.table({"when": pyarrow.array(DATES.astype("datetime64[us]"))}),
}


@pytest.fixture(scope="module")
def plain():
    return quiet_fit(DAYS[:, None], VALUES, **QUICK)


@pytest.fixture(scope="module")
def by_dates():
    return quiet_fit(DATES[:, None], VALUES, **QUICK)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_series_in_every_form(form, plain):
    model = quiet_fit(FORMS[form], VALUES, **QUICK)
    np.testing.assert_allclose(model.predict(FORMS[form]), plain.predict(DAYS[:, None]), rtol=0, atol=1e-9)
    (calendar,) = model.dates_
    assert calendar.unit == "days" and calendar.origin == "2021-03-04" and calendar.zoned == ("zone" in form)


@pytest.mark.parametrize("form", [form for form in FORMS if "zone" not in form])
def test_predictions_take_dates_or_numbers(form, plain, by_dates):
    """A model that was fitted to one form predicts for any other, and for numbers."""
    X, model = FORMS[form], by_dates
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of names that the fit did not have
        np.testing.assert_array_equal(model.predict(X), plain.predict(DAYS[:, None]))
        np.testing.assert_array_equal(model.predict_interval(X), plain.predict_interval(DAYS[:, None]))
    np.testing.assert_array_equal(model.predict(DAYS[:, None]), plain.predict(DAYS[:, None]))


@pytest.mark.parametrize(
    ("step", "unit"),
    [("D", "days"), ("h", "days"), ("m", "minutes"), ("s", "seconds"), ("ms", "seconds"), ("us", "seconds")],
)
def test_the_unit_follows_from_the_span(step, unit):
    instants = np.datetime64("2024-02-28T23:59:58", "us") + np.arange(60) * np.timedelta64(1, step)
    assert Calendar.of(instants).unit == unit
    for other in ("us", "ns"):
        assert Calendar.of(instants[::-1].astype(f"datetime64[{other}]")) == Calendar.of(instants)


def test_there_and_back():
    calendar = Calendar.of(np.array(["1969-12-31T23:30", "1970-02-01"], dtype="datetime64[s]"))
    numbers = calendar.numbers(np.array(["1969-12-31T23:30", "1970-01-01T11:30"], dtype="datetime64[s]"))
    assert numbers.tolist() == [0.0, 0.5] and calendar.words == "days since 1969-12-31T23:30:00"
    assert [str(i) for i in calendar.instants([-1.0, 0.5])] == [
        "1969-12-30T23:30:00.000000",
        "1970-01-01T11:30:00.000000",
    ]
    far = Calendar.of(np.array(["1066-10-14", "2024-01-01"], dtype="datetime64[D]"))
    assert (
        far.numbers(np.array(["2024-01-01"], dtype="datetime64[s]"))[0]
        == (datetime.date(2024, 1, 1) - datetime.date(1066, 10, 14)).days
    )


def test_zones_do_not_mix():
    aware, naive = FORMS["pandas zone"], FORMS["pandas ns"]
    model = quiet_fit(aware, VALUES, **QUICK)
    same_instants = pandas.DataFrame({"when": aware["when"].dt.tz_convert("America/Lima")})
    np.testing.assert_array_equal(model.predict(aware), model.predict(same_instants))
    with pytest.raises(StatementError, match="'when' of X has no time zone, but there was one in the fit"):
        model.predict(naive)
    with pytest.raises(StatementError, match="'when' of X has a time zone, but there was none in the fit"):
        quiet_fit(naive, VALUES, **QUICK).predict(aware)
    mixed = [[datetime.datetime(2024, 1, 1)], [datetime.datetime(2024, 1, 2, tzinfo=datetime.UTC)]]
    with pytest.raises(StatementError, match="with and without a time zone"):
        quiet_fit(mixed, VALUES[:2], **QUICK)


def test_dates_beside_numbers(plain):
    rng = np.random.default_rng(0)
    other = rng.uniform(size=40)
    frame = pandas.DataFrame({"heat": other, "when": DATES})
    model = quiet_fit(frame, VALUES, **QUICK)
    assert model.dates_[0] is None and model.feature_names_in_.tolist() == ["heat", "when"]
    numbers = quiet_fit(np.c_[other, DAYS], VALUES, **QUICK)
    np.testing.assert_array_equal(model.predict(frame), numbers.predict(np.c_[other, DAYS]))
    with pytest.raises(StatementError, match="column 'heat' of X holds dates, but it held numbers in the fit"):
        model.predict(pandas.DataFrame({"heat": DATES, "when": DATES}))


def test_the_file_remembers(tmp_path, plain):
    model = quiet_fit(FORMS["pandas ns"], VALUES, **QUICK)
    model.save(tmp_path / "m.npz")
    same = porbnet.load(tmp_path / "m.npz")
    assert same.dates_ == model.dates_
    np.testing.assert_array_equal(same.predict(FORMS["pandas us"]), model.predict(FORMS["pandas ns"]))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = same.fit(DAYS[:, None], VALUES)  # a second fit without dates forgets
    assert not hasattr(again, "dates_")


def test_checkpoints_remember(tmp_path):
    model = quiet_fit(FORMS["pandas ns"], VALUES, **QUICK, checkpoint=tmp_path / "c")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = porbnet.resume(tmp_path / "c", n_jobs=1, progress=False)
    assert again.dates_ == model.dates_


def test_a_file_with_odd_dates_is_refused():
    sound = encode((Calendar(18690, 0, "days"), None))
    assert decode(sound, 2) == (Calendar(18690, 0, "days"), None)
    for name, value in (("unit", "weeks"), ("day", 1e9), ("day", "x"), ("nanosecond", -1), ("zoned", 1)):
        with pytest.raises(StatementError):
            decode([sound[0] | {name: value}, None], 2)
    for value in (None, [], [1, 2], [{}, None], sound[:1]):
        with pytest.raises(StatementError):
            decode(value, 2)


def test_lengthscale_and_region_in_time(tmp_path):
    spans = (datetime.timedelta(days=30), np.timedelta64(720, "h"), pandas.Timedelta(30, "D"))
    regions = (("2021-01-01", "2022-01-01"), (datetime.date(2021, 1, 1), datetime.date(2022, 1, 1)))
    for lengthscale in spans:
        model = quiet_fit(DATES[:, None], VALUES, **(QUICK | {"lengthscale": lengthscale}), region=regions[0])
        np.testing.assert_allclose(model.lengthscale_at(LATER[:, None]).mean, 30.0)
    model = quiet_fit(DATES[:, None], VALUES, **QUICK, region=regions[1])
    assert model.prior_.region.bounds.tolist() == [[-62.0, 303.0]]
    model.save(tmp_path / "m.npz")
    assert porbnet.load(tmp_path / "m.npz").region == [[-62.0, 303.0]]
    with pytest.raises(StatementError, match=r"lengthscale=.*a time span needs one input, of dates"):
        quiet_fit(DAYS[:, None], VALUES, **(QUICK | {"lengthscale": spans[0]}))


REFUSED = {
    "missing": (pandas.DataFrame({"when": [*DATES[:39], None]}), "'when' of X has 1 missing date.s. .row 40."),
    "spans": (pandas.DataFrame({"when": DATES - DATES[0]}), "'when' of X holds time spans"),
    "spans of polars": (
        polars.DataFrame({"when": (DATES - DATES[0]).astype("timedelta64[us]")}),
        "'when' of X holds time spans",
    ),
    "spans of numpy": ((DATES - DATES[0])[:, None], "holds time spans"),
    "periods": (pandas.DataFrame({"when": pandas.Series(DATES).dt.to_period("M")}), "to_timestamp"),
    "one dimension": (DATES, "has one dimension"),
    "category": (pandas.DataFrame({"site": pandas.Series(["a", "b"] * 20).astype("category")}), "OneHotEncoder"),
    "category of numbers": (pandas.DataFrame({"site": pandas.Series([1, 2] * 20).astype("category")}), "'site' of X"),
    "category of polars": (polars.DataFrame({"site": ["a", "b"] * 20}, schema={"site": polars.Categorical}), "'site'"),
    "text": (pandas.DataFrame({"site": ["north", "south"] * 20}), "'site' of X holds text .'north'.: encode it"),
    "text of polars": (polars.DataFrame({"site": ["north", "south"] * 20}), "'site' of X holds text"),
    "text among numbers": (np.array([[1.0], ["x"]] * 20, dtype=object), "holds text .'x'."),
    "no such day": (pandas.DataFrame({"when": [*TEXT[:39], "2021-02-30"]}), "'2021-02-30' in row 40"),
    "masked": (np.ma.masked_less(DAYS[:, None], 1.0), "X is a masked array with 1 masked value"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_by_name(name):
    X, message = REFUSED[name]
    with pytest.raises(StatementError, match=message):
        porbnet.PoRBNetRegressor(**SHORT).fit(X, VALUES)


@pytest.mark.parametrize("name", ["masked", "text", "spans"])
def test_refused_when_predicting(name, plain):
    with pytest.raises(StatementError, match=REFUSED[name][1]):
        plain.predict(REFUSED[name][0])


def test_masked_outputs_weights_and_noise():
    masked = np.ma.masked_less(VALUES, 0.0)
    model = porbnet.PoRBNetRegressor(**SHORT)
    with pytest.raises(StatementError, match=r"y is a masked array with .* masked values"):
        model.fit(DAYS[:, None], masked)
    with pytest.raises(StatementError, match="sample_weight is a masked array"):
        model.fit(DAYS[:, None], VALUES, np.ma.masked_less(np.arange(40.0), 3.0))
    with pytest.raises(StatementError, match="noise is a masked array"):
        model.set_params(noise=np.ma.masked_less(np.arange(40.0), 3.0)).fit(DAYS[:, None], VALUES)
    nothing_masked = np.ma.masked_array(DAYS[:, None])
    assert quiet_fit(nothing_masked, VALUES, **QUICK).n_features_in_ == 1


@pytest.mark.parametrize("y", [DATES, pandas.Series(DATES), list("ab" * 20), pandas.Series(["a", "b"] * 20)])
def test_outputs_that_are_no_numbers(y):
    with pytest.raises(StatementError, match=r"y holds .*: it must be numbers"):
        porbnet.PoRBNetRegressor(**SHORT).fit(DAYS[:, None], y)


@pytest.mark.parametrize(
    ("cells", "first", "remark"),
    [
        (["2024-03-31", "2024-04-01"], "2024-03-31", ""),
        (["2024-03"], "2024-03-01", ""),
        (["2024-03-31T12:00", "2024-04-01 13:00:01.5"], "2024-03-31T12:00", ""),
        (["2024-03-31T12:00:00Z"], "2024-03-31T12:00", ""),
        (["2024-03-31 12:00:00+02:00", "2024-03-31 12:00:00 UTC"], "2024-03-31T10:00", ""),
        (["31.3.2024", "1.4.2024"], "2024-03-31", ""),
        (["31/03/2024 8:15"], "2024-03-31T08:15", ""),
        (["3/31/2024", "4/1/2024"], "2024-03-31", "month first"),
        (["04/03/2024"], "2024-03-04", "day first, as 2024-03-04"),
    ],
)
def test_dates_in_words(cells, first, remark):
    found = read_dates(cells)
    assert found.instants[0] == np.datetime64(first) and remark in found.remark and bool(remark) == bool(found.remark)


def test_dates_that_are_none():
    for cells, row in ((["2024-01-01", "soon"], 1), (["31/12/2024", "12/31/2024"], 1), (["2024-02-30"], 0)):
        with pytest.raises(NotADate, match="not a date") as caught:
            read_dates(cells)
        assert caught.value.row == row
    with pytest.raises(NotADate, match="time zone"):
        read_dates(["2024-01-01T00:00", "2024-01-01T00:00Z"])
    assert np.isnat(read_dates([None, "2024-01-01"]).instants[0])


def test_a_file_with_dates_of_another_kind_is_refused(tmp_path):
    from porbnet.storage import archive
    from porbnet.storage.model import KIND, VERSION

    model = quiet_fit(DATES[:, None], VALUES, **QUICK)
    model.save(tmp_path / "m.npz")
    found = archive.read(tmp_path / "m.npz", KIND, VERSION)
    header = found.header | {"dates": [{"day": 0}]}
    archive.write(tmp_path / "m.npz", KIND, VERSION, header, found.arrays)
    with pytest.raises(ModelFileError, match="dates"):
        porbnet.load(tmp_path / "m.npz")
