"""
Stating a prior
===============

What do you know before the data? Say it in the units of the data, look at the functions it means, and change it until
they are the ones you meant.
"""

# %%
# A reaction: within the first minute things happen in seconds, later in minutes. The signal moves by about 2 units, and
# starts anywhere between -1 and 1 or so.

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import Prior, plot


def lengthscale(X):
    """Ten seconds at first, two minutes later."""
    return 10.0 + 110.0 / (1.0 + np.exp(-(X[:, 0] - 90.0) / 25.0))


prior = Prior(lengthscale=lengthscale, amplitude=2.0, bias=1.0, noise=0.1, region=(-60.0, 800.0))
seconds = np.linspace(0.0, 600.0, 400)

figure, (above, below) = plt.subplots(2, 1, sharex=True, height_ratios=(2, 1), figsize=(6.4, 4.6))
plot.prior_draws(prior, seconds, n=15, ax=above, random_state=4)
above.set(xlabel="", ylabel="signal", title="Functions drawn from the prior")
plot.lengthscale(prior, seconds, ax=below)
below.set(xlabel="seconds", ylabel="lengthscale (s)")
plt.show()

# %%
# The same in numbers. How often should the signal cross its mean, upwards, in the first minute, and in the last five?

print(f"{prior.upcrossings((0.0, 60.0)):.2f} and {prior.upcrossings((300.0, 600.0)):.2f} times in expectation")
print("sd of f at 0, 60, 120 and 600 s:", np.sqrt(prior.variance([0.0, 60.0, 120.0, 600.0])).round(2))
print(f"{prior.expected_units:.0f} units in expectation")

# %%
# Does the statement go with the inputs of a measurement? One every 30 s is too few for what was said of the first
# minute, and the advice says so.

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    for advice in Prior(10.0, amplitude=2.0, noise=0.1, region=(-60.0, 800.0)).check(np.arange(0.0, 601.0, 30.0)):
        print(advice)
