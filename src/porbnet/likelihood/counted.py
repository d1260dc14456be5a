"""Counts with rate exp(f) per unit of exposure: negative binomial, and Poisson.

Negative binomial of size r and mean μ = e · exp(f), e the exposure, has variance μ + μ²/r. With ψ = f + log e - log r

    p(y | f)^c ∝ e^(cyψ) / (1 + e^ψ)^(c(y + r)) = 2^(-b) e^(κψ) ∫ e^(-ωψ²/2) PG(ω; b, 0) dω,

b = c(y + r), κ = c(y - r)/2, for an observation that counts c times: given f the variates are ω ~ PG(b, ψ), and given
them f has the pseudo-output κ/ω - log e + log r with precision ω (Polson, Scott and Windle 2013). A size that is
learned moves by Metropolis steps on the likelihood itself, the variates integrated out, before they are drawn.

A Poisson likelihood falls faster than any Gaussian as f grows and is no mixture of them. Chains therefore have in its
place a negative binomial of row n with a size R_n = `NEAR` (μ̂_n + 1) of its own, of which the Poisson law is

    e^(-μ) (1 + μ/R)^(y + R) / constant

times, hardly varying where the posterior is. μ̂_n is a mean over the nearest rows (`local_means`), which owes little to
y_n: were R_n to follow y_n, what is left to put right would follow the errors, and add up. The larger R, the less there
is to put right, and the more a pseudo-output says of f (its precision is about R / 2 log(R/μ), the information of the
count μ), which makes chains creep. Draws are resampled by these weights when the chains are done
(`porbnet.posterior.reweighing`), each together with its function: exact as their number grows, as importance sampling
is, and with a Pareto k that tells how far it can be trusted.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import betainc, expit, gammaincc, gammaln

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, inner
from porbnet.base.distributions import LogNormal
from porbnet.base.parameter import NUMBER, Parameter, law_of
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.kernels.polya_gamma import polya_gamma
from porbnet.kernels.random import accept, is_unknown, log_law, normal, uniform
from porbnet.likelihood.base import Drawn
from porbnet.likelihood.latent import Latent

SIZE_STEPS = 2  # Metropolis steps of the size
NEAR = 8.0  # size in place of a Poisson law, over the local mean and one
NEIGHBOURS = 9  # rows of a local mean
_FEW = 12.0  # a count up to which Γ(y + r) / Γ(r) is a product
_MOST_MEAN = 1e15
MOST_LOG = 300.0  # of a mean: its square is a number too


class Tallies(Record):
    """What the augmentation works on.

    kept : (n_points,) Pólya-Gamma variates ω
    counted : (n_points,) counts y
    log_exposure : (n_points,)
    inputs : (n_points, n_dims)
    sizes : (n_points,) size of each row's law
    means : (n_points,) work space: μ
    center : prior mean of f
    place : of the size among the values; 0 if it is not one of them
    """

    kept: FloatArray
    counted: FloatArray
    log_exposure: FloatArray
    inputs: FloatArray
    sizes: FloatArray
    means: FloatArray
    center: float
    place: int

    CARRIED = ("kept",)


@hot
def log_size(state: Any, size: float) -> float:
    """Log density of the logarithm of the size given f, whose means are in `means`."""
    tallies, counts = state.errors, state.rows.counts
    counted, means = tallies.counted, tallies.means
    total, own, log_own = 0.0, math.lgamma(size), math.log(size)
    for i in range(len(counted)):
        y = counted[i]
        if y <= _FEW and y == math.floor(y):
            product, j = 1.0, 0.0
            while j < y:
                product *= size + j
                j += 1.0
            ratio = math.log(product)
        else:
            ratio = math.lgamma(y + size) - own
        total += counts[i] * (ratio + size * log_own - (y + size) * math.log(size + means[i]))
    return total + log_law(state.laws, tallies.place, size, log_own)


@inner
def size_update(state: Any, rng: Any) -> None:
    """A learned size, by Metropolis steps of several lengths given f; the variates are integrated out."""
    tallies, rows = state.errors, state.rows
    means, exposure = tallies.means, tallies.log_exposure
    for i in range(len(means)):
        means[i] = math.exp(min(rows.outputs[i] - rows.errors[i] + tallies.center + exposure[i], MOST_LOG))
    size, current = state.values[tallies.place], 0.0
    for step in range(SIZE_STEPS + 1):
        new = size if step == 0 else size * math.exp(1.5 * math.exp(-3.0 * uniform(rng)) * normal(rng))
        value = log_size(state, new)
        if step == 0 or accept(value - current, rng):
            size, current = new, value
    state.values[tallies.place] = size


@hot
def augment(state: Any, rng: Any) -> None:
    """The size, if it is learned, then ω_n ~ PG(c_n (y_n + r), ψ_n)."""
    tallies, rows = state.errors, state.rows
    place = tallies.place
    if place > 0 and is_unknown(state.laws, place):
        size_update(state, rng)
    kept, counted, counts, sizes = tallies.kept, tallies.counted, rows.counts, tallies.sizes
    outputs, errors, exposure = rows.outputs, rows.errors, tallies.log_exposure
    for i in range(len(kept)):
        size = state.values[place] if place > 0 else sizes[i]
        psi = outputs[i] - errors[i] + tallies.center + exposure[i] - math.log(size)
        kept[i] = polya_gamma(counts[i] * (counted[i] + size), psi, rng)


@inner
def weigh(state: Any) -> None:
    """Pseudo-outputs κ/ω less exposure, size and center, with precision ω (over the count)."""
    tallies, rows = state.errors, state.rows
    kept, counted, counts, sizes = tallies.kept, tallies.counted, rows.counts, tallies.sizes
    outputs, root, place = rows.outputs, rows.root, tallies.place
    for i in range(len(kept)):
        size = state.values[place] if place > 0 else sizes[i]
        half = 0.5 * counts[i] * (counted[i] - size)
        outputs[i] = half / kept[i] - tallies.log_exposure[i] + math.log(size) - tallies.center
        root[i] = math.sqrt(kept[i] / counts[i])


class Counted(Latent):
    """What likelihoods of counts share."""

    center: float

    augment: ClassVar[Any] = staticmethod(augment)
    weigh: ClassVar[Any] = staticmethod(weigh)
    words: ClassVar[str] = "counts"
    unit: ClassVar[str] = " (log rate)"
    beside: ClassVar[str] = "exposure"

    @property
    def middle(self) -> float:
        """The center."""
        return self.center

    @abstractmethod
    def stand_in(self, X: FloatArray, y: FloatArray, beside: FloatArray | None) -> FloatArray:
        """Sizes of rows in the chains, if they are known, shape (n_points,)."""

    @abstractmethod
    def distribution(self, k: FloatArray, f: FloatArray, drawn: Drawn) -> FloatArray:
        """P(y ≤ k | f), shape (n_draws, n_points)."""

    @abstractmethod
    def excess(self, mean: FloatArray, drawn: Drawn) -> FloatArray:
        """Variance of y of that mean, less the mean, shape (n_draws, n_points)."""

    def check(self, y: FloatArray, beside: FloatArray | None) -> None:
        """Counts are not negative, exposures above zero."""
        if np.any(y < 0):
            raise _checks.fail("y", y, "counts must not be negative")
        if beside is not None and not np.all((beside > 0) & np.isfinite(beside)):
            raise _checks.fail("exposure", beside, "it must be above zero in every row")

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> Tallies:
        """Nothing counted yet."""
        zeros = [np.zeros(len(X)) for _ in range(3)]
        place = first if len(self.parameters()) > 1 else 0
        return Tallies(
            kept=np.ones(len(X)), counted=zeros[0], log_exposure=zeros[1], inputs=np.ascontiguousarray(X),
            sizes=np.ones(len(X)), means=zeros[2], center=self.center, place=place,
        )  # fmt: skip

    def observe(self, record: Any, outputs: FloatArray, beside: FloatArray | None, counts: FloatArray) -> None:
        """Counts and exposures; variates at their means where f is about right."""
        record.counted[:] = outputs
        record.log_exposure[:] = 0.0 if beside is None else np.log(beside)
        record.sizes[:] = self.stand_in(record.inputs, outputs, beside)
        psi = np.log((outputs + 0.5) / record.sizes)
        psi = np.where(np.abs(psi) < 1e-3, 1e-3, psi)
        record.kept[:] = counts * (outputs + record.sizes) * np.tanh(0.5 * psi) / (2.0 * psi)

    def pseudo(self, y: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """κ/ω - log e + log r with precision ω, over what the row counts."""
        omega = drawn.kept.astype(np.float64)
        counts = 1.0 if drawn.counts is None else drawn.counts
        size = drawn["size"][:, None]
        half = 0.5 * counts * (y - size)
        return half / omega - log_exposure(drawn) + np.log(size), omega / counts


def local_means(X: FloatArray, y: FloatArray, exposure: FloatArray | None) -> FloatArray:
    """Means of counts by the rates of the nearest rows, shape (n_points,); a little above zero where there are none.

    X : (n_points, n_dims), of which each dimension is divided by its range
    """
    ranges = np.ptp(X, axis=0)
    places = (X - X.min(axis=0)) / np.where(ranges > 0, ranges, 1.0)
    near = min(NEIGHBOURS, len(X))
    rows = cKDTree(places).query(places, near)[1].reshape(len(X), near)
    exposed = np.ones(len(X)) if exposure is None else exposure
    return np.asarray(exposed * ((y[rows].sum(axis=1) + 0.5) / exposed[rows].sum(axis=1)))


def log_exposure(drawn: Drawn) -> FloatArray | float:
    """Logarithm of the exposures of the points in question."""
    return 0.0 if drawn.beside is None else np.log(drawn.beside)


@dataclass(frozen=True)
class NegativeBinomial(Counted):
    """Counts of mean exposure · exp(f) and variance mean + mean² / size.

    Parameters
    ----------
    size : float or LogNormal
        Large ones make counts nearly Poisson.
    center : float
        Prior mean of f.

    Examples
    --------
    >>> NegativeBinomial().size
    LogNormal(median=10.0, factor=5.0)
    """

    size: float | LogNormal = field(default_factory=lambda: LogNormal(10.0, 5.0))
    center: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.size, LogNormal):
            object.__setattr__(self, "size", _checks.number("size", self.size, largest=1e9))
        object.__setattr__(self, "center", _checks.number("center", self.center, minimum=-np.inf, largest=500.0))

    def parameters(self) -> tuple[Parameter, ...]:
        """σ, which is one, and the size."""
        return (*super().parameters(), Parameter("size", law_of(self.size), NUMBER, scattered=False))

    def stand_in(self, X: FloatArray, y: FloatArray, beside: FloatArray | None) -> FloatArray:
        """The size, or its median."""
        return np.full(len(y), self.size.median if isinstance(self.size, LogNormal) else self.size)

    def derivatives(self, y: FloatArray, f: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p = log Γ(y + r) / Γ(r) y! + yψ - (y + r) log(1 + e^ψ)."""
        size = drawn["size"][:, None]
        psi = f + log_exposure(drawn) - np.log(size)
        constant = gammaln(y + size) - gammaln(size) - gammaln(y + 1.0)
        share = expit(psi)
        log_p = constant + y * psi - (y + size) * np.logaddexp(0.0, psi)
        return log_p, y - (y + size) * share, (y + size) * share * (1.0 - share)

    def distribution(self, k: FloatArray, f: FloatArray, drawn: Drawn) -> FloatArray:
        """The regularised incomplete beta function."""
        size = drawn["size"][:, None]
        below = expit(np.log(size) - f - log_exposure(drawn))
        return np.where(k < 0, 0.0, betainc(size, np.maximum(k, 0.0) + 1.0, below))

    def excess(self, mean: FloatArray, drawn: Drawn) -> FloatArray:
        """The square of the mean over the size."""
        return np.asarray(mean**2 / drawn["size"][:, None])

    def outputs(self, f: FloatArray, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """New counts: Poisson with a Gamma mean."""
        size = np.broadcast_to(drawn["size"][:, None], f.shape)
        mean = np.exp(np.minimum(f + log_exposure(drawn), MOST_LOG)) * (rng.gamma(size) / size)
        return rng.poisson(np.minimum(mean, _MOST_MEAN)).astype(np.float64)


@dataclass(frozen=True)
class Poisson(Counted):
    """Counts of mean and variance exposure · exp(f).

    Parameters
    ----------
    center : float
        Prior mean of f.

    Examples
    --------
    >>> Poisson().integrates
    False
    """

    center: float = 0.0

    integrates: ClassVar[bool] = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "center", _checks.number("center", self.center, minimum=-np.inf, largest=500.0))

    def stand_in(self, X: FloatArray, y: FloatArray, beside: FloatArray | None) -> FloatArray:
        """So large that little is left to put right."""
        return np.asarray(NEAR * (local_means(X, y, beside) + 1.0))

    def log_correction(self, y: FloatArray, f: FloatArray, drawn: Drawn, stand_in: FloatArray) -> FloatArray:
        """Log of the Poisson law over that of the chains, up to a constant, shape (n_draws, n_points)."""
        psi = np.minimum(f + log_exposure(drawn), MOST_LOG) - np.log(stand_in)
        return np.asarray((y + stand_in) * np.logaddexp(0.0, psi) - stand_in * np.exp(psi))

    def derivatives(self, y: FloatArray, f: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Log p = y log μ - μ - log y!."""
        log_mean = f + log_exposure(drawn)
        mean = np.exp(np.minimum(log_mean, 700.0))
        return y * log_mean - mean - gammaln(y + 1.0), y - mean, mean

    def distribution(self, k: FloatArray, f: FloatArray, drawn: Drawn) -> FloatArray:
        """The regularised incomplete gamma function."""
        mean = np.exp(np.minimum(f + log_exposure(drawn), 700.0))
        return np.where(k < 0, 0.0, gammaincc(np.maximum(k, 0.0) + 1.0, mean))

    def excess(self, mean: FloatArray, drawn: Drawn) -> FloatArray:
        """None."""
        return np.zeros(mean.shape)

    def outputs(self, f: FloatArray, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """New counts."""
        mean = np.exp(np.minimum(f + log_exposure(drawn), math.log(_MOST_MEAN)))
        return rng.poisson(mean).astype(np.float64)
