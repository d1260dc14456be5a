"""Pages hold all they show, and nothing that comes from data becomes part of their markup."""

import copy
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from fit_tools import model

from porbnet.cli import pictures
from porbnet.cli.document import record
from porbnet.cli.report import html
from porbnet.many import many_page
from porbnet.show.notebook import describe
from porbnet.show.web_page import page

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "' onload='alert(1)"]


class Tags(HTMLParser):
    """Names of all elements, and all attributes."""

    def __init__(self):
        super().__init__()
        self.names, self.attributes = set(), []

    def handle_starttag(self, tag, attributes):
        self.names.add(tag)
        self.attributes += attributes


def assert_harmless(text):
    tags = Tags()
    tags.feed(text)
    assert not tags.names & {"script", "iframe", "object", "embed", "link", "base", "form"}
    for name, value in tags.attributes:
        assert not name.startswith("on"), (name, value)
        if name in ("src", "href", "xlink:href"):
            assert value.startswith(("data:image/", "#")), (name, value)
    assert not re.search(r"url\((?!#|data:)", text)


def hostile_fit():
    """A fit whose names, verdict and statement are markup."""
    fit = copy.copy(model("constant"))
    fit.labels_ = [HOSTILE[0], HOSTILE[1]]
    fit.diagnostics_ = replace(fit.diagnostics_, verdict=HOSTILE[1])
    return fit


def test_the_report():
    fit = hostile_fit()
    with pictures.canvas():
        images = {kind: pictures.svg(pictures.figure(fit, kind)) for kind in pictures.kinds_of(fit)}
    text = html(fit, record(fit), HOSTILE[0], images)
    assert_harmless(text)
    assert "&lt;script&gt;" in text and "<svg" in text


def test_the_notebook():
    text = describe(hostile_fit())
    assert_harmless(text)
    assert "&quot;&gt;&lt;img" in text


def test_tables_of_many_fits():
    text = page(HOSTILE[0], "", [many_page._table(HOSTILE, [HOSTILE, HOSTILE])], "")
    assert_harmless(text)
    assert text.count("&lt;script&gt;") == 5


def test_markup_is_seen():
    """The judge itself: each of these is noticed."""
    for text in (HOSTILE[0], HOSTILE[1], "<a href='http://x'>", "<p style='background: url(//x)'>"):
        with pytest.raises(AssertionError):
            assert_harmless(text)
