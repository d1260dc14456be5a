"""The problems that all models see: rows to fit and rows to test, by name and split.

Three groups: `real` (data sets of the package, random 75/25 splits of `porbnet.paper.protocol`), `rough` (functions of
one input from smooth to broken, 200 rows to fit) and `rows` (one function, from 100 to 1,000,000 rows to fit).
Made-up functions have uniform inputs, noise of a seventh of the function's sd unless said otherwise, and 500 rows to
test. Everything is scaled by the rows to fit: inputs to [0, 1], outputs centered and divided by their largest absolute
deviation.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from porbnet.paper import protocol

Array = NDArray[np.float64]
N_TEST = 500
N_ROUGH = 200
NOISE = 1.0 / 7.0  # of the function's sd
_POSITIONS = np.array([0.1, 0.13, 0.15, 0.23, 0.25, 0.40, 0.44, 0.65, 0.76, 0.78, 0.81])
_STEPS = np.array([4.0, -5.0, 3.0, -4.0, 5.0, -4.2, 2.1, 4.3, -3.1, 2.1, -4.2])
_HEIGHTS = np.array([4.0, 5.0, 3.0, 4.0, 5.0, 4.2, 2.1, 4.3, 3.1, 5.1, 4.2])
_WIDTHS = np.array([0.005, 0.005, 0.006, 0.01, 0.01, 0.03, 0.01, 0.01, 0.005, 0.008, 0.005])


def sine(x: Array) -> Array:
    """Three periods."""
    return np.sin(6.0 * np.pi * x[:, 0])


def chirp(x: Array) -> Array:
    """A sine that gets ever quicker: sin 40x²."""
    return np.sin(40.0 * x[:, 0] ** 2)


def doppler(x: Array) -> Array:
    """The Doppler function of Donoho and Johnstone (1994): infinitely quick at 0."""
    u = x[:, 0]
    return np.sqrt(u * (1.0 - u)) * np.sin(2.1 * np.pi / (u + 0.05))


def blocks(x: Array) -> Array:
    """Their blocks: eleven steps."""
    return np.sum(_STEPS * (x >= _POSITIONS), axis=1)


def bumps(x: Array) -> Array:
    """Their bumps: eleven narrow peaks on a flat ground."""
    return np.sum(_HEIGHTS * (1.0 + np.abs((x - _POSITIONS) / _WIDTHS)) ** -4.0, axis=1)


def chirp2d(x: Array) -> Array:
    """0.1 (sin b x1 + sin b x2), b = π (2 x1 + x2 / 2 + 1), with the square [-0.5, 1]² made [0, 1]²."""
    u = 1.5 * x - 0.5
    b = np.pi * (2.0 * u[:, 0] + 0.5 * u[:, 1] + 1.0)
    return 0.1 * (np.sin(b * u[:, 0]) + np.sin(b * u[:, 1]))


@dataclass(frozen=True)
class Made:
    """A made-up problem: a function, rows to fit, the noise over the input as a share of the function's sd."""

    function: Callable[[Array], Array] | None  # None: a draw of a Gaussian process
    n: int = N_ROUGH
    n_dims: int = 1
    noise: Callable[[Array], Array] = lambda x: np.full(len(x), NOISE)


def _fanning(x: Array) -> Array:
    return 0.05 + 0.75 * x[:, 0]


ROUGH: dict[str, Made] = {
    "gp": Made(None),
    "sine": Made(sine),
    "fanning": Made(sine, noise=_fanning),
    "chirp": Made(chirp),
    "doppler": Made(doppler),
    "bumps": Made(bumps),
    "blocks": Made(blocks),
}
SIZES = (100, 1_000, 10_000, 100_000, 1_000_000)
ROWS: dict[str, Made] = {f"doppler-{n}": Made(doppler, n) for n in SIZES}
ROWS |= {f"chirp2d-{n}": Made(chirp2d, n, 2) for n in (1_000, 10_000)}
REAL = ("motorcycle133", "vix2018", "heartrate", "exp2d", "chirp2d")
GROUPS: dict[str, tuple[str, ...]] = {"real": REAL, "rough": tuple(ROUGH), "rows": tuple(ROWS)}
NAMES: tuple[str, ...] = tuple(name for names in GROUPS.values() for name in names)
ABOUT: dict[str, str] = {
    "motorcycle133": "motorcycle accidents: flat, then a deep dip; the noise grows too",
    "vix2018": "the VIX of 2018: calm, and jumps",
    "heartrate": "heart rate with ectopic beats: smooth stretches, sudden spikes",
    "exp2d": "surface, busy in one corner",
    "chirp2d": "surface, ripples that shrink",
    "gp": "a draw of a Gaussian process, lengthscale 0.1: the same everywhere",
    "sine": "three periods of a sine",
    "fanning": "the same, noise from 0.05 to 0.8 of the function's sd",
    "chirp": "sin 40x²",
    "doppler": "the Doppler function: infinitely quick at the left end",
    "bumps": "eleven narrow peaks on a flat ground",
    "blocks": "eleven steps",
} | {name: f"{name.split('-')[0]}, {made.n:,} rows" for name, made in ROWS.items()}


def n_dims(name: str) -> int:
    """Number of inputs of a problem."""
    made = {**ROUGH, **ROWS}.get(name)
    return made.n_dims if made is not None else 2 if name.endswith("2d") else 1


def n_rows(name: str) -> int | None:
    """Rows to fit of a made-up problem."""
    made = {**ROUGH, **ROWS}.get(name)
    return made.n if made is not None else None


def load(name: str, split: int) -> protocol.Split:
    """Split 1, 2, ... of a problem; of made-up ones each split is a data set of its own.

    "vix2018" raises ImportError where the package arch is missing.
    """
    if name in REAL:
        return protocol.split(*protocol.load(name), split)
    made = {**ROUGH, **ROWS}[name]
    rng = np.random.default_rng([zlib.crc32(name.encode()), split])
    X = rng.random((made.n + N_TEST, made.n_dims))
    f = made.function(X) if made.function is not None else gp_draw(X, 0.1, rng)
    y = f + f.std() * made.noise(X) * rng.standard_normal(len(X))
    return scaled(X[: made.n], y[: made.n], X[made.n :], y[made.n :])


def gp_draw(X: Array, lengthscale: float, rng: np.random.Generator) -> Array:
    """A draw of a Gaussian process of sd 1 at points, squared-exponential covariance."""
    values, vectors = np.linalg.eigh(np.exp(-0.5 * (np.subtract.outer(X[:, 0], X[:, 0]) / lengthscale) ** 2))
    return np.asarray(vectors @ (np.sqrt(np.maximum(values, 0.0)) * rng.standard_normal(len(X))))


def scaled(X: Array, y: Array, X_test: Array, y_test: Array) -> protocol.Split:
    """In the protocol's scale: that of the rows to fit."""
    low, high = X.min(axis=0), X.max(axis=0)
    center = y.mean()
    scale = np.abs(y - center).max()
    return protocol.Split(
        (X - low) / (high - low), (y - center) / scale, (X_test - low) / (high - low), (y_test - center) / scale
    )
