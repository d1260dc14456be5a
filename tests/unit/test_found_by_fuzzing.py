"""What hostile cases have found, one by one: each used to end in an error from inside, or in numbers that are none."""

import math
import warnings

import matplotlib.pyplot as plt
import numpy as np
import pytest
from fit_tools import SHORT, model, wave

from porbnet import (
    InverseGamma,
    LogNormal,
    PoRBNetClassifier,
    PoRBNetCountRegressor,
    PoRBNetRegressor,
    Prior,
    plot,
    scoring,
)
from porbnet.errors import ConvergenceWarning, PorbnetWarning, StatementError, StorageError
from porbnet.intensity import FromFunction, SigmoidGP
from porbnet.posterior.counting import _least
from porbnet.posterior.diagnostics import Effort, Row, judge
from porbnet.posterior.reweighing import reweighed


class NoArray:
    """What says something of its own when it is asked to be an array."""

    def __array__(self, *args, **kwargs):
        raise RuntimeError("no array")


def test_objects_that_will_not_be_arrays():
    with pytest.raises(StatementError, match="X="):
        Prior(0.5, 1.0, region=(0.0, 1.0)).variance(NoArray())
    with pytest.raises(StatementError, match="X="):
        model("constant").predict(NoArray())


@pytest.mark.parametrize("kind", [PoRBNetRegressor, PoRBNetClassifier, PoRBNetCountRegressor])
def test_outputs_that_will_not_be_an_array(kind):
    with pytest.raises(StatementError, match="y="):
        kind(**SHORT).fit(wave(5)[0], NoArray())


def test_labels_of_several_types():
    y = np.array(["no", 1e308, "no", 2.0], dtype=object)
    with pytest.raises(StatementError, match="labels of several types"):
        PoRBNetClassifier(**SHORT).fit(wave(4)[0], y)


def test_single_precision_is_no_overflow():
    """Numbers of 32 bits were compared with one that they cannot hold."""
    prior = Prior(SigmoidGP(5.0, 1.0, np.float32(0.3)), 1.0, region=(0.0, 1.0))
    assert prior.sample(np.float32([[0.5]]), 2, random_state=0).shape == (2, 1)


def test_more_units_beyond_the_region_than_memory():
    prior = Prior.from_paper(s0=0.001, intensity=0.5, sigma_w2=1.0, sigma_b2=0.0, region=[(-1.0, 2.0)] * 3)
    with pytest.raises(StatementError, match=r"units beyond the region .* units_per_lengthscale"):
        prior.sample([[0.5, 0.5, 0.5]])


@pytest.mark.parametrize("variance", [1.1e4, 1e18, LogNormal(1e18, 2.0)])
def test_a_curve_of_steps(variance):
    with pytest.raises(StatementError, match=r"variance=.* at most 10000"):
        SigmoidGP(5.0, variance, 0.3)


@pytest.mark.parametrize("draw", [plot.prior_draws, plot.prior_variance, plot.covariogram])
def test_pictures_of_what_is_no_prior(draw):
    with pytest.raises(StatementError, match="prior="):
        draw("motorcycle")


@pytest.mark.parametrize("inputs", [object(), "a", [0.5], [[0], [1, 2]], [-1], []])
def test_inputs_of_a_picture(inputs):
    with pytest.raises(StatementError, match=r"inputs=.* whole numbers"):
        plot.partial_dependence(model("constant"), inputs=inputs)
    plt.close("all")


def test_a_rate_of_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fit = PoRBNetClassifier("constant", **SHORT).fit(wave(20)[0], np.arange(20) % 2)
    with pytest.raises(StatementError, match=r"model=.* PoRBNetCountRegressor"):
        plot.rate(fit)
    assert plot.width(fit).patches
    plt.close("all")
    for scorer in (scoring.neg_crps, scoring.IntervalScore(0.5), scoring.IntervalCoverage(0.5)):
        with pytest.raises(StatementError, match="labels"):
            scorer(fit, [[0.5]], [1])


@pytest.mark.parametrize("scorer", [scoring.neg_crps, scoring.IntervalScore(0.5), scoring.IntervalCoverage(0.5)])
def test_scores_of_outputs_that_do_not_fit(scorer):
    fit, X = model("constant"), np.array([[0.1], [0.2]])
    for y in ([1.0, 2.0, 3.0], "ab", object(), [1.0, np.nan]):
        with pytest.raises(StatementError, match=r"y=.* one per row of X"):
            scorer(fit, X, y)
    for weight in ([1.0], [-1.0, 2.0], [0.0, 0.0], "ab", [np.nan, 1.0]):
        with pytest.raises(StatementError, match=r"sample_weight=.* one per row of X"):
            scorer(fit, X, [1.0, 2.0], weight)


def test_draws_of_networks_that_would_fill_the_memory():
    with pytest.warns(PorbnetWarning, match="slow"):
        prior = Prior(1e-6, 1.0, region=(0.0, 1.0))
    with pytest.raises(StatementError, match=r"drawn 256 at a time, and 2e\+06 units"):
        prior.sample([0.5])


def test_an_inverse_gamma_of_small_shape_has_finite_draws():
    law = InverseGamma(0.004, 1.0)
    assert np.all(np.isfinite(law.sample(100, np.random.default_rng(0)))) and np.isfinite(law.quantile(0.99))
    assert Prior(0.5, 1.0, noise=law, region=(0.0, 1.0)).noise == law


def test_scorers_of_inputs_that_will_not_be_an_array():
    with pytest.raises(StatementError, match="X="):
        scoring.neg_crps(model("constant"), NoArray(), [0.0])


def test_more_boxes_than_can_be_integrated_over():
    """One array of 945 GiB was asked for."""
    prior = Prior.from_paper(
        s0=288.0, intensity=FromFunction(lambda c: 1.0 + c[:, 0] ** 2), sigma_w2=1.0, sigma_b2=0.0,
        region=[(-1.0, 2.0)] * 3,
    )  # fmt: skip
    with pytest.raises(StatementError, match=r"boxes of their size .* raise the lengthscale"):
        prior.check([[0.5, 0.5, 0.5]])


def test_a_folder_is_no_name_of_a_file():
    with pytest.raises(StorageError, match="no name of a file"):
        model("constant").save("/")


def test_functions_that_are_the_same_in_every_draw():
    """Outputs without a spread at 1e30: nothing of f could be judged, and an empty list had no largest number."""
    rows = (Row("f[0]", 1.0, 0.0, *[math.nan] * 4), Row("width", 5.0, 1.0, 0.1, 1.5, 10.0, 10.0))
    converged, predicts, verdict = judge(rows, 4, 100, Effort())
    assert not converged and predicts and "the same in every draw" in verdict


def test_quantiles_of_counts_beyond_whole_numbers():
    """Above 2^53 the search for a quantile did not end."""

    def distribution(k):
        return np.where(k >= 1e18, 1.0, 0.0)

    assert _least(distribution, 0.5, np.array([1e15]))[0] == pytest.approx(1e18)


def test_rates_beyond_all_numbers():
    """f of 1e3 has no rate: moments are bounded, and none is a difference of two infinite numbers."""
    x = np.array([[0.0], [0.5], [1.0]])
    fit = PoRBNetCountRegressor("constant", amplitude=2000.0, **SHORT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        fit.fit(x, np.array([1_000_000.0, 0.0, 1_000_000.0]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", PorbnetWarning)
        mean, sd = fit.predict([[0.25], [0.8], [40.0]], return_std=True)
        assert np.all(np.isfinite(mean)) and np.all(np.isfinite(sd))
        assert np.all(np.isfinite(fit.sample_y([[40.0]], 50, random_state=0)))


def test_weights_of_a_chain_far_below_those_of_another():
    """Weights over the largest of all chains were zero in one of them, and 0 / 0 its share."""
    rng = np.random.default_rng(0)
    x, y = np.linspace(0.0, 1.0, 8)[:, None], rng.poisson(4.0, 8).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        fit = PoRBNetCountRegressor("constant", law="poisson", **SHORT).fit(x, y)
    posterior = fit.posterior_
    with pytest.MonkeyPatch.context() as patch:
        apart = np.repeat([0.0, -2000.0], len(posterior) // 2)[: len(posterior)]
        apart = np.concatenate([apart, np.full(len(posterior) - len(apart), -2000.0)])
        patch.setattr("porbnet.posterior.reweighing.log_weights", lambda _: apart)
        found = reweighed(posterior)
    assert all(np.isfinite(r.acceptance["weighed"]) for r in found.results)


def test_labels_that_have_no_order_among_the_classes():
    x = np.array([[0.1], [0.4], [0.6], [0.9]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PorbnetWarning)
        fit = PoRBNetClassifier("constant", **SHORT).fit(x, np.array(["yes", "no", "yes", "no"], dtype=object))
    with pytest.raises(StatementError, match="one of the classes"):
        fit.log_density(x[:1], object())
