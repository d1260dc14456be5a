"""
Beside a Gaussian process
=========================

A function that is quick in one place and slow in another, and a Gaussian process with one lengthscale for all of it.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from porbnet import PoRBNetRegressor
from porbnet.errors import ConvergenceWarning

rng = np.random.default_rng(2)


def truth(x):
    """A doppler: quicker and quicker towards the left."""
    return np.sqrt(x * (1.0 - x)) * np.sin(2.1 * np.pi / (x + 0.12))


x = np.sort(rng.uniform(size=150))
y = truth(x) + 0.05 * rng.standard_normal(150)
grid = np.linspace(0.0, 1.0, 500)

# %%
# Two chains of 200 draws, shorter than they should be in earnest, for a quick page.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = PoRBNetRegressor(n_chains=2, n_draws=200, random_state=0).fit(x[:, None], y)
kernel = ConstantKernel(0.1) * RBF(0.1, (1e-3, 10.0)) + WhiteKernel(0.01)
process = GaussianProcessRegressor(kernel, normalize_y=True, n_restarts_optimizer=1, random_state=0).fit(x[:, None], y)

# %%
# Where the function is slow, the Gaussian process is as nervous as it must be where it is quick: its band is
# wider there.

figure, axes = plt.subplots(3, 1, sharex=True, figsize=(6.4, 6.0), height_ratios=(2, 2, 1))
mean, sd = model.predict(grid[:, None], return_std=True, of="f")
gp_mean, gp_sd = process.predict(grid[:, None], return_std=True)
gp_noise = np.sqrt(process.kernel_.k2.noise_level) * y.std()
gp_sd = np.sqrt(np.maximum(gp_sd**2 - gp_noise**2, 0.0))
for ax, m, s, name in ((axes[0], mean, sd, "PoRB-NET"), (axes[1], gp_mean, gp_sd, "Gaussian process")):
    ax.plot(x, y, ".", color="0.6", markersize=3)
    ax.fill_between(grid, m - 2 * s, m + 2 * s, alpha=0.35, linewidth=0)
    ax.plot(grid, m, linewidth=1)
    error = np.sqrt(np.mean((m - truth(grid)) ** 2))
    right = np.mean(s[grid > 0.5])
    ax.set_title(f"{name}: off by {error:.3f}; sd of f on the right half {right:.3f}")
band = model.lengthscale_at(grid[:, None])
axes[2].semilogy(grid, band.mean)
axes[2].fill_between(grid, band.lower, band.upper, alpha=0.35, linewidth=0)
axes[2].axhline(process.kernel_.k1.k2.length_scale, color="black", linestyle="--", linewidth=1)
axes[2].set(ylabel="lengthscale", xlabel="x")
plt.show()
