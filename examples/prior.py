"""A prior stated from Python, in words and a picture: `python examples/prior.py --out demo`."""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

from porbnet import Prior, plot

HERE, THERE = 0.3, 1.5
SHOWN = (-4.0, 6.0)


def lengthscale(X: np.ndarray) -> np.ndarray:
    """0.3 on the left, 1.5 on the right, with a smooth change at zero."""
    return HERE + (THERE - HERE) / (1.0 + np.exp(-2.5 * X[:, 0]))


def state_prior() -> Prior:
    """Amplitude 2, lengthscale 0.3 here and 1.5 there, noise 0.1."""
    return Prior(lengthscale=lengthscale, amplitude=2.0, noise=0.1, region=(-5.0, 9.0))


def describe(prior: Prior) -> str:
    """The prior in a few lines of text."""
    places = np.array([-3.0, 0.0, 4.0])
    ell, sd = prior.lengthscale_at(places), np.sqrt(prior.variance(places))
    rows = [f"    {x:6.1f} {a:12.2f} {b:10.2f}" for x, a, b in zip(places, ell, sd, strict=True)]
    left, right = (prior.upcrossings(ends) / 2.0 for ends in ((-4.0, -2.0), (4.0, 6.0)))
    between = np.sqrt(prior.variance(np.linspace(*SHOWN, 600)))
    low, high = prior.region.bounds[0]
    return "\n".join(
        [
            f"The statement: amplitude {prior.amplitude:g}, lengthscale {HERE:g} on the left and {THERE:g} on the "
            f"right, noise {prior.noise:g}.",
            f"The network:   {prior.expected_units:.0f} units in expectation on [{low:g}, {high:g}].",
            "What it means:",
            "",
            "         x  lengthscale    sd of f",
            *rows,
            "",
            f"    sd of f over the picture: {between.min():.2f} to {between.max():.2f} "
            "(it moves where the lengthscale changes)",
            f"    zero upcrossings per unit of x: {left:.2f} on the left, {right:.2f} on the right",
        ]
    )


def picture(prior: Prior, path: Path, dpi: int = 150) -> None:
    """Draws, lengthscale and covariance of the prior, one above the other."""
    style = {
        "font.size": 9,
        "axes.labelsize": 9,
        "axes.titlesize": 9,
        "axes.titlelocation": "left",
        "legend.frameon": False,
        "legend.fontsize": 8,
    }
    with plt.rc_context(style):
        figure, axes = plt.subplots(
            3, 1, figsize=(6.4, 6.2), sharex=True, height_ratios=(2.2, 0.9, 1.5), layout="constrained"
        )
        X = np.linspace(*SHOWN, 600)
        plot.prior_draws(prior, X, n=40, random_state=0, ax=axes[0], color=plot.PALETTE["sky"])
        bold = prior.sample(X, 3, random_state=0)
        for values, color in zip(bold, ("vermillion", "black", "blue"), strict=True):
            axes[0].plot(X, values, color=plot.PALETTE[color], linewidth=1.5)
        axes[0].set_title("Draws from the prior: quick on the left, slow on the right, as tall on both sides")
        axes[0].set_ylim(-8.5, 8.5)
        axes[0].legend(loc="upper right", ncols=2)
        plot.lengthscale(prior, X, ax=axes[1])
        axes[1].set_yticks([0.0, HERE, THERE])
        axes[1].set_title("The lengthscale that was stated")
        plot.covariogram(prior, (0.0, 0.3, 0.6, 1.5), X, ax=axes[2])
        axes[2].set_title("Covariance of two values a gap h apart, around x")
        axes[2].set_ylabel("covariance")
        axes[2].legend(loc="lower right", ncols=4)
        for ax in axes:
            ax.set_xlabel("")
        axes[-1].set_xlabel("x")
        figure.align_ylabels(axes)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=dpi)
        plt.close(figure)


def main() -> None:
    """Read the command line, print what was stated, write the picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("demo"), help="folder for the picture")
    out = parser.parse_args().out
    prior = state_prior()
    print(describe(prior))
    picture(prior, out / "prior.png")
    print(f"\nwritten: {out / 'prior.png'}")


if __name__ == "__main__":
    main()
