"""Is a statement sensible for these inputs? Each problem is one sentence that says what to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from porbnet.base.checks import FloatArray

if TYPE_CHECKING:
    from porbnet.statement.prior import Prior

_KEPT_VARIANCE = 0.9  # of amplitude² that the region's edge may cost before we say so
_MARGIN = 1.5  # lengthscales between data and edge that keep the amplitude to within a percent
_MOST_LOOKED_AT = 500


def statement_problems(prior: Prior, X: FloatArray) -> list[str]:
    """Sentences on the region, the lengthscale against the spacing, and the lengthscale against the range."""
    if len(X) == 0:
        return []
    step = max(1, len(X) // _MOST_LOOKED_AT)
    some = np.concatenate([X[np.argsort(X[:, 0], kind="stable")[::step]], X[X.argmin(axis=0)], X[X.argmax(axis=0)]])
    lengthscales = prior.lengthscale_at(some, per_dimension=True)
    return [*_edge(prior, X, some, lengthscales), *_spacing(prior, X, lengthscales), *_range(X, lengthscales)]


def _edge(prior: Prior, X: FloatArray, some: FloatArray, lengthscales: FloatArray) -> list[str]:
    margin = _MARGIN * lengthscales.max(axis=0)
    wanted = [[float(f"{a:.4g}"), float(f"{b:.4g}")] for a, b in zip(X.min(0) - margin, X.max(0) + margin, strict=True)]
    example = wanted[0] if len(wanted) == 1 else wanted
    advice = f"use a region that reaches {_MARGIN:g} lengthscales beyond them, such as {example}"
    outside = ~prior.region.contains(X)
    if outside.any():
        return [f"{int(outside.sum())} of {len(X)} inputs lie outside the region: {advice}"]
    kept = prior.kept_variance(some)
    # a varying lengthscale moves the variance by itself; only the edge is meant here
    near = np.any((some - prior.region.low < margin) | (prior.region.high - some < margin), axis=1)
    if near.any() and kept[near].min() < _KEPT_VARIANCE:
        return [
            f"the region ends so close to the inputs that the prior variance at the edge is {kept[near].min():.0%} of "
            f"amplitude²: {advice}"
        ]
    return []


def _spacing(prior: Prior, X: FloatArray, lengthscales: FloatArray) -> list[str]:
    from scipy.spatial import cKDTree  # slow to import

    unique = np.unique(X / prior.anisotropy, axis=0)
    if len(unique) < 3:
        return []
    nearest = cKDTree(unique).query(unique, k=2)[0][:, 1]
    spacing = float(np.median(nearest))
    typical = float(np.median(lengthscales / prior.anisotropy))
    if typical < spacing:
        return [
            f"the lengthscale (typically {typical:.3g}) is below the spacing of the inputs (typically {spacing:.3g}): "
            "neighbouring observations say nothing about each other; raise the lengthscale or learn it"
        ]
    return []


def _range(X: FloatArray, lengthscales: FloatArray) -> list[str]:
    ranges = np.ptp(X, axis=0)
    problems = []
    for d in range(X.shape[1]):
        shortest = float(lengthscales[:, d].min())
        if ranges[d] > 0 and shortest > ranges[d]:
            where = "" if X.shape[1] == 1 else f" along dimension {d}"
            problems.append(
                f"the lengthscale ({shortest:.3g}){where} is beyond the range of the inputs ({ranges[d]:.3g}): "
                "f is all but constant there; lower the lengthscale or learn it"
            )
    return problems
