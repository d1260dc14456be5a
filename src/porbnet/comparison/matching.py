"""Match one prior to another in the expected number of upcrossings, as the paper does before it compares models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.seeds import RandomState, seed_sequence
from porbnet.errors import StatementError
from porbnet.statement.function_prior import FunctionPrior

P = TypeVar("P", bound=FunctionPrior)


class Match(NamedTuple, Generic[P]):
    """A matched prior and the parameter value that made it.

    prior : FunctionPrior, what `make(value)` returned
    value : float
    """

    prior: P
    value: float


def match_upcrossings(
    make: Callable[[float], P],
    target: FunctionPrior | float,
    interval: Any,
    bracket: Any,
    *,
    level: float = 0.0,
    dimension: int = 0,
    at: Any = None,
    method: str = "rice",
    n: int = 2000,
    random_state: RandomState = None,
    tolerance: float = 1e-6,
) -> Match[P]:
    """Find the value of a parameter at which a prior has as many expected upcrossings as another.

    Parameters
    ----------
    make : callable
        Takes the value of the parameter, returns a `FunctionPrior`.
    target : FunctionPrior or float
        The prior to match, or the number of upcrossings itself.
    interval : (low, high)
        Where upcrossings are counted, in the units of the input.
    bracket : (low, high)
        Values of the parameter between which the solution lies.
    level, dimension, at
        As in `FunctionPrior.upcrossings`.
    method : {"rice", "draws"}
        Rice's formula, or counts of `n` draws that use the same random numbers for every value of the parameter.
    n, random_state
        Of the draws.
    tolerance : float
        Relative accuracy of the value. Counts of draws are whole, so that "draws" is no more accurate than `n` allows.

    Returns
    -------
    Match
        The matched prior and the value, as a named tuple.

    Examples
    --------
    >>> from porbnet import Prior
    >>> from porbnet.comparison import GaussianProcessPrior
    >>> net = Prior(lengthscale=0.5, amplitude=1.0, region=(-9.0, 9.0))
    >>> match = match_upcrossings(lambda v: GaussianProcessPrior(v, 3.0), net, (-5.0, 5.0), (0.1, 2.0))
    >>> round(match.value, 4)
    0.5
    """
    low, high = _bracket(bracket)
    if not callable(make):
        raise _checks.fail("make", make, "it must be a callable that takes a number and returns a FunctionPrior")
    _checks.choice("method", method, ("rice", "draws"))
    relative = _checks.number("tolerance", tolerance, minimum=1e-14, inclusive=True)
    root = seed_sequence(random_state).spawn(1)[0]

    def upcrossings(prior: FunctionPrior) -> float:
        # spawning from a seed advances it, so each evaluation gets its own copy of the same one
        seed = np.random.SeedSequence(root.entropy, spawn_key=root.spawn_key)
        return prior.upcrossings(
            interval, level=level, dimension=dimension, at=at, method=method, n=n, random_state=seed
        )

    wanted = upcrossings(target) if isinstance(target, FunctionPrior) else _target(target)

    def excess(value: float) -> float:
        return upcrossings(_made(make, value)) - wanted

    ends = excess(low), excess(high)
    if not ends[0] * ends[1] <= 0.0:
        raise StatementError(
            f"bracket={_checks.show((low, high))} does not contain a solution: make({low:g}) has "
            f"{ends[0] + wanted:.4g} expected upcrossings and make({high:g}) has {ends[1] + wanted:.4g}, "
            f"but the target has {wanted:.4g}, which must lie between the two"
        )
    from scipy import optimize  # slow to import

    value = float(optimize.brentq(excess, low, high, xtol=1e-15 * (high - low), rtol=relative))
    return Match(_made(make, value), value)


def _bracket(bracket: Any) -> tuple[float, float]:
    allowed = "it must be two finite numbers (low, high) with low below high"
    ends = _checks.real_array("bracket", bracket, allowed)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise _checks.fail("bracket", bracket, allowed)
    return float(ends[0]), float(ends[1])


def _target(target: Any) -> float:
    try:
        return _checks.positive("target", target)
    except StatementError:
        raise _checks.fail("target", target, "it must be a FunctionPrior, or a finite number greater than 0") from None


def _made(make: Callable[[float], P], value: float) -> P:
    prior = make(value)
    if not isinstance(prior, FunctionPrior):
        raise _checks.fail(
            "make", make, f"it must return a FunctionPrior, but make({value:g}) is {_checks.show(prior)}"
        )
    return prior
