"""The skpro adapter: skpro's own suite of checks, and that its distributions are the model's."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.preprocessing import StandardScaler

from porbnet import PoRBNetRegressor
from porbnet.errors import PorbnetWarning, StatementError

pytest.importorskip("skpro")
from skpro.metrics import CRPS, LogLoss
from skpro.model_selection import GridSearchCV
from skpro.regression.compose import Pipeline
from skpro.utils import check_estimator

from porbnet.interop.skpro import PoRBNetProba, PosteriorMixture

SHORT = {"n_chains": 2, "n_warmup": 50, "n_draws": 50, "n_jobs": 1, "random_state": 0, "progress": False}


@pytest.fixture(autouse=True)
def _quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        yield


def frames(n=40):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.uniform(size=n)}, index=np.arange(100, 100 + n))
    return X, pd.DataFrame({"y": np.sin(6.0 * X["x"]) + 0.1 * rng.standard_normal(n)}, index=X.index)


@pytest.fixture(scope="module")
def fitted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        return PoRBNetProba(PoRBNetRegressor("constant", **SHORT)).fit(*frames())


@pytest.mark.parametrize("kind", [PoRBNetProba, PosteriorMixture])
@pytest.mark.filterwarnings("ignore")  # the suite's own
def test_every_check_of_skpros_own_suite(kind):
    results = check_estimator(kind, verbose=False)
    failed = {name: outcome for name, outcome in results.items() if outcome != "PASSED"}
    assert not failed
    assert len(results) > 30


def test_the_distribution_is_the_models(fitted):
    X, y = frames()
    model = fitted.regressor_
    law = fitted.predict_proba(X)
    assert list(law.index) == list(X.index) and list(law.columns) == ["y"]
    points, values = X.to_numpy(), y.to_numpy()[:, 0]
    np.testing.assert_allclose(law.log_pdf(y)["y"], model.log_density(points, values), rtol=1e-8)
    np.testing.assert_allclose(law.mean()["y"], model.predict(points), rtol=1e-8)
    np.testing.assert_allclose(np.sqrt(law.var()["y"]), model.predict(points, return_std=True)[1], rtol=1e-6)
    np.testing.assert_allclose(fitted.predict_quantiles(X, [0.1, 0.7]), law.quantile([0.1, 0.7]), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fitted.predict(X)["y"], law.mean()["y"], rtol=1e-8)
    np.testing.assert_allclose(fitted.predict_var(X), law.var(), rtol=1e-6)


def test_energy_of_a_mixture_whose_parts_lie_apart():
    """Closed form: E|N(a) - N(b)| over all pairs of components."""
    pi, mu, sigma = np.array([0.3, 0.7]), np.array([0.0, 5.0]), np.array([0.5, 2.0])
    expected = sum(p * q * _distance(m - k, np.hypot(s, t)) for p, m, s in zip(pi, mu, sigma, strict=True)
                   for q, k, t in zip(pi, mu, sigma, strict=True))  # fmt: skip
    law = PosteriorMixture(np.tile(pi, (2, 1)), np.tile(mu, (2, 1))[:, :, None], np.tile(sigma, (2, 1))[:, :, None])
    np.testing.assert_allclose(law.energy().to_numpy(), expected, rtol=1e-6)
    at = sum(p * _distance(m - 1.0, s) for p, m, s in zip(pi, mu, sigma, strict=True))
    np.testing.assert_allclose(law.energy(np.ones((2, 1))).to_numpy(), at, rtol=1e-6)
    one = law.iloc[0, 0]
    assert isinstance(one, PosteriorMixture) and one.energy() == pytest.approx(expected, rel=1e-6)


def _distance(gap, sd):
    """E|Z| of Z ~ N(gap, sd²)."""
    z = gap / sd
    return 2.0 * sd * stats.norm.pdf(z) + gap * (2.0 * stats.norm.cdf(z) - 1.0)


def test_samples_have_the_law():
    """Kolmogorov-Smirnov of 5,000 samples: false alarm rate 1e-6."""
    law = PosteriorMixture(np.array([[0.2, 0.8]]), np.array([[[0.0], [3.0]]]), np.array([[[1.0], [0.5]]]))
    np.random.seed(3)  # noqa: NPY002
    sample = law.sample(5000)
    assert sample.shape == (5000, 1)
    cdf = lambda t: 0.2 * stats.norm.cdf(t) + 0.8 * stats.norm.cdf(t, 3.0, 0.5)  # noqa: E731
    assert stats.kstest(sample.to_numpy()[:, 0], cdf).pvalue > 1e-6
    np.random.seed(3)  # noqa: NPY002
    pd.testing.assert_frame_equal(law.sample(5000), sample)


def test_fewer_components(fitted):
    X, y = frames()
    fewer = fitted.clone().set_params(n_components=10).fit(X, y)
    assert fewer.predict_proba(X).mu.shape == (40, 10, 1)
    pd.testing.assert_frame_equal(fewer.predict(X), fitted.predict(X))


def test_skpros_tools_around_it(fitted):
    X, y = frames()
    law = fitted.predict_proba(X)
    assert LogLoss()(y, law) == pytest.approx(-fitted.regressor_.log_density(X.to_numpy(), y.to_numpy()).mean())
    assert 0.0 < CRPS()(y, law) < float(y.std().iloc[0])
    pipe = Pipeline([("scale", StandardScaler()), ("fit", PoRBNetProba(PoRBNetRegressor("constant", **SHORT)))])
    np.testing.assert_allclose(pipe.fit(X, y).predict(X), fitted.predict(X), atol=1e-6)
    search = GridSearchCV(
        PoRBNetProba(PoRBNetRegressor("constant", **SHORT)),
        cv=3,
        param_grid={"regressor__noise": [0.1, 5.0]},
        scoring=LogLoss(),
    )
    assert search.fit(X, y).best_params_ == {"regressor__noise": 0.1}


def test_bad_parameters_are_named():
    with pytest.raises(StatementError, match="regressor="):
        PoRBNetProba(StandardScaler()).fit(*frames())
    with pytest.raises(StatementError, match="n_components=0"):
        PoRBNetProba(n_components=0).fit(*frames())
