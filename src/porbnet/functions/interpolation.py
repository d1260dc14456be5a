"""Multilinear interpolation between the knots of a regular grid on a box."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.region import Region


def locate(shape: tuple[int, ...], region: Region, X: FloatArray) -> tuple[Any, FloatArray]:
    """Cell of the grid that each point lies in, and its place within the cell as fractions."""
    cells_per_dim = np.array(shape) - 1
    position = np.clip((X - region.low) / region.widths, 0.0, 1.0) * cells_per_dim
    cells = np.minimum(position.astype(np.int64), cells_per_dim - 1)
    return cells, position - cells


def interpolation_weights(shape: tuple[int, ...], region: Region, X: FloatArray) -> tuple[Any, FloatArray]:
    """Flat indices of the knots around each point and their shares, shape (n_points, 2 ** n_dims) each."""
    cells, fraction = locate(shape, region, X)
    indices, shares = [], []
    for corner in itertools.product((0, 1), repeat=region.n_dims):
        indices.append(np.ravel_multi_index(tuple((cells + np.array(corner)).T), shape))
        shares.append(np.prod(np.where(np.array(corner) == 1, fraction, 1.0 - fraction), axis=1))
    return np.stack(indices, axis=1).astype(np.int64), np.stack(shares, axis=1)
