"""Appendix: the width adapts to the data; that of a BNN cannot."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from porbnet.intensity import Piecewise
from porbnet.paper import looks, models
from porbnet.paper.claims import Claim, claim, untestable
from porbnet.paper.frame import Numbers, ResumableMap, Settings, missing, short
from porbnet.paper.looks import BLACK, BLUE, RED, finish
from porbnet.statement.prior import Prior

TITLE = "The width adapts to the data"
WHERE = "appendix, three units and a noisy sine"
ABOUT = (
    "40 observations of sin(2πx) on [-1, 1], noise sd 0.1. PoRB-NET: 3 expected units on [-5, 5], intensity 5 times "
    "higher in [-1, 1] than elsewhere; s0 such that the lengthscale there is that of the sine, 1/2π. BNN: 3 RBF "
    "units, matched to it on [-1, 1] in expected upcrossings and average variance; 12 units for comparison. The paper "
    "does not give the sine or s0."
)
LEVEL, OMEGA, NOISE, N = 3.0 / 18.0, 2.0 * math.pi, 0.1, 40
MODELS = ("BNN, 3 units", "PoRB-NET", "BNN, 12 units")


def compute(settings: Settings, work: ResumableMap) -> Numbers:
    """All three fits."""
    tasks = [{"model": m, "seed": settings.seed, "sampling": settings.sampling, "nuts": settings.nuts} for m in MODELS]
    rows = work.map(one_fit, tasks)
    return {"missing": missing(rows), **dict(zip(MODELS, rows, strict=True))}


def one_fit(model: str, seed: int, sampling: dict[str, Any], nuts: dict[str, int]) -> Numbers:
    """Fit to the sine; error of the mean, draws, and for PoRB-NET the widths."""
    rng = np.random.default_rng([seed, 7])
    X = np.sort(rng.uniform(-1.0, 1.0, N))[:, None]
    y = np.sin(OMEGA * X[:, 0]) + NOISE * rng.standard_normal(N)
    prior = Prior.from_paper(
        s0=math.sqrt(2.0) * OMEGA / (5.0 * LEVEL), intensity=Piecewise([-1.0, 1.0], [LEVEL, 5.0 * LEVEL, LEVEL]),
        sigma_w2=1.0, sigma_b2=0.0, noise_variance=NOISE**2, region=(-5.0, 5.0),
    )  # fmt: skip
    if model == "PoRB-NET":
        # births and deaths of narrow units over few data are slow to mix, and the fit takes a second
        longer = sampling | {"n_warmup": 2 * sampling["n_warmup"], "n_draws": 8 * sampling["n_draws"]}
        found = models.porbnet(X, y, longer, seed, prior)
    else:
        from porbnet.baselines import matched_bnn

        network = matched_bnn(prior, (-1.0, 1.0), n_units=int(model.split()[1]))
        found = models.bnn(X, y, network, NOISE, nuts, seed)
    grid = np.linspace(-1.0, 1.0, 161)
    residual = found.predict(grid[:, None]) - np.sin(OMEGA * grid)
    result: Numbers = {
        "x": short(X[:, 0], 4), "y": short(y, 4), "grid": short(grid, 4),
        "draws": short(found.sample_f(grid[:, None], 30, 0).T, 3), "rmse": short(np.sqrt(np.mean(residual**2))),
    }  # fmt: skip
    if model == "PoRB-NET":
        result["widths"] = {str(k): short(p) for k, p in found.width_distribution().items()}
        inside = [np.sum(np.abs(n.centers[:, 0]) <= 1.0) for n in found.sample_functions(400)]
        result["inside"] = short(np.bincount(np.asarray(inside, dtype=int)) / len(inside))
    return result


def draw(numbers: Numbers, plt: Any) -> Any:
    """Draws of both models, and the distribution of the width."""
    shown = [m for m in MODELS if "draws" in numbers[m]]
    figure, axes = plt.subplots(1, len(shown) + 1, figsize=(2.1 * (len(shown) + 1), 2.1), layout="constrained")
    for ax, model in zip(axes, shown, strict=False):
        part = numbers[model]
        ax.plot(part["grid"], np.array(part["draws"]).T, color=BLUE if model == "PoRB-NET" else looks.PURPLE, alpha=0.3,
                linewidth=0.6)  # fmt: skip
        ax.plot(part["x"], part["y"], ".", color=BLACK, markersize=3)
        finish(ax, model, "x", "posterior draws of f" if model == shown[0] else "")
        ax.set_ylim(-1.9, 1.9)
    widths = {int(k): p for k, p in numbers["PoRB-NET"]["widths"].items()}
    axes[-1].bar(list(widths), list(widths.values()), width=0.9, color=BLUE, alpha=0.4)
    axes[-1].axvspan(4.5, 7.5, color=RED, alpha=0.12, linewidth=0, label="5 to 7")
    axes[-1].legend()
    finish(axes[-1], "PoRB-NET: width", "units", "posterior probability")
    return figure


def claims(numbers: Numbers) -> list[Claim]:
    """5 to 7 units; three are not enough."""
    part = numbers["PoRB-NET"]
    widths = {int(k): p for k, p in part["widths"].items()}
    mode, share = max(widths, key=lambda k: widths[k]), short(sum(p for k, p in widths.items() if 5 <= k <= 7), 3)
    mean = short(sum(k * p for k, p in widths.items()), 3)
    found = [
        claim("width settles on 5 to 7", "from 3 expected units to between 5 and 7",
              {"most probable width": mode, "mean width": mean, "probability of 5 to 7": share,
               "most probable number of units within [-1, 1]": int(np.argmax(part["inside"]))},
              "most probable width in 5 to 7, and probability of 5 to 7 at least 0.5", 5 <= mode <= 7 and share >= 0.5)
    ]  # fmt: skip
    title, stated = "a BNN with 3 units underfits", "insufficient capacity"
    if numbers["missing"]:
        return [*found, untestable(title, stated, numbers["missing"])]
    errors = {m: numbers[m]["rmse"] for m in MODELS}
    holds = errors[MODELS[0]] > 2.0 * errors["PoRB-NET"] and errors[MODELS[0]] > 2.0 * errors[MODELS[2]]
    values = {f"{m}: error of the mean on [-1, 1]": e for m, e in errors.items()}
    return [
        *found,
        claim(title, stated, values, "error more than twice PoRB-NET's, and that of a BNN with 12 units", holds),
    ]
