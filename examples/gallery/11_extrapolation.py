"""
Beyond the data
===============

What a fit says where there are no data is what its prior says. ``trend="linear"`` puts a straight line into it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor
from porbnet.errors import PorbnetWarning

warnings.simplefilter("ignore", PorbnetWarning)  # once per fit it is told that predictions go beyond the data

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0.0, 10.0, 60))
y = 0.5 * x + np.sin(x) + 0.2 * rng.standard_normal(60)
grid = np.linspace(-4.0, 20.0, 300)[:, None]

figure, axes = plt.subplots(1, 2, sharey=True, figsize=(7.6, 3.4))
for ax, trend in zip(axes, (None, "linear"), strict=True):
    model = PoRBNetRegressor("constant", trend=trend, random_state=0).fit(x[:, None], y)
    mean, sd = model.predict(grid, return_std=True, of="f")
    low, high = model.predict_interval(grid, coverage=0.9, of="f").T
    ax.axvspan(0.0, 10.0, color="0.95")
    ax.plot(x, y, ".", color="0.5")
    ax.fill_between(grid[:, 0], low, high, alpha=0.35, linewidth=0)
    ax.plot(grid[:, 0], mean)
    ax.set(title=f"trend={trend!r}", xlabel="x")
    print(f"trend={trend!r}: at x = 20, f is {mean[-1]:.1f} ± {sd[-1]:.1f}")
plt.show()

# %%
# Without a trend the mean goes back to that of the data within a lengthscale or two, and the interval to the full
# amplitude: "somewhere in the range of what was seen". With one, the line goes on, and it shows how uncertain its slope
# is. A line is a strong claim; it is yours to make.
