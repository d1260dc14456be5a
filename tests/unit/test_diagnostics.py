"""R-hat, effective sample sizes and the verdict, on draws of known quality."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from fit_tools import model, quiet_fit, wave

from porbnet.posterior.diagnostics import Diagnostics, _row, _verdict, anchor_points, quantities


def judged(*tables):
    """Rows and verdict of quantities given as (n_chains, n_draws) tables."""
    rows = tuple(_row(f"q{i}", np.asarray(t, dtype=float)) for i, t in enumerate(tables))
    n_chains, n_draws = np.shape(tables[0])
    good, text = _verdict(rows, SimpleNamespace(n_chains=n_chains, n_draws_per_chain=n_draws))
    return Diagnostics(rows, {}, 0, good, text)


def white(seed, n_chains=4, n_draws=1000):
    return np.random.default_rng(seed).standard_normal((n_chains, n_draws))


def walk(seed, n_chains=4, n_draws=1000, memory=0.99):
    noise = white(seed, n_chains, n_draws)
    for i in range(1, n_draws):
        noise[:, i] += memory * noise[:, i - 1]
    return noise


def test_independent_draws_are_good(seed):
    result = judged(white(seed), 5.0 + 0.1 * white(seed + 1))
    assert result.converged and result.verdict.startswith("converged: worst R-hat 1.0")
    row = result.rows[1]
    assert row.mean == pytest.approx(5.0, abs=0.01) and row.sd == pytest.approx(0.1, rel=0.1)
    assert row.mcse == pytest.approx(0.1 / np.sqrt(4000), rel=0.2)
    assert 3000 < row.ess_bulk < 5500


def test_slow_chains_are_told_to_run_longer(seed):
    result = judged(white(seed), walk(seed))
    assert not result.converged and "(q1)" in result.verdict and "try n_draws=" in result.verdict
    assert result.least_ess.name == "q1" and result.worst_rhat.name == "q1"
    # the advice would do: wanted over what there is, in whole times the draws
    advised = int(result.verdict.split("n_draws=")[1].split()[0])
    assert advised == 1000 * max(2, math.ceil(400 / result.least_ess.least_ess))


def test_chains_apart_are_seen(seed):
    result = judged(white(seed) + np.array([[0], [0], [0], [3]]))
    assert not result.converged and result.worst_rhat.rhat > 1.1


def test_stuck_chains_are_seen():
    """Every chain constant, at different values: within-chain variance is zero and R-hat by formula is not a number."""
    result = judged(np.repeat([[1.0], [2.0], [2.0], [3.0]], 100, axis=1))
    assert not result.converged and result.worst_rhat.rhat == math.inf and "R-hat inf" in result.verdict


def test_one_stuck_chain_is_seen(seed):
    values = white(seed)
    values[2] = 0.3
    assert not judged(values).converged


def test_a_constant_is_no_obstacle(seed):
    """A quantity that never varies (all widths equal, say) has no R-hat: neither good nor bad."""
    constant = np.full((4, 1000), 7.0)
    result = judged(constant, white(seed))
    assert result.converged and math.isnan(result.rows[0].rhat)
    assert result.worst_rhat.name == "q1" and result.least_ess.name == "q1"
    assert judged(constant).converged and judged(constant).verdict.startswith("nothing to judge")


def test_rounded_values_are_judged(seed):
    assert judged(np.round(3.0 + 0.4 * white(seed))).converged


def test_one_chain_has_no_rhat(seed):
    good, bad = judged(white(seed, 1)), judged(walk(seed, 1))
    assert good.converged and good.verdict.startswith("looks fine: least effective sample size")
    assert not bad.converged and bad.verdict.startswith("run longer (try n_draws=")
    assert math.isnan(good.rows[0].rhat) and "one chain" in good.verdict


@pytest.mark.parametrize("n_draws", [1, 2, 3])
def test_too_few_draws_to_say(seed, n_draws):
    result = judged(white(seed, 4, n_draws))
    assert not result.converged and "too few to judge" in result.verdict and str(result)


def test_draws_that_are_not_numbers_are_a_failure(seed):
    values = white(seed)
    values[1, 3] = np.nan
    result = judged(white(seed), values)
    assert not result.converged and result.verdict.startswith("failed: q1 is not a finite number")


def test_text(seed):
    text = str(judged(white(seed)))
    assert text.splitlines()[0].startswith("converged") and "tail ESS" in text


def test_what_is_diagnosed():
    named = quantities(model().posterior_)
    assert sum(name.startswith("f[") for name in named) == 20
    assert {"width", "noise", "amplitude", "log ls"} <= named.keys()
    assert all(v.shape == (120,) for v in named.values())
    assert sum(name.startswith("log ls[") for name in quantities(model("learned").posterior_)) >= 10
    X, y = wave()
    fixed = quiet_fit(X, y, lengthscale=0.2, noise=0.3, amplitude=3.0)
    assert [n for n in quantities(fixed.posterior_) if not n.startswith("f[")] == ["width"]


def test_anchors_are_inputs_in_order():
    anchors = anchor_points(model().posterior_)
    X, _ = wave()
    np.testing.assert_allclose(anchors[[0, -1], 0], [X.min(), X.max()])
    assert np.all(np.diff(anchors[:, 0]) > 0)
    assert all(np.min(np.abs(X - a)) < 1e-12 for a in anchors)


def test_acceptance_by_move():
    diagnostics = model().diagnostics_
    assert {"birth", "death", "local move", "long move"} <= diagnostics.acceptance.keys()
    assert all(0.0 <= v <= 1.0 for v in diagnostics.acceptance.values())
    assert "accepted: birth" in str(diagnostics)
