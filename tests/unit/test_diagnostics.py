"""R-hat, effective sample sizes and the verdict, on draws of known quality."""

import dataclasses
import math

import numpy as np
import pytest
from fit_tools import model, quiet_fit, wave

from porbnet.cli.document import in_options
from porbnet.posterior.diagnostics import Diagnostics, Effort, _row, anchor_points, judge, quantities


def judged(*tables, names=None, effort=None):
    """Rows and verdict of quantities given as (n_chains, n_draws) tables."""
    names = [f"q{i}" for i in range(len(tables))] if names is None else names
    rows = tuple(_row(name, np.asarray(t, dtype=float)) for name, t in zip(names, tables, strict=True))
    good, predicts, text = judge(rows, *np.shape(tables[0]), effort or Effort(n_draws=len(tables[0][0])))
    return Diagnostics(rows, {}, 0, good, text, predicts)


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
    assert not result.converged and "q1 (R-hat" in result.verdict and "try n_draws=" in result.verdict
    assert result.least_ess.name == "q1" and result.worst_rhat.name == "q1"
    # the advice would do: wanted over what there is
    advised = int(result.verdict.split("n_draws=")[1].split(",")[0])
    assert advised >= 1000 * 400 / result.least_ess.least_ess


def test_what_is_shown_is_what_counts(seed):
    """An R-hat that is shown as 1.010 is at most 1.01."""
    row = judged(white(seed)).rows[0]
    for rhat, good in ((1.0104, True), (1.0106, False)):
        rows = (dataclasses.replace(row, rhat=rhat),)
        assert judge(rows, 4, 1000, Effort())[0] is good


def test_predictions_can_be_good_while_the_lengthscale_is_open(seed):
    result = judged(white(seed), white(seed + 1), walk(seed), names=["f[0]", "noise", "log ls[2]"])
    assert result.predictions_converged and not result.converged
    assert result.verdict.startswith("predictions can be trusted") and "log ls[2] (R-hat" in result.verdict
    for name in ("f[3]", "noise", "log noise[1]"):
        result = judged(white(seed), walk(seed), names=["width", name])
        assert not result.predictions_converged and result.verdict.startswith(("run longer", "chains are"))


def test_advice_is_in_the_words_of_what_was_asked(seed):
    late = judged(walk(seed), effort=Effort(seconds=30.0, out_of_time=True)).verdict
    assert "the time was over after 30 s: try max_seconds=" in late and "n_draws" not in late
    assert "or n_draws='auto'" in judged(walk(seed)).verdict
    assert "'auto'" not in judged(walk(seed), effort=Effort(seconds=3.0, n_made=5000)).verdict
    assert in_options("try n_draws=4000, or n_draws='auto'; max_seconds=60") == (
        "try --draws 4000, or --draws auto; --max-time 60"
    )


def test_places_are_named():
    labels = [row.label for row in model("learned").diagnostics_.rows]
    assert labels[0].startswith("f at x = ") and "the width" in labels
    assert any(label.startswith("the lengthscale at x = ") for label in labels)


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
    assert not bad.converged and bad.verdict.startswith("run longer: ") and "try n_draws=" in bad.verdict
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
