"""A fit as an ArviZ DataTree: what is in it, against formulas and brute force; and what ArviZ makes of it."""

import warnings

import numpy as np
import pytest
from fit_tools import model, quiet_fit, wave
from scipy import stats
from scipy.special import logsumexp

from porbnet import LogNormal, PoRBNetRegressor, Prior, datasets
from porbnet.errors import StatementError
from porbnet.intensity import SigmoidGP, UnknownConstant
from porbnet.likelihood import RobustNoise, VaryingNoise
from porbnet.posterior.pointwise import log_density, log_likelihood, observations
from porbnet.statement.joint_draws import joint_draws

pytest.importorskip("arviz_base")
xarray = pytest.importorskip("xarray")
az = pytest.importorskip("arviz_stats")

KINDS = {
    "constant": {"lengthscale": "constant"},
    "learned": {"lengthscale": "learned"},
    "law": {"lengthscale": SigmoidGP(12.0, LogNormal(2.0), LogNormal(0.4, 1.5))},
    "stated": {"lengthscale": 0.3, "noise": 0.4, "amplitude": 3.0, "bias": 0.0},
    "varying": {"lengthscale": "constant", "noise": "varying"},
    "robust": {"lengthscale": "constant", "noise": "robust"},
    "known noise": {"lengthscale": "constant", "noise": np.linspace(0.2, 0.5, 25)},
}
ALWAYS = {"n_units", "f"}
UNKNOWN = {
    "constant": {"noise", "amplitude", "bias", "level", "lengthscale", "intensity"},
    "learned": {"noise", "amplitude", "bias", "level", "lengthscale", "intensity"},
    "law": {"noise", "amplitude", "bias", "lengthscale", "intensity", "curve_variance", "curve_lengthscale"},
    "stated": set(),
    "varying": {"noise", "amplitude", "bias", "level", "lengthscale", "intensity", "noise_curve"},
    "robust": {"noise", "amplitude", "bias", "level", "lengthscale", "intensity", "freedom"},
    "known noise": {"amplitude", "bias", "level", "lengthscale", "intensity"},
}
KNOWN = {
    "learned": {"curve_variance", "curve_lengthscale"},
    "law": {"level"},
    "stated": {"noise", "amplitude", "bias", "lengthscale", "intensity"},
    "known noise": {"noise"},
}
_fits = {}


def fitted(kind):
    if kind not in _fits:
        _fits[kind] = quiet_fit(*wave(25), **KINDS[kind])
    return _fits[kind]


@pytest.mark.parametrize("kind", KINDS)
def test_groups_and_variables(kind, tmp_path):
    X, y = wave(25)
    tree = fitted(kind).posterior_.to_arviz(n_prior=20)
    assert set(tree.children) == {
        "posterior", "sample_stats", "prior", "prior_predictive", "posterior_predictive", "log_likelihood",
        "observed_data", "constant_data", "units",
    }  # fmt: skip
    for group in ("posterior", "prior"):
        assert set(tree[group].data_vars) == ALWAYS | UNKNOWN[kind]
    rest = {"X", "row", "grid"} | KNOWN.get(kind, set())
    assert set(tree["constant_data"].data_vars) == rest
    for name, group in tree.children.items():
        for variable in group.data_vars.values():
            assert np.all(np.isfinite(variable.values)), name
    assert tree["posterior"]["f"].shape == (2, 60, 50) and tree["prior"]["f"].shape == (1, 20, 50)
    for group in ("posterior_predictive", "log_likelihood"):
        assert tree[group]["y"].dims == ("chain", "draw", "obs_id") and tree[group]["y"].shape == (2, 60, 25)
    # rows come in the order in which they were given
    np.testing.assert_allclose(tree["observed_data"]["y"], y, rtol=1e-12)
    np.testing.assert_allclose(tree["constant_data"]["X"], X, rtol=1e-12)
    np.testing.assert_array_equal(tree["constant_data"]["row"], np.arange(25))
    path = tmp_path / "fit.nc"
    tree.to_netcdf(path, engine="h5netcdf")
    with xarray.open_datatree(path, engine="h5netcdf") as back:
        np.testing.assert_array_equal(back["posterior"]["f"], tree["posterior"]["f"])
        np.testing.assert_array_equal(back["units"]["center"], tree["units"]["center"])


def test_variables_are_those_of_the_posterior():
    posterior = fitted("learned").posterior_
    grid = np.array([[0.2], [0.7]])
    tree = posterior.to_arviz(grid, n_prior=0)
    inside = tree["posterior"]
    np.testing.assert_array_equal(inside["n_units"].values.ravel(), posterior.n_units)
    np.testing.assert_array_equal(inside["f"].values, posterior.by_chain(posterior.f(grid)))
    np.testing.assert_array_equal(inside["lengthscale"].values, posterior.by_chain(posterior.lengthscale(grid)))
    np.testing.assert_array_equal(inside["intensity"].values, posterior.by_chain(posterior.intensity(grid)))
    np.testing.assert_array_equal(inside["place"], [0.2, 0.7])
    assert "prior" not in tree.children
    stats_group = tree["sample_stats"]
    np.testing.assert_array_equal(stats_group["log_marginal_likelihood"].values.ravel(), posterior.log_likelihood)
    assert stats_group["acceptance"].dims == ("chain", "move") and "birth" in stats_group["move"]


def test_units_are_one_row_each():
    posterior = fitted("constant").posterior_
    tree = posterior.to_arviz(n_prior=0, thin=7)
    units, widths = tree["units"].to_dataset(), tree["posterior"]["n_units"]
    assert widths.shape == (2, 8)
    one = units.isel(unit=(units["chain"].values == 1) & (units["draw"].values == 3))
    assert one.sizes["unit"] == widths[1, 3]
    network = posterior.networks[60 + 4 * 7 - 1]
    np.testing.assert_array_equal(one["center"], network.centers)
    np.testing.assert_array_equal(one["weight"], network.weights)
    np.testing.assert_allclose(one["lengthscale"], np.sqrt(2.0) / network.scales)


def test_several_inputs_are_placed_by_number():
    tree = model("constant", 2).posterior_.to_arviz(n_prior=3)
    np.testing.assert_array_equal(tree["posterior"]["place"], np.arange(40))
    assert tree["constant_data"]["grid"].shape == (40, 2) and tree["units"]["center"].shape[1] == 2


def test_weights_of_rows():
    X, y = wave(25)
    repeated = quiet_fit(X, y, np.r_[2.0, 0.0, np.ones(23)], lengthscale="constant").posterior_.to_arviz(n_prior=0)
    np.testing.assert_array_equal(repeated["constant_data"]["row"], [0, 0, *range(2, 25)])
    weights = np.linspace(0.2, 1.5, 25)
    counted = quiet_fit(X, y, weights, lengthscale="constant").posterior_
    tree = counted.to_arviz(n_prior=0)
    np.testing.assert_array_equal(tree["constant_data"]["sample_weight"], weights)
    one = stats.norm(counted.f(X), counted.noise[:, None]).logpdf(y)
    np.testing.assert_allclose(tree["log_likelihood"]["y"].values.reshape(-1, 25), weights * one, rtol=1e-9)


# --- log likelihood ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_log_likelihood_given_the_function(kind):
    posterior = fitted(kind).posterior_
    X, y = observations(posterior)
    sd = posterior.noise_at(X) / posterior.problem.known_root
    law = (
        stats.t(posterior.parameter("freedom")[:, None], posterior.f(X), sd)
        if kind == "robust"
        else stats.norm(posterior.f(X), sd)
    )
    np.testing.assert_allclose(log_likelihood(posterior), law.logpdf(y), rtol=1e-9, atol=1e-9)
    if kind == "known noise":
        np.testing.assert_allclose(np.sort(sd[0]), np.linspace(0.2, 0.5, 25))


@pytest.mark.parametrize("kind", ["constant", "varying", "known noise", "robust", "counted"])
def test_log_likelihood_with_weights_integrated_out(kind):
    """Against the Gaussian law of y_i given the others, by dense matrices."""
    counts = np.linspace(0.3, 2.0, 25)
    posterior = (quiet_fit(*wave(25), counts) if kind == "counted" else fitted(kind)).posterior_
    result = log_likelihood(posterior, "integrated", np.array([3, 77]))
    X, y = observations(posterior)
    for values, i in zip(result, (3, 77), strict=True):
        expected = [leave_one_out(posterior, X, y, i, row) for row in range(0, 25, 6)]
        # Student-t errors: weights of rows are kept in single precision
        np.testing.assert_allclose(values[::6], expected, rtol=1e-5, atol=1e-5 if kind == "robust" else 1e-7)


def leave_one_out(posterior, X, y, i, row):
    """log p(y_row | other rows, units and hyper-parameters of draw i)."""
    network, problem = posterior.networks[i], posterior.problem
    phi = np.exp(-0.5 * (network.scales * (X - network.centers[:, 0])) ** 2)
    bias2, offset = posterior.problem.prior.bias**2, posterior.offset
    covariance = bias2 + posterior.problem.components[0].weight_factor * posterior.amplitude[i] ** 2 * phi @ phi.T
    variance = (posterior.noise_at(X, np.array([i]))[0] / problem.known_root) ** 2
    robust = problem.likelihood.whole_weights
    weights = posterior.draws.kept[i] if robust else np.ones(len(y))
    others = np.arange(len(y)) != row
    noisy = covariance[np.ix_(others, others)] + np.diag((variance / problem.times / weights)[others])
    gain = np.linalg.solve(noisy, covariance[others, row])
    mean, left = offset + gain @ (y - offset)[others], covariance[row, row] - gain @ covariance[others, row]
    c, own = problem.times[row], variance[row]
    if robust:
        freedom, z = posterior.parameter("freedom")[i], np.linspace(-8.0, 8.0, 4001)
        density = stats.t(freedom, mean + np.sqrt(left) * z, np.sqrt(own)).pdf(y[row]) * stats.norm.pdf(z)
        return np.log(density.sum() * (z[1] - z[0]))
    power = 0.5 * np.log(2 * np.pi * own / c) - 0.5 * c * np.log(2 * np.pi * own)
    return stats.norm(mean, np.sqrt(left + own / c)).logpdf(y[row]) + power


def test_log_density_is_likelihood_times_prior():
    """Differences between draws, hyper-priors by scipy; the intensity's integral by quadrature."""
    for kind in ("constant", "learned"):
        posterior = fitted(kind).posterior_
        prior, draws, n = posterior.problem.prior, posterior.draws, len(posterior)
        grid = np.linspace(*prior.region.bounds[0], 20_001)
        expected = posterior.log_likelihood.copy()
        for i in range(n):
            intensity = posterior.intensity(grid[:, None])[i] if i < 30 else None
            if intensity is None:
                break
            centers = posterior.networks[i].centers
            at = np.interp(centers[:, 0], grid, intensity)
            expected[i] += np.log(at).sum() - np.trapezoid(intensity, grid)
        expected += stats.norm(np.log(prior.noise.median), prior.noise.log_sd).logpdf(np.log(posterior.noise))
        expected += stats.norm(np.log(prior.amplitude.median), prior.amplitude.log_sd).logpdf(
            np.log(posterior.amplitude)
        )
        level = posterior.parameter("level")
        if kind == "constant":
            gamma = prior.intensity.square
            expected += stats.gamma(gamma.shape, scale=1 / gamma.rate).logpdf(level**2) + np.log(2 * level**2)
        else:
            gamma = prior.intensity.upper
            expected += stats.gamma(gamma.shape, scale=1 / gamma.rate).logpdf(level) + np.log(level)
            expected += stats.norm.logpdf(draws.curves).sum(axis=1)
        # with respect to a Poisson process of one unit per region, not one per unit of input
        expected += draws.counts * np.log(posterior.problem.scaling.volume)
        gap = (log_density(posterior) - expected)[:30]
        np.testing.assert_allclose(gap, gap[0], atol=1e-3)


# --- the prior's groups --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "intensity",
    [0.3, UnknownConstant.about(5.0, 1.5), SigmoidGP(12.0, 1.0, 0.5), SigmoidGP(12.0, LogNormal(1.0), LogNormal(0.5))],
    ids=["stated", "constant", "sigmoid", "sigmoid with its law"],
)
def test_joint_draws_have_the_priors_law(intensity, seed):
    """Means of 2,000 draws against formulas, 5 standard errors at 9 places: false alarm rate about 1 in 200,000."""
    prior = Prior(intensity, LogNormal(2.0, 1.5), region=(0.0, 2.0), bias=0.7, noise=LogNormal(0.3, 1.4))
    drawn = joint_draws(prior, 2000, np.random.default_rng(seed))
    X = np.array([[0.1], [0.8], [1.7]])
    widths, squares = drawn.networks.n_units, drawn.networks(X) ** 2

    def close(values, expected):
        return np.all(np.abs(values.mean(axis=0) - expected) < 5.0 * values.std(axis=0) / np.sqrt(2000) + 1e-9)

    assert close(widths, prior.expected_units)
    # of the units that fits work with, those of the region
    assert close(squares, prior.bias**2 + prior.mean_square_amplitude * prior.kept_variance(X))
    assert close(drawn.intensity(X), prior.intensity.value(X))
    assert close(np.log(drawn.noise), np.log(0.3)) and close(np.log(drawn.amplitude), np.log(2.0))
    assert np.all(np.isnan(drawn.level)) if intensity == 0.3 else np.all(drawn.level > 0)


def test_joint_draws_of_noise_models(seed):
    rng = np.random.default_rng(seed)
    X = np.linspace(0.0, 1.0, 5)[:, None]
    curve = joint_draws(Prior(0.3, 1.0, region=(0, 1), noise=VaryingNoise(0.5, 0.8, 0.3)), 3000, rng)
    logs = np.log(curve.noise_at(X) / 0.5)
    assert np.all(np.abs(logs.var(axis=0) / 0.8 - 1.0) < 5 * np.sqrt(2.0 / 3000))  # false alarm rate about 3e-6
    heavy = joint_draws(Prior(0.3, 1.0, region=(0, 1), noise=RobustNoise(0.5, 3.0)), 2000, rng)
    errors = heavy.errors(X, rng)[:, 0]
    assert stats.kstest(errors / 0.5, stats.t(3.0).cdf).pvalue > 1e-6
    assert np.all(joint_draws(Prior(0.3, 1.0, region=(0, 1)), 3, rng).errors(X, rng) == 0.0)


# --- what ArviZ makes of it ----------------------------------------------------------------------------------------


def test_summary_ess_and_rhat():
    tree = fitted("learned").posterior_.to_arviz(n_prior=0)
    table = az.summary(tree, var_names=["n_units", "noise", "amplitude", "bias", "level", "f", "lengthscale"])
    assert len(table) == 5 + 2 * 50 and not table.isna().any().any()
    assert float(az.ess(tree, var_names="noise")["noise"]) > 1.0
    assert float(az.rhat(tree, var_names="noise")["noise"]) > 0.9


@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_both_log_likelihoods_give_the_same_loo():
    """Monte Carlo error of either is about 0.1 here; a mistake in the weights' part would move it by several."""
    X, y = wave(40)
    posterior = quiet_fit(X, y, lengthscale="constant", n_chains=4, n_warmup=200, n_draws=500).posterior_
    drawn, integrated = (
        az.loo(posterior.to_arviz(n_prior=0, weights=w), pointwise=True) for w in ("drawn", "integrated")
    )
    assert abs(drawn.elpd - integrated.elpd) < 0.6
    assert integrated.pareto_k.mean() < drawn.pareto_k.mean() and integrated.pareto_k.max() < 0.7


def test_waic_by_its_formula_is_near_loo():
    X, y = wave(40)
    posterior = quiet_fit(X, y, lengthscale="constant", n_chains=4, n_warmup=200, n_draws=500).posterior_
    tree = posterior.to_arviz(n_prior=0)
    ll = tree["log_likelihood"]["y"].values.reshape(-1, 40)
    waic = np.sum(logsumexp(ll, axis=0) - np.log(len(ll)) - ll.var(axis=0))
    assert abs(waic - log_likelihood_of_left_out(ll)) < 1.0  # the two differ by terms of higher order


def log_likelihood_of_left_out(ll):
    """Importance-sampling LOO without smoothing: Σ_i log of the harmonic mean of the likelihood."""
    return np.sum(np.log(len(ll)) - logsumexp(-ll, axis=0))


@pytest.mark.filterwarnings("ignore::porbnet.errors.ConvergenceWarning")
@pytest.mark.slow
def test_a_learned_lengthscale_beats_a_constant_one_on_the_motorcycle_data():
    """The gap in elpd is 0.15 to 0.2, with a Monte Carlo error of about 0.03: false alarm rate below 1e-5."""
    data = datasets.load_motorcycle()
    fits = {
        kind: az.loo(
            PoRBNetRegressor(kind, n_draws=4000, random_state=1)
            .fit(data.X, data.y)
            .posterior_.to_arviz(n_prior=0, weights="integrated"),
            pointwise=True,
        )
        for kind in ("learned", "constant")
    }
    table = az.compare(fits)
    assert list(table.index) == ["learned", "constant"] and table["weight"].iloc[0] > 0.9
    assert fits["learned"].elpd > fits["constant"].elpd
    assert max(fit.pareto_k.max() for fit in fits.values()) < 0.7


# --- bad input -----------------------------------------------------------------------------------------------------


def test_bad_arguments():
    posterior = fitted("constant").posterior_
    for arguments, message in (
        ({"thin": 61}, "thin=61 is not allowed: it must be at most 60"),
        ({"thin": 0}, "thin=0"),
        ({"n_prior": -1}, "n_prior=-1"),
        ({"weights": "no"}, "weights='no'"),
        ({"grid": [[0.1, 0.2]]}, "grid has shape"),
        ({"grid": [0.1, 0.1]}, "none twice"),
        ({"grid": np.empty((0, 1))}, "one point at least"),
    ):
        with pytest.raises(StatementError, match=message):
            posterior.to_arviz(**arguments)


def test_too_much_is_refused_with_advice():
    posterior = fitted("constant").posterior_
    with pytest.raises(StatementError, match=r"120 draws.* of 25 observations, tables of 48,000 bytes") as error:
        posterior.to_arviz(n_prior=0, most_bytes=16_000)
    for advice in ("at most most_bytes=16,000", "thin=3", "posterior_.loo()"):
        assert advice in str(error.value)
    assert posterior.to_arviz(thin=3, n_prior=0, most_bytes=16_000)["posterior"].sizes["draw"] == 20


def test_without_arviz_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "arviz_base", None)
    with pytest.raises(ImportError, match=r"pip install \"porbnet\[arviz\]\""):
        fitted("constant").posterior_.to_arviz()


def test_the_same_seed_gives_the_same_tree():
    posterior = fitted("learned").posterior_
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        first, second = (posterior.to_arviz(n_prior=10, random_state=4) for _ in range(2))
    for group in ("prior", "prior_predictive", "posterior_predictive"):
        for name, values in first[group].data_vars.items():
            np.testing.assert_array_equal(values, second[group][name])
