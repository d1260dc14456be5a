"""
Noise that changes
==================

``noise="varying"`` learns the noise as a curve over the input, beside the function and the lengthscale.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor, datasets, plot
from porbnet.errors import NoiseWarning

data = datasets.load_motorcycle()
model = PoRBNetRegressor(noise="varying", random_state=1).fit(data.X, data.y)
plot.curves(model, data.X, data.y)
plt.show()

# %%
# Before the impact there is next to no noise, and the intervals say so. How much better is that than one noise sd?
# Leave-one-out, from the fits themselves, in log density over all 133 observations:

with warnings.catch_warnings():
    warnings.simplefilter("ignore", NoiseWarning)  # it would say what this page is about
    constant = PoRBNetRegressor(random_state=1).fit(data.X, data.y)
gain = model.posterior_.loo().pointwise - constant.posterior_.loo().pointwise
print(f"better by {gain.sum():.0f} ± {np.sqrt(len(gain)) * gain.std():.0f}")

# %%
# ``noise="auto"`` compares one noise sd, heavy tails and a curve in this way, and takes the simplest that will do.
