"""The built site in Chromium, without a network: `make docs` comes first; without a site or a browser it is skipped."""

import shutil
from pathlib import Path

import pytest

SITE = Path(__file__).parents[2] / "site"
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
QUIET = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync",
         "--disable-component-update"]  # fmt: skip
PAGES = [
    "index", "install", "tutorial", "gallery/index", "gallery/01_first_fit", "fit", "troubleshooting",
    "explanation/model", "explanation/sampler", "explanation/limits", "api/estimators", "paper", "changes",
    "contributing",
]  # fmt: skip

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not (SITE / "index.html").is_file(), reason="there is no site: make docs"),
    pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium"),
]


@pytest.fixture(scope="module")
def tab():
    """(page, addresses beyond the disk that were asked for, complaints)."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET)
        page = browser.new_context(viewport={"width": 1280, "height": 1000}, offline=True).new_page()
        asked, complaints = [], []
        page.on("request", lambda r: None if r.url.startswith(("file:", "data:")) else asked.append(r.url))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("requestfailed", lambda r: complaints.append(r.url))
        yield page, asked, complaints
        browser.close()


@pytest.mark.parametrize("name", PAGES)
def test_pages_open_whole(tab, name):
    page, asked, complaints = tab
    page.goto((SITE / f"{name}.html").as_uri())
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.evaluate("[...document.images].filter(i => i.complete && i.naturalWidth === 0).map(i => i.src)") == []
    assert asked == [] and complaints == []


def test_formulas_have_their_font(tab):
    page, _, _ = tab
    page.goto((SITE / "explanation" / "model.html").as_uri())
    assert page.locator("math").count() > 20
    page.evaluate("document.fonts.ready")
    assert page.evaluate("document.fonts.check('16px \"STIX Two Math\"')")


def test_search_works(tab):
    page, asked, _ = tab
    page.goto((SITE / "search.html").as_uri() + "?q=upcrossings")
    page.wait_for_selector("#search-results li a")
    found = page.locator("#search-results li a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    assert any(link.startswith("prior.html") for link in found) and len(found) > 3
    assert asked == []
