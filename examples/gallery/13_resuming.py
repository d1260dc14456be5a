"""
Killed, and resumed
===================

A fit with a checkpoint goes on after its process was killed, and ends with the draws it would have had anyway.
"""

# %%
# Another process fits, and is killed without warning when its first checkpoint is on disk.

import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import porbnet
from porbnet import PoRBNetRegressor, datasets
from porbnet.errors import NoiseWarning

folder = Path(tempfile.mkdtemp())
program = f"""
from porbnet import PoRBNetRegressor, datasets
data = datasets.load_motorcycle()
PoRBNetRegressor("constant", n_draws=1500, random_state=0, checkpoint={str(folder / "running")!r},
                 checkpoint_seconds=0.2, progress=False).fit(data.X, data.y)
"""
process = subprocess.Popen([sys.executable, "-c", program])
while not list(folder.glob("running/chain*-state.npz")) and process.poll() is None:
    time.sleep(0.01)
process.kill()
print("the process ended with code", process.wait())

# %%
# It goes on from there, here. The same fit, left alone, has the same draws to the last bit.

warnings.simplefilter("ignore", NoiseWarning)  # one noise sd is not what these data ask for, but quick
resumed = porbnet.resume(folder / "running")
data = datasets.load_motorcycle()
alone = PoRBNetRegressor("constant", n_draws=1500, random_state=0).fit(data.X, data.y)
print("the same widths:", np.array_equal(resumed.posterior_.n_units, alone.posterior_.n_units))
print("the same noise: ", np.array_equal(resumed.posterior_.noise, alone.posterior_.noise))

# %%
figure, ax = plt.subplots(figsize=(6.4, 3.2))
for n, chain in enumerate(resumed.posterior_.by_chain(resumed.posterior_.noise)):
    ax.plot(chain, linewidth=0.3, label=f"chain {n + 1}")
ax.set(xlabel="draw", ylabel="noise sd (g)", title="Four chains, begun by one process and finished by another")
plt.show()
