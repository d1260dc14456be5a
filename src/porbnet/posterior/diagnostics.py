"""Can the draws be trusted? R-hat, effective sample sizes, Monte Carlo errors of what users look at, and a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.likelihood.varying import NOISE_PLACES
from porbnet.posterior.posterior import Posterior

RHAT_LIMIT = 1.01  # of what is shown, with three digits
ESS_PER_CHAIN = 100.0
_DESCRIBES = ("width", "amplitude", "log level", "level", "log ls", "log curve var", "log curve ls")
FEWEST_DRAWS = 4  # per chain, to say anything
_WORDS = {
    "width": "the width",
    "amplitude": "the amplitude",
    "noise": "the noise",
    "log level": "the intensity's level",
    "log ls": "the lengthscale",
    "log curve var": "the variance of the lengthscale's curve",
    "log curve ls": "the lengthscale of the lengthscale's curve",
}
_ANCHORS, _CURVE_PLACES = 20, 10


@dataclass(frozen=True)
class Row:
    """Diagnostics of one quantity: R-hat, bulk and tail effective sample size, mean and its Monte Carlo error.

    label : what it is and where, in words; empty if that was not kept
    """

    name: str
    mean: float
    sd: float
    mcse: float
    rhat: float
    ess_bulk: float
    ess_tail: float
    label: str = ""

    @property
    def least_ess(self) -> float:
        """The lesser of bulk and tail effective sample size, NaN if neither is known."""
        return float(np.fmin(self.ess_bulk, self.ess_tail))

    @property
    def words(self) -> str:
        """The label, or the name."""
        return self.label or self.name

    @property
    def predicts(self) -> bool:
        """Whether it belongs to f or y, and not to what only describes them: the width, the lengthscale, a level."""
        return self.name.split("[")[0] not in _DESCRIBES


@dataclass(frozen=True)
class Effort:
    """What a fit has cost, for the words on how to go on.

    seconds : of the clock
    n_draws : that were asked for, None for as many as it takes
    n_made : that a chain would have stored had it kept all of them
    out_of_time : whether the time that was given ended it
    """

    seconds: float = 0.0
    n_draws: int | None = None
    n_made: int = 0
    out_of_time: bool = False


@dataclass(frozen=True, eq=False)
class Diagnostics:
    """Diagnostics of a fit.

    rows : one per quantity (f at anchor points, width, noise, amplitude, log level)
    acceptance : share of accepted proposals by kind of move, mean over chains
    n_forced : times that lost precision was noticed and repaired
    verdict : plain language
    converged : whether everything has: f, y, width, lengthscale
    predictions_converged : whether f and y have; what they are made of may be open
    """

    rows: tuple[Row, ...]
    acceptance: dict[str, float]
    n_forced: int
    converged: bool
    verdict: str
    predictions_converged: bool

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


def diagnose(
    posterior: Posterior, effort: Effort | None = None, describe: Callable[[FloatArray], str] | None = None
) -> Diagnostics:
    """Diagnose the draws of a fit.

    Parameters
    ----------
    posterior : Posterior
    effort : what it has cost
    describe : takes a point of shape (n_dims,), returns its name as in "x = 3.2"
    """
    named = quantities(posterior)
    words = labels(posterior, named, _plain_place if describe is None else describe)
    rows = tuple(_row(name, posterior.by_chain(v), words.get(name, "")) for name, v in named.items())
    acceptance: dict[str, float] = {}
    for name in posterior.results[0].acceptance:
        shares = [r.acceptance[name] for r in posterior.results if name in r.acceptance]
        acceptance[name] = float(np.mean(shares))
    n_forced = sum(r.n_forced for r in posterior.results)
    sizes = posterior.n_chains, posterior.n_draws_per_chain
    converged, predicts, verdict = judge(rows, *sizes, Effort() if effort is None else effort)
    return Diagnostics(rows, acceptance, n_forced, converged, verdict, predicts)


def labels(posterior: Posterior, names: Iterable[str], describe: Callable[[FloatArray], str]) -> dict[str, str]:
    """What quantities are and where, in words."""
    anchors = anchor_points(posterior)
    found = dict(_WORDS)
    kinds = {"f": "f", "log ls": "the lengthscale", "log noise": "the noise"}
    for name in names:
        kind, _, place = name.partition("[")
        if place and kind in kinds:
            of_kind = _spread(anchors, kind)
            found[name] = f"{kinds[kind]} at {describe(of_kind[int(place[:-1])])}"
    return found


def _spread(anchors: FloatArray, kind: str) -> FloatArray:
    """Those of the anchors at which a kind of quantity is looked at."""
    most = {"log ls": _CURVE_PLACES, "log noise": NOISE_PLACES}.get(kind)
    return anchors if most is None else anchors[:: max(1, len(anchors) // most)]


def _plain_place(point: FloatArray) -> str:
    names = ["x"] if len(point) == 1 else [f"x{d + 1}" for d in range(len(point))]
    return ", ".join(f"{name} = {value:.4g}" for name, value in zip(names, point, strict=True))


def quantities(posterior: Posterior) -> dict[str, FloatArray]:
    """What is diagnosed: f at anchors spread over the inputs, width, parameters, lengthscale and its law, by name."""
    anchors = anchor_points(posterior)
    named = {f"f[{i}]": column for i, column in enumerate(posterior.f(anchors).T)}
    named["width"] = posterior.n_units.astype(np.float64)
    for parameter in posterior.problem.parameters:
        if parameter.diagnosed and not parameter.known:
            named[parameter.name] = posterior.parameter(parameter.name)
    slopes = posterior.slopes
    if slopes is not None:
        named |= {"slope" if posterior.n_dims == 1 else f"slope {d + 1}": column for d, column in enumerate(slopes.T)}
    named |= posterior.problem.likelihood.quantities(posterior.drawn, anchors)
    if not posterior.problem.prior.intensity.known:
        places = _spread(anchors, "log ls") if posterior.draws.curves.shape[1] else anchors[:1]
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


def _row(name: str, values: FloatArray, label: str = "") -> Row:
    """Diagnostics of one quantity, values of shape (n_chains, n_draws); NaN where there is nothing to say."""
    from arviz_stats.base import array_stats

    n_chains, n_draws = values.shape
    nothing = math.nan
    if not np.all(np.isfinite(values)):
        return Row(name, nothing, nothing, nothing, math.inf, 0.0, 0.0, label)
    mean, sd = float(values.mean()), float(values.std())
    if sd <= 1e-12 * abs(mean) or n_draws < FEWEST_DRAWS:
        return Row(name, mean, sd, nothing, nothing, nothing, nothing, label)
    if np.all(np.ptp(values, axis=1) <= 1e-12 * abs(mean)):  # every chain stuck at its own value
        return Row(name, mean, sd, sd, math.inf, float(n_chains), float(n_chains), label)
    along: dict[str, Any] = {"chain_axis": 0, "draw_axis": 1}
    with np.errstate(all="ignore"):
        bulk = float(array_stats.ess(values, method="bulk", **along))
        tail = float(array_stats.ess(values, method="tail", prob=(0.05, 0.95), **along))
        rhat = float(array_stats.rhat(values, **along)) if n_chains > 1 else nothing
        mcse = float(array_stats.mcse(values, **along))
    return Row(name, mean, sd, mcse, rhat, bulk, tail, label)


def judge(rows: tuple[Row, ...], n_chains: int, n_draws: int, effort: Effort) -> tuple[bool, bool, str]:
    """Whether everything has converged, whether f and y have, and that in words with what to do next."""
    if n_draws < FEWEST_DRAWS:
        return (
            False,
            False,
            f"run longer: {n_draws} draws of each chain are too few to judge; {_longer(rows, effort, 0)}",
        )
    checked = [r for r in rows if not math.isnan(r.least_ess)]
    if not checked:
        return True, True, "nothing to judge: every quantity is known exactly"
    broken = [r for r in checked if r.least_ess == 0.0]
    if broken:
        name = broken[0].words
        return False, False, f"failed: {name} is not a finite number in some draws; please report this with the data"
    wanted = ESS_PER_CHAIN * n_chains
    open_ = [r for r in checked if not _passes(r, wanted)]
    of_f = [r for r in checked if r.predicts]
    all_good, good = not open_, not any(r.predicts for r in open_)
    worst = max(checked, key=lambda r: _known(r.rhat, -math.inf))
    least = min(checked, key=lambda r: r.least_ess)
    counted = f"least effective sample size {least.least_ess:,.0f} ({least.words})"
    if n_chains == 1:
        text = f"{counted}; one chain, so no R-hat: run 4 to compare them"
        longer = "" if all_good else f"; {_longer(open_, effort, n_draws, wanted)}"
        return all_good, good, ("looks fine: " if all_good else "run longer: ") + text + longer
    text = f"worst R-hat {worst.rhat:.3f} ({worst.words}), {counted}"
    if all_good:
        return True, True, f"converged: {text}"
    longer = _longer(open_, effort, n_draws, wanted)
    if good:
        if of_f:
            rhat, draws = max(_known(r.rhat, 1.0) for r in of_f), min(r.least_ess for r in of_f)
            why = f"f and y have R-hat at most {rhat:.3f} and at least {draws:,.0f} effective draws"
        else:
            why = "f and y are the same in every draw"
        return False, True, f"predictions can be trusted: {why}; still open is {_listed(open_, wanted)}; {longer}"
    first = "chains are in different places: " if worst.rhat > _APART else "run longer: "
    return False, False, first + f"{_listed(open_, wanted)}; {longer}"


_APART = 1.3  # R-hat


def _passes(row: Row, wanted: float) -> bool:
    """Whether a quantity may be trusted, by the digits that are shown."""
    return (math.isnan(row.rhat) or round(row.rhat, 3) <= RHAT_LIMIT) and row.least_ess >= wanted


def _listed(rows: list[Row], wanted: float) -> str:
    """The worst of what is open, predictions first, and how many more there are."""
    rows = sorted(rows, key=lambda r: (not r.predicts, r.least_ess))
    first = rows[0]
    rhat = "" if math.isnan(first.rhat) else f"R-hat {first.rhat:.3f}, asked at most {RHAT_LIMIT}; "
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return f"{first.words} ({rhat}{first.least_ess:,.0f} effective draws of {wanted:,.0f}){more}"


def lacking(rows: Iterable[Row], wanted: float) -> float:
    """How many times as many draws it takes until all of these may be trusted, by rule of thumb; at least 1."""
    factor = 1.0
    for r in rows:
        factor = max(factor, wanted / max(r.least_ess, 1.0))
        if not math.isnan(r.rhat):  # R-hat - 1 falls as one over the effective draws
            factor = max(factor, min((r.rhat - 1.0) / (RHAT_LIMIT - 1.0), 100.0))
    return factor


def _longer(rows: Iterable[Row], effort: Effort, n_draws: int, wanted: float = 0.0) -> str:
    """What to do next."""
    factor = max(lacking(rows, wanted), 1.5)
    if effort.out_of_time:
        seconds = _round_up(1.3 * factor * max(effort.seconds, 1.0))
        return f"the time was over after {effort.seconds:.0f} s: try max_seconds={seconds}"
    more = _round_up(factor * max(effort.n_made, n_draws)) if n_draws else 1000
    return f"try n_draws={more}" + ("" if effort.n_draws is None else ", or n_draws='auto'")


def _round_up(value: float) -> int:
    """To two digits."""
    unit = 10 ** max(math.floor(math.log10(max(value, 1.0))) - 1, 0)
    return int(math.ceil(value / unit) * unit)
