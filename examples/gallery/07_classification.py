"""
Yes or no
=========

Probabilities of a class over the input, with the uncertainty of the probability itself.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from porbnet import PoRBNetClassifier
from porbnet.errors import ConvergenceWarning

rng = np.random.default_rng(1)
dose = np.sort(rng.uniform(0.0, 10.0, 200))
truth = 1.0 / (1.0 + np.exp(-np.where(dose < 3.0, 6.0 * np.sin(3.0 * dose) - 1.0, 0.6 * (dose - 6.0))))
answer = np.where(rng.random(200) < truth, "yes", "no")

# %%
# Two chains of 300 draws, for a quick page.

with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)
    model = PoRBNetClassifier(n_chains=2, n_draws=300, random_state=0).fit(dose[:, None], answer)

grid = np.linspace(0.0, 10.0, 300)[:, None]
probability = model.predict_proba(grid)[:, 1]
low, high = model.predict_interval(grid, coverage=0.9)[:, 1].T
figure, ax = plt.subplots()
ax.plot(dose, np.where(answer == "yes", 1.03, -0.03), "|", color="0.4")
ax.fill_between(grid[:, 0], low, high, alpha=0.35, linewidth=0)
ax.plot(grid[:, 0], probability, label='probability of "yes", with 90 % interval')
ax.plot(dose, truth, "k--", linewidth=1, label="truth")
ax.set(xlabel="dose", ylabel="probability", ylim=(-0.08, 1.25))
ax.legend(loc="upper right")
plt.show()

# %%
print(
    "right in",
    f"{np.mean(model.predict(dose[:, None]) == answer):.0%}",
    "of the rows; the true probabilities would be in",
    end=" ",
)
print(f"{np.mean((truth > 0.5) == (answer == 'yes')):.0%}")
