"""Does changing the lengthscale leave the amplitude alone, and the other way round? A table for four kinds of prior.

PoRB-NET and the Gaussian process have a knob for each. The B-RBFN's lengthscale knob (the scale of its units) moves the
amplitude. A standard BNN whose weights and biases share one standard deviation, as in the paper, has one knob for both;
with separate ones the input weights set the lengthscale, but the amplitude stays where it is at the origin only.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from porbnet import Prior
from porbnet.comparison import BNNPrior, BRBFNPrior, GaussianProcessPrior
from porbnet.statement.function_prior import FunctionPrior

REGION = (-5.0, 5.0)
MIDDLE, AWAY = 0.0, 2.5
LENGTHSCALES = 0.1 * 2.0 ** np.arange(5)
AMPLITUDES = 0.5 * 2.0 ** np.arange(5)
VARIANCE_LIMIT, LENGTHSCALE_LIMIT = 0.01, 1e-9
N_UNITS = 12
UNIT_WEIGHT_SD = math.sqrt(math.sqrt(3.0) / N_UNITS)  # gives RBF units with unit input biases Var f(0) = 1

Make = Callable[[float], FunctionPrior]


@dataclass(frozen=True)
class Row:
    """One prior, one knob, one place: what should stay while the knob turns."""

    prior: str
    knob: str
    place: float
    values: tuple[float, ...]  # by formula, one per setting of the knob
    drawn: tuple[float, ...]  # by Monte Carlo, empty if there were no draws
    errors: tuple[float, ...]  # standard errors of `drawn`
    limit: float

    @property
    def moved(self) -> float:
        """Largest over smallest value, less one."""
        return max(self.values) / min(self.values) - 1.0

    @property
    def passes(self) -> bool:
        """Whether it stayed."""
        return self.moved < self.limit

    @property
    def worst(self) -> float:
        """Largest distance of Monte Carlo from the formula, in standard errors."""
        cells = zip(self.values, self.drawn, self.errors, strict=True)
        return max(abs(v - d) / e for v, d, e in cells)


def amplitude(prior: FunctionPrior, place: float) -> float:
    return math.sqrt(float(prior.variance([place])[0]))


def lengthscale(prior: FunctionPrior, place: float) -> float:
    """√(Var f / Var f'), from the curvature of the covariance; no prior here has a bias."""
    m = prior.point_moments(np.array([[place]]))
    return math.sqrt(float(m.variance[0] / m.gradient_variance[0, 0]))


def turned(make: Make, measure: Callable[[FunctionPrior, float], float]) -> Make:
    """The prior as a function of its amplitude or lengthscale in the middle, for a knob that does not state it."""

    def at(target: float) -> FunctionPrior:
        log_setting = brentq(lambda u: math.log(measure(make(math.exp(u)), MIDDLE) / target), -12.0, 12.0, xtol=1e-13)
        return make(math.exp(log_setting))

    return at


def _bnn(activation: str = "rbf", input_weight: float = 1.0, output_weight: float = UNIT_WEIGHT_SD) -> BNNPrior:
    return BNNPrior(
        N_UNITS, activation, input_weight_sd=input_weight, input_bias_sd=1.0, output_weight_sd=output_weight
    )


def _shared_bnn(sd: float) -> BNNPrior:
    return BNNPrior(N_UNITS, "rbf", input_weight_sd=sd, input_bias_sd=sd, output_weight_sd=sd)


def _brbfn(scale: float = math.sqrt(2.0) / 0.4, weight_sd: float = 0.4) -> BRBFNPrior:
    return BRBFNPrior(scale, intensity=10.0, weight_sd=weight_sd, region=REGION)


# each takes the lengthscale, or the amplitude, that the prior is to have in the middle
LENGTHSCALE_KNOBS: list[tuple[str, str, Make]] = [
    ("PoRB-NET", "lengthscale", lambda v: Prior(v, 1.0, region=REGION)),
    ("GP", "lengthscale", lambda v: GaussianProcessPrior(v, 1.0)),
    ("B-RBFN", "scale", lambda v: _brbfn(scale=math.sqrt(2.0) / v)),
    ("BNN (RBF)", "all sds at once", turned(_shared_bnn, lengthscale)),
    ("BNN (RBF)", "input_weight_sd", turned(lambda v: _bnn(input_weight=v), lengthscale)),
    ("BNN (tanh)", "input_weight_sd", turned(lambda v: _bnn("tanh", input_weight=v), lengthscale)),
]
AMPLITUDE_KNOBS: list[tuple[str, str, Make]] = [
    ("PoRB-NET", "amplitude", lambda v: Prior(0.4, v, region=REGION)),
    ("GP", "amplitude", lambda v: GaussianProcessPrior(0.4, v)),
    ("B-RBFN", "weight_sd", turned(lambda v: _brbfn(weight_sd=v), amplitude)),
    ("BNN (RBF)", "all sds at once", turned(_shared_bnn, amplitude)),
    ("BNN (RBF)", "output_weight_sd", turned(lambda v: _bnn(output_weight=v), amplitude)),
    ("BNN (tanh)", "output_weight_sd", turned(lambda v: _bnn("tanh", output_weight=v), amplitude)),
]


def variance_rows(n_draws: int, seed: int) -> list[Row]:
    """Var f at two places while the lengthscale in the middle goes through its 16-fold range."""
    rows = []
    for name, knob, make in LENGTHSCALE_KNOBS:
        priors = [make(float(target)) for target in LENGTHSCALES]
        for place in (MIDDLE, AWAY):
            values = tuple(float(p.variance([place])[0]) for p in priors)
            drawn, errors = [], []
            for prior in priors if n_draws else ():
                squares = prior.sample([place], n_draws, seed)[:, 0] ** 2
                drawn.append(float(squares.mean()))
                errors.append(float(squares.std() / math.sqrt(n_draws)))
            rows.append(Row(name, knob, place, values, tuple(drawn), tuple(errors), VARIANCE_LIMIT))
    return rows


def lengthscale_rows(n_draws: int, seed: int) -> list[Row]:
    """Lengthscale at two places while the amplitude in the middle goes through its 16-fold range."""
    rows = []
    for name, knob, make in AMPLITUDE_KNOBS:
        priors = [make(float(target)) for target in AMPLITUDES]
        for place in (MIDDLE, AWAY):
            values = tuple(lengthscale(p, place) for p in priors)
            drawn, errors = [], []
            for prior, value in zip(priors, values, strict=True) if n_draws else ():
                h = 0.01 * value
                left, middle, right = prior.sample([place - h, place, place + h], n_draws, seed).T
                f2, slope2 = middle**2, ((right - left) / (2.0 * h)) ** 2
                drawn.append(math.sqrt(f2.mean() / slope2.mean()))
                # delta method on log lengthscale = ½ log mean f² - ½ log mean f'²
                spread = np.std(f2 / f2.mean() - slope2 / slope2.mean())
                errors.append(drawn[-1] * 0.5 * float(spread) / math.sqrt(n_draws))
            rows.append(Row(name, knob, place, values, tuple(drawn), tuple(errors), LENGTHSCALE_LIMIT))
    return rows


def _moved(ratio: float) -> str:
    if ratio < 1e-9:
        return "< 1e-9"
    return f"{100.0 * ratio:.2g} %" if ratio < 1.0 else f"{1.0 + ratio:.3g}-fold"


def table(rows: Sequence[Row], targets: Sequence[float], symbol: str) -> str:
    """Text of one table; one column per target."""
    head = "".join(f"{f'{symbol}={t:g}':>9}" for t in targets)
    lines = [f"{'prior':<11} {'knob':<17} {'at x':>4} {head}  {'moved by':>10} {'draws':>8}  verdict"]
    lines.append("-" * len(lines[0]))
    for row in rows:
        cells = "".join(f"{v:>9.4g}" for v in row.values)
        draws = f"{row.worst:.1f} se" if row.drawn else "-"
        verdict = "passes" if row.passes else "fails"
        lines.append(
            f"{row.prior:<11} {row.knob:<17} {row.place:>4g} {cells}  {_moved(row.moved):>10} {draws:>8}  {verdict}"
        )
    return "\n".join(lines)


def summary(rows: Sequence[Row]) -> str:
    """One line per prior: it passes if all its rows do."""
    lines = []
    for name in dict.fromkeys(row.prior for row in rows):
        failed = [r for r in rows if r.prior == name and not r.passes]
        where = dict.fromkeys(f"{r.knob} at x = {r.place:g}" for r in failed)
        lines.append(f"{name:<11} {'fails: ' + '; '.join(where) if failed else 'passes'}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=4000, help="draws per cell to check the formulas (default 4000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the draws (default 1)")
    options = parser.parse_args(arguments)
    if options.draws < 0 or options.seed < 0:
        parser.error("--draws and --seed must be at least 0")
    first, second = variance_rows(options.draws, options.seed), lengthscale_rows(options.draws, options.seed)
    print(f"Region {list(REGION)}; x = {MIDDLE:g} is its middle, x = {AWAY:g} is halfway to its edge.")
    print("draws: largest distance of Monte Carlo from the formula in the row, in standard errors.\n")
    print("1. The lengthscale l in the middle goes through a 16-fold range. Var f may move by less than 1 %.\n")
    print(table(first, LENGTHSCALES, "l"))
    print("\n2. The amplitude a in the middle goes through a 16-fold range. The lengthscale may not move (1e-9).\n")
    print(table(second, AMPLITUDES, "a"))
    print("\nBoth together:\n" + summary(first + second))


if __name__ == "__main__":
    main()
