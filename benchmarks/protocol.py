"""Data and measures of a comparison: the splits, the scaling and the scores that the figures of others come from.

Split s of n rows: numpy.random.seed(s), then int(0.75 n) rows by numpy.random.choice without replacement are for
training. Inputs are scaled to [0, 1] along each dimension and outputs centered and divided by their largest absolute
deviation, both by the training part. LLH is the mean log predictive density of y in that scale.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porbnet import datasets

Array = NDArray[np.float64]

DATASETS = ("motorcycle94", "motorcycle133", "vix2018", "heartrate", "exp2d", "chirp2d")


def load(name: str) -> tuple[Array, Array]:
    """Inputs of shape (n, n_dims) and outputs of shape (n,) of a data set; "vix2018" needs the package arch."""
    found = {
        "motorcycle94": lambda: datasets.load_motorcycle("94"),
        "motorcycle133": lambda: datasets.load_motorcycle("133"),
        "vix2018": datasets.load_vix,
        "heartrate": datasets.load_heartrate,
        "exp2d": datasets.load_exp2d,
        "chirp2d": datasets.load_chirp2d,
    }[name]()
    return found.X, found.y


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows in the protocol's scale."""

    X: Array
    y: Array
    X_test: Array
    y_test: Array


def split(X: Array, y: Array, seed: int) -> Split:
    """Split `seed` of the data, scaled by its training part."""
    np.random.seed(seed)  # noqa: NPY002 (the published splits come from the old generator)
    train = np.random.choice(len(y), int(0.75 * len(y)), replace=False)  # noqa: NPY002
    test = np.setdiff1d(np.arange(len(y)), train)
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    center = y[train].mean()
    scale = np.abs(y[train] - center).max()
    inputs, outputs = (X - low) / (high - low), (y - center) / scale
    return Split(inputs[train], outputs[train], inputs[test], outputs[test])


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
