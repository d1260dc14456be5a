"""Pictures: what is drawn and labelled, on which axes; not pixels."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from fit_tools import model, wave
from matplotlib.colors import to_hex

from porbnet import Gamma, PoRBNetRegressor, Prior, plot
from porbnet.errors import StatementError
from porbnet.intensity import SigmoidGP, UnknownConstant
from porbnet.statement.function_prior import FunctionPrior

PRIOR = Prior(lengthscale=0.4, amplitude=2.0, bias=0.5, region=(-2.0, 2.0))
PICTURES = {
    "prior_draws": lambda prior, **kw: plot.prior_draws(prior, n=3, **kw),
    "prior_variance": plot.prior_variance,
    "covariogram": plot.covariogram,
    "upcrossing_histogram": lambda prior, **kw: plot.upcrossing_histogram(prior, n=20, **kw),
    "lengthscale": plot.lengthscale,
}


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def labels(ax):
    return ax.get_legend_handles_labels()[1]


@pytest.mark.parametrize("name", PICTURES)
def test_given_axes_come_back_and_no_figure_is_made(name):
    _, ax = plt.subplots()
    assert PICTURES[name](PRIOR, ax=ax) is ax
    assert len(plt.get_fignums()) == 1
    assert ax.get_xlabel() and ax.get_ylabel() and labels(ax)


@pytest.mark.parametrize("name", PICTURES)
def test_without_axes_a_figure_is_made(name):
    ax = PICTURES[name](PRIOR)
    assert ax.figure.number in plt.get_fignums()
    assert not ax.spines["top"].get_visible()


@pytest.mark.parametrize("name", PICTURES)
def test_two_inputs_are_refused(name):
    flat = Prior(lengthscale=0.5, amplitude=1.0, region=[(0, 1), (0, 1)])
    with pytest.raises(StatementError, match="prior has 2 input dimensions"):
        PICTURES[name](flat)
    assert not plt.get_fignums()


def test_draws_are_the_priors_draws_over_its_band():
    X = np.linspace(-1, 1, 50)
    ax = plot.prior_draws(PRIOR, X, n=7, random_state=5)
    drawn = np.array([line.get_ydata() for line in ax.lines])
    np.testing.assert_array_equal(drawn, PRIOR.sample(X, 7, random_state=5))
    band = ax.collections[0].get_paths()[0].vertices[:, 1]
    np.testing.assert_allclose(band.max(), 2 * np.sqrt(PRIOR.variance(X).max()))
    assert labels(ax) == ["±2 sd", "draws"] and ax.get_xlim() == (-1.0, 1.0)


def test_the_region_is_the_default_range():
    assert plot.prior_draws(PRIOR, n=1).get_xlim() == (-2.0, 2.0)


def test_variance_by_formula_and_by_draws():
    X = np.linspace(-1, 1, 20)
    ax = plot.prior_variance(PRIOR, X, n=4000, random_state=2)
    formula, estimate = (line.get_ydata() for line in ax.lines)
    np.testing.assert_array_equal(formula, PRIOR.variance(X))
    np.testing.assert_allclose(estimate, np.mean(PRIOR.sample(X, 4000, random_state=2) ** 2, axis=0))
    assert labels(ax) == ["formula", "4,000 draws"] and ax.get_ylim()[0] == 0.0
    assert len(plot.prior_variance(PRIOR, X).lines) == 1


def test_covariogram_has_a_line_per_gap():
    X = np.linspace(-1, 1, 11)
    ax = plot.covariogram(PRIOR, gaps=(0.0, 0.5), X=X)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), PRIOR.variance(X))
    expected = [PRIOR.covariance([x - 0.25], [x + 0.25])[0, 0] for x in X]
    np.testing.assert_allclose(ax.lines[1].get_ydata(), expected)
    assert labels(ax) == ["h = 0", "h = 0.5"]
    assert ax.lines[0].get_color() != ax.lines[1].get_color()


@pytest.mark.parametrize("gaps", [(), (-1.0,), ("a",), 1.0, (np.nan,)])
def test_bad_gaps_are_refused(gaps):
    with pytest.raises(StatementError, match="gaps="):
        plot.covariogram(PRIOR, gaps=gaps)


def test_histogram_shares_sum_to_one_and_mark_both_means():
    ax = plot.upcrossing_histogram(PRIOR, interval=(-1.0, 1.0), n=200, random_state=1)
    assert sum(bar.get_height() for bar in ax.patches) == pytest.approx(1.0)
    mean, rice = (line.get_xdata()[0] for line in ax.lines)
    assert mean == pytest.approx(PRIOR.upcrossing_counts((-1.0, 1.0), n=200, random_state=1).mean())
    assert rice == pytest.approx(PRIOR.upcrossings((-1.0, 1.0)))
    assert f"{rice:.2f}" in labels(ax)[0]  # the line comes before the bars
    assert f"{mean:.2f}" in labels(ax)[1]
    assert labels(plot.upcrossing_histogram(PRIOR, n=20, label="mine"))[1] == "mine"


def test_known_lengthscale_is_one_line():
    ax = plot.lengthscale(PRIOR)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), 0.4)
    assert labels(ax) == ["lengthscale"] and not ax.collections
    assert ax.get_yscale() == "linear" and ax.get_ylim()[0] == 0.0


@pytest.mark.parametrize(
    "intensity",
    [
        UnknownConstant.about(5.0, 1.3),
        SigmoidGP(upper=10.0, variance=1.0, lengthscale=1.0),
        SigmoidGP(upper=Gamma(4.0, 0.4), variance=1.0, lengthscale=1.0),
    ],
    ids=["constant", "sigmoid", "sigmoid-gamma"],
)
def test_unknown_lengthscale_has_its_quantile_band(intensity):
    prior = Prior(lengthscale=intensity, amplitude=1.0, region=(0.0, 4.0))
    X = np.linspace(0.0, 4.0, 5)
    ax = plot.lengthscale(prior, X, coverage=0.5)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), prior.lengthscale_at(X))
    edges = np.unique(np.round(ax.collections[0].get_paths()[0].vertices[:, 1], 9))
    np.testing.assert_allclose(edges, prior.lengthscale_at([0.0], quantiles=[0.25, 0.75])[0], rtol=1e-7)
    assert labels(ax) == ["prior median", "50% of the prior"]


def test_a_wide_range_of_lengthscales_gets_a_logarithmic_axis():
    prior = Prior(lengthscale=UnknownConstant.about(1.0, 10.0), amplitude=1.0, region=(0.0, 4.0))
    assert plot.lengthscale(prior).get_yscale() == "log"


@pytest.mark.parametrize("coverage", [0.0, 1.0, -0.5, np.nan])
def test_bad_coverage_is_refused(coverage):
    with pytest.raises(StatementError, match="coverage="):
        plot.lengthscale(PRIOR, coverage=coverage)


@pytest.mark.parametrize("X", [[1.0], [1.0, 0.0], [0.0, 0.0], [0.0, np.nan]])
def test_inputs_must_increase(X):
    with pytest.raises(StatementError, match="X="):
        plot.prior_draws(PRIOR, X)


def test_a_prior_without_region_needs_inputs():
    class Line(FunctionPrior):
        n_dims = 1

        def sample_chunks(self, X, n, random_state=None):
            yield np.zeros((n, len(X)))

        def covariance(self, X1, X2=None):
            return np.ones((len(X1), len(X1)))

        def variance(self, X):
            return np.ones(len(X))

        def point_moments(self, X):
            raise NotImplementedError

    with pytest.raises(StatementError, match="Line has no region"):
        plot.prior_draws(Line())
    with pytest.raises(StatementError, match="interval=None"):
        plot.upcrossing_histogram(Line())
    assert len(plot.prior_draws(Line(), [0.0, 1.0], n=2).lines) == 2


def test_colours_are_the_callers_choice():
    ax = plot.prior_draws(PRIOR, n=1, color=plot.PALETTE["purple"])
    assert to_hex(ax.lines[0].get_color()).upper() == plot.PALETTE["purple"]
    assert len(set(plot.PALETTE.values())) == 8


def test_the_module_itself_needs_no_matplotlib():
    code = "import sys, porbnet.plot; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- fits ----------------------------------------------------------------------------------------------------------


def test_fit_shows_mean_bands_data_and_units():
    fitted = model()
    X, y = wave()
    ax = plot.fit(fitted, X, y, coverage=0.5)
    assert labels(ax) == ["50% of y", "50% of f", "mean of f", "data", "units"]
    mean, data, units = ax.lines
    grid = mean.get_xdata()[:, None]
    np.testing.assert_array_equal(mean.get_ydata(), fitted.predict(grid))
    np.testing.assert_array_equal(data.get_ydata(), y)
    assert grid[0] < X.min() and grid[-1] > X.max() and ax.get_xlim() == (grid[0, 0], grid[-1, 0])
    for band, of in zip(ax.collections, ("y", "f"), strict=True):
        vertices = band.get_paths()[0].vertices[:, 1]
        interval = fitted.predict_interval(grid, 0.5, of=of)
        np.testing.assert_allclose([vertices.min(), vertices.max()], [interval.min(), interval.max()])
    centers = np.concatenate([n.centers[:, 0] for n in fitted.sample_functions(30)])
    assert set(units.get_xdata()) <= set(centers) and len(units.get_xdata()) > 100


def test_fit_without_data_or_rug_on_a_grid_of_ones_own():
    ax = plot.fit(model(), grid=[0.1, 0.2, 0.5], n_rug=0)
    assert labels(ax) == ["90% of y", "90% of f", "mean of f"] and ax.get_xlim() == (0.1, 0.5)
    assert not ax.spines["top"].get_visible()


def test_width_shows_its_distribution():
    ax = plot.width(model())
    heights = {round(p.get_x() + 0.5): p.get_height() for p in ax.patches}
    assert heights == pytest.approx(model().width_distribution())
    assert f"mean, {model().posterior_.n_units.mean():.1f}" in labels(ax)


def test_fits_are_drawn_on_given_axes():
    _, axes = plt.subplots(1, 2)
    assert plot.fit(model(), ax=axes[0]) is axes[0] and plot.width(model(), ax=axes[1]) is axes[1]
    assert len(plt.get_fignums()) == 1


def test_fits_that_cannot_be_drawn_are_refused():
    from sklearn.exceptions import NotFittedError

    with pytest.raises(StatementError, match="model has 2 inputs"):
        plot.fit(model("constant", 2))
    with pytest.raises(NotFittedError):
        plot.fit(PoRBNetRegressor())
    with pytest.raises(StatementError, match=r"grid=.*increasing"):
        plot.fit(model(), grid=[1.0, 0.0])
    with pytest.raises(StatementError, match="coverage=2"):
        plot.fit(model(), coverage=2.0)
    assert plot.width(model("constant", 2))


def test_curves_are_three_panels():
    X, y = wave()
    axes = plot.curves(model("learned"), X, y)
    assert [ax.get_ylabel() for ax in axes] == ["y", "lengthscale", "noise sd"]
    assert axes[1].get_yscale() == "log" and len(axes[2].lines) == 1
    _, given = plt.subplots(3, 1)
    assert list(plot.curves(model("learned"), axes=given)) == list(given)
    with pytest.raises(StatementError, match="axes="):
        plot.curves(model("learned"), axes=given[:2])


@pytest.mark.parametrize("kind", ["lengthscale", "intensity", "noise"])
def test_what_was_learned_is_a_median_in_a_band(kind):
    fitted = model("learned")
    grid = np.linspace(0.1, 0.9, 7)
    _, given = plt.subplots()
    ax = getattr(plot, kind)(fitted, grid, coverage=0.5, ax=given)
    curve = {"noise": fitted.posterior_.noise_at}.get(kind, getattr(fitted.posterior_, kind))
    draws = curve(grid[:, None])
    np.testing.assert_allclose(ax.lines[0].get_ydata(), np.median(draws, axis=0))
    shown = ax.collections[0].get_paths()[0].vertices[:, 1]
    low, high = np.quantile(draws, [0.25, 0.75], axis=0)
    np.testing.assert_allclose([shown.min(), shown.max()], [low.min(), high.max()])
    assert ax is given and labels(ax) == ["posterior median", "50% of the posterior"]


def test_a_stated_curve_is_a_line():
    ax = plot.intensity(PRIOR)
    np.testing.assert_allclose(ax.lines[0].get_ydata(), PRIOR.intensity_at(ax.lines[0].get_xdata()))
    assert not ax.collections and labels(ax) == ["intensity"]


def test_pit_is_the_predictive_distribution_function():
    fitted = model()
    X, y = wave(30, seed=8)
    ax = plot.pit(fitted, X, y, n_bins=5)
    values = (fitted.predict_quantiles(X, np.linspace(0.001, 0.999, 999)) < y[:, None]).mean(axis=1)
    heights = np.array([bar.get_height() for bar in ax.patches if bar.get_width() == pytest.approx(0.2)])
    np.testing.assert_allclose(heights, np.histogram(values, np.linspace(0, 1, 6))[0] * 5 / 30, atol=0.17)
    assert labels(ax) == ["95% if calibrated", "observations"]
    with pytest.raises(StatementError, match="n_bins=1"):
        plot.pit(fitted, X, y, n_bins=1)
    with pytest.raises(StatementError, match=r"y=.*must be 30"):
        plot.pit(fitted, X, y[:5])


def test_coverage_is_the_share_inside_central_intervals():
    fitted = model()
    X, y = wave(30, seed=8)
    line = plot.coverage(fitted, X, y).lines[-1]
    for stated in (0.2, 0.5, 0.9):
        low, high = fitted.predict_interval(X, stated).T
        assert np.interp(stated, *line.get_data()) == pytest.approx(np.mean((low <= y) & (y <= high)), abs=0.034)


@pytest.mark.parametrize("kind", ["trace", "rank"])
def test_pictures_of_chains(kind):
    pytest.importorskip("arviz_plots")
    fitted = model("learned")
    axes = getattr(plot, kind)(fitted, ["width", "noise"])
    assert [ax.get_title() for ax in axes] == ["width", "noise"]
    colors = {to_hex(line.get_color()).upper() for line in axes[0].lines}
    assert {plot.PALETTE["blue"], plot.PALETTE["vermillion"]} <= colors
    if kind == "trace":
        drawn = sorted(tuple(line.get_ydata()) for line in axes[0].lines if len(line.get_ydata()) == 60)
        assert drawn == sorted(map(tuple, fitted.posterior_.by_chain(fitted.posterior_.n_units)))
    assert len(getattr(plot, kind)(fitted)) == 3 + 3 + 3  # f, width, noise, amplitude, lengthscale
    with pytest.raises(StatementError, match="names='depth'"):
        getattr(plot, kind)(fitted, ["depth"])


def test_pictures_of_chains_name_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_plots", None)
    with pytest.raises(ImportError, match=r"pip install \"porbnet\[arviz\]\""):
        plot.trace(model())


def test_many_widths_share_bars():
    class Spread:
        class posterior_:
            n_units = np.array([20, 300])

        def width_distribution(self):
            return {n: 1.0 / 281 for n in range(20, 301)}

    ax = plot.width(Spread())
    heights = [bar.get_height() for bar in ax.patches]
    assert len(heights) <= 61 and sum(heights) == pytest.approx(1.0)
    assert ax.get_ylabel() == "probability of 5 widths"
