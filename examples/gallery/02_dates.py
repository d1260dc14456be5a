"""
A time series with dates
========================

Dates are inputs like any other; the lengthscale is then in days, and the picture has a calendar.
"""

# %%
# A made-up water level of two years: calm in summer, with floods in spring that rise within days. Two days of three are
# missing, which needs no care.

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from porbnet import PoRBNetRegressor
from porbnet.errors import ConvergenceWarning

rng = np.random.default_rng(0)
day = np.sort(rng.choice(730, 250, replace=False))
level = 1.2 + 0.4 * np.cos(2 * np.pi * (day - 30) / 365)
for peak in (85, 97, 452, 470):
    level += 1.3 * np.exp(-0.5 * ((day - peak) / 4.0) ** 2)
frame = pd.DataFrame({"date": np.datetime64("2024-01-01") + day})
y = level + 0.08 * rng.standard_normal(len(day))

# %%
# Two chains of 200 draws are shorter than they should be in earnest, to keep this page quick; leave these arguments out
# then.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = PoRBNetRegressor(n_chains=2, n_draws=200, random_state=0).fit(frame, y)
print(model.dates_[0].words)

# %%
# Predictions take dates in any form. The lengthscale falls to a few days where the floods are.

when = pd.DataFrame({"date": pd.date_range("2024-01-01", "2025-12-30", freq="2D")})
mean = model.predict(when)
low, high = model.predict_interval(when, coverage=0.9).T
lengthscale = model.lengthscale_at(when)

figure, (above, below) = plt.subplots(2, 1, sharex=True, height_ratios=(2, 1), figsize=(6.4, 4.6))
above.plot(frame["date"], y, ".", color="0.5", markersize=3)
above.fill_between(when["date"], low, high, alpha=0.3, linewidth=0)
above.plot(when["date"], mean)
above.set(ylabel="level (m)", title="Water level, with 90 % intervals")
below.semilogy(when["date"], lengthscale.mean)
below.fill_between(when["date"], lengthscale.lower, lengthscale.upper, alpha=0.3, linewidth=0)
below.set(ylabel="lengthscale (days)")
figure.autofmt_xdate()
plt.show()

# %%
flood, summer = model.lengthscale_at(pd.DataFrame({"date": pd.to_datetime(["2024-03-28", "2024-08-15"])})).mean
print(f"lengthscale at the end of March: {flood:.0f} days; in August: {summer:.0f} days")
