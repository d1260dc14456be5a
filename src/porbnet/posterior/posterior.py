"""The posterior: draws in the units of the data, and everything that can be read off them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState
from porbnet.functions.network import Networks, Trend
from porbnet.likelihood.base import Drawn, Mixture
from porbnet.posterior import mixture
from porbnet.posterior.beyond import Beyond
from porbnet.posterior.cells import slices, tail, through_cells
from porbnet.posterior.drawn_moments import DrawnMoments
from porbnet.posterior.function_moments import FunctionMoments, Rows, table_length
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem
from porbnet.statement.moments import scale_of

if TYPE_CHECKING:
    from porbnet.posterior.leave_one_out import LeaveOneOut


_ROUGHEST = 1e-8  # what a polynomial for a quantile may leave out, in spreads of the predictive


@dataclass(frozen=True, eq=False)
class FMoments:
    """Moments of f at points given each draw's units, shape (n_draws, n_points) each, in the units of the output."""

    mean: FloatArray
    variance: FloatArray


class Posterior:
    """Draws from the posterior over networks.

    Rows of every array run over all draws, chain after chain: draw d of chain c is row c * n_draws_per_chain + d.

    Attributes
    ----------
    n_chains, n_draws_per_chain : int
    n_units : ndarray of shape (n_draws,)
        Width of the network.
    noise, amplitude : ndarray of shape (n_draws,)
        Noise sd and amplitude, in the units of the output.
    bias : ndarray of shape (n_draws,)
        Drawn bias, in the units of the output (offset included).
    log_likelihood : ndarray of shape (n_draws,)
        Log marginal likelihood of the observations given centers and hyper-parameters, weights integrated out.
    """

    def __init__(self, problem: Problem, results: list[ChainResult], offset: float = 0.0) -> None:
        self.problem = problem
        self.offset = offset
        self.weights_k: float | None = None  # of draws that were weighed (`posterior.reweighing`)
        self.n_chains = len(results)
        self.n_draws_per_chain = len(results[0].draws)
        self.draws = ChainDraws.joined([r.draws for r in results], problem.scaling.n_dims)
        kind = FunctionMoments if problem.likelihood.integrates else DrawnMoments
        self.moments = kind(problem, self.draws)
        self.beyond = Beyond(self)
        # once in memory: the chains' own draws are parts of these
        starts = [i * self.n_draws_per_chain for i in range(self.n_chains)]
        self.results = [
            replace(r, draws=self.draws.after(start).first(self.n_draws_per_chain))
            for r, start in zip(results, starts, strict=True)
        ]

    def __len__(self) -> int:
        return len(self.draws)

    def __repr__(self) -> str:
        return f"Posterior({self.n_chains} chains of {self.n_draws_per_chain} draws, {self.n_dims} input dimension(s))"

    @property
    def n_dims(self) -> int:
        """Number of input dimensions."""
        return self.problem.scaling.n_dims

    @property
    def n_units(self) -> NDArray[np.int64]:
        """Width of each draw's network, shape (n_draws,)."""
        return self.draws.counts

    def parameter(self, name: str) -> FloatArray:
        """A parameter in every draw, shape (n_draws,), in its own units; see `problem.parameters` for the names."""
        place = self.problem.parameter(name)
        return self.problem.parameters[place].natural(self.draws.values[:, place], self.problem.scaling)

    @property
    def noise(self) -> FloatArray:
        """Noise sd of each draw, shape (n_draws,), in the units of the output."""
        return self.parameter("noise")

    @property
    def amplitude(self) -> FloatArray:
        """Amplitude of each draw, shape (n_draws,), in the units of the output."""
        return self.parameter("amplitude")

    @property
    def drawn(self) -> Drawn:
        """What the draws say of the likelihood."""
        values = {p.name: self.parameter(p.name) for p in self.problem.likelihood.parameters()}
        return Drawn(values, self.draws.kept, self.problem.prior.region)

    @property
    def training_outputs(self) -> FloatArray:
        """Observed outputs in the order of the problem's rows, in the units of the data."""
        outputs = self.problem.training_outputs
        likelihood = self.problem.likelihood
        return likelihood.natural(self.offset + outputs) if likelihood.additive else outputs

    @property
    def bias(self) -> FloatArray:
        """Bias of each draw, shape (n_draws,), in the units of the output."""
        return self.offset + self.draws.biases * self.problem.scaling.y_scale

    @property
    def slopes(self) -> FloatArray | None:
        """Slopes of the straight line in f in every draw, shape (n_draws, n_dims); None without a trend.

        In units of the output per unit of the input.
        """
        if not self.draws.slopes.shape[1]:
            return None
        return np.asarray(self.draws.slopes * self.problem.scaling.y_scale / self.problem.scaling.divisor)

    @property
    def log_likelihood(self) -> FloatArray:
        """Log marginal likelihood of each draw, shape (n_draws,), for outputs in their own units."""
        return self.draws.log_p - float(np.sum(self.problem.times)) * math.log(self.problem.scaling.y_scale)

    @property
    def networks(self) -> Networks:
        """Every draw as an explicit network, callable and with gradients, in the units of the data.

        Beyond the region each has further units, from the prior.
        """
        return replace(self._networks(self.draws.weights, self.draws.biases), further=self.beyond.units)

    @property
    def mean_networks(self) -> Networks:
        """Every draw's network at the conditional mean of its weights: their average is the posterior mean of f."""
        return self._networks(self.draws.mean_weights, self.draws.mean_biases)

    def _networks(self, weights: FloatArray, biases: FloatArray) -> Networks:
        scaling, draws = self.problem.scaling, self.draws
        (component,) = self.problem.components
        levels = draws.relative * np.repeat(draws.values[:, component.level], draws.counts)
        return Networks(
            draws.offsets,
            scaling.centers(draws.centers),
            scale_of(levels, component.s0, self.n_dims) / scaling.size,
            weights * scaling.y_scale,
            self.offset + biases * scaling.y_scale,
            self.problem.prior.anisotropy,
            trend=None if self.slopes is None else Trend(self.slopes, self.problem.prior.middle),
        )

    def f(self, X: Any) -> FloatArray:
        """Function values of every draw, shape (n_draws, n_points), in the units of the output."""
        return self.networks(X)

    def by_chain(self, values: Any) -> FloatArray:
        """Rows regrouped, shape (n_chains, n_draws_per_chain, ...)."""
        array = np.asarray(values, dtype=np.float64)
        return array.reshape(self.n_chains, self.n_draws_per_chain, *array.shape[1:])

    def intensity(self, X: Any) -> FloatArray:
        """Intensity of every draw, shape (n_draws, n_points), in units per unit of input."""
        points = _checks.points("X", X, self.n_dims)
        intensity, process = self.problem.prior.intensity, self.problem.components[0].process
        if intensity.known:
            return np.tile(intensity.value(points), (len(self), 1))
        levels = self.parameter("level")
        if process is not None:
            return levels[:, None] * process.values_at(self.draws.curves, points, expit)
        return np.repeat(levels[:, None], len(points), axis=1)

    def lengthscale(self, X: Any) -> FloatArray:
        """Lengthscale of every draw, shape (n_draws, n_points), in the units of the input."""
        return math.sqrt(2.0) / scale_of(self.intensity(X), self.problem.prior.s0, self.n_dims)

    @property
    def curve_variance(self) -> FloatArray | None:
        """Variance of h of a sigmoid-GP intensity in every draw, shape (n_draws,); None with another intensity."""
        process = self.problem.components[0].process
        return None if process is None else process.variances(self.draws.curves)

    @property
    def curve_lengthscale(self) -> FloatArray | None:
        """Lengthscales of h of a sigmoid-GP intensity in every draw, shape (n_draws, n_dims), in units of the input.

        None with another intensity.
        """
        process = self.problem.components[0].process
        return (
            None if process is None else np.asarray(process.lengthscales[process.which_lengthscales(self.draws.curves)])
        )

    def noise_at(self, X: Any, rows: NDArray[np.int64] | slice = slice(None)) -> FloatArray:
        """Noise sd of every draw (or of some rows of them) at points, shape (n_draws, n_points), in output units.

        With Student-t errors it is their scale.
        """
        points = _checks.points("X", X, self.n_dims)
        return self.problem.likelihood.sd_at(self.drawn.taken(rows), points)

    def noise_variance(self, X: Any) -> FloatArray:
        """Posterior mean of the variance of an observation about f at points, shape (n_points,).

        The variance of Student-t errors may be infinite; for them it is the square of half the width of their central
        68 % interval.
        """
        points = _checks.points("X", X, self.n_dims)
        likelihood, drawn = self.problem.likelihood, self.drawn
        factor = likelihood.variance_factor(drawn)[:, None]
        if not likelihood.varies:
            return np.full(len(points), np.mean(self.noise[:, None] ** 2 * factor))
        chunks = (likelihood.sd_at(drawn, points[rows]) ** 2 * factor for rows in self.chunks(len(points)))
        return np.concatenate([c.mean(axis=0) for c in chunks])

    def chunks(self, n_points: int) -> Iterator[slice]:
        """Points so many at a time that a table of draws by points stays small."""
        return slices(n_points, table_length(len(self)))

    def sample_errors(self, X: Any, rows: NDArray[np.int64], rng: np.random.Generator) -> FloatArray:
        """Errors of new observations at points for some draws, shape (n_points, len(rows))."""
        return self.problem.likelihood.sample(self.noise_at(X, rows), self.drawn.taken(rows), rng).T

    def sample_outputs(
        self, X: Any, f: FloatArray, rows: NDArray[np.int64], rng: np.random.Generator, beside: FloatArray | None = None
    ) -> FloatArray:
        """New observations at points for some draws, given their f, shape (n_points, len(rows)).

        beside : (n_points,) what is known of each point beside its output, as the likelihood says
        """
        drawn = self.drawn.taken(rows).at(beside)
        return self.problem.likelihood.outputs(f.T, self.noise_at(X, rows), drawn, rng).T

    # --- Rao-Blackwellised moments of f ------------------------------------------------------------------------

    def mean(self, X: Any) -> FloatArray:
        """Posterior mean of f, shape (n_points,), as `mean_and_variance` gives it, in less time."""
        points = _checks.points("X", X, self.n_dims)
        return np.asarray(self.offset + self.moments.mean(self._standard(points)) * self.problem.scaling.y_scale)

    def mean_and_variance(self, X: Any, n_jobs: int | None = None) -> tuple[FloatArray, FloatArray]:
        """Posterior mean and variance of f, shape (n_points,) each, in memory beside them that does not grow.

        At many points they are read off polynomials through fewer places, to 1e-9 of the amplitude in mean and sd.
        """
        points = _checks.points("X", X, self.n_dims)
        mean, variance = self.moments.mean_and_variance(self._standard(points), n_jobs)
        scale = self.problem.scaling.y_scale
        return self.offset + mean * scale, variance * scale**2 + self.beyond.variance(points)

    def f_moments(self, X: Any, n_jobs: int | None = None) -> Iterator[tuple[Rows, FMoments]]:
        """Mean and variance of f given each draw's units, in chunks of points: pairs (rows of X, moments).

        Rows are a slice, or indices in no order: with many points, those come together that are near each other, and
        moments are read off polynomials through fewer places, to 1e-9 of the amplitude in mean and sd.
        """
        points = _checks.points("X", X, self.n_dims)
        scale = self.problem.scaling.y_scale
        for rows, mean, variance in self.moments.tables(self._standard(points), n_jobs):
            mean *= scale
            mean += self.offset
            variance *= scale**2
            more = self.beyond.table(points[rows])
            yield rows, FMoments(mean, variance if more is None else variance + more)

    def predictive(self, X: Any, of: str = "y", n_jobs: int | None = None) -> Iterator[tuple[Rows, Mixture]]:
        """The posterior predictive of y (or of f) as Gaussian mixtures, in chunks: pairs (rows of X, mixture).

        One component per draw, or several where the likelihood is a mixture itself.
        """
        points = _checks.points("X", X, self.n_dims)
        likelihood, drawn = self.problem.likelihood, self.drawn
        for rows, moments in self.f_moments(points, n_jobs):
            if of == "f":
                yield rows, Mixture(moments.mean, np.maximum(moments.variance, 1e-300), None)
            else:
                sd = likelihood.sd_at(drawn, points[rows])
                yield rows, likelihood.mixture(moments.mean, moments.variance, sd, drawn)

    def quantiles(self, X: Any, q: FloatArray, of: str = "y", n_jobs: int | None = None) -> FloatArray:
        """Quantiles of the posterior predictive of y (or of f), shape (n_points, n_quantiles), to 1e-7 of its spread.

        q : (n_quantiles,) probabilities
        """
        points = _checks.points("X", X, self.n_dims)

        def compute(u: FloatArray) -> FloatArray:
            found = np.empty((len(q) + 1, len(u)))
            for rows, parts in self.predictive(self.problem.scaling.centers(u), of, n_jobs):
                for j, p in enumerate(q):
                    found[j, rows] = mixture.quantile(float(p), parts.mean, parts.variance, parts.weights)
                found[-1, rows] = mixture.spread(parts.mean, parts.variance, parts.weights)
            return found

        def is_smooth(values: FloatArray) -> bool:
            return bool(np.all(tail(values[:-1], self.n_dims) <= _ROUGHEST * values[-1].min()))

        result, free = np.empty((len(points), len(q))), self.beyond.free(points)
        inside, outside = np.flatnonzero(~free), np.flatnonzero(free)
        if len(inside):
            found = self.moments.layout(self._standard(points[inside]))
            result[inside] = through_cells(found, len(q) + 1, compute, is_smooth)[:-1].T
        if len(outside):  # far away moments are smooth on other scales than those of the units that are there
            result[outside] = compute(self._standard(points[outside]))[:-1].T
        return result

    def averages(
        self, X: Any, compute: Callable[[FMoments], FloatArray], n_functions: int, n_jobs: int | None = None
    ) -> FloatArray:
        """Averages over draws of functions of f's moments that are smooth, shape (n_functions, n_points), to 1e-8.

        compute : takes moments to values averaged over draws, shape (n_functions, n_points)
        """
        points = _checks.points("X", X, self.n_dims)

        def at(u: FloatArray) -> FloatArray:
            found = np.empty((n_functions, len(u)))
            for rows, moments in self.f_moments(self.problem.scaling.centers(u), n_jobs):
                found[:, rows] = compute(moments)
            return found

        def is_smooth(values: FloatArray) -> bool:
            return bool(np.all(tail(values, self.n_dims) <= _ROUGHEST * np.abs(values).max(axis=1)))

        return through_cells(self.moments.layout(self._standard(points)), n_functions, at, is_smooth)

    def log_density(
        self, X: Any, y: FloatArray, n_jobs: int | None = None, beside: FloatArray | None = None
    ) -> FloatArray:
        """Log posterior predictive density of an observation at each point, shape (n_points,).

        beside : (n_points,) what is known of each point beside its output, as the likelihood says
        """
        points = _checks.points("X", X, self.n_dims)
        likelihood, drawn, result = self.problem.likelihood, self.drawn, np.empty(len(points))
        for rows, moments in self.f_moments(points, n_jobs):
            sd = likelihood.sd_at(drawn, points[rows])
            given = drawn if beside is None else drawn.at(beside[rows])
            terms = likelihood.log_integrated(y[rows], moments.mean, moments.variance, sd, given)
            result[rows] = mixture.log_mean_exp(terms)
        return result

    def _standard(self, points: FloatArray) -> FloatArray:
        return self.problem.scaling.inputs(points)

    def loo(self, weights: str = "integrated", r_eff: float | None = None) -> LeaveOneOut:
        """Leave-one-out cross-validation by Pareto-smoothed importance sampling, some rows at a time.

        No table of draws by rows is held, so that it takes any number of rows. It is what ArviZ's `loo` makes of
        `to_arviz(weights=...)`.

        Parameters
        ----------
        weights : {"integrated", "drawn"}
            Whether the network's weights are integrated out, with the row left aside, or are those of the drawn
            functions; the first needs less luck.
        r_eff : float, optional
            Effective draws over draws; by default, on average over the quantities that are diagnosed.

        Returns
        -------
        LeaveOneOut
            elpd, se, p_loo; pointwise and pareto_k in the order of the rows as given; n_high_k.

        Examples
        --------
        >>> import numpy as np
        >>> from porbnet import PoRBNetRegressor
        >>> x = np.linspace(0, 1, 40)[:, None]
        >>> y = np.sin(6 * x[:, 0]) + 0.1 * np.random.default_rng(0).standard_normal(40)
        >>> model = PoRBNetRegressor("constant", n_warmup=500, n_draws=500, random_state=0).fit(x, y)
        >>> found = model.posterior_.loo()
        >>> found.pointwise.shape, found.n_high_k
        ((40,), 0)
        """
        from porbnet.posterior.leave_one_out import leave_one_out

        return leave_one_out(self, weights, r_eff)

    def to_arviz(
        self,
        grid: Any = None,
        *,
        thin: int = 1,
        n_prior: int = 500,
        weights: str = "drawn",
        random_state: RandomState = 0,
        most_bytes: int = 2**30,
    ) -> Any:
        """The fit as an ArviZ DataTree, for `arviz_stats` and `arviz_plots`; needs `pip install "porbnet[arviz]"`.

        Parameters
        ----------
        grid : array of shape (n_places, n_dims), optional
            Where f, the lengthscale and the intensity are given; by default 50 places over the inputs (with several
            inputs, 50 of them).
        thin : int, default 1
            Keep every thin-th draw of each chain.
        n_prior : int, default 500
            Draws of the groups `prior` and `prior_predictive`; 0 for none.
        weights : {"drawn", "integrated"}
            Of the network, in the group `log_likelihood`: "drawn" is the log likelihood given the drawn function;
            "integrated" the log predictive density with the weights integrated out and the observation left aside,
            for `loo` alone, where it is the more reliable of the two.
        random_state : int, Generator, SeedSequence, RandomState or None
            Of prior and predictive draws.
        most_bytes : int, default 2**30
            That the tables of draws by observations may take; more is refused. `Posterior.loo` needs none of them.

        Returns
        -------
        xarray.DataTree
            Groups posterior, sample_stats, prior, prior_predictive, posterior_predictive, log_likelihood,
            observed_data, constant_data, and units (one row per unit of every draw); see `porbnet.interop.arviz`.
        """
        from porbnet.interop.arviz import to_arviz

        return to_arviz(
            self, grid, thin=thin, n_prior=n_prior, weights=weights, random_state=random_state, most_bytes=most_bytes
        )

    def covariance(self, X: Any) -> FloatArray:
        """Posterior covariance of f between points, shape (n_points, n_points)."""
        points = _checks.points("X", X, self.n_dims)
        covariance = self.moments.covariance(self._standard(points)) * self.problem.scaling.y_scale**2
        more = self.beyond.covariance(points)
        return covariance if more is None else covariance + more

    def choose(self, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        """Rows of n draws chosen at random, without repeats as long as there are enough."""
        if n <= len(self):
            return rng.permutation(len(self))[:n]
        return rng.integers(0, len(self), n)

    def subset(self, rows: NDArray[np.int64]) -> Networks:
        """The networks of some draws."""
        networks = self.networks
        return Networks.of([networks[int(i)] for i in rows])
