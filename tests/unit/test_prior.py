"""`Prior`: both ways of stating it, draws, moments by closed form and quadrature."""

import copy
import math
import pickle

import numpy as np
import pytest

from porbnet import LogNormal, Prior
from porbnet.base.seeds import DRAWS_PER_BLOCK
from porbnet.errors import StatementError, StatementWarning
from porbnet.intensity import Constant, FromFunction, Gamma, Piecewise, SigmoidGP, Tabulated, UnknownConstant


def varying(X):
    return 0.3 + 0.1 * np.sin(3.0 * X[:, 0])


INTENSITIES = {
    "constant": Constant(8.0),
    "unknown": UnknownConstant(20.0, 0.4),
    "piecewise": Piecewise([0.4], [5.0, 20.0]),
    "function": FromFunction(lambda X: 8.0 + 5.0 * np.sin(4.0 * X[:, 0])),
    "tabulated": Tabulated((-0.5, 1.5), [5.0, 20.0, 8.0]),
    "sigmoid": SigmoidGP(upper=20.0, variance=2.0, lengthscale=0.4),
    "sigmoid, unknown upper": SigmoidGP(upper=Gamma(10.0, 0.5), variance=2.0, lengthscale=0.4),
    "sigmoid, unknown law": SigmoidGP(upper=20.0, variance=LogNormal(2.0, 2.0), lengthscale=LogNormal(0.4, 1.5)),
}


def prior_with(kind):
    return Prior(INTENSITIES[kind], LogNormal(1.0, 1.5), region=(-0.5, 1.5), bias=0.3, noise=0.1)


# --- stating -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_dims", [1, 2, 3])
@pytest.mark.parametrize("kappa", [0.7, 2.0, 3.3])
@pytest.mark.parametrize("lengthscale", [0.7, 0.9123, 1.3])
def test_from_paper_is_the_same_prior_to_the_last_bit(lengthscale, kappa, n_dims, seed):
    region = [(-1.0, 1.5)] * n_dims
    stated = Prior(lengthscale, 1.7, region=region, bias=0.4, noise=0.2, units_per_lengthscale=kappa)
    paper = Prior.from_paper(
        s0=math.sqrt(2.0) / kappa,
        intensity=(kappa / lengthscale) ** n_dims,
        sigma_w2=1.7**2,
        sigma_b2=0.4**2,
        noise_variance=0.2**2,
        region=region,
    )
    assert stated == paper and hash(stated) == hash(paper)
    assert repr(stated) == repr(paper)
    assert (stated.s0, stated.weight_variance, stated.expected_units, stated.lengthscale) == (
        paper.s0,
        paper.weight_variance,
        paper.expected_units,
        paper.lengthscale,
    )
    X = np.random.default_rng(seed).uniform(-1.0, 1.5, (5, n_dims))
    np.testing.assert_array_equal(stated.covariance(X), paper.covariance(X))
    np.testing.assert_array_equal(stated.sample(X, 3, seed), paper.sample(X, 3, seed))


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_the_paper_stated_in_our_words(n_dims, seed):
    """The way back divides twice, so it may be off by a few units in the last place."""
    region = [(-0.25, 1.25)] * n_dims
    paper = Prior.from_paper(s0=math.sqrt(2.0), intensity=33.33, sigma_w2=0.05, sigma_b2=0.025, region=region)
    ours = Prior(
        paper.lengthscale,
        paper.amplitude,
        region=region,
        bias=paper.bias,
        units_per_lengthscale=paper.units_per_lengthscale,
    )
    assert ours.s0 == pytest.approx(paper.s0, rel=4e-16)
    assert ours.intensity.level == pytest.approx(33.33, rel=2e-15)
    assert ours.lengthscale == pytest.approx(paper.lengthscale, rel=1e-15)
    X = np.random.default_rng(seed).uniform(0.0, 1.0, (5, n_dims))
    np.testing.assert_allclose(ours.covariance(X), paper.covariance(X), rtol=1e-13)


def test_from_paper_takes_an_intensity_object():
    intensity = Piecewise([0.5], [10.0, 30.0])
    paper = Prior.from_paper(s0=1.0, intensity=intensity, sigma_w2=4.0, sigma_b2=0.0, region=(0.0, 1.0))
    assert paper == Prior(intensity, 2.0, region=(0.0, 1.0), units_per_lengthscale=math.sqrt(2.0))
    assert paper.noise is None and paper.bias == 0.0


def test_a_callable_lengthscale_is_the_intensity():
    prior = Prior(varying, 1.0, region=(-1.0, 1.0), units_per_lengthscale=3.0)
    X = np.linspace(-1.0, 1.0, 7)
    np.testing.assert_allclose(prior.lengthscale_at(X), varying(X[:, None]), rtol=1e-14)
    np.testing.assert_allclose(prior.intensity_at(X), 3.0 / varying(X[:, None]), rtol=1e-14)
    assert prior.lengthscale is None


def test_lengthscale_per_dimension():
    prior = Prior([0.5, 2.0], 1.0, region=[(-3.0, 3.0), (-12.0, 12.0)])
    assert prior.lengthscale == pytest.approx(1.0)
    np.testing.assert_allclose(prior.lengthscale_at([[0.0, 0.0]], per_dimension=True), [[0.5, 2.0]])
    np.testing.assert_allclose(prior.curvature_lengthscale_at([[0.0, 0.0]]), [[0.5, 2.0]], rtol=1e-9)
    same = Prior(1.0, 1.0, region=[(-3.0, 3.0), (-12.0, 12.0)], anisotropy=[1.0, 4.0])
    np.testing.assert_allclose(same.covariance([[0.1, 0.2], [0.5, 1.0]]), prior.covariance([[0.1, 0.2], [0.5, 1.0]]))


def test_the_covariance_is_that_of_a_gaussian_process_in_the_middle(seed):
    for n_dims in (1, 2, 3):
        prior = Prior(0.8, 2.0, region=[(-6.0, 6.0)] * n_dims, bias=0.5, units_per_lengthscale=0.5)
        X = np.random.default_rng(seed).uniform(-1.0, 1.0, (6, n_dims))
        distance2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
        np.testing.assert_allclose(prior.covariance(X), 0.25 + 4.0 * np.exp(-0.5 * distance2 / 0.64), rtol=1e-9)


# --- draws ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", INTENSITIES)
@pytest.mark.parametrize("n_points", [3, 150])
def test_same_seed_same_draws_however_they_are_asked_for(kind, n_points, seed):
    prior = prior_with(kind)
    X = np.random.default_rng(seed).permutation(np.linspace(0.0, 1.0, n_points))
    n = DRAWS_PER_BLOCK + 7
    values = prior.sample(X, n, seed)
    assert values.shape == (n, n_points)
    for fewer in (1, 5, DRAWS_PER_BLOCK, DRAWS_PER_BLOCK + 1):
        np.testing.assert_array_equal(prior.sample(X, fewer, seed), values[:fewer])
    np.testing.assert_array_equal(np.concatenate(list(prior.sample_chunks(X, n, seed))), values)
    networks = prior.sample_networks(n, seed)
    np.testing.assert_array_equal(networks(X), values)
    np.testing.assert_array_equal(prior.sample_networks(2, seed)[1].centers, networks[1].centers)
    np.testing.assert_array_equal(networks[5](X), values[5])
    assert not np.array_equal(prior.sample(X, 1, seed + 1), values[:1])


def test_random_states(seed):
    prior, X = prior_with("constant"), [0.1, 0.2]
    expected = prior.sample(X, 3, seed)
    np.testing.assert_array_equal(prior.sample(X, 3, np.random.SeedSequence(seed)), expected)
    for make in (np.random.default_rng, np.random.RandomState):
        one, two = make(5), make(5)
        first = prior.sample(X, 3, one)
        np.testing.assert_array_equal(first, prior.sample(X, 3, two))
        assert not np.array_equal(first, prior.sample(X, 3, one))
    assert not np.array_equal(prior.sample(X, 3), prior.sample(X, 3))


def test_a_network_has_what_the_model_says(seed):
    prior = Prior(Piecewise([0.4], [5.0, 20.0]), 1.5, region=(-0.5, 1.5), units_per_lengthscale=3.0)
    networks = prior.sample_networks(20, seed)
    assert len(networks) == 20 and networks.n_dims == 1
    levels = np.where(networks.centers[:, 0] < 0.4, 5.0, 20.0)
    np.testing.assert_allclose(networks.scales, math.sqrt(2.0) / 3.0 * levels, rtol=1e-14)
    assert prior.region.contains(networks.centers).all()
    assert networks.biases.tolist() == [0.0] * 20


@pytest.mark.parametrize("n_dims", [2, 3])
def test_scales_in_more_dimensions_take_the_root(n_dims, seed):
    prior = Prior(0.7, 1.5, region=[(0.0, 1.0)] * n_dims)
    networks = prior.sample_networks(5, seed)
    np.testing.assert_allclose(networks.scales, math.sqrt(2.0) / 0.7, rtol=1e-14)
    assert prior.weight_variance == pytest.approx((prior.s0**2 / math.pi) ** (n_dims / 2.0) * 1.5**2)


# --- moments -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["constant", "unknown", "piecewise", "sigmoid", "sigmoid, unknown upper"])
def test_closed_form_equals_quadrature(kind):
    prior = prior_with(kind)
    X = np.array([-0.7, -0.5, -0.2, 0.39, 0.41, 1.1, 1.5])
    np.testing.assert_allclose(
        prior.covariance(X, method="closed"), prior.covariance(X, method="quadrature"), rtol=1e-6
    )
    np.testing.assert_allclose(prior.variance(X, "closed"), prior.variance(X, "quadrature"), rtol=1e-6)
    closed, other = (prior.curvature_lengthscale_at(X, method) for method in ("closed", "quadrature"))
    np.testing.assert_allclose(closed, other, rtol=1e-5)
    np.testing.assert_allclose(np.diag(prior.covariance(X)), prior.variance(X), rtol=1e-12)


@pytest.mark.parametrize("n_dims", [2, 3])
def test_closed_form_equals_quadrature_in_more_dimensions(n_dims, seed):
    breaks = [[0.3], [0.6], []][:n_dims]
    values = np.arange(1.0, 1.0 + np.prod([len(b) + 1 for b in breaks])).reshape([len(b) + 1 for b in breaks])
    anisotropy = [0.5, 1.0, 2.0][:n_dims]
    prior = Prior(Piecewise(breaks, 4.0 * values), 1.0, region=[(0.0, 1.0)] * n_dims, anisotropy=anisotropy)
    X = np.random.default_rng(seed).uniform(-0.1, 1.1, (5, n_dims))
    np.testing.assert_allclose(
        prior.covariance(X, method="closed"), prior.covariance(X, method="quadrature"), rtol=1e-6
    )
    closed, other = (prior.curvature_lengthscale_at(X, method) for method in ("closed", "quadrature"))
    np.testing.assert_allclose(closed, other, rtol=1e-6)


@pytest.mark.parametrize("kind", INTENSITIES)
def test_derivatives_of_the_covariance(kind):
    """Var f' = ∂²Cov/∂x∂x' and Cov(f, f') = ½ ∂Var/∂x, by finite differences of the covariance."""
    prior, x, h = prior_with(kind), 0.31, 1e-3
    m = prior.point_moments(np.array([[x]]))
    around = prior.covariance([x - h, x, x + h])
    second = (around[2, 2] - around[0, 2] - around[2, 0] + around[0, 0]) / (4.0 * h * h)
    assert m.gradient_variance[0, 0] == pytest.approx(second, rel=1e-3)
    assert prior.gradient_variance([x])[0, 0] == pytest.approx(m.gradient_variance[0, 0])
    first = (around[2, 2] - around[0, 0]) / (4.0 * h)
    assert m.cross[0, 0] == pytest.approx(first, rel=1e-3, abs=1e-3)


def test_method_must_exist():
    with pytest.raises(StatementError, match=r"method='closed'.*no closed form"):
        prior_with("function").covariance([0.0], method="closed")
    with pytest.raises(StatementError, match="method='fast'"):
        prior_with("constant").covariance([0.0], method="fast")


def test_quantiles_of_an_unknown_lengthscale():
    prior = prior_with("unknown")
    low, high = prior.lengthscale_at([0.0, 1.0], [0.1, 0.9])[0]
    assert low < prior.lengthscale_at([0.0])[0] < high
    levels = prior.intensity_at([0.0], [0.1, 0.9])[0]
    np.testing.assert_allclose([low, high], prior.units_per_lengthscale / levels[::-1])
    known = prior_with("constant").lengthscale_at([0.0, 1.0], [0.1, 0.9])
    np.testing.assert_allclose(known, 2.0 / 8.0)
    for bad in ([0.0], [1.0], [], 0.5, "a", [[0.5]]):
        with pytest.raises(StatementError, match="quantiles="):
            prior.lengthscale_at([0.0], bad)


def test_kept_variance_is_a_share():
    prior = prior_with("constant")
    assert prior.kept_variance([0.5])[0] == pytest.approx(1.0, abs=1e-6)
    assert prior.kept_variance([-0.5])[0] == pytest.approx(0.5, abs=1e-6)


# --- as an object --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", [k for k in INTENSITIES if k != "function"])
def test_pickle_and_copy(kind, seed):
    prior = prior_with(kind)
    expected = prior.sample([0.1, 0.9], 3, seed)
    for other in (pickle.loads(pickle.dumps(prior)), copy.copy(prior), copy.deepcopy(prior)):
        assert other == prior and hash(other) == hash(prior)
        np.testing.assert_array_equal(other.sample([0.1, 0.9], 3, seed), expected)


def test_a_callable_of_a_module_can_be_pickled(seed):
    prior = Prior(varying, 1.0, region=(-1.0, 1.0))
    other = pickle.loads(pickle.dumps(prior))
    np.testing.assert_array_equal(other.sample([0.1], 3, seed), prior.sample([0.1], 3, seed))


def test_priors_differ_where_their_statement_does():
    base = {"lengthscale": 0.3, "amplitude": 1.0, "region": (0.0, 1.0), "bias": 0.1, "noise": 0.2}
    priors = [Prior(**base)] + [
        Prior(**{**base, **change})
        for change in (
            {"lengthscale": 0.30000000000001},
            {"amplitude": LogNormal(1.0)},
            {"region": (0.0, 1.1)},
            {"bias": 0.0},
            {"noise": None},
            {"units_per_lengthscale": 3.0},
            {"lengthscale": Tabulated((0, 1), [6.0, 7.0])},
            {"lengthscale": Tabulated((0, 1), [6.0, 8.0])},
        )
    ]
    assert len(set(priors)) == len(priors)
    assert priors[0] != "a prior"


def test_repr_states_the_prior():
    prior = Prior(0.25, 2.0, region=(-1, 2), noise=LogNormal(0.1), bias=1.0)
    assert eval(repr(prior)) == prior
    assert repr(prior) == (
        "Prior(lengthscale=0.25, amplitude=2.0, bias=1.0, noise=LogNormal(median=0.1, factor=3.0), "
        "region=[-1.0, 2.0], units_per_lengthscale=2.0)"
    )
    assert "anisotropy=" in repr(Prior([0.5, 1.0], 1.0, region=[(0, 1), (0, 1)]))
    assert "Piecewise" in repr(prior_with("piecewise"))


def test_width_in_the_thousands_warns_and_in_the_billions_fails():
    with pytest.warns(StatementWarning, match="3,000 units"):
        Prior(0.001, 1.0, region=(0.0, 1.5))
    with pytest.raises(StatementError, match=r"lengthscale.*region=.*must be at most 1e\+08"):
        Prior(1e-9, 1.0, region=(0.0, 1.5))


def test_far_outside_the_region_the_lengthscale_is_the_stated_one():
    np.testing.assert_allclose(prior_with("constant").curvature_lengthscale_at([1e3]), 0.25)
