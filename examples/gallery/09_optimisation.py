"""
Bayesian optimisation with gradients
====================================

Find the least value of a costly function: Thompson sampling with functions drawn from the posterior, each taken
downhill by its own gradient.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from porbnet import PoRBNetRegressor
from porbnet.errors import PorbnetWarning

warnings.simplefilter("ignore", PorbnetWarning)  # chains are short: a rough posterior will do to choose where to look


def costly(x):
    """Quick on the left, slow on the right (Xiong and others, 2007)."""
    return np.sin(30.0 * (x - 0.9) ** 4) * np.cos(2.0 * (x - 0.9)) + 0.5 * (x - 0.9)


def least_place(function):
    """The best of a grid, then downhill by the exact gradient of the drawn network."""
    grid = np.linspace(0.0, 1.0, 200)[:, None]
    start = grid[np.argmin(function(grid))]
    found = minimize(
        lambda x: float(function(x[None])[0]),
        start,
        jac=lambda x: function.gradient(x[None])[0],
        bounds=[(0.0, 1.0)],
        method="L-BFGS-B",
    )
    return found.x[0]


rng = np.random.default_rng(0)
x = rng.uniform(size=6)
y = costly(x)
for _ in range(4):
    model = PoRBNetRegressor(noise=0.02, n_chains=2, n_warmup=300, n_draws=100, random_state=rng).fit(x[:, None], y)
    functions = model.sample_functions(3, random_state=rng)
    tried = np.array([least_place(f) for f in functions])
    x, y = np.append(x, tried), np.append(y, costly(tried))

# %%
# The last posterior with the three functions drawn from it, and their minima, which are evaluated next.

grid = np.linspace(0.0, 1.0, 400)
figure, ax = plt.subplots()
ax.plot(grid, costly(grid), "k--", linewidth=1, label="the costly function")
for n, f in enumerate(functions):
    line = ax.plot(grid, f(grid[:, None]), linewidth=1, label=f"drawn function {n + 1}")[0]
    ax.plot(tried[n], f(tried[n][None, None])[0], "v", color=line.get_color())
ax.plot(x[:-3], y[:-3], "o", color="black", markersize=4, label="evaluations")
ax.set(xlabel="x", ylabel="cost")
ax.legend(fontsize=8)
plt.show()

# %%
best = costly(np.linspace(0.0, 1.0, 100_001)).min()
print(f"after {len(y)} evaluations the least is {y.min():.3f}; the least there is: {best:.3f}")
