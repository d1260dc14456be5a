"""Scores of whole predictive laws, as scorers for scikit-learn: `GridSearchCV(model, grid, scoring=log_density)`.

| name | of held-out observations | best |
|---|---|---|
| `log_density` | mean log predictive density | high |
| `neg_crps` | minus the mean continuous ranked probability score, in the units of the output | high |
| `neg_interval_score` | minus the mean interval score (width, and a fine for misses) of 90 % intervals | high |
| `interval_coverage` | share inside the 90 % intervals | 0.9 |

Higher is better, as scikit-learn wants it, and as its own names say (`neg_...`); coverage is to be looked at, not
maximised. scikit-learn keeps its own names in a private table, so that a name alone is not enough: `SCORERS` maps names
to scorers, and `scorers("log_density", "neg_crps")` picks some, which is what `scoring=` takes for several.

Examples
--------
>>> import numpy as np
>>> from sklearn.model_selection import GridSearchCV
>>> from porbnet import PoRBNetRegressor, scoring
>>> rng = np.random.default_rng(0)
>>> x = np.linspace(0, 1, 40)[:, None]
>>> y = np.sin(6 * x[:, 0]) + 0.1 * rng.standard_normal(40)
>>> model = PoRBNetRegressor(n_chains=1, n_warmup=50, n_draws=50, random_state=0)
>>> import warnings
>>> with warnings.catch_warnings():
...     warnings.simplefilter("ignore")  # the chains are too short
...     named = scoring.scorers("log_density", "neg_crps")
...     search = GridSearchCV(model, {"lengthscale": [0.3, 30.0]}, cv=2, scoring=named, refit="neg_crps").fit(x, y)
>>> search.best_params_
{'lengthscale': 0.3}
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from porbnet.base import checks as _checks
from porbnet.scoring.scorers import IntervalCoverage, IntervalScore, Scorer, log_density, neg_crps

__all__ = [
    "SCORERS",
    "IntervalCoverage",
    "IntervalScore",
    "interval_coverage",
    "log_density",
    "neg_crps",
    "neg_interval_score",
    "scorers",
]

interval_coverage = IntervalCoverage(0.9)
neg_interval_score = IntervalScore(0.9)

SCORERS: Mapping[str, Scorer] = MappingProxyType(
    {
        "log_density": log_density,
        "neg_crps": neg_crps,
        "neg_interval_score": neg_interval_score,
        "interval_coverage": interval_coverage,
    }
)


def scorers(*names: str) -> dict[str, Scorer]:
    """Scorers by name, all of them if none is named, for `scoring=` of scikit-learn.

    Parameters
    ----------
    *names : str
        Of `SCORERS`.

    Returns
    -------
    dict
        From names to scorers; results are then called `mean_test_log_density` and so on, and `refit` takes a name.
    """
    return {name: SCORERS[_checks.choice("names", name, tuple(SCORERS))] for name in names or SCORERS}
