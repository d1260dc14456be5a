"""The estimator keeps scikit-learn's contract: its own suite of checks, and its tools around it."""

import pickle
import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from porbnet import PoRBNetRegressor
from porbnet.errors import PorbnetWarning

pytestmark = pytest.mark.filterwarnings("ignore::porbnet.errors.PorbnetWarning")
SHORT = {"n_chains": 1, "n_warmup": 20, "n_draws": 20, "n_jobs": 1, "random_state": 0, "progress": False}


def wave(n=40):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 1))
    return X, np.sin(6.0 * X[:, 0]) + 0.1 * rng.standard_normal(n)


VERY_SHORT = SHORT | {"n_warmup": 5, "n_draws": 5}


@parametrize_with_checks([PoRBNetRegressor(**VERY_SHORT), PoRBNetRegressor("constant", **VERY_SHORT)])
@pytest.mark.filterwarnings("ignore")  # the checks try odd input on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_parameters_come_back():
    model = PoRBNetRegressor(lengthscale=0.3, noise=0.1, **SHORT)
    parameters = model.get_params()
    assert parameters["lengthscale"] == 0.3 and parameters["n_draws"] == 20
    twin = clone(model)
    assert twin is not model and twin.get_params() == parameters
    assert model.set_params(noise=0.2).noise == 0.2
    assert repr(PoRBNetRegressor(noise=0.1)) == "PoRBNetRegressor(noise=0.1)"


def test_a_fit_survives_pickling():
    X, y = wave()
    model = PoRBNetRegressor(**SHORT).fit(X, y)
    copy = pickle.loads(pickle.dumps(model))
    for of in ("y", "f"):
        for a, b in zip(copy.predict(X, True, of=of), model.predict(X, True, of=of), strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(copy.sample_y(X, 5), model.sample_y(X, 5))
    assert copy.summary() == model.summary()


def test_pipeline_and_transformed_target_change_units_only():
    """The default prior follows the data, so that standardising changes nothing but rounding."""
    X, y = wave()
    plain = PoRBNetRegressor(**SHORT).fit(X, y).predict(X)
    piped = make_pipeline(StandardScaler(), PoRBNetRegressor(**SHORT)).fit(X, y)
    np.testing.assert_allclose(piped.predict(X), plain, atol=1e-6)
    mean, sd = piped.predict(X, return_std=True)
    assert mean.shape == sd.shape == (40,)
    target = TransformedTargetRegressor(PoRBNetRegressor(**SHORT), transformer=StandardScaler()).fit(X, y)
    np.testing.assert_allclose(target.predict(X), plain, atol=1e-6)


def test_score_is_r2():
    X, y = wave()
    model = PoRBNetRegressor(**SHORT).fit(X, y)
    assert model.score(X, y) == pytest.approx(r2_score(y, model.predict(X)))
    assert model.score(X, y) > 0.9


def test_cross_validation():
    X, y = wave(60)
    scores = cross_val_score(PoRBNetRegressor(**SHORT), X, y, cv=3)
    assert scores.shape == (3,) and np.all(scores > 0.7)


def test_grid_search_in_processes():
    """Fits inside joblib's workers, with a score of one's own."""
    X, y = wave(45)

    search = GridSearchCV(
        PoRBNetRegressor(**SHORT),
        {"lengthscale": [0.3, 30.0], "units_per_lengthscale": [1.0]},
        cv=3,
        n_jobs=2,
        scoring=_log_score,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        search.fit(X, y)
    assert search.best_params_["lengthscale"] == 0.3
    assert search.best_estimator_.predict(X).shape == (45,)


def _log_score(estimator, X, y):
    return estimator.log_density(X, y).mean()
