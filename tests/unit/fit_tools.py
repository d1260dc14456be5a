"""Small data sets and short fits that several test files share."""

import functools
import warnings

import numpy as np

from porbnet import PoRBNetRegressor
from porbnet.errors import ConvergenceWarning

SHORT = {"n_chains": 2, "n_warmup": 60, "n_draws": 60, "n_jobs": 1, "random_state": 0, "progress": False}


def wave(n=40, n_dims=1, seed=3):
    """Noisy sine of the first input, unsorted; inputs uniform on [0, 1]."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, n_dims))
    return X, 10.0 + 3.0 * np.sin(7.0 * X[:, 0]) + 0.3 * rng.standard_normal(n)


def quiet_fit(X, y, sample_weight=None, **parameters):
    """A short fit, its convergence aside."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return PoRBNetRegressor(**(SHORT | parameters)).fit(X, y, sample_weight)


@functools.cache
def model(lengthscale="constant", n_dims=1):
    """One fit per session and kind."""
    X, y = wave(n_dims=n_dims)
    return quiet_fit(X, y, lengthscale=lengthscale)


def same_draws(a, b):
    """Whether two fits have bit-identical draws."""
    first, second = a.posterior_.draws, b.posterior_.draws
    return all(np.array_equal(getattr(first, name), getattr(second, name)) for name in vars(first))
