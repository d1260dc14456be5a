"""
Outliers
========

``noise="robust"`` has Student-t errors, whose heavy tails let single readings be wrong without bending the function.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor
from porbnet.errors import NoiseWarning

rng = np.random.default_rng(3)
x = np.sort(rng.uniform(0.0, 10.0, 90))
truth = np.sin(x) + 0.3 * x
y = truth + 0.15 * rng.standard_normal(90)
wrong = rng.choice(90, 8, replace=False)
y[wrong] += rng.choice([-1.0, 1.0], 8) * rng.uniform(2.0, 5.0, 8)

# %%
# Chains of 400 draws, for a quick page. The fit with Gaussian errors warns that its residuals do not look like it; that
# is silenced here, as both are shown side by side.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoiseWarning)
    plain = PoRBNetRegressor(n_draws=400, random_state=0).fit(x[:, None], y)
robust = PoRBNetRegressor(noise="robust", n_draws=400, random_state=0).fit(x[:, None], y)

# %%
grid = np.linspace(0.0, 10.0, 300)[:, None]
figure, axes = plt.subplots(1, 2, sharey=True, figsize=(7.6, 3.4))
for ax, model, title in ((axes[0], plain, "Gaussian errors"), (axes[1], robust, 'noise="robust"')):
    low, high = model.predict_interval(grid, coverage=0.9, of="f").T
    ax.plot(x, y, ".", color="0.5")
    ax.fill_between(grid[:, 0], low, high, alpha=0.35, linewidth=0)
    ax.plot(grid[:, 0], model.predict(grid), label="fit")
    ax.plot(x, truth, "k--", linewidth=1, label="truth")
    error = np.sqrt(np.mean((model.predict(x[:, None]) - truth) ** 2))
    ax.set_title(f"{title}: off by {error:.2f}")
axes[0].legend()
plt.show()

# %%
freedom = np.median(robust.posterior_.parameter("freedom"))
print(f"degrees of freedom, posterior median: {freedom:.1f}")
