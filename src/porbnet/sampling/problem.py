"""From a prior and data to what samplers work on: standard coordinates, sorted observations, tables.

A `Problem` is shared by all chains and never changes; a chain makes records of its own from it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.parameter import OUTPUT, Parameter, law_of
from porbnet.base.records import Record
from porbnet.base.scaling import Scaling
from porbnet.errors import StatementError
from porbnet.functions.grid_gp import GridGP
from porbnet.intensity.base import Relative
from porbnet.kernels.curves import curve_record, empty_curve
from porbnet.kernels.state import CONSTANT, PIECES, TABLE, Component, Rows, Shape, room_for_marks
from porbnet.likelihood import Likelihood, likelihood_of
from porbnet.sampling.measure import same
from porbnet.statement.defaults import mean_and_sd
from porbnet.statement.prior import Prior

_KINDS = {"constant": CONSTANT, "pieces": PIECES, "table": TABLE}


@dataclass(frozen=True, eq=False)
class ComponentSetting:
    """What a component is made of: inputs, where units may lie, what their scales and weights follow.

    x : (n_dims, n_points) its inputs in standard coordinates, in the order of the rows
    is_sorted : whether the rows are in order of the first of them
    relative : the intensity over its level
    widths : (n_dims,) edges of the box in standard coordinates
    scaling : its standard coordinates
    process : of a learned intensity
    s0, weight_factor : scale of a unit where the intensity is one; weight variance for unit amplitude
    amplitude, level : places of its parameters
    start_level : that chains start from
    """

    x: FloatArray
    is_sorted: bool
    relative: Relative
    widths: FloatArray
    scaling: Scaling
    process: GridGP | None
    s0: float
    weight_factor: float
    amplitude: int
    level: int
    start_level: float

    @classmethod
    def of(cls, prior: Prior, X: FloatArray, y_scale: float, place: int) -> tuple[ComponentSetting, list[Parameter]]:
        """The component that a prior states, and its amplitude and level, which are to stand from `place` on.

        X : (n_points, n_dims) its inputs, in the order of the rows
        """
        region, intensity = prior.region, prior.intensity.sampled_as(prior.region)
        scaling = scaling_of(prior, y_scale)
        u, level = scaling.inputs(X), intensity.level_parameter(region)
        setting = cls(
            x=np.ascontiguousarray(u.T),
            is_sorted=bool(np.all(np.diff(u[:, 0]) >= 0)),
            relative=intensity.relative(region, scaling.volume),
            widths=region.widths / scaling.divisor,
            scaling=scaling,
            process=intensity.curve(region),
            s0=prior.s0,
            weight_factor=math.pow(prior.s0**2 / math.pi, prior.n_dims / 2.0),
            amplitude=place,
            level=place + 1,
            start_level=float(level.start or 0.0) * scaling.volume,
        )
        return setting, [Parameter("amplitude", law_of(prior.amplitude), OUTPUT), level]

    @property
    def expected(self) -> float:
        """Units that it starts with, in expectation."""
        return self.start_level * self.relative.integral

    def shape(self) -> Shape:
        """Its relative intensity, as a record of its own."""
        relative = self.relative
        breaks = [
            (b - lo) / f for b, lo, f in zip(relative.breaks, self.scaling.low, self.scaling.divisor, strict=True)
        ]
        offsets = np.concatenate([[0], np.cumsum([len(b) for b in breaks])]).astype(np.int64)
        return Shape(
            kind=_KINDS[relative.kind],
            widths=np.ascontiguousarray(self.widths),
            values=np.array(relative.values, dtype=np.float64).ravel(),
            sizes=np.array(relative.values.shape, dtype=np.int64),
            breaks=np.concatenate([*breaks, np.empty(0)]),
            break_offsets=offsets,
            bound=relative.bound,
            integral=float(relative.integral),
            low=np.zeros(len(self.widths)),
            high=np.array(self.widths, dtype=np.float64),
        )

    def record(self, room: int, expands: bool = True) -> Component:
        """A component of a chain's own, with room for so many marked points; bases of its curve only if it expands."""
        return Component(
            x=self.x,
            sorted=int(self.is_sorted),
            shape=self.shape(),
            trial=self.shape(),
            curve=empty_curve() if self.process is None else curve_record(self.process, self.scaling, expands),
            s0=self.s0,
            weight_factor=self.weight_factor,
            amplitude=self.amplitude,
            level=self.level,
            **room_for_marks(room if self.process is not None else 0, len(self.x)),
        )


@dataclass(frozen=True, eq=False)
class StandsFor:
    """What rows stand for, if not for one observation each.

    within : (n_points,) mean square of the outputs that a row stands for about its own
    limit : (n_points,) the sharpest unit for which it stands for them
    shift : Σ counts · log √precision of the observations, less that of the rows
    margin : units should stay so many times below the limits
    """

    within: FloatArray
    limit: FloatArray
    shift: float
    margin: float


@dataclass(frozen=True, eq=False)
class Problem:
    """Data and prior in standard coordinates, ready for the kernels.

    likelihood : of the prior
    parameters : noise, amplitude and level of each component, then what else the likelihood has
    laws : (n_parameters, 4) their laws
    components : one today; f is the bias and the sum of them
    outputs, known_root, times : (n_points,) outputs, known part of the root precisions, and how often each counts
    order : (n_points,) the original row of each sorted observation
    X, y, weight, counts, within, limit, beside : what the problem was made from, in its own units; see `of`
    stands_for : of rows that stand for several observations (`compression`); None if each is one
    """

    prior: Prior
    scaling: Scaling
    likelihood: Likelihood
    parameters: tuple[Parameter, ...]
    laws: FloatArray
    components: tuple[ComponentSetting, ...]
    outputs: FloatArray
    known_root: FloatArray
    times: FloatArray
    order: NDArray[np.int64]
    X: FloatArray
    y: FloatArray
    weight: FloatArray | None
    counts: FloatArray | None
    within: FloatArray | None = None
    limit: FloatArray | None = None
    beside: FloatArray | None = None
    stands_for: StandsFor | None = None
    cache: dict[str, Any] = field(default_factory=dict, init=False, repr=False)  # what others have made from it, once

    @classmethod
    def of(
        cls,
        prior: Prior,
        X: FloatArray,
        y: FloatArray,
        weight: FloatArray | None = None,
        counts: FloatArray | None = None,
        within: FloatArray | None = None,
        limit: FloatArray | None = None,
        beside: FloatArray | None = None,
    ) -> Problem:
        """Standardise and sort; X of shape (n_points, n_dims), the others of shape (n_points,).

        weight : relative precision of each observation (its noise variance is σ² / weight), 1 by default
        counts : how often each observation counts, 1 by default: its likelihood is raised to that power
        within, limit : of rows that stand for several observations each (`sampling.absorb`), with one input: the mean
            square of their outputs about y, and the largest scale of a unit for which they do
        beside : what is known of each row beside its output, as the likelihood's `beside` says
        """
        if prior.noise is None:
            raise StatementError("noise=None is not allowed in a fit: state a number, a LogNormal or a noise model")
        spread = mean_and_sd(y, counts)[1] if len(y) > 1 else 0.0
        if within is not None:
            spread = math.sqrt(max(spread**2 + float(np.average(within, weights=counts)), 0.0))
        y_scale = spread if spread > 0 else _median(prior.amplitude)
        likelihood = likelihood_of(prior.noise)
        likelihood.check(y, beside)
        if not likelihood.additive:
            y_scale = 1.0
        scaling = scaling_of(prior, y_scale)
        order = _in_order(X[:, 0])
        component, own = ComponentSetting.of(prior, _taken(X, order), y_scale, 1)
        noise, *others = likelihood.parameters()
        parameters = (noise, *own, *others)
        return cls(
            prior=prior,
            scaling=scaling,
            likelihood=likelihood,
            parameters=parameters,
            laws=np.array([p.row(scaling) for p in parameters]),
            components=(component,),
            outputs=_taken(y, order) / y_scale,
            known_root=same(1.0, len(y)) if weight is None else np.sqrt(_taken(weight, order)),
            times=same(1.0, len(y)) if counts is None else _taken(counts, order),
            order=np.arange(len(y)) if order is None else order,
            X=X,
            y=y,
            weight=weight,
            counts=counts,
            within=within,
            limit=limit,
            beside=beside,
            stands_for=None
            if within is None or limit is None
            else StandsFor(
                _taken(within, order) / y_scale**2, _taken(limit, order) * float(scaling.divisor[0]), 0.0, 1.0
            ),
        )

    def with_component(self, prior: Prior, X: FloatArray) -> Problem:
        """The problem with a further component in the sum: units as a prior states them, over inputs of their own.

        Of the prior, region, lengthscale and amplitude are taken; bias and noise are those of the problem. X has a row
        per observation, as the problem's own.
        """
        rows, place = _in_order(self.X[:, 0]), self.first_other
        component, own = ComponentSetting.of(prior, _taken(X, rows), self.scaling.y_scale, place)
        own = [replace(p, name=f"{p.name} {len(self.components) + 1}") for p in own]
        before, after = self.parameters[:place], self.parameters[place:]
        between = [p.row(component.scaling) for p in own]
        return replace(
            self,
            parameters=(*before, *own, *after),
            laws=np.concatenate([self.laws[:place], between, self.laws[place:]]),
            components=(*self.components, component),
        )

    def __getstate__(self) -> dict[str, Any]:
        """For pickle: what can be made again stays behind."""
        return vars(self) | {"cache": {}}

    @property
    def n_points(self) -> int:
        """Number of rows."""
        return len(self.outputs)

    @property
    def n_observations(self) -> int:
        """How many observations the rows stand for."""
        return len(self.y) if self.within is None else round(float(np.sum(self.times)))

    @property
    def has_all_rows(self) -> bool:
        """Whether the observations themselves are there, not only nodes that stand for them."""
        return self.within is None

    @property
    def most_dims(self) -> int:
        """Inputs of the component that has most of them."""
        return max(len(c.x) for c in self.components)

    @property
    def n_slopes(self) -> int:
        """Slopes of the straight line in f: one per input, or none."""
        return 0 if self.prior.trend is None else self.scaling.n_dims

    @property
    def first_other(self) -> int:
        """Place of the likelihood's second parameter."""
        return 1 + 2 * len(self.components)

    @property
    def inputs(self) -> FloatArray:
        """Inputs in the order of the rows and in their own units, shape (n_points, n_dims)."""
        return self.scaling.centers(self.components[0].x.T)

    @property
    def training_outputs(self) -> FloatArray:
        """Outputs in the order of the rows, in their own units but for the offset."""
        return self.outputs * self.scaling.y_scale

    @property
    def beside_rows(self) -> FloatArray | None:
        """What is known of each row beside its output, in the order of the rows and in its own units."""
        return None if self.beside is None else _taken(self.beside, _in_order(self.X[:, 0]))

    def parameter(self, name: str) -> int:
        """The place of a parameter."""
        return [p.name for p in self.parameters].index(name)

    def rows(self) -> Rows:
        """The observations, as a record of a chain's own."""
        known, times = np.ascontiguousarray(self.known_root), np.ascontiguousarray(self.times)
        root = known * np.sqrt(times)
        y = self.outputs * root
        prior, n = self.prior, len(y)
        stands = StandsFor(np.zeros(n), np.full(n, np.inf), 0.0, 1.0) if self.stands_for is None else self.stands_for
        return Rows(
            counts=times,
            known_root=known,
            outputs=self.outputs.copy(),
            root=root,
            y=y,
            errors=np.zeros(len(y)),
            within=stands.within,
            limit=stands.limit,
            square=float(np.sum(y * y + stands.within * root * root)),
            log_root=float(np.sum(times * np.log(known))) + stands.shift,
            count=float(np.sum(times)),
            shift=stands.shift,
            safe=float(stands.limit.min(initial=np.inf)),
            margin=stands.margin,
            coarse=0,
            has_bias=int(prior.bias > 0),
            bias_variance=(prior.bias / self.scaling.y_scale) ** 2 if prior.bias > 0 else 1.0,
            slopes=np.zeros(self.n_slopes),
            slope_sd=np.zeros(0) if prior.trend is None else prior.trend * self.scaling.divisor / self.scaling.y_scale,
            line=np.zeros(n if self.n_slopes else 0),
        )

    def errors(self) -> Record:
        """What the likelihood's augmentation works on, as a record of a chain's own."""
        record = self.likelihood.record(self.prior.region, self.scaling, self.inputs, self.first_other)
        beside = self.beside_rows
        if beside is not None and self.likelihood.additive:
            beside = beside / self.scaling.y_scale
        self.likelihood.observe(record, self.outputs, beside, self.times)
        return record

    def start_values(self, rng: np.random.Generator) -> FloatArray:
        """Values of all parameters to start a chain from, in standard coordinates."""
        scalings = [self.scaling] * len(self.parameters)
        for component in self.components:
            scalings[component.level] = component.scaling
        return np.array([p.start_value(s, rng) for p, s in zip(self.parameters, scalings, strict=True)])


def scaling_of(prior: Prior, y_scale: float) -> Scaling:
    """Standard coordinates of a prior's region."""
    size = math.exp(float(np.mean(np.log(prior.region.widths))))
    return Scaling(prior.region.low, prior.anisotropy * size, size, y_scale)


def _in_order(x: FloatArray) -> NDArray[np.int64] | None:
    """The order of increasing x; None if that is the one it has."""
    return None if np.all(x[1:] >= x[:-1]) else np.argsort(x, kind="stable")


def _taken(values: FloatArray, order: NDArray[np.int64] | None) -> FloatArray:
    """Values in an order, without a copy if it is the one they have."""
    return values if order is None else values[order]


def _median(value: float | LogNormal) -> float:
    return value.median if isinstance(value, LogNormal) else value
