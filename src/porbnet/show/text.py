"""A fit in a few lines of text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from porbnet.estimators.names import date_sentences, lengthscale_unit
from porbnet.estimators.noise_choice import noise_sentences
from porbnet.posterior.record import learned

if TYPE_CHECKING:
    from porbnet.estimators.regressor import PoRBNetRegressor

_LONGEST = 110  # letters in a line


def summarize(model: PoRBNetRegressor) -> str:
    """Verdict, then the posterior of what was learned as median and 90 % interval.

    What varies over the input is pooled over the inputs.
    """
    posterior, diagnostics = model.posterior_, model.diagnostics_
    n_points, n_dims = posterior.problem.n_observations, posterior.n_dims
    kappa = model.prior_.units_per_lengthscale
    lines = [
        f"PoRB-NET fit of {_counted(n_points, 'observation')} of {_counted(n_dims, 'input')}, "
        f"{kappa:.2g} unit{'' if kappa == 1 else 's'} per lengthscale",
        *date_sentences(model),
        *textwrap.wrap(
            f"{_counted(posterior.n_chains, 'chain')} of {_counted(posterior.n_draws_per_chain, 'draw')}; "
            f"{diagnostics.verdict}",
            _LONGEST,
        ),
        *(line for sentence in noise_sentences(model) for line in textwrap.wrap(sentence, _LONGEST)),
        "",
    ]
    rows = learned(posterior)
    width = max(16, 2 + max(len(row.title) for row in rows))
    lines.append(f"{'':<{width}}{'median':>12}{'5 %':>12}{'95 %':>12}")
    unit = lengthscale_unit(model)
    for row in rows:
        suffix = f" {unit}" if unit and row.name in ("lengthscale", "curve_lengthscale") else ""
        lines.append(f"{row.title:<{width}}{row.median:>12.4g}{row.lower:>12.4g}{row.upper:>12.4g}{suffix}")
    accepted = "accepted: " + ", ".join(f"{k} {v:.0%}" for k, v in diagnostics.acceptance.items())
    lines += ["", *textwrap.wrap(accepted, _LONGEST, subsequent_indent="  ")]
    return "\n".join(lines)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}" + ("" if n == 1 else "s")
