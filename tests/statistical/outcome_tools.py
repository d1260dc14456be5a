"""Small problems whose outcomes are no sums of f and an error: posteriors by importance sampling, and by chains."""

import math

import numpy as np
from collapsed_tools import estimate_mean, finish
from importance import Estimate, columns, draw_prior, positive

from porbnet.posterior.posterior import Posterior
from porbnet.posterior.reweighing import reweighed
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.problem import Problem

X = np.array([[0.1], [0.4], [0.75], [1.2], [1.5]])
X_NEW = np.array([[0.25], [1.0]])


def own_parameter(prior):
    """Name and law of the likelihood's own unknown parameter, or None: noise of what is additive, size of counts."""
    for parameter in prior.likelihood.parameters():
        if not parameter.known:
            return parameter.name, parameter.law
    return None


def simulate(prior, n, rng, X=X, X_new=X_NEW):
    """Prior draws: units, f at X and at new points, shape (n, n_points) each, and the likelihood's own parameter."""
    stated = prior.with_noise(1.0)
    draws = draw_prior(stated, n, rng)
    xi, bias = rng.standard_normal(draws.alive.shape), prior.bias * rng.standard_normal(n)
    f, f_new = ((bias + np.einsum("pkn,kn->pn", columns(stated, draws, at), xi)).T for at in (X, X_new))
    own = own_parameter(prior)
    return draws, f + prior.likelihood.middle, f_new + prior.likelihood.middle, own and positive(own[1], n, rng)


def named_values(counts, amplitude, f_new, own):
    """What is compared, name -> values."""
    named = {"K": counts.astype(float), "log amplitude": np.log(amplitude)}
    named |= {f"f{j}": f_new[:, j] for j in range(f_new.shape[1])} | {"f0 f1": f_new[:, 0] * f_new[:, 1]}
    if own is not None:
        named["own"] = np.log(own)
    return named | {f"{name}²": values**2 for name, values in list(named.items())}


def reference(prior, log_likelihood, seed, n=400_000):
    """Posterior means by importance sampling from the prior; log_likelihood(f, own) sums over observations."""
    rng, parts = np.random.default_rng(seed), []
    for _ in range(n // 20_000):
        draws, f, f_new, own = simulate(prior, 20_000, rng)
        parts.append((log_likelihood(f, own), named_values(draws.counts, draws.amplitude, f_new, own)))
    log_w = np.concatenate([part[0] for part in parts])
    w = np.exp(log_w - log_w.max())
    w /= w.sum()
    found = {}
    for name in parts[0][1]:
        values = np.concatenate([part[1][name] for part in parts])
        mean = w @ values
        found[name] = Estimate(mean, math.sqrt(np.sum((w * (values - mean)) ** 2)))
    return found


def chains(
    prior, y, seed, *, X=X, counts=None, beside=None, n_chains=4, n_warmup=300, n_draws=4000, thin=2,
    chain_type=CollapsedChain, prepare=None,
):  # fmt: skip
    """The posterior by chains; `prepare` may change a chain before it runs."""
    problem = Problem.of(prior, X, np.asarray(y, dtype=float), None, counts, beside=beside)
    results = []
    for child in np.random.SeedSequence(seed).spawn(n_chains):
        chain = chain_type(problem, child, n_warmup, n_draws, thin)
        if prepare is not None:
            prepare(chain)
        results.append(finish(chain))
    posterior = Posterior(problem, results, prior.likelihood.middle)
    return posterior if prior.likelihood.integrates else reweighed(posterior)


def estimates(posterior):
    """The same from chains."""
    own = own_parameter(posterior.problem.prior)
    drawn = None if own is None else posterior.parameter(own[0])
    named = named_values(posterior.n_units, posterior.amplitude, posterior.f(X_NEW), drawn)
    return {name: estimate_mean(posterior.by_chain(values)) for name, values in named.items()}
