"""Outcomes of every kind in the studio: said and guessed, fitted as the estimators do, shown, and taken away."""

import os
import time

import numpy as np
import pytest

import porbnet
from porbnet import PoRBNetClassifier, PoRBNetCountRegressor, PoRBNetRegressor
from porbnet.errors import StatementError
from porbnet.studio.deformation import Whitened, deformed
from porbnet.studio.desk import Desk
from porbnet.studio.live_fit import SLICE_PLACES
from porbnet.studio.live_summary import picture
from porbnet.studio.shown_outcomes import exact_picture
from porbnet.studio.statement_form import LEARNED, Form

pytestmark = pytest.mark.filterwarnings("ignore::porbnet.errors.PorbnetWarning")
SHORT = {"n_chains": 2, "n_warmup": 60, "n_draws": 80, "thin": 1, "seed": 5}
RNG = np.random.default_rng(11)
N = 60
DOSE = np.linspace(0.0, 1.0, N).round(4)
F = 2.0 * np.sin(6.0 * DOSE)
COLUMNS = {
    "dose": DOSE,
    "hours": RNG.uniform(0.5, 4.0, N).round(3),
    "other": RNG.uniform(0.0, 1.0, N).round(3),
    "died": np.where(RNG.random(N) < 1.0 / (1.0 + np.exp(-F)), "yes", "no"),
    "flag": (RNG.random(N) < 0.5).astype(int),
    "visits": RNG.poisson(np.exp(0.5 * F)),
    "price": np.exp(F + 0.2 * RNG.standard_normal(N)).round(5),
    "level": (3.0 * DOSE + F + 0.2 * RNG.standard_normal(N)).round(5),
}
TABLE = "\n".join(",".join(map(str, row)) for row in [list(COLUMNS), *zip(*COLUMNS.values(), strict=True)]) + "\n"


@pytest.fixture
def desk(tmp_path):
    (tmp_path / "upload").mkdir()
    (tmp_path / "upload" / "data.csv").write_text(TABLE)
    found = Desk(tmp_path, lambda told: found.told.append(told))
    found.told = []
    return found


def take(desk, y, x=("dose",), **more):
    source = {"kind": "file", "name": "trial.csv", "x": list(x), "y": y, **more}
    return desk.answer({"ask": "data", "source": source})[0]


def fitted(desk, form=None, running=SHORT):
    desk.answer({"ask": "fit", "form": LEARNED | (form or {}), "running": running})
    while not desk.fit.rests:
        time.sleep(0.01)
    assert desk.fit.phase == "done", desk.fit.error
    return desk.fit


def copied(desk, what, folder, form=None, running=SHORT):
    """The program, run where the file is; or the command."""
    words = desk.answer({"ask": "words", "form": LEARNED | (form or {}), "running": running})[0][what]
    if what == "command":
        return words
    (folder / "trial.csv").write_text(TABLE)
    space, here = {}, os.getcwd()
    os.chdir(folder)
    try:
        exec(compile(words, "copied", "exec"), space)
    finally:
        os.chdir(here)
    return space["model"]


def test_what_can_be_nothing_else_is_guessed_and_said(desk):
    found = take(desk, "died")
    assert found["kind"] == "binary" and found["axis"] == "P(died = yes)"
    assert any("fitted as yes or no, yes being 'yes'" in text for text in found["remarks"])
    found = take(desk, "flag")
    assert found["kind"] == "binary" and any("“numbers”" in text for text in found["remarks"])
    found = take(desk, "flag", outcome="real")
    assert found["kind"] == "real" and found["remarks"] == []
    found = take(desk, "visits")
    assert found["kind"] == "real" and "if they are counts, choose that" in found["remarks"][0]
    found = take(desk, "visits", outcome="counts", exposure="hours")
    assert found["axis"] == "visits per unit of hours" and found["words"]["outputs"] == ""
    found = take(desk, None, x=[])
    assert found["inputs"] == ["dose"] and "Of 7 columns" in found["remarks"][0]


@pytest.mark.parametrize(
    ("y", "more", "words"),
    [
        ("level", {"outcome": "positive"}, "above zero"),
        ("level", {"outcome": "counts"}, "whole numbers"),
        ("level", {"outcome": "binary"}, "two different values"),
        ("level", {"outcome": "words"}, "outcome"),
        ("visits", {"outcome": "counts", "exposure": "died"}, "died"),
        ("visits", {"outcome": "counts", "exposure": "nothing"}, "not a column"),
        ("died", {"outcome": "real"}, "number"),
    ],
)
def test_what_an_output_cannot_be_is_told_in_words(desk, y, more, words):
    with pytest.raises(StatementError, match=words) as caught:
        take(desk, y, **more)
    assert "--" not in str(caught.value)


LABELS = COLUMNS["died"]
CASES = {
    "binary": ("died", {}, {}, lambda how: PoRBNetClassifier(**how).fit(DOSE[:, None], LABELS)),
    "counts": (
        "visits", {"outcome": "counts", "exposure": "hours"}, {},
        lambda how: PoRBNetCountRegressor(**how).fit(DOSE[:, None], COLUMNS["visits"], exposure=COLUMNS["hours"]),
    ),
    "poisson": (
        "visits", {"outcome": "counts"}, {"size": "poisson"},
        lambda how: PoRBNetCountRegressor(law="poisson", **how).fit(DOSE[:, None], COLUMNS["visits"]),
    ),
    "positive": (
        "price", {"outcome": "positive"}, {"noise": 0.2},
        lambda how: PoRBNetRegressor(outcome="positive", noise=0.2, **how).fit(DOSE[:, None], COLUMNS["price"]),
    ),
    "trend": (
        "level", {}, {"trend": "linear"},
        lambda how: PoRBNetRegressor(trend="linear", **how).fit(DOSE[:, None], COLUMNS["level"]),
    ),
}  # fmt: skip


def mean_of(model, places):
    return model.predict_proba(places)[:, 1] if hasattr(model, "classes_") else model.predict(places)


@pytest.mark.parametrize("case", list(CASES))
def test_fits_programs_and_files_are_those_of_the_estimators(desk, tmp_path, case):
    y, more, form, plain = CASES[case]
    take(desk, y, **more)
    prior, arrays = desk.answer({"ask": "prior", "form": LEARNED | form, "draws": 20, "points": 50})
    assert np.all(np.isfinite(arrays["draws"]))
    fit = fitted(desk, form)
    how = {"n_chains": 2, "n_warmup": 60, "n_draws": 80, "thin": 1, "random_state": 5, "progress": False}
    same, grid = plain(how), fit.places[::20]
    assert np.array_equal(mean_of(fit.model, grid), mean_of(same, grid))
    assert np.array_equal(mean_of(copied(desk, "python", tmp_path, form), grid), mean_of(same, grid))
    desk.answer({"ask": "write", "what": "model"})
    assert np.array_equal(mean_of(porbnet.load(tmp_path / "model.npz"), grid), mean_of(same, grid))
    live, exact = picture(fit.tables, True, fit.rows), exact_picture(fit.model, fit.rows, fit.places)
    assert set(live) == set(exact)
    spread = exact["f_high"] - exact["f_low"]
    assert np.mean(np.abs(live["mean"] - exact["mean"]) / spread) < 0.15
    header, seen = desk.told[-1]
    assert np.array_equal(seen["mean"], exact["mean"]) and header["kind"] == fit.rows.kind
    assert ("noise" in seen) == (case in ("positive", "trend"))
    assert ("y_low" in seen) == (case not in ("binary", "counts"))
    assert prior["values"]["size"] == (10.0 if case == "counts" else None)


def test_commands_say_the_same(desk, tmp_path):
    take(desk, "died")
    assert "--y died --outcome binary --draws" in copied(desk, "command", tmp_path)
    take(desk, "visits", outcome="counts", exposure="hours")
    assert "--outcome counts --exposure hours" in copied(desk, "command", tmp_path)
    assert copied(desk, "command", tmp_path, {"size": 3.0}).startswith("# the size of counts is for Python")
    take(desk, "level")
    words = copied(desk, "command", tmp_path, {"trend": "linear", "noise": "auto"})
    assert "--noise auto --trend linear" in words and "--outcome" not in words
    take(desk, "flag", outcome="real")
    assert "--outcome real" in copied(desk, "command", tmp_path)


def test_three_inputs_are_slices(desk):
    found = take(desk, "level", x=["dose", "other", "hours"])
    assert found["dims"] == 3
    _, arrays = desk.answer({"ask": "prior", "form": LEARNED, "draws": 5, "points": 20})
    assert arrays["draws"].shape == (5, 20)
    fit = fitted(desk, {"lengthscale": "constant"}, SHORT | {"n_warmup": 30, "n_draws": 30})
    seen = desk.told[-1][1]
    assert seen["mean"].shape == (3 * SLICE_PLACES,) and "rug" not in seen
    second = fit.places[SLICE_PLACES : 2 * SLICE_PLACES]
    assert np.ptp(second[:, 1]) > 0.9 and np.ptp(second[:, [0, 2]]) >= 0.0
    assert np.all(second[:, 0] == np.median(DOSE)) and np.all(second[:, 2] == np.median(COLUMNS["hours"]))


def test_two_inputs_of_labels_are_a_map_of_probabilities(desk):
    take(desk, "died", x=["dose", "other"])
    fit = fitted(desk, {"lengthscale": "constant"}, SHORT | {"n_warmup": 30, "n_draws": 30})
    live, exact = picture(fit.tables, True, fit.rows), desk.told[-1][1]
    for seen in (live, exact):
        assert np.all((seen["mean"] > 0) & (seen["mean"] < 1)) and np.all(seen["sd"] > 0)


def test_points_by_hand_are_labels_or_counts_if_that_is_said(tmp_path):
    desk = Desk(tmp_path, lambda told: None)
    points = [[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [3.0, 1.0]]
    found = desk.answer({"ask": "data", "source": {"kind": "hand", "outcome": "binary"}, "added": points})[0]
    assert found["kind"] == "binary" and found["axis"] == "P(y = 1)"
    for bad in ([[0.0, 0.5]], [[0.0, 2.0]]):
        with pytest.raises(StatementError, match="0 or 1"):
            desk.answer({"ask": "data", "source": {"kind": "hand", "outcome": "binary"}, "added": points + bad})
    with pytest.raises(StatementError, match="rows with 0 and rows with 1"):
        desk.answer({"ask": "data", "source": {"kind": "hand", "outcome": "binary"}, "added": [[0.0, 1.0], [1.0, 1.0]]})


@pytest.mark.parametrize("name", ["doses", "visits"])
def test_examples_of_labels_and_counts(tmp_path, name):
    desk = Desk(tmp_path, lambda told: None)
    found = desk.answer({"ask": "data", "source": {"kind": "example", "name": name}})[0]
    assert found["kind"] == {"doses": "binary", "visits": "counts"}[name]
    fit = fitted(desk, {"lengthscale": "constant"}, SHORT | {"n_warmup": 20, "n_draws": 20})
    code = desk.answer({"ask": "words", "form": LEARNED | {"lengthscale": "constant"}, "running": SHORT})[0]["python"]
    space = {}
    exec(code.replace("n_warmup=60, n_draws=80", "n_warmup=20, n_draws=20"), space)
    assert np.array_equal(mean_of(space["model"], fit.places[::50]), mean_of(fit.model, fit.places[::50]))


def test_a_refit_takes_nothing_over_from_outcomes_of_another_kind(desk):
    take(desk, "flag", outcome="real")
    fitted(desk)
    take(desk, "flag")
    desk.answer({"ask": "fit", "form": LEARNED, "running": SHORT, "from_last": True})
    while not desk.fit.rests:
        time.sleep(0.01)
    assert desk.fit.phase == "done" and not desk.fit.continued


def test_deformed_draws_have_the_trend_of_the_prior():
    """Sd of f at the region's ends against theory at 4.5 sd: a false alarm in 50,000 runs."""
    form = Form.of({"lengthscale": 1.0, "amplitude": 1.0, "noise": 0.1, "bias": 0.0, "region": [0.0, 10.0],
                    "units_per_lengthscale": 2.0, "trend": 0.7})  # fmt: skip
    prior, x = form.prior(), np.array([[0.5], [5.0], [9.5]])
    f = deformed(prior, Whitened(4000, 1))(x)
    squares = f**2
    error = squares.std(axis=0) / np.sqrt(len(f))
    assert np.all(np.abs(squares.mean(axis=0) - prior.variance(x)) < 4.5 * error)
    assert prior.variance(x)[0] > 5.0 > 2.0 > prior.variance(x)[1]
