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
from matplotlib.ticker import NullFormatter

from porbnet import Prior, plot
from porbnet.comparison import GaussianProcessPrior

REFERENCES = Path(__file__).parent / "references"
TOLERANCE = 3.0  # root mean square over pixels of 0 to 255


def stated(X):
    return 0.3 + 1.2 / (1.0 + np.exp(-2.5 * X[:, 0]))


PRIOR = Prior(stated, amplitude=2.0, noise=0.1, region=(-5.0, 9.0))
X, Y = data()


def two_priors(ax):
    plot.covariogram(PRIOR, gaps=(0.0, 1.0), ax=ax)
    other = GaussianProcessPrior(1.0, 2.0)
    return plot.covariogram(other, gaps=(0.0, 1.0), X=np.linspace(-5, 9, 50), ax=ax, linestyle="--")


def curves(ax):
    ax.axis("off")
    parts = [ax.inset_axes([0.0, low, 1.0, 0.28]) for low in (0.7, 0.35, 0.0)]
    return plot.curves(fixed_fit(), X, Y, parts)


PICTURES = {
    "prior_draws": lambda ax: plot.prior_draws(PRIOR, n=8, ax=ax),
    "prior_variance": lambda ax: plot.prior_variance(PRIOR, n=500, ax=ax),
    "covariogram": two_priors,
    "upcrossings": lambda ax: plot.upcrossing_histogram(PRIOR, n=500, ax=ax),
    "prior_lengthscale": lambda ax: plot.lengthscale(PRIOR, ax=ax),
    "prior_intensity": lambda ax: plot.intensity(PRIOR, ax=ax),
    "fit": lambda ax: plot.fit(fixed_fit(), X, Y, ax),
    "width": lambda ax: plot.width(fixed_fit(), ax),
    "curves": curves,
    "lengthscale": lambda ax: plot.lengthscale(fixed_fit(), ax=ax),
    "intensity": lambda ax: plot.intensity(fixed_fit(), ax=ax),
    "noise": lambda ax: plot.noise(fixed_fit(), ax=ax),
    "pit": lambda ax: plot.pit(fixed_fit(), X, Y, ax, n_bins=6),
    "coverage": lambda ax: plot.coverage(fixed_fit(), X, Y, ax),
}


@pytest.fixture(autouse=True)
def _plain_style():
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.use("Agg")
        yield
    plt.close("all")


def difference(name, draw, folder):
    """What is wrong with a picture, or None if it is the kept one; text, set differently by versions, is left out."""
    figure = plt.figure(figsize=(4.8, 3.0))
    for ax in np.ravel(draw(figure.add_axes((0.05, 0.05, 0.9, 0.9)))):
        ax.set(xlabel="", ylabel="")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter(NullFormatter())
            axis.set_minor_formatter(NullFormatter())
    made = folder / f"{name}.png"
    figure.savefig(made, dpi=60, metadata={"Software": None})
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
        ("fit", lambda ax: plot.fit(fixed_fit(), X, Y, coverage=0.5, ax=ax)),
        ("fit", lambda ax: plot.fit(fixed_fit(), X, Y, color=plot.PALETTE["green"], ax=ax)),
        ("noise", lambda ax: plot.noise(fixed_fit(), coverage=0.5, ax=ax)),
        ("pit", lambda ax: plot.pit(fixed_fit(), X, 0.9 * Y, n_bins=6, ax=ax)),
        ("coverage", lambda ax: plot.coverage(fixed_fit(), X, Y + 0.3, ax=ax)),
        ("prior_draws", lambda ax: plot.prior_draws(PRIOR, n=8, random_state=1, ax=ax)),
        ("width", lambda ax: plot.upcrossing_histogram(PRIOR, n=500, ax=ax)),
    ],
)
def test_another_picture_is_seen(name, wrong, tmp_path):
    assert difference(name, wrong, tmp_path) is not None
