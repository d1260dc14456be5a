"""Likelihoods: how an observation comes about, given the function.

| statement | class | errors |
|---|---|---|
| a number, `LogNormal`, `InverseGamma` | `Gaussian` | normal, one sd |
| `VaryingNoise` | `VaryingNoise` | normal, the sd a function of the input |
| `RobustNoise` | `RobustNoise` | Student-t |
| `Censored` | `Censored` | normal, one sd; outputs known within limits |
| `LogScale` | `LogScale` | of the logarithm of a positive output |
| `Logistic` | `Logistic` | none: labels 0 and 1, f their log-odds |
| `NegativeBinomial`, `Poisson` | the same | none: counts, f their log rate |

A likelihood of your own derives from `Likelihood`, see CONTRIBUTING; `register` lets files name it.
"""

from __future__ import annotations

from typing import Any

from porbnet.base import checks as _checks
from porbnet.likelihood.base import Drawn, Likelihood
from porbnet.likelihood.censored import Censored
from porbnet.likelihood.counted import NegativeBinomial, Poisson
from porbnet.likelihood.log_scale import LogScale
from porbnet.likelihood.logistic import Logistic
from porbnet.likelihood.normal import Gaussian
from porbnet.likelihood.student_t import RobustNoise
from porbnet.likelihood.varying import VaryingNoise

__all__ = [
    "Censored",
    "Drawn",
    "Gaussian",
    "Likelihood",
    "LogScale",
    "Logistic",
    "NegativeBinomial",
    "Poisson",
    "RobustNoise",
    "VaryingNoise",
    "likelihood_of",
    "register",
    "registered",
]

_REGISTERED: dict[str, type[Likelihood]] = {
    kind.__name__: kind
    for kind in (Gaussian, VaryingNoise, RobustNoise, Censored, LogScale, Logistic, NegativeBinomial, Poisson)
}


def register(kind: type[Likelihood]) -> type[Likelihood]:
    """Let saved models and checkpoints name a likelihood of your own; a dataclass. To be used as a decorator.

    A process that loads such a file must have registered it too: files hold names and numbers, never code.
    """
    _REGISTERED[kind.__name__] = kind
    return kind


def registered() -> dict[str, type[Likelihood]]:
    """All likelihoods that files can name."""
    return dict(_REGISTERED)


def likelihood_of(noise: Any) -> Likelihood:
    """What a statement of noise means: a likelihood as it is, anything else as the sd of Gaussian errors."""
    if isinstance(noise, Likelihood):
        return noise
    if isinstance(noise, type):
        raise _checks.fail("noise", noise, f"it is a class: make one, such as {noise.__name__}(...)")
    return Gaussian(noise)
