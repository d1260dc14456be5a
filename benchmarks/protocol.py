"""Data and measures of a comparison: the splits, the scaling and the scores that the figures of others come from.

The splits and the scaling are those of `porbnet.paper.protocol`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from porbnet.paper.protocol import LOADERS, Split, load, split

Array = NDArray[np.float64]

DATASETS = tuple(LOADERS)

__all__ = ["DATASETS", "Split", "covered", "crps_of_normal", "crps_of_samples", "load", "split"]


def crps_of_samples(y: Array, samples: Array) -> Array:
    """Continuous ranked probability score of each y, shape (n,), from samples of shape (n, n_samples).

    With samples in order, CRPS = 2/m² Σ_i (x_i - y) (m 1[y < x_i] - i + ½): the exact score of the samples' own
    distribution.
    """
    x = np.sort(samples, axis=1)
    m = x.shape[1]
    rank = np.arange(1, m + 1)
    return np.asarray(2.0 / m**2 * ((x - y[:, None]) * (m * (y[:, None] < x) - rank + 0.5)).sum(axis=1))


def crps_of_normal(y: Array, mean: Array, sd: Array) -> Array:
    """The same of a normal distribution, in closed form."""
    from scipy.stats import norm

    z = (y - mean) / sd
    return np.asarray(sd * (z * (2.0 * norm.cdf(z) - 1.0) + 2.0 * norm.pdf(z) - 1.0 / np.sqrt(np.pi)))


def covered(y: Array, interval: Array) -> float:
    """Share of y within intervals of shape (n, 2)."""
    return float(np.mean((y >= interval[:, 0]) & (y <= interval[:, 1])))
