"""What every likelihood offers: parameters, an augmentation, densities and predictions, words.

The sampler works with Gaussian pseudo-observations: row n has a pseudo-output and the precision r_n / σ², r_n its
relative precision, σ the first of the likelihood's parameters. A likelihood that is not Gaussian with one sd makes such
rows of itself: given f, its `augment` draws whatever does that (weights of a scale mixture, latent outputs, a noise
curve) and its own parameters, and its `weigh` sets the rows accordingly. Both are kernels over `porbnet.kernels.state`.

Everything else is NumPy, over arrays with draws along the first axis and points along the second.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from porbnet.base.checks import FloatArray
from porbnet.base.parameter import Parameter
from porbnet.base.records import Record
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.kernels.state import Nothing

_HERMITE = 32


@dataclass(frozen=True, eq=False)
class Drawn:
    """What draws say of the likelihood.

    values : parameters by name, shape (n_draws,) each, in their own units
    kept : (n_draws, n_kept) what the augmentation carries
    region : the box of the inputs
    beside : (n_points,) what is known of each point in question beside its output, as `Likelihood.beside` says
    counts : (n_points,) how often each observation counts, where that is in question; None: once
    """

    values: dict[str, FloatArray]
    kept: FloatArray
    region: Region
    beside: FloatArray | None = None
    counts: FloatArray | None = None

    def __getitem__(self, name: str) -> FloatArray:
        return self.values[name]

    def __len__(self) -> int:
        return len(self.kept)

    def taken(self, rows: Any) -> Drawn:
        """Some of the draws."""
        return replace(self, values={k: v[rows] for k, v in self.values.items()}, kept=self.kept[rows])

    def at(self, beside: FloatArray | None, counts: FloatArray | None = None) -> Drawn:
        """The same, for points of which this is known."""
        return replace(self, beside=beside, counts=counts)


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture at each point: mean and variance of shape (n_components, n_points), weights (None: equal)."""

    mean: FloatArray
    variance: FloatArray
    weights: FloatArray | None


class Likelihood(ABC):
    """How an observation comes about, given the function; a frozen dataclass of what is stated.

    augment : kernel (state, rng) that updates `state.errors` and the likelihood's parameters given the function, whose
        errors (pseudo-output minus f, times the known part of the root precision) are in `state.rows.errors`; None if
        there is nothing to update beyond what the sampler does itself
    weigh : kernel (state) that sets `state.rows.root`, the square roots of the relative precisions (and, if they move,
        `state.rows.outputs`), from `state.errors`; None if they never change
    additive : whether an output is f and an error, in the units of f; if not (labels, counts) outputs are taken as they
        are, neither shifted nor scaled, and f lives on a scale of its own, about `center`
    beside : what may be known of each row beside its output ("exposure"); empty if nothing is
    integrates : whether weights are Gaussian given a draw's units and what it keeps; if not, chains work with a law
        that is near, and draws are resampled by `log_correction` (`porbnet.posterior.reweighing`)
    keeps_outputs : whether what draws keep are pseudo-outputs, in standard coordinates
    whole_weights : whether rows may only count a whole number of times
    compresses : whether it sees rows through Σ ω(x) u for smooth ω and u = 1, y, y² alone, so that few rows can stand
        for many (`porbnet.sampling.compression`)
    stored_as : type of the numbers that draws keep of the augmentation
    word : how it is asked for by name, with `from_data`; empty if it is not
    words : what errors are called in messages
    title : what the first parameter is called in summaries
    unit : what f is measured in, in words for summaries, if not in units of the output
    """

    augment: ClassVar[Callable[..., Any] | None] = None
    weigh: ClassVar[Callable[..., Any] | None] = None
    additive: ClassVar[bool] = True
    beside: ClassVar[str] = ""
    integrates: ClassVar[bool] = True
    keeps_outputs: ClassVar[bool] = False
    whole_weights: ClassVar[bool] = False
    compresses: ClassVar[bool] = False
    stored_as: ClassVar[str] = "<f8"
    word: ClassVar[str] = ""
    words: ClassVar[str] = "Gaussian errors"
    title: ClassVar[str] = "noise sd"
    unit: ClassVar[str] = ""

    # --- the statement ---------------------------------------------------------------------------------------------

    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Its parameters; the first is σ, named "noise", in the units of the output."""

    @property
    def middle(self) -> float:
        """Where f has its prior mean, for what is not additive: a constant that the sampler leaves out of f."""
        return 0.0

    def natural(self, values: FloatArray) -> FloatArray:
        """Outputs in the units of the data, from those on the scale of f."""
        return values

    def check(self, y: FloatArray, beside: FloatArray | None) -> None:  # noqa: B027 (most take any number)
        """Raise `StatementError` if outputs, or what is known beside them, cannot be."""

    @classmethod
    def from_data(cls, level: Any, ranges: FloatArray) -> Likelihood:
        """The likelihood with default settings, given the law of σ and the ranges of the inputs."""
        raise NotImplementedError

    # --- the augmentation ------------------------------------------------------------------------------------------

    def record(self, region: Region, scaling: Scaling, X: FloatArray, first: int) -> Record:
        """What `augment` works on, as `state.errors`, of a chain's own; its array `kept` is stored with every draw.

        X : (n_points, n_dims) inputs in the order of the rows, in their own units
        first : place among the values of the likelihood's second parameter, the others following
        """
        return Nothing(kept=np.zeros(0))

    def observe(  # noqa: B027 (most need no more than the rows there are)
        self, record: Any, outputs: FloatArray, beside: FloatArray | None, counts: FloatArray
    ) -> None:
        """Tell a record what was observed, in the order of the rows and in standard coordinates, each (n_points,)."""

    def kinks(self, region: Region) -> list[FloatArray] | None:
        """Along each dimension the places between which its weights are smooth, in input units; None: everywhere."""
        return None

    def start(self, record: Any, rng: np.random.Generator) -> None:  # noqa: B027 (most have nothing to scatter)
        """Scatter what a chain starts from, in place."""

    # --- draws -----------------------------------------------------------------------------------------------------

    def sd_at(self, drawn: Drawn, X: FloatArray) -> FloatArray:
        """σ at points in every draw, shape (n_draws, n_points), in the units of the output."""
        return np.repeat(drawn["noise"][:, None], len(X), axis=1)

    varies: ClassVar[bool] = False  # whether `sd_at` differs between points

    def variance_factor(self, drawn: Drawn) -> FloatArray:
        """Variance of an observation about f over σ², shape (n_draws,)."""
        return np.ones(len(drawn))

    @abstractmethod
    def log_density(self, y: FloatArray, f: FloatArray, sd: FloatArray, drawn: Drawn) -> FloatArray:
        """Log p(y | f), shape (n_draws, n_points)."""

    def log_integrated(
        self, y: FloatArray, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn
    ) -> FloatArray:
        """Log ∫ p(y | f) N(f; mean, variance) df, shape (n_draws, n_points); by Gauss-Hermite unless overridden."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(_HERMITE)
        total = np.full(mean.shape, -np.inf)
        for node, weight in zip(nodes, weights / math.sqrt(2.0 * math.pi), strict=True):
            f = mean + node * np.sqrt(variance)
            np.logaddexp(total, self.log_density(y, f, sd, drawn) + math.log(weight), out=total)
        return total

    @abstractmethod
    def mixture(self, mean: FloatArray, variance: FloatArray, sd: FloatArray, drawn: Drawn) -> Mixture:
        """The law of a new observation where f ~ N(mean, variance) in each draw, as a Gaussian mixture over draws."""

    @abstractmethod
    def sample(self, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """Errors of new observations, shape (n_draws, n_points)."""

    def outputs(self, f: FloatArray, sd: FloatArray, drawn: Drawn, rng: np.random.Generator) -> FloatArray:
        """New observations given f, shape (n_draws, n_points)."""
        return f + self.sample(sd, drawn, rng)

    def pseudo(self, y: FloatArray, drawn: Drawn) -> tuple[FloatArray, FloatArray]:
        """Pseudo-outputs and relative precisions (over those of `sd_at`) of the observations, (n_draws, n_points)."""
        return np.broadcast_to(y, (len(drawn), len(y))), np.ones((len(drawn), len(y)))

    def stand_in(self, X: FloatArray, y: FloatArray, beside: FloatArray | None) -> FloatArray:
        """What the law that chains have in place of this one takes of each row, shape (n_points,)."""
        return np.zeros(len(y))

    def log_correction(self, y: FloatArray, f: FloatArray, drawn: Drawn, stand_in: FloatArray) -> FloatArray:
        """Log p(y | f) less that of the law that chains have in its place, up to a constant, (n_draws, n_points)."""
        return np.zeros(f.shape)

    def log_augmented(self, drawn: Drawn) -> FloatArray:
        """Log prior density of what the augmentation carries, shape (n_draws,), up to a constant."""
        return np.zeros(len(drawn))

    def kept_is_sound(self, kept: FloatArray) -> bool:
        """Whether numbers from a file can be what the augmentation carries."""
        return True

    # --- the prior -------------------------------------------------------------------------------------------------

    def sample_kept(self, n: int, region: Region, rng: np.random.Generator) -> FloatArray:
        """Draws from the prior of what `sd_at` needs of `kept`, shape (n, n_kept)."""
        return np.zeros((n, 0))

    # --- words -----------------------------------------------------------------------------------------------------

    def quantities(self, drawn: Drawn, anchors: FloatArray) -> dict[str, FloatArray]:
        """What is diagnosed beside the parameters, by name, shape (n_draws,) each; anchors are some of the inputs."""
        return {}
