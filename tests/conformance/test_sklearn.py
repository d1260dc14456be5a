"""The estimator keeps scikit-learn's contract: its own suite of checks, and its tools around it."""

import html
import pickle
import sys
import warnings
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from porbnet import PaperSampler, PoRBNetClassifier, PoRBNetCountRegressor, PoRBNetRegressor
from porbnet.errors import PorbnetWarning

pytestmark = pytest.mark.filterwarnings("ignore::porbnet.errors.PorbnetWarning")
SHORT = {"n_chains": 1, "n_warmup": 20, "n_draws": 20, "n_jobs": 1, "random_state": 0, "progress": False}


def wave(n=40):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 1))
    return X, np.sin(6.0 * X[:, 0]) + 0.1 * rng.standard_normal(n)


VERY_SHORT = SHORT | {"n_warmup": 5, "n_draws": 5}


QUICK = PaperSampler(n_leapfrog=2, n_leapfrog_intensity=2)


@parametrize_with_checks(
    [
        PoRBNetRegressor(**VERY_SHORT),
        PoRBNetRegressor("constant", **VERY_SHORT),
        PoRBNetRegressor("constant", sampler=QUICK, **VERY_SHORT),
    ]
)
@pytest.mark.filterwarnings("ignore")  # the checks try odd input on purpose
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


FEW_UNITS = VERY_SHORT | {"units_per_lengthscale": 0.4}


# counts that are no whole numbers are refused by default, and most of the checks have some
@parametrize_with_checks([PoRBNetClassifier("constant", **FEW_UNITS)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_of_labels(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([PoRBNetCountRegressor("constant", fractional=True, **FEW_UNITS)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_of_counts(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([PoRBNetClassifier(**VERY_SHORT), PoRBNetCountRegressor(fractional=True, **VERY_SHORT)])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks_of_labels_and_counts_by_default(estimator, check):
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


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_names_of_columns_are_remembered(library):
    frame = pytest.importorskip(library).DataFrame
    X, y = wave()
    plain = PoRBNetRegressor(**SHORT).fit(X, y)
    named = PoRBNetRegressor(**SHORT).fit(frame({"time": X[:, 0]}), frame({"y": y})["y"])
    assert named.feature_names_in_.tolist() == ["time"]
    np.testing.assert_array_equal(named.predict(frame({"time": X[:, 0]})), plain.predict(X))
    with pytest.raises(ValueError, match="feature names should match"):
        named.predict(frame({"place": X[:, 0]}))


def test_several_outputs():
    X, y = wave()
    outputs = np.c_[y, 2.0 * y + 1.0]
    model = MultiOutputRegressor(PoRBNetRegressor(**SHORT)).fit(X, outputs)
    first, second = model.predict(X).T
    np.testing.assert_array_equal(first, PoRBNetRegressor(**SHORT).fit(X, y).predict(X))
    np.testing.assert_allclose(second, 2.0 * first + 1.0, atol=1e-6)


def test_weights_reach_the_fit_through_a_pipeline():
    X, y = wave()
    weight = np.where(X[:, 0] < 0.5, 1.0, 0.25)
    piped = make_pipeline(StandardScaler(), PoRBNetRegressor(**SHORT))
    piped.fit(X, y, porbnetregressor__sample_weight=weight)
    direct = PoRBNetRegressor(**SHORT).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(piped.predict(X), direct.predict(X), atol=1e-6)


# --- notebooks -----------------------------------------------------------------------------------------------------


def test_html_of_a_fit_has_verdict_statement_and_picture():
    X, y = wave()
    model = PoRBNetRegressor(**SHORT)
    assert "sk-estimator" in model._repr_html_()  # scikit-learn's diagram, before the fit
    model.fit(X, y)
    text = model._repr_html_()
    assert html.escape(model.diagnostics_.verdict) in text and "SigmoidGP" in text and "width (units)" in text
    assert '<img alt="the fit' in text and "<script" not in text and len(text) < 150_000
    assert model._repr_mimebundle_()["text/html"] == text
    ElementTree.fromstring(text.replace("<img ", "<img a='' ").replace('">\n<pre', '"/>\n<pre'))  # tags are closed
    assert "sk-estimator" in make_pipeline(StandardScaler(), model)._repr_html_()


def test_html_without_a_picture(monkeypatch):
    X, y = wave()
    two = PoRBNetRegressor("constant", **SHORT).fit(np.c_[X, X[::-1]], y)
    assert '<img alt="maps' in two._repr_html_() and "width (units)" in two._repr_html_()
    one = PoRBNetRegressor("constant", **SHORT).fit(X, y)
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "<img" not in one._repr_html_() and "width (units)" in one._repr_html_()


def test_html_makes_no_figure_and_takes_no_setting():
    import matplotlib.pyplot as plt

    X, y = wave()
    before = plt.get_fignums()
    PoRBNetRegressor(**SHORT).fit(X, y)._repr_html_()
    assert plt.get_fignums() == before


def _log_score(estimator, X, y):
    return estimator.log_density(X, y).mean()
