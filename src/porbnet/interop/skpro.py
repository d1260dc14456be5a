"""The fit behind skpro's interface of probabilistic regressors: distributions in, distributions out.

`predict_proba` returns the posterior predictive itself, a mixture of one Gaussian per draw (several with Student-t
errors), with its own density, distribution function, quantiles and energies, so that skpro's log loss, CRPS and the
like are those of the model.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.estimators.regressor import PoRBNetRegressor

try:
    import pandas as pd
    from skpro.distributions.normal_mixture import NormalMixture
    from skpro.regression.base import BaseProbaRegressor
except ImportError as error:
    raise ImportError('porbnet.interop.skpro needs skpro: pip install "porbnet[skpro]"') from error

_NODES_PER_SD = 3.0  # of the trapezoidal rule for the energy, by the narrowest component
_FEWEST_NODES, _MOST_NODES = 65, 2049


class PosteriorMixture(NormalMixture):  # type: ignore[misc]
    """skpro's mixture of normals, with an energy that knows the components' means and fast samples.

    Parameters
    ----------
    pi : array of shape (n_rows, n_components)
        Weights of the components.
    mu, sigma : array of shape (n_rows, n_components, 1)
        Means and standard deviations.
    index, columns : pandas.Index

    Examples
    --------
    >>> import numpy as np
    >>> from porbnet.interop.skpro import PosteriorMixture
    >>> mixture = PosteriorMixture(np.ones((1, 2)), np.array([[[0.0], [4.0]]]), np.ones((1, 2, 1)))
    >>> float(mixture.mean().iloc[0, 0])
    2.0
    """

    def _energy_self(self) -> Any:
        """E|X - Y| = 2 ∫ F(1 - F), by the trapezoidal rule, summed over columns."""
        low = (self._mu - 9.0 * self._sigma).min(axis=1)
        high = (self._mu + 9.0 * self._sigma).max(axis=1)
        narrowest = self._sigma.min(axis=1)
        n = int(np.clip(np.max(_NODES_PER_SD * (high - low) / narrowest), _FEWEST_NODES, _MOST_NODES))
        total = np.zeros(low.shape)
        for share in np.linspace(0.0, 1.0, n):
            probability = np.asarray(super()._cdf(low + share * (high - low))).reshape(low.shape)
            total += probability * (1.0 - probability)
        energy = (2.0 * total * (high - low) / (n - 1)).sum(axis=1, keepdims=True)
        return float(energy[0, 0]) if self.ndim == 0 else energy

    def sample(self, n_samples: int | None = None) -> Any:
        """Draws, rows independent of each other, by a generator seeded from NumPy's global state as in all of skpro."""
        rng = np.random.default_rng(np.random.randint(2**31, size=4))  # noqa: NPY002
        n, (rows, components, columns) = n_samples or 1, self._mu.shape
        edges = np.cumsum(self._pi, axis=1)
        edges[:, -1] = 1.0
        draws = np.empty((n, rows, columns))
        for i in range(rows):
            chosen = np.minimum(np.searchsorted(edges[i], rng.random(n), side="right"), components - 1)
            draws[:, i] = self._mu[i, chosen] + self._sigma[i, chosen] * rng.standard_normal((n, columns))
        if self.ndim == 0:
            values = draws.reshape(n, 1)
            return float(values[0, 0]) if n_samples is None else pd.DataFrame(values)
        index = self.index if n_samples is None else pd.MultiIndex.from_product([pd.RangeIndex(n), self.index])
        return pd.DataFrame(draws.reshape(n * rows, columns), index=index, columns=self.columns)

    def _iloc(self, rowidx: Any = None, colidx: Any = None) -> PosteriorMixture:
        return _same_kind(super()._iloc(rowidx, colidx))

    def _iat(self, rowidx: Any = None, colidx: Any = None) -> PosteriorMixture:
        return _same_kind(super()._iat(rowidx, colidx))


def _same_kind(mixture: NormalMixture) -> PosteriorMixture:
    if isinstance(mixture, PosteriorMixture):
        return mixture
    return PosteriorMixture(mixture.pi, mixture.mu, mixture.sigma, mixture.index, mixture.columns)


class PoRBNetProba(BaseProbaRegressor):  # type: ignore[misc]
    """`PoRBNetRegressor` as a probabilistic regressor of skpro.

    Parameters
    ----------
    regressor : PoRBNetRegressor, optional
        What is fitted (a clone of it); `PoRBNetRegressor()` by default. Its parameters are `regressor__noise` and so
        on in grid searches.
    n_components : int, optional
        Draws, evenly spaced, that make up the distribution of `predict_proba`; all by default. Fewer take less memory
        (8 bytes by draws by rows, three times). Means and quantiles asked for directly are of all draws either way.

    Attributes
    ----------
    regressor_ : PoRBNetRegressor
        The fit, with `posterior_`, `diagnostics_` and everything else.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from porbnet import PoRBNetRegressor
    >>> from porbnet.interop.skpro import PoRBNetProba
    >>> X = pd.DataFrame({"x": np.linspace(0.0, 1.0, 40)})
    >>> y = pd.DataFrame({"y": np.sin(6.0 * X["x"])})
    >>> model = PoRBNetRegressor("constant", noise=0.1, n_warmup=500, n_draws=1000, random_state=0)
    >>> law = PoRBNetProba(model).fit(X, y).predict_proba(X)
    >>> bool(np.all(law.quantile([0.05]).to_numpy() < y.to_numpy()))
    True
    """

    _tags = {  # noqa: RUF012
        "capability:multioutput": False,
        "capability:missing": False,
        "capability:survival": False,
        "X_inner_mtype": "pd_DataFrame_Table",
        "y_inner_mtype": "pd_DataFrame_Table",
    }

    def __init__(self, regressor: PoRBNetRegressor | None = None, n_components: int | None = None) -> None:
        self.regressor = regressor
        self.n_components = n_components
        super().__init__()

    def _fit(self, X: Any, y: Any) -> PoRBNetProba:
        if self.n_components is not None:
            _checks.count("n_components", self.n_components)
        if self.regressor is not None and not isinstance(self.regressor, PoRBNetRegressor):
            raise _checks.fail("regressor", self.regressor, "it must be a PoRBNetRegressor or None")
        if self.regressor is not None and self.regressor.outcome != "real":
            raise _checks.fail("regressor", self.regressor, "its outcome must be 'real': skpro has no other law for it")
        regressor = PoRBNetRegressor() if self.regressor is None else clone(self.regressor)
        self.regressor_ = regressor.fit(_numbers(X), y.to_numpy().ravel())
        self._y_columns = y.columns
        return self

    def _predict(self, X: Any) -> Any:
        mean = self.regressor_.predict(_numbers(X))
        return pd.DataFrame(np.asarray(mean), index=X.index, columns=self._y_columns)

    def _predict_var(self, X: Any) -> Any:
        _, sd = self.regressor_.predict(_numbers(X), return_std=True)
        return pd.DataFrame(sd**2, index=X.index, columns=self._y_columns)

    def _predict_quantiles(self, X: Any, alpha: list[float]) -> Any:
        values = self.regressor_.predict_quantiles(_numbers(X), alpha)
        return pd.DataFrame(values, index=X.index, columns=pd.MultiIndex.from_product([self._y_columns, alpha]))

    def _predict_proba(self, X: Any) -> PosteriorMixture:
        points, posterior = _numbers(X), self.regressor_.posterior_
        order, means, sds, weights = [], [], [], None
        for rows, parts in posterior.predictive(points, "y", self.regressor_.n_jobs):
            kept: Any = slice(None)
            if self.n_components is not None and self.n_components < len(parts.mean):
                kept = np.linspace(0, len(parts.mean) - 1, self.n_components).round().astype(int)
            order.append(np.arange(len(points))[rows])
            means.append(parts.mean[kept].T)
            sds.append(np.sqrt(parts.variance[kept]).T)
            weights = None if parts.weights is None else parts.weights[kept]
        back = np.argsort(np.concatenate(order))
        mu, sigma = np.concatenate(means)[back, :, None], np.concatenate(sds)[back, :, None]
        pi = np.ones(mu.shape[1]) if weights is None else weights
        return PosteriorMixture(np.tile(pi, (len(mu), 1)), mu, sigma, index=X.index, columns=self._y_columns)

    @classmethod
    def get_test_params(cls, parameter_set: str = "default") -> list[dict[str, Any]]:
        """Short fits, for skpro's own suite."""
        # ten inputs, of which the suite's data have as many, would take hundreds of units
        short: dict[str, Any] = {"n_chains": 2, "n_warmup": 5, "n_draws": 5, "units_per_lengthscale": 0.4}
        short |= {"n_jobs": 1, "random_state": 0, "progress": False}
        return [
            {"regressor": PoRBNetRegressor(**short)},
            {"regressor": PoRBNetRegressor("constant", noise="robust", **short), "n_components": 7},
        ]


def _numbers(X: Any) -> FloatArray:
    """A frame's values; skpro itself has checked the names of its columns."""
    return np.asarray(X.to_numpy(dtype=np.float64))
