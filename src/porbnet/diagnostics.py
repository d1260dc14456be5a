"""Can the draws be trusted? R-hat, effective sample sizes and Monte Carlo errors of what users look at, and a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from porbnet._checks import FloatArray
from porbnet.posterior import Posterior

RHAT_LIMIT = 1.01
ESS_PER_CHAIN = 100.0
_ANCHORS = 20


@dataclass(frozen=True)
class Row:
    """Diagnostics of one quantity: R-hat, bulk and tail effective sample size, mean and its Monte Carlo error."""

    name: str
    mean: float
    sd: float
    mcse: float
    rhat: float
    ess_bulk: float
    ess_tail: float


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Diagnostics of a fit.

    rows : one per quantity (f at anchor points, width, noise, amplitude, log level)
    acceptance : share of accepted proposals by kind of move, mean over chains
    n_forced : times that lost precision was noticed and repaired
    verdict : plain language
    converged : whether the verdict is good
    """

    rows: tuple[Row, ...]
    acceptance: dict[str, float]
    n_forced: int
    converged: bool
    verdict: str

    @property
    def worst_rhat(self) -> Row:
        """The quantity on which chains agree least."""
        return max(self.rows, key=lambda r: r.rhat)

    @property
    def least_ess(self) -> Row:
        """The quantity with the fewest effective draws (the lesser of bulk and tail)."""
        return min(self.rows, key=lambda r: min(r.ess_bulk, r.ess_tail))

    def __str__(self) -> str:
        head = f"{'quantity':<14}{'mean':>12}{'sd':>11}{'mcse':>11}{'R-hat':>8}{'bulk ESS':>10}{'tail ESS':>10}"
        lines = [self.verdict, "", head]
        for r in self.rows:
            lines.append(
                f"{r.name:<14}{r.mean:>12.5g}{r.sd:>11.3g}{r.mcse:>11.2g}{r.rhat:>8.3f}{r.ess_bulk:>10.0f}{r.ess_tail:>10.0f}"
            )
        lines += ["", "accepted: " + ", ".join(f"{k} {v:.0%}" for k, v in self.acceptance.items())]
        return "\n".join(lines)


def diagnose(posterior: Posterior) -> Diagnostics:
    """Diagnose the draws of a fit."""
    named = quantities(posterior)
    rows = tuple(_row(name, posterior.by_chain(v)) for name, v in named.items())
    acceptance: dict[str, float] = {}
    for name in posterior.results[0].acceptance:
        acceptance[name] = float(np.mean([r.acceptance.get(name, math.nan) for r in posterior.results]))
    n_forced = sum(r.n_forced for r in posterior.results)
    converged, verdict = _verdict(rows, posterior)
    return Diagnostics(rows, acceptance, n_forced, converged, verdict)


def quantities(posterior: Posterior) -> dict[str, FloatArray]:
    """What is diagnosed: f at anchor points spread over the inputs, width, noise, amplitude, log level."""
    anchors = anchor_points(posterior)
    named = {f"f[{i}]": column for i, column in enumerate(posterior.f(anchors).T)}
    named["width"] = posterior.n_units.astype(np.float64)
    hyper = posterior.problem.hyper
    if hyper.noise_log_sd > 0:
        named["noise"] = posterior.noise
    if hyper.amplitude_log_sd > 0:
        named["amplitude"] = posterior.amplitude
    if not posterior.problem.prior.intensity.known:
        named["lengthscale"] = posterior.lengthscale(anchors[:1])[:, 0]
    return named


def anchor_points(posterior: Posterior) -> FloatArray:
    """At most 20 of the inputs, evenly spread in order of the first coordinate; shape (n_anchors, n_dims)."""
    x = posterior.problem.data.x.T
    if len(x) == 0:
        x = 0.5 * np.ones((1, posterior.n_dims)) * posterior.problem.shape.widths
    chosen = np.unique(np.linspace(0, len(x) - 1, min(_ANCHORS, len(x))).round().astype(int))
    return posterior.problem.scaling.centers(x[chosen])


def _row(name: str, values: FloatArray) -> Row:
    from arviz_stats.base import array_stats

    mean, sd = float(values.mean()), float(values.std())
    if sd <= 1e-12 * abs(mean) or values.shape[1] < 4:
        return Row(name, mean, sd, math.nan, math.nan, math.nan, math.nan)
    bulk = float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="bulk"))
    tail = float(array_stats.ess(values, chain_axis=0, draw_axis=1, method="tail", prob=(0.05, 0.95)))
    rhat = float(array_stats.rhat(values, chain_axis=0, draw_axis=1)) if values.shape[0] > 1 else math.nan
    mcse = float(array_stats.mcse(values, chain_axis=0, draw_axis=1))
    return Row(name, mean, sd, mcse, rhat, bulk, tail)


def _verdict(rows: tuple[Row, ...], posterior: Posterior) -> tuple[bool, str]:
    checked = [r for r in rows if not math.isnan(r.ess_bulk)]
    if not checked:
        return False, "run longer: too few draws to judge"
    least = min(checked, key=lambda r: min(r.ess_bulk, r.ess_tail))
    fewest = min(least.ess_bulk, least.ess_tail)
    wanted = ESS_PER_CHAIN * posterior.n_chains
    if posterior.n_chains == 1:
        good = fewest >= wanted
        text = f"least effective sample size {fewest:.0f} ({least.name}); one chain, so no R-hat: run 4 to compare them"
        return good, ("looks fine: " if good else "run longer: ") + text
    worst = max(checked, key=lambda r: r.rhat)
    if worst.rhat <= RHAT_LIMIT and fewest >= wanted:
        return True, f"converged: worst R-hat {worst.rhat:.3f} ({worst.name}), least effective sample size {fewest:.0f} ({least.name})"
    factor = max(wanted / max(fewest, 1.0), 2.0)
    return False, (
        f"run longer: worst R-hat {worst.rhat:.3f} ({worst.name}), least effective sample size {fewest:.0f} ({least.name}); "
        f"try n_draws={math.ceil(factor) * posterior.n_draws_per_chain} or a longer n_warmup"
    )
