"""Each intensity: value, gradient, integral, draws, and what it refuses."""

import pickle

import numpy as np
import pytest
from scipy import stats
from scipy.special import digamma, polygamma

from porbnet import LogNormal
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.functions import quadrature
from porbnet.intensity import Constant, FromFunction, Gamma, Piecewise, SigmoidGP, Tabulated, UnknownConstant
from porbnet.intensity.constant import gamma_nodes


def wave(X):
    return 3.0 + np.sin(2.0 * X).sum(axis=1)


def boxes(n_dims):
    return Region.of([(-1.0, 1.0), (0.0, 1.5), (0.5, 2.0)][:n_dims])


def tabulated(n_dims):
    shape = (5, 4, 6)[:n_dims]
    return Tabulated(boxes(n_dims), np.random.default_rng(4).uniform(1.0, 5.0, shape))


def piecewise(n_dims):
    breaks = [[-0.3, 0.2], [1.1], [0.9, 1.0, 1.8]][:n_dims]
    values = np.random.default_rng(5).uniform(1.0, 9.0, [len(b) + 1 for b in breaks])
    return Piecewise(breaks[0] if n_dims == 1 else breaks, values)


KNOWN = {
    "constant": lambda n_dims: Constant(2.5),
    "piecewise": piecewise,
    "function": lambda n_dims: FromFunction(wave).on(boxes(n_dims)),
    "tabulated": tabulated,
}


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize("kind", KNOWN)
class TestKnown:
    def test_gradient_against_finite_differences(self, kind, n_dims, seed):
        intensity, region = KNOWN[kind](n_dims), boxes(n_dims)
        X = region.uniform(40, np.random.default_rng(seed))
        step = 1e-6
        for d in range(n_dims):
            ahead, behind = X.copy(), X.copy()
            ahead[:, d] += step
            behind[:, d] -= step
            slope = (intensity.value(ahead) - intensity.value(behind)) / (2.0 * step)
            np.testing.assert_allclose(intensity.gradient(X)[:, d], slope, atol=1e-6)

    def test_integral_against_quadrature(self, kind, n_dims):
        intensity, region = KNOWN[kind](n_dims), boxes(n_dims)
        breaks = [intensity.breaks(d) for d in range(n_dims)]
        if kind == "tabulated":
            breaks = [np.linspace(*region.bounds[d], n)[1:-1] for d, n in enumerate(intensity.values.shape)]
        nodes, weights = quadrature.box_rule(region, [4] * n_dims, breaks)
        assert intensity.integral(region) == pytest.approx(weights @ intensity.value(nodes), rel=1e-8)

    def test_draws_are_the_poisson_process(self, kind, n_dims, seed):
        """Counts in two halves are Poisson with the right means: 4 standard errors, false alarms 1 in 4,000."""
        intensity, region, n = KNOWN[kind](n_dims), boxes(n_dims), 20_000
        units = intensity.sample_units(region, n, np.random.default_rng(seed))
        assert region.contains(units.centers).all()
        np.testing.assert_allclose(units.levels, intensity.value(units.centers), rtol=1e-12)
        half = Region(region.low, np.concatenate([[0.05], region.high[1:]]))
        inside = half.contains(units.centers)
        counts = np.bincount(np.repeat(np.arange(n), units.counts)[inside], minlength=n)
        mean = intensity.integral(half)
        assert abs(counts.mean() - mean) < 4.0 * np.sqrt(mean / n)
        # variance of a Poisson count's sample variance is about (μ + 2μ²) / n
        assert abs(counts.var() - mean) < 4.0 * np.sqrt((mean + 2.0 * mean**2) / n)

    def test_bound_holds(self, kind, n_dims, seed):
        intensity, region = KNOWN[kind](n_dims), boxes(n_dims)
        X = region.uniform(2000, np.random.default_rng(seed))
        assert intensity.value(X).max() <= intensity.upper_bound(region)

    def test_is_its_own_draw_and_can_be_pickled(self, kind, n_dims):
        intensity, region = KNOWN[kind](n_dims), boxes(n_dims)
        assert intensity.known and intensity.draw(region) == intensity
        assert pickle.loads(pickle.dumps(intensity)) == intensity
        assert hash(pickle.loads(pickle.dumps(intensity))) == hash(intensity)
        with pytest.raises(TypeError, match="is known"):
            intensity.level_quantiles(np.array([0.5]))

    def test_one_draw(self, kind, n_dims, seed):
        intensity, region = KNOWN[kind](n_dims), boxes(n_dims)
        centers = intensity.sample(region, seed)
        assert centers.shape[1] == n_dims
        np.testing.assert_array_equal(centers, intensity.sample(region, seed))


def test_unequal_intensities_are_unequal():
    assert Constant(1.0) != Constant(2.0) and Constant(1.0) != 1.0
    assert Tabulated((0, 1), [1.0, 2.0]) != Tabulated((0, 1), [1.0, 3.0])
    assert Piecewise([0.5], [1.0, 2.0]) != Piecewise([0.6], [1.0, 2.0])
    assert SigmoidGP(1.0, 1.0, [0.123456789, 1.0]) != SigmoidGP(1.0, 1.0, [0.12345678901, 1.0])
    assert UnknownConstant(1.0, 2.0) == UnknownConstant(1.0, 2.0)


# --- constant ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [0.01, 0.1, 0.53, 2.0, 50.0, 1110.9, 9.9e3, 1.01e4, 1e8, 1e12])
def test_gamma_quadrature(shape):
    """Moments of the levels √t; the mean square is exact, values far below the largest add nothing."""
    probabilities, squares = gamma_nodes(Gamma(shape, 3.0))
    assert probabilities.sum() == pytest.approx(1.0, abs=1e-9 if shape > 0.5 else 1.0)
    assert probabilities @ squares == pytest.approx(shape / 3.0, rel=1e-9)
    assert probabilities @ np.sqrt(squares) == pytest.approx(UnknownConstant(shape, 3.0).mean_level, rel=1e-9)


@pytest.mark.parametrize("factor", [1.0 + 1e-9, 1.05, 3.0, 10.0, 1e6])
def test_about(factor):
    """Mean and sd of log λ; a factor next to one is as good as known."""
    intensity = UnknownConstant.about(7.0, factor)
    shape, rate = intensity.square.shape, intensity.square.rate
    assert 0.5 * (digamma(shape) - np.log(rate)) == pytest.approx(np.log(7.0), abs=1e-9)
    if factor > 1.0 + 1e-5:
        assert 0.5 * np.sqrt(polygamma(1, shape)) == pytest.approx(np.log(factor), rel=1e-8)


def test_unknown_constant_draws(seed):
    intensity = UnknownConstant(8.0, 0.5)
    draw = intensity.draw((0.0, 1.0), seed)
    assert isinstance(draw, Constant) and not intensity.known
    assert draw == intensity.draw((0.0, 1.0), seed)
    np.testing.assert_allclose(
        intensity.level_quantiles(np.array([0.1, 0.5])) ** 2, stats.gamma(8.0, scale=2.0).ppf([0.1, 0.5]), rtol=1e-10
    )
    levels = intensity.sample_units(Region.of((0, 1)), 100, np.random.default_rng(seed))
    assert len(levels.levels) == levels.counts.sum()
    assert UnknownConstant(1e-6, 1.0).draw((0, 1), 0).level > 0


# --- piecewise -----------------------------------------------------------------------------------------------------


def test_piecewise_values_in_two_dimensions():
    intensity = Piecewise([[0.0], [1.0, 2.0]], [[1, 2, 3], [4, 5, 6]])
    X = [[-1, 0], [-1, 1], [-1, 5], [0, 0.5], [3, 1.5], [3, 2.0]]
    np.testing.assert_array_equal(intensity.value(X), [1, 2, 3, 4, 5, 6])
    assert intensity.integral([(-1, 1), (0, 3)]) == pytest.approx(1 + 2 + 3 + 4 + 5 + 6)


def test_piecewise_in_three_dimensions_by_hand():
    intensity = Piecewise([[0.5], [], [0.25]], np.array([[[1.0, 2.0]], [[3.0, 4.0]]]))
    region = [(0, 1), (0, 2), (0, 1)]
    assert intensity.integral(region) == pytest.approx(2 * 0.5 * (0.25 * 1 + 0.75 * 2 + 0.25 * 3 + 0.75 * 4))
    assert len(intensity.pieces(Region.of(region))) == 4


def test_piecewise_on_part_of_itself():
    assert Piecewise([0.0, 1.0], [1.0, 5.0, 2.0]).integral((0.5, 3.0)) == pytest.approx(0.5 * 5 + 2 * 2)


@pytest.mark.parametrize(
    ("breaks", "values", "name"),
    [
        ([1, 0], [1, 2, 3], "breaks"),
        ([0, 0], [1, 2, 3], "breaks"),
        ([np.nan], [1, 2], "breaks"),
        ([[1], [1, 2]], [1, 2], "breaks"),
        (None, [1, 2], "breaks"),
        ("ab", [1, 2], "breaks"),
        (3.0, [[1, 2], [3, 4]], "breaks"),
        ([[0.0]], [[1, 2], [3, 4]], "breaks"),
        ([0.0], [1, 2, 3], "values"),
        ([0.0], [1, 0], "values"),
        ([0.0], [1, -2], "values"),
        ([0.0], [1, np.inf], "values"),
        ([0.0], [[1], [1, 2]], "values"),
        ([0.0], [], "values"),
        ([0.0], 3.0, "values"),
    ],
)
def test_bad_piecewise(breaks, values, name):
    with pytest.raises(StatementError, match=f"^{name}"):
        Piecewise(breaks, values)


def test_piecewise_breaks_must_lie_inside():
    with pytest.raises(StatementError, match=r"breaks=\[2.0\].*must lie strictly within"):
        Piecewise([2.0], [1, 2]).on(Region.of((0, 2)))
    with pytest.raises(StatementError, match="same number of dimensions"):
        Piecewise([2.0], [1, 2]).on(Region.of([(0, 3), (0, 3)]))


# --- tabulated -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_table_integral_over_a_box_within(n_dims):
    table, region = tabulated(n_dims), boxes(n_dims)
    part = Region(region.low + 0.13, region.high - 0.31)
    breaks = [np.linspace(*region.bounds[d], n)[1:-1] for d, n in enumerate(table.values.shape)]
    nodes, weights = quadrature.box_rule(part, [1] * n_dims, breaks)
    assert table.integral(part) == pytest.approx(weights @ table.value(nodes), rel=1e-12)
    assert table.integral() == pytest.approx(table.integral(region), rel=1e-12)


def test_table_draws_within_a_part(seed):
    table, part = Tabulated((0.0, 2.0), [1.0, 30.0, 1.0]), Region.of((0.25, 0.75))
    units = table.sample_units(part, 5000, np.random.default_rng(seed))
    assert part.contains(units.centers).all()
    mean = table.integral(part)
    assert abs(units.counts.mean() - mean) < 4.0 * np.sqrt(mean / 5000)


def test_table_does_not_reach():
    with pytest.raises(StatementError, match=r"region=.*covers only"):
        Tabulated((0, 1), [1.0, 2.0]).on(Region.of((0, 1.5)))
    for bad in ([1.0], [1.0, 0.0], [[1.0, 2.0]], [1.0, np.nan], "ab"):
        with pytest.raises(StatementError, match="values="):
            Tabulated((0, 1), bad)


# --- from a function -----------------------------------------------------------------------------------------------


def test_bound_is_found():
    prepared = FromFunction(lambda X: 1.0 + 9.0 * np.exp(-(((X[:, 0] - 0.317) / 0.02) ** 2))).on(Region.of((-1, 2)))
    assert 10.0 <= prepared.bound <= 10.3
    assert prepared.on(Region.of((-1, 2))) is prepared


def test_narrow_peaks_between_grid_points_are_refined():
    prepared = FromFunction(lambda X: 1.0 + 1e3 * np.exp(-1e6 * (X[:, 0] - 0.3333) ** 2)).on(Region.of((-1, 2)))
    assert prepared.bound >= 1001.0


@pytest.mark.parametrize("bounds", [(-1.0, 2.0), (-1.0, 1.0), [(-1.0, 2.0), (0.0, 1.0)]])
@pytest.mark.parametrize("place", [0.0, 0.1234567])
@pytest.mark.parametrize(
    "function",
    [
        lambda d: 1.0 / d,
        lambda d: 5.0 - np.log(d),
        lambda d: 1.0 / np.sqrt(d),
        lambda d: 1.0 / d**0.25,
        lambda d: d**2,
        lambda d: d,
        lambda d: np.sqrt(d),
        lambda d: d**2 - 1e-9,
        lambda d: np.where(d < 0.2, 0.0, 1.0),
        lambda d: np.where(d < 0.2, -1.0, 1.0),
        lambda d: np.where(d < 0.2, np.nan, 1.0),
        lambda d: np.where(d < 0.2, np.inf, 1.0),
    ],
    ids=["1/d", "-log", "1/sqrt", "d^-1/4", "d^2", "d", "sqrt", "dip", "zero", "negative", "nan", "inf"],
)
def test_unbounded_or_not_positive_somewhere(function, place, bounds):
    intensity = FromFunction(lambda X: function(np.abs(X[:, 0] - place)))
    with pytest.raises(
        StatementError, match=r"intensity (is .* at|grows without bound near|falls to zero near) \[.*must be"
    ):
        intensity.on(Region.of(bounds))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: 3.0 - np.sqrt(np.abs(x)),
        lambda x: 1.0 / (1e-3 + np.abs(x)),
        lambda x: 1e-3 + np.abs(x),
        lambda x: 1.0 + 0.0 * x,
        lambda x: np.exp(-3.0 * x),
        lambda x: np.where(x > 0.12345, 5.0, 1.0),
    ],
)
def test_bounded_functions_pass(function):
    FromFunction(lambda X: function(X[:, 0])).on(Region.of((-1.0, 2.0)))
    FromFunction(lambda X: function(X[:, 0])).on(Region.of([(-1.0, 2.0), (0.0, 1.0)]))


def test_a_wrong_bound_is_an_error_never_a_wrong_draw(seed):
    with pytest.raises(StatementError, match=r"bound=3.5 is exceeded: the intensity is .* at \[.*must hold"):
        FromFunction(wave, bound=3.5).on(Region.of((0.0, 2.0)))
    hidden = FromFunction(lambda X: 1.0 + 50.0 * (np.abs(X[:, 0] - 0.50013) < 4e-5), bound=2.0).on(
        Region.of((0.0, 1.0))
    )
    with pytest.raises(StatementError, match=r"bound=2.0 is exceeded"):
        hidden.sample_units(Region.of((0.0, 1.0)), 30_000, np.random.default_rng(seed))


def test_functions_that_return_the_wrong_thing():
    region = Region.of((0.0, 1.0))
    for bad in (lambda X: "abc", lambda X: None, lambda X: np.ones((3, 2)), lambda X: 1j * X[:, 0], lambda X: [[1], 2]):
        with pytest.raises(StatementError, match=r"must (return one number per point|accept an array)"):
            FromFunction(bad).on(region)
    with pytest.raises(StatementError, match=r"raised IndexError.*must accept an array of shape"):
        FromFunction(lambda X: X[:, 3]).on(region)
    with pytest.raises(StatementError, match=r"^function="):
        FromFunction(3.0)
    with pytest.raises(StatementError, match="must be 1, 2 or 3"):
        FromFunction(wave).on(Region.of([(0, 1)] * 4))
    with pytest.raises(StatementError, match=r"^X="):
        FromFunction(wave).value("ab")


def test_a_function_may_return_one_number():
    assert FromFunction(lambda X: 2.0).integral((0.0, 3.0)) == pytest.approx(6.0)


# --- sigmoid GP ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("variance", [2.0, LogNormal(2.0, 3.0)])
@pytest.mark.parametrize("upper", [10.0, Gamma(4.0, 0.4)])
def test_sigmoid_gp_quantiles_against_draws(upper, variance, seed):
    """Share of draws below each quantile at a point: 4 standard errors, false alarms 1 in 3,000."""
    intensity, region, n = SigmoidGP(upper, variance, 0.5), Region.of((0.0, 1.0)), 4000
    rng = np.random.default_rng(seed)
    levels = np.array([intensity.draw(region, rng).value([0.37])[0] for _ in range(n)])
    p = np.array([0.05, 0.25, 0.5, 0.9])
    below = (levels[:, None] < intensity.level_quantiles(p)).mean(axis=0)
    assert np.all(np.abs(below - p) < 4.0 * np.sqrt(p * (1.0 - p) / n))


@pytest.mark.parametrize("law", [(2.0, 0.5), (LogNormal(2.0, 3.0), LogNormal(0.5, 1.5))], ids=["known", "unknown"])
@pytest.mark.parametrize("upper", [10.0, Gamma(4.0, 0.4)])
def test_sigmoid_gp_mean(upper, law, seed):
    intensity, region = SigmoidGP(upper, *law), Region.of((0.0, 1.0))
    assert intensity.integral(region) == pytest.approx(5.0)
    np.testing.assert_allclose(intensity.value([0.1, 0.2]), 5.0)
    np.testing.assert_array_equal(intensity.gradient([0.1, 0.2]), np.zeros((2, 1)))
    assert sum(p for p, _ in intensity.marginal(region)) == pytest.approx(1.0, abs=1e-9)
    assert sum(p * c.level for p, c in intensity.marginal(region)) == pytest.approx(5.0, rel=1e-9)
    counts = intensity.sample_units(region, 20_000, np.random.default_rng(seed)).counts
    assert abs(counts.mean() - 5.0) < 4.0 * counts.std() / np.sqrt(len(counts))


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_sigmoid_gp_draws_are_tables(n_dims, seed):
    intensity, region = SigmoidGP(8.0, 1.0, [1.0, 1.5, 2.0][:n_dims]), boxes(n_dims)
    draw = intensity.draw(region, seed)
    assert isinstance(draw, Tabulated) and draw.known
    assert draw.values.max() < 8.0
    assert draw == intensity.draw(region, seed)
    units = intensity.sample_units(region, 50, np.random.default_rng(seed))
    assert len(units.counts) == 50 and region.contains(units.centers).all() and units.levels.max() < 8.0


def test_sigmoid_gp_in_parts_is_the_same_process(seed, monkeypatch):
    """Large tables are drawn a few at a time; counts agree within 4 standard errors."""
    from porbnet.intensity import sigmoid_gp

    intensity, region = SigmoidGP(20.0, 1.0, 0.5), Region.of((0.0, 1.0))
    monkeypatch.setattr(sigmoid_gp, "_MOST_TABLED", 200)
    units = intensity.sample_units(region, 2000, np.random.default_rng(seed))
    assert len(units.counts) == 2000 and len(units.centers) == units.counts.sum() == len(units.levels)
    assert abs(units.counts.mean() - 10.0) < 4.0 * units.counts.std() / np.sqrt(2000)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1.0, 1.0, 1.0), "upper"),
        (("a", 1.0, 1.0), "upper"),
        ((1.0, 0.0, 1.0), "variance"),
        ((1.0, 1.0, 0.0), "lengthscale"),
        ((1.0, 1.0, []), "lengthscale"),
        ((1.0, 1.0, [[1.0]]), "lengthscale"),
        ((1.0, 1.0, np.nan), "lengthscale"),
        ((1.0, Gamma(1.0, 1.0), 1.0), "variance"),
        ((1.0, 1.0, Gamma(1.0, 1.0)), "lengthscale"),
        ((1.0, 1.0, [LogNormal(1.0), 1.0]), "lengthscale"),
        ((1.0, 1.0, [1.0, LogNormal(1.0)]), "lengthscale"),
        ((1.0, 1.0, (LogNormal(1.0, 2.0), LogNormal(1.0, 3.0))), "lengthscale"),
        ((1.0, 1.0, [[LogNormal(1.0)]]), "lengthscale"),
        ((1.0, 1.0, 1.0, 0.0), "refinement"),
    ],
)
def test_bad_sigmoid_gp(arguments, name):
    with pytest.raises(StatementError, match=f"^{name}="):
        SigmoidGP(*arguments)


def test_sigmoid_gp_lengthscales_must_fit_the_region():
    with pytest.raises(StatementError, match="same number of dimensions"):
        SigmoidGP(1.0, 1.0, [1.0, 2.0]).on(Region.of((0, 1)))
    with pytest.raises(StatementError, match="same number of dimensions"):
        SigmoidGP(1.0, 1.0, [LogNormal(1.0)] * 2).on(Region.of((0, 1)))


@pytest.mark.parametrize(
    "intensity",
    [
        Constant(2.0),
        UnknownConstant(2.0, 3.0),
        Piecewise([0.0, 1.0], [1.0, 2.0, 3.0]),
        Piecewise([[0.0], [1.0]], [[1.0, 2.0], [3.0, 4.0]]),
        SigmoidGP(Gamma(1.0, 2.0), 3.0, 0.5),
        SigmoidGP(1.0, LogNormal(3.0, 2.0), LogNormal(0.5, 2.0)),
        SigmoidGP(1.0, 3.0, [LogNormal(0.5, 2.0), LogNormal(7.0, 2.0)]),
    ],
)
def test_repr_can_be_read_back(intensity):
    assert eval(repr(intensity)) == intensity


def test_repr_of_the_others():
    assert repr(Tabulated((0, 1), [1.0, 2.0])) == "Tabulated([[0.0, 1.0]], <2 values>)"
    assert "wave" in repr(FromFunction(wave))
