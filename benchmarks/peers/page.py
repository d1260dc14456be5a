"""The page docs/benchmarks.md and its pictures, made from docs/benchmarks/results.json and the sentences of why.py."""

from __future__ import annotations

import json
import math
import textwrap
from pathlib import Path

import numpy as np
from peers import pictures, problems, why, words
from peers.figures import OWN, Figures, Lead, lead
from peers.registry import PEERS, refusal

_TITLES = {
    "real": "Data sets of the package",
    "rough": "From smooth to broken: one input, 200 rows",
    "rows": "Against the number of rows",
}
SMALL = (*problems.REAL, *problems.ROUGH)


def write(docs: Path) -> None:
    """Make the page and its pictures anew."""
    run = json.loads((docs / "benchmarks" / "results.json").read_text(encoding="utf-8"))
    figures = Figures(run["cells"])
    pictures.draw(figures, docs / "images")
    lines = [words.OPENING.format(**run["machine"]).rstrip(), *_models(figures), *_overview(figures)]
    for group, names in problems.GROUPS.items():
        lines += ["", f"## {_TITLES[group]}"]
        if group == "rows":
            lines += ["", "![Accuracy, time and memory against the number of rows](images/benchmarks-rows.png)"]
        for name in names:
            lines += _problem(figures, name)
    lines += [*_draws(figures), *_published(figures), "", words.LIMITS.rstrip()]
    (docs / "benchmarks.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


def paragraph(text: str) -> list[str]:
    """A text as lines of a page, after an empty one."""
    return ["", *textwrap.wrap(" ".join(text.split()), 120, break_long_words=False, break_on_hyphens=False)]


def _models(figures: Figures) -> list[str]:
    lines = ["", "## Models", "", "| model | how it is used | versions |", "|---|---|---|"]
    for peer in PEERS.values():
        told = figures.versions(peer.key) or f"skipped: {figures.failed(peer.key, '*') or 'not run'}"
        lines.append(f"| {peer.title} | {peer.about} | {told} |")
    return lines


def _overview(figures: Figures) -> list[str]:
    """Where porbnet stands in short, and the picture."""
    lines = ["", words.ACCURACY]
    for key, peer in PEERS.items():
        leads = {name: found for name in SMALL if key != OWN and (found := lead(figures, key, name)) is not None}
        if leads:
            counts = f"{_counts([each.llh for each in leads.values()])} | {_counts([e.crps for e in leads.values()])}"
            times = sorted(_seconds(figures, key, name) / _seconds(figures, OWN, name) for name in leads)
            lines.append(f"| {peer.title} | {len(leads)} | {counts} | {times[len(times) // 2]:.2g} |")
    return [*lines, *paragraph(why.TIME)]


def _counts(leads: list[float]) -> str:
    leads = [each for each in leads if not math.isnan(each)]
    if not leads:
        return "no figures"
    ahead, behind = sum(each > 0.01 for each in leads), sum(each < -0.01 for each in leads)
    return f"{ahead} / {len(leads) - ahead - behind} / {behind}"


def _seconds(figures: Figures, key: str, problem: str) -> float:
    return sum(figures.mean(key, problem, name) or 0.0 for name in ("fit_seconds", "predict_seconds"))


def _problem(figures: Figures, name: str) -> list[str]:
    """Table of one problem, and why who is ahead is ahead."""
    own = next(iter(figures.scored(OWN, name).values()), None)
    size = f" {own['n']:,} rows to fit." if own is not None else ""
    lines = ["", f"### {name}", "", f"{problems.ABOUT[name][0].upper()}{problems.ABOUT[name][1:]}.{size}", ""]
    lines += ["| model | LLH | CRPS | RMSE | 90 % | fit, s | predict, s | MB |", "|---|---|---|---|---|---|---|---|"]
    scored = [key for key in PEERS if figures.scored(key, name)]
    scored.sort(key=lambda key: figures.mean(key, name, "CRPS") or 0.0)
    lines += [_row(figures, key, name) for key in scored]
    absent = [
        f"{peer.title}: {_absence(figures, key, name)}"
        for key, peer in PEERS.items()
        if key not in scored and figures.versions(key)
    ]
    lines += _verdicts(figures, name)
    if absent:
        lines += paragraph(f"Without figures: {'; '.join(absent)}.")
    found = [lead(figures, key, name) for key in scored if key != OWN]
    return [*lines, *_reasons(name, [each for each in found if each is not None and each.counts])]


def _verdicts(figures: Figures, name: str) -> list[str]:
    """What porbnet's own diagnostics say, where that is not that all is well."""
    notes = [cell["note"] for cell in figures.scored(OWN, name).values()]
    if all(note == "converged" for note in notes):
        return []
    counted = [f"{notes.count(note)} of {len(notes)} {note}" for note in sorted(set(notes))]
    return paragraph(f"porbnet's own verdict, by split: {', '.join(counted)}.")


def _row(figures: Figures, key: str, name: str) -> str:
    def cell(column: str, digits: str) -> str:
        value = figures.mean(key, name, column)
        return "" if value is None else format(value, digits)

    title = f"**{PEERS[key].title}**" if key == OWN else PEERS[key].title
    scores = [cell("LLH", ".2f"), cell("CRPS", ".4f"), cell("RMSE", ".3f"), cell("cover90", ".2f")]
    spent = [cell("fit_seconds", ".2f"), cell("predict_seconds", ".2f"), cell("megabytes", ",.0f")]
    return f"| {title} | {' | '.join(scores + spent)} |"


def _absence(figures: Figures, key: str, name: str) -> str:
    found = figures.failed(key, name) or refusal(PEERS[key], problems.n_rows(name) or 0, problems.n_dims(name))
    return found or "not run"


def _reasons(name: str, leads: list[Lead]) -> list[str]:
    """A sentence for each peer that is ahead; peers with the same sentence share it."""
    grouped: dict[str, list[Lead]] = {}
    for found in leads:
        grouped.setdefault(why.reason(name, found.peer), []).append(found)
    lines = []
    for sentence, some in grouped.items():
        told = "; ".join(f"**{PEERS[each.peer].title}** is ahead in {each.told()}" for each in some)
        lines += paragraph(f"{told}. {sentence}")
    return lines


def _draws(figures: Figures) -> list[str]:
    lines = ["", words.DRAWS]
    keys = [key for key in PEERS if any(pictures.effective_rate(figures, key, name) is not None for name in SMALL)]
    lines += [f"| problem | {' | '.join(PEERS[key].title for key in keys)} |", "|---" * (len(keys) + 1) + "|"]
    for name in SMALL:
        cells = []
        for key in keys:
            rate, worst = pictures.effective_rate(figures, key, name), figures.mean(key, name, "rhat")
            if rate is None or worst is None:
                cells.append("")
            else:
                cells.append("too few draws" if np.isnan(rate) else f"{rate:,.0f} ({worst:.2f})")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return [*lines, *paragraph(why.DRAWS)]


def _published(figures: Figures) -> list[str]:
    from porbnet.paper.results.tables import DATA, PAPER

    lines = ["", words.PUBLISHED]
    for name in problems.REAL:
        if name in DATA and figures.scored(OWN, name):
            p, own = PAPER[DATA[name]], [figures.mean(OWN, name, score) for score in ("LLH", "RMSE")]
            theirs = f"{p['llh']:.2f}, {p['rmse']:.2f} | {p['bnn_llh']:.2f}, {p['bnn_rmse']:.2f}"
            lines.append(f"| {name} ({DATA[name]}) | {theirs} | {own[0]:.2f}, {own[1]:.2f} |")
    return [*lines, *paragraph(why.PUBLISHED)]
