"""Every Python block of the README and of docs/ runs, page by page, and prints what the page says it prints.

The blocks of a page share one namespace and run in order in an empty folder. A ```text block right after a ```python
block is what that block prints.
"""

import contextlib
import io
import re
from pathlib import Path

import matplotlib
import pytest

from porbnet.estimators import regressor

matplotlib.use("Agg")
import matplotlib.pyplot as plt

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("**/*.md"))]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)#\s]+)(#[^)]*)?\)")
WITH_PYTHON = {
    "README.md",
    "prior.md",
    "fit.md",
    "many.md",
    "curves.md",
    "comparison.md",
    "paper.md",
    "paper-sampler.md",
    "scikit-learn.md",
    "arviz.md",
    "skpro.md",
    "optimisation.md",
    "pictures.md",
    "saving.md",
    "outcomes.md",
    "index.md",
    "tutorial.md",
    "model.md",
    "decoupling.md",
    "sampler.md",
}


def python_blocks(text):
    """(line number, code, expected output or None) of each Python block."""
    found = list(FENCE.finditer(text))
    for i, match in enumerate(found):
        if match[1] != "python":
            continue
        after = found[i + 1] if i + 1 < len(found) else None
        adjacent = after is not None and after[1] == "text" and not text[match.end() : after.start()].strip()
        yield text.count("\n", 0, match.start()) + 2, match[2], after[2] if adjacent else None


# pages about extras need them
NEEDS = {
    "arviz.md": ["arviz_base", "arviz_stats.accessors"],
    "skpro.md": ["skpro"],
    "pictures.md": ["arviz_plots"],
    "many.md": ["pandas"],
}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
@pytest.mark.filterwarnings("ignore::porbnet.StatementWarning")  # pages show some of these on purpose
@pytest.mark.filterwarnings("ignore::porbnet.errors.ConvergenceWarning")  # and some fits are short
@pytest.mark.filterwarnings("ignore::porbnet.errors.NoiseWarning")  # or show one noise sd where there is more to say
def test_code_runs_and_prints_what_the_page_says(page, tmp_path, monkeypatch):
    for module in NEEDS.get(page.name, []):
        pytest.importorskip(module)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(regressor, "MAX_SECONDS", 3600.0)  # what is printed must not depend on how busy the machine is
    namespace = {"__name__": "__main__"}
    for line, code, expected in python_blocks(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        # blank lines in front, so that a traceback points at the line of the page
        program = compile("\n" * (line - 1) + code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(program, namespace)
        plt.close("all")
        if expected is not None:
            assert printed.getvalue().rstrip() == expected.rstrip(), f"{page.name}, line {line}"


@pytest.mark.parametrize("name", sorted(WITH_PYTHON))
def test_pages_have_code_to_run(name):
    page = next(p for p in PAGES if p.name == name)
    assert list(python_blocks(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_within_the_project_lead_somewhere(page):
    targets = [m[1] for m in LINK.finditer(page.read_text(encoding="utf-8"))]
    missing = [t for t in targets if "://" not in t and not (page.parent / t).exists()]
    assert not missing


def test_blocks_and_outputs_are_told_apart():
    text = "a\n```python\nx = 1\nprint(x)\n```\n\n```text\n1\n```\nb\n```python\ny\n```\nwords\n```text\n2\n```\n"
    assert list(python_blocks(text)) == [(3, "x = 1\nprint(x)\n", "1\n"), (12, "y\n", None)]
