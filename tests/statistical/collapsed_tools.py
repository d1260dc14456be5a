"""Runs of the collapsed sampler for tests: posteriors, and their means and variances with Monte Carlo errors."""

import importlib
import math
from dataclasses import replace

import numpy as np
from arviz_stats.base import array_stats
from importance import Estimate, quantities, shares

from porbnet.base.compiled import kernel
from porbnet.kernels.units import append, clear, relative_intensity, scale_at, set_curve
from porbnet.posterior.posterior import Posterior
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.collapsed.plan import Sizes
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem

LIMIT = 4.0  # combined standard errors; a normal variable leaves it with probability 6.3e-5


def sample(
    prior, X, y, seed, *, weight=None, n_chains=4, n_warmup=300, n_draws=5000, thin=2, plan=None, prepare=None,
    chain_type=CollapsedChain,
):  # fmt: skip
    """The posterior by `n_chains` chains; `prepare` may change a chain before it runs."""
    problem = Problem.of(prior, np.asarray(X, dtype=float), np.asarray(y, dtype=float), weight)
    results = []
    for child in np.random.SeedSequence(seed).spawn(n_chains):
        chain = chain_type(problem, child, n_warmup, n_draws, thin, plan)
        if prepare is not None:
            prepare(chain)
        results.append(finish(chain))
    return Posterior(problem, results)


def finish(chain):
    """Run a chain to its end."""
    chain.advance(chain.total_sweeps)
    n_forced, drift = chain.trouble()
    return ChainResult(draws=chain.draws(), acceptance=chain.acceptance(), n_forced=n_forced, drift=drift, seconds=0.0)


def estimate_mean(series):
    """Mean of a series of shape (n_chains, n_draws), its standard error from the effective sample size."""
    ess = float(array_stats.ess(series, method="mean"))
    return Estimate(float(series.mean()), float(series.std()) / math.sqrt(ess))


def f_of_region(posterior, X_new):
    """f of every draw by the units of the region alone, which is what references have; shape (n_draws, n_points)."""
    return replace(posterior.networks, further=None)(X_new)


def series_of(posterior, X_new):
    """Everything compared, as name -> (n_chains, n_draws)."""
    prior, draws = posterior.problem.prior, posterior.draws
    networks = posterior.networks
    owners = np.repeat(np.arange(len(draws)), draws.counts)
    named = quantities(
        prior, draws.counts, shares(prior, networks.centers[:, 0]), owners, posterior.noise, posterior.amplitude,
        posterior.parameter("level"), posterior.log_likelihood,
    )  # fmt: skip
    means = posterior.mean_networks(X_new)
    for m, values in enumerate(f_of_region(posterior, X_new).T):
        named[f"f{m}"] = values
        named[f"mean of f{m}"] = means[:, m]
    return {name: posterior.by_chain(values) for name, values in named.items()}


def estimates_of(posterior, X_new):
    """Posterior means and variances, keyed as in `importance.Reference`."""
    estimates = {}
    for name, series in series_of(posterior, X_new).items():
        estimates[name, "mean"] = estimate_mean(series)
        estimates[name, "variance"] = estimate_mean((series - series.mean()) ** 2)
    return estimates


def z_scores(one, other):
    """Differences in combined standard errors, by key."""
    assert one.keys() == other.keys()
    return {key: (one[key].value - other[key].value) / math.hypot(one[key].error, other[key].error) for key in one}


def worst(scores):
    """The key and value of the largest difference; NaN counts as largest."""
    return max(scores.items(), key=lambda item: math.inf if math.isnan(item[1]) else abs(item[1]))


# --- kernels that only kernels can call, made callable ---------------------------------------------------------------


@kernel
def take_all_out(state):
    """No units."""
    clear(state.rows, state.units)


@kernel
def add_unit(state):
    """A unit at state.work.center; P is left stale."""
    component, center = state.components[0], state.work.center
    g = relative_intensity(component.shape, center)
    scale = scale_at(component, state.values[component.level] * g)
    append(state.rows, state.components, state.units, 0, center, g, scale, state.work.cross)


@kernel
def follow_curve(state):
    """The intensity of the current coefficients of its curve."""
    set_curve(state.components[0])


def set_centers(chain, centers):
    """Units of a chain at given centers, shape (n_units, n_dims), in the units of the input; P is left stale."""
    take_all_out(chain.state)
    for center in chain.problem.scaling.inputs(centers):
        chain.state.work.center[:] = center
        add_unit(chain.state)


def set_outputs(chain, outputs):
    """New outputs (standard units, sorted) for a running chain."""
    rows, units = chain.state.rows, chain.state.units
    rows.outputs[:] = outputs
    rows.y[:] = outputs * rows.root
    rows.square = rows.y @ rows.y
    units.moment[0] = rows.has_bias * (rows.root @ rows.y)
    for k in range(units.n):
        low, high = units.low[k], units.high[k]
        units.moment[k + 1] = units.columns[k, : high - low] @ rows.y[low:high]
    units.updates = -1


def make_room(chain, capacity):
    """Give a chain that has not begun room for so many units and marked points."""
    cached = chain._cached()
    chain._resize(Sizes.of(capacity, False, capacity))
    chain._put_back(cached)


def always_in_blocks(patch, package="porbnet", target=1.0):
    """Let chains make births, deaths and moves in blocks however few units there are, of about `target` units."""
    chain = importlib.import_module(f"{package}.sampling.collapsed.chain")
    patch.setattr(chain, "MOST_SQUARE", -1)
    patch.setattr(chain, "MOST_SQUARE_BEYOND", -1)
    patch.setattr(importlib.import_module(f"{package}.sampling.collapsed.blocks"), "TARGET", target)


def gram_of(units):
    """The Gram matrix of bias and units that are not packed, shape (n_units + 1, n_units + 1)."""
    n, size = units.n + 1, len(units.moment)
    gram = units.gram.reshape(size, size)[:n, :n].copy()
    gram[0, 1:] = gram[1:, 0] = units.with_bias[: units.n]
    return gram


def current_centers(chain):
    """Centers of a chain's units, shape (n_units, n_dims), in the units of the input."""
    return chain.problem.scaling.centers(chain.state.units.centers[: chain.state.units.n])
