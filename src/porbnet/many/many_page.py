"""One page about many fits: how many can be trusted, which to look at first, what has failed, what was learned."""

from __future__ import annotations

import base64
import io
from html import escape
from typing import TYPE_CHECKING, Any

from porbnet.show.web_page import page

if TYPE_CHECKING:
    from porbnet.many.many_fits import ManyFits

_MOST_ROWS = 50  # of failures, and of series that have not converged
_QUANTITIES = ("n", "width", "lengthscale", "noise", "amplitude", "elpd", "rhat", "ess", "cpu_seconds")
_TITLES = {
    "n": "rows", "width": "width (units)", "elpd": "leave-one-out (elpd)", "rhat": "worst R-hat",
    "ess": "least effective sample size", "cpu_seconds": "CPU seconds",
}  # fmt: skip
_CSS = """
main { max-width: 70rem; margin: auto; } th, td { text-align: right; padding: .2rem .5rem; }
th[scope=row], td.text { text-align: left; } .good { color: #00664b; } .bad { color: #a34700; }
"""


def html(fits: ManyFits, n: int) -> str:
    """The page, with pictures of the n worst fits."""
    table, failures = fits.table, fits.failures
    good = int(table["predictions_converged"].sum()) if len(table) else 0
    mark = "good" if good == len(table) and not len(failures) else "bad"
    trusted = f"{good:,} of them with predictions that can be trusted"
    words = f"{len(table):,} series fitted, {trusted}; {len(failures):,} failed."
    left = f" {fits.n_missing:,} are not done yet: the same call again goes on." if fits.n_missing else ""
    body = [
        f"<p>By {escape(', '.join(fits.by))}; input {escape(', '.join(fits.inputs))}.</p>",
        f'<p class="{mark}"><strong>{words}</strong>{left}</p>',
        *_learned(table),
        *_pictures(fits, n),
        *_worst(fits),
        *_failures(fits),
    ]
    footer = "The whole table is in <code>table.csv</code>; <code>porbnet.load_many</code> opens this folder in Python."
    return page(f"{len(table):,} fits", _CSS, body, footer)


def _learned(table: Any) -> list[str]:
    shown = [name for name in _QUANTITIES if name in table and len(table)]
    rows = []
    for name in shown:
        values = table[name].astype(float).dropna()
        if len(values):
            ends = [f"{values.quantile(q):.4g}" for q in (0.0, 0.05, 0.5, 0.95, 1.0)]
            rows.append([_TITLES.get(name, name), *ends])
    head = ["", "least", "5 %", "median", "95 %", "largest"]
    return ["<h2>Over all series</h2>", _table(head, rows)] if rows else []


def _pictures(fits: ManyFits, n: int) -> list[str]:
    from importlib.util import find_spec

    kept = len(fits.table) and bool(fits.table["model"].notna().all()) if "model" in fits.table else False
    if not n or not kept or find_spec("matplotlib") is None:
        return []
    from porbnet.plot.style import canvas

    with canvas({}):
        figure = fits.plot(n=n)[0, 0].figure
        file = io.BytesIO()
        figure.savefig(file, format="png", dpi=110)
    text = base64.b64encode(file.getvalue()).decode("ascii")
    words = f"The {min(n, len(fits.table))} to look at first: mean, intervals of f and of y, data."
    picture = f'<img alt="{words}" src="data:image/png;base64,{text}">'
    return ["<h2>The worst first</h2>", f"<figure>{picture}<figcaption>{words}</figcaption></figure>"]


def _worst(fits: ManyFits) -> list[str]:
    table = fits.table
    bad = table[~table["predictions_converged"].astype(bool)] if len(table) else table
    if not len(bad):
        return []
    bad = bad.sort_values("rhat", ascending=False, na_position="last")
    rows = [[_key(fits, row), str(row["n"]), row["verdict"]] for _, row in bad.head(_MOST_ROWS).iterrows()]
    return ["<h2>Not to be trusted yet</h2>", _table([", ".join(fits.by), "rows", "verdict"], rows), *_more(len(bad))]


def _failures(fits: ManyFits) -> list[str]:
    failures = fits.failures
    if not len(failures):
        return []
    rows = [[_key(fits, row), row["reason"]] for _, row in failures.head(_MOST_ROWS).iterrows()]
    return ["<h2>Failed</h2>", _table([", ".join(fits.by), "reason"], rows), *_more(len(failures))]


def _key(fits: ManyFits, row: Any) -> str:
    return ", ".join(str(row[name]) for name in fits.by)


def _more(n: int) -> list[str]:
    return [f"<p>The first {_MOST_ROWS} of {n:,}.</p>"] if n > _MOST_ROWS else []


def _table(head: list[str], rows: list[list[str]]) -> str:
    top = "".join(f'<th scope="col">{escape(h)}</th>' for h in head)
    lines = []
    for row in rows:
        cells = "".join(f"<td{' class=text' if len(c) > 20 else ''}>{escape(c)}</td>" for c in row[1:])
        lines.append(f'<tr><th scope="row">{escape(row[0])}</th>{cells}</tr>')
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'
