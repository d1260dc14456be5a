"""A known intensity from outside the package, in one file: λ(x) = low + (high - low) (x - a) / (b - a) on [a, b]."""

import numpy as np

from porbnet.base.region import Region
from porbnet.intensity import Intensity, Units


class Ramp(Intensity):
    """A straight line from `low` at the left end of the region to `high` at the right one; one input."""

    def __init__(self, low, high):
        self.low, self.high = float(low), float(high)
        self._box = None

    def on(self, region):
        region.require_dims(1, "Ramp")
        prepared = Ramp(self.low, self.high)
        prepared._box = region
        return prepared

    def value(self, X):
        x = np.asarray(X, dtype=float).reshape(len(X), -1)[:, 0]
        return self.low + (self.high - self.low) * (x - self._box.low[0]) / self._box.widths[0]

    def gradient(self, X):
        return np.full((len(X), 1), (self.high - self.low) / self._box.widths[0])

    def integral(self, region):
        return 0.5 * (self.low + self.high) * Region.of(region).volume

    def upper_bound(self, region):
        return max(self.low, self.high)

    def sample_units(self, region, n, rng):
        counts = rng.poisson(self.upper_bound(region) * region.volume, size=n)
        which = np.repeat(np.arange(n), counts)
        X = region.uniform(len(which), rng)
        levels = self.value(X)
        kept = rng.random(len(X)) * self.upper_bound(region) < levels
        return Units(np.bincount(which[kept], minlength=n), X[kept], levels[kept])

    def __repr__(self):
        return f"Ramp({self.low!r}, {self.high!r})"
