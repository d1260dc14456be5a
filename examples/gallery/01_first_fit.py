"""
A first fit
===========

Acceleration of a dummy's head in 133 simulated motorcycle accidents: nothing happens, then a great deal, then little.
"""

# %%
# Nothing has to be chosen. Lengthscale, noise, amplitude and the number of units are all unknown, and learned.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor, datasets, plot
from porbnet.errors import NoiseWarning

data = datasets.load_motorcycle()
with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoiseWarning)  # the summary has it too
    model = PoRBNetRegressor(random_state=0).fit(data.X, data.y)
print(model.summary())

# %%
# The dark band holds the function with a probability of 90 %, the light one a new observation. The short strokes at
# the bottom are units of the network: they crowd where the function is quick.

ax = plot.fit(model, data.X, data.y)
ax.set(xlabel="time (ms)", ylabel="acceleration (g)", title="Motorcycle accidents")
plt.show()

# %%
# What the fit says at a place, in numbers:

at = np.array([[20.0]])
mean, sd = model.predict(at, return_std=True)
low, high = model.predict_interval(at, coverage=0.9)[0]
print(f"an observation at 20 ms: {mean[0]:.0f} ± {sd[0]:.0f} g, between {low:.0f} and {high:.0f} with 90 %")

# %%
# The light band is too wide before 15 ms, where hardly any noise is seen: :doc:`04_heteroscedastic` does better.
