"""Draws, their networks, and moments of f with the weights integrated out, against plain NumPy."""

import numpy as np
import pytest
from fit_tools import model, quiet_fit, same_draws, wave

from porbnet import LogNormal, Prior
from porbnet.intensity import Piecewise, SigmoidGP

CASES = [("constant", 1), ("learned", 1), ("constant", 2)]
EACH = pytest.mark.parametrize("fit", CASES, ids=lambda c: f"{c[0]}-{c[1]}d")


def new_points(n_dims, n=23, seed=8):
    """Unsorted points, some outside the data."""
    return np.random.default_rng(seed).uniform(-0.1, 1.1, size=(n, n_dims))


def beyond(posterior, X):
    """What units beyond the region add to the variance of f in every draw: zero at points of the data's box."""
    more = posterior.beyond.table(X)
    return np.zeros((len(posterior), len(X))) if more is None else more


def design(network, X):
    """Columns 1, φ_1, ..., φ_K of one network."""
    gaps = (X[:, None, :] - network.centers) / network.anisotropy
    return np.column_stack([np.ones(len(X)), np.exp(-0.5 * network.scales**2 * (gaps**2).sum(axis=2))])


def by_hand(fitted, i, X_new):
    """Mean and covariance of f at new points given draw i's units: Bayesian linear regression in data units."""
    X, y = wave(n_dims=X_new.shape[1])
    posterior, prior = fitted.posterior_, fitted.prior_
    network = posterior.networks[i]
    weight_variance = (prior.s0**2 / np.pi) ** (prior.n_dims / 2) * posterior.amplitude[i] ** 2
    before = np.array([prior.bias**2] + [weight_variance] * network.n_units)
    Phi, new = design(network, X), design(network, X_new)
    P = np.linalg.inv(Phi.T @ Phi / posterior.noise[i] ** 2 + np.diag(1.0 / before))
    m = P @ Phi.T @ (y - fitted.offset_) / posterior.noise[i] ** 2
    return fitted.offset_ + new @ m, new @ P @ new.T


@EACH
def test_shapes(fit):
    posterior = model(*fit).posterior_
    X = new_points(fit[1])
    assert (posterior.n_chains, posterior.n_draws_per_chain, len(posterior)) == (2, 60, 120)
    for values in (posterior.n_units, posterior.noise, posterior.amplitude, posterior.bias, posterior.log_likelihood):
        assert values.shape == (120,) and np.all(np.isfinite(values))
    for values in (posterior.f(X), posterior.intensity(X), posterior.lengthscale(X), posterior.noise_at(X)):
        assert values.shape == (120, len(X)) and np.all(np.isfinite(values))
    assert posterior.by_chain(posterior.f(X)).shape == (2, 60, len(X))
    assert len(posterior.networks) == 120 and np.array_equal(posterior.networks.n_units, posterior.n_units)
    assert "2 chains of 60 draws" in repr(posterior)


@EACH
def test_f_is_that_of_the_networks(fit):
    posterior = model(*fit).posterior_
    X = new_points(fit[1])
    f = posterior.f(X)
    for i in (0, 59, 60, 119):
        network = posterior.networks[i]
        assert network.bias == posterior.bias[i]
        np.testing.assert_allclose(f[i], network(X), atol=1e-12)
        inside = posterior.beyond.box.contains(X)
        by_hand = design(network, X) @ np.r_[network.bias, network.weights]
        np.testing.assert_allclose(f[i][inside], by_hand[inside], atol=1e-9)


@EACH
def test_scales_follow_the_intensity_at_the_centers(fit):
    posterior = model(*fit).posterior_
    for i in (5, 100):
        network = posterior.networks[i]
        lengthscales = posterior.lengthscale(network.centers)[i]
        np.testing.assert_allclose(np.sqrt(2.0) / network.scales, lengthscales, rtol=1e-9)


@EACH
def test_conditional_moments_are_linear_regression(fit):
    fitted = model(*fit)
    X = new_points(fit[1])
    (rows, moments), *rest = fitted.posterior_.f_moments(X)
    assert rows == slice(0, len(X)) and not rest
    for i in (0, 30, 119):
        mean, covariance = by_hand(fitted, i, X)
        np.testing.assert_allclose(moments.mean[i], mean, rtol=1e-7)
        within = moments.variance[i] - beyond(fitted.posterior_, X)[i]
        np.testing.assert_allclose(within, np.diag(covariance), rtol=1e-5)


@EACH
def test_mean_variance_and_covariance_by_the_law_of_total_variance(fit):
    fitted = model(*fit)
    posterior, X = fitted.posterior_, new_points(fit[1])
    parts = [by_hand(fitted, i, X) for i in range(len(posterior))]
    means, covariances = np.array([p[0] for p in parts]), np.array([p[1] for p in parts])
    truth = covariances.mean(axis=0) + np.cov(means.T, bias=True) + posterior.beyond.covariance(X)
    mean, variance = posterior.mean_and_variance(X)
    np.testing.assert_allclose(mean, means.mean(axis=0), rtol=1e-7)
    np.testing.assert_allclose(variance, np.diag(truth), rtol=1e-5)
    covariance = posterior.covariance(X)
    np.testing.assert_array_equal(covariance, covariance.T)
    np.testing.assert_allclose(covariance, truth, rtol=1e-5, atol=1e-6 * truth.max())


@EACH
def test_drawn_f_scatters_about_its_conditional_mean(fit):
    """Given the draws' units, f - mean is N(0, variance), independent between draws: an exact z score.

    Six at 23 points, three cases: false alarm rate below 1e-6.
    """
    posterior, X = model(*fit).posterior_, new_points(fit[1])
    (_, moments), *_ = posterior.f_moments(X)
    z = (posterior.f(X) - moments.mean).sum(axis=0) / np.sqrt(moments.variance.sum(axis=0))
    assert np.max(np.abs(z)) < 6.0
    square = ((posterior.f(X) - moments.mean) ** 2 / moments.variance).mean(axis=0)
    assert np.all(np.abs(square - 1.0) < 8.0 * np.sqrt(2.0 / len(posterior)))


@EACH
def test_mean_networks_average_to_the_mean(fit):
    posterior, X = model(*fit).posterior_, new_points(fit[1])
    np.testing.assert_allclose(posterior.mean_networks(X).mean(axis=0), posterior.mean_and_variance(X)[0], rtol=1e-8)


def test_chunks_of_points_change_nothing(monkeypatch):
    from porbnet.posterior import conditional_moments
    from porbnet.posterior import function_moments as module

    posterior, X = model().posterior_, new_points(1, 50)
    whole = np.concatenate([m.mean for _, m in posterior.f_moments(X)], axis=1)
    mean, variance = posterior.mean_and_variance(X)
    monkeypatch.setattr(module, "_MOST_BYTES", 16 * len(posterior) * 7)
    monkeypatch.setattr(conditional_moments, "_BLOCK_POINTS", 5)
    pieces = list(posterior.f_moments(X))
    assert [p[0].stop for p in pieces][:3] == [7, 14, 21]
    np.testing.assert_allclose(np.concatenate([m.mean for _, m in pieces], axis=1), whole, rtol=1e-12)
    again = posterior.mean_and_variance(X)
    np.testing.assert_allclose(again[0], mean, rtol=1e-12)
    np.testing.assert_allclose(again[1], variance, rtol=1e-10)


def test_threads_change_nothing():
    posterior, X = model().posterior_, new_points(1)
    for n_jobs in (2, 4):
        for a, b in zip(posterior.mean_and_variance(X, n_jobs), posterior.mean_and_variance(X, 1), strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_known_intensity_is_reported_as_stated():
    X, y = wave()
    steps = Piecewise([0.5], [20.0, 5.0])
    prior = Prior(steps, 3.0, region=(-0.5, 1.5), bias=10.0, noise=0.3)
    posterior = quiet_fit(X, y, prior=prior).posterior_
    np.testing.assert_allclose(posterior.intensity([0.2, 0.8]), np.tile([20.0, 5.0], (120, 1)))
    np.testing.assert_allclose(posterior.lengthscale([0.2, 0.8]), np.tile([0.1, 0.4], (120, 1)))
    np.testing.assert_allclose(posterior.noise, 0.3)
    np.testing.assert_allclose(posterior.amplitude, 3.0)


def test_choose_without_repeats_as_long_as_there_are_enough():
    posterior = model().posterior_
    assert len(set(posterior.choose(120, np.random.default_rng(0)))) == 120
    assert len(posterior.choose(500, np.random.default_rng(0))) == 500


def test_log_likelihood_is_in_data_units():
    """Multiply outputs by eight: densities of 40 observations fall by eight each, draws stay the same, bit by bit."""
    X, y = wave()
    other = quiet_fit(X, 8.0 * y, lengthscale="constant")
    np.testing.assert_allclose(
        other.posterior_.log_likelihood, model().posterior_.log_likelihood - 40 * np.log(8.0), rtol=1e-9
    )
    assert same_draws(other, model())


@pytest.mark.parametrize("n_dims", [1, 2])
def test_each_draw_has_a_curve_of_its_own_law(n_dims):
    """λ at the units as the sampler had it; what is known of the law is the same in every draw."""
    X, y = wave(n_dims=n_dims)
    lengthscale = [LogNormal(0.7, 1.3), LogNormal(0.9, 1.3)][:n_dims]
    free = SigmoidGP(12.0, LogNormal(2.0, 2.0), lengthscale)
    for curve in (free, SigmoidGP(12.0, 2.0, lengthscale), SigmoidGP(12.0, LogNormal(2.0, 2.0), [0.7, 0.9][:n_dims])):
        fitted = quiet_fit(X, y, lengthscale=curve)
        posterior = fitted.posterior_
        variance, lengthscales = posterior.curve_variance, posterior.curve_lengthscale
        assert variance.shape == (len(posterior),) and lengthscales.shape == (len(posterior), n_dims)
        assert (np.ptp(variance) > 0.1) == isinstance(curve.variance, LogNormal)
        assert (np.ptp(lengthscales[:, 0]) > 0.1) == isinstance(curve.lengthscale, list)
        np.testing.assert_allclose(lengthscales[:, -1] / lengthscales[:, 0], [1.0, 9.0 / 7.0][n_dims - 1])
        for i in (0, 57, 119):
            units = slice(*posterior.draws.offsets[i : i + 2])
            level = posterior.draws.values[i, 2] / posterior.problem.scaling.volume
            intensity = posterior.intensity(posterior.networks[i].centers)[i]
            np.testing.assert_allclose(intensity, level * posterior.draws.relative[units], rtol=1e-9)
        learned = {r.name for r in fitted.diagnostics_.rows} & {"log curve var", "log curve ls"}
        assert len(learned) == int(np.ptp(variance) > 0) + int(np.ptp(lengthscales[:, 0]) > 0)
        assert ("variance of h" in fitted.summary()) == ("log curve var" in learned)
        assert ("lengthscale of h" in fitted.summary()) == ("log curve ls" in learned)


def test_other_intensities_have_no_curve():
    posterior = model("constant").posterior_
    assert posterior.curve_variance is None and posterior.curve_lengthscale is None
