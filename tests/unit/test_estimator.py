"""The estimator: predictions against brute force over draws, seeds, weights, and input of every bad kind."""

import contextlib
import warnings

import numpy as np
import pytest
import scipy.sparse
from fit_tools import SHORT, model, quiet_fit, same_draws, wave
from scipy import stats

from porbnet import LogNormal, PoRBNetRegressor, Prior
from porbnet.errors import ConvergenceWarning, PorbnetError, PorbnetWarning, StatementError, StatementWarning
from porbnet.intensity import UnknownConstant
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.statement.defaults import default_prior

KINDS = pytest.mark.parametrize("kind", ["constant", "learned"])
X_NEW = np.linspace(-0.2, 1.2, 17)[::-1, None].copy()


def mixture_of(fitted, X):
    """Means and sds of f given each draw's units, shape (n_draws, n_points)."""
    ((_, moments),) = fitted.posterior_.f_moments(X)
    return moments.mean, np.sqrt(moments.variance)


# --- predictions ---------------------------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize("of", ["y", "f"])
def test_mean_sd_and_covariance_agree(kind, of):
    fitted = model(kind)
    mean = fitted.predict(X_NEW)
    again, sd = fitted.predict(X_NEW, return_std=True, of=of)
    third, covariance = fitted.predict(X_NEW, return_cov=True, of=of)
    assert mean.shape == sd.shape == (17,) and covariance.shape == (17, 17)
    np.testing.assert_allclose(again, mean, rtol=1e-8)
    np.testing.assert_array_equal(third, mean)
    np.testing.assert_allclose(np.sqrt(np.diag(covariance)), sd, rtol=1e-5)
    assert np.linalg.eigvalsh(covariance).min() > -1e-9 * covariance.max()
    m, s = mixture_of(fitted, X_NEW)
    noise2 = fitted.posterior_.noise[:, None] ** 2 if of == "y" else 0.0
    np.testing.assert_allclose(mean, m.mean(axis=0), rtol=1e-8)
    np.testing.assert_allclose(sd**2, (s**2 + noise2).mean(axis=0) + m.var(axis=0), rtol=1e-5)


@KINDS
def test_mean_is_that_of_drawn_functions(kind):
    """An exact z score, as in test_posterior; false alarm rate below 1e-6."""
    fitted = model(kind)
    m, s = mixture_of(fitted, X_NEW)
    z = (fitted.posterior_.f(X_NEW).mean(axis=0) - fitted.predict(X_NEW)) * len(m) / np.sqrt((s**2).sum(axis=0))
    assert np.max(np.abs(z)) < 6.0


@KINDS
@pytest.mark.parametrize("of", ["y", "f"])
def test_quantiles_invert_the_mixture(kind, of):
    fitted = model(kind)
    m, s = mixture_of(fitted, X_NEW)
    noise2 = fitted.posterior_.noise[:, None] ** 2 if of == "y" else 0.0
    q = [0.9, 0.05, 0.5]
    result = fitted.predict_quantiles(X_NEW, q, of=of)
    assert result.shape == (17, 3)
    for j, p in enumerate(q):
        reached = stats.norm(m, np.sqrt(s**2 + noise2)).cdf(result[:, j]).mean(axis=0)
        np.testing.assert_allclose(reached, p, atol=1e-6)
    np.testing.assert_array_equal(fitted.predict_quantiles(X_NEW, 0.9, of=of), result[:, :1])


def test_intervals_are_quantiles():
    fitted = model()
    interval = fitted.predict_interval(X_NEW, 0.8)
    np.testing.assert_allclose(interval, fitted.predict_quantiles(X_NEW, [0.1, 0.9]), rtol=1e-6)
    narrow = fitted.predict_interval(X_NEW, 0.8, of="f")
    assert np.all(np.diff(narrow) < np.diff(interval))


@KINDS
def test_log_density_is_that_of_the_mixture(kind):
    fitted = model(kind)
    X, y = wave(25, seed=9)
    m, s = mixture_of(fitted, X)
    density = stats.norm(m, np.sqrt(s**2 + fitted.posterior_.noise[:, None] ** 2)).pdf(y).mean(axis=0)
    np.testing.assert_allclose(fitted.log_density(X, y), np.log(density), rtol=1e-8)
    np.testing.assert_array_equal(fitted.log_density(X, y[:, None]), fitted.log_density(X, y))


def test_log_density_far_away_is_finite():
    assert np.isfinite(model().log_density([[0.5]], [1e8])).all()


def test_samples():
    fitted = model()
    f, y = fitted.sample_f(X_NEW, 30), fitted.sample_y(X_NEW, 30)
    assert f.shape == y.shape == (17, 30)
    np.testing.assert_array_equal(f, fitted.sample_f(X_NEW, 30, random_state=0))
    np.testing.assert_array_equal(y, fitted.sample_y(X_NEW, 30, random_state=0))
    assert not np.array_equal(f, fitted.sample_f(X_NEW, 30, random_state=1))
    assert len(np.unique(f[0])) == 30  # distinct draws
    rng = np.random.default_rng(5)
    assert not np.array_equal(fitted.sample_y(X_NEW, 3, rng), fitted.sample_y(X_NEW, 3, rng))
    assert fitted.sample_f(X_NEW, 1000).shape == (17, 1000)


def test_sampled_observations_have_the_predictive_law():
    """Kolmogorov-Smirnov at one point, 20,000 samples: false alarm rate 1e-6."""
    fitted = model()
    X = np.array([[0.4]])
    m, s = mixture_of(fitted, X)
    sample = fitted.sample_y(X, 20_000, random_state=1)[0]
    # f of a draw is one value; the law of samples is the mixture over draws of N(f, noise²)
    f, noise = fitted.posterior_.f(X)[:, 0], fitted.posterior_.noise
    assert stats.kstest(sample, lambda t: stats.norm(f, noise).cdf(np.asarray(t)[..., None]).mean(-1)).pvalue > 1e-6
    assert m.shape == s.shape == (120, 1)


@pytest.mark.parametrize("n_dims", [1, 2])
def test_functions_have_gradients(n_dims):
    fitted = model("constant", n_dims)
    functions = fitted.sample_functions(4, random_state=2)
    X = np.random.default_rng(0).uniform(size=(6, n_dims))
    gradient = functions.gradient(X)
    assert len(functions) == 4 and gradient.shape == (4, 6, n_dims)
    for d in range(n_dims):
        step = 1e-6 * np.eye(n_dims)[d]
        numeric = (functions(X + step) - functions(X - step)) / 2e-6
        np.testing.assert_allclose(gradient[..., d], numeric, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(functions(X), fitted.sample_f(X, 4, random_state=2).T)


# --- what was learned ----------------------------------------------------------------------------------------------


@KINDS
def test_bands(kind):
    fitted = model(kind)
    posterior = fitted.posterior_
    for band, values in [
        (fitted.lengthscale_at(X_NEW, 0.5), posterior.lengthscale(X_NEW)),
        (fitted.intensity_at(X_NEW, 0.5), posterior.intensity(X_NEW)),
        (fitted.noise_at(X_NEW, 0.5), posterior.noise_at(X_NEW)),
    ]:
        np.testing.assert_allclose(band.mean, values.mean(axis=0))
        np.testing.assert_allclose([band.lower, band.upper], np.quantile(values, [0.25, 0.75], axis=0))


def test_intensity_and_lengthscale_are_one_thing():
    fitted = model()
    posterior, kappa = fitted.posterior_, fitted.prior_.units_per_lengthscale
    np.testing.assert_allclose(posterior.lengthscale(X_NEW) * posterior.intensity(X_NEW), kappa)


def test_width_distribution():
    fitted = model()
    shares = fitted.width_distribution()
    assert sum(shares.values()) == pytest.approx(1.0) and all(isinstance(k, int) for k in shares)
    assert sum(k * p for k, p in shares.items()) == pytest.approx(fitted.posterior_.n_units.mean())


@KINDS
def test_summary(kind):
    text = model(kind).summary()
    kappa = model(kind).posterior_.problem.prior.units_per_lengthscale
    stated = "1 unit" if kappa == 1 else f"{kappa:.2g} units"
    assert text.splitlines()[0] == f"PoRB-NET fit of 40 observations of 1 input, {stated} per lengthscale"
    for part in ("2 chains of 60 draws", model(kind).diagnostics_.verdict, "width (units)", "lengthscale", "noise sd"):
        assert part in " ".join(text.split())  # long lines are wrapped
    assert "accepted: birth" in text


# --- seeds ---------------------------------------------------------------------------------------------------------


@KINDS
def test_same_seed_same_draws_and_not_otherwise(kind):
    X, y = wave()
    assert same_draws(quiet_fit(X, y, lengthscale=kind), model(kind))
    assert not same_draws(quiet_fit(X, y, lengthscale=kind, random_state=1), model(kind))


def test_chains_differ():
    f = model().posterior_.by_chain(model().posterior_.f(X_NEW))
    assert not np.array_equal(f[0], f[1])


def test_first_chains_do_not_depend_on_how_many_there_are():
    X, y = wave()
    three = quiet_fit(X, y, n_chains=3, lengthscale="constant").posterior_
    np.testing.assert_array_equal(three.noise[:120], model().posterior_.noise)


def test_thinning_makes_more_sweeps_per_draw():
    X, y = wave()
    thinned = quiet_fit(X, y, lengthscale="constant", n_chains=1, thin=3, n_draws=20)
    assert len(thinned.posterior_) == 20
    # warm-up is the same, and so is what comes of it until the first draw is stored
    often = quiet_fit(X, y, lengthscale="constant", n_chains=1, n_draws=60)
    assert not np.array_equal(thinned.posterior_.n_units, often.posterior_.n_units[2::3])
    assert thinned.posterior_.results[0].acceptance.keys() == often.posterior_.results[0].acceptance.keys()


# --- units of the data ---------------------------------------------------------------------------------------------


@KINDS
@pytest.mark.parametrize(
    ("a", "b", "c", "d"), [(1e6, 0.0, 1.0, 0.0), (1.0, 1e4, 1e-6, 0.0), (2.0**-30, 0.0, 2.0**20, 0.0), (1, 0, 1, -1e3)]
)
def test_the_answer_follows_the_units(kind, a, b, c, d):
    """x becomes a x + b, y becomes c y + d: predictions go along, to 1e-6 of the spread of y."""
    X, y = wave()
    plain = model(kind)
    other = quiet_fit(a * X + b, c * y + d, lengthscale=kind)
    scale = y.std()
    for of in ("y", "f"):
        mean, sd = plain.predict(X_NEW, return_std=True, of=of)
        new_mean, new_sd = other.predict(a * X_NEW + b, return_std=True, of=of)
        np.testing.assert_allclose((new_mean - d) / c, mean, rtol=0, atol=1e-6 * scale)
        np.testing.assert_allclose(new_sd / c, sd, rtol=1e-6)
    np.testing.assert_allclose(
        (other.predict_interval(a * X_NEW + b) - d) / c, plain.predict_interval(X_NEW), rtol=0, atol=1e-6 * scale
    )
    band, new_band = plain.lengthscale_at(X_NEW), other.lengthscale_at(a * X_NEW + b)
    np.testing.assert_allclose(np.array(new_band) / a, band, rtol=1e-6)
    np.testing.assert_allclose(other.log_density(a * X + b, c * y + d) + np.log(c), plain.log_density(X, y), atol=1e-6)


# --- weights -------------------------------------------------------------------------------------------------------


def test_a_weight_of_two_is_a_row_twice_and_zero_is_none():
    X, y = wave(20)
    weight = np.array([2, 0, 1, 3] + [1] * 16)
    rows = np.repeat(np.arange(20), weight)
    assert same_draws(quiet_fit(X, y, weight), quiet_fit(X[rows], y[rows]))
    assert same_draws(quiet_fit(X, y, np.ones(20)), quiet_fit(X, y))
    assert quiet_fit(X, y, [1.0] * 20).posterior_.problem.n_points == 20


def test_precision_two_is_a_row_twice_at_known_noise():
    """The sampler's own weights are precisions: the marginal likelihood of any units then differs by a constant."""
    X, y = wave(12)
    prior = Prior(UnknownConstant.about(6.0, 2.0), 3.0, region=(-0.3, 1.3), bias=4.0, noise=0.4)
    rows = np.r_[0, 0, 1, 1, 2:12]
    weighted = Problem.of(prior, X, y, np.array([2.0, 2.0] + [1.0] * 10))
    repeated = Problem.of(prior, X[rows], y[rows])
    chain = CollapsedChain(weighted, np.random.SeedSequence(4), 0, 6)
    chain.advance(6)
    draws = chain.draws()
    gaps = [_log_marginal(weighted, draws, i) - _log_marginal(repeated, draws, i) for i in range(6)]
    np.testing.assert_allclose(gaps, gaps[0], rtol=1e-8)
    # and it is the one that the sampler itself computes
    own = draws.log_p - 12 * np.log(weighted.scaling.y_scale)
    np.testing.assert_allclose(own, [_log_marginal(weighted, draws, i) for i in range(6)], rtol=1e-6)


def _log_marginal(problem, draws, i):
    """log p(y) at the units of draw i, by plain NumPy, in the data's own units."""
    k = slice(*draws.offsets[i : i + 2])
    (component,), rows = problem.components, problem.rows()
    scale = component.s0 * draws.values[i, component.level] * draws.relative[k]
    u = component.x[0]
    phi = np.exp(-0.5 * (scale * (u[:, None] - draws.centers[k, 0])) ** 2)
    prior, y_scale = problem.prior, problem.scaling.y_scale
    covariance = prior.bias**2 + prior.weight_variance * phi @ phi.T
    covariance = covariance * np.outer(rows.root, rows.root) + 0.16 * np.eye(len(u))
    log_density = stats.multivariate_normal(np.zeros(len(u)), covariance).logpdf(rows.y * y_scale)
    return log_density + np.log(rows.root).sum()


@pytest.mark.parametrize("noise", ["learned", pytest.param("varying", marks=pytest.mark.slow)])
@pytest.mark.parametrize("lengthscale", ["constant", "learned"])
def test_weights_in_the_likelihood_are_repeated_rows(noise, lengthscale):
    """The two ways to count a row have the same prior, and the same likelihood of any draw."""
    X, y = wave(20)
    weight = np.array([2.0, 5.0, 1.0, 3.0] + [1.0] * 16)
    rows = np.repeat(np.arange(20), weight.astype(int))
    stated = {"noise": noise, "lengthscale": lengthscale}
    once, offset = default_prior(X, y, counts=weight, **stated)
    prior, same_offset = default_prior(X[rows], y[rows], **stated)
    assert once.amplitude.median == pytest.approx(prior.amplitude.median) and offset == pytest.approx(same_offset)
    counted = Problem.of(prior, X, y - offset, counts=weight)
    repeated = Problem.of(prior, X[rows], y[rows] - offset)
    assert counted.scaling.y_scale == pytest.approx(repeated.scaling.y_scale)
    chain = CollapsedChain(counted, np.random.SeedSequence(4), 0, 8)
    chain.advance(8)
    draws = chain.draws()
    grid = np.linspace(-0.1, 1.1, 30)[:, None]
    one, other = (Posterior(p, [ChainResult(draws, {}, 0, 0.0, 0.0)], offset) for p in (counted, repeated))
    ((_, a),), ((_, b),) = one.f_moments(grid), other.f_moments(grid)
    np.testing.assert_allclose(a.mean, b.mean, rtol=1e-6)
    np.testing.assert_allclose(a.variance, b.variance, rtol=1e-5)
    expected = [log_marginal_likelihood(other, i) for i in range(8)]
    np.testing.assert_allclose(one.log_likelihood, expected, atol=1e-5)


def log_marginal_likelihood(posterior, i):
    """log p(y) at the units and curves of draw i, by plain NumPy, in the data's own units; every row counts once."""
    problem, draws = posterior.problem, posterior.draws
    k = slice(*draws.offsets[i : i + 2])
    (component,) = problem.components
    scale = component.s0 * draws.values[i, component.level] * draws.relative[k]
    u, y_scale = component.x[0], problem.scaling.y_scale
    phi = np.exp(-0.5 * (scale * (u[:, None] - draws.centers[k, 0])) ** 2)
    noise = posterior.noise_at(problem.inputs, np.array([i]))[0]
    weight_variance = component.weight_factor * posterior.amplitude[i] ** 2
    covariance = problem.prior.bias**2 + weight_variance * phi @ phi.T + np.diag(noise**2)
    return stats.multivariate_normal(np.zeros(len(u)), covariance).logpdf(problem.outputs * y_scale)


def test_half_a_reading_leaves_more_doubt_than_one():
    X, y = wave(30)
    stated = {"lengthscale": 0.3, "noise": 0.4, "amplitude": 3.0, "n_draws": 300}
    sds = [quiet_fit(X, y, np.full(30, w), **stated).predict(X, True, of="f")[1].mean() for w in (0.25, 0.5, 1.0)]
    assert sds[0] > 1.2 * sds[1] and sds[1] > 1.2 * sds[2]


@pytest.mark.slow
def test_very_many_readings_take_no_more_memory():
    X, y = wave(20)
    fitted = quiet_fit(X, y, np.full(20, 1e5), noise=0.4, n_draws=5, n_warmup=5)
    assert fitted.posterior_.problem.n_points == 20


def test_fractional_weights_have_no_meaning_for_heavy_tails():
    X, y = wave(20)
    for weight in (0.5, 1e9):
        with pytest.raises(StatementError, match=r"sample_weight=.*Student-t errors it must be whole numbers"):
            quiet_fit(X, y, [weight] * 20, noise="robust")
    assert quiet_fit(X, y, [2.0] * 20, noise="robust", n_draws=5, n_warmup=5).posterior_.problem.n_points == 40


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([0.05] * 20, "sample_weight adds up to 1, .* not a share of the whole"),
        ([1e15] * 20, "sample_weight adds up to 2e"),
        ([0.0] * 20, "at least one non-zero|leaves fewer than 2"),
        ([1.0] + [0.0] * 19, "leaves fewer than 2 observations"),
        ([-1.0] * 20, "[Nn]egative"),
        ([np.nan] * 20, "NaN"),
        ([1.0] * 19, "sample_weight.shape"),
    ],
)
def test_bad_weights(weight, message):
    X, y = wave(20)
    with pytest.raises(ValueError, match=message):
        quiet_fit(X, y, weight)


# --- bad input -----------------------------------------------------------------------------------------------------

ROWS = np.linspace(0.0, 1.0, 30)[:, None]
VALUES = np.sin(6.0 * ROWS[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(30)


def _with(array, i, value):
    changed = np.array(array, dtype=float)
    changed[i] = value
    return changed


REFUSED = {
    "NaN in X": (_with(ROWS, 3, np.nan), VALUES, ValueError, "Input X contains NaN"),
    "NaN in y": (ROWS, _with(VALUES, 3, np.nan), ValueError, "Input y contains NaN"),
    "inf in X": (_with(ROWS, 3, np.inf), VALUES, ValueError, "Input X contains infinity"),
    "inf in y": (ROWS, _with(VALUES, 3, -np.inf), ValueError, "Input y contains infinity"),
    "strings in X": ([["a"], ["b"]], [1.0, 2.0], StatementError, "column '1' of X holds text .'a'.: encode it"),
    "strings in y": (ROWS[:2], ["a", "b"], StatementError, "y holds text .'a'.: it must be numbers"),
    "one row": (ROWS[:1], VALUES[:1], ValueError, "1 sample.* a minimum of 2 is required"),
    "empty": (np.empty((0, 1)), [], ValueError, "0 sample.* a minimum of 2 is required"),
    "no features": (np.empty((5, 0)), np.ones(5), ValueError, "0 feature.* a minimum of 1 is required"),
    "ragged": ([[1.0], [2.0, 3.0]], [1.0, 2.0], ValueError, "inhomogeneous shape"),
    "complex X": (ROWS + 1j, VALUES, ValueError, "Complex data not supported"),
    "complex y": (ROWS, VALUES + 1j, ValueError, "Complex data not supported"),
    "sparse": (scipy.sparse.csr_matrix(ROWS), VALUES, TypeError, "Sparse data was passed"),
    "one-dimensional X": (ROWS[:, 0], VALUES, ValueError, "Expected 2D array, got 1D array"),
    "three-dimensional X": (ROWS[:, :, None], VALUES, ValueError, "dim 3"),
    "other lengths": (ROWS, VALUES[:-1], ValueError, "inconsistent numbers of samples"),
    "two outputs": (ROWS, np.c_[VALUES, VALUES], ValueError, "y should be a 1d array"),
    "no y": (ROWS, None, ValueError, "requires y to be passed"),
    "X too large": (1e60 * ROWS, VALUES, StatementError, "X has a range of 1e"),
    "X too small": (1e-60 * ROWS, VALUES, StatementError, "X has a range of 1e-60"),
    "y too large": (ROWS, 1e200 * VALUES, StatementError, "y has a spread of inf"),
    "y too small": (ROWS, 1e-60 * VALUES, StatementError, "y has a spread of"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused(name):
    X, y, error, message = REFUSED[name]
    with pytest.raises(error, match=message):
        PoRBNetRegressor(**SHORT).fit(X, y)


RNG = np.random.default_rng(1)
ACCEPTED = {
    "two rows": (ROWS[:2], VALUES[:2]),
    "constant X": (np.full((30, 1), 3.0), VALUES),
    "constant X of zero": (np.zeros((30, 1)), VALUES),
    "constant y": (ROWS, np.full(30, 3.0)),
    "constant y of zero": (ROWS, np.zeros(30)),
    "all constant": (np.ones((5, 1)), np.ones(5)),
    "duplicate rows": (np.repeat(ROWS, 2, axis=0), np.repeat(VALUES, 2)),
    "duplicate inputs": (np.repeat(ROWS[:10], 3, axis=0), VALUES),
    "integers": (np.arange(30)[:, None], np.arange(30)),
    "booleans": (ROWS > 0.5, VALUES),
    "float32": (ROWS.astype(np.float32), VALUES.astype(np.float32)),
    "objects": (ROWS.astype(object), VALUES.astype(object)),
    "lists": (ROWS.tolist(), VALUES.tolist()),
    "Fortran order": (np.asfortranarray(RNG.uniform(size=(30, 2))), 10.0 * VALUES),
    "every other row": (np.repeat(ROWS, 2, axis=0)[::2], np.repeat(VALUES, 2)[::2]),
    "far from zero": (ROWS + 1e9, VALUES - 1e9),
    "an outlier in X": (np.r_[ROWS, [[1e6]]], np.r_[VALUES, 0.0]),
    "an outlier in y": (ROWS, _with(VALUES, 3, 1e9)),
    "constant column": (np.c_[ROWS, np.ones(30)], VALUES),
}


SENTENCES = {
    "two rows": "2 observations are few",
    "constant X": "X is the same in every row",
    "constant X of zero": "X is the same in every row",
    "constant y": "y is 3 in every row",
    "constant y of zero": "y is 0 in every row",
    "all constant": "X is the same in every row",
    "constant column": r"X has the same value in every row of column\(s\) 2",
}


@pytest.mark.filterwarnings("ignore:the noise is as small as it can be")
@pytest.mark.filterwarnings("ignore:y is 1 in every row")
@pytest.mark.parametrize("name", ACCEPTED)
@pytest.mark.parametrize("kind", ["constant", "learned"])
def test_odd_input_works(name, kind):
    X, y = ACCEPTED[name]
    told = pytest.warns(PorbnetWarning, match=SENTENCES[name]) if name in SENTENCES else contextlib.nullcontext()
    with told:
        fitted = quiet_fit(X, y, lengthscale=kind, n_warmup=30, n_draws=30)
    points = np.asarray(X, dtype=float)
    low, high = np.min(np.asarray(y, dtype=float)), np.max(np.asarray(y, dtype=float))
    mean, sd = fitted.predict(points, return_std=True)
    assert np.all(np.isfinite(mean)) and np.all(np.isfinite(sd)) and np.all(sd > 0)
    reach = 2.0 * (high - low) + 1e-3 * abs(low) + 1.0
    assert np.all((mean > low - reach) & (mean < high + reach))
    assert np.all(np.isfinite(fitted.predict_interval(points))) and fitted.summary()


@pytest.mark.filterwarnings("ignore:the noise is as small as it can be")
@pytest.mark.parametrize("kind", ["constant", "learned"])
@pytest.mark.parametrize("n_dims", [1, 2])
def test_data_without_noise_are_interpolated(kind, n_dims):
    """A deterministic function: the noise goes to its floor, and predictions stay sane."""
    X = np.random.default_rng(2).uniform(size=(40, n_dims))
    y = np.sin(5.0 * X.sum(axis=1))
    fitted = quiet_fit(X, y, lengthscale=kind, n_warmup=200, n_draws=50)
    mean, sd = fitted.predict(X, return_std=True)
    assert np.max(np.abs(mean - y)) < 0.01 and np.max(sd) < 0.05
    inside = np.random.default_rng(3).uniform(0.2, 0.8, size=(50, n_dims))
    assert np.max(np.abs(fitted.predict(inside) - np.sin(5.0 * inside.sum(axis=1)))) < 0.2


@pytest.mark.filterwarnings("ignore:the noise is as small as it can be")
def test_few_distinct_rows_many_times_each():
    X, y = np.repeat([[0.0], [0.3], [0.6], [1.0]], 10, axis=0), np.repeat([1.0, -1.0, 2.0, 0.5], 10)
    fitted = quiet_fit(X, y)
    mean, sd = fitted.predict(X, return_std=True)
    assert np.max(np.abs(mean - y)) < 0.1 and np.all(np.isfinite(sd)) and np.max(sd) < 1.0
    assert fitted.posterior_.noise.min() >= 1e-5 * y.std() * (1.0 - 1e-9)  # below it rounding would decide


def test_vanishing_noise_is_told_of():
    X, y = np.repeat([[0.0], [0.3], [0.6], [1.0]], 10, axis=0), np.repeat([1.0, -1.0, 2.0, 0.5], 10)
    with pytest.warns(PorbnetWarning, match="noise is as small as it can be"):
        quiet_fit(X, y, n_warmup=200, n_draws=50)


@pytest.mark.parametrize("noise", [1e-9, [1e-9] * 19 + [1.0]])
def test_noise_that_rounding_would_drown_is_refused(noise):
    X, y = wave(20)
    with pytest.raises(StatementError, match=r"noise.*at least .*below it rounding decides"):
        PoRBNetRegressor(noise=noise).fit(X, y)


def test_ten_features_work_and_say_what_was_lowered():
    X = RNG.standard_normal((40, 10))
    with pytest.warns(StatementWarning, match=r"units_per_lengthscale lowered from [\d.]+ to 0"):
        fitted = quiet_fit(X, X[:, 0], n_warmup=10, n_draws=10)
    assert np.all(np.isfinite(fitted.predict(X))) and fitted.prior_.expected_units < 160


def test_a_column_of_outputs_works_with_scikit_learns_warning():
    from sklearn.exceptions import DataConversionWarning

    X, y = wave()
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        fitted = quiet_fit(X, y[:, None], lengthscale="constant")
    assert same_draws(fitted, model())


def test_pandas_with_names():
    pandas = pytest.importorskip("pandas")
    X, y = wave(n_dims=2)
    frame = pandas.DataFrame(X, columns=["depth", "age"])
    fitted = quiet_fit(frame, pandas.Series(y), lengthscale="constant")
    assert list(fitted.feature_names_in_) == ["depth", "age"]
    np.testing.assert_array_equal(fitted.predict(frame), model("constant", 2).predict(X))
    assert fitted.log_density(frame, pandas.Series(y)).shape == (40,)
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(frame.rename(columns={"age": "year"}))


@pytest.mark.parametrize("bad", [[[np.nan]], [[np.inf]], [["a"]], [0.5], np.ones((3, 2)), np.empty((0, 1)), None])
@pytest.mark.parametrize(
    "call",
    ["predict", "predict_interval", "sample_y", "sample_f", "lengthscale_at", "intensity_at", "noise_at"],
)
def test_bad_points_are_refused(call, bad):
    with pytest.raises(ValueError):
        getattr(model(), call)(bad)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda m: m.predict(X_NEW, return_std=True, of="g"), "of"),
        (lambda m: m.predict(X_NEW, return_std=True, return_cov=True), "return_cov"),
        (lambda m: m.predict_quantiles(X_NEW, [0.5, 1.0]), "q"),
        (lambda m: m.predict_quantiles(X_NEW, "half"), "q"),
        (lambda m: m.predict_quantiles(X_NEW, 0.5, of="z"), "of"),
        (lambda m: m.predict_interval(X_NEW, 1.0), "coverage"),
        (lambda m: m.predict_interval(X_NEW, 90), "coverage"),
        (lambda m: m.lengthscale_at(X_NEW, 0.0), "coverage"),
        (lambda m: m.log_density(X_NEW, [1.0]), "y"),
        (lambda m: m.log_density(X_NEW, np.full(17, np.nan)), "y"),
        (lambda m: m.sample_y(X_NEW, 0), "n_samples"),
        (lambda m: m.sample_f(X_NEW, 1.5), "n_samples"),
        (lambda m: m.sample_functions(-1), "n"),
        (lambda m: m.sample_y(X_NEW, 1, random_state="seed"), "random_state"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(StatementError, match=f"^{name}="):
        call(model())


def test_nothing_works_before_fit():
    from sklearn.exceptions import NotFittedError

    unfitted = PoRBNetRegressor()
    for call in (unfitted.summary, unfitted.width_distribution, unfitted.sample_functions):
        with pytest.raises(NotFittedError):
            call()
    with pytest.raises(NotFittedError):
        unfitted.predict(X_NEW)


# --- parameters ----------------------------------------------------------------------------------------------------

BAD_PARAMETERS = [
    ("lengthscale", ["known", -1.0, 0.0, np.nan, np.inf, [0.1, 0.2], True, None, 1j, {}]),
    ("amplitude", ["large", -1.0, 0.0, np.inf, None, [1.0, 2.0], True]),
    ("noise", ["small", -1.0, 0.0, np.nan, None, [0.1, 0.2], True]),
    ("bias", ["some", -1.0, np.nan, None]),
    ("region", ["here", (1.0, 0.0), (0.0, 0.0), (0.0, np.inf), 3.0, [(0, 1), (0, 1)], None]),
    ("units_per_lengthscale", ["many", 0.0, -2.0, np.nan, None]),
    ("prior", ["prior", 3.0, PoRBNetRegressor]),
    ("sampler", ["nuts", None, 3]),
    ("n_chains", [0, -1, 1.5, "4", None, True]),
    ("n_warmup", [-1, 1.5, "4", None]),
    ("n_draws", [0, -1, 1.5, None]),
    ("thin", [0, 1.5, None]),
    ("n_jobs", [0, 1.5, "all", True]),
    ("random_state", [-1, "seed", 1.5]),
    ("progress", ["yes", 1.5]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(n, v) for n, values in BAD_PARAMETERS for v in values], ids=lambda v: repr(v)[:30]
)
def test_bad_parameters_are_named_before_any_sampling(name, value, monkeypatch):
    monkeypatch.setattr("porbnet.estimators.regressor.run_chains", lambda *_: pytest.fail("sampling began"))
    with pytest.raises(StatementError, match=name) as caught:
        quiet_fit(ROWS, VALUES, **{name: value})
    assert "must" in str(caught.value) or "state it in prior=" in str(caught.value)


def test_prior_in_place_of_single_statements():
    prior = Prior(0.2, LogNormal(1.0, 2.0), region=(-0.5, 1.5), bias=1.0, noise=0.1)
    fitted = quiet_fit(ROWS, VALUES, prior=prior)
    assert fitted.prior_ is prior and fitted.offset_ == 0.0
    with pytest.raises(StatementError, match=r"noise=0\.1 is not allowed: state it in prior="):
        quiet_fit(ROWS, VALUES, prior=prior, noise=0.1)
    with pytest.raises(StatementError, match=r"1 input dimension.* X has 2 features"):
        quiet_fit(np.c_[ROWS, ROWS], VALUES, prior=prior)
    with pytest.raises(StatementError, match="noise=None"):
        quiet_fit(ROWS, VALUES, prior=Prior(0.2, 1.0, region=(-0.5, 1.5)))
    with pytest.warns(StatementWarning, match="outside the region"):
        quiet_fit(ROWS, VALUES, prior=Prior(0.2, 1.0, region=(0.2, 0.8), noise=0.1))


def test_statements_reach_the_prior():
    fitted = quiet_fit(
        ROWS, VALUES, lengthscale=0.25, amplitude=2.0, noise=LogNormal(0.1, 2.0), bias=3.0, region=(-1.0, 2.0),
        units_per_lengthscale=1.5,
    )  # fmt: skip
    prior = fitted.prior_
    assert (prior.lengthscale, prior.amplitude, prior.bias) == (pytest.approx(0.25), 2.0, 3.0)
    assert prior.noise == LogNormal(0.1, 2.0) and prior.region.bounds.tolist() == [[-1.0, 2.0]]
    assert prior.units_per_lengthscale == pytest.approx(1.5)
    assert np.all(fitted.lengthscale_at(X_NEW).mean == pytest.approx(0.25))


def test_known_noise_per_observation():
    sd = np.where(ROWS[:, 0] < 0.5, 0.05, 0.5)
    fitted = quiet_fit(ROWS, VALUES, noise=sd, lengthscale=0.2)
    _, spread = fitted.predict([[0.25], [0.75]], return_std=True, of="f")
    assert spread[1] > 2.0 * spread[0]
    with pytest.raises(StatementError, match=r"noise=.* must be 30 positive finite numbers"):
        quiet_fit(ROWS, VALUES, noise=sd[:-1])
    weight = np.ones(30, dtype=int)
    weight[:10] = 0
    left_out = quiet_fit(ROWS, VALUES, weight, noise=sd, lengthscale=0.2)
    assert left_out.posterior_.problem.n_points == 20


# --- warnings ------------------------------------------------------------------------------------------------------


def test_few_draws_warn_and_still_predict():
    X, y = wave(20)
    for n_draws in (1, 3, 10):
        with pytest.warns(ConvergenceWarning, match="run longer|in different places"):
            fitted = PoRBNetRegressor(**(SHORT | {"n_draws": n_draws, "n_warmup": 0})).fit(X, y)
        assert np.all(np.isfinite(fitted.predict(X, return_std=True))) and fitted.summary()


def test_a_failed_fit_leaves_the_last_one_whole():
    X, y = wave(20)
    fitted = quiet_fit(X, y)
    before = fitted.predict(X)
    fitted.set_params(noise=-1.0)
    with pytest.raises(StatementError):
        fitted.fit(X, y + 5.0)
    np.testing.assert_array_equal(fitted.predict(X), before)


def test_errors_and_warnings_have_one_base():
    assert issubclass(ConvergenceWarning, PorbnetWarning) and issubclass(StatementError, PorbnetError)
    assert issubclass(StatementError, ValueError)


def test_inputs_are_left_alone():
    X, y = wave(20)
    X.setflags(write=False)
    y.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        quiet_fit(X, y).predict(X)


def test_the_order_of_rows_does_not_matter():
    X, y = wave()
    shuffled = np.random.default_rng(0).permutation(len(y))
    assert same_draws(quiet_fit(X, y), quiet_fit(X[shuffled], y[shuffled]))
