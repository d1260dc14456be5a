"""A fit in a few lines of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from porbnet.posterior.diagnostics import anchor_points, learned_law

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor


def summarize(model: PoRBNetRegressor) -> str:
    """Verdict, then the posterior of what was learned as median and 90 % interval.

    What varies over the input is pooled over the inputs.
    """
    posterior, diagnostics = model.posterior_, model.diagnostics_
    anchors = anchor_points(posterior)
    n_points, n_dims = posterior.problem.inputs.shape
    rows = [
        ("width (units)", posterior.n_units),
        ("lengthscale", posterior.lengthscale(anchors)),
        ("noise sd", posterior.noise_at(anchors)),
        ("amplitude", posterior.amplitude),
    ]
    titles = {"log curve var": "variance of h", "log curve ls": "lengthscale of h"}
    rows += [(titles[name], np.exp(logs)) for name, logs in learned_law(posterior).items()]
    kappa = model.prior_.units_per_lengthscale
    lines = [
        f"PoRB-NET fit of {_counted(n_points, 'observation')} of {_counted(n_dims, 'input')}, "
        f"{kappa:.2g} unit{'' if kappa == 1 else 's'} per lengthscale",
        f"{_counted(posterior.n_chains, 'chain')} of {_counted(posterior.n_draws_per_chain, 'draw')}; "
        f"{diagnostics.verdict}",
        "",
        f"{'':<16}{'median':>12}{'5 %':>12}{'95 %':>12}",
    ]
    for name, values in rows:
        low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
        lines.append(f"{name:<16}{middle:>12.4g}{low:>12.4g}{high:>12.4g}")
    lines += ["", "accepted: " + ", ".join(f"{k} {v:.0%}" for k, v in diagnostics.acceptance.items())]
    return "\n".join(lines)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")
