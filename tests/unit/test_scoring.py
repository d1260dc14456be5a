"""Scorers: what they say, and that scikit-learn takes them."""

import pickle

import numpy as np
import pytest
from fit_tools import model as fitted
from fit_tools import wave
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.linear_model import BayesianRidge
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from porbnet import scoring
from porbnet.cli import rivals
from porbnet.errors import StatementError
from porbnet.scoring.rules import crps_of_normal, crps_of_samples, interval_score


@pytest.mark.parametrize("y", [-1.3, 0.4, 3.0])
def test_crps_of_a_normal_law_is_its_integral(y):
    below, above = (quad(f, *ends)[0] for f, ends in (
        (lambda t: norm.cdf(t, 0.5, 2.0) ** 2, (-40.0, y)),
        (lambda t: norm.sf(t, 0.5, 2.0) ** 2, (y, 40.0)),
    ))  # fmt: skip
    exact = crps_of_normal(np.array([y]), np.array([0.5]), np.array([2.0]))[0]
    assert exact == pytest.approx(below + above, rel=1e-6)
    values = norm.ppf((np.arange(4000) + 0.5) / 4000, 0.5, 2.0)
    assert crps_of_samples(np.array([y]), values[None])[0] == pytest.approx(exact, abs=2e-3)


def test_the_interval_score_is_least_at_the_quantiles():
    draws = np.random.default_rng(0).standard_normal(20_000)

    def score(half):
        return interval_score(draws, np.tile([-half, half], (len(draws), 1)), 0.9).mean()

    assert score(1.645) < min(score(1.4), score(1.9))
    assert interval_score(np.array([3.0]), np.array([[0.0, 2.0]]), 0.9)[0] == pytest.approx(2.0 + 20.0)


def test_scores_are_those_of_the_predictive_law():
    (X, y), model = wave(), fitted()
    assert scoring.log_density(model, X, y) == pytest.approx(model.log_density(X, y).mean())
    interval = model.predict_interval(X, 0.9)
    inside = (interval[:, 0] <= y) & (y <= interval[:, 1])
    assert scoring.interval_coverage(model, X, y) == inside.mean()
    assert scoring.IntervalCoverage(0.5)(model, X, y) < scoring.interval_coverage(model, X, y)
    assert scoring.neg_interval_score(model, X, y) == pytest.approx(-interval_score(y, interval, 0.9).mean())
    mean, sd = model.predict(X, return_std=True)
    assert scoring.neg_crps(model, X, y) == pytest.approx(-crps_of_normal(y, mean, sd).mean(), rel=0.1)
    assert scoring.neg_crps(model, X, y) == scoring.neg_crps(model, X, y)
    first = np.r_[1.0, np.zeros(len(y) - 1)]
    assert scoring.log_density(model, X, y, first) == pytest.approx(model.log_density(X[:1], y[:1])[0])


@pytest.mark.filterwarnings("ignore::porbnet.errors.ConvergenceWarning")
def test_scikit_learn_takes_them_by_name():
    X, y = wave()
    short = fitted().__class__(0.3, noise=0.3, n_chains=1, n_warmup=20, n_draws=30, n_jobs=1, random_state=0)
    bare = cross_validate(short, X, y, cv=2, scoring=scoring.scorers(), n_jobs=1)
    assert {f"test_{name}" for name in scoring.SCORERS} <= set(bare)
    scaled = cross_validate(
        make_pipeline(StandardScaler(), short.__class__(**short.get_params() | {"lengthscale": "constant"})),
        X, y, cv=2, scoring=scoring.scorers("log_density"),
    )  # fmt: skip
    assert np.isfinite(scaled["test_log_density"]).all()
    for scorer in scoring.SCORERS.values():
        assert pickle.loads(pickle.dumps(scorer)) == scorer


def test_what_cannot_be_scored_is_refused():
    X, y = wave()
    with pytest.raises(StatementError, match="BayesianRidge has no log_density"):
        scoring.log_density(BayesianRidge().fit(X, y), X, y)
    with pytest.raises(StatementError, match="names='magic' is not allowed"):
        scoring.scorers("magic")
    with pytest.raises(StatementError, match="coverage=1"):
        scoring.IntervalScore(1.0)


def test_a_law_by_its_quantiles_has_a_density():
    rng = np.random.default_rng(1)
    crossing = np.sort(rng.standard_normal((3, len(rivals.LEVELS))), axis=1)
    crossing[0, 3:6] = crossing[0, 3]  # ties
    knots = rivals.apart(crossing, 1e-2)
    middle = len(rivals.LEVELS) // 2
    assert np.all(np.diff(knots, axis=1) > 0) and np.allclose(knots[:, middle], crossing[:, middle])
    levels = np.linspace(0.0005, 0.9995, 1000)  # middles of 1,000 equally probable pieces
    for row in knots:
        ends = rivals.quantile_function(row[None], np.r_[levels - 0.00045, levels + 0.00045])[0].reshape(2, -1)
        density = np.exp(rivals.log_density(np.tile(row, (1000, 1)), rivals.quantile_function(row[None], levels)[0]))
        assert np.median(density * (ends[1] - ends[0])) == pytest.approx(0.0009, rel=1e-6)
        assert np.sum(density * (ends[1] - ends[0])) == pytest.approx(0.9, abs=0.02)
    inside = rivals.quantile_function(knots, rivals.LEVELS)
    assert np.allclose(inside, knots)
    assert np.all(np.diff(rivals.quantile_function(knots, np.linspace(0.001, 0.999, 99)), axis=1) > 0)
