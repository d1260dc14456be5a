"""
Many series
===========

A fit for every series of a table, one table of results, and small pictures with the worst first.
"""

import tempfile

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import porbnet

rng = np.random.default_rng(0)
rows = []
for n, name in enumerate(["anna", "ben", "cleo", "dora", "emil", "fritz"]):
    t = np.sort(rng.uniform(0.0, 12.0, 50))
    y = 70.0 + 8.0 * np.sin((0.6 + 0.4 * n) * t) + 3.0 * rng.standard_normal(50)
    rows.append(pd.DataFrame({"patient": name, "hour": t, "rate": y}))
table = pd.concat(rows, ignore_index=True)
table.loc[(table["patient"] == "emil") & (table.index % 50 == 7), "rate"] = np.nan  # a monitor that slipped

# %%
# Short chains, two of 200 draws, for a quick page. In earnest leave these arguments out.

folder = tempfile.TemporaryDirectory()
fits = porbnet.fit_many(
    table,
    by="patient",
    x="hour",
    y="rate",
    out=folder.name + "/fits",
    n_jobs=1,
    lengthscale="constant",
    n_chains=2,
    n_warmup=200,
    n_draws=200,
    random_state=0,
)
columns = ["patient", "n", "lengthscale", "noise"]
print(fits.table[columns].round(2).to_string(index=False))

# %%
# A series that cannot be fitted costs that series alone, and its reason is kept.

print(fits.failures[["patient", "reason"]].to_string(index=False))
fits.plot(n=4)
plt.show()

# %%
new = fits.predict({"patient": ["dora", "anna"], "hour": [6.0, 6.0]})
print(new.round(1).to_string(index=False))
folder.cleanup()
