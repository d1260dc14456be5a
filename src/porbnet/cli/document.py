"""What was learned, as one document: the JSON of `porbnet fit` and `porbnet summary`, and their text."""

from __future__ import annotations

import dataclasses
import textwrap
from typing import TYPE_CHECKING, Any

import numpy as np

from porbnet.estimators.names import calendars, date_sentences, labels, lengthscale_unit
from porbnet.posterior.record import FIRST, Learned, learned

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_LONGEST = 110  # letters in a line


def training_data(model: PoRBNetRegressor) -> tuple[Any, Any]:
    """The observations that were fitted, X of shape (n_points, n_dims) and y of shape (n_points,).

    None of both if they were read in chunks and not kept.
    """
    problem = model.posterior_.problem
    return (problem.X, problem.y + model.offset_) if problem.has_all_rows else (None, None)


def _quality(model: PoRBNetRegressor) -> dict[str, float | None]:
    """How close the fit is to the data; rows that were not kept have left their sums of squares."""
    problem = model.posterior_.problem
    X, y = problem.X, problem.y + model.offset_
    often = np.ones(len(y)) if problem.has_all_rows else problem.times
    within = 0.0 if problem.within is None else float(often @ problem.within)
    apart = y - np.average(y, weights=often)
    spread, residual = (float(often @ v**2) + within for v in (apart, y - np.asarray(model.predict(X))))
    return {
        "r2": 1.0 - residual / spread if spread > 0 else None,
        "residual_sd": float(np.sqrt(residual / often.sum())),
        "log_density": float(model.log_density(X, y).mean()) if problem.has_all_rows else None,
    }


def record(model: PoRBNetRegressor) -> dict[str, Any]:
    """Everything a script may want to know of a fit."""
    posterior, diagnostics, names = model.posterior_, model.diagnostics_, labels(model)
    rows, unit = learned(posterior), lengthscale_unit(model)
    return {
        "observations": posterior.problem.n_observations,
        "inputs": names[:-1],
        "output": names[-1],
        "sampler": model.sampler if isinstance(model.sampler, str) else type(model.sampler).__name__,
        "chains": posterior.n_chains,
        "draws_per_chain": posterior.n_draws_per_chain,
        "converged": diagnostics.converged,
        "verdict": diagnostics.verdict,
        "fit": _quality(model),
        **{row.name: _entry(row, unit) for row in rows if row.name in FIRST},
        "also_learned": {row.name: _entry(row, unit) for row in rows if row.name not in FIRST},
        "titles": {row.name: row.title for row in rows},
        "diagnostics": [dataclasses.asdict(row) for row in diagnostics.rows],
        "acceptance": diagnostics.acceptance,
        "precision_repairs": diagnostics.n_forced,
        "cpu_seconds": float(sum(r.seconds for r in posterior.results)),
        **_dates(model, names),
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


def learned_rows(found: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Title and posterior of everything that was learned."""
    rows = {name: found[name] for name in FIRST} | found["also_learned"]
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
        "",
    ]
    rows = learned_rows(found)
    width = max(16, 2 + max(len(title) for title, _ in rows))
    lines.append(f"{'':<{width}}{'median':>11}{'5 %':>11}{'95 %':>11}   over the inputs")
    for title, row in rows:
        unit = f" {row['unit']}" if "unit" in row else ""
        ends = f"   {row['over_inputs'][0]:.4g} to {row['over_inputs'][1]:.4g}{unit}" if "over_inputs" in row else ""
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
