"""Pictures by the number of inputs: maps of two, partial dependence and slices of more; axes of dates."""

import typing

import numpy as np
import pytest
from fit_tools import model as shared_fit
from fit_tools import quiet_fit, wave

import porbnet
from porbnet.cli import document, pictures
from porbnet.errors import StatementError
from porbnet.posterior.record import learned, places_of

plt = pytest.importorskip("matplotlib.pyplot")
from porbnet import plot  # noqa: E402

QUICK = {"n_warmup": 20, "n_draws": 20, "n_chains": 1, "lengthscale": "constant"}


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def three():
    X, y = wave(n_dims=3)
    return quiet_fit(X, y, **QUICK)


@pytest.fixture(scope="module")
def dated():
    days = np.arange(0, 120, 3)
    dates = np.datetime64("2024-01-01") + days.astype("timedelta64[D]")
    noise = 0.1 * np.random.default_rng(0).standard_normal(len(days))
    return quiet_fit(dates[:, None], np.sin(days / 15.0) + noise, **QUICK)


def test_maps_show_the_fit():
    model = shared_fit("learned", n_dims=2)
    X, y = wave(n_dims=2)
    axes = plot.maps(model, X, y, n_side=6)
    titles = [ax.get_title(loc="left") for ax in axes]
    assert titles == ["mean", "sd of f", "lengthscale", "noise sd"]
    sides = [np.linspace(*plot.style.reach(model, d), 6) for d in range(2)]
    places = np.stack(np.meshgrid(*sides, indexing="ij"), axis=-1).reshape(-1, 2)
    mean, sd = model.predict(places, return_std=True, of="f")
    for ax, expected in zip(axes, (mean, sd, np.median(model.posterior_.lengthscale(places), axis=0)), strict=False):
        shown = ax.collections[0].get_array().reshape(6, 6).T.ravel()
        np.testing.assert_allclose(shown, expected)
    dots = axes[0].collections[1]
    np.testing.assert_allclose(np.sort(dots.get_array()), np.sort(y))  # in the colour of their output
    assert all(len(ax.collections[-1].get_offsets()) == len(X) for ax in axes)
    assert "everywhere" in axes[3].texts[0].get_text()  # one noise is told, not drawn
    with pytest.raises(StatementError, match="maps are for two"):
        plot.maps(shared_fit())
    with pytest.raises(StatementError, match="four Axes"):
        plot.maps(model, axes=plt.subplots(1, 3)[1])


def test_partial_dependence_is_an_average(three):
    X, y = wave(n_dims=3)
    axes = plot.partial_dependence(three, X[:7], y[:7])
    assert [ax.get_xlabel() for ax in axes] == ["x1", "x2", "x3"] and axes[0].get_ylabel() == "y"
    x, shown = axes[1].lines[0].get_data()
    points = X[:7].copy()
    points[:, 1] = x[10]
    by_hand = np.median(three.sample_f(points, len(three.posterior_)).mean(axis=0))
    assert shown[10] == pytest.approx(by_hand)
    assert len(plot.partial_dependence(three, inputs=[0, 2])) == 2
    with pytest.raises(StatementError, match="inputs="):
        plot.partial_dependence(three, inputs=[3])
    with pytest.raises(StatementError, match="coverage="):
        plot.partial_dependence(three, coverage=2.0)


def test_slices_cross_where_they_are_told(three):
    axes = plot.slices(three, at=[0.2, 0.4, 0.6])
    x, shown = axes[2].lines[0].get_data()
    np.testing.assert_allclose(shown, three.predict(np.c_[np.full_like(x, 0.2), np.full_like(x, 0.4), x]))
    assert len(plot.slices(three)) == 3


@pytest.mark.filterwarnings("ignore:units_per_lengthscale lowered")
def test_many_inputs_are_the_nine_that_matter():
    X, y = wave(n=30, n_dims=11)
    model = quiet_fit(X, y, **QUICK)
    assert len(plot.partial_dependence(model)) == 9 and len(plot.slices(model)) == 9


def test_the_picture_that_suits(three, dated):
    assert len(shared_fit().plot()) == 3
    assert shared_fit("constant", n_dims=2).plot()[0].get_title(loc="left") == "mean"
    assert len(three.plot()) == 3
    assert pictures.kinds_of(three) == ("partial", "slices", "width")
    with pictures.canvas():
        with pytest.raises(StatementError, match="--kind='maps' is not allowed: of a fit of 3"):
            pictures.figure(three, "maps")
        for kind in ("partial", "slices", "width"):
            assert pictures.figure(three, kind).axes
        assert pictures.figure(shared_fit("constant", n_dims=2), "maps").axes


def test_axes_of_dates(dated):
    axes = dated.plot()
    axes[0].figure.canvas.draw()
    labels = [t.get_text() for t in axes[2].get_xticklabels()]
    assert "2024" in labels and "Feb" in labels
    assert axes[1].get_ylabel() == "lengthscale (days)"
    ax = plot.fit(dated, np.array(["2024-02-01"], dtype="datetime64[D]"), [0.5], grid=["2024-01-10", "2024-03-01"])
    assert ax.get_xlim() == pytest.approx(tuple(plt.matplotlib.dates.date2num(["2024-01-10", "2024-03-01"])))
    assert plot.intensity(dated).get_ylabel() == "intensity (units per day)"
    days = np.random.default_rng(0).uniform(0, 90, size=(20, 1))
    X = np.array([[np.datetime64("2024-01-01") + int(d), float(i % 5)] for i, d in enumerate(days[:, 0])], dtype=object)
    y = np.random.default_rng(1).standard_normal(20)
    axes = plot.maps(quiet_fit(X, y, **QUICK), X, y, n_side=5)
    axes[0].figure.canvas.draw()
    assert "Feb" in [t.get_text() for t in axes[2].get_xticklabels()]


def test_names_are_not_mathematics():
    model = quiet_fit(*wave(), **QUICK)
    model.labels_ = ["cost_$ / price_$", "$y_{"]
    for ax in model.plot():
        ax.figure.canvas.draw()
    assert model.plot()[0].get_ylabel() == r"\$y_{"


@pytest.mark.parametrize("n_dims", [2, 3])
def test_notebooks_show_every_fit(n_dims):
    X, y = wave(n_dims=n_dims)
    text = quiet_fit(X, y, **QUICK)._repr_html_()
    assert "data:image/png" in text and text.count("overflow-wrap: anywhere") == 2
    assert ("maps of mean" in text) == (n_dims == 2)


def test_lines_of_a_summary_are_not_long(three):
    assert max(map(len, three.summary().splitlines())) <= 110


def test_one_definition_of_the_lengthscale():
    """The command's table, the summary in Python and the picture tell the same of the same draws."""
    model = shared_fit("learned")
    (row,) = [r for r in learned(model.posterior_) if r.name == "lengthscale"]
    found = document.record(model)["lengthscale"]
    assert (found["median"], found["lower"], found["upper"]) == (row.median, row.lower, row.upper)
    line = next(text for text in model.summary().splitlines() if text.startswith("lengthscale"))
    assert line.split()[1:] == [f"{v:.4g}" for v in (row.median, row.lower, row.upper)]
    ax = plot.lengthscale(model, np.unique(places_of(model.posterior_)[:, 0]))
    shown = ax.lines[0].get_ydata()
    np.testing.assert_allclose(found["over_inputs"], [shown.min(), shown.max()])


def test_dates_in_the_text(dated):
    assert "x counts days since 2024-01-01" in dated.summary()
    line = next(text for text in dated.summary().splitlines() if text.startswith("lengthscale"))
    assert line.endswith(" days")
    assert document.record(dated)["dates"] == {"x": {"unit": "days", "origin": "2024-01-01", "zone": None}}


def test_arviz_from_the_model():
    pytest.importorskip("arviz_base")
    assert "posterior" in shared_fit().to_arviz(n_prior=0).children


def test_editors_know_the_parameters():
    hints = typing.get_type_hints(porbnet.PoRBNetRegressor.__init__)
    assert not [name for name in ("lengthscale", "amplitude", "noise", "bias", "region") if hints[name] is typing.Any]
