"""Fits of the studio: the same draws as a plain fit, stopped or not; begun where others stood; what the page sees."""

import time

import numpy as np
import pytest

from porbnet import PoRBNetRegressor
from porbnet.errors import StatementError
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.collapsed.warm_start import begin_where
from porbnet.sampling.problem import Problem
from porbnet.statement.defaults import default_prior
from porbnet.studio import desk as desks
from porbnet.studio.desk import Desk
from porbnet.studio.rows import Reader, Source

pytestmark = pytest.mark.filterwarnings("ignore::porbnet.errors.PorbnetWarning")
LEARNED = {
    "lengthscale": "learned", "amplitude": "learned", "noise": "learned", "bias": "auto", "region": "auto",
    "units_per_lengthscale": "auto",
}  # fmt: skip
RUNNING = {"n_chains": 2, "n_warmup": 100, "n_draws": 150, "thin": 1, "seed": 5}
POINTS = [
    [float(x), float(np.sin(x) + e)]
    for x, e in zip(np.linspace(0, 6, 25), 0.2 * np.random.default_rng(0).standard_normal(25), strict=True)
]
GRID = np.linspace(0.0, 6.0, 7)[:, None]


@pytest.fixture
def desk(tmp_path):
    told = []
    found = Desk(tmp_path, told.append)
    found.told = told
    found.answer({"ask": "data", "source": {"kind": "hand"}, "added": POINTS})
    return found


def settle(desk):
    while not desk.fit.rests:
        time.sleep(0.02)
    return desk.fit


def fitted(desk, **question):
    desk.answer({"ask": "fit", "form": LEARNED, "running": RUNNING, **question})
    return settle(desk)


def test_a_fit_that_was_stopped_has_the_draws_of_one_that_was_not(desk):
    points = np.array(POINTS)
    plain = PoRBNetRegressor(n_chains=2, n_warmup=100, n_draws=150, thin=1, random_state=5)
    plain.fit(points[:, :1], points[:, 1])
    through = fitted(desk)
    assert through.phase == "done" and np.array_equal(through.model.predict(GRID), plain.predict(GRID))
    desk.answer({"ask": "fit", "form": LEARNED, "running": RUNNING})
    while desk.fit.sweeps[0] < 20 and not desk.fit.rests:
        time.sleep(0.002)
    desk.answer({"ask": "stop"})
    stopped = settle(desk)
    if stopped.phase == "stopped":
        desk.answer({"ask": "go_on"})
        settle(desk)
    assert desk.fit.phase == "done" and np.array_equal(desk.fit.model.predict(GRID), plain.predict(GRID))
    assert np.array_equal(desk.fit.model.posterior_.noise, plain.posterior_.noise)


def test_live_bands_tend_to_those_of_the_model(desk):
    fit = fitted(desk, running=RUNNING | {"n_draws": 600})
    from porbnet.studio import live_summary
    from porbnet.studio.shown_outcomes import exact_picture

    live, exact = live_summary.picture(fit.tables, True, fit.rows), exact_picture(fit.model, fit.rows, fit.places)
    spread = exact["f_high"] - exact["f_low"]
    assert np.mean(np.abs(live["mean"] - exact["mean"]) / spread) < 0.1
    for name in ("f_low", "f_high"):
        assert np.mean(np.abs(live[name] - exact[name]) / spread) < 0.2
    assert sum(fit.tables[0].widths.values()) == 600 and len(fit.tables[0].tables["f"]) <= live_summary.MOST


def test_a_refit_begins_where_the_chains_were_and_undo_recalls_the_first(desk):
    first = fitted(desk)
    desk.answer({"ask": "data", "source": {"kind": "hand"}, "added": [*POINTS, [6.5, 0.2]]})
    second = fitted(desk, from_last=True)
    assert second.continued and second.phase == "done"
    assert desk.answer({"ask": "recall", "fit": 1})[0] == {"fit": 1} and desk.fit is first
    assert desk.told[-1][0]["has_model"]


def _problem(lengthscale="learned", region="auto"):
    points = np.array(POINTS)
    prior, offset = default_prior(points[:, :1], points[:, 1], lengthscale=lengthscale, region=region)
    return Problem.of(prior, points[:, :1], points[:, 1] - offset)


@pytest.mark.parametrize("lengthscale", ["learned", "constant", 0.7])
def test_a_warm_start_takes_over_units_and_parameters(lengthscale):
    seeds = np.random.SeedSequence(1).spawn(2)
    old = CollapsedChain(_problem(), seeds[0], 200, 1)
    old.advance(200)
    new = CollapsedChain(_problem(lengthscale, region=(-3.0, 8.0)), seeds[1], 50, 5)
    assert begin_where(new, old)
    n = old.state.units.n
    there = np.sort(old.problem.scaling.centers(old.state.units.centers[:n]), axis=0)
    here = np.sort(new.problem.scaling.centers(new.state.units.centers[: new.state.units.n]), axis=0)
    inside = (there[:, 0] >= -3.0) & (there[:, 0] <= 8.0)
    np.testing.assert_allclose(here, there[inside], rtol=1e-9, atol=1e-9)
    assert new.noise == pytest.approx(old.noise)
    assert new.advance(60) == 55 and len(new.draws()) == 5


def test_a_warm_start_on_the_same_problem_stands_at_the_same_likelihood():
    seeds = np.random.SeedSequence(2).spawn(2)
    old = CollapsedChain(_problem(), seeds[0], 300, 1)
    old.advance(300)
    new, cold = CollapsedChain(_problem(), seeds[1], 0, 1), CollapsedChain(_problem(), seeds[1], 0, 1)
    begin_where(new, old)
    new.advance(1), cold.advance(1)
    assert new.draws().log_p[0] > cold.draws().log_p[0] + 5  # a start from the prior is far below
    assert abs(new.draws().log_p[0] - old.state.log_p) < 15


def test_files_are_told_of_by_their_own_names(tmp_path):
    path = tmp_path / "upload-secret.csv"
    path.write_text("a,b\n1,x\n")
    with pytest.raises(StatementError) as caught:
        Reader().rows(Source("file", "mine.csv", str(path)), [], [])
    assert "upload-secret" not in str(caught.value) and str(tmp_path) not in str(caught.value)
    path.write_text("a,b\n1,\n2,3\n3,4\n")
    with pytest.raises(StatementError, match="tick"):
        Reader().rows(Source("file", "mine.csv", str(path)), [], [])
    rows = Reader().rows(Source("file", "mine.csv", str(path), drop_missing=True), [[9.0, 9.0]], [0])
    assert rows.X[:, 0].tolist() == [3.0, 9.0] and rows.y.tolist() == [4.0, 9.0]


def test_dates_are_numbers_with_a_calendar(tmp_path):
    path = tmp_path / "d.csv"
    path.write_text("day,y\n" + "".join(f"2024-03-{d:02d},{d}\n" for d in range(1, 9)))
    desk = Desk(tmp_path, lambda told: None)
    (tmp_path / "upload").mkdir()
    path.rename(tmp_path / "upload" / "data.csv")
    found = desk.answer({"ask": "data", "source": {"kind": "file", "name": "d.csv"}})[0]
    assert found["dates"] == [{"origin": "2024-03-01T00:00:00.000000", "unit": "days"}]
    fit = fitted(desk)
    text = desks_predictions(desk, fit)
    assert text.splitlines()[1].startswith("2024-02-29T")


def desks_predictions(desk, fit):
    name = desk.answer({"ask": "write", "what": "predictions"})[0]["file"]
    return (desk.folder / name).read_text()


def test_too_many_rows_units_and_draws_are_refused(desk, tmp_path):
    path = tmp_path / "long.csv"
    path.write_text("x,y\n" + "1,2\n" * 50_001)
    with pytest.raises(StatementError, match="50,000"):
        Reader().rows(Source("file", "long.csv", str(path)), [], [])
    with pytest.raises(StatementError, match="draws up to 5,000"):
        desk.answer({"ask": "prior", "form": LEARNED | {"lengthscale": 0.0005, "units_per_lengthscale": 2.0}})
    with pytest.raises(StatementError, match="at most 100,000"):
        desk.answer({"ask": "fit", "form": LEARNED, "running": {"n_draws": 10**6}})
    assert desks._MOST_FITS == 3
