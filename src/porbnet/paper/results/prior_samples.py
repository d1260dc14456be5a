"""Main text: functions drawn from four priors, as lengthscale and amplitude are changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.comparison import BNNPrior, BRBFNPrior, GaussianProcessPrior, match_upcrossings
from porbnet.paper.claims import Claim, claim
from porbnet.paper.frame import Numbers, ResumableMap, Settings, short
from porbnet.paper.looks import BLACK, BLUE, RED, finish
from porbnet.statement.function_prior import FunctionPrior
from porbnet.statement.prior import Prior

TITLE = "Prior samples"
WHERE = "main text, figure of prior samples"
ABOUT = (
    "50 draws and the variance of f(x) (dotted: ±1 sd from draws; the formula lies under it) on [-5, 5]. Rows: "
    "lengthscale 1 and amplitude 1; lengthscale 1/3; amplitude 2. PoRB-NET and B-RBFN have units on [-8, 8], 2 per "
    "lengthscale in the first row. B-RBFN is changed by its scale alone, the BNN (50 units) by its input weights, "
    "matched to PoRB-NET in expected upcrossings, and by its output weights; in the first row its variance averages "
    "1."
)
ROWS = {"reference": (1.0, 1.0), "lower lengthscale": (1.0 / 3.0, 1.0), "higher amplitude": (1.0, 2.0)}
MODELS = ("PoRB-NET", "GP", "B-RBFN", "BNN, RBF", "BNN, tanh")
ENDS, REGION, KAPPA, WIDTH = (-5.0, 5.0), (-8.0, 8.0), 2.0, 50


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """Draws and variances of all priors."""
    tasks = [
        {"model": m, "row": r, "n": settings.n_prior_draws, "seed": settings.seed + i}
        for i, m in enumerate(MODELS)
        for r in ROWS
    ]
    rows = work.map(one_prior, tasks)
    found: Numbers = {m: {} for m in MODELS}
    for task, row in zip(tasks, rows, strict=True):
        found[str(task["model"])][str(task["row"])] = row
    return found | {"n": settings.n_prior_draws}


def prior_of(model: str, row: str) -> FunctionPrior:
    """The prior of one panel."""
    lengthscale, amplitude = ROWS[row]
    net = Prior(lengthscale, amplitude, region=REGION, units_per_lengthscale=KAPPA)
    if model == "PoRB-NET":
        return net
    if model == "GP":
        return GaussianProcessPrior(lengthscale, amplitude)
    reference = Prior(1.0, 1.0, region=REGION, units_per_lengthscale=KAPPA)
    if model == "B-RBFN":
        weight_sd = amplitude * math.sqrt(reference.weight_variance)
        return BRBFNPrior(math.sqrt(2.0) / lengthscale, reference.intensity, weight_sd, region=REGION)
    activation = model.split(", ")[1]

    def make(sd: float, output: float = 1.0) -> BNNPrior:
        return BNNPrior(WIDTH, activation.lower(), input_weight_sd=sd, input_bias_sd=sd, output_weight_sd=output)

    grid = np.linspace(*ENDS, 201)
    first = match_upcrossings(make, reference, ENDS, (0.05, 500.0)).value
    output = 1.0 / math.sqrt(float(np.mean(make(first).variance(grid))))
    return make(match_upcrossings(make, net, ENDS, (0.05, 500.0)).value, amplitude * output)


def one_prior(model: str, row: str, n: int, seed: int) -> Numbers:
    """Draws to show, variance by formula and from n draws."""
    prior = prior_of(model, row)
    x = np.linspace(*ENDS, 161)
    squares = np.zeros(len(x))
    for chunk in prior.sample_chunks(x, n, seed):
        squares += np.sum(chunk**2, axis=0)
    return {
        "x": short(x, 4), "draws": short(prior.sample(x, 50, seed), 3), "variance": short(prior.variance(x)),
        "variance_of_draws": short(squares / n), "upcrossings": short(prior.upcrossings(ENDS)),
    }  # fmt: skip


def draw(numbers: Numbers, plt: Any) -> Any:
    """Models across, rows down."""
    shown = MODELS[:4]
    figure, axes = plt.subplots(
        len(ROWS), len(shown), figsize=(7.4, 4.6), sharex=True, sharey="row", layout="constrained"
    )
    for j, model in enumerate(shown):
        for i, row in enumerate(ROWS):
            ax, part = axes[i, j], numbers[model][row]
            ax.plot(part["x"], np.array(part["draws"]).T, color=RED, alpha=0.22, linewidth=0.5)
            sd = np.sqrt(part["variance_of_draws"])
            for sign in (-1.0, 1.0):
                ax.plot(part["x"], sign * np.sqrt(part["variance"]), color=BLUE, linewidth=1.0)
                ax.plot(part["x"], sign * sd, color=BLACK, linestyle=":", linewidth=1.4)
            finish(ax, model if i == 0 else "", "x" if i == len(ROWS) - 1 else "", row if j == 0 else "")
            largest = 3.5 * ROWS[row][1]
            ax.set(xlim=ENDS, ylim=(-largest, largest))
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """Flat over the input, and over lengthscales, or not."""
    flat, moved = {}, {}
    for model in MODELS:
        variance = {row: np.array(numbers[model][row]["variance"]) for row in ROWS}
        drawn = {row: np.mean(numbers[model][row]["variance_of_draws"]) for row in ROWS}
        flat[model] = short(min(float(v.min() / v.max()) for v in variance.values()), 3)
        moved[model] = short(float(drawn["lower lengthscale"] / drawn["reference"]), 3)
    flat_words, moved_words = (
        "least over largest variance over x, by formula",
        "variance at lengthscale 1/3 over that at 1",
    )
    same = (
        "given PoRB-NET's region, which reaches 3 lengthscales beyond the inputs; both sag only near the region's edge"
    )
    return [
        claim("PoRB-NET: amplitude variance flat over the input", "constant over the input space",
              {flat_words: flat["PoRB-NET"]}, "at least 0.95", flat["PoRB-NET"] >= 0.95),
        claim("PoRB-NET: amplitude variance does not depend on the lengthscale", "does not depend on the lengthscale",
              {moved_words: moved["PoRB-NET"]}, "between 0.9 and 1.1", 0.9 <= moved["PoRB-NET"] <= 1.1),
        claim("GP: both hold too", "like a GP", {flat_words: flat["GP"], moved_words: moved["GP"]},
              "at least 0.95, and between 0.9 and 1.1", flat["GP"] >= 0.95 and 0.9 <= moved["GP"] <= 1.1),
        claim("B-RBFN: amplitude variance depends on the lengthscale", "does depend on the lengthscale",
              {moved_words: moved["B-RBFN"]}, "outside 0.9 to 1.1", not 0.9 <= moved["B-RBFN"] <= 1.1),
        claim("B-RBFN: amplitude variance varies over the input", "varies over the input space",
              {flat_words: flat["B-RBFN"]}, "below 0.95", flat["B-RBFN"] < 0.95, same),
        claim("BNN: amplitude variance is concentrated near the origin", "concentrated near the origin",
              {f"RBF units: {flat_words}": flat["BNN, RBF"], f"tanh units: {flat_words}": flat["BNN, tanh"]},
              "below 0.5 with RBF units", flat["BNN, RBF"] < 0.5),
        claim("BNN: variance increases as the lengthscale decreases", "increases from the first to the second row",
              {f"RBF units: {moved_words}": moved["BNN, RBF"], f"tanh units: {moved_words}": moved["BNN, tanh"]},
              "above 1.1 with RBF or tanh units", max(moved["BNN, RBF"], moved["BNN, tanh"]) > 1.1,
              "with fixed output weights: narrower RBF units cover less of the input; tanh units are saturated"),
    ]  # fmt: skip
