"""Leave-one-out some rows at a time, against ArviZ's own on the whole table, and against fits without a row."""

import functools

import numpy as np
import pytest
from fit_tools import quiet_fit, wave

from porbnet.errors import StatementError
from porbnet.posterior import function_moments
from porbnet.posterior.pointwise import log_likelihood, log_likelihood_chunks, observed

KINDS = {
    "learned": {},
    "varying": {"noise": "varying"},
    "robust": {"noise": "robust"},
    "known noise": {"noise": np.linspace(0.2, 0.5, 25)},
}


@functools.cache
def posterior_of(kind):
    return quiet_fit(*wave(25), n_chains=4, n_draws=100, **KINDS[kind]).posterior_


@pytest.fixture
def small_chunks(monkeypatch):
    """Seven rows at a time."""
    monkeypatch.setattr(function_moments, "_MOST_BYTES", 16 * 400 * 7)


@pytest.mark.parametrize("weights", ["integrated", "drawn"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:Estimated shape parameter")
def test_it_is_what_arviz_makes_of_the_table(kind, weights, small_chunks):
    pytest.importorskip("arviz_base")
    az = pytest.importorskip("arviz_stats")
    posterior = posterior_of(kind)
    found = posterior.loo(weights)
    expected = az.loo(posterior.to_arviz(n_prior=0, weights=weights), pointwise=True, reff=found.r_eff)
    np.testing.assert_allclose(found.pointwise, expected.elpd_i, rtol=1e-8)
    np.testing.assert_allclose(found.pareto_k, expected.pareto_k, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose([found.elpd, found.se, found.p_loo], [expected.elpd, expected.se, expected.p], rtol=1e-8)
    assert found.good_k == pytest.approx(expected.good_k)
    assert found.n_high_k == int(np.sum(expected.pareto_k > expected.good_k))
    np.testing.assert_array_equal(found.rows, np.arange(25))
    assert 0.0 < found.r_eff < 3.0


@pytest.mark.parametrize("weights", ["integrated", "drawn"])
@pytest.mark.parametrize("kind", KINDS)
def test_chunks_of_rows_are_columns_of_the_table(kind, weights, monkeypatch):
    posterior = posterior_of(kind)
    table = log_likelihood(posterior, weights)
    monkeypatch.setattr(function_moments, "_MOST_BYTES", 16 * 400 * 7)
    pieces = list(log_likelihood_chunks(posterior, weights))
    assert [values.shape for _, values in pieces] == [(400, 7)] * 3 + [(400, 4)]
    for rows, values in pieces:
        np.testing.assert_allclose(values, table[:, rows], rtol=1e-10, atol=1e-10)


def test_rows_come_in_the_order_in_which_they_were_given():
    X, y = wave(25)
    y[4] += 30.0  # an outlier is known by its row
    found = quiet_fit(X, y).posterior_.loo()
    assert np.argmin(found.pointwise) == 4
    repeated = quiet_fit(X, y, np.r_[2.0, 0.0, np.ones(23)]).posterior_.loo()
    np.testing.assert_array_equal(repeated.rows, [0, 0, *range(2, 25)])
    assert repeated.rows[np.argmin(repeated.pointwise)] == 4


def test_it_is_near_fits_without_the_row():
    """Four rows left out in earnest: the gap is Monte Carlo error, about 0.03; an error in the law would be tenths."""
    X, y = wave(25)
    statement = {"lengthscale": 0.3, "noise": 0.4, "amplitude": 3.0, "n_chains": 2, "n_draws": 500}
    found = quiet_fit(X, y, **statement, region=(-0.3, 1.3), bias=3.0).posterior_.loo()
    for row in (0, 7, 14, 21):
        others = np.arange(25) != row
        refit = quiet_fit(X[others], y[others], **statement, region=(-0.3, 1.3), bias=3.0)
        assert abs(refit.log_density(X[[row]], y[[row]])[0] - found.pointwise[row]) < 0.3


def test_words():
    found = posterior_of("learned").loo()
    assert "25 rows" in str(found) and f"elpd {found.elpd:.2f}" in str(found)
    assert ("not to be trusted" in str(found)) == (found.n_high_k > 0)


def test_bad_arguments():
    with pytest.raises(StatementError, match="weights='no'"):
        posterior_of("learned").loo("no")
    with pytest.raises(StatementError, match="r_eff"):
        posterior_of("learned").loo(r_eff=0.0)


def test_one_chain_has_no_efficiency_to_speak_of():
    assert quiet_fit(*wave(25), n_chains=1).posterior_.loo().r_eff == 1.0


def test_observations_are_those_that_were_given():
    found, (X, y) = observed(posterior_of("known noise")), wave(25)
    np.testing.assert_allclose(found.X[found.as_given], X, rtol=1e-12)
    np.testing.assert_allclose(found.y[found.as_given], y, rtol=1e-12)
    assert np.all(found.counts == 1.0) and np.ptp(found.known_root) > 0.5
