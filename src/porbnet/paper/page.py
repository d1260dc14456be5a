"""The page of a run: every figure, what was done, what the paper states, the verdict; nothing from elsewhere."""

from __future__ import annotations

import base64
from html import escape
from typing import Any

from porbnet.paper.claims import VERDICTS, Claim
from porbnet.show.web_page import page

_CSS = """
body { max-width: 58rem; } h1 { font-size: 1.6rem; } h2 { font-size: 1.2rem; margin: 2.6rem 0 .2rem; }
p { margin: .5rem 0; } .where, .note { color: #444; } table { margin: .8rem 0; font-size: .92rem; }
th, td { padding: .3rem .6rem; text-align: left; vertical-align: top; }
td.number { text-align: right; font-variant-numeric: tabular-nums; }
.verdict { white-space: nowrap; font-weight: 600; }
.reproduced { color: #00633f; } .not-reproduced { color: #a63c00; } .not-testable { color: #555; }
"""


def html(title: str, sizes: str, sections: list[dict[str, Any]], problems: list[str], version: str) -> str:
    """The whole page.

    Each section has name, title, where, about, image (PNG bytes or None), claims, and optionally table (HTML).
    """
    every: list[Claim] = [c for s in sections for c in s["claims"]]
    body = [
        "<p>Coker, Pradier and Doshi-Velez (2019), <cite>Towards Expressive Priors for Bayesian Neural Networks: "
        "Poisson Process Radial Basis Function Networks</cite>. Each result was computed again; each claim is "
        "held against a stated criterion.</p>",
        f'<p class="where">{escape(sizes)}</p>',
        "<p>" + ", ".join(f"{sum(c['verdict'] == v for c in every)} claims {v}" for v in VERDICTS) + ".</p>",
        *(f'<p class="not-reproduced">{escape(p)}</p>' for p in problems),
        _overview(sections),
    ]
    for section in sections:
        body += _section(section)
    footer = (
        f"Made by porbnet {escape(version)}. All numbers: <code>results.json</code> and the folder "
        "<code>numbers</code>."
    )
    return page(title, _CSS, body, footer)


def _overview(sections: list[dict[str, Any]]) -> str:
    body = "".join(
        f'<tr><td><a href="#{escape(s["name"])}">{escape(s["title"])}</a></td>'
        f"<td>{escape(c['name'])}</td>{_verdict(c)}</tr>"
        for s in sections
        for c in s["claims"]
    )
    head = '<tr><th scope="col">result</th><th scope="col">claim</th><th scope="col">verdict</th></tr>'
    return f'<div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _section(section: dict[str, Any]) -> list[str]:
    parts = [
        f'<section id="{escape(section["name"])}"><h2>{escape(section["title"])}</h2>',
        f'<p class="where">{escape(section["where"])}</p>',
    ]
    if section["image"] is not None:
        code = base64.b64encode(section["image"]).decode("ascii")
        parts.append(
            f'<figure><img src="data:image/png;base64,{code}" alt="{escape(section["title"], quote=True)}">'
            f"<figcaption>{escape(section['about'])}</figcaption></figure>"
        )
    else:
        parts.append(f"<p>{escape(section['about'])}</p>")
    parts.append(section.get("table") or "")
    if section["claims"]:
        head = "".join(f'<th scope="col">{w}</th>' for w in ("claim", "the paper", "found", "criterion", "verdict"))
        body = "".join(_row(c) for c in section["claims"])
        parts.append(f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>')
    return [*parts, "</section>"]


def _row(c: Claim) -> str:
    note = f'<div class="note">{escape(c["note"])}</div>' if c["note"] else ""
    return (
        f"<tr><td>{escape(c['name'])}{note}</td><td>{escape(c['paper'])}</td><td>{_value(c['value'])}</td>"
        f"<td>{escape(c['criterion'])}</td>{_verdict(c)}</tr>"
    )


def _verdict(c: Claim) -> str:
    return f'<td class="verdict {c["verdict"].replace(" ", "-")}">{escape(c["verdict"])}</td>'


def _value(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, dict):
        return "<br>".join(f"{escape(str(k))}: {escape(_number(v))}" for k, v in value.items())
    return escape(_number(value))


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def table(caption: str, head: list[str], rows: list[list[str]]) -> str:
    """An HTML table; the first column is words."""
    top = "".join(f'<th scope="col">{escape(h)}</th>' for h in head)
    body = "".join(
        "<tr>" + f'<th scope="row">{escape(r[0])}</th>' + "".join(f'<td class="number">{escape(c)}</td>' for c in r[1:])
        + "</tr>"
        for r in rows
    )  # fmt: skip
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )
