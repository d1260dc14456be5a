"""Moments of f at new points, draw by draw, with the weights integrated out (Rao-Blackwell).

Given a draw's centers and hyper-parameters, f(x) is Gaussian with mean φ(x)ᵀm and variance φ(x)ᵀPφ(x). m and P are
computed anew from the observations, once per draw; the points are taken in blocks, so that memory does not grow
with them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from porbnet.base.compiled import inlined_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.field import reweight
from porbnet.sampling.collapsed.gaussian import refresh
from porbnet.sampling.collapsed.process import expand
from porbnet.sampling.collapsed.state import LEVEL, Data, Hyper, Tuning, Units, Varying, Work
from porbnet.sampling.collapsed.units import append, clear, scale_at, unit_values


class Block(NamedTuple):
    """Work space for a block of new points.

    columns : (capacity, block length) unit values
    low, high : (capacity,) windows
    mean, variance : (block length,) of f
    """

    columns: Any
    low: Any
    high: Any
    mean: Any
    variance: Any


@inlined_kernel
def block_moments(x: Any, start: int, stop: int, has_bias: int, units: Units, block: Block) -> None:
    """Mean and variance of f at the points [start, stop) of sorted inputs x, for the current m and P."""
    bias = 1.0 if has_bias == 1 else 0.0
    for i in range(stop - start):
        block.mean[i] = bias * units.mean[0]
        block.variance[i] = bias * units.inverse[0, 0]
    for k in range(units.n[0]):
        a, b = unit_values(x, start, stop, units.centers[k], units.scales[k], block.columns[k])
        block.low[k], block.high[k] = a, b
        weight = units.mean[k + 1]
        own, with_bias = units.inverse[k + 1, k + 1], 2.0 * bias * units.inverse[k + 1, 0]
        mean, variance = block.mean[a - start : b - start], block.variance[a - start : b - start]
        for i in range(b - a):
            v = block.columns[k, i]
            mean[i] += weight * v
            variance[i] += v * (own * v + with_bias)
        for j in range(k):
            shift = block.low[j]
            first, last = max(a, shift), min(b, block.high[j])
            if first < last:
                p = 2.0 * units.inverse[k + 1, j + 1]
                mine, other = block.columns[k, first - a : last - a], block.columns[j, first - shift : last - shift]
                variance = block.variance[first - start : last - start]
                for i in range(last - first):
                    variance[i] += p * mine[i] * other[i]


@kernel
def weigh_draw(data: Data, draw: int, noise_z: Any, row_weight: Any, varying: Varying) -> None:
    """Weights of the observations (the caller's own) in a draw with a noise curve or Student-t errors."""
    if noise_z.shape[1] > 0:
        expand(varying.noise, noise_z[draw], varying.noise.table)
    for i in range(row_weight.shape[1]):
        varying.row_weight[i] = row_weight[draw, i]
    reweight(data, varying, varying.noise.table, data)


@inlined_kernel
def prepare_draw(
    data: Data,
    hyper: Hyper,
    draw: int,
    offsets: Any,
    values: Any,
    centers: Any,
    relative: Any,
    units: Units,
    tuning: Tuning,
    work: Work,
) -> None:
    """Units, m and P of one stored draw, for observations weighted as it says (`weigh_draw`)."""
    clear(data, units)
    n_dims = data.x.shape[0]
    for k in range(offsets[draw], offsets[draw + 1]):
        scale = scale_at(hyper, values[draw, LEVEL] * relative[k], n_dims)
        append(data, units, centers[k], relative[k], scale, work.cross)
    refresh(data, units, hyper, values[draw], tuning)


@kernel
def moments_of_draws(
    data: Data,
    hyper: Hyper,
    first: int,
    last: int,
    offsets: Any,
    values: Any,
    centers: Any,
    relative: Any,
    noise_z: Any,
    row_weight: Any,
    varying: Varying | None,
    x: Any,
    units: Units,
    tuning: Tuning,
    work: Work,
    block: Block,
    sums: Any,
    means: Any,
    variances: Any,
) -> None:
    """Moments of f over draws [first, last) at new points x, shape (n_dims, n_points), sorted by the first coordinate.

    varying : None if the errors are Gaussian with one noise sd
    sums : (3, n_points) Σ mean, Σ mean², Σ variance, added to
    means, variances : (last - first, n_points) written if they have rows
    """
    n_points, length = x.shape[1], len(block.mean)
    for draw in range(first, last):
        if varying is not None:  # seen when compiling: with Gaussian errors of one noise sd this is left out
            weigh_draw(data, draw, noise_z, row_weight, varying)
        prepare_draw(data, hyper, draw, offsets, values, centers, relative, units, tuning, work)
        for start in range(0, n_points, length):
            stop = min(start + length, n_points)
            block_moments(x, start, stop, data.has_bias, units, block)
            for i in range(stop - start):
                sums[0, start + i] += block.mean[i]
                sums[1, start + i] += block.mean[i] * block.mean[i]
                sums[2, start + i] += block.variance[i]
            if means.shape[0] > 0:
                for i in range(stop - start):
                    means[draw - first, start + i] = block.mean[i]
                    variances[draw - first, start + i] = block.variance[i]
