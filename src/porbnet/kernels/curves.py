"""Gaussian processes as the kernels take them, from `porbnet.functions.grid_gp`."""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.scaling import Scaling
from porbnet.functions.grid_gp import EXPONENTIAL, LENGTHSCALE_STEP, GridGP
from porbnet.kernels.state import MOST_HELD_AROUND, Curve


def empty_curve() -> Curve:
    """No curve."""
    none, counts, wide = np.zeros(0), np.zeros(0, dtype=np.int64), np.zeros((2, 0))
    ranks, window = np.zeros((1, 0), dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    return Curve(
        z=none, table=none.copy(), bases=none.copy(), ranks=ranks, sizes=counts, area=none.copy(),
        spreads=wide[:1].copy(), log_sd=0.0, step=1.0, mean=0.0, sd=1.0,
        correlations=none.copy(), buffers=wide, trial_z=none.copy(), trial_table=none.copy(), flat=none.copy(),
        axes=wide.copy(), tables=wide.copy(), window=window, sums=none.copy(),
    )  # fmt: skip


def curve_record(process: GridGP, scaling: Scaling, expands: bool = True) -> Curve:
    """A Gaussian process at knots with all coefficients zero.

    expands : whether it has the bases that `process.expand` needs
    """
    bases = [
        (b * math.sqrt(process.variance) if d == 0 else b).T.ravel()
        for row in (process.bases if expands else [])
        for d, b in enumerate(row)
    ]
    area = np.ones(1)
    for width, size in zip(process.region.widths / scaling.divisor, process.shape, strict=True):
        weights = np.full(size, width / (size - 1))
        weights[[0, -1]] *= 0.5
        area = np.multiply.outer(area, weights).ravel()
    # largest tensor on the way from coefficients to knots
    room, sizes = process.n_whitened, list(process.coefficient_shape)
    for d, size in enumerate(process.shape):
        sizes[d] = size
        room = max(room, math.prod(sizes))
    n_z, n_knots, n_dims = process.n_whitened, math.prod(process.shape), len(process.shape)
    return Curve(
        z=np.zeros(n_z),
        table=np.zeros(n_knots),
        bases=np.concatenate([*bases, np.empty(0)]),
        ranks=_ranks(process),
        sizes=np.array(process.shape, dtype=np.int64),
        area=area,
        spreads=np.ascontiguousarray(process.spreads()) if process.n_unknown else np.zeros((1, 0)),
        log_sd=0.5 * process.variance_log_sd,
        step=LENGTHSCALE_STEP,
        mean=process.mean,
        sd=math.sqrt(process.variance),
        correlations=_correlations(process),
        buffers=np.zeros((2, room)),
        trial_z=np.zeros(n_z),
        trial_table=np.zeros(n_knots),
        flat=_flat(process) if expands else np.zeros(0),
        axes=np.zeros((2 + MOST_HELD_AROUND, n_z)),
        tables=np.zeros((2, n_knots)),
        window=np.zeros((n_dims, 2), dtype=np.int64),
        sums=np.zeros(n_knots),
    )


def _ranks(process: GridGP) -> NDArray[np.int64]:
    """Coefficients per lengthscale and dimension."""
    if process.kernel == EXPONENTIAL:
        return np.array([process.coefficient_shape] * len(process.lengthscales), dtype=np.int64)
    return np.array([[b.shape[1] for b in row] for row in process.bases], dtype=np.int64)


def _correlations(process: GridGP) -> FloatArray:
    if process.kernel != EXPONENTIAL:
        return np.zeros(0)
    median = process.lengthscales[len(process.lengthscales) // 2]
    return np.array([process.correlation(d, float(length)) for d, length in enumerate(median)])


def _flat(process: GridGP) -> FloatArray:
    """Coefficients of the curve that is nearest to one everywhere: a product of those along each dimension."""
    if process.n_unknown:
        return np.zeros(process.n_whitened)
    along = [np.linalg.lstsq(b, np.ones(len(b)), rcond=1e-6)[0] for b in process.bases[0]]
    whole = functools.reduce(np.multiply.outer, along)
    return np.asarray(whole / math.sqrt(process.variance)).ravel()
