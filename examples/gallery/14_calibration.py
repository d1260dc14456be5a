"""
Do the probabilities hold?
==========================

On observations that the fit has not seen: how often do intervals hold them, and is the whole predictive law right?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor, plot, scoring

rng = np.random.default_rng(0)
x = rng.uniform(0.0, 10.0, 600)
y = np.sin(x * np.where(x < 5.0, 3.0, 0.8)) + (0.1 + 0.04 * x) * rng.standard_normal(600)
X, new_X, y, new_y = x[:200, None], x[200:, None], y[:200], y[200:]

# %%
# The noise grows along the input. One noise sd for all (left) against a curve (right):

figure, axes = plt.subplots(2, 2, figsize=(7.2, 5.4))
for column, noise in zip(axes.T, ("learned", "varying"), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first is told that its noise is not constant
        model = PoRBNetRegressor(noise=noise, n_draws=400, random_state=0).fit(X, y)
    plot.pit(model, new_X, new_y, ax=column[0])
    plot.coverage(model, new_X, new_y, ax=column[1])
    column[0].set_title(f"noise={noise!r}")
    print(
        f"{noise:8}: log density {scoring.log_density(model, new_X, new_y):.3f}, 90 % intervals hold",
        f"{scoring.interval_coverage(model, new_X, new_y):.1%}",
    )
plt.show()

# %%
# On the whole, intervals of either hold about what they say. What one noise sd gets wrong is where: intervals are too
# wide on the left and too narrow on the right, and the log density tells which of the two laws is better.
