"""Student-t errors, y = f(x) + σ ε / √w with w ~ Gamma(ν/2, ν/2): a scale mixture of Gaussian errors.

Given the function, the residuals e_n are known: σ and ν move together by Metropolis steps on the t likelihood of the
residuals, w integrated out; then w_n | e_n ~ Gamma((ν + 1)/2, (ν + e_n² / σ²)/2), which are the relative precisions.

Densities with f ~ N(m, s²) are integrals over u = log w,

    p(y) = ∫ N(y; m, s² + σ² e^(-u)) exp(½ν u - ½ν e^u) du · (ν/2)^(ν/2) / Γ(ν/2),

by the trapezoidal rule, which converges faster than any power of its step for what is analytic and decays at both ends.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import gammaincinv, gammaln, ndtr, stdtrit

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.compiled import hot, inner
from porbnet.base.distributions import LogNormal
from porbnet.base.parameter import NUMBER, Parameter, law_of
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.kernels.random import accept, gamma, is_unknown, log_law, normal, uniform
from porbnet.kernels.state import NOISE
from porbnet.likelihood.base import Drawn, Likelihood, Mixture
from porbnet.likelihood.normal import checked_level, noise_parameter

TAIL_STEPS = 12  # Metropolis steps of σ and ν
_NEGLIGIBLE = 40.0  # below the largest, in log units, that the integrand's ends may be left out
_MOST_DRAWS = 2000  # that a mixture for quantiles is made of: each has several components


class Tails(Record):
    """What the augmentation works on.

    kept : (n_points,) relative precisions w_n
    freedom : place of ν among the values
    """

    kept: FloatArray
    freedom: int

    CARRIED = ("kept",)


@hot
def log_tails(state: Any, noise: float, freedom: float, errors: Any) -> float:
    """Log density of (log σ, log ν) given residuals with Student-t errors."""
    total = 0.0
    precision = 1.0 / (freedom * noise * noise)
    for i in range(len(errors)):
        total += math.log1p(errors[i] * errors[i] * precision)
    total *= -0.5 * (freedom + 1.0)
    constant = math.lgamma(0.5 * (freedom + 1.0)) - math.lgamma(0.5 * freedom) - 0.5 * math.log(freedom)
    total += len(errors) * (constant - math.log(noise))
    laws, place = state.laws, state.errors.freedom
    if is_unknown(laws, NOISE):
        total += log_law(laws, NOISE, noise, math.log(noise))
    if is_unknown(laws, place):
        total += log_law(laws, place, freedom, math.log(freedom))
    return total


@inner
def augment(state: Any, rng: Any) -> None:
    """σ and ν by Metropolis steps of many lengths, then the weights of the observations."""
    values, laws, errors = state.values, state.laws, state.rows.errors
    place = state.errors.freedom
    noise, freedom, current = values[NOISE], values[place], 0.0
    noise_moves, freedom_moves = is_unknown(laws, NOISE), is_unknown(laws, place)
    for step in range(TAIL_STEPS + 1):
        length = 0.0 if step == 0 else math.exp(-3.0 * uniform(rng))
        new_noise = noise * math.exp(0.5 * length * normal(rng)) if noise_moves else noise
        new_freedom = freedom * math.exp(length * normal(rng)) if freedom_moves else freedom
        value = log_tails(state, new_noise, new_freedom, errors)
        if step == 0 or accept(value - current, rng):
            noise, freedom, current = new_noise, new_freedom, value
    values[NOISE], values[place] = noise, freedom
    weights = state.errors.kept
    for i in range(len(errors)):
        scaled = errors[i] * errors[i] / (noise * noise)
        weights[i] = gamma(0.5 * (freedom + 1.0), rng) / (0.5 * (freedom + scaled))


@inner
def weigh(state: Any) -> None:
    """Relative precisions w_n, times what is known of them."""
    root, known, weights = state.rows.root, state.rows.known_root, state.errors.kept
    for i in range(len(root)):
        root[i] = known[i] * math.sqrt(weights[i])


def log_student(z: FloatArray, freedom: FloatArray) -> FloatArray:
    """Log density of Student's t at z."""
    half = 0.5 * (freedom + 1.0)
    constant = gammaln(half) - gammaln(0.5 * freedom) - 0.5 * np.log(math.pi * freedom)
    return np.asarray(constant - half * np.log1p(z * z / freedom))


@dataclass(frozen=True)
class RobustNoise(Likelihood):
    """Student-t errors: y = f(x) + level · t, with unknown or given degrees of freedom.

    Parameters
    ----------
    level : float or LogNormal
        Scale of the errors, in the units of the output (for many degrees of freedom, their sd).
    freedom : float or LogNormal
        Degrees of freedom; small ones make outliers likely.

    Examples
    --------
    >>> RobustNoise(0.1).freedom
    LogNormal(median=5.0, factor=2.0)
    """

    level: float | LogNormal
    freedom: float | LogNormal = field(default_factory=lambda: LogNormal(5.0, 2.0))

    augment: ClassVar[Any] = staticmethod(augment)
    weigh: ClassVar[Any] = staticmethod(weigh)
    whole_weights: ClassVar[bool] = True
    stored_as: ClassVar[str] = "<f4"
    word: ClassVar[str] = "robust"
    words: ClassVar[str] = "Student-t errors"

    def __post_init__(self) -> None:
        object.__setattr__(self, "level", checked_level("level", self.level))
        if not isinstance(self.freedom, LogNormal):
            object.__setattr__(self, "freedom", _checks.positive("freedom", self.freedom))

    @classmethod
    def from_data(cls, level: Any, ranges: FloatArray) -> RobustNoise:
        """The default: degrees of freedom about 5."""
        return cls(level)

    def parameters(self) -> tuple[Parameter, ...]:
        """Scale and degrees of freedom of the errors."""
        freedom = Parameter("freedom", law_of(self.freedom), NUMBER, scattered=False)
        return (noise_parameter(self.level), freedom)

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> Tails:
        """All weights one."""
        return Tails(kept=np.ones(len(X)), freedom=first)

    def variance_factor(self, drawn: Drawn) -> FloatArray:
        """The square of half the width of the central 68 % interval: the variance itself may be infinite."""
        return np.asarray(stdtrit(drawn["freedom"], ndtr(1.0)) ** 2)

    def log_density(self, y: FloatArray, f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        """Log of Student's t."""
        return log_student((y - f) / sd, drawn["freedom"][:, None]) - np.log(sd)

    def log_integrated(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn
    ) -> FloatArray:
        """By the trapezoidal rule over log w, its ends chosen for each draw and point; see the module's docstring."""
        nu = drawn["freedom"][:, None]
        z2, spread = ((y - mean) / sd) ** 2, variance / sd**2
        left, right, step = _ends(nu, z2, spread)
        n = int(np.max(np.ceil((right - left) / step), initial=1.0)) + 1
        width = (right - left) / (n - 1)
        total = np.full(z2.shape, -np.inf)
        for j in range(n):
            np.logaddexp(total, _log_integrand(left + j * width, nu, z2, spread), out=total)
        constant = 0.5 * nu * np.log(0.5 * nu) - gammaln(0.5 * nu) - 0.5 * math.log(2.0 * math.pi)
        return np.asarray(total + np.log(width) + constant - np.log(sd))

    def mixture(self, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn) -> Mixture:
        """Several components per draw, by quadrature over w; of many draws evenly spaced ones."""
        few = max(1, len(mean) // _MOST_DRAWS)
        scales, weights = _scales(drawn["freedom"][::few])
        mean, variance, noise2 = mean[::few], variance[::few], sd[::few] ** 2
        spread = variance[:, None, :] + noise2[:, None, :] / scales[:, :, None]
        n_nodes, n_points = scales.shape[1], mean.shape[1]
        return Mixture(np.repeat(mean, n_nodes, axis=0), spread.reshape(-1, n_points), (weights / len(mean)).ravel())

    def sample(self, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """Student-t errors."""
        return np.asarray(sd * rng.standard_t(drawn["freedom"][:, None], size=sd.shape))

    def kept_is_sound(self, kept: FloatArray) -> bool:
        """Weights are not negative."""
        return bool(np.all(kept >= 0))

    def pseudo(self, y: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """The outputs, with the weights."""
        return np.broadcast_to(y, drawn.kept.shape), drawn.kept.astype(np.float64)

    def log_augmented(self, drawn: Drawn) -> FloatArray:
        """Of the weights, Gamma(ν/2, ν/2) each."""
        half, weights = 0.5 * drawn["freedom"], drawn.kept.astype(np.float64)
        total = weights.shape[1] * (half * np.log(half) - gammaln(half))
        return np.asarray(total + (half - 1.0) * np.log(weights).sum(axis=1) - half * weights.sum(axis=1))


def _log_integrand(u: FloatArray, nu: FloatArray, z2: FloatArray, spread: FloatArray) -> FloatArray:
    """½ν u - ½ν e^u - ½ log v - ½ z² / v, with v = spread + e^(-u) the variance over σ²."""
    v = spread + np.exp(-u)
    return np.asarray(0.5 * nu * (u - np.exp(u)) - 0.5 * np.log(v) - 0.5 * z2 / v)


def _ends(nu: FloatArray, z2: FloatArray, spread: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Where the integrand becomes negligible to the left and to the right of its largest value, and a step for it.

    To the right it falls at least as exp(-½ν e^u), to the left of everything else as exp(½(ν + 1) u), or exp(½ν u) as
    long as v is about `spread`. Each end is moved outwards in growing strides until the integrand is negligible.
    """
    # the mode lies between that without an uncertain f, and that of w alone
    low = np.log((nu + 1.0) / (nu + z2)) + np.zeros_like(spread)
    high = np.zeros_like(low)
    top = np.maximum(_log_integrand(low, nu, z2, spread), _log_integrand(high, nu, z2, spread))
    for share in np.linspace(0.0, 1.0, 25)[1:-1]:
        top = np.maximum(top, _log_integrand(low + share * (high - low), nu, z2, spread))
    left, right = np.minimum(low, high), np.maximum(low, high)
    natural = np.sqrt(2.0 / nu)
    for end, sign in ((left, -1.0), (right, 1.0)):
        stride = np.minimum(natural, 1.0) + np.zeros_like(end)
        for _ in range(200):
            far = _log_integrand(end, nu, z2, spread) < top - _NEGLIGIBLE
            if np.all(far):
                break
            end += np.where(far, 0.0, sign * stride)
            stride *= np.where(far, 1.0, 1.15)
    # the integrand is analytic for |Im u| < π/2 and about as wide as a normal law with this sd around its mode
    return left, right, np.minimum(0.35, 0.75 * natural)


def _scales(freedom: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Quadrature of w ~ Gamma(ν/2, ν/2) for every ν: nodes and weights, shape (n, n_nodes); good to 1e-5 for cdfs."""
    half = 0.5 * freedom[:, None]
    with np.errstate(divide="ignore", under="ignore"):
        # log of the quantile: for small shapes P(w < t) = (half t)^half / Γ(half + 1), which may lie below any number
        low = np.maximum(
            np.log(gammaincinv(half, 1e-6) / half), (math.log(1e-6) + gammaln(half + 1.0)) / half - np.log(half)
        )
        high = np.log(gammaincinv(half, 1.0 - 1e-8) / half)
    step = np.minimum(0.8, 1.2 / np.sqrt(half))
    n_nodes = int(np.clip(np.max(np.ceil((high - low) / step)), 12, 200)) + 1
    logs = low + (high - low) * np.linspace(0.0, 1.0, n_nodes)
    log_mass = half * logs - half * np.exp(logs)
    mass = np.exp(log_mass - log_mass.max(axis=1, keepdims=True))
    mass[:, 0] += mass[:, 0] / (half[:, 0] * (logs[:, 1] - logs[:, 0]))  # all that lies to the left: ∫ e^(half u) du
    return np.exp(logs), mass / mass.sum(axis=1, keepdims=True)
