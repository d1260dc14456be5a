"""
A surface
=========

Two inputs: the mean, its uncertainty and the lengthscale as maps.
"""

# %%
# The surface :func:`porbnet.datasets.load_exp2d` has one bump in a corner and is flat elsewhere.
# Two chains of 150 draws, shorter than they should be in earnest, keep this page quick.

import warnings

import matplotlib.pyplot as plt

from porbnet import PoRBNetRegressor, datasets, plot
from porbnet.errors import PorbnetWarning

data = datasets.load_exp2d()
print(data.description)
with warnings.catch_warnings():
    warnings.simplefilter("ignore", PorbnetWarning)
    model = PoRBNetRegressor(n_chains=2, n_warmup=300, n_draws=150, random_state=0).fit(data.X, data.y)

plot.maps(model, data.X, data.y)
plt.show()

# %%
# Short lengthscales lie where the bump is. Elsewhere the data leave it open, and it is what the prior says.

here, there = model.lengthscale_at([[0.0, 0.0], [4.0, 4.0]]).mean
print(f"posterior mean of the lengthscale near the bump {here:.2f}, far from it {there:.2f}")
