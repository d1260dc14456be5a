"""
A million rows
==============

With Gaussian errors, few weighted rows stand for many, to many digits: a million rows cost about what a thousand do.
"""

import time

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetRegressor

rng = np.random.default_rng(0)
seconds, widths = [], []
sizes = (1_000, 30_000, 1_000_000)
for n in sizes:
    x = rng.uniform(0.0, 10.0, n)
    y = np.sin(0.6 * x) + 0.5 * rng.standard_normal(n)
    began = time.process_time()
    model = PoRBNetRegressor(random_state=0).fit(x[:, None], y)
    seconds.append(time.process_time() - began)
    low, high = model.predict_interval([[5.0]], coverage=0.9, of="f")[0]
    widths.append(high - low)

# %%
# Intervals of the function shrink as one over the root of the rows, as they should; CPU seconds hardly grow. (They are
# those of the machine on which this site was built.)

figure, axes = plt.subplots(1, 2, figsize=(7.6, 3.2))
axes[0].loglog(sizes, seconds, "o-")
axes[0].set(xlabel="rows", ylabel="CPU seconds", ylim=(0.1, 100.0), title="a fit")
axes[1].loglog(sizes, widths, "o-", label="fits")
axes[1].loglog(sizes, widths[0] * np.sqrt(sizes[0] / np.array(sizes)), "k--", linewidth=1, label="one over the root")
axes[1].set(xlabel="rows", title="width of a 90 % interval of f(5)")
axes[1].legend()
plt.show()

# %%
low, high = model.predict_interval([[5.0]], coverage=0.9, of="f")[0]
print(f"f(5) lies between {low:.4f} and {high:.4f}; the truth is {np.sin(3.0):.4f}")
