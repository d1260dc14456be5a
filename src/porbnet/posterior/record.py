"""What was learned, as one record: text, pages, notebooks and JSON show it, and none computes it again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.posterior.diagnostics import learned_law
from porbnet.posterior.posterior import Posterior

_MOST_PLACES = 2000  # inputs at which curves are looked at
_TITLES = {"freedom": "degrees of freedom", "log curve var": "variance of h", "log curve ls": "lengthscale of h"}
_NAMES = {"log curve var": "curve_variance", "log curve ls": "curve_lengthscale"}


@dataclass(frozen=True)
class Learned:
    """The posterior of one quantity, pooled over the inputs if it varies over them.

    name : in JSON; title : for people
    median, lower, upper : and the ends of the central 90 % interval
    over_inputs : least and largest posterior median over the inputs, as pictures show it; None if it is one number
    """

    name: str
    title: str
    median: float
    lower: float
    upper: float
    over_inputs: tuple[float, float] | None = None

    @classmethod
    def of(cls, name: str, title: str, values: Any, varies: bool = False) -> Learned:
        """From draws, shape (n_draws,), or (n_draws, n_places) for what varies over the inputs."""
        low, middle, high = (float(q) for q in np.quantile(values, [0.05, 0.5, 0.95]))
        ends = None
        if varies:
            medians = np.median(values, axis=0)
            ends = (float(np.min(medians)), float(np.max(medians)))
        return cls(name, title, middle, low, high, ends)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        found: dict[str, Any] = {"median": self.median, "lower": self.lower, "upper": self.upper}
        return found if self.over_inputs is None else found | {"over_inputs": list(self.over_inputs)}


def places_of(posterior: Posterior) -> FloatArray:
    """Inputs from left to right, at most 2,000 of them, shape (n_places, n_dims)."""
    x = posterior.problem.components[0].x.T
    return posterior.problem.scaling.centers(x[:: max(1, -(-len(x) // _MOST_PLACES))])


def learned(posterior: Posterior) -> list[Learned]:
    """Width, lengthscale, noise, amplitude; then what else is unknown of the likelihood and of the curve's law."""
    places, likelihood = places_of(posterior), posterior.problem.likelihood
    rows = [
        Learned.of("width", "width (units)", posterior.n_units),
        Learned.of("lengthscale", "lengthscale", posterior.lengthscale(places), varies=True),
    ]
    if likelihood.additive:
        rows.append(Learned.of("noise", likelihood.title, posterior.noise_at(places), varies=True))
    rows.append(Learned.of("amplitude", f"amplitude{likelihood.unit}", posterior.amplitude))
    slopes = posterior.slopes
    for d in range(0 if slopes is None else posterior.n_dims):
        number = "" if posterior.n_dims == 1 else f" {d + 1}"
        rows.append(Learned.of(f"slope{number}".replace(" ", "_"), f"slope{number}", slopes[:, d]))  # type: ignore[index]
    for parameter in likelihood.parameters()[1:]:
        if not parameter.known:
            title = _TITLES.get(parameter.name, parameter.name)
            rows.append(Learned.of(parameter.name, title, posterior.parameter(parameter.name)))
    for name, logs in learned_law(posterior).items():
        rows.append(Learned.of(_NAMES[name], _TITLES[name], np.exp(logs)))
    return rows


FIRST = ("width", "lengthscale", "noise", "amplitude")  # what every fit has, but for the noise of labels and counts
