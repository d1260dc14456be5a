"""A fit as an ArviZ DataTree: `posterior.to_arviz()`.

Written for arviz-base alone, which has the same `from_dict` on the 0.8 line (Python 3.11) and on 1.x (Python 3.12 on).

Groups and variables (dimensions besides chain and draw in brackets; obs_id is the row of X, place a point of the grid):

    posterior             n_units, and what is unknown of noise, amplitude, bias, level, freedom; f [place], lengthscale
                          [place], intensity [place], noise_curve [place]; of the Gaussian process of a sigmoid-GP
                          intensity curve_variance, curve_lengthscale [feature]
    sample_stats          lp (log posterior density), log_marginal_likelihood; acceptance (chain, move)
    prior                 the same variables as posterior, from the prior
    prior_predictive, posterior_predictive, log_likelihood      y [obs_id]
    observed_data         y (obs_id)
    constant_data         X (obs_id, feature), row (obs_id), grid (place, feature), sample_weight (obs_id), exposure or
                          other_end (of what is known within limits; obs_id), and what was stated as known, by the names
                          above
    units                 a row per unit of every draw: chain, draw, lengthscale, weight (unit), center (unit, feature)

Units are ragged, and their numbering within a draw means nothing: a table with a row per unit has no padding, and no
R-hat to be taken of exchangeable slots.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.seeds import RandomState, generator
from porbnet.errors import StatementError
from porbnet.posterior.pointwise import (
    WEIGHTS,
    Observed,
    log_density,
    log_likelihood,
    noise_of_observations,
    observations,
    observed,
)
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.problem import Problem
from porbnet.statement.joint_draws import joint_draws
from porbnet.statement.moments import scale_of

if TYPE_CHECKING:
    from xarray import DataTree

_PLACES = 50
EXTRA = 'ArviZ output needs arviz-base and xarray: pip install "porbnet[arviz]"'


def to_arviz(
    posterior: Posterior,
    grid: Any = None,
    *,
    thin: int = 1,
    n_prior: int = 500,
    weights: str = "drawn",
    random_state: RandomState = 0,
    most_bytes: int = 2**30,
) -> DataTree:
    """See `Posterior.to_arviz`."""
    try:
        import arviz_base
        import xarray
    except ImportError as error:
        raise ImportError(EXTRA) from error

    _checks.choice("weights", weights, WEIGHTS)
    n_prior = _checks.count("n_prior", n_prior, minimum=0)
    draws = _kept(posterior, _checks.count("thin", thin))
    _check_size(posterior, thin, len(draws), n_prior, _checks.count("most_bytes", most_bytes))
    found = observed(posterior)
    X, y, order = found.X, found.y, found.as_given
    places = _places(posterior, grid)
    rng = generator(random_state)
    shape = (posterior.n_chains, len(draws) // posterior.n_chains)

    def by_chain(values: Any) -> Any:
        return np.asarray(values).reshape(*shape, *np.shape(values)[1:])

    replicates = _replicates(posterior, draws, found, rng)
    inside, constant = _unknown_and_known(posterior.problem, _posterior_variables(posterior, draws, places))
    groups: dict[str, dict[str, Any]] = {
        "posterior": {k: by_chain(v) for k, v in inside.items()},
        "posterior_predictive": {"y": by_chain(replicates[:, order])},
        "log_likelihood": {"y": by_chain(log_likelihood(posterior, weights, draws)[:, order])},
        "sample_stats": {
            "lp": by_chain(log_density(posterior)[draws]),
            "log_marginal_likelihood": by_chain(posterior.log_likelihood[draws]),
        },
        "observed_data": {"y": y[order]},
        "constant_data": {k: v[0] for k, v in constant.items()}
        | {"X": X[order], "row": found.rows[order], "grid": places}
        | ({} if np.all(found.counts == 1.0) else {"sample_weight": found.counts[order]})
        | (
            {} if found.beside is None else {posterior.problem.likelihood.beside.replace(" ", "_"): found.beside[order]}
        ),
    }
    if n_prior:
        drawn, outputs = _prior_variables(posterior, n_prior, places, found, rng)
        groups["prior"] = {k: v[None] for k, v in drawn.items() if k in inside}
        groups["prior_predictive"] = {"y": outputs[None][..., order]}
    along = ["place"]
    dims: dict[str, list[str]] = {name: along for name in ("f", "lengthscale", "intensity", "noise_curve")}
    dims |= {"y": ["obs_id"], "X": ["obs_id", "feature"], "row": ["obs_id"], "grid": ["place", "feature"]}
    dims |= {"curve_lengthscale": ["feature"], "slope": ["feature"]}
    dims |= {name: ["obs_id"] for name in ("sample_weight", "exposure", "other_end")}
    coords: dict[str, Any] = {
        "place": places[:, 0] if places.shape[1] == 1 else np.arange(len(places)),
        "obs_id": np.arange(len(y)),
        "feature": np.arange(posterior.n_dims),
    }
    attributes = {"/": {"inference_library": "porbnet", "log_likelihood": f"network weights {weights}"}}
    tree: DataTree = arviz_base.from_dict(groups, coords=coords, dims=dims, attrs=attributes)
    tree["sample_stats"]["acceptance"] = _acceptance(posterior)
    tree["units"] = xarray.DataTree(_units(posterior, draws))
    return tree


def _check_size(posterior: Posterior, thin: int, n_draws: int, n_prior: int, most_bytes: int) -> None:
    """Refuse tables of draws by observations (log likelihood, two groups of predictive draws) that are too large."""
    n = len(observed(posterior))
    needed = 8 * n * (2 * n_draws + n_prior)
    if needed > most_bytes:
        raise StatementError(
            f"thin={thin} and n_prior={n_prior} leave {n_draws:,} draws and {n_prior:,} prior draws of {n:,} "
            f"observations, tables of {needed:,} bytes: it must be at most most_bytes={most_bytes:,}. "
            f"Keep fewer draws (thin={math.ceil(thin * needed / most_bytes)}, n_prior=0), raise most_bytes, or take "
            "posterior_.loo(), which needs no table"
        )


def _kept(posterior: Posterior, thin: int) -> NDArray[np.int64]:
    """Indices of every thin-th draw of each chain."""
    length = posterior.n_draws_per_chain
    inside = np.arange(thin - 1, length, thin)
    if not len(inside):
        raise _checks.fail("thin", thin, f"it must be at most {length}, the number of draws per chain")
    return np.asarray(length * np.arange(posterior.n_chains)[:, None] + inside).ravel()


def _places(posterior: Posterior, grid: Any) -> FloatArray:
    """The grid given, or one over the inputs (several inputs: some of them)."""
    if grid is not None:
        places = _checks.points("grid", grid, posterior.n_dims)
        if len(np.unique(places, axis=0)) < len(places) or not len(places):
            raise _checks.fail("grid", grid, "it must hold one point at least, and none twice")
        return places
    X = np.unique(observations(posterior)[0], axis=0)
    if posterior.n_dims == 1 and len(X) > 1:
        return np.linspace(X[0, 0], X[-1, 0], _PLACES)[:, None]
    return np.asarray(X[np.unique(np.linspace(0, len(X) - 1, min(_PLACES, len(X))).round().astype(int))])


def _posterior_variables(
    posterior: Posterior, draws: NDArray[np.int64], places: FloatArray
) -> dict[str, FloatArray | NDArray[np.int64]]:
    """Everything there may be in the group `posterior`, with draws along the first axis."""
    return {
        "n_units": posterior.n_units[draws],
        **{p.name: posterior.parameter(p.name)[draws] for p in posterior.problem.parameters},
        "bias": posterior.bias[draws],
        "slope": _rows(posterior.slopes, draws),
        "curve_variance": _rows(posterior.curve_variance, draws),
        "curve_lengthscale": _rows(posterior.curve_lengthscale, draws),
        "f": posterior.subset(draws)(places),
        "lengthscale": posterior.lengthscale(places)[draws],
        "intensity": posterior.intensity(places)[draws],
        "noise_curve": posterior.noise_at(places, draws),
    }


def _rows(values: FloatArray | None, draws: NDArray[np.int64]) -> FloatArray:
    """Some draws of what a model may not have."""
    return np.full(len(draws), np.nan) if values is None else values[draws]


def _unknown_and_known(problem: Problem, variables: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables that differ between draws, and those that were stated; what the model does not have is in neither."""
    intensity, process = problem.prior.intensity, problem.components[0].process
    unknown = {p.name: not p.known for p in problem.parameters} | {
        "bias": problem.prior.bias > 0,
        "slope": problem.n_slopes > 0,
        "curve_variance": process is not None and process.variance_log_sd > 0,
        "curve_lengthscale": process is not None and len(process.lengthscales) > 1,
        "lengthscale": not intensity.known,
        "intensity": not intensity.known,
        "noise_curve": problem.likelihood.varies,
    }
    exists = {
        "slope": problem.n_slopes > 0,
        "noise": problem.likelihood.additive,
        "noise_curve": problem.likelihood.varies,
        "level": not intensity.known,
        "curve_variance": process is not None,
        "curve_lengthscale": process is not None,
    }
    inside = {k: v for k, v in variables.items() if unknown.get(k, True)}
    known = {k: v for k, v in variables.items() if not unknown.get(k, True) and exists.get(k, True)}
    return inside, known


def _replicates(
    posterior: Posterior, draws: NDArray[np.int64], found: Observed, rng: np.random.Generator
) -> FloatArray:
    """A replicate of every observation in some draws, shape (n_draws, n_points)."""
    f, sd = posterior.subset(draws)(found.X), noise_of_observations(posterior, draws)
    return posterior.problem.likelihood.outputs(f, sd, posterior.drawn.taken(draws).at(found.beside), rng)


def _prior_variables(
    posterior: Posterior, n: int, places: FloatArray, found: Observed, rng: np.random.Generator
) -> tuple[dict[str, Any], FloatArray]:
    """Draws of the variables from the prior, and of observations; shape (n, ...) each."""
    prior, offset = posterior.problem.prior, posterior.offset
    drawn = joint_draws(prior, n, rng)
    intensity = drawn.intensity(places)
    variables = {
        "n_units": drawn.networks.n_units,
        **drawn.drawn.values,
        "amplitude": drawn.amplitude,
        "bias": offset + drawn.networks.biases,
        "slope": np.full(n, np.nan) if drawn.networks.trend is None else drawn.networks.trend.slopes,
        "level": drawn.level,
        "curve_variance": drawn.curve_variance,
        "curve_lengthscale": drawn.curve_lengthscale,
        "f": offset + drawn.networks(places),
        "lengthscale": math.sqrt(2.0) / scale_of(intensity, prior.s0, prior.n_dims),
        "intensity": intensity,
        "noise_curve": drawn.noise_at(places),
    }
    f, sd = offset + drawn.networks(found.X), drawn.noise_at(found.X) / found.known_root
    return variables, posterior.problem.likelihood.outputs(f, sd, drawn.drawn.at(found.beside), rng)


def _acceptance(posterior: Posterior) -> Any:
    """Share of accepted proposals of each chain by kind of move: one number per chain, not per draw."""
    from xarray import DataArray

    moves = list(dict.fromkeys(name for result in posterior.results for name in result.acceptance))
    shares = [[result.acceptance.get(name, math.nan) for name in moves] for result in posterior.results]
    coords = {"chain": np.arange(posterior.n_chains), "move": moves}
    return DataArray(np.array(shares), dims=("chain", "move"), coords=coords)


def _units(posterior: Posterior, draws: NDArray[np.int64]) -> Any:
    """One row per unit of every draw."""
    from xarray import Dataset

    networks = posterior.subset(draws)
    owners = np.repeat(np.arange(len(draws)), networks.n_units)
    per_chain = len(draws) // posterior.n_chains
    along = ("unit",)
    return Dataset(
        {
            "chain": (along, owners // per_chain),
            "draw": (along, owners % per_chain),
            "center": (("unit", "feature"), networks.centers),
            "lengthscale": (along, math.sqrt(2.0) / networks.scales),
            "weight": (along, networks.weights),
        },
        coords={"feature": np.arange(posterior.n_dims)},
    )
