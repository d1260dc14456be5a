"""Compile ahead of time: `warmup` runs small fits so that every kernel is on disk before it is needed."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from porbnet.estimators.regressor import PoRBNetRegressor
from porbnet.likelihood import registered

PARTS: dict[str, dict[str, Any]] = {
    "one noise sd": {},
    **{f'noise="{kind.word}"': {"noise": kind.word} for kind in registered().values() if kind.word},
    "the paper's sampler": {"sampler": "paper", "lengthscale": "constant"},
}


def warmup() -> Iterator[tuple[str, float]]:
    """Compile what a fit of each kind needs, a part at a time: pairs of its name and the CPU seconds it took.

    What is on disk already takes next to nothing.

    Examples
    --------
    >>> from porbnet.estimators.warmup import warmup
    >>> [name for name, seconds in warmup()][0]
    'one noise sd'
    """
    x = np.linspace(0.0, 1.0, 12)[:, None]
    y = np.sin(6.0 * x[:, 0]) + 0.1 * np.cos(40.0 * x[:, 0])
    for name, stated in PARTS.items():
        began = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such a fit says nothing
            warnings.filterwarnings("always", "compiled code cannot be kept")  # in vain, then
            model = PoRBNetRegressor(
                **stated, n_chains=1, n_warmup=2, n_draws=2, thin=1, n_jobs=1, random_state=0, progress=False
            ).fit(x, y)
        model.predict(x, return_std=True)
        model.sample_functions(1).gradient(x)
        yield name, time.process_time() - began
