"""Baselines: one interface, and parts of each against what is known."""

import sys

import numpy as np
import pytest
from scipy.integrate import trapezoid
from sklearn.exceptions import NotFittedError

from porbnet.base.distributions import LogNormal
from porbnet.baselines import (
    BNNRegressor,
    BRBFNRegressor,
    DropoutRegressor,
    GPRegressor,
    LGPRegressor,
    _nuts,
    matched_bnn,
)
from porbnet.baselines.lgp import Curves, kernel
from porbnet.comparison import BNNPrior, BRBFNPrior, GaussianProcessPrior
from porbnet.errors import StatementError, StatementWarning
from porbnet.statement.prior import Prior

NUTS = {"n_warmup": 60, "n_draws": 40, "n_chains": 1}
BNN = BNNPrior(5, "rbf", input_weight_sd=4.0, input_bias_sd=4.0, output_weight_sd=1.0, output_bias_sd=0.5)
MODELS = {
    "gp": lambda: GPRegressor(),
    "gp hmc": lambda: GPRegressor("hmc", **NUTS),
    "bnn": lambda: BNNRegressor(BNN, LogNormal(0.1, 3.0), **NUTS),
    "brbfn": lambda: BRBFNRegressor(n_chains=2, n_warmup=100, n_draws=100),
    "lgp": lambda: LGPRegressor(("lengthscale", "noise"), max_depth=5, **NUTS),
    "dropout": lambda: DropoutRegressor(rates=[0.005], n_epochs=300, n_passes=100),
}


WITHOUT_JAX = ("gp", "brbfn")


def data():
    rng = np.random.default_rng(5)
    X = np.sort(rng.random(25))[:, None]
    return X, 2.0 + np.sin(6.0 * X[:, 0]) + 0.1 * rng.standard_normal(25)


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in ("gp hmc", "lgp", "bnn") else n for n in MODELS]
)
def test_one_interface(name):
    if name not in WITHOUT_JAX:
        pytest.importorskip("numpyro")
    X, y = data()
    model = MODELS[name]()
    with pytest.raises(NotFittedError, match="call fit first"):
        model.predict(X)
    assert model.fit(X, y) is model
    grid = np.linspace(0.05, 0.95, 7)[:, None]
    mean, sd = model.predict(grid, return_std=True)
    _, sd_f = model.predict(grid, return_std=True, of="f")
    assert mean.shape == sd.shape == (7,) and np.all(sd_f < sd)
    if name != "bnn":  # its prior mean is zero, and so short a chain need not have arrived
        assert np.sqrt(np.mean((mean - 2.0 - np.sin(6.0 * grid[:, 0])) ** 2)) < 0.35
    f = model.sample_f(grid, 3, random_state=1)
    assert f.shape == (7, 3) and np.array_equal(f, model.sample_f(grid, 3, random_state=1))
    low, high = model.predict_interval(grid, 0.5).T
    assert np.all(low < high)
    # the density of y at a point integrates to one
    values = np.linspace(mean[3] - 12 * sd[3], mean[3] + 12 * sd[3], 2001)
    density = np.exp(model.log_density(np.repeat(grid[3:4], 2001, axis=0), values))
    assert abs(trapezoid(density, values) - 1.0) < 0.01


def test_the_same_seed_gives_the_same_fit():
    pytest.importorskip("numpyro")
    X, y = data()
    first, second = (MODELS["bnn"]().fit(X, y).predict(X) for _ in range(2))
    assert np.array_equal(first, second)


def test_a_bnn_that_learns_nothing_keeps_its_prior(seed):
    """With noise of 1000 the posterior is the prior: the mean square of f against the formula.

    500 nearly independent draws: relative error about 0.09; outside 0.6 to 1.6 is rarer than 1 in 10,000.
    """
    pytest.importorskip("numpyro")
    X, y = data()
    model = BNNRegressor(BNN, 1000.0, n_warmup=200, n_draws=500, n_chains=1, random_state=seed).fit(X, y)
    f = model.sample_f(np.array([[0.0], [1.0]]), 500)
    assert np.all(np.abs(np.log(np.mean(f**2, axis=1) / BNN.variance([0.0, 1.0]))) < np.log(1.6))


def test_the_gaussian_process_is_that_of_scikit_learn():
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

    X, y = data()
    model = GPRegressor().fit(X, y)
    amplitude, length, noise = model._theta[0]
    kernel_ = ConstantKernel(amplitude**2) * RBF(length) + WhiteKernel(noise**2)
    same = GaussianProcessRegressor(kernel_, optimizer=None).fit(X, y - y.mean())
    grid = np.linspace(0, 1, 9)[:, None]
    mean, sd = same.predict(grid, return_std=True)
    own_mean, own_sd = model.predict(grid, return_std=True)
    assert np.allclose(own_mean, mean + y.mean(), atol=1e-4) and np.allclose(own_sd, sd, atol=1e-4)


def test_the_kernel_of_a_constant_lengthscale_is_squared_exponential():
    x = np.linspace(0.0, 1.0, 6)
    curves = Curves(np.full(6, 0.3), np.full(6, 0.1), np.full(6, 1.7))
    assert np.allclose(kernel(np, x, curves, x, curves), GaussianProcessPrior(0.3, 1.7).covariance(x))


def test_the_kernel_of_a_varying_lengthscale_is_a_covariance():
    x = np.linspace(0.0, 1.0, 40)
    curves = Curves(0.05 + 0.3 * x**2, np.full(40, 0.1), 1.0 + x)
    assert np.linalg.eigvalsh(kernel(np, x, curves, x, curves)).min() > -1e-10


def test_a_constant_intensity_makes_a_brbfn():
    """What `BRBFNRegressor` rests on: the two priors are one where scale and intensity are constant, edges aside."""
    net = Prior(0.3, 2.0, region=(-1.0, 2.0), units_per_lengthscale=1.5, bias=0.5)
    same = BRBFNPrior(2**0.5 / 0.3, net.intensity, net.weight_variance**0.5, region=(-1.0, 2.0), bias=0.5)
    x = np.linspace(0.0, 1.0, 9)
    assert np.allclose(net.covariance(x), same.covariance(x))


@pytest.mark.parametrize("activation", ["rbf", "tanh"])
def test_a_matched_bnn_has_the_upcrossings_and_the_variance_of_its_target(activation):
    net = Prior(0.15, 2.0, region=(-1.0, 2.0), bias=0.7)
    bnn = matched_bnn(net, (0.0, 1.0), activation=activation)
    assert np.isclose(bnn.upcrossings((0.0, 1.0)), net.upcrossings((0.0, 1.0)), rtol=1e-4)
    x = np.linspace(0.0, 1.0, 201)
    assert np.isclose(bnn.variance(x).mean(), net.variance(x).mean(), rtol=1e-6)


def test_a_bnn_that_cannot_have_so_many_upcrossings_has_as_many_as_it_can():
    net = Prior(lengthscale=0.005, amplitude=1.0, region=(-0.1, 1.1), units_per_lengthscale=1.0)
    with pytest.warns(StatementWarning, match=r"a BNN with 50 units has at most about .* expected upcrossings in"):
        bnn = matched_bnn(net, (0.0, 1.0), activation="tanh")
    most = max(
        BNNPrior(50, "tanh", input_weight_sd=sd, input_bias_sd=sd, output_weight_sd=1.0).upcrossings((0.0, 1.0))
        for sd in np.geomspace(0.1, 5e3, 30)
    )
    assert most < net.upcrossings((0.0, 1.0))
    assert bnn.upcrossings((0.0, 1.0)) == pytest.approx(most, rel=0.02)


def test_a_bnn_that_cannot_have_so_few_upcrossings_is_refused():
    net = Prior(lengthscale=500.0, amplitude=1.0, region=(-1500.0, 1500.0))
    with pytest.raises(StatementError, match="does not contain a solution"):
        matched_bnn(net, (0.0, 1.0), activation="tanh")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: GPRegressor("map"), "method='map'"),
        (lambda: BNNRegressor(3, 0.1), "prior=3"),
        (lambda: BNNRegressor(BNN, -1.0), "noise=-1"),
        (lambda: LGPRegressor("bias"), "varying='bias'"),
        (lambda: DropoutRegressor(rates=[1.5]), "rates="),
        (lambda: BRBFNRegressor("short"), "lengthscale='short'"),
        (lambda: GPRegressor().fit([[0.0], [np.nan]], [1.0, 2.0]), "X="),
        (lambda: GPRegressor().fit([[0.0], [1.0]], [1.0]), "y has 1"),
        (lambda: LGPRegressor().fit(np.zeros((4, 2)), np.zeros(4)), "X has 2 inputs"),
    ],
)
def test_bad_arguments_are_named(make, words):
    with pytest.raises(StatementError, match=words):
        make()


def test_without_numpyro_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "numpyro", None)
    with pytest.raises(ImportError, match=r"pip install 'porbnet\[paper\]'"):
        _nuts.jax_modules()
