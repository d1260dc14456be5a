"""A straight line in f: stated, drawn, fitted, saved, resumed, shown."""

import warnings

import numpy as np
import pytest
from fit_tools import SHORT, quiet_fit, same_draws

import porbnet
from porbnet import PoRBNetRegressor, Prior
from porbnet.errors import ConvergenceWarning, ExtrapolationWarning, StatementError
from porbnet.statement.joint_draws import joint_draws

pytestmark = pytest.mark.filterwarnings("ignore::porbnet.errors.ExtrapolationWarning")


def rising(n=50, n_dims=1, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 7.0, (n, n_dims))
    return X, 20.0 + 4.0 * X[:, 0] + 0.5 * rng.standard_normal(n)


# --- stating -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_dims", [1, 2])
def test_moments_of_a_prior_have_the_line(n_dims):
    region = [(0.0, 4.0)] * n_dims
    plain, with_line = (Prior(0.5, 1.0, region=region, bias=2.0, trend=t) for t in (None, [3.0, 1.0][:n_dims]))
    X = np.array([[2.0, 2.0], [3.0, 5.0], [-1.0, 2.0]])[:, :n_dims]
    away = (X - 2.0) * [3.0, 1.0][:n_dims]
    np.testing.assert_allclose(with_line.covariance(X) - plain.covariance(X), away @ away.T, atol=1e-9)
    np.testing.assert_allclose(with_line.variance(X) - plain.variance(X), np.sum(away**2, axis=1), atol=1e-9)
    slopes = with_line.gradient_variance(X) - plain.gradient_variance(X)
    np.testing.assert_allclose(slopes, np.tile(np.array([9.0, 1.0])[:n_dims], (3, 1)), atol=1e-9)


def test_draws_of_a_prior_have_the_line(seed):
    """Slopes over a long way, whose sd is 3: 2,000 draws leave 8 % once in 1e6."""
    prior = Prior(0.5, 1.0, region=(0.0, 4.0), trend=3.0)
    f = prior.sample([-1000.0, 1000.0], 2000, seed)
    slopes = (f[:, 1] - f[:, 0]) / 2000.0
    assert abs(slopes.std() / 3.0 - 1.0) < 0.08 and abs(slopes.mean()) < 0.35
    networks = prior.sample_networks(20, seed)
    np.testing.assert_array_equal(networks([-1000.0, 1000.0]), f[:20])
    np.testing.assert_allclose(networks[3:9]([1.0, 7.0]), networks([1.0, 7.0])[3:9])
    np.testing.assert_allclose(networks[4]([1.0, 7.0]), networks([1.0, 7.0])[4])
    np.testing.assert_allclose(networks.gradient([[2000.0]])[:, 0, 0].std(), 3.0, rtol=1.0)
    joint = joint_draws(prior, 5, np.random.default_rng(seed))
    assert joint.networks.trend.slopes.shape == (5, 1)


@pytest.mark.parametrize("trend", [0.0, -1.0, True, "bent", [1.0, 2.0], np.inf])
def test_what_a_trend_cannot_be(trend):
    with pytest.raises(StatementError, match="trend"):
        PoRBNetRegressor(trend=trend, **SHORT).fit(*rising())


def test_the_papers_sampler_has_none():
    with pytest.raises(StatementError, match=r"trend=.* with the paper's sampler it must be None"):
        PoRBNetRegressor(trend="linear", sampler="paper", **SHORT).fit(*rising())


def test_a_prior_says_and_compares_its_trend():
    a, b = (Prior(0.5, 1.0, region=(0.0, 4.0), trend=t) for t in (3.0, None))
    assert a != b and "trend=[3.0]" in repr(a) and "trend" not in repr(b)


def test_defaults_follow_the_data():
    X, y = rising()
    first, second = quiet_fit(X, y, trend="linear"), quiet_fit(100.0 * X - 7.0, -0.01 * y, trend="linear")
    np.testing.assert_allclose(second.prior_.trend, first.prior_.trend * 1e-4)
    np.testing.assert_allclose(first.prior_.trend, np.sqrt(12.0) * y.std() / np.ptp(X))
    assert first.prior_.amplitude.median < 0.2 * y.std()  # what the line leaves
    assert quiet_fit(X, y, trend=2.5).prior_.trend.tolist() == [2.5]


# --- fitting -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("more", [{}, {"noise": "varying"}, {"noise": "robust"}, {"lengthscale": 2.0}])
def test_the_slope_is_found_and_followed(more):
    X, y = rising()
    model = quiet_fit(X, y, trend="linear", n_warmup=200, n_draws=200, **more)
    slopes = model.posterior_.slopes[:, 0]
    assert abs(slopes.mean() - 4.0) < 0.5
    far = np.array([[20.0]])
    mean, sd = model.predict(far, return_std=True, of="f")
    assert abs(mean[0] - 100.0) < 4.0 * sd[0] and sd[0] < 40.0
    np.testing.assert_allclose(model.posterior_.f(far).mean(), mean[0], atol=0.5 * sd[0])
    np.testing.assert_allclose(np.sqrt(model.posterior_.covariance(far)[0, 0]), sd[0], rtol=1e-6)


def test_moments_are_those_of_the_draws():
    """Mean and variance of f from many points, from few, from tables and from covariances."""
    model = quiet_fit(*rising(), trend="linear", lengthscale="constant")
    X = np.linspace(-30.0, 40.0, 4000)[:, None]
    mean, variance = model.posterior_.mean_and_variance(X)
    some = slice(0, None, 500)
    few = model.posterior_.mean_and_variance(X[some])
    np.testing.assert_allclose(mean[some], few[0], rtol=1e-8)
    np.testing.assert_allclose(variance[some], few[1], rtol=1e-6)
    np.testing.assert_allclose(model.predict(X)[some], few[0], rtol=1e-6, atol=1e-6 * np.abs(few[0]).max())
    ((_, tables),) = model.posterior_.f_moments(X[some])
    np.testing.assert_allclose(tables.mean.mean(axis=0), few[0], rtol=1e-8)
    total = tables.variance.mean(axis=0) + tables.mean.var(axis=0)
    np.testing.assert_allclose(total, few[1], rtol=1e-6)


def test_two_inputs():
    X, y = rising(60, 2)
    model = quiet_fit(X, y, trend="linear", lengthscale="constant")
    assert model.posterior_.slopes.shape == (len(model.posterior_), 2)
    assert [row.name for row in model.diagnostics_.rows if row.name.startswith("slope")] == ["slope 1", "slope 2"]
    assert "slope 2" in model.summary()


# --- kept and shown ------------------------------------------------------------------------------------------------


def test_saved_and_read_again(tmp_path):
    model = quiet_fit(*rising(), trend="linear")
    model.save(tmp_path / "m")
    loaded = porbnet.load(tmp_path / "m")
    X = np.linspace(-20.0, 30.0, 30)[:, None]
    assert same_draws(loaded, model) and loaded.trend == "linear" and loaded.prior_ == model.prior_
    np.testing.assert_array_equal(loaded.predict(X, return_std=True), model.predict(X, return_std=True))
    assert same_draws(quiet_fit(*rising(), **loaded.get_params()), model)


@pytest.mark.parametrize("more", [{}, {"noise": "robust"}])
def test_a_checkpoint_goes_on_to_the_same_draws(tmp_path, more):
    from porbnet.sampling.collapsed.chain import CollapsedChain
    from porbnet.sampling.soundness import check_snapshot

    problem = quiet_fit(*rising(), trend="linear", n_warmup=5, n_draws=5, **more).posterior_.problem
    make = [CollapsedChain(problem, np.random.SeedSequence(3), 10, 30) for _ in range(4)]
    make[0].advance(40)
    make[1].advance(17)
    snapshot, draws = make[1].snapshot(), make[1].draws()
    check_snapshot(snapshot, make[2].snapshot(), make[2], len(draws))
    make[2].restore(snapshot, draws)
    make[2].advance(23)
    for name, array in vars(make[0].draws()).items():
        np.testing.assert_array_equal(array, getattr(make[2].draws(), name))
    snapshot["rows.line"] = snapshot["rows.line"] + 1.0
    with pytest.raises(ValueError, match=r"rows\.line does not follow"):
        check_snapshot(snapshot, make[3].snapshot(), make[3], len(draws))


def test_arviz_has_slopes():
    pytest.importorskip("arviz_base")
    tree = quiet_fit(*rising(), trend="linear").posterior_.to_arviz(n_prior=10)
    assert tree["posterior"]["slope"].dims == ("chain", "draw", "feature")
    assert tree["prior"]["slope"].shape == (1, 10, 1)


def test_the_command_line_takes_it(tmp_path):
    from typer.testing import CliRunner

    from porbnet.cli import app

    X, y = rising()
    table = tmp_path / "rising.csv"
    table.write_text("x,y\n" + "\n".join(f"{a},{b}" for a, b in zip(X[:, 0], y, strict=True)))
    short = ["--draws", "20", "--warmup", "20", "--chains", "2", "--quiet"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        done = CliRunner().invoke(app, ["fit", str(table), "--trend", "linear", "--out", str(tmp_path / "f"), *short])
    assert done.exit_code in (0, 3), done.output
    loaded = porbnet.load(tmp_path / "f" / "model.npz")
    assert loaded.trend == "linear" and loaded.posterior_.slopes is not None
    with pytest.warns(ExtrapolationWarning):
        assert loaded.predict([[100.0]])[0] > 200.0
