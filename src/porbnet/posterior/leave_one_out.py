"""Leave-one-out cross-validation from one fit, by Pareto-smoothed importance sampling, some rows at a time.

    elpd_i = log p(y_i | y_-i) ≈ log Σ_d w_id p(y_i | draw d),   w_id ∝ 1 / p(y_i | draw d), its largest values smoothed

(Vehtari, Gelman and Gabry 2017). A row needs its own log likelihoods only, so that no table of draws by rows is held.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.posterior.diagnostics import FEWEST_DRAWS, quantities
from porbnet.posterior.pointwise import log_likelihood_chunks, observed
from porbnet.posterior.posterior import Posterior

_HIGHEST_K = 0.7
_SAME = 1e-9  # spread of log likelihoods that is none


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """How well a fit predicts each observation from the others.

    Attributes
    ----------
    elpd, se : float
        Expected log predictive density, the sum over rows, and its standard error.
    p_loo : float
        Effective number of parameters: how much more the fit knows of the rows with them than without.
    pointwise, pareto_k : ndarray of shape (n_rows,)
        Of each row: its log predictive density given the others, and how far that can be trusted, which is not at all
        above `good_k`.
    rows : ndarray of shape (n_rows,)
        Which row of X each is: all of them in order, but for rows that count not at all or several times.
    good_k : float
        min(1 - 1 / log10(n_draws), 0.7).
    r_eff : float
        Effective draws over draws.
    """

    elpd: float
    se: float
    p_loo: float
    pointwise: FloatArray
    pareto_k: FloatArray
    rows: NDArray[np.int64]
    good_k: float
    r_eff: float

    @property
    def n_high_k(self) -> int:
        """Number of rows whose leave-one-out cannot be trusted."""
        return int(np.sum(self.pareto_k > self.good_k))

    def __str__(self) -> str:
        trust = (
            f"every Pareto k is at most {self.good_k:.2g}"
            if not self.n_high_k
            else f"{self.n_high_k:,} of them with a Pareto k above {self.good_k:.2g}, not to be trusted"
        )
        return f"elpd {self.elpd:.2f} (se {self.se:.2f}), p_loo {self.p_loo:.1f}, {len(self.rows):,} rows: {trust}"


def leave_one_out(posterior: Posterior, weights: str = "integrated", r_eff: float | None = None) -> LeaveOneOut:
    """See `Posterior.loo`."""
    from arviz_stats.base import array_stats

    efficiency = relative_efficiency(posterior) if r_eff is None else _checks.number("r_eff", r_eff)
    found = observed(posterior)
    elpd, pareto_k, p_loo = np.empty((3, len(found)))
    for rows, values in log_likelihood_chunks(posterior, weights):
        chains = np.moveaxis(posterior.by_chain(values), -1, 0)  # rows, chains, draws
        # a row of which all draws say the same (within its limits for sure) has no tail to smooth
        same = np.ptp(values, axis=0) < _SAME
        found_rows = np.array([chains[:, 0, 0], np.full(len(chains), -np.inf), np.zeros(len(chains))])
        if not np.all(same):
            with np.errstate(divide="ignore", invalid="ignore"):  # of the tails of what hardly varies; its k is kept
                found_rows[:, ~same] = array_stats.loo(chains[~same], r_eff=efficiency)
        elpd[rows], pareto_k[rows], p_loo[rows] = found_rows
    order, n = found.as_given, len(posterior)
    total, se, effective, _ = array_stats.loo_summary(elpd, p_loo)
    good_k = min(1.0 - 1.0 / math.log10(n), _HIGHEST_K) if n > 1 else _HIGHEST_K
    return LeaveOneOut(
        float(total), float(se), float(effective), elpd[order], pareto_k[order], found.rows[order], good_k, efficiency
    )


def relative_efficiency(posterior: Posterior) -> float:
    """Effective draws over draws, on average over what is diagnosed; 1 if that cannot be told."""
    from arviz_stats.base import array_stats

    if posterior.n_chains == 1 or posterior.n_draws_per_chain < FEWEST_DRAWS:
        return 1.0
    with np.errstate(all="ignore"):
        found = [
            float(array_stats.ess(posterior.by_chain(v), chain_axis=0, draw_axis=1, method="mean"))
            for v in quantities(posterior).values()
            if np.ptp(v) > 0.0
        ]
    known = [v for v in found if math.isfinite(v)]
    return float(np.mean(known)) / len(posterior) if known else 1.0
