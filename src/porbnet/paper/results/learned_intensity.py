"""Main text: the intensity of a function that was drawn from the prior, inferred from noisy observations."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.intensity import SigmoidGP
from porbnet.paper import looks, models
from porbnet.paper.claims import Claim, claim
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLACK, BLUE, RED, finish
from porbnet.statement.prior import Prior

TITLE = "Learning an input-dependent lengthscale"
WHERE = "main text, figure of the learned intensity"
ABOUT = (
    "Functions drawn from the prior (s0² = 2, λ* = 60, Gaussian process of variance 5 and lengthscale 0.25, amplitude "
    "1, region [-0.25, 1.25]) and observed at 150 random places of [0, 1] with noise sd 0.05; fitted with the same "
    "prior. The first is shown: function, and intensity with its 90 % band."
)
REGION, UPPER, VARIANCE, LENGTHSCALE, NOISE, N = (-0.25, 1.25), 60.0, 5.0, 0.25, 0.05, 150
GRID = np.linspace(0.0, 1.0, 101)


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """One fit per function."""
    seeds = range(settings.seed, settings.seed + settings.n_repeats)
    rows = work.map(one_function, [{"seed": s, "sampling": settings.sampling} for s in seeds])
    kept = ("covered", "error", "prior_error")
    return {"shown": rows[0], "every": [{k: r[k] for k in kept} for r in rows]}


def one_function(seed: int, sampling: dict[str, Any]) -> Numbers:
    """Draw a function, observe it, infer its intensity."""
    root = np.random.SeedSequence([seed, 4])
    unknown = SigmoidGP(UPPER, VARIANCE, LENGTHSCALE)
    intensity = unknown.draw(REGION, np.random.default_rng(root.spawn(1)[0]))
    statement: dict[str, Any] = {
        "s0": math.sqrt(2.0),
        "sigma_w2": 1.0,
        "sigma_b2": 0.25,
        "noise_variance": NOISE**2,
        "region": REGION,
    }
    network = Prior.from_paper(intensity=intensity, **statement).sample_networks(1, root.spawn(1)[0])[0]
    rng = np.random.default_rng(root.spawn(1)[0])
    X = np.sort(rng.random(N))[:, None]
    y = network(X) + NOISE * rng.standard_normal(N)
    model = models.porbnet(X, y, sampling, seed, Prior.from_paper(intensity=unknown, **statement))
    truth = intensity.value(GRID)
    band = models.intensity_band(model, GRID)
    draws = np.log(model.posterior_.intensity(GRID[:, None]))
    inside = (truth >= band["low"]) & (truth <= band["high"])
    return {
        "curve": models.curve(model, GRID), "intensity": band, "truth": short(truth),
        "f": short(network(GRID[:, None])),
        "x": short(X[:, 0], 4), "y": short(y, 4), "covered": short(inside.mean()),
        "error": short(np.sqrt(np.mean((np.median(draws, axis=0) - np.log(truth)) ** 2))),
        "prior_error": short(np.sqrt(np.mean((math.log(UPPER / 2.0) - np.log(truth)) ** 2))),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """Function left, intensity right."""
    part = numbers["shown"]
    figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.6), layout="constrained")
    looks.band(axes[0], part["curve"], BLUE, label="posterior mean, 90 %")
    axes[0].plot(part["x"], part["y"], ".", color=BLACK, markersize=2.5, alpha=0.6)
    axes[0].plot(part["curve"]["x"], part["f"], color=RED, linestyle="--", linewidth=1.0, label="truth")
    finish(axes[0], "function", "x", "f(x)")
    band = part["intensity"]
    axes[1].fill_between(band["x"], band["low"], band["high"], color=BLUE, alpha=0.25, linewidth=0)
    axes[1].plot(band["x"], band["mean"], color=BLUE, label="posterior mean, 90 %")
    axes[1].plot(band["x"], part["truth"], color=RED, linestyle="--", label="truth")
    axes[1].axhline(UPPER / 2.0, color=BLACK, linewidth=0.7, linestyle=":", label="prior median")
    finish(axes[1], "intensity", "x", "units per unit of x", bottom=0.0)
    axes[1].legend()
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """Coverage, and what was learned."""
    every = numbers["every"]
    covered = short(float(np.mean([r["covered"] for r in every])), 3)
    error, before = (short(float(np.median([r[k] for r in every])), 3) for k in ("error", "prior_error"))
    return [
        claim("true intensity inside the inferred band", "able to infer the true intensity function",
              {"share of x in the 90 % band, function shown": numbers["shown"]["covered"],
               f"mean of {len(every)} functions": covered}, "mean share at least 0.8", covered >= 0.8),
        claim("the intensity is learned from the observations", "able to infer the true intensity function",
              {"error of the log intensity, posterior median": error, "prior median": before},
              "median error below the prior's", error < before),
    ]  # fmt: skip
