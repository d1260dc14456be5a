"""
Do the probabilities hold?
==========================

On observations that the fit has not seen: how often do intervals hold them, and is the whole predictive law right?
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor, plot, scoring

rng = np.random.default_rng(1)
x = rng.uniform(0.0, 10.0, 1200)
y = np.sin(np.where(x < 5.0, 3.0 * x, 15.0 + 0.8 * (x - 5.0))) + (0.05 + 0.06 * x) * rng.standard_normal(1200)
X, new_X, y, new_y = x[:200, None], x[200:, None], y[:200], y[200:]

# %%
# The noise grows along the input. One noise sd for all (left) against a curve (right), each fitted to 200 rows and held
# against 1,000 others. Two chains of 200 draws, for a quick page.

figure, axes = plt.subplots(2, 2, figsize=(7.2, 5.4))
for column, noise in zip(axes.T, ("learned", "varying"), strict=True):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the first is told that its noise is not constant
        model = PoRBNetRegressor(noise=noise, n_chains=2, n_draws=200, random_state=0).fit(X, y)
    plot.pit(model, new_X, new_y, ax=column[0])
    plot.coverage(model, new_X, new_y, ax=column[1])
    column[0].set_title(f"noise={noise!r}")
    print(
        f"{noise:8}: log density {scoring.log_density(model, new_X, new_y):.3f}, 90 % intervals hold",
        f"{scoring.interval_coverage(model, new_X, new_y):.1%}",
    )
plt.show()

# %%
# Where the line follows the diagonal, stated probabilities hold. With one noise sd, intervals are too wide on the left
# of the data and too narrow on the right: too much lies in the middle of the law, and too much far outside of it. The
# log density tells the same in one number. How far a line strays from the diagonal by luck, the grey bands say; that
# noise and function were learned from 200 rows comes on top.
