"""Likelihoods: parameters, densities and laws of new observations, against textbook formulas and quadrature."""

import itertools
import math

import numpy as np
import pytest
from fit_tools import quiet_fit
from scipy import integrate, stats

from porbnet import InverseGamma, LogNormal, Prior
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.likelihood import Drawn, Gaussian, RobustNoise, VaryingNoise, likelihood_of
from porbnet.posterior import mixture

LINE = Region.of((0.0, 1.0))


def drawn(**values):
    """One draw."""
    return Drawn({k: np.array([v]) for k, v in values.items()}, np.zeros((1, 0)), LINE)


# --- statements ----------------------------------------------------------------------------------------------------


def test_a_number_or_its_law_means_gaussian_errors():
    for noise in (0.3, LogNormal(0.3, 2.0), InverseGamma(3.0, 0.2)):
        assert likelihood_of(noise) == Gaussian(noise)
        assert Prior(0.3, 1.0, region=(0, 1), noise=noise).likelihood == Gaussian(noise)
    robust = RobustNoise(0.3)
    assert likelihood_of(robust) is robust
    assert Prior(0.3, 1.0, region=(0, 1)).likelihood is None


@pytest.mark.parametrize("noise", [RobustNoise, Gaussian, VaryingNoise])
def test_a_class_is_no_likelihood(noise):
    with pytest.raises(StatementError, match=r"noise=.*it is a class: make one"):
        likelihood_of(noise)


def test_parameters_have_names_laws_and_units():
    noise, freedom = RobustNoise(LogNormal(0.3, 2.0), 4.0).parameters()
    assert (noise.name, noise.unit, noise.known) == ("noise", "output", False)
    assert (freedom.name, freedom.unit, freedom.known, freedom.law) == ("freedom", "number", True, 4.0)
    (square,) = Gaussian(InverseGamma(3.0, 0.2)).parameters()
    drawn_sd = square.sample(20_000, np.random.default_rng(0))
    assert abs((drawn_sd**2).mean() / 0.1 - 1.0) < 0.05  # the law is that of the square


# --- Student-t errors ----------------------------------------------------------------------------------------------


def by_quadrature(y, mean, variance, sd, freedom):
    """log ∫ t(y; f, sd, ν) N(f; mean, variance) df, by scipy, with the integrand's largest value taken out."""
    s, half = math.sqrt(variance), 0.5 * (freedom + 1.0)
    constant = math.lgamma(half) - math.lgamma(0.5 * freedom) - 0.5 * math.log(math.pi * freedom) - math.log(sd)
    constant -= 0.5 * math.log(2.0 * math.pi)

    def log_integrand(z):
        return -half * math.log1p(((y - mean - s * z) / sd) ** 2 / freedom) - 0.5 * z * z

    at = (y - mean) / s
    centers = {0.0, at} if abs(at) < 38.0 else {0.0}
    steps = [k * w for w in (1.0, sd / s) for k in (-30, -8, -3, -1, -0.3, 0, 0.3, 1, 3, 8, 30)]
    edges = sorted({-38.0, 38.0, *(float(np.clip(c + k, -38.0, 38.0)) for c in centers for k in steps)})
    top = max(log_integrand(z) for z in np.unique(np.concatenate([np.linspace(-38, 38, 4001), edges])))
    parts = [
        integrate.quad(lambda z: math.exp(log_integrand(z) - top), low, high, epsabs=1e-14, epsrel=1e-10, limit=200)[0]
        for low, high in itertools.pairwise(edges)
    ]
    return constant + top + math.log(sum(parts))


@pytest.mark.filterwarnings("ignore::scipy.integrate.IntegrationWarning")  # asked for all the digits there are
@pytest.mark.parametrize("freedom", [0.3, 0.5, 1.0, 2.0, 4.0, 10.0, 30.0, 100.0, 1000.0])
@pytest.mark.parametrize("spread", [0.01, 0.3, 1.0, 10.0])
def test_density_of_student_t_errors_to_a_millionth(freedom, spread):
    """Far into the tails: densities were wrong by a factor e^1332 at 15 scales with 30 degrees of freedom."""
    likelihood, sd = RobustNoise(1.0, freedom), 0.7
    for away in (0.0, 0.3, 1.0, 3.0, 15.0, 143.0, 1e4, 1e6):
        y, mean, variance = 2.0 + away * sd, 2.0, (spread * sd) ** 2
        one = np.ones((1, 1))
        found = likelihood.log_integrated(
            np.array([y]), mean * one, variance * one, sd * one, drawn(noise=sd, freedom=freedom)
        )
        assert abs(found[0, 0] - by_quadrature(y, mean, variance, sd, freedom)) < 1e-6, (away, found)


def test_student_t_errors_of_a_known_function():
    """Without doubt about f the density is Student's own, wherever it is looked at."""
    for freedom in (0.3, 1.0, 30.0, 1000.0):
        y = np.concatenate([[0.0], np.geomspace(1e-3, 1e6, 40)])
        flat = np.zeros((1, len(y)))
        found = RobustNoise(1.0, freedom).log_integrated(
            y, flat, flat + 1e-18, flat + 1.0, drawn(noise=1.0, freedom=freedom)
        )
        np.testing.assert_allclose(found[0], stats.t.logpdf(y, freedom), rtol=0, atol=1e-6)


@pytest.mark.parametrize("freedom", [0.3, 0.5, 1.0, 3.0, 30.0, 1000.0])
def test_distribution_of_student_t_errors(freedom):
    """The mixture that quantiles are made from, against the distribution function of t averaged over f."""
    sd, s = 0.7, 0.5
    parts = RobustNoise(sd, freedom).mixture(
        np.zeros((1, 1)), np.full((1, 1), s**2), np.full((1, 1), sd), drawn(noise=sd, freedom=freedom)
    )
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    for y in (-30.0, -3.0, -0.5, 0.0, 0.2, 2.0, 20.0):
        wanted = (weights * stats.t.cdf(y, freedom, s * nodes, sd)).sum() / math.sqrt(2 * math.pi)
        found = mixture.distribution(np.array([y]), parts.mean, parts.variance, parts.weights)[0]
        assert abs(found - wanted) < 2e-4, (y, found, wanted)


@pytest.mark.parametrize("freedom", [1.0, 0.5, LogNormal(0.8, 1.3)])
def test_few_degrees_of_freedom_are_still_heavy_tails(freedom, seed):
    """A logarithm of at most zero once stood for "no heavy tails": such fits followed the outlier (RMSE 2.36)."""
    rng = np.random.default_rng(seed)
    X = np.linspace(0.0, 1.0, 40)[:, None]
    truth = np.sin(6.0 * X[:, 0])
    y = truth + 0.1 * rng.standard_normal(40)
    y[20] = 40.0
    prior = Prior(0.3, 1.5, region=(-0.5, 1.5), bias=1.0, noise=RobustNoise(LogNormal(0.1, 2.0), freedom))
    fitted = quiet_fit(X, y, prior=prior, n_warmup=300, n_draws=300)
    assert np.sqrt(np.mean((fitted.predict(X) - truth) ** 2)) < 0.15
    assert fitted.posterior_.draws.kept.shape[1] == 40


def test_freedom_is_diagnosed():
    X = np.linspace(0.0, 1.0, 20)[:, None]
    y = np.sin(6.0 * X[:, 0]) + 0.2 * np.cos(50.0 * X[:, 0])
    fitted = quiet_fit(X, y, noise="robust", n_warmup=20, n_draws=20)
    assert {"noise", "freedom"} <= {row.name for row in fitted.diagnostics_.rows}


# --- Gaussian errors -----------------------------------------------------------------------------------------------


def test_gaussian_density_and_mixture():
    y, mean, variance, sd = np.array([0.3, 2.0]), np.array([[0.1, 1.0]]), np.array([[0.2, 0.1]]), np.array([[0.5, 0.4]])
    found = Gaussian(0.5).log_integrated(y, mean, variance, sd, drawn(noise=0.5))
    np.testing.assert_allclose(found, stats.norm.logpdf(y, mean, np.sqrt(variance + sd**2)))
    parts = Gaussian(0.5).mixture(mean, variance, sd, drawn(noise=0.5))
    np.testing.assert_allclose(parts.variance, variance + sd**2)
    assert parts.weights is None


def test_varying_noise_of_prior_draws_has_its_law(seed):
    """log σ(x) - log level ~ N(0, variance) at every place; 4 standard errors at 3 places: about 1 in 5,000."""
    noise, rng = VaryingNoise(0.3, 0.7, 0.2), np.random.default_rng(seed)
    n, X = 4000, np.array([[0.1], [0.5], [0.93]])
    draws = Drawn({"noise": np.full(n, 0.3)}, noise.sample_kept(n, LINE, rng), LINE)
    h = np.log(noise.sd_at(draws, X) / 0.3)
    assert np.all(np.abs(h.mean(axis=0)) < 4 * math.sqrt(0.7 / n))
    assert np.all(np.abs(h.var(axis=0) / 0.7 - 1.0) < 4 * math.sqrt(2 / n) + 0.01)


def test_gauss_hermite_unless_a_likelihood_knows_better():
    class Plain(Gaussian):
        log_integrated = Gaussian.__mro__[2].log_integrated  # that of every likelihood

    y, one = np.array([0.4]), np.ones((1, 1))
    arguments = (y, 0.1 * one, 0.3 * one, 0.5 * one, drawn(noise=0.5))
    np.testing.assert_allclose(
        Plain(0.5).log_integrated(*arguments), Gaussian(0.5).log_integrated(*arguments), rtol=1e-9
    )
