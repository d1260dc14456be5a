"""Moments of f from the drawn functions themselves, where weights given a draw's units are not Gaussian."""

from __future__ import annotations

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.functions.network import Networks
from porbnet.posterior.cells import slices
from porbnet.posterior.function_moments import FunctionMoments

_SOME_DRAWS = 256


class DrawnMoments(FunctionMoments):
    """As `FunctionMoments`, each draw's f being what was drawn, without a spread of its own."""

    def _drawn(self, places: FloatArray) -> FloatArray:
        """Functions at places, shape (n_draws, n_places)."""
        draws = self.draws
        networks = Networks(
            draws.offsets, draws.centers, self._scales(), draws.weights, draws.biases, np.ones(places.shape[1])
        )
        parts = [networks[some](places) for some in slices(len(networks), _SOME_DRAWS)]
        return np.concatenate(parts)

    def _sums(self, places: FloatArray, n_jobs: int | None, keep: tuple[FloatArray, FloatArray] | None) -> FloatArray:
        f = self._drawn(places)
        if keep is not None:
            keep[0][:], keep[1][:] = f, 0.0
        return np.stack([f.sum(axis=0), np.sum(f * f, axis=0), np.zeros(len(places))])

    def covariance(self, u: FloatArray) -> FloatArray:
        """Covariance of f between points, shape (n_points, n_points)."""
        f = self._drawn(u)
        centered = f - f.mean(axis=0)
        return np.asarray(centered.T @ centered / len(f))
