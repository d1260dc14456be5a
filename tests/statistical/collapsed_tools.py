"""Runs of the collapsed sampler for tests: posteriors, and their means and variances with Monte Carlo errors."""

import math

import numba
import numpy as np
from arviz_stats.base import array_stats
from importance import Estimate, quantities, shares

from porbnet.posterior.posterior import Posterior
from porbnet.sampling.collapsed import units as unit_kernels
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.collapsed.state import LEVEL, empty_units
from porbnet.sampling.driver import ChainResult
from porbnet.sampling.problem import Problem


def from_python(kernel):
    """An inner kernel, which has no entry from Python, made callable."""
    return numba.njit(lambda *arguments: kernel(*arguments))


append, clear, copy_units, relative_intensity, scale_at = (
    from_python(getattr(unit_kernels, name))
    for name in ("append", "clear", "copy_units", "relative_intensity", "scale_at")
)

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
    n_forced, drift = chain.tuning.trouble
    return ChainResult(
        draws=chain.draws(), acceptance=chain.acceptance(), n_forced=int(n_forced), drift=float(drift), seconds=0.0
    )


def estimate_mean(series):
    """Mean of a series of shape (n_chains, n_draws), its standard error from the effective sample size."""
    ess = float(array_stats.ess(series, method="mean"))
    return Estimate(float(series.mean()), float(series.std()) / math.sqrt(ess))


def series_of(posterior, X_new):
    """Everything compared, as name -> (n_chains, n_draws)."""
    prior, draws = posterior.problem.prior, posterior.draws
    networks = posterior.networks
    owners = np.repeat(np.arange(len(draws)), draws.counts)
    named = quantities(
        prior, draws.counts, shares(prior, networks.centers[:, 0]), owners, posterior.noise, posterior.amplitude,
        draws.values[:, 2] / posterior.problem.scaling.volume, posterior.log_likelihood,
    )  # fmt: skip
    means = posterior.mean_networks(X_new)
    for m, values in enumerate(networks(X_new).T):
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


def set_centers(chain, centers):
    """Units of a chain at given centers, shape (n_units, n_dims), in the units of the input; P is left stale."""
    hyper = chain.problem.hyper
    clear(chain.data, chain.units)
    for center in chain.problem.scaling.inputs(centers):
        g = relative_intensity(chain.shape, center)
        scale = scale_at(hyper, chain.values[LEVEL] * g, len(center))
        append(chain.data, chain.units, center, g, scale, chain.work.cross)


def set_outputs(chain, outputs):
    """New outputs (standard units, sorted) for a running chain."""
    data = chain.data
    data.outputs[:] = outputs
    data.y[:] = outputs * data.root_weight
    data.totals[0] = data.y @ data.y
    units, y = chain.units, chain.data.y
    units.moment[0] = chain.data.has_bias * (chain.data.root_weight @ y)
    for k in range(units.n[0]):
        low, high = units.low[k], units.high[k]
        units.moment[k + 1] = units.columns[k, : high - low] @ y[low:high]
    units.updates[0] = -1


def make_room(chain, capacity):
    """Give a chain that has not begun room for so many units."""
    units = empty_units(capacity, *chain.problem.data.x.shape)
    copy_units(chain.units, units)
    chain.units = units
    chain._allocate_trial(capacity)


def current_centers(chain):
    """Centers of a chain's units, shape (n_units, n_dims), in the units of the input."""
    return chain.problem.scaling.centers(chain.units.centers[: chain.units.n[0]])
