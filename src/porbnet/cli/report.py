"""The report: one HTML page that holds all it shows, and needs nothing from elsewhere."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING, Any

from porbnet.cli.common import version
from porbnet.cli.document import density, in_words, learned_rows
from porbnet.show.web_page import page

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_CSS = """
body { max-width: 52rem; } h1 { font-size: 1.5rem; } h2 { font-size: 1.15rem; margin-top: 2.2rem; }
.verdict { padding: .7rem 1rem; border-left: .4rem solid; background: #f5f5f5; }
.good { border-color: #00734f; } .fair { border-color: #3b87b8; } .bad { border-color: #b34700; }
table { font-variant-numeric: tabular-nums; } th, td { padding: .25rem .6rem; text-align: right; }
th:first-child { text-align: left; font-weight: 600; } thead th { white-space: nowrap; }
pre { background: #f5f5f5; padding: .7rem 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
"""

_CAPTIONS = {
    "chances": "The probability of yes with its labels, or the rate with its counts; the lengthscale that was learned. "
    "Bands hold 90 % of the posterior.",
    "curves": "The fit with its data; the lengthscale that was learned; the noise. Bands hold 90 % of the posterior; "
    "marks along the lower edge are centers of units of some draws.",
    "fit": "The fit with its data. Bands hold 90 % of the posterior.",
    "maps": "Mean and standard deviation of f, the lengthscale that was learned and the noise, over the two inputs; "
    "dots are the data, on the first map in the colour of their output.",
    "partial": "What f does along each input, on average over the others as they are in the data; bands hold 90 % of "
    "the posterior, dots are the data.",
    "slices": "The fit along each input, the others at their medians. Bands hold 90 % of the posterior; the data "
    "need not lie in the slice.",
    "width": "How many units the network has, and how probable each number is.",
}


def html(model: PoRBNetRegressor, found: dict[str, Any], title: str, images: dict[str, str]) -> str:
    """The page, from a fit, its record, and its pictures as SVG by kind."""
    good = "good" if found["converged"] else "fair" if found["predictions_converged"] else "bad"
    body = [
        f"<p>{found['observations']:,} observations of {escape(found['output'])} given "
        f"{escape(in_words(found['inputs']))}; {found['chains']} chains of {found['draws_per_chain']:,} draws.</p>",
        *(f"<p>{escape(sentence)}.</p>" for sentence in found.get("date_sentences", [])),
        f'<p class="verdict {good}"><strong>Verdict:</strong> {escape(found["verdict"])}</p>',
        *([f"<p>{escape(found['noise_sentence'])}.</p>"] if "noise_sentence" in found else []),
        *_figures(images),
        *_learned(found),
        *_diagnostics(found),
        "<h2>The statement</h2>",
        f"<pre>{escape(statement(model))}</pre>",
    ]
    footer = (
        f"Made by porbnet {escape(version())}. Draws, data and statement are in <code>model.npz</code>; "
        "<code>porbnet.load</code> reads it."
    )
    return page(title, _CSS, body, footer)


def _figures(images: dict[str, str]) -> list[str]:
    if not images:
        return ["<p>There are no pictures, because matplotlib was not installed.</p>"]
    parts = ["<h2>Pictures</h2>"]
    for kind, image in images.items():
        image = image[image.index("<svg") :]
        # two pictures in one page must not share names
        image = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{kind}-", image)
        label = escape(_CAPTIONS[kind], quote=True)
        image = image.replace("<svg ", f'<svg role="img" aria-label="{label}" ', 1)
        parts.append(f"<figure>{image}<figcaption>{escape(_CAPTIONS[kind])}</figcaption></figure>")
    return parts


def _learned(found: dict[str, Any]) -> list[str]:
    rows = []
    for name, entry in learned_rows(found):
        ends = entry.get("over_inputs")
        unit = f" {entry['unit']}" if "unit" in entry else ""
        over = "" if ends is None or ends[0] == ends[1] else f"{ends[0]:.4g} to {ends[1]:.4g}{unit}"
        rows.append([name, *(f"{entry[k]:.4g}{unit}" for k in ("median", "lower", "upper")), over])
    fit = found["fit"]
    r2 = "" if fit["r2"] is None else f", R² {fit['r2']:.3f}"
    return [
        "<h2>What was learned</h2>",
        _table(
            "Posterior median and 90 % interval, pooled over the inputs; the last column is the range of the posterior "
            "median over the inputs.",
            ["", "median", "5 %", "95 %", "over the inputs"],
            rows,
        ),
        f"<p>Residual sd {fit['residual_sd']:.4g}{r2}{density(fit, ' of the data')}.</p>",
    ]


def _diagnostics(found: dict[str, Any]) -> list[str]:
    rows = [
        [_quantity(r), f"{r['mean']:.5g}", f"{r['sd']:.3g}", f"{r['mcse']:.2g}", f"{r['rhat']:.3f}",
         f"{r['ess_bulk']:.0f}", f"{r['ess_tail']:.0f}"]
        for r in found["diagnostics"]
    ]  # fmt: skip
    head = ["quantity", "mean", "sd", "mcse", "R-hat", "bulk ESS", "tail ESS"]
    accepted = ", ".join(f"{escape(k)} {v:.0%}" for k, v in found["acceptance"].items())
    return [
        "<h2>Diagnostics</h2>",
        _table("R-hat should be at most 1.01, effective sample sizes (ESS) at least 100 per chain.", head, rows),
        f"<p>Accepted proposals: {accepted}.</p>",
    ]


def _quantity(row: dict[str, Any]) -> str:
    """What is diagnosed, in words; that it is a logarithm, where it is."""
    label, name = row["label"] or row["name"], row["name"]
    return f"log of {label}" if name.startswith("log ") and label != name else str(label)


def _table(caption: str, head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(h)}</th>' for h in head)
    body = "".join(
        f'<tr><th scope="row">{escape(r[0])}</th>' + "".join(f"<td>{escape(c)}</td>" for c in r[1:]) + "</tr>"
        for r in rows
    )
    return (
        f'<div class="scroll"><table><caption>{escape(caption)}</caption><thead><tr>{top}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def statement(model: PoRBNetRegressor) -> str:
    """The prior that was fitted, line by line."""
    prior = model.prior_
    text = "\n".join(
        [
            f"intensity              {prior.intensity!r}",
            f"amplitude              {prior.amplitude!r}",
            f"noise                  {prior.noise!r}",
            f"bias sd                {prior.bias:.6g}, about {model.offset_:.6g}",
            *([] if prior.trend is None else [f"slope sd               {prior.trend.tolist()}"]),
            f"region                 {prior.region.bounds.tolist()}",
            f"units per lengthscale  {prior.units_per_lengthscale:.4g}",
            f"expected units         {prior.expected_units:.4g}",
        ]
    )
    return re.sub(r"\d+\.\d{5,}(e[+-]?\d+)?", lambda m: f"{float(m[0]):.6g}", text)  # as many digits as people read
