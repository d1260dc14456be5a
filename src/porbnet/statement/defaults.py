"""Defaults that need no thought: a prior from the data's own scales, with what the user states put in its place.

All of it follows the data: multiply or shift inputs or outputs, and the prior goes along.

- output scale S: the standard deviation of y. Beliefs are about deviations from the mean of y.
- amplitude: log-normal, median S, factor 3. Noise sd: log-normal, median 0.3 S, factor 3. Bias sd: S.
- lengthscale: up to three inputs about that of a Gaussian process with a single one (`first_guess`), but not so short
  that it would take too many units; beyond, 0.2 √D times the range of each input. As a curve (D ≤ 3): the intensity is
  λ* sigmoid(h), λ* ~ Gamma with shape 4 and mean 1.5 times the typical level, h with variance 6 and a lengthscale of
  0.2 ranges (0.35 with three inputs). As a constant: give or take a factor 4^(1/D).
- noise curve ("varying"): the noise above times exp(h), h with variance 2 and a lengthscale of 0.15 ranges (0.2 with
  three inputs). Heavy tails ("robust"): degrees of freedom log-normal, median 5, factor 2.
- trend ("linear"): the sd of a slope is √12 S over the range: a straight line that alone would have the spread of y.
  Noise and lengthscale then follow what the least-squares line (plane) leaves of y, and its spread, not S; the
  amplitude has a twentieth of that spread for its median, give or take a factor 6, as noise may be all there is beside
  the line.
- region: the range of the inputs and 1.5 lengthscales beyond, at least a tenth and at most half of the range.
- units per lengthscale: one, 0.7 for D > 1. With one input more where the data say much, as chains of few units are
  slow there: by the sixth root of their information, rows per lengthscale over the noise ratio of the first guess,
  from 100 on, up to three and not more units than rows. Fewer where the prior would expect more than 400 units (150
  for D > 1); a warning says so where that makes fewer than 0.7.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.region import Region
from porbnet.errors import StatementError, StatementWarning
from porbnet.functions.grid_gp import EXPONENTIAL
from porbnet.intensity import Gamma, Intensity, SigmoidGP, UnknownConstant
from porbnet.likelihood import registered
from porbnet.statement.first_guess import Guess, guess, looked_at
from porbnet.statement.prior import Prior

AMPLITUDE_FACTOR = 3.0
NOISE_SHARE, NOISE_FACTOR = 0.3, 3.0
LENGTHSCALE_SHARE = 0.2  # over range and √D, where it is not guessed
MOST_GUESSED = 3  # dimensions
LEVEL_FACTOR = 4.0  # of a constant: the width goes as lengthscale ** -D, and a larger one is not affordable
MARGIN, LEAST_MARGIN, MOST_MARGIN = 1.5, 0.1, 0.5
UNITS_PER_LENGTHSCALE, UNITS_PER_LENGTHSCALE_BEYOND = 1.0, 0.7  # for D = 1, beyond
FEW_UNITS_PER_LENGTHSCALE = 0.7  # below it one is told
LITTLE_INFORMATION = 100.0  # up to which one unit per lengthscale will do
MOST_INFORMED = 3.0  # times as many at most
MOST_UNITS = {1: 400.0}
MOST_UNITS_BEYOND = 150.0
LARGEST_SPREAD = 1e40
AMPLITUDE_LEFT, AMPLITUDE_LEFT_FACTOR = 0.05, 6.0  # of the spread that a line leaves
LEAST_LEFT = 1e-3  # of the spread of y, that a line may leave
SLOPE = math.sqrt(12.0)  # sd of a slope, times range over spread of y
LEARNED = ("learned", "constant")
UPPER_SHAPE, UPPER_FACTOR = 4.0, 1.5  # Gamma prior of λ*: shape, mean over the typical level
CURVE_VARIANCE, CURVE_SHARE = 6.0, 0.3  # of h: variance, lengthscale over the range
KNOTS_PER_LENGTHSCALE = 3.0  # of a curve, per typical lengthscale of the function
KNOTS = {1: (30.0, 1600.0), 2: (10.0, 24.0), 3: (6.0, 10.0)}  # along the range, by inputs: fewest, most
KNOTS_PER_CURVE = {1: 8.0, 2: 4.0, 3: 3.0}  # per lengthscale of h, if nothing is said


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales of the data: mean and sd of y, low and range of each input dimension; and how many rows count."""

    offset: float
    output: float
    low: FloatArray
    range: FloatArray
    count: float

    @classmethod
    def of(cls, X: FloatArray, y: FloatArray, counts: FloatArray | None = None) -> Scales:
        """From inputs of shape (n_points, n_dims), outputs and how often each counts, of shape (n_points,)."""
        with np.errstate(over="ignore", invalid="ignore"):
            offset, output = mean_and_sd(y, counts)
        count = float(len(y) if counts is None else counts.sum())
        return cls.checked(offset, output, X.min(axis=0), np.ptp(X, axis=0), count)

    @classmethod
    def checked(cls, offset: float, output: float, low: FloatArray, ranges: FloatArray, count: float) -> Scales:
        """From mean and sd of y, low and range of the inputs; those that are none made to be some."""
        if not output > 1e-14 * abs(offset):  # constant outputs: any scale will do, as long as it is one
            output = 1e-3 * abs(offset) or 1.0
        tiny = ~(ranges > 1e-14 * np.abs(low))
        ranges = np.where(tiny, np.where(low == 0, 1.0, np.abs(low)), ranges)
        _require_sane("y", "spread", output, LARGEST_SPREAD)
        for value in ranges:
            _require_sane("X", "range", float(value), LARGEST_SPREAD)
        # a density of units is the inverse of a volume
        _require_sane("X", "volume (product of ranges)", math.prod(ranges), LARGEST_SPREAD)
        return cls(offset, output, low, ranges, count)


def mean_and_sd(y: FloatArray, counts: FloatArray | None = None) -> tuple[float, float]:
    """Mean and standard deviation of y, each value as often as it counts (once by default)."""
    if counts is None:
        return float(np.mean(y)), float(np.std(y))
    mean = float(np.average(y, weights=counts))
    return mean, math.sqrt(float(np.average((y - mean) ** 2, weights=counts)))


def _require_sane(name: str, what: str, value: float, largest: float) -> None:
    if not 1.0 / largest <= value <= largest:
        raise StatementError(
            f"{name} has a {what} of {value:.3g}: it must lie between {1.0 / largest:.0e} and {largest:.0e}; "
            "use other units"
        )


def default_prior(
    X: FloatArray,
    y: FloatArray,
    *,
    lengthscale: Any = "learned",
    amplitude: Any = "learned",
    noise: Any = "learned",
    bias: Any = "auto",
    region: Any = "auto",
    units_per_lengthscale: Any = "auto",
    trend: Any = None,
    counts: FloatArray | None = None,
    scales: Scales | None = None,
) -> tuple[Prior, float]:
    """The prior of a fit and the offset that is subtracted from y; see the module's docstring.

    counts : how often each observation counts, shape (n_points,), 1 by default
    scales : of the data, if X and y are only some of them

    Examples
    --------
    >>> x = np.linspace(0.0, 10.0, 50)[:, None]
    >>> prior, offset = default_prior(x, np.sin(x[:, 0]), noise=0.1)
    >>> prior.noise
    0.1
    """
    scales = Scales.of(X, y, counts) if scales is None else scales
    n_dims, offset = X.shape[1], scales.offset
    if isinstance(lengthscale, str):
        _checks.choice("lengthscale", lengthscale, LEARNED)
    slope_sd, bias_sd = _trend(trend, scales), scales.output
    if trend is not None:
        y, scales = _without_line(X, y, counts, scales)
    amplitudes = LogNormal(scales.output, AMPLITUDE_FACTOR)
    if trend is not None:
        amplitudes = LogNormal(AMPLITUDE_LEFT * scales.output, AMPLITUDE_LEFT_FACTOR)
    first: Guess | None = None
    one_unknown = isinstance(lengthscale, str) and (lengthscale == "constant" or n_dims > 3)
    spread = UnknownConstant.about(1.0, LEVEL_FACTOR).mean_level if one_unknown else 1.0
    if isinstance(lengthscale, str) and n_dims <= MOST_GUESSED:
        some, outputs, often = looked_at(X, y, counts)
        first = guess((some - scales.low) / scales.range, (outputs - scales.offset) / scales.output, often)
        share = max(first.share * math.sqrt(n_dims), _shortest_share(n_dims, spread))
        typical, anisotropy = share * scales.range, (scales.range if n_dims > 1 else None)
    else:
        typical, anisotropy = _typical_lengthscale(lengthscale, X, scales)
    box = _region(region, scales, typical, n_dims)
    wanted = UNITS_PER_LENGTHSCALE_BEYOND if n_dims > 1 else UNITS_PER_LENGTHSCALE
    if first is not None and n_dims == 1:
        wanted = _informed(wanted, first, scales.count, float(box.widths[0] / typical[0]))
    kappa = _units_per_lengthscale(units_per_lengthscale, box, typical, lengthscale, spread, wanted)
    stated = lengthscale
    if isinstance(lengthscale, str):
        level = (kappa / math.exp(float(np.mean(np.log(typical))))) ** n_dims
        if one_unknown:
            stated = UnknownConstant.about(level, LEVEL_FACTOR)
        else:
            upper = Gamma(UPPER_SHAPE, UPPER_SHAPE / (UPPER_FACTOR * level))
            stated = _curve(upper, scales, typical)
    prior = Prior(
        stated,
        _learned("amplitude", amplitude, amplitudes),
        region=box,
        bias=bias_sd if isinstance(bias, str) and _checks.choice("bias", bias, ("auto",)) else bias,
        noise=_noise(noise, scales),
        units_per_lengthscale=kappa,
        anisotropy=anisotropy,
        trend=slope_sd,
    )
    return prior, offset


def _curve(upper: Gamma, scales: Scales, typical: FloatArray) -> SigmoidGP:
    """The learned intensity, with a knot every so many typical lengthscales, but not too many or too few."""
    n_dims = len(typical)
    least, most = KNOTS[n_dims]
    knots = float(np.clip(np.max(scales.range / typical) * KNOTS_PER_LENGTHSCALE, least, most))  # along the range
    refinement = float(f"{knots * CURVE_SHARE / KNOTS_PER_CURVE[n_dims]:.3g}")
    return SigmoidGP(upper, CURVE_VARIANCE, CURVE_SHARE * scales.range, refinement, EXPONENTIAL)


def _noise(noise: Any, scales: Scales) -> Any:
    """A statement of noise in full."""
    level = LogNormal(NOISE_SHARE * scales.output, NOISE_FACTOR)
    by_word = {kind.word: kind for kind in registered().values() if kind.word}
    if isinstance(noise, str):
        _checks.choice("noise", noise, ("learned", *by_word))
        return level if noise == "learned" else by_word[noise].from_data(level, scales.range)
    if noise is None:
        raise _checks.fail(
            "noise",
            noise,
            "it must be 'learned', 'varying', 'robust', a positive number, a LogNormal, an InverseGamma or a noise "
            "model",
        )
    return noise


def _trend(trend: Any, scales: Scales) -> Any:
    """Standard deviations of slopes, or None."""
    if not isinstance(trend, str):
        return trend
    _checks.choice("trend", trend, ("linear",))
    return SLOPE * scales.output / scales.range


def _without_line(X: FloatArray, y: FloatArray, counts: FloatArray | None, scales: Scales) -> tuple[FloatArray, Scales]:
    """What the least-squares line (plane) leaves of the outputs, and scales with its spread for theirs."""
    design = np.column_stack([np.ones(len(X)), (X - scales.low) / scales.range])
    root = np.ones(len(y)) if counts is None else np.sqrt(counts)
    line = np.linalg.lstsq(design * root[:, None], (y - scales.offset) * root, rcond=None)[0]
    left = y - scales.offset - design @ line
    spread = max(mean_and_sd(left, counts)[1], LEAST_LEFT * scales.output)
    return left, replace(scales, offset=0.0, output=spread)


def _learned(name: str, value: Any, default: LogNormal) -> Any:
    if isinstance(value, str):
        _checks.choice(name, value, ("learned",))
        return default
    if value is None:
        raise _checks.fail(name, value, "it must be 'learned', a positive number or a LogNormal")
    return value


def _typical_lengthscale(lengthscale: Any, X: FloatArray, scales: Scales) -> tuple[FloatArray, Any]:
    """Lengthscale along each dimension, for region and width; and the anisotropy to state, or None."""
    n_dims = X.shape[1]
    if isinstance(lengthscale, str | Intensity):
        return LENGTHSCALE_SHARE * math.sqrt(n_dims) * scales.range, (scales.range if n_dims > 1 else None)
    if callable(lengthscale):
        # checked in full by the prior; here only its size matters
        try:
            values = np.asarray(lengthscale(X), dtype=np.float64).ravel()
            values = values[np.isfinite(values) & (values > 0)]
        except Exception:
            values = np.empty(0)
        typical = (
            float(np.median(values)) if len(values) else LENGTHSCALE_SHARE * math.sqrt(n_dims) * float(scales.range[0])
        )
        return np.full(n_dims, typical), None
    numbers = "a positive number" + (f", {n_dims} of them" if n_dims > 1 else "")
    allowed = f"it must be 'learned', 'constant', {numbers}, a callable or an Intensity"
    stated = _checks.positive_array("lengthscale", lengthscale, allowed)
    if stated.shape not in ((), (n_dims,)):
        raise _checks.fail("lengthscale", lengthscale, allowed)
    return np.broadcast_to(stated, (n_dims,)).astype(np.float64), None


def _region(region: Any, scales: Scales, typical: FloatArray, n_dims: int) -> Region:
    if not isinstance(region, str):
        box = Region.of(region)
        box.require_dims(n_dims, "X")
        return box
    _checks.choice("region", region, ("auto",))
    margin = scales.range * np.clip(MARGIN * typical / scales.range, LEAST_MARGIN, MOST_MARGIN)
    return Region(scales.low - margin, scales.low + scales.range + margin)


def _shortest_share(n_dims: int, spread: float) -> float:
    """The lengthscale over the range at which `FEW_UNITS_PER_LENGTHSCALE` take as many units as are affordable.

    The region has 1 + 2 margins in ranges on each side, and so many lengthscales may fit into it.
    """
    most = math.pow(MOST_UNITS.get(n_dims, MOST_UNITS_BEYOND) / spread, 1.0 / n_dims) / FEW_UNITS_PER_LENGTHSCALE
    share = 1.0 / most
    for _ in range(50):  # the margin grows with the lengthscale
        share = (1.0 + 2.0 * min(max(MARGIN * share, LEAST_MARGIN), MOST_MARGIN)) / most
    return share


def _informed(least: float, first: Guess, n_rows: float, n_lengthscales: float) -> float:
    """Units per lengthscale that go with what the data say, see the module's docstring; rounded."""
    information = n_rows * first.share / first.ratio
    wanted = least * min(max(information / LITTLE_INFORMATION, 1.0) ** (1.0 / 6.0), MOST_INFORMED)
    return float(f"{max(least, min(wanted, n_rows / n_lengthscales)):.2g}")


def _units_per_lengthscale(
    value: Any, box: Region, typical: FloatArray, lengthscale: Any, spread: float, wanted: float
) -> float:
    """The number to state; `spread` is the expected over the typical level."""
    if not isinstance(value, str):
        return _checks.positive("units_per_lengthscale", value)
    _checks.choice("units_per_lengthscale", value, ("auto",))
    if isinstance(lengthscale, Intensity):
        return wanted
    lengths = spread * float(np.prod(box.widths / typical))  # region's volume in lengthscales
    most = MOST_UNITS.get(box.n_dims, MOST_UNITS_BEYOND)
    affordable = math.pow(most / lengths, 1.0 / box.n_dims)
    if affordable < FEW_UNITS_PER_LENGTHSCALE * (1.0 - 1e-9):
        warnings.warn(
            f"units_per_lengthscale lowered from {wanted:g} to {affordable:.2g}, so that the network "
            f"has about {most:.0f} units instead of {wanted**box.n_dims * lengths:,.0f}; "
            "draws are then less smooth than the lengthscale says; state it to have more",
            StatementWarning,
            stacklevel=4,
        )
    return min(affordable, wanted)
