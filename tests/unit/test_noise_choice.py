"""noise="auto": the rule, what it chooses, and that the fit is then the one with that noise stated."""

from dataclasses import replace

import numpy as np
import pytest
from fit_tools import SHORT, quiet_fit, same_draws, wave

import porbnet
from porbnet import PoRBNetRegressor, datasets
from porbnet.errors import ConvergenceWarning, ModelFileError, StatementError
from porbnet.estimators import noise_choice
from porbnet.estimators.noise_choice import _candidates
from porbnet.posterior.leave_one_out import LeaveOneOut
from porbnet.posterior.noise_comparison import NoiseChoice, choose
from porbnet.sampling import absorb


@pytest.fixture(autouse=True)
def brief(monkeypatch):
    """Shorter than they should be; benchmarks/noise_choice.py has the counts of the real ones."""
    monkeypatch.setattr(noise_choice, "N_WARMUP", 100)
    monkeypatch.setattr(noise_choice, "N_DRAWS", 60)


def loo(pointwise):
    values = np.asarray(pointwise, dtype=float)
    return LeaveOneOut(
        float(values.sum()), 1.0, 3.0, values, np.zeros(len(values)), np.arange(len(values)), 0.7, 1.0
    )  # fmt: skip


@pytest.mark.parametrize(
    ("robust", "varying", "chosen"),
    [
        (0.0, 0.0, "learned"),
        (0.02, 0.02, "learned"),  # 2 in all: too little, however sure
        (0.5, 0.2, "robust"),
        (0.5, 0.9, "varying"),
        (-0.5, 0.5, "varying"),
        (0.5, 0.51, "robust"),
    ],
)
def test_a_more_complex_noise_must_be_clearly_better(robust, varying, chosen):
    noise = np.random.default_rng(0).standard_normal((2, 100)) * 0.5
    base = np.zeros(100)
    noise -= noise.mean(axis=1, keepdims=True)
    found = choose({"learned": loo(base), "robust": loo(noise[0] + robust), "varying": loo(noise[1] + varying)}, 100)
    assert found.noise == chosen
    assert [c.behind for c in found.candidates if c.noise == chosen] == [0.0]


def test_a_difference_within_two_standard_errors_keeps_the_simpler_one():
    gains = np.r_[np.full(50, 2.0), np.full(50, -1.6)]  # 20 in all, standard error 18
    assert choose({"learned": loo(np.zeros(100)), "varying": loo(gains)}, 100).noise == "learned"
    sentence = str(choose({"learned": loo(np.zeros(100)), "varying": loo(gains)}, 100))
    assert "varying is 20.0 ± 18.1 better, which is not clear enough" in sentence


def test_numbers_that_are_none_do_not_count():
    found = choose({"learned": loo(np.zeros(30)), "robust": loo(np.full(30, np.nan))}, 30)
    assert (found.noise, len(found.candidates)) == ("learned", 1)


@pytest.fixture(scope="module")
def crash():
    data = datasets.load_motorcycle()
    return data.X, data.y


@pytest.fixture
def chosen(crash, tmp_path):
    return quiet_fit(*crash, noise="auto", checkpoint=tmp_path / "chains")


def test_the_fit_is_the_one_with_that_noise_and_files_remember(chosen, crash, tmp_path):
    assert chosen.noise_choice_.noise == "varying" and chosen.noise == "auto"
    assert same_draws(chosen, quiet_fit(*crash, noise="varying"))
    assert same_draws(chosen, quiet_fit(*crash, noise="auto", n_jobs=2))
    chosen.save(tmp_path / "model.npz")
    again = porbnet.load(tmp_path / "model.npz")
    assert again.noise_choice_ == chosen.noise_choice_ and again.noise == "auto"
    assert " ".join(str(chosen.noise_choice_).split()) in " ".join(again.summary().split())
    with pytest.warns(ConvergenceWarning):
        resumed = porbnet.resume(tmp_path / "chains", n_jobs=1)
    assert same_draws(chosen, resumed) and resumed.noise_choice_ == chosen.noise_choice_
    with pytest.raises(StatementError, match="holds a checkpoint already"):
        PoRBNetRegressor(noise="auto", checkpoint=tmp_path / "chains").fit(*crash)


def test_outliers_get_heavy_tails_and_a_second_fit_forgets():
    X, y = wave(120)
    y[::15] += np.tile([3.0, -4.0], 4)
    model = quiet_fit(X, y, noise="auto", lengthscale="constant")
    assert model.noise_choice_.noise == "robust"
    model.set_params(noise=0.3, n_draws=10)
    with pytest.warns(porbnet.PorbnetWarning):
        model.fit(X, y)
    assert not hasattr(model, "noise_choice_")


def test_chunks_choose_while_they_are_few(crash, monkeypatch):
    X, y = crash
    model = quiet_fit([(X[:70], y[:70]), (X[70:], y[70:])], None, noise="auto")
    assert model.noise_choice_.noise == "varying"
    monkeypatch.setattr(absorb, "MOST_WAITING", 100)
    with pytest.raises(StatementError, match="noise='auto' is not allowed: of more than 100 rows in chunks"):
        quiet_fit([(X[:70], y[:70]), (X[70:], y[70:])], None, noise="auto")


def test_few_rows_are_not_asked():
    X, y = wave(12)
    choice = quiet_fit(X, y, noise="auto").noise_choice_
    assert choice == NoiseChoice("learned", (), 12, 12) and "do not tell" in str(choice)


def test_many_rows_are_asked_in_part(monkeypatch):
    monkeypatch.setattr(noise_choice, "MOST_ROWS", 30)
    X, y = wave(80)
    choice = quiet_fit(X, y, noise="auto", lengthscale="constant").noise_choice_
    assert (choice.n_rows, choice.n_given) == (30, 80) and "30 of 80 rows" in str(choice)


def test_what_cannot_be_fitted_is_no_candidate():
    real, positive = PoRBNetRegressor(), PoRBNetRegressor(outcome="positive")
    assert _candidates(real, 1, None) == _candidates(real, 3, None) == ["learned", "robust", "varying"]
    assert _candidates(real, 4, None) == ["learned", "robust"]
    assert _candidates(real, 1, np.array([0.5, 1.0])) == _candidates(positive, 1, None) == ["learned", "varying"]


def test_positive_outputs_choose_and_censored_ones_do_not():
    X, y = wave(60)
    assert quiet_fit(X, y, noise="auto", outcome="positive", lengthscale="constant").noise_choice_.noise == "learned"
    with pytest.raises(StatementError, match="with censored outputs it must be"):
        PoRBNetRegressor(noise="auto").fit(X, y, censored=np.r_[1.0, np.zeros(59)])


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"sampler": "paper"}, "with the paper's sampler it must be stated"),
        ({"prior": porbnet.Prior(0.3, 1.0, noise=0.1, region=(-1.0, 2.0))}, "state it in prior="),
        ({"noise": "autumn"}, "'learned', 'auto', 'robust', 'varying'"),
    ],
)
def test_what_is_refused_is_refused_before_any_work(parameters, words, monkeypatch):
    monkeypatch.setattr(noise_choice, "run_chains", None)
    with pytest.raises(StatementError, match=words):
        PoRBNetRegressor(**(SHORT | {"noise": "auto"} | parameters)).fit(*wave())


def test_three_inputs_have_a_noise_curve_whatever_the_region():
    X, y = wave(40, n_dims=3)
    model = quiet_fit(X, y, noise="varying", region=[(-0.5, 1.5)] * 3, n_warmup=2, n_draws=4, n_chains=1)
    assert model.noise_at(X).mean.shape == (40,)


def test_a_damaged_choice_is_refused(chosen):
    stated = chosen.noise_choice_.as_dict()
    assert NoiseChoice.from_dict(stated) == chosen.noise_choice_
    broken = [None, {}, stated | {"noise": "magic"}, stated | {"n_rows": -1}]
    broken.append(stated | {"candidates": [{"noise": "robust"}]})
    broken.append(stated | {"candidates": [replace(chosen.noise_choice_.candidates[0], elpd=None).__dict__]})
    for wrong in broken:
        with pytest.raises(ModelFileError):
            NoiseChoice.from_dict(wrong)
