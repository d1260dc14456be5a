"""The protocol of the paper's tables: data sets, splits, scaling.

Split s of n rows: numpy.random.seed(s), then int(0.75 n) rows by numpy.random.choice without replacement are for
training. Inputs are scaled to [0, 1] along each dimension and outputs centered and divided by their largest absolute
deviation, both by the training part. LLH is the mean log predictive density of y in that scale.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from porbnet import datasets
from porbnet.base.checks import FloatArray

LOADERS: dict[str, Callable[[], datasets.Dataset]] = {
    "motorcycle94": lambda: datasets.load_motorcycle("94"),
    "motorcycle133": lambda: datasets.load_motorcycle("133"),
    "vix2018": datasets.load_vix,
    "heartrate": datasets.load_heartrate,
    "exp2d": datasets.load_exp2d,
    "chirp2d": datasets.load_chirp2d,
}


def load(name: str) -> tuple[FloatArray, FloatArray]:
    """Inputs of shape (n, n_dims) and outputs of shape (n,) of a data set; "vix2018" needs the package arch."""
    found = LOADERS[name]()
    return found.X, found.y


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows in the protocol's scale."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray


def split(X: FloatArray, y: FloatArray, seed: int) -> Split:
    """Split `seed` of the data, scaled by its training part."""
    rng = np.random.RandomState(seed)  # the published splits come from the old generator
    train = rng.choice(len(y), int(0.75 * len(y)), replace=False)
    test = np.setdiff1d(np.arange(len(y)), train)
    low, high = X[train].min(axis=0), X[train].max(axis=0)
    center = y[train].mean()
    scale = np.abs(y[train] - center).max()
    inputs, outputs = (X - low) / (high - low), (y - center) / scale
    return Split(inputs[train], outputs[train], inputs[test], outputs[test])
