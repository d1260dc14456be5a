"""Predictions beyond the region: nothing changes where the data lie, the prior far away, no jump between."""

import pickle
import warnings

import numpy as np
import pytest
from fit_tools import model, quiet_fit, wave

from porbnet import Prior
from porbnet.errors import ExtrapolationWarning, StatementWarning
from porbnet.intensity import Piecewise, SigmoidGP

FITS = {
    "one number": {"lengthscale": 0.3},
    "constant": {"lengthscale": "constant"},
    "learned": {"lengthscale": "learned"},
    "function": {"lengthscale": lambda X: 0.2 + 0.1 * X[:, 0] ** 2},
    "piecewise": {"prior": Prior(Piecewise([0.5], [3.0, 9.0]), 3.0, region=(-0.5, 1.5), bias=10.0, noise=0.3)},
    "long and tight": {"prior": Prior(SigmoidGP(2.0, 1.0, 0.5), 3.0, region=(-0.02, 1.02), bias=10.0, noise=0.3)},
}


def fitted(kind, n_dims=1):
    X, y = wave(n_dims=n_dims)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", StatementWarning)
        return quiet_fit(X, y, **FITS[kind])


def line(model, n=60, furthest=20.0):
    """Points from the edge of the data away from it, along the first input."""
    box = model.posterior_.beyond.box
    X = np.tile(0.5 * (box.low + box.high), (n, 1))
    X[:, 0] = box.high[0] + np.concatenate([[0.0], np.geomspace(1e-6, furthest, n - 1)])
    return X


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
@pytest.mark.parametrize("kind", FITS)
def test_sd_never_falls_and_ends_at_the_prior(kind):
    model = fitted(kind)
    posterior, X = model.posterior_, line(model)
    sd = model.predict(X, return_std=True, of="f")[1]
    assert np.diff(sd).min() > -1e-7 * sd.max()
    assert sd[1] - sd[0] < 1e-3 * sd[-1]  # no jump where the data end
    far = np.array([[1e9]])
    without = posterior.moments.mean_and_variance(posterior.problem.scaling.inputs(far), 1)[1]
    expected = np.mean(posterior.amplitude**2) + without * posterior.problem.scaling.y_scale**2
    np.testing.assert_allclose(posterior.mean_and_variance(far)[1], expected, rtol=1e-6)
    wide = model.predict_interval(X, of="f")
    assert np.all(np.diff(wide[:, 1] - wide[:, 0])[-20:] > -0.02 * (wide[-1, 1] - wide[-1, 0]))


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
@pytest.mark.parametrize("kind", ["constant", "learned", "long and tight"])
def test_where_the_data_lie_nothing_is_added(kind):
    model = fitted(kind)
    X = wave()[0]
    assert model.posterior_.beyond.table(X) is None and model.posterior_.beyond.covariance(X) is None
    np.testing.assert_array_equal(model.posterior_.beyond.variance(X), 0.0)
    networks = model.posterior_.networks
    np.testing.assert_array_equal(networks(X), networks.within()(X))
    np.testing.assert_array_equal(networks.gradient(X), networks.within().gradient(X))


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
def test_functions_have_the_moments_of_the_predictions(seed):
    """Squares of what is beyond, over many draws that differ, against their mean; 4.5 standard errors at 5 places.

    False alarms: once in 10,000 seeds for normal products, a few times that with these tails.
    """
    X, y = wave()
    model = quiet_fit(X, y, lengthscale="learned", n_draws=500)
    places = np.array([[1.1], [1.3], [-0.4], [2.0], [-6.0]])
    g = model.posterior_.networks(places) - model.posterior_.networks.within()(places)
    table = model.posterior_.beyond.table(places)
    z = (g**2 - table).mean(axis=0) / ((g**2 - table).std(axis=0) / np.sqrt(len(g)))
    assert np.max(np.abs(z)) < 4.5
    product, error = g.T @ g / len(g), np.sqrt(((g**2).T @ g**2) / len(g) ** 2)
    assert np.max(np.abs(product - model.posterior_.beyond.covariance(places)) / error) < 4.5


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
@pytest.mark.parametrize("n_dims", [1, 2])
def test_a_drawn_function_is_one_function(n_dims):
    fit = model("constant", n_dims)
    X = np.random.default_rng(4).uniform(-3.0, 4.0, (30, n_dims))
    f = fit.sample_functions(3, random_state=5)
    values = f(X)
    np.testing.assert_allclose(fit.sample_functions(3, random_state=5)(X[::-1])[:, ::-1], values, atol=1e-6)
    np.testing.assert_allclose(np.concatenate([f(X[:7]), f(X[7:])], axis=1), values, atol=1e-6)
    np.testing.assert_allclose([one(X) for one in f], values, atol=1e-6)
    np.testing.assert_allclose(fit.sample_f(X, 3, random_state=5).T, values, atol=1e-6)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(f))(X), values, atol=1e-6)
    step = 1e-5 * np.eye(n_dims)[0]
    slope = (f(X + step) - f(X - step)) / 2e-5
    np.testing.assert_allclose(f.gradient(X)[..., 0], slope, atol=2e-2 * np.abs(slope).max())
    assert values.std() > 0.3 * fit.posterior_.amplitude.mean()


@pytest.mark.parametrize("n_dims", [1, 2])
def test_draws_of_a_prior_are_functions(n_dims):
    prior = Prior(0.3, 1.0, region=[(0.0, 1.0)] * n_dims)
    X = np.random.default_rng(2).uniform(-3.0, 4.0, (20, n_dims))
    f = prior.sample(X, 300, 7)
    np.testing.assert_allclose(prior.sample(X[5:9], 300, 7), f[:, 5:9], atol=1e-6)
    networks = prior.sample_networks(300, 7)
    np.testing.assert_allclose(networks(X), f, atol=1e-6)
    np.testing.assert_allclose(networks[250:270](X), f[250:270], atol=1e-6)
    np.testing.assert_allclose(networks[::97](X), f[::97], atol=1e-6)
    np.testing.assert_allclose(pickle.loads(pickle.dumps(networks[3]))(X), f[3], atol=1e-6)


@pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")
def test_covariance_goes_with_the_variance():
    for n_dims in (1, 2):
        posterior = model("constant", n_dims).posterior_
        X = np.random.default_rng(1).uniform(-1.0, 3.0, (25, n_dims))
        covariance = posterior.covariance(X)
        np.testing.assert_allclose(np.diag(covariance), posterior.mean_and_variance(X)[1], rtol=1e-7)
        assert np.linalg.eigvalsh(covariance).min() > -1e-9 * covariance.max()


def test_more_than_three_inputs_have_the_variance(recwarn):
    X, y = wave(n_dims=5)
    posterior = quiet_fit(X, y).posterior_
    far = np.full((1, 5), 50.0)
    assert posterior.mean_and_variance(far)[1][0] > np.mean(posterior.amplitude**2)


def test_it_says_so_once():
    X, y = wave()
    fit = quiet_fit(X, y, lengthscale="constant")
    fit.predict(X)
    with pytest.warns(
        ExtrapolationWarning, match=r"2 of 3 points lie beyond the region of the fit, x from .* to .* \(ask"
    ):
        fit.predict([[0.5], [-9.0], [12.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit.predict([[20.0]])


def test_dates_are_said_as_dates():
    days = np.datetime64("2024-01-01") + np.arange(40)
    y = np.sin(np.arange(40) / 5.0) + 0.1 * np.random.default_rng(0).standard_normal(40)
    fit = quiet_fit(days[:, None], y, lengthscale="constant")
    with pytest.warns(ExtrapolationWarning, match="asked for 2026-01-01"):
        fit.predict(np.array([["2026-01-01"]], dtype="datetime64[D]"))


def test_rows_of_the_data_are_not_beyond_them_by_rounding():
    """Rows come back from standard coordinates with other last bits; making units beyond them takes seconds."""
    rng = np.random.default_rng(4)
    X = rng.uniform(1.0, 7.0, size=(40, 3)) * [1000.0, 3.0, 0.1]
    posterior = quiet_fit(X, rng.standard_normal(40), lengthscale="learned", n_draws=4, n_warmup=4).posterior_
    rows = posterior.problem.inputs
    assert not posterior.beyond.box.contains(rows).all()
    assert not posterior.beyond.free(rows).any()
