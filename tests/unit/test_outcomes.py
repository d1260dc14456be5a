"""Labels, counts, positive outputs and limits, from outside: predictions, densities, files, bad input."""

import functools
import math
import warnings

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import expit

import porbnet
from porbnet import LogNormal, PoRBNetClassifier, PoRBNetCountRegressor, PoRBNetRegressor, Prior
from porbnet.base.region import Region
from porbnet.errors import StatementError
from porbnet.likelihood import Censored, Drawn, Logistic, NegativeBinomial, Poisson
from porbnet.likelihood.latent import average

SHORT = {"n_chains": 2, "n_warmup": 60, "n_draws": 60, "n_jobs": 1, "random_state": 0, "progress": False}
RNG = np.random.default_rng(5)
X = RNG.uniform(size=(60, 1))
F = 2.0 * np.sin(6.0 * X[:, 0])
LABELS = np.where(RNG.random(60) < expit(F), "yes", "no")
EXPOSURE = RNG.uniform(0.5, 3.0, 60)
COUNTS = RNG.poisson(EXPOSURE * np.exp(F))
NOISY = F + 0.3 * RNG.standard_normal(60)
LEVELS, LIMIT = np.exp(NOISY), np.quantile(NOISY, 0.4)


def quietly(function, *arguments, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*arguments, **more)


@functools.cache
def classifier(n_classes=2):
    labels = LABELS if n_classes == 2 else np.where(X[:, 0] > 0.7, "late", LABELS)
    return quietly(PoRBNetClassifier("constant", **SHORT).fit, X, labels)


@functools.cache
def counts(law="negative binomial"):
    return quietly(PoRBNetCountRegressor("constant", law=law, **SHORT).fit, X, COUNTS, exposure=EXPOSURE)


@functools.cache
def positive():
    return quietly(PoRBNetRegressor("constant", outcome="positive", **SHORT).fit, X, LEVELS)


@functools.cache
def censored():
    below = np.where(NOISY < LIMIT, "left", "")
    return quietly(PoRBNetRegressor("constant", **SHORT).fit, X, np.maximum(NOISY, LIMIT), censored=below)


# --- integrals over f -----------------------------------------------------------------------------------------------


def drawn(**values):
    return Drawn({k: np.array([v]) for k, v in values.items()}, np.zeros((1, 0)), Region.of([(0.0, 1.0)]))


@pytest.mark.parametrize(
    ("likelihood", "values", "outcomes"),
    [
        (Logistic(), {}, (0.0, 1.0)),
        (NegativeBinomial(2.0), {"size": 2.0}, (0.0, 3.0, 400.0)),
        (NegativeBinomial(1e4), {"size": 1e4}, (0.0, 1500.0)),
        (Poisson(), {}, (0.0, 3.0, 4000.0)),
    ],
)
@pytest.mark.parametrize("mean", [-6.0, 0.0, 3.0])
@pytest.mark.parametrize("sd", [0.01, 1.0, 5.0])
def test_probabilities_averaged_over_f(likelihood, values, outcomes, mean, sd):
    """Against a fine grid about the mode; to six digits of the logarithm."""
    one = np.ones((1, 1))
    for y in outcomes:
        found = likelihood.log_integrated(np.array([y]), mean * one, sd**2 * one, one, drawn(**values))[0, 0]
        f = np.linspace(mean - 60.0 * sd, mean + 60.0 * sd, 600_001)
        logs = likelihood.log_density(np.array([y]), f[:, None], one, drawn(**values))[:, 0]
        logs = logs + stats.norm.logpdf(f, mean, sd)
        top = logs.max()
        wanted = top + math.log(integrate.trapezoid(np.exp(logs - top), f))
        assert found == pytest.approx(wanted, abs=2e-6 + 1e-9 * abs(wanted)), (y, found, wanted)


def test_laws_add_up_to_one():
    one, k = np.ones((1, 1)), np.arange(4000.0)
    for likelihood, values in ((NegativeBinomial(1.5), {"size": 1.5}), (Poisson(), {})):
        given = drawn(**values).at(np.array([2.0]))
        logs = [likelihood.log_density(np.array([y]), 1.3 * one, one, given)[0, 0] for y in k[:600]]
        assert np.exp(logs).sum() == pytest.approx(1.0, abs=1e-9)
        below = likelihood.distribution(k[:600], 1.3 * np.ones((1, 600)), given)[0]
        np.testing.assert_allclose(below, np.cumsum(np.exp(logs)), atol=1e-9)


def test_average_of_a_bounded_function():
    mean, variance = np.array([[-2.0, 0.5]]), np.array([[0.04, 30.0]])
    z = np.linspace(-12.0, 12.0, 100_001)[:, None]
    wanted = integrate.trapezoid(expit(mean + np.sqrt(variance) * z) * stats.norm.pdf(z), z, axis=0)
    np.testing.assert_allclose(average(expit, mean, variance)[0], wanted, atol=1e-8)


# --- labels ---------------------------------------------------------------------------------------------------------


def test_labels():
    model = classifier()
    p = model.predict_proba(X)
    assert model.classes_.tolist() == ["no", "yes"] and p.shape == (60, 2)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert np.sqrt(np.mean((p[:, 1] - expit(F)) ** 2)) < 0.2 and model.score(X, LABELS) > 0.6
    np.testing.assert_array_equal(model.predict(X), model.classes_[(p[:, 1] > 0.5).astype(int)])
    np.testing.assert_allclose(expit(model.decision_function(X)), p[:, 1])
    # over drawn functions, within the Monte Carlo error of 120 of them
    assert np.abs(expit(model.posterior_.f(X)).mean(axis=0) - p[:, 1]).max() < 0.1
    expected = np.where(LABELS == "yes", p[:, 1], p[:, 0])
    np.testing.assert_allclose(model.log_density(X, LABELS), np.log(expected), atol=1e-6)
    low, high = model.predict_interval(X)[:, 1].T
    assert np.all((low < p[:, 1]) & (p[:, 1] < high) & (low > 0) & (high < 1))
    np.testing.assert_allclose(model.predict_interval(X)[:, 0], 1.0 - np.stack([high, low], axis=1))
    assert set(np.unique(model.sample_y(X, 5))) <= {"no", "yes"} and model.sample_f(X, 3).shape == (60, 3)
    text = model.summary()
    assert "log-odds of yes" in text and "amplitude (log-odds)" in text and "noise" not in text


@pytest.mark.slow
def test_several_classes():
    model = classifier(3)
    p = model.predict_proba(X)
    assert p.shape == (60, 3) and len(model.fits_) == 3
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    assert model.predict([[0.95]])[0] == "late" and model.decision_function(X).shape == (60, 3)
    assert model.predict_interval(X[:2]).shape == (2, 3, 2) and model.sample_y(X, 4).shape == (60, 4)
    with pytest.raises(AttributeError, match=r"one posterior_ for each of 3 classes"):
        _ = model.posterior_


def test_weights_of_labels_are_powers():
    """A row that counts twice is the row given twice; one that does not count might as well not be there."""
    twice = quietly(PoRBNetClassifier("constant", **SHORT).fit, X, LABELS, np.where(X[:, 0] < 0.5, 2.0, 1.0))
    rows = np.concatenate([np.arange(60), np.flatnonzero(X[:, 0] < 0.5)])
    given = quietly(PoRBNetClassifier("constant", **SHORT).fit, X[rows], LABELS[rows])
    np.testing.assert_array_equal(twice.predict_proba(X), given.predict_proba(X))
    half = quietly(PoRBNetClassifier("constant", **SHORT).fit, X, LABELS, np.full(60, 0.5))
    assert np.all(np.isfinite(half.predict_proba(X)))


# --- counts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["negative binomial", "poisson"])
def test_counts(law):
    model = counts(law)
    # where there is something to count
    assert np.sqrt(np.mean((model.predict(X, of="f") - F)[F > 0] ** 2)) < 0.4
    rate, mean = model.predict(X, of="rate"), model.predict(X, exposure=EXPOSURE)
    np.testing.assert_allclose(mean, EXPOSURE * rate)
    low, high = model.predict_interval(X, 0.9, exposure=EXPOSURE).T
    assert np.all(low == np.floor(low)) and np.mean((low <= COUNTS) & (high >= COUNTS)) > 0.8
    pit = model.pit(X, COUNTS, exposure=EXPOSURE)
    assert np.all((pit[:, 0] >= 0) & (pit[:, 0] < pit[:, 1]) & (pit[:, 1] <= 1 + 1e-9))
    chance = np.exp(model.log_density(X, COUNTS, exposure=EXPOSURE))
    np.testing.assert_allclose(pit[:, 1] - pit[:, 0], chance, rtol=0.02, atol=2e-3)
    drawn_counts = model.sample_y(X, 2000, exposure=EXPOSURE)
    _, sd = model.predict(X, True, exposure=EXPOSURE)
    np.testing.assert_allclose(drawn_counts.mean(axis=1), mean, rtol=0.15, atol=0.2)
    np.testing.assert_allclose(drawn_counts.std(axis=1), sd, rtol=0.35, atol=0.3)
    assert ("weighed" in model.summary()) == (law == "poisson")


def test_quantiles_of_counts_are_the_least_that_will_do():
    model = counts()
    q = model.predict_quantiles(X[:8], [0.1, 0.5, 0.95], exposure=EXPOSURE[:8])
    for j, p in enumerate((0.1, 0.5, 0.95)):
        at = model.pit(X[:8], q[:, j], exposure=EXPOSURE[:8])
        assert np.all(at[:, 0] < p) and np.all(at[:, 1] >= p)


# --- positive outputs, and limits -----------------------------------------------------------------------------------


def test_positive_outputs():
    model, grid = positive(), np.linspace(1e-4, 80.0, 40_001)
    density = np.exp(model.log_density(np.full((len(grid), 1), 0.3), grid))
    mean, sd = model.predict([[0.3]], return_std=True)
    assert integrate.trapezoid(density, grid) == pytest.approx(1.0, abs=1e-4)
    assert integrate.trapezoid(density * grid, grid) == pytest.approx(mean[0], rel=1e-3)
    assert integrate.trapezoid(density * grid**2, grid) == pytest.approx(sd[0] ** 2 + mean[0] ** 2, rel=2e-3)
    low, high = model.predict_interval([[0.3]], 0.8)[0]
    inside = (grid > low) & (grid < high)
    assert integrate.trapezoid(density[inside], grid[inside]) == pytest.approx(0.8, abs=0.01)
    assert model.predict_survival([[0.3]], [low, high])[0] == pytest.approx([0.9, 0.1], abs=1e-3)
    assert np.all(model.sample_y(X, 3) > 0) and "noise sd (log)" in model.summary()


def test_limits():
    model = censored()
    # below the limit the function goes on, instead of lying on it
    lowest = X[[np.argmin(F)]]
    ignored = quietly(PoRBNetRegressor("constant", **SHORT).fit, X, np.maximum(NOISY, LIMIT))
    assert model.predict(lowest)[0] < LIMIT - 0.2 < ignored.predict(lowest)[0]
    one, two = model.posterior_.loo(), model.posterior_.loo("drawn")
    assert one.elpd == pytest.approx(two.elpd, abs=3.0)
    assert model.predict_survival(X[:3], [-100.0, 100.0]) == pytest.approx(np.array([[1.0, 0.0]] * 3))


def test_probability_of_an_interval_far_out():
    one = np.ones((1, 1))
    given = drawn(noise=1.0).at(np.array([np.inf]))
    found = Censored(1.0).log_density(np.array([30.0]), 0.0 * one, one, given)[0, 0]
    assert found == pytest.approx(stats.norm.logsf(30.0), rel=1e-9)


# --- files, ArviZ ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [classifier, lambda: classifier(3), counts, lambda: counts("poisson"), positive, censored]
)
def test_files(make, tmp_path):
    model = make()
    model.save(tmp_path / "m")
    loaded = porbnet.load(tmp_path / "m")
    assert type(loaded) is type(model)
    ask = "predict_proba" if hasattr(model, "predict_proba") else "predict"
    np.testing.assert_array_equal(getattr(loaded, ask)(X), getattr(model, ask)(X))
    assert loaded.summary() == model.summary()


@pytest.mark.parametrize("kind", ["two classes", "three classes", "counts", "limits"])
def test_an_interrupted_fit_goes_on(kind, tmp_path):
    """From a checkpoint that is finished no sweep is made, and the draws are the same; see test_checkpoint."""
    folder = {"checkpoint": tmp_path / "c", "checkpoint_seconds": 0.0} | SHORT | {"n_draws": 20}
    if kind == "counts":
        model = quietly(PoRBNetCountRegressor("constant", **folder).fit, X, COUNTS, exposure=EXPOSURE)
    elif kind == "limits":
        model = quietly(PoRBNetRegressor("constant", **folder).fit, X, F, censored=np.where(F < -1.0, -1, 0))
    else:
        labels = LABELS if kind == "two classes" else np.where(X[:, 0] > 0.7, "late", LABELS)
        model = quietly(PoRBNetClassifier("constant", **folder).fit, X, labels)
    for path in list((tmp_path / "c").rglob("chain1-*")):  # one chain of each fit begins anew
        path.unlink()
    again = quietly(porbnet.resume, tmp_path / "c", n_jobs=1, progress=False)
    ask = "predict_proba" if kind.endswith("classes") else "predict"
    np.testing.assert_array_equal(getattr(again, ask)(X), getattr(model, ask)(X))


@pytest.mark.parametrize("make", [classifier, counts, positive, censored])
def test_arviz(make):
    pytest.importorskip("arviz_base")
    model = make()
    tree = model.to_arviz(n_prior=20)
    y = tree["observed_data"]["y"].to_numpy()
    replicates = tree["posterior_predictive"]["y"].to_numpy()
    if make is classifier:
        assert set(np.unique(replicates)) <= {0.0, 1.0} and "noise" not in tree["constant_data"]
    if make is counts:
        np.testing.assert_array_equal(y, COUNTS)
        np.testing.assert_allclose(tree["constant_data"]["exposure"], EXPOSURE)
    if make is positive:
        np.testing.assert_allclose(y, LEVELS)
        assert replicates.min() > 0
    logs = tree["log_likelihood"]["y"].to_numpy()
    assert logs.shape == (2, 60, 60) and np.all(np.isfinite(logs)) and np.all(np.isfinite(tree["sample_stats"]["lp"]))


def test_leave_one_out_of_labels_and_counts():
    """With the weights integrated out and drawn: the same but for Monte Carlo error."""
    for model in (classifier(), counts(), positive()):
        one, two = model.posterior_.loo(), model.posterior_.loo("drawn")
        assert abs(one.elpd - two.elpd) < 2.5, (one, two)


# --- pictures -------------------------------------------------------------------------------------------------------


def test_pictures():
    plt = pytest.importorskip("matplotlib.pyplot")
    from porbnet import plot

    for model in (classifier(), counts()):
        axes = model.plot()
        assert len(axes) == 2 and axes[0].get_legend() is not None
        plt.close("all")
    assert plot.probability(classifier(), X, LABELS).get_ylabel() == "P(y = yes)"
    plot.rate(counts(), X, COUNTS)
    with pytest.raises(StatementError, match="`probability` and `rate`"):
        plot.fit(counts())
    with pytest.raises(StatementError, match="3 classes"):
        classifier(3).plot()
    plt.close("all")
    assert "rate" in counts()._repr_html_inner()


# --- bad input ------------------------------------------------------------------------------------------------------


def test_bad_labels():
    with pytest.raises(StatementError, match="there must be two classes at least"):
        PoRBNetClassifier().fit(X, np.zeros(60))
    with pytest.raises(ValueError, match="Unknown label type"):
        PoRBNetClassifier().fit(X, F)
    with pytest.raises(StatementError, match="one of the classes"):
        classifier().log_density(X, np.full(60, "perhaps"))
    with pytest.raises(StatementError, match="its noise must be None or a Logistic"):
        PoRBNetClassifier(prior=Prior(0.3, 1.0, region=(-1, 2), noise=0.1)).fit(X, LABELS)


@pytest.mark.parametrize(
    ("y", "exposure", "message"),
    [
        (-COUNTS, None, "y=-.* is not allowed: it must be whole numbers of at least 0"),
        (COUNTS + 0.5, None, "y=.*whole numbers.*fractional=True"),
        (COUNTS, np.zeros(60), "exposure=.*above zero"),
        (COUNTS, EXPOSURE[:3], "exposure=.*60 finite numbers above zero"),
    ],
)
def test_bad_counts(y, exposure, message):
    with pytest.raises(StatementError, match=message):
        PoRBNetCountRegressor(**SHORT).fit(X, y, exposure=exposure)


def test_bad_statements_of_counts():
    for parameters in ({"law": "binomial"}, {"size": -1.0}, {"law": "poisson", "size": 3.0}, {"fractional": 1}):
        with pytest.raises(StatementError, match=next(iter(set(parameters) - {"law"}), "law") + "="):
            PoRBNetCountRegressor(**parameters).fit(X, COUNTS)
    with pytest.raises(StatementError, match="exposure="):
        counts().predict(X, of="rate", exposure=2.0)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        (np.column_stack([F + 1.0, F]), r"censored=\[.*\] is not allowed.*\(row 0\)"),
        (np.full(60, 2), "censored=.*'left', 'right'"),
        (np.full(60, "above"), "censored=.*'left', 'right'"),
        (np.full((60, 2), np.inf), "one of which must be finite"),
    ],
)
def test_bad_limits(limits, message):
    with pytest.raises(StatementError, match=message):
        PoRBNetRegressor().fit(X, F, censored=limits)


def test_bad_positive_outputs():
    with pytest.raises(StatementError, match=r"y=0.0 is not allowed: with outcome='positive'"):
        PoRBNetRegressor(outcome="positive").fit(X, np.maximum(F, 0.0))
    with pytest.raises(StatementError, match="outputs would have no mean"):
        PoRBNetRegressor(outcome="positive", noise="robust").fit(X, LEVELS)
    with pytest.raises(StatementError, match="with censored outputs it must be 'learned'"):
        PoRBNetRegressor(noise="varying").fit(X, F, censored=np.where(F < 0, -1, 0))
    with pytest.raises(StatementError, match="outcome="):
        PoRBNetRegressor(outcome="negative").fit(X, F)


def test_a_prior_of_log_odds():
    prior = Prior(0.3, LogNormal(1.0, 2.0), region=(-1.0, 2.0), bias=1.0)
    model = quietly(PoRBNetClassifier(prior=prior, **SHORT).fit, X, LABELS)
    assert model.prior_.noise == Logistic() and model.offset_ == 0.0
