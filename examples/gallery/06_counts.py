"""
Counts
======

Visits per hour, from shifts of different lengths: counts with exposures, and whole numbers as predictions.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetCountRegressor
from porbnet.errors import ConvergenceWarning

rng = np.random.default_rng(0)
hour = np.sort(rng.uniform(0.0, 24.0, 160))
rate = 2.0 + 9.0 * np.exp(-0.5 * ((hour - 8.5) / 0.8) ** 2) + 5.0 * np.exp(-0.5 * ((hour - 17.5) / 2.0) ** 2)
length = rng.uniform(0.25, 2.0, 160)  # of a shift, in hours
visits = rng.poisson(rate * length)

# %%
# The size of the negative binomial is learned; as these counts are Poisson, it is found to be large. Two chains of 300
# draws, for a quick page.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = PoRBNetCountRegressor(n_chains=2, n_draws=300, random_state=0).fit(hour[:, None], visits, exposure=length)

grid = np.linspace(0.0, 24.0, 240)[:, None]
mean = model.predict(grid, of="rate")
low, high = model.predict_interval(grid, coverage=0.9, of="rate").T
figure, ax = plt.subplots()
ax.plot(hour, visits / length, ".", color="0.6", label="visits per hour of each shift")
ax.fill_between(grid[:, 0], low, high, alpha=0.35, linewidth=0)
ax.plot(grid[:, 0], mean, label="rate, with 90 % interval")
ax.plot(hour, rate, "k--", linewidth=1, label="truth")
ax.set(xlabel="hour of the day", ylabel="visits per hour")
ax.legend()
plt.show()

# %%
# How many visits a shift of four hours may bring if it were all like half past eight, or like midnight:

for at in (8.5, 0.5):
    few, many = model.predict_quantiles([[at]], [0.05, 0.95], exposure=4.0)[0]
    print(f"at {at:4.1f} h: between {few:.0f} and {many:.0f} visits in four hours")
