"""The tools of the evidence: bands and rules that hold their level, ranks that a wrong posterior spoils, the page."""

import json

import numpy as np
import pytest

from porbnet import LogNormal
from porbnet.validation import __main__ as command
from porbnet.validation import simulated_ranks
from porbnet.validation.combinations import LIKELIHOODS, Combination, combinations
from porbnet.validation.drift import compared
from porbnet.validation.ecdf_bands import band, holm, p_value
from porbnet.validation.evidence_page import page
from porbnet.validation.rough_functions import FUNCTIONS, row

PLAIN = Combination("Gaussian", "unknown", "collapsed", 1)


def test_p_values_hold_their_level(seed):
    """Of 2,000 sets of uniform ranks 5 % leave their bands: 4 standard errors are 2 %, a false alarm once in 16,000."""
    ranks = np.random.default_rng(seed).integers(0, 100, (2000, 60))
    p = np.array([p_value(r, 99) for r in ranks])
    assert abs(np.mean(p <= 0.05) - 0.05) < 0.02
    low, high = band(60)
    below = np.array([[np.mean(r < 5 * k) for k in range(1, 20)] for r in ranks])
    outside = np.any((below < low - 1e-9) | (below > high + 1e-9), axis=1)
    np.testing.assert_array_equal(outside, p <= 0.05)


@pytest.mark.parametrize(
    "wrong", [lambda u: u**1.5, lambda u: 0.5 + 0.7 * (u - 0.5), lambda u: 0.5 * u + 0.5 * (u > 0.5)]
)
def test_ranks_that_are_not_uniform(wrong, seed):
    """Shifted, too narrow, too wide."""
    u = np.random.default_rng(seed).uniform(size=300)
    assert p_value(np.floor(100 * wrong(u)).astype(np.int64), 99) < 1e-3


def test_holm_stops_at_the_first_that_stands():
    assert holm([0.04, 0.001, 0.013]) == [True, True, True]
    assert holm([0.04, 0.03, 0.001]) == [False, False, True]
    assert holm([]) == []


def test_combinations_are_all_there():
    every = combinations()
    assert len({c.name for c in every}) == len(every) == 270
    assert {c.likelihood for c in every} == set(LIKELIHOODS)
    assert {c.sampler for c in every} == {"collapsed", "boxes", "paper"} and {c.n_dims for c in every} == {1, 2}
    assert every[0] == PLAIN


@pytest.mark.parametrize("likelihood", LIKELIHOODS)
def test_ranks_of_every_likelihood(likelihood):
    """Every quantity that is asked for is ranked, and the same data set has the same ranks."""
    chosen = Combination(likelihood, "unknown", "collapsed", 1)
    found = simulated_ranks.ranks(chosen, 2, first=50)
    names = {"f, among the rows", "f, near the edge", "K", "amplitude", "log likelihood", "a new y", "λ"}
    assert names <= set(found)
    assert all(len(r) == 2 and r.min() >= 0 and r.max() <= simulated_ranks.N_DRAWS for r in found.values())
    again = simulated_ranks.ranks(chosen, 2, first=50)
    assert all(np.array_equal(found[name], again[name]) for name in found)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["amplitude", "noise"])
def test_a_wrong_prior_is_seen(part, monkeypatch):
    """Chains that believe in an amplitude, or a noise, of twice the size: some rank has a p below 1e-4."""
    original = simulated_ranks._posterior

    def misled(made, i, sampler, seed):
        prior = made.prior
        wrong = prior.with_noise(LogNormal(1.2, 1.4)) if part == "noise" else prior.with_noise(prior.noise)
        wrong.amplitude = LogNormal(2.4, 1.4) if part == "amplitude" else prior.amplitude
        return original(simulated_ranks.replace(made, prior=wrong), i, sampler, seed)

    monkeypatch.setattr(simulated_ranks, "_posterior", misled)
    found = simulated_ranks.ranks(PLAIN, 200)
    assert min(p_value(r, simulated_ranks.N_DRAWS) for r in found.values()) < 1e-4


def test_a_run_is_kept_and_goes_on(tmp_path, capsys):
    """A second run of more data sets makes only what is missing; one of fewer takes nothing away."""
    where = ["--out", str(tmp_path / "out"), "--cache", str(tmp_path / "cache"), "--only", PLAIN.name]
    command.main(["calibration", "--datasets", "25", *where])
    first = sorted(p.name for p in (tmp_path / "cache").iterdir())
    command.main(["calibration", "--datasets", "50", *where])
    command.main(["calibration", "--datasets", "25", *where])
    assert len(first) == 1 and len(list((tmp_path / "cache").iterdir())) == 2
    (found,) = json.loads((tmp_path / "out" / "calibration.json").read_text())["rows"]
    assert found["datasets"] == 50 and PLAIN.name in found["command"]
    command.main(["page", *where])
    text = (tmp_path / "out.md").read_text()
    assert "| Gaussian | unknown | collapsed | 1 | 50 |" in text


def test_rough_functions_are_numbers():
    x = np.linspace(0.0, 1.0, 1001)
    assert len(FUNCTIONS) == 10
    for function in FUNCTIONS.values():
        assert np.all(np.isfinite(function(x))) and np.std(function(x)) > 0.01
    one = {"rmse": 0.1, "of_f": 0.8, "of_y": 0.9, "width": 0.3, "rhat": 1.0}
    assert row("step", 50, [one, one | {"of_f": 1.0}])["coverage_of_f"] == 0.9


def test_halves_that_differ(seed):
    """A drift of half a standard deviation is seen; none is not (z above 4 once in 16,000 seeds)."""
    values = np.random.default_rng(seed).standard_normal(4000)
    assert abs(compared(values)["z"]) < 4.0
    assert abs(compared(values + np.linspace(0.0, 0.5, 4000))["z"]) > 4.0


def test_the_page_says_what_is_missing():
    text = page({})
    assert "not made yet" in text and "| " not in text.split("## ")[1]
