"""What CONTRIBUTING says about adding things, done from outside the package: each in one file, and fitted with."""

import math
import warnings

import numpy as np
import pytest
from laplace import Laplace
from mirror import MIRROR
from ramp import Ramp
from scipy import integrate, stats

import porbnet
from porbnet import LogNormal, PoRBNetRegressor, Prior
from porbnet.errors import StatementError
from porbnet.intensity import FromFunction
from porbnet.sampling.samplers import CollapsedSampler
from porbnet.statement.joint_draws import joint_draws

X = np.linspace(0.0, 1.0, 30)[:, None]
Y = np.sin(7.0 * X[:, 0]) + 0.2 * np.random.default_rng(3).laplace(size=30)


def fitted(X=X, Y=Y, **stated):
    length = {"n_chains": 2, "n_warmup": 200, "n_draws": 400, "thin": 2, "n_jobs": 1, "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return PoRBNetRegressor(**length | {"progress": False} | stated).fit(X, Y)


def weighted(weights, values):
    """Mean and Monte Carlo error of a self-normalised importance estimate."""
    share = weights / weights.sum()
    mean = share @ values
    return mean, math.sqrt((share**2) @ (values - mean) ** 2)


def chain_mean(posterior, values):
    from arviz_stats.base import array_stats

    by_chain = posterior.by_chain(values)
    return values.mean(), float(array_stats.mcse(by_chain, chain_axis=0, draw_axis=1))


# --- a likelihood --------------------------------------------------------------------------------------------------


def test_a_likelihood_reaches_its_posterior(seed):
    """Against importance sampling from the prior; 5 standard errors at 5 quantities: about 1 in 300,000."""
    prior = Prior(0.5, 1.0, region=(-0.3, 1.3), bias=0.5, noise=Laplace(LogNormal(0.4, 1.5)), units_per_lengthscale=1.0)
    inputs, outputs = np.array([[0.1], [0.3], [0.5], [0.8]]), np.array([0.4, 0.9, -0.3, 0.2])
    drawn = joint_draws(prior, 12_000, np.random.default_rng(seed))
    f, noise = drawn.networks(inputs), drawn.noise
    log_weights = (-np.abs(outputs - f) / noise[:, None] - np.log(2.0 * noise[:, None])).sum(axis=1)
    weights = np.exp(log_weights - log_weights.max())
    model = fitted(inputs, outputs, prior=prior, n_draws=4000, random_state=seed % 1000)
    posterior, at = model.posterior_, model.posterior_.f(inputs)
    found = {"width": posterior.n_units.astype(float), "noise": np.log(posterior.noise), **dict(enumerate(at.T[:3]))}
    wanted = {"width": drawn.networks.n_units.astype(float), "noise": np.log(noise), **dict(enumerate(f.T[:3]))}
    for name, values in found.items():
        (mean, error), (truth, doubt) = chain_mean(posterior, values), weighted(weights, wanted[name])
        assert abs(mean - truth) < 5.0 * math.hypot(error, doubt), (name, mean, truth, error, doubt)


def test_a_likelihood_predicts(tmp_path):
    model = fitted(noise=Laplace(LogNormal(0.2, 2.0)))
    law = model.posterior_.problem.likelihood
    y = np.linspace(-6.0, 6.0, 4001)
    density = np.exp(model.log_density(np.full((4001, 1), 0.4), y))
    assert abs(integrate.trapezoid(density, y) - 1.0) < 1e-3
    low, high = model.predict_interval([[0.4]], 0.8)[0]
    inside = (y > low) & (y < high)
    assert abs(integrate.trapezoid(density[inside], y[inside]) - 0.8) < 0.01
    assert law.words == "Laplace errors" and "noise" in {row.name for row in model.diagnostics_.rows}
    assert model.sample_y([[0.4]], 5).shape == (1, 5)
    model.save(tmp_path / "m")
    loaded = porbnet.load(tmp_path / "m")
    np.testing.assert_array_equal(loaded.predict(X, True), model.predict(X, True))
    assert loaded.prior_.noise == model.prior_.noise


def test_leave_one_out_of_a_likelihood():
    """Given the drawn function, by scipy; with the weights integrated out, by dense matrices and quadrature over f."""
    from porbnet.posterior.pointwise import log_likelihood

    model = fitted(noise=Laplace(0.3), lengthscale=0.2, amplitude=1.0, n_draws=5)
    posterior = model.posterior_
    drawn = log_likelihood(posterior, "drawn")
    order = posterior.problem.order
    f = posterior.f(X[order])
    np.testing.assert_allclose(drawn, stats.laplace.logpdf(Y[order], f, 0.3), rtol=1e-9)
    found, problem, i = log_likelihood(posterior, "integrated"), posterior.problem, 3
    network, others = posterior.networks[i], np.arange(30)
    phi = np.exp(-0.5 * (network.scales * (X[order] - network.centers[:, 0])) ** 2)
    covariance = problem.prior.bias**2 + problem.components[0].weight_factor * phi @ phi.T
    centered = Y[order] - posterior.offset
    for row in (0, 11, 29):
        left = others != row
        noisy = covariance[np.ix_(left, left)] + np.diag(0.3**2 / posterior.draws.kept[i][left])
        gain = np.linalg.solve(noisy, covariance[left, row])
        mean, sd = gain @ centered[left], math.sqrt(covariance[row, row] - gain @ covariance[left, row])
        z = np.linspace(-9.0, 9.0, 20_001)
        density = stats.laplace.pdf(centered[row], mean + sd * z, 0.3) * stats.norm.pdf(z)
        assert found[i, row] == pytest.approx(math.log(integrate.trapezoid(density, z)), abs=1e-5)


def test_weights_that_are_no_counts_are_refused():
    with pytest.raises(StatementError, match="with Laplace errors it must be whole numbers"):
        PoRBNetRegressor(noise=Laplace(0.3)).fit(X, Y, sample_weight=np.full(30, 0.5))


def test_a_likelihood_that_files_do_not_know_is_not_saved(tmp_path):
    class Hidden(Laplace):
        pass

    with pytest.raises(StatementError, match="cannot be saved: porbnet"):
        fitted(noise=Hidden(0.3), n_draws=2, n_warmup=2).save(tmp_path / "m")


# --- an intensity --------------------------------------------------------------------------------------------------


def test_an_intensity_is_fitted_by_its_table(tmp_path):
    """The same as a callable: whatever is known has a table."""
    stated = {"region": (-0.3, 1.3), "bias": 1.0, "noise": 0.2, "units_per_lengthscale": 1.5}
    ramp = Prior(Ramp(4.0, 12.0), 1.0, **stated)
    same = Prior(FromFunction(lambda X: 4.0 + 8.0 * (X[:, 0] + 0.3) / 1.6), 1.0, **stated)
    model, other = fitted(prior=ramp), fitted(prior=same)
    np.testing.assert_allclose(model.predict(X), other.predict(X), rtol=1e-6)
    np.testing.assert_allclose(model.intensity_at(X).mean, 4.0 + 8.0 * (X[:, 0] + 0.3) / 1.6)
    model.save(tmp_path / "m")
    np.testing.assert_array_equal(porbnet.load(tmp_path / "m").predict(X), model.predict(X))


# --- a move --------------------------------------------------------------------------------------------------------


def test_a_move_joins_the_sweep_and_leaves_the_posterior(seed):
    """Width and f agree with a fit without it; 5 standard errors at 4 quantities: about 1 in 400,000."""
    prior = Prior(Ramp(4.0, 12.0), 1.0, region=(-0.3, 1.3), bias=1.0, noise=0.3, units_per_lengthscale=1.5)
    lengths = {"prior": prior, "n_draws": 3000, "random_state": seed % 1000}
    model, plain = fitted(sampler=CollapsedSampler(moves=[MIRROR]), **lengths), fitted(**lengths)
    assert 0.0 < model.diagnostics_.acceptance["mirror"] < 1.0 and "mirror" in model.summary()
    assert "mirror" not in plain.diagnostics_.acceptance
    places = X[[3, 15, 27]]
    for a, b in zip(
        [model.posterior_.n_units.astype(float), *model.posterior_.f(places).T],
        [plain.posterior_.n_units.astype(float), *plain.posterior_.f(places).T],
        strict=True,
    ):
        (one, error), (other, doubt) = chain_mean(model.posterior_, a), chain_mean(plain.posterior_, b)
        assert abs(one - other) < 5.0 * math.hypot(error, doubt)


@pytest.mark.parametrize("moves", ["mirror", [3], [MIRROR.kernel]])
def test_bad_moves(moves):
    with pytest.raises(StatementError, match="moves="):
        CollapsedSampler(moves=moves)


def test_no_checkpoint_with_moves_that_no_file_can_hold(tmp_path):
    with pytest.raises(StatementError, match=r"checkpoint=.*with moves of your own it must be None"):
        fitted(sampler=CollapsedSampler(moves=[MIRROR]), checkpoint=tmp_path / "c")
    assert not (tmp_path / "c").exists()
