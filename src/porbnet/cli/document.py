"""What was learned, as one document: the JSON of `porbnet fit` and `porbnet summary`, and their text."""

from __future__ import annotations

import dataclasses
import re
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.cli.kinds import expected, fit_of, kind_of, log_density, outputs_of
from porbnet.estimators.names import calendars, date_sentences, labels, lengthscale_unit
from porbnet.estimators.noise_choice import noise_sentences
from porbnet.posterior.record import FIRST, Learned, learned

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_LONGEST = 110  # letters in a line


def training_data(model: PoRBNetRegressor) -> tuple[Any, Any]:
    """The observations that were fitted, X of shape (n_points, n_dims) and y of shape (n_points,).

    None of both if they were read in chunks and not kept.
    """
    problem = model.posterior_.problem
    return (problem.X, outputs_of(model)) if problem.has_all_rows else (None, None)


def _quality(model: PoRBNetRegressor) -> dict[str, float | None]:
    """How close the fit is to the data; rows that were not kept have left their sums of squares."""
    problem = model.posterior_.problem
    X, y, beside = problem.X, outputs_of(model), problem.beside if kind_of(model) == "counts" else None
    often = np.ones(len(y)) if problem.has_all_rows else problem.times
    within = 0.0 if problem.within is None else float(often @ problem.within)
    apart = y - np.average(y, weights=often)
    spread, residual = (float(often @ v**2) + within for v in (apart, y - expected(model, X, beside)))
    return {
        "r2": 1.0 - residual / spread if spread > 0 else None,
        "residual_sd": float(np.sqrt(residual / often.sum())),
        "log_density": float(log_density(model, X, y, beside).mean()) if problem.has_all_rows else None,
    }


def record(model: PoRBNetRegressor) -> dict[str, Any]:
    """Everything a script may want to know of a fit."""
    fit = fit_of(model)
    posterior, diagnostics, names = fit.posterior_, fit.diagnostics_, labels(fit)
    rows, unit = learned(posterior), lengthscale_unit(fit)
    return {
        "observations": posterior.problem.n_observations,
        "inputs": names[:-1],
        "output": names[-1],
        "sampler": fit.sampler if isinstance(fit.sampler, str) else type(fit.sampler).__name__,
        "chains": posterior.n_chains,
        "draws_per_chain": posterior.n_draws_per_chain,
        "converged": diagnostics.converged,
        "predictions_converged": diagnostics.predictions_converged,
        "verdict": in_options(diagnostics.verdict),
        **_noise(model),
        "fit": _quality(model),
        **{row.name: _entry(row, unit) for row in rows if row.name in FIRST},
        "also_learned": {row.name: _entry(row, unit) for row in rows if row.name not in FIRST},
        "titles": {row.name: row.title for row in rows},
        "diagnostics": [dataclasses.asdict(row) for row in diagnostics.rows],
        "acceptance": diagnostics.acceptance,
        "precision_repairs": diagnostics.n_forced,
        "cpu_seconds": float(sum(r.seconds for r in posterior.results)),
        **_dates(fit, names),
        **({"classes": [str(c) for c in model.classes_]} if kind_of(model) == "binary" else {}),
    }


def _entry(row: Learned, unit: str) -> dict[str, Any]:
    in_units = unit and row.name in ("lengthscale", "curve_lengthscale")
    return row.as_dict() | ({"unit": unit} if in_units else {})


def _dates(model: PoRBNetRegressor, names: list[str]) -> dict[str, Any]:
    """Of inputs that are dates, what their numbers count."""
    found = {
        name: {"unit": c.unit, "origin": c.origin, "zone": "UTC" if c.zoned else None}
        for name, c in zip(names, calendars(model), strict=False)
        if c is not None
    }
    return {"dates": found, "date_sentences": date_sentences(model)} if found else {}


def _noise(model: PoRBNetRegressor) -> dict[str, Any]:
    """How the noise was chosen, or why another would suit better, where there is something to say."""
    choice, sentences = getattr(model, "noise_choice_", None), noise_sentences(model)
    chosen = {} if choice is None else {"noise_choice": choice.as_dict()}
    return chosen | ({"noise_sentence": in_options(sentences[0])} if sentences else {})


_OPTIONS = {"n_draws": "--draws", "n_warmup": "--warmup", "max_seconds": "--max-time", "noise": "--noise"}


def in_options(text: str) -> str:
    """Advice in the words of the command line: --draws for n_draws=."""
    return re.sub(rf"\b({'|'.join(_OPTIONS)})='?(\w+)'?", lambda m: f"{_OPTIONS[m[1]]} {m[2]}", text)


def learned_rows(found: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Title and posterior of everything that was learned."""
    rows = {name: found[name] for name in FIRST if name in found} | found["also_learned"]
    return [(found["titles"][name], row) for name, row in rows.items()]


def in_words(names: list[str], most: int = 8) -> str:
    """Names with commas between, the first few of many."""
    return ", ".join(names[:most]) + (f" and {len(names) - most:,} more" if len(names) > most else "")


def text(found: dict[str, Any]) -> str:
    """The document as a table for people."""
    fit = found["fit"]
    r2 = "" if fit["r2"] is None else f", R² {fit['r2']:.3f}"
    lines = [
        f"{found['output']} given {in_words(found['inputs'])}: {found['observations']:,} observations, "
        f"{found['chains']} chains of {found['draws_per_chain']:,} draws",
        *found.get("date_sentences", []),
        f"verdict: {found['verdict']}",
        *textwrap.wrap(found.get("noise_sentence", ""), _LONGEST),
        "",
    ]
    rows = learned_rows(found)
    width = max(16, 2 + max(len(title) for title, _ in rows))
    lines.append(f"{'':<{width}}{'median':>11}{'5 %':>11}{'95 %':>11}   over the inputs")
    for title, row in rows:
        unit = f" {row['unit']}" if "unit" in row else ""
        low, high = row.get("over_inputs", (0.0, 0.0))
        ends = f"   {low:.4g} to {high:.4g}{unit}" if low != high else ""
        numbers = "".join(f"{row[k]:>11.4g}" for k in ("median", "lower", "upper"))
        lines.append(f"{title:<{width}}{numbers}{unit}{ends}")
    lines += [
        "",
        f"fit: residual sd {fit['residual_sd']:.4g}{r2}{density(fit)}",
        *textwrap.wrap("accepted: " + ", ".join(f"{k} {v:.0%}" for k, v in found["acceptance"].items()), _LONGEST),
    ]
    return "\n".join(lines)


def density(fit: dict[str, Any], of: str = "") -> str:
    """The mean log density, where rows were kept to have one."""
    return "" if fit["log_density"] is None else f", mean log density{of} {fit['log_density']:.4g}"


def diagnostics_text(found: dict[str, Any]) -> str:
    """R-hat and effective sample sizes, quantity by quantity."""
    lines = [f"{'quantity':<14}{'mean':>12}{'sd':>11}{'mcse':>11}{'R-hat':>8}{'bulk ESS':>10}{'tail ESS':>10}"]
    for r in found["diagnostics"]:
        effort = f"{r['rhat']:>8.3f}{r['ess_bulk']:>10.0f}{r['ess_tail']:>10.0f}"
        lines.append(f"{r['name']:<14}{r['mean']:>12.5g}{r['sd']:>11.3g}{r['mcse']:>11.2g}{effort}")
    return "\n".join(lines)
