"""Gauss-Legendre quadrature on boxes: nodes and weights, and integrals refined until they settle."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region
from porbnet.errors import PorbnetWarning

_NODES_PER_PANEL = 8
_MOST_NODES = 4_000_000


def grid_points(region: Region, per_dim: int) -> FloatArray:
    """All points of a regular grid that includes the edges, shape (per_dim ** n_dims, n_dims)."""
    axes = [np.linspace(lo, hi, per_dim) for lo, hi in region.bounds]
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)


@functools.cache
def _legendre() -> tuple[FloatArray, FloatArray]:
    """The rule on [-1, 1] that every panel has."""
    nodes, weights = np.polynomial.legendre.leggauss(_NODES_PER_PANEL)
    return nodes, weights


def panel_rule(low: float, high: float, n_panels: int, breaks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Composite rule on an interval; every break starts a new panel."""
    inner = breaks[(breaks > low) & (breaks < high)]
    edges = np.unique(np.concatenate([np.linspace(low, high, n_panels + 1), inner]))
    nodes, weights = _legendre()
    half = 0.5 * np.diff(edges)[:, None]
    middle = 0.5 * (edges[1:] + edges[:-1])[:, None]
    return (middle + half * nodes).ravel(), (half * weights).ravel()


def box_rule(
    region: Region, n_panels: Sequence[int], breaks: Sequence[FloatArray] | None = None
) -> tuple[FloatArray, FloatArray]:
    """Tensor rule on a box: nodes of shape (n_nodes, n_dims) and weights of shape (n_nodes,)."""
    parts = [
        panel_rule(lo, hi, n, np.empty(0) if breaks is None else breaks[d])
        for d, ((lo, hi), n) in enumerate(zip(region.bounds, n_panels, strict=True))
    ]
    nodes = np.stack([a.ravel() for a in np.meshgrid(*(p[0] for p in parts), indexing="ij")], axis=1)
    weights = parts[0][1]
    for _, w in parts[1:]:
        weights = np.multiply.outer(weights, w).ravel()
    return nodes, weights


def integrate(function: Callable[[FloatArray], FloatArray], region: Region, tolerance: float = 1e-9) -> float:
    """Integral of a vectorised function over a box, with panels doubled until two results agree."""
    n_panels, previous = 8 if region.n_dims == 1 else 2, np.nan
    while True:
        nodes, weights = box_rule(region, [n_panels] * region.n_dims)
        result = float(weights @ function(nodes))
        if abs(result - previous) <= tolerance * abs(result):
            return result
        if (2 * n_panels * _NODES_PER_PANEL) ** region.n_dims > _MOST_NODES:
            warnings.warn(
                f"quadrature settled only to {abs(result / previous - 1.0):.1e} (relative): "
                "the function has jumps or kinks; state it as Piecewise if it has",
                PorbnetWarning,
                stacklevel=3,
            )
            return result
        n_panels, previous = 2 * n_panels, result
