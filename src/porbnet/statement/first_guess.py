"""A first guess of lengthscale and noise: what a Gaussian process with a single lengthscale makes of the data.

How smooth data are cannot be read off their range: a year of daily prices and a dose-response curve may have the same
one. The place of a default prior is therefore a posterior expectation under a Gaussian process with the
squared-exponential kernel and noise, on inputs scaled to their ranges. Its lengthscale and noise lie on a grid, its
amplitude is the most likely one, and its lengthscale is log-normal a priori, so that a few observations, or constant
ones, lead to what it says. The expectation is of 1 / lengthscale, to which the intensity is proportional.

With K the kernel matrix, and row n counting c_n times, y ~ N(0, s² (K + r diag(1/c))). Let e_i be the eigenvalues of
diag(√c) K diag(√c), z the projections of √c y on its eigenvectors, and N = Σ c_n. Up to constants

    log p = -½ Σ_i log(e_i + r) - ½ Σ_n (c_n - 1) log r - ½ N log Σ_i z_i² / (e_i + r)   at the most likely s².

Of more rows than `MOST_ROWS` a few samples of that size are taken as independent: of neighbours, which tell about short
lengthscales, of rows from all over the place, which tell about long ones, and of something in between. Of more than
`MOST_LOOKED_AT` every so-manieth in order of inputs and output is looked at, whatever order they came in.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray

SHARE, FACTOR = 0.2, 3.0  # of a lengthscale over range and √D a priori: inverse of the mean inverse, factor
SHARES = np.geomspace(0.004, 2.0, 26)
RATIOS = np.geomspace(1e-6, 1e2, 20)  # noise variance over that of the function
MOST_ROWS, N_SAMPLES = 200, 3
MOST_LOOKED_AT = 20_000  # rows: of more, neighbours would lie closer than any lengthscale


class Guess(NamedTuple):
    """A first guess, rounded, so that it does not hang on the last bits.

    share : lengthscale over range and √D, one for all inputs
    ratio : noise variance over that of the function (the geometric mean)
    """

    share: float
    ratio: float


def lengthscale_share(X: FloatArray, y: FloatArray, counts: FloatArray | None = None) -> float:
    """The lengthscale of `guess`.

    Examples
    --------
    >>> x = np.linspace(0.0, 1.0, 100)[:, None]
    >>> lengthscale_share(x, np.sin(40.0 * x[:, 0]))
    0.048
    """
    return guess(X, y, counts).share


def guess(X: FloatArray, y: FloatArray, counts: FloatArray | None = None) -> Guess:
    """The guess.

    X : shape (n_points, n_dims), inputs scaled to [0, 1]
    y : shape (n_points,), outputs less their mean
    counts : shape (n_points,), how often each row counts, 1 by default
    """
    from threadpoolctl import threadpool_limits

    X, y, counts = _distinct(*looked_at(X, y, counts))
    with threadpool_limits(1, "blas"):  # matrices are small, and threads that wait for each other keep cores busy
        return _guess(X, y, counts)


def _guess(X: FloatArray, y: FloatArray, counts: FloatArray) -> Guess:
    """The same, of different rows."""
    logs = np.zeros((len(SHARES), len(RATIOS)))
    squares = np.zeros_like(logs)
    total = 0.0
    for rows in samples(X):
        total += counts[rows].sum()
        logs += (counts[rows].sum() - len(rows)) * np.log(RATIOS)
        for i, share in enumerate(SHARES * math.sqrt(X.shape[1])):
            values, projections = _spectrum(X[rows] / share, y[rows], np.sqrt(counts[rows]))
            spread = values + RATIOS[:, None]
            logs[i] += np.log(spread).sum(axis=1)
            squares[i] += (projections**2 / spread).sum(axis=1)
    sd = math.log(FACTOR)
    log_p = -0.5 * ((np.log(SHARES / SHARE)[:, None] - 0.5 * sd**2) / sd) ** 2  # 1 / mean of 1 / lengthscale: SHARE
    ratio, told = 1.0, squares.min() > 0.0  # or the outputs are constant
    if told:
        log_p = log_p - 0.5 * logs - 0.5 * total * np.log(squares)
    weights = np.exp(log_p - log_p.max())
    share = 1.0 / np.average(1.0 / SHARES, weights=weights.sum(axis=1))
    if told:
        ratio = math.exp(np.average(np.log(RATIOS), weights=weights.sum(axis=0)))
    return Guess(float(f"{share:.2g}"), float(f"{ratio:.2g}"))


def looked_at(
    X: FloatArray, y: FloatArray, counts: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    """All rows, or `MOST_LOOKED_AT` of them, evenly spaced in order of inputs and output."""
    if len(X) <= MOST_LOOKED_AT:
        return X, y, counts
    places = np.linspace(0, len(X) - 1, MOST_LOOKED_AT).round().astype(np.int64)
    x = X[:, 0]
    if not np.all((x[1:] > x[:-1]) | ((x[1:] == x[:-1]) & (y[1:] >= y[:-1]))) or X.shape[1] > 1:
        places = np.lexsort((*([] if counts is None else [counts]), y, *X.T[::-1]))[places]
    return X[places], y[places], None if counts is None else counts[places]


def _distinct(X: FloatArray, y: FloatArray, counts: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Different rows and how often each counts: a row that is there twice is one that counts twice."""
    rows, place = np.unique(np.column_stack([X, y]), axis=0, return_inverse=True)
    often = np.bincount(place.ravel(), counts, minlength=len(rows))
    kept = often > 0
    return rows[kept, :-1], rows[kept, -1], often[kept].astype(np.float64)


def _spectrum(x: FloatArray, y: FloatArray, root: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues of the kernel matrix of inputs in lengthscales, rows and columns times `root`; y along its axes."""
    squares = np.einsum("ij,ij->i", x, x)
    kernel = np.exp(np.minimum(x @ x.T - 0.5 * (squares[:, None] + squares), 0.0))
    values, vectors = np.linalg.eigh(kernel * root[:, None] * root)
    return np.maximum(values, 0.0), vectors.T @ (root * y)


def samples(X: FloatArray) -> list[NDArray[np.int64]]:
    """Rows of each sample: all, or `MOST_ROWS` of them, evenly spaced in stretches of neighbours of growing length."""
    order = neighbours(X)
    n = len(order)
    if n <= MOST_ROWS:
        return [order]
    lengths = np.geomspace(MOST_ROWS, n, N_SAMPLES)
    starts = np.linspace(0.0, 1.0, N_SAMPLES) * (n - lengths)
    return [
        order[np.linspace(start, start + length - 1.0, MOST_ROWS).round().astype(int)]
        for start, length in zip(starts, lengths, strict=True)
    ]


def neighbours(X: FloatArray) -> NDArray[np.int64]:
    """Rows in an order in which near ones follow each other: cut at the median of the input they are widest in."""
    done: list[NDArray[np.int64]] = []
    waiting = [np.arange(len(X))]
    while waiting:
        rows = waiting.pop()
        widest = int(np.argmax(np.ptp(X[rows], axis=0)))
        rows = rows[np.argsort(X[rows, widest], kind="stable")]
        if len(rows) <= MOST_ROWS // 8 or X.shape[1] == 1:
            done.append(rows)
        else:
            waiting += [rows[len(rows) // 2 :], rows[: len(rows) // 2]]
    return np.concatenate(done)
