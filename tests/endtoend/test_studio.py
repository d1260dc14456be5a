"""The studio in a real browser, as a user would use it."""

import json
import re
import shutil

import numpy as np
import pytest

import porbnet

pytest.importorskip("starlette", reason="the studio needs starlette and uvicorn")
playwright = pytest.importorskip("playwright.sync_api", reason="the browser is driven by playwright")
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium on this machine"),
    pytest.mark.filterwarnings("ignore"),
]

from studio_tools import StudioProcess, wait_until  # noqa: E402

BEGIN = (
    "#lengthscale=curve:-5,0.3;-1.5,0.35;2,1;5.5,1.5;9,1.5&amplitude=2&noise=0.1&bias=0&region=-5,9"
    "&units_per_lengthscale=auto"
)
DONE = "html[data-phase=done]"
SHORT = {"n_chains": 2, "n_warmup": 200, "n_draws": 200, "thin": 1}


@pytest.fixture(scope="module")
def studio():
    process = StudioProcess()
    yield process
    process.close()


@pytest.fixture(scope="module")
def browser():
    with playwright.sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def window(studio, browser):
    context = browser.new_context(viewport={"width": 1280, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, errors = context.new_page(), []
    page.set_default_timeout(20_000)
    page.on("console", lambda m: errors.append(m.text) if m.type == "error" else None)
    page.on("pageerror", lambda e: errors.append(str(e)))
    page.goto(studio.address)
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=30_000)
    yield page, errors
    context.close()


@pytest.fixture
def page(window):
    """One page for all tests, as a user has one: without data, and with the statement it begins with."""
    page, errors = window
    page.set_viewport_size({"width": 1280, "height": 900})
    page.evaluate("document.getElementById('clear-data').click()")
    at_rest(page)
    assert page.evaluate("studio.state.data === null")
    page.evaluate(f"location.hash = '{BEGIN}'")
    at_rest(page)
    page.wait_for_selector("#alert", state="hidden")
    yield page
    assert [e for e in errors if "status of 4" not in e] == []  # among them any breach of the content security policy


def at_rest(page):
    """Wait until the page has asked all that it has to ask."""
    quiet = 0
    while quiet < 3:
        page.wait_for_timeout(100)
        quiet = quiet + 1 if page.evaluate("studio.pending.questions") == 0 else 0


def shown(page, what):
    return page.evaluate(f"JSON.parse(JSON.stringify({what}, (k, v) => v instanceof Float32Array ? [...v] : v))")


def draws(page):
    return np.array(shown(page, "studio.shown.prior.draws")).reshape(50, 400)


def settled(page, before):
    """Draws that differ from those before."""
    wait_until(lambda: not np.array_equal(draws(page), before), 10)
    return draws(page)


def picture(page, host):
    return page.evaluate(f"document.querySelector('#{host} canvas').toDataURL()")


def run_shortly(page, **how):
    for name, value in (SHORT | how).items():
        page.evaluate(f"document.getElementById('{name}').value = {value}")


def load(page, tmp_path, text, name="crash.csv"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    page.set_input_files("#file", str(path))


TABLE = "time,other,acceleration\n" + "".join(
    f"{x},{k % 3},{np.sin(6 * x / 40) + 0.1 * (-1) ** k:.5f}\n" for k, x in enumerate(range(40))
)


def test_a_prior_is_stated_and_functions_follow(page):
    before, image = draws(page), picture(page, "main-chart")
    page.fill("#amplitude", "4")
    after = settled(page, before)
    np.testing.assert_allclose(after, 2 * before, rtol=1e-5, atol=1e-6)  # twice the same functions, not others
    assert picture(page, "main-chart") != image
    page.wait_for_selector("#fact-up:not(:text('–'))")
    assert float(page.inner_text("#fact-units")) > 20
    page.fill("#amplitude", "-1")
    page.wait_for_selector("#alert:visible")
    assert "amplitude" in page.inner_text("#alert") and "greater than 0" in page.inner_text("#alert")
    page.fill("#amplitude", "2")
    page.wait_for_selector("#alert", state="hidden")


def test_the_curve_is_dragged_and_moved_by_keys(page):
    before = draws(page)
    knot = page.locator(".knot").nth(2)
    box = knot.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 1)
    near = settled(page, before)
    assert 0 < np.abs(near - before).mean() < 0.25 * before.std()  # a deformation
    page.mouse.move(x, y - 25, steps=5)
    page.mouse.up()
    value = shown(page, "studio.state.form.lengthscale.knots")[2][1]
    assert value > 1.3
    knot.focus()
    page.keyboard.press("ArrowDown")
    assert shown(page, "studio.state.form.lengthscale.knots")[2][1] == pytest.approx(value / 1.1, rel=1e-3)
    page.locator("#undo").click()
    wait_until(lambda: shown(page, "studio.state.form.lengthscale.knots")[2][1] == value, 5)


def test_other_priors_are_beside_it(page):
    page.click("#compare summary")
    page.wait_for_selector("#compare-charts figure:nth-child(4) canvas")
    captions = page.locator("#compare-charts figcaption").all_inner_texts()
    assert [c.split(":")[0] for c in captions] == ["PoRB-NET", "Gaussian process", "B-RBFN", "BNN"]


def test_a_file_is_dropped_fitted_taken_away_and_kept_over_a_reload(page, tmp_path):
    transfer = page.evaluate_handle(
        "(text) => { const t = new DataTransfer(); t.items.add(new File([text], 'crash.csv')); return t; }", TABLE
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": transfer})
    page.wait_for_selector("#data-words:has-text('40 rows of crash.csv')")
    assert shown(page, "studio.state.form.lengthscale") == "learned"
    page.select_option("#column-x2", "")  # of two inputs that were offered, one
    page.wait_for_selector("#data-words:has-text('acceleration given time.')")
    run_shortly(page)
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=60_000)
    assert page.inner_text("#trust").startswith("Can it be trusted?") and "R-hat" in page.inner_text("#trust")
    with page.expect_download() as found:
        page.click("#take-model")
    found.value.save_as(tmp_path / "model.npz")
    with page.expect_download() as found:
        page.click("#take-predictions")
    found.value.save_as(tmp_path / "predictions.csv")
    columns = np.genfromtxt(tmp_path / "predictions.csv", delimiter=",", names=True)
    model = porbnet.load(tmp_path / "model.npz")
    mean, sd = model.predict(columns["time"][:, None], return_std=True)
    assert np.array_equal(mean, columns["mean"]) and np.array_equal(sd, columns["sd"])  # bit for bit
    seen = np.array(shown(page, "studio.shown.fit.mean"))
    np.testing.assert_array_equal(seen.astype(np.float32), mean.astype(np.float32))

    page.click("#copy-python")
    page.wait_for_selector("#take-words:has-text('copied')")
    (tmp_path / "crash.csv").write_text(TABLE)
    space = run_python(page.input_value("#copied"), tmp_path)
    assert space["prior"] == model.prior_
    assert np.array_equal(space["model"].predict(columns["time"][:, None], return_std=True), [mean, sd])  # the same fit

    page.reload()
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=30_000)
    page.wait_for_selector(DONE, state="attached")
    assert shown(page, "studio.shown.data.rows") == 40 and shown(page, "studio.state.form.noise") == "learned"
    np.testing.assert_array_equal(np.array(shown(page, "studio.shown.fit.mean")), seen)


def run_python(code, folder):
    """What a program makes, run in a folder."""
    import os

    space, here = {}, os.getcwd()
    os.chdir(folder)
    try:
        exec(compile(code, "copied", "exec"), space)
    finally:
        os.chdir(here)
    return space


def test_a_stated_prior_as_python_is_the_same_prior(page):
    page.fill("#bias", "0.5")
    page.click("#copy-python")
    page.wait_for_selector("#take-words:has-text('copied')")
    code = page.evaluate("navigator.clipboard.readText()")
    prior = run_python(code, ".")["prior"]
    from porbnet.studio.statement_form import Form

    same = Form.of(shown(page, "studio.state.form")).prior()
    x = np.linspace(-5.0, 9.0, 50)
    assert np.array_equal(prior.sample(x, 5, random_state=1), same.sample(x, 5, random_state=1))
    assert (prior.noise, prior.bias, prior.region) == (same.noise, same.bias, same.region)
    page.click("#copy-command")
    page.wait_for_selector("#take-words:has-text('command')")
    assert page.input_value("#copied").splitlines()[-1].startswith("porbnet prior --lengthscale")


def test_a_fit_is_stopped_gone_on_with_and_undone(page):
    page.select_option("#example", "motorcycle")
    page.wait_for_selector("#fit:enabled")
    run_shortly(page, n_draws=50_000, n_warmup=100, thin=20)
    page.click("#fit")
    wait_until(lambda: page.evaluate("(studio.shown.fit?.draws ?? 0) > 20"), 30)
    page.click("#stop")
    page.wait_for_selector("html[data-phase=stopped]", state="attached", timeout=30_000)
    made = page.evaluate("studio.shown.fit.sweeps")
    page.click("#go-on")
    wait_until(lambda: page.evaluate("studio.shown.fit.sweeps") > made, 20)
    before = draws(page)
    page.select_option("#amplitude-kind", "number")
    settled(page, before)  # the page answers while chains run
    assert page.evaluate("studio.shown.fit.phase") == "running"
    page.click("#stop")
    page.wait_for_selector("html[data-phase=stopped]", state="attached", timeout=30_000)
    run_shortly(page)
    page.select_option("#noise-kind", "number")
    page.wait_for_selector("#fit:has-text('Fit again')")
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=60_000)
    assert "Begun where the chains were" in page.inner_text("#fit-words")
    page.click("#undo")
    page.wait_for_selector("html[data-phase=stopped]", state="attached", timeout=30_000)
    assert page.evaluate("studio.shown.fit.sweeps") > made


def test_a_bad_file_is_told_in_words(page, tmp_path):
    load(page, tmp_path, "a,b\n1,2\n3,four\n", "bad.csv")
    page.wait_for_selector("#alert:visible")
    words = page.inner_text("#alert")
    assert "line 3" in words and "'four'" in words and "/" not in words  # no path of the server
    load(page, tmp_path, b"\x00\x01\x02" * 100, "binary.csv")
    page.wait_for_selector("#alert:has-text('binary.csv')")
    assert shown(page, "studio.shown.data") is None


def test_points_by_hand(page):
    page.click("#by-hand summary")
    for x, y in ((0, 1), (1, -1), (2, 0.5)):
        page.fill("#add-x", str(x))
        page.fill("#add-y", str(y))
        page.click("#add-point")
        page.wait_for_selector(f"#data-words:has-text('{x + 1} rows')")
    page.check("input[value=add]")
    page.click("#main-chart", position={"x": 300, "y": 150})
    page.wait_for_selector("#data-words:has-text('4 rows')")
    assert shown(page, "studio.state.data.added").__len__() == 4
    page.check("input[value=remove]")
    x, y = page.evaluate(
        """() => { const { plot } = studio.charts.main, { x, y } = studio.shown.data;
        const box = plot.over.getBoundingClientRect();
        return [box.left + plot.valToPos(x[1], "x"), box.top + plot.valToPos(y[1], "y")]; }"""
    )
    page.mouse.click(x + 2, y + 1)
    page.wait_for_selector("#data-words:has-text('3 rows')")
    assert [1, -1] not in shown(page, "studio.state.data.added")
    page.check("input[value=look]")
    page.fill("#add-x", "2.1")
    page.fill("#add-y", "0.4")
    page.click("#remove-point")  # the nearest, without a mouse
    page.wait_for_selector("#data-words:has-text('2 rows')")
    assert [2, 0.5] not in shown(page, "studio.state.data.added")
    page.locator("#example").focus()
    page.keyboard.press("Control+z")
    page.wait_for_selector("#data-words:has-text('3 rows')")
    page.click("#by-hand summary")


def test_two_inputs_are_a_map_and_a_link_holds_the_prior(page, studio):
    page.select_option("#example", "exp2d")
    page.wait_for_selector("#fit:enabled")
    run_shortly(page, n_draws=60, n_warmup=60)
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=180_000)
    page.wait_for_selector("#maps:visible")
    assert "Map of the mean" in page.get_attribute("#map-mean", "aria-label")
    link = "lengthscale=0.7&amplitude=3&noise=0.2&bias=1&region=0,5&units_per_lengthscale=3"
    other = page.context.new_page()
    other.goto(f"http://127.0.0.1:{studio.port}/#{link}")
    other.wait_for_selector("html[data-ready=yes]", state="attached", timeout=30_000)
    form = shown(other, "studio.state.form")
    assert (form["lengthscale"], form["amplitude"], form["region"]) == (0.7, 3, [0, 5])
    assert re.search("amplitude=3", other.url)
    assert json.dumps(form)


def test_it_fits_a_phone_and_can_be_used_by_keyboard(page):
    page.set_viewport_size({"width": 360, "height": 740})
    wait_until(lambda: page.evaluate("document.documentElement.scrollWidth") <= 360, 10)
    names = page.evaluate(
        """[...document.querySelectorAll("input, select, button, textarea")].filter((e) => e.offsetParent)
        .filter((e) => !(e.labels?.length || e.getAttribute("aria-label") || e.textContent.trim())).map((e) => e.id)"""
    )
    assert names == []  # everything has a name
    page.locator("body").press("Tab")
    reached = set()
    for _ in range(60):
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
        page.keyboard.press("Tab")
    assert {"file", "example", "lengthscale-kind", "amplitude", "knot", "copy-python"} <= reached


OUTCOMES = "dose,other,hours,died,visits\n" + "".join(
    f"{k / 40},{k % 7},{1 + k % 3},{'yes' if (k * 7) % 40 < k else 'no'},{(k * 7) % 5 + k % 2}\n" for k in range(40)
)


@pytest.mark.slow
def test_outcomes_are_guessed_said_and_changed(page, tmp_path):
    load(page, tmp_path, OUTCOMES.replace(",visits", ",count"), "trial.csv")
    page.wait_for_selector("#data-words:has-text('40 rows of trial.csv')")
    assert "Of 4 columns that could be inputs the first is taken" in page.inner_text("#data-words")
    page.select_option("#column-y", "died")
    page.wait_for_selector("#data-words:has-text('fitted as yes or no, yes being')")
    assert "as it looks: yes or no" in page.inner_text("#outcome option:checked")
    assert page.is_hidden("#noise-entry") and page.is_hidden("#trend-entry") and page.is_hidden("#size-entry")
    wait_until(lambda: 0.0 <= draws(page).min() <= draws(page).max() <= 1.0, 10)  # probabilities
    page.select_option("#lengthscale-kind", "constant")
    run_shortly(page, n_draws=60, n_warmup=60)
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=180_000)
    seen = shown(page, "studio.shown.fit")
    assert min(seen["f_low"]) > 0.0 and max(seen["f_high"]) < 1.0 and "y_low" not in seen
    assert "probability and its 90 %" in page.inner_text("#keys") and page.is_hidden("#noise-figure")
    assert "probability" in page.get_attribute("#main-chart", "aria-label")
    with page.expect_download() as found:
        page.click("#take-model")
    found.value.save_as(tmp_path / "model.npz")
    model = porbnet.load(tmp_path / "model.npz")
    assert list(model.classes_) == ["no", "yes"]
    page.click("#copy-command")
    wait_until(lambda: "--x dose --y died --outcome binary" in page.input_value("#copied"), 10)

    page.select_option("#column-y", "count")
    page.wait_for_selector("#data-words:has-text('if they are counts')")
    page.select_option("#outcome", "counts")
    page.wait_for_selector("#size-entry:visible")
    page.select_option("#exposure", "hours")
    wait_until(lambda: shown(page, "studio.shown.data.axis") == "count per unit of hours", 10)
    page.select_option("#outcome", "positive")  # there are zeros
    page.wait_for_selector("#alert:has-text('above zero')")
    assert page.input_value("#outcome") == "counts"  # as it was
    page.click("#undo")
    page.wait_for_selector("#alert", state="hidden")


@pytest.mark.slow
def test_more_than_two_inputs_are_curves(page, tmp_path):
    load(page, tmp_path, OUTCOMES, "trial.csv")
    page.wait_for_selector("#data-words:has-text('40 rows of trial.csv')")
    page.select_option("#column-x2", "other")
    page.wait_for_selector("#further:visible")
    page.click("#further summary")
    page.check("#further-inputs input[value=hours]")
    page.wait_for_selector("#data-words:has-text('visits given dose, other and hours.')")
    page.select_option("#lengthscale-kind", "constant")
    run_shortly(page, n_draws=50, n_warmup=30)
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=180_000)
    assert page.locator("#slices-charts canvas").count() == 3 and page.is_hidden("#main-figure")
    labels = [e.get_attribute("aria-label") for e in page.locator("#slices-charts .chart").all()]
    assert [text.split(":")[0] for text in labels] == [f"The fit along {n}" for n in ("dose", "other", "hours")]


@pytest.mark.slow
def test_dates_a_trend_and_a_noise_that_is_chosen(page, tmp_path):
    days = np.arange("2024-01-01", "2024-03-01", 2, dtype="datetime64[D]")
    rows = "".join(f"{day},{0.2 * k + (-1) ** k * 0.1:.3f}\n" for k, day in enumerate(days))
    load(page, tmp_path, "day,level\n" + rows, "days.csv")
    page.wait_for_selector("#data-words:has-text('30 rows of days.csv')")
    page.select_option("#trend-kind", "linear")
    page.select_option("#noise-kind", "auto")
    page.select_option("#lengthscale-kind", "constant")
    assert re.search("trend=linear", page.url)
    run_shortly(page, n_draws=60, n_warmup=60)
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=180_000)
    assert "chosen by leave-one-out" in page.inner_text("#fit-words")
    page.click("#numbers summary")
    assert "2024-01" in page.inner_text("#numbers-table")
    page.click("#numbers summary")
    page.evaluate("document.getElementById('copied').value = ''")
    page.click("#copy-command")
    wait_until(lambda: "--noise auto --trend linear" in page.input_value("#copied"), 10)


@pytest.mark.slow
@pytest.mark.parametrize("outcome", ["binary", "counts", "real"])
def test_the_command_makes_the_same_fit(page, tmp_path, outcome):
    import shlex
    import subprocess
    import sys

    load(page, tmp_path, OUTCOMES, "trial.csv")
    page.wait_for_selector("#data-words:has-text('40 rows of trial.csv')")
    page.select_option("#column-y", "died" if outcome == "binary" else "visits")
    at_rest(page)
    if outcome == "counts":
        page.select_option("#outcome", "counts")
        page.select_option("#exposure", "hours")
        at_rest(page)
    elif outcome == "real":
        page.select_option("#trend-kind", "linear")
        page.select_option("#noise-kind", "auto")
    run_shortly(page)
    page.click("#fit")
    page.wait_for_selector(DONE, state="attached", timeout=180_000)
    with page.expect_download() as found:
        page.click("#take-model")
    found.value.save_as(tmp_path / "model.npz")
    page.evaluate("document.getElementById('copied').value = ''")
    page.click("#copy-command")
    wait_until(lambda: page.input_value("#copied"), 10)
    words = shlex.split(page.input_value("#copied"))
    done = subprocess.run([sys.executable, "-m", *words, "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode in (0, 3), done.stderr
    here, there = porbnet.load(tmp_path / "model.npz"), porbnet.load(tmp_path / "trial-fit" / "model.npz")
    x = np.linspace(0.0, 1.0, 9)[:, None]
    predict = "predict_proba" if outcome == "binary" else "predict"
    assert np.array_equal(getattr(here, predict)(x), getattr(there, predict)(x))
