"""A fit in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from porbnet.diagnostics import anchor_points

if TYPE_CHECKING:
    from porbnet.estimator import PoRBNetRegressor


def summarize(model: PoRBNetRegressor) -> str:
    """Verdict, then the posterior of what was learned as median and 90 % interval."""
    posterior, diagnostics = model.posterior_, model.diagnostics_
    n_points = posterior.problem.data.x.shape[1]
    lengthscales = posterior.lengthscale(anchor_points(posterior))
    rows = [
        ("width (units)", posterior.n_units),
        ("lengthscale", lengthscales.ravel()),
        ("noise sd", posterior.noise),
        ("amplitude", posterior.amplitude),
    ]
    lines = [
        f"PoRB-NET fit of {n_points} observations, {posterior.n_dims} input dimension(s)",
        f"{posterior.n_chains} chains of {posterior.n_draws_per_chain} draws; {diagnostics.verdict}",
        "",
        f"{'':<16}{'median':>12}{'5 %':>12}{'95 %':>12}",
    ]
    for name, values in rows:
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        lines.append(f"{name:<16}{middle:>12.4g}{low:>12.4g}{high:>12.4g}")
    lines += ["", "accepted: " + ", ".join(f"{k} {v:.0%}" for k, v in diagnostics.acceptance.items())]
    return "\n".join(lines)
