"""Can the draws be trusted? R-hat, effective sample sizes, Monte Carlo errors of what users look at, and a verdict."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.posterior.posterior import Posterior

RHAT_LIMIT = 1.01
ESS_PER_CHAIN = 100.0
FEWEST_DRAWS = 4  # per chain, to say anything
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

    @property
    def least_ess(self) -> float:
        """The lesser of bulk and tail effective sample size, NaN if neither is known."""
        return float(np.fmin(self.ess_bulk, self.ess_tail))


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
        """The quantity on which chains agree least (one that is not known counts as good)."""
        return max(self.rows, key=lambda r: _known(r.rhat, -math.inf))

    @property
    def least_ess(self) -> Row:
        """The quantity with the fewest effective draws (the lesser of bulk and tail)."""
        return min(self.rows, key=lambda r: _known(r.least_ess, math.inf))

    def __str__(self) -> str:
        head = f"{'quantity':<14}{'mean':>12}{'sd':>11}{'mcse':>11}{'R-hat':>8}{'bulk ESS':>10}{'tail ESS':>10}"
        lines = [self.verdict, "", head]
        for r in self.rows:
            effort = f"{r.rhat:>8.3f}{r.ess_bulk:>10.0f}{r.ess_tail:>10.0f}"
            lines.append(f"{r.name:<14}{r.mean:>12.5g}{r.sd:>11.3g}{r.mcse:>11.2g}{effort}")
        lines += ["", "accepted: " + ", ".join(f"{k} {v:.0%}" for k, v in self.acceptance.items())]
        if self.n_forced:
            lines.append(f"lost precision noticed and repaired {self.n_forced} times")
        return "\n".join(lines)


def diagnose(posterior: Posterior) -> Diagnostics:
    """Diagnose the draws of a fit."""
    named = quantities(posterior)
    rows = tuple(_row(name, posterior.by_chain(v)) for name, v in named.items())
    acceptance: dict[str, float] = {}
    for name in posterior.results[0].acceptance:
        shares = [r.acceptance[name] for r in posterior.results if name in r.acceptance]
        acceptance[name] = float(np.mean(shares))
    n_forced = sum(r.n_forced for r in posterior.results)
    converged, verdict = _verdict(rows, posterior)
    return Diagnostics(rows, acceptance, n_forced, converged, verdict)


def quantities(posterior: Posterior) -> dict[str, FloatArray]:
    """What is diagnosed: f at anchors spread over the inputs, width, parameters, lengthscale and its law, by name."""
    anchors = anchor_points(posterior)
    named = {f"f[{i}]": column for i, column in enumerate(posterior.f(anchors).T)}
    named["width"] = posterior.n_units.astype(np.float64)
    for parameter in posterior.problem.parameters:
        if parameter.diagnosed and not parameter.known:
            named[parameter.name] = posterior.parameter(parameter.name)
    named |= posterior.problem.likelihood.quantities(posterior.drawn, anchors)
    if not posterior.problem.prior.intensity.known:
        places = anchors[:: max(1, len(anchors) // 10)] if posterior.draws.curves.shape[1] else anchors[:1]
        logs = np.log(posterior.lengthscale(places)).T
        named |= {f"log ls[{i}]" if len(logs) > 1 else "log ls": column for i, column in enumerate(logs)}
    return named | learned_law(posterior)


def learned_law(posterior: Posterior) -> dict[str, FloatArray]:
    """Logarithms of what is unknown of the variance and the lengthscale of the intensity's curve.

    Of several lengthscales the first, for they keep their ratios.
    """
    variance, lengthscale = posterior.curve_variance, posterior.curve_lengthscale
    if variance is None or lengthscale is None:
        return {}
    process = posterior.problem.components[0].process
    if process is None:
        return {}
    named = {"log curve var": np.log(variance)} if process.variance_log_sd > 0 else {}
    return named | ({"log curve ls": np.log(lengthscale[:, 0])} if len(process.lengthscales) > 1 else {})


def anchor_points(posterior: Posterior) -> FloatArray:
    """At most 20 of the inputs, evenly spread in order of the first coordinate; shape (n_anchors, n_dims)."""
    component = posterior.problem.components[0]
    x = component.x.T
    if len(x) == 0:
        x = 0.5 * np.ones((1, posterior.n_dims)) * component.widths
    chosen = np.unique(np.linspace(0, len(x) - 1, min(_ANCHORS, len(x))).round().astype(int))
    return posterior.problem.scaling.centers(x[chosen])


def _known(value: float, otherwise: float) -> float:
    return otherwise if math.isnan(value) else value


def _row(name: str, values: FloatArray) -> Row:
    """Diagnostics of one quantity, values of shape (n_chains, n_draws); NaN where there is nothing to say."""
    from arviz_stats.base import array_stats

    n_chains, n_draws = values.shape
    nothing = math.nan
    if not np.all(np.isfinite(values)):
        return Row(name, nothing, nothing, nothing, math.inf, 0.0, 0.0)
    mean, sd = float(values.mean()), float(values.std())
    if sd <= 1e-12 * abs(mean) or n_draws < FEWEST_DRAWS:
        return Row(name, mean, sd, nothing, nothing, nothing, nothing)
    if np.all(np.ptp(values, axis=1) <= 1e-12 * abs(mean)):  # every chain stuck at its own value
        return Row(name, mean, sd, sd, math.inf, float(n_chains), float(n_chains))
    along: dict[str, Any] = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(all="ignore"):
        bulk = float(array_stats.ess(values, method="bulk", **along))
        tail = float(array_stats.ess(values, method="tail", prob=(0.05, 0.95), **along))
        rhat = float(array_stats.rhat(values, **along)) if n_chains > 1 else nothing
        mcse = float(array_stats.mcse(values, **along))
    return Row(name, mean, sd, mcse, rhat, bulk, tail)


def _verdict(rows: tuple[Row, ...], posterior: Posterior) -> tuple[bool, str]:
    n_chains, n_draws = posterior.n_chains, posterior.n_draws_per_chain
    if n_draws < FEWEST_DRAWS:
        return False, f"run longer: {n_draws} draws of each chain are too few to judge; try n_draws=1000"
    checked = [r for r in rows if not math.isnan(r.least_ess)]
    if not checked:
        return True, "nothing to judge: every quantity is known exactly"
    least = min(checked, key=lambda r: r.least_ess)
    fewest, wanted = least.least_ess, ESS_PER_CHAIN * n_chains
    if fewest == 0.0:
        return False, f"failed: {least.name} is not a finite number in some draws; please report this with the data"
    counted = f"least effective sample size {fewest:.0f} ({least.name})"
    longer = max(math.ceil(wanted / max(fewest, 1.0)), 2) * n_draws
    if n_chains == 1:
        text = f"{counted}; one chain, so no R-hat: run 4 to compare them"
        return fewest >= wanted, ("looks fine: " if fewest >= wanted else f"run longer (try n_draws={longer}): ") + text
    worst = max(checked, key=lambda r: _known(r.rhat, -math.inf))
    text = f"worst R-hat {worst.rhat:.3f} ({worst.name}), {counted}"
    if worst.rhat <= RHAT_LIMIT and fewest >= wanted:
        return True, f"converged: {text}"
    return False, f"run longer: {text}; try n_draws={longer} or a longer n_warmup"
