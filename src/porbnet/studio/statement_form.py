"""What the page states, as plain JSON, checked and turned into a prior or into the parameters of a fit.

A number is known; a word is learned from data:

    lengthscale              number, {"knots": [[x, lengthscale], ...]}, "learned", "constant"
    amplitude                number, "learned"
    noise                    number, "learned", "varying", "robust", "auto"; not of labels and counts
    bias                     number, "auto"
    region                   [low, high], one pair per input, or "auto"
    units_per_lengthscale    number, "auto"
    trend                    "none", number (the sd of slopes), "linear"; not of labels and counts
    size                     number, "learned", "poisson"; of counts alone

The last two may be left out.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.errors import StatementError
from porbnet.likelihood import registered
from porbnet.statement.prior import Prior

LEARNED = {
    "lengthscale": "learned", "amplitude": "learned", "noise": "learned", "bias": "auto", "region": "auto",
    "units_per_lengthscale": "auto",
}  # fmt: skip
_MOST_KNOTS = 32
_WITHOUT_DATA = 2.0  # units per lengthscale


class LengthscaleCurve:
    """A lengthscale over one input, through knots: smooth and monotone between them on the log scale, flat beyond.

    Parameters
    ----------
    knots : sequence of (x, lengthscale)
        At least two, x increasing, lengthscales positive.

    Examples
    --------
    >>> curve = LengthscaleCurve([[0.0, 0.5], [1.0, 2.0]])
    >>> curve(np.array([[0.0], [0.5], [1.0], [9.0]])).round(3)
    array([0.5, 1. , 2. , 2. ])
    """

    def __init__(self, knots: Any) -> None:
        from scipy.interpolate import PchipInterpolator  # slow to import

        allowed = f"it must be 2 to {_MOST_KNOTS} pairs (x, lengthscale), x increasing, lengthscales positive"
        pairs = _checks.real_array("lengthscale", knots, allowed)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not 2 <= len(pairs) <= _MOST_KNOTS:
            raise _checks.fail("lengthscale", knots, allowed)
        if np.any(np.diff(pairs[:, 0]) <= 0) or np.any(pairs[:, 1] <= 0) or not np.all(np.isfinite(pairs)):
            raise _checks.fail("lengthscale", knots, allowed)
        self.x, self.values = pairs[:, 0].copy(), pairs[:, 1].copy()
        self._log = PchipInterpolator(self.x, np.log(self.values))

    def __call__(self, X: FloatArray) -> FloatArray:
        """Lengthscale at points of shape (n_points, 1), shape (n_points,)."""
        return np.asarray(np.exp(self._log(np.clip(X[:, 0], self.x[0], self.x[-1]))))

    def __repr__(self) -> str:
        return f"LengthscaleCurve({np.column_stack([self.x, self.values]).tolist()!r})"


@dataclass(frozen=True, eq=False)
class Form:
    """A statement; see the module's docstring."""

    lengthscale: Any
    amplitude: Any
    noise: Any
    bias: Any
    region: Any
    units_per_lengthscale: Any
    trend: Any = "none"
    size: Any = "learned"

    @classmethod
    def of(cls, stated: Any, n_dims: int = 1) -> Form:
        """From JSON; the values themselves are checked where they are used, as everywhere."""
        names = {f.name for f in fields(cls)}
        needed = [f.name for f in fields(cls) if f.default is MISSING]
        if not isinstance(stated, dict) or not set(needed) <= set(stated) <= names:
            raise StatementError(f"the statement must have {', '.join(needed)}, perhaps trend and size, nothing else")
        return cls(**{name: _plain(name, value, n_dims) for name, value in stated.items()})

    def parameters(self, kind: str = "real") -> dict[str, Any]:
        """As the estimator of a kind of outcomes takes them; what it has not is left out."""
        found = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("trend", "size")}
        if kind in ("real", "positive"):
            found["trend"] = None if self.trend == "none" else self.trend
            return found | ({"outcome": kind} if kind == "positive" else {})
        del found["noise"]
        if kind == "counts":
            found |= {"law": "poisson"} if self.size == "poisson" else {"size": self.size}
        return found

    def prior(self) -> Prior:
        """The prior, if all of it is stated."""
        stated = self.parameters()
        if stated["units_per_lengthscale"] == "auto":
            stated["units_per_lengthscale"] = _WITHOUT_DATA
        words = [name for name, value in stated.items() if isinstance(value, str)]
        if words:
            raise StatementError(
                f"{words[0]}={stated[words[0]]!r} needs data to learn from: state a number, or load data"
            )
        return Prior(**stated)


def _plain(name: str, value: Any, n_dims: int) -> Any:
    """A value of the form that is a word, a number, a curve or pairs of numbers."""
    if isinstance(value, str):
        return _checks.choice(name, value, _words(name))
    if name == "lengthscale" and isinstance(value, dict):
        if n_dims > 1:
            raise StatementError("lengthscale as a curve is for one input: state a number, or learn it")
        if set(value) != {"knots"}:
            raise _checks.fail(name, value, "a curve has knots, and nothing else")
        return LengthscaleCurve(value["knots"])
    if name in ("region", "lengthscale") and isinstance(value, list):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _checks.fail(name, value, f"it must be a number or one of {', '.join(map(repr, _words(name)))}")
    return float(value)


def _words(name: str) -> tuple[str, ...]:
    if name == "lengthscale":
        return "learned", "constant"
    if name == "noise":
        return ("learned", *sorted(kind.word for kind in registered().values() if kind.word), "auto")
    return {"amplitude": ("learned",), "trend": ("none", "linear"), "size": ("learned", "poisson")}.get(name, ("auto",))
