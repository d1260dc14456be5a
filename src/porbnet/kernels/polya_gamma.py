"""Pólya-Gamma variates, for outcomes whose log-odds are a sum: PG(b, z), z its tilt (Polson, Scott and Windle 2013).

    PG(b, z) = Σ_k g_k d_k,   g_k ~ Gamma(b, 1),   d_k = 1 / (2π² ((k - ½)² + c²)),   c = |z| / 2π,   k = 1, 2, ...

For b = 1 there is Devroye's exact method (2009): 4 PG(1, z) has a density whose series alternates, with terms that
decrease, so that it is known on which side of it a point lies after a few of them. Small whole b add such variates up.

For any other b the sum itself is taken: `n_terms` of them as they are, and for all of those beyond one Gamma variate
and a constant. With T_j the sum of d_k^j over these, that is

    b (T_1 - T_2² / T_3) + (T_3 / T_2) Gamma(b T_2³ / T_3²),

which has their first three cumulants; the constant is not negative, by Cauchy and Schwarz. T_1 and T_2 are what is left
of sums in closed form,

    Σ_k d_k = tanh(z/2) / 2z,   Σ_k d_k² = (2 tanh(z/2) - z / cosh²(z/2)) / 4z³,

so that mean and variance are exact; T_3 is an integral and the first correction to it (Euler and Maclaurin). For |z| up
to 600 the third cumulant is right to one part in 10⁶ and the fourth to one in 5,000, in 10⁵ for |z| up to 10
(`tests/unit/test_polya_gamma.py`).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.base.compiled import hot, inner
from porbnet.kernels.random import gamma, normal, uniform

FEW_TERMS, STEEP = 3, 2.0  # terms at a tilt of zero, and how many more there are for |z| / 2π
MOST_ADDED = 4  # whole shapes up to which variates of shape one are added up
_CUT = 0.64  # where the two forms of the series meet
_LARGE = 40.0  # half a tilt from which the right part has no mass: below e^-400
_MOST_TILT = 1e4
LEAST = 1e-12  # a variate of a tiny shape may be smaller than any number; then exp(-ω z² / 2) is one either way
_MOST_TERMS = 400
# Gauss' rule with five nodes on (0, 1)
_NODES = tuple(0.5 + 0.5 * float(v) for v in np.polynomial.legendre.leggauss(5)[0])
_WEIGHTS = tuple(0.5 * float(v) for v in np.polynomial.legendre.leggauss(5)[1])


@inner
def _exponential(rng: Any) -> float:
    return -math.log(1.0 - uniform(rng))


@inner
def _below(z: float) -> float:
    """Probability that an inverse Gaussian variate of mean 1/z and shape 1 is below the cut, times 2 e^(-z)."""
    root = math.sqrt(0.5 / _CUT)
    return math.exp(-z) * math.erfc(root * (1.0 - _CUT * z)) + math.exp(z) * math.erfc(root * (1.0 + _CUT * z))


@inner
def _inverse_gaussian_below(z: float, rng: Any) -> float:
    """An inverse Gaussian variate of mean 1/z and shape 1, given that it is below the cut."""
    if z * _CUT < 1.0:  # the mean lies beyond: one of mean infinity below the cut, thinned by e^(-z² x / 2)
        while True:
            a, b = _exponential(rng), _exponential(rng)
            while a * a > 2.0 * b / _CUT:
                a, b = _exponential(rng), _exponential(rng)
            x = _CUT / ((1.0 + _CUT * a) * (1.0 + _CUT * a))
            if uniform(rng) < math.exp(-0.5 * z * z * x):
                return x
    mean = 1.0 / z
    while True:
        square = normal(rng)
        square = mean * square * square
        x = mean * (1.0 + 0.5 * square - 0.5 * math.sqrt(square * (4.0 + square)))
        if uniform(rng) * (mean + x) > mean:
            x = mean * mean / x
        if x < _CUT and x > 0.0:
            return x


@inner
def _term(n: int, x: float) -> float:
    """Term n of the series of the density at x, without its tilt."""
    half = n + 0.5
    if x > _CUT:
        return math.pi * half * math.exp(-0.5 * half * half * math.pi * math.pi * x)
    ratio = 2.0 / (math.pi * x)
    return ratio * math.sqrt(ratio) * math.pi * half * math.exp(-2.0 * half * half / x)


@hot
def polya_gamma_one(tilt: float, rng: Any) -> float:
    """PG(1, tilt), by Devroye's method."""
    z = 0.5 * min(abs(tilt), _MOST_TILT)
    rate = 0.125 * math.pi * math.pi + 0.5 * z * z
    right = 0.0
    if z < _LARGE:
        mass = 0.5 * math.pi / rate * math.exp(-rate * _CUT)
        right = mass / (mass + _below(z))
    while True:
        x = _CUT + _exponential(rng) / rate if uniform(rng) < right else _inverse_gaussian_below(z, rng)
        total = _term(0, x)
        height = uniform(rng) * total
        n = 0
        while True:
            n += 1
            if n % 2 == 1:
                total -= _term(n, x)
                if height <= total:
                    return 0.25 * x
            else:
                total += _term(n, x)
                if height > total:
                    break


@inner
def n_terms(c: float) -> int:
    """How many terms are taken as they are."""
    return int(min(FEW_TERMS + int(STEEP * c), _MOST_TERMS))


@inner
def cubes_beyond(n: int, c2: float) -> float:
    """Σ 1 / ((k - ½)² + c²)³ over k > n: the integral from n on, by Gauss' rule in n over k, less a correction.

    ∫_n^∞ du / (u² + c²)³ = n⁻⁵ ∫_0^1 t⁴ / (1 + (c/n)² t²)³ dt
    """
    ratio, total = c2 / (n * n), 0.0
    for j in range(len(_NODES)):
        square = _NODES[j] * _NODES[j]
        base = 1.0 + ratio * square
        total += _WEIGHTS[j] * square * square / (base * base * base)
    base = n * n + c2
    return total / float(n) ** 5 - 0.25 * n / (base * base * base * base)


@hot
def _sum_of_gammas(shape: float, tilt: float, rng: Any) -> float:
    """PG(shape, tilt) for any shape, by its sum; what lies beyond the first terms as one variate."""
    z = min(abs(tilt), _MOST_TILT)
    c = z / (2.0 * math.pi)
    if z < 0.05:
        square = z * z
        first = 0.25 - square / 48.0 + square * square / 480.0
        second = 1.0 / 24.0 - square / 120.0 + 17.0 * square * square / 13440.0
    else:
        slope = math.tanh(0.5 * z)
        first = 0.5 * slope / z
        second = 0.25 * (2.0 * slope - z * (1.0 - slope * slope)) / (z * z * z)
    total, scale, c2 = 0.0, 0.5 / (math.pi * math.pi), c * c
    n = n_terms(c)
    for k in range(n):
        d = scale / ((k + 0.5) * (k + 0.5) + c2)
        total += d * gamma(shape, rng)
        first -= d
        second -= d * d
    third = scale * scale * scale * cubes_beyond(n, c2)
    ratio = min(third / second, second / first)  # no larger, but for rounding
    return total + shape * (first - second / ratio) + ratio * gamma(shape * second / (ratio * ratio), rng)


@inner
def polya_gamma(shape: float, tilt: float, rng: Any) -> float:
    """PG(shape, tilt), and `LEAST` at least."""
    if shape <= MOST_ADDED and shape == int(shape):
        total = 0.0
        for _ in range(int(shape)):
            total += polya_gamma_one(tilt, rng)
        return max(total, LEAST)
    return max(_sum_of_gammas(shape, tilt, rng), LEAST)
