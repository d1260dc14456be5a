"""The default prior: in the units of the data, with what the user states in its place."""

import warnings

import numpy as np
import pytest
from fit_tools import wave

from porbnet import LogNormal
from porbnet.errors import StatementError, StatementWarning
from porbnet.intensity import Constant, FromFunction, SigmoidGP, UnknownConstant
from porbnet.statement import defaults
from porbnet.statement.defaults import Scales, default_prior
from porbnet.statement.first_guess import lengthscale_share

X, Y = wave(50)
S = Y.std()


def test_scales():
    scales = Scales.of(X, Y)
    assert (scales.offset, scales.output) == (pytest.approx(Y.mean()), pytest.approx(S))
    np.testing.assert_allclose([scales.low, scales.range], [X.min(axis=0), np.ptp(X, axis=0)])


@pytest.mark.parametrize(("value", "scale"), [(0.0, 1.0), (7.0, 7e-3), (-7.0, 7e-3)])
def test_constant_outputs_have_a_scale(value, scale):
    assert Scales.of(X, np.full(50, value)).output == pytest.approx(scale)


@pytest.mark.parametrize(("value", "width"), [(0.0, 1.0), (7.0, 7.0), (-7.0, 7.0)])
def test_constant_inputs_have_a_range(value, width):
    assert Scales.of(np.full((50, 1), value), Y).range[0] == pytest.approx(width)


def test_defaults_in_data_units():
    prior, offset = default_prior(X, Y, lengthscale="constant")
    assert offset == pytest.approx(Y.mean())
    assert prior.amplitude == LogNormal(S, 3.0) and prior.noise == LogNormal(0.3 * S, 3.0)
    assert prior.bias == pytest.approx(S) and 1.0 <= prior.units_per_lengthscale <= 3.0
    assert isinstance(prior.intensity, UnknownConstant)
    low, high = prior.region.bounds[0]
    width = np.ptp(X)
    share = lengthscale_share((X - X.min()) / width, Y - Y.mean())
    np.testing.assert_allclose([X.min() - low, high - X.max()], 1.5 * share * width)
    # about the guess, give or take a factor 4: mean and sd of the log
    levels = prior.intensity.square.sample(200_000, np.random.default_rng(0)) ** 0.5
    logs = np.log(prior.units_per_lengthscale / levels / width)
    assert logs.mean() == pytest.approx(np.log(share), abs=0.02) and logs.std() == pytest.approx(np.log(4.0), abs=0.02)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_the_level_of_a_curve_is_about_that_of_the_guess(n_dims):
    inputs = np.random.default_rng(0).uniform(size=(60, n_dims))
    outputs = np.cos(3.0 * inputs.sum(axis=1))
    prior, _ = default_prior(inputs, outputs)
    upper, unit = prior.intensity.upper, (inputs - inputs.min(axis=0)) / np.ptp(inputs, axis=0)
    typical = lengthscale_share(unit, outputs) * np.sqrt(n_dims) * np.exp(np.mean(np.log(np.ptp(inputs, axis=0))))
    assert upper.shape == defaults.UPPER_SHAPE
    assert upper.mean == pytest.approx(1.5 * (prior.units_per_lengthscale / typical) ** n_dims)
    assert prior.units_per_lengthscale == (pytest.approx(3.0) if n_dims == 1 else 0.7)  # next to no noise


def test_units_per_lengthscale_follow_what_the_data_say():
    """One where rows are few or noisy; the sixth root of rows per lengthscale over noise ratio; no more than rows."""
    rng = np.random.default_rng(0)

    def found(n, noise, **stated):
        x = np.sort(rng.uniform(size=n))
        y = np.sin(12.0 * x) + noise * rng.standard_normal(n)
        return default_prior(x[:, None], y, **stated)[0]

    assert found(60, 1.0).units_per_lengthscale == pytest.approx(1.0)
    few, many = found(300, 0.3).units_per_lengthscale, found(19_200, 0.3).units_per_lengthscale
    assert 1.0 < few < many < 3.0
    assert many / few == pytest.approx(2.0, rel=0.15)  # 64 times the rows
    assert found(20_000, 0.003).units_per_lengthscale == pytest.approx(3.0)
    assert found(12, 1e-4).expected_units < 1.5 * 1.5 * 12  # of a Gamma with mean 1.5 times the typical level
    assert found(20_000, 0.3, units_per_lengthscale=0.9).units_per_lengthscale == pytest.approx(0.9)


def test_learned_is_a_curve_up_to_three_inputs():
    assert isinstance(default_prior(X, Y)[0].intensity, SigmoidGP)
    five = np.random.default_rng(0).uniform(size=(50, 5))
    with pytest.warns(StatementWarning):
        assert isinstance(default_prior(five, Y)[0].intensity, UnknownConstant)


@pytest.mark.parametrize("kind", ["learned", "constant"])
@pytest.mark.parametrize("n_dims", [1, 2, 3, 5, 10])
def test_the_expected_width_is_affordable(kind, n_dims):
    inputs = np.random.default_rng(0).uniform(size=(60, n_dims)) * 10.0 ** np.arange(-3, n_dims - 3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        prior, _ = default_prior(inputs, wave(60)[1], lengthscale=kind)
    assert prior.expected_units <= (400.0 if n_dims == 1 else 150.0) * 1.001
    told = [w for w in caught if "units_per_lengthscale lowered" in str(w.message)]
    assert bool(told) == (prior.units_per_lengthscale < 0.7 - 1e-9)
    # one lengthscale per dimension, each a share of its own range
    np.testing.assert_allclose(prior.anisotropy / prior.anisotropy[0], np.ptp(inputs, axis=0) / np.ptp(inputs[:, 0]))


def test_a_short_lengthscale_is_told_of_too():
    with pytest.warns(StatementWarning, match=r"lowered from 1 to 0\.\d+, so that the network has about 400 units"):
        default_prior(X, Y, lengthscale=1e-3)
    prior, _ = default_prior(X, Y, lengthscale=0.002, units_per_lengthscale=1.0)
    assert prior.units_per_lengthscale == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("lengthscale", "margin"), [(0.1, 0.15), (1e-2, 0.1), (50.0, 0.5)], ids=["fits", "at least", "at most"]
)
def test_region_reaches_beyond_the_data(lengthscale, margin):
    inputs = np.linspace(0.0, 1.0, 50)[:, None]
    prior, _ = default_prior(inputs, Y, lengthscale=lengthscale)
    np.testing.assert_allclose(prior.region.bounds, [[-margin, 1.0 + margin]])
    assert prior.lengthscale == pytest.approx(lengthscale)


def test_a_callable_lengthscale_sets_region_and_width():
    inputs = np.linspace(0.0, 1.0, 50)[:, None]
    prior, _ = default_prior(inputs, Y, lengthscale=lambda x: 0.1 + 0.0 * x[:, 0])
    assert isinstance(prior.intensity, FromFunction)
    np.testing.assert_allclose(prior.region.bounds, [[-0.15, 1.15]])


def test_an_intensity_is_taken_as_it_is():
    prior, _ = default_prior(X, Y, lengthscale=Constant(9.0))
    assert prior.intensity == Constant(9.0)


def test_one_lengthscale_per_dimension():
    two = np.random.default_rng(0).uniform(size=(50, 2))
    prior, _ = default_prior(two, Y, lengthscale=[0.5, 2.0])
    np.testing.assert_allclose(prior.lengthscale_at(two[:1], per_dimension=True), [[0.5, 2.0]])


@pytest.mark.parametrize("factor", [1e-45, 1e45])
def test_extreme_units_are_refused_by_name(factor):
    with pytest.raises(StatementError, match=r"X has a range of .*: it must lie between 1e-40 and 1e\+40; use other"):
        default_prior(factor * X, Y)
    with pytest.raises(StatementError, match="y has a spread of"):
        default_prior(X, factor * Y)
    with pytest.raises(StatementError, match="X has a volume"):
        default_prior(factor**0.6 * np.c_[X, X], Y)


def test_the_page_and_the_code_have_the_same_numbers():
    from pathlib import Path

    page = (Path(__file__).parents[2] / "docs" / "fit.md").read_text(encoding="utf-8")
    for text in (
        f"{defaults.LENGTHSCALE_SHARE:g} √D",
        f"factor of {defaults.AMPLITUDE_FACTOR:g}",
        f"{defaults.NOISE_SHARE:g} S",
        f"{defaults.MOST_UNITS[1]:.0f} units",
        f"{defaults.MOST_UNITS_BEYOND:.0f}",
    ):
        assert text in page
