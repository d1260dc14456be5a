"""Pictures against kept references, pixel by pixel with a tolerance.

After a change that is meant, `PORBNET_NEW_REFERENCES=1 python -m pytest tests/unit/test_pictures.py` draws them anew:
look at each before it is committed.
"""

import os
from pathlib import Path

import matplotlib
import numpy as np
import pytest

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from fixed_fit import data, fixed_fit
from matplotlib.testing.compare import compare_images

from porbnet import Prior, plot
from porbnet.comparison import GaussianProcessPrior

REFERENCES = Path(__file__).parent / "references"
# root mean square over pixels of 0 to 255: other versions of matplotlib move text by a pixel (below 5), another picture
# makes 8 and more
TOLERANCE = 6.0


def stated(X):
    return 0.3 + 1.2 / (1.0 + np.exp(-2.5 * X[:, 0]))


PRIOR = Prior(stated, amplitude=2.0, noise=0.1, region=(-5.0, 9.0))
X, Y = data()


def two_priors():
    ax = plot.covariogram(PRIOR, gaps=(0.0, 1.0))
    return plot.covariogram(
        GaussianProcessPrior(1.0, 2.0), gaps=(0.0, 1.0), X=np.linspace(-5, 9, 50), ax=ax, linestyle="--"
    )


PICTURES = {
    "prior_draws": lambda: plot.prior_draws(PRIOR, n=8),
    "prior_variance": lambda: plot.prior_variance(PRIOR, n=500),
    "covariogram": two_priors,
    "upcrossings": lambda: plot.upcrossing_histogram(PRIOR, n=500),
    "prior_lengthscale": lambda: plot.lengthscale(PRIOR),
    "prior_intensity": lambda: plot.intensity(PRIOR),
    "fit": lambda: plot.fit(fixed_fit(), X, Y),
    "width": lambda: plot.width(fixed_fit()),
    "curves": lambda: plot.curves(fixed_fit(), X, Y)[0],
    "lengthscale": lambda: plot.lengthscale(fixed_fit()),
    "intensity": lambda: plot.intensity(fixed_fit()),
    "noise": lambda: plot.noise(fixed_fit()),
    "pit": lambda: plot.pit(fixed_fit(), X, Y, n_bins=6),
    "coverage": lambda: plot.coverage(fixed_fit(), X, Y),
}


@pytest.fixture(autouse=True)
def _plain_style():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("Agg")
        plt.rcParams.update({"font.family": "DejaVu Sans", "text.hinting": "none"})
        yield
    plt.close("all")


def difference(name, draw, folder):
    """Root mean square difference from the reference, or None below the tolerance."""
    ax = draw()
    if name != "curves":
        ax.legend(frameon=False, fontsize=8)
    made = folder / f"{name}.png"
    ax.figure.savefig(made, dpi=60, metadata={"Software": None})
    reference = REFERENCES / f"{name}.png"
    if os.environ.get("PORBNET_NEW_REFERENCES"):
        reference.write_bytes(made.read_bytes())
    assert reference.exists()
    return compare_images(str(reference), str(made), TOLERANCE)


@pytest.mark.parametrize("name", PICTURES)
def test_picture_is_the_kept_one(name, tmp_path):
    assert difference(name, PICTURES[name], tmp_path) is None


@pytest.mark.skipif("PORBNET_NEW_REFERENCES" in os.environ, reason="would overwrite references")
@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("fit", lambda: plot.fit(fixed_fit(), X, Y, coverage=0.5)),
        ("fit", lambda: plot.fit(fixed_fit(), X, Y, color=plot.PALETTE["green"])),
        ("noise", lambda: plot.noise(fixed_fit(), coverage=0.5)),
        ("pit", lambda: plot.pit(fixed_fit(), X, 0.9 * Y, n_bins=6)),
        ("coverage", lambda: plot.coverage(fixed_fit(), X, Y + 0.3)),
        ("prior_draws", lambda: plot.prior_draws(PRIOR, n=8, random_state=1)),
        ("width", lambda: plot.upcrossing_histogram(PRIOR, n=500)),
    ],
)
def test_another_picture_is_seen(name, wrong, tmp_path):
    assert difference(name, wrong, tmp_path) is not None
