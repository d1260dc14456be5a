"""Five problems that both samplers fit, and their posteriors side by side.

Compared are means and variances of the width K, of f at ten points (drawn weights, so that nothing is shared with the
collapsed sampler's algebra), of λ at ten points where it is unknown, and of the noise.
"""

import numpy as np
from collapsed_tools import estimate_mean, sample

from porbnet import Gamma, InverseGamma, LogNormal, Prior
from porbnet.intensity import Constant, Piecewise, SigmoidGP, UnknownConstant
from porbnet.sampling.collapsed.chain import CollapsedChain
from porbnet.sampling.published.chain import PaperChain

NOISE = InverseGamma(3.0, 0.3)  # of the noise variance: about 0.3 squared
LINE = {"region": (-0.5, 1.5), "bias": 0.5, "units_per_lengthscale": 1.3}

PROBLEMS = {
    "constant": (Prior(Constant(5.0), 1.0, noise=NOISE, **LINE), 40),
    "unknown constant": (Prior(UnknownConstant(4.0, 4.0 / 5.0**2), 1.0, noise=NOISE, **LINE), 30),
    "piecewise": (Prior(Piecewise([0.4], [2.5, 8.0]), LogNormal(1.0, 1.5), noise=NOISE, **LINE), 40),
    "sigmoid-GP": (Prior(SigmoidGP(Gamma(6.0, 0.7), 2.0, 0.6), 1.0, noise=NOISE, **LINE), 40),
    "2-D constant": (
        Prior(
            Constant(4.0), 1.0, noise=LogNormal(0.3, 1.5), region=[(-0.5, 1.5), (-0.5, 1.0)], bias=0.5,
            units_per_lengthscale=1.0, anisotropy=[1.0, 1.3],
        ),
        60,
    ),
}  # fmt: skip


def observations(prior, n, rng):
    """Outputs of a wave that quickens, at inputs in [0, 1]^D."""
    X = rng.uniform(size=(n, prior.n_dims))
    return X, np.sin(7.0 * X[:, 0] ** 2) + 0.5 * X.sum(axis=1) - 0.5 + 0.3 * rng.standard_normal(n)


def places(n_dims):
    """Ten places, the last one beyond the data."""
    return np.linspace(0.0, 1.2, 10)[:, None] * np.linspace(1.0, 0.7, n_dims)


def series_of(posterior):
    """What is compared, as name -> (n_chains, n_draws)."""
    at = places(posterior.n_dims)
    named = {"K": posterior.n_units.astype(float), "noise": posterior.noise}
    named |= {f"f{i}": column for i, column in enumerate(posterior.networks(at).T)}
    if not posterior.problem.prior.intensity.known:
        levels = posterior.intensity(at).T
        named |= (
            {f"λ{i}": column for i, column in enumerate(levels)} if np.ptp(levels, axis=0).any() else {"λ": levels[0]}
        )
    return {name: posterior.by_chain(values) for name, values in named.items()}


def estimates(posterior):
    """Means and variances with their Monte Carlo errors, by (name, which)."""
    found = {}
    for name, series in series_of(posterior).items():
        found[name, "mean"] = estimate_mean(series)
        found[name, "variance"] = estimate_mean((series - series.mean()) ** 2)
    return found


def collapsed(problem, X, y, seed, n_draws, thin=3):
    """The collapsed sampler's posterior."""
    return sample(
        PROBLEMS[problem][0], X, y, seed, n_warmup=1000, n_draws=n_draws, thin=thin, chain_type=CollapsedChain
    )


def paper(problem, X, y, seed, n_draws, sampler, thin=3):
    """The paper's."""
    return sample(
        PROBLEMS[problem][0], X, y, seed, n_warmup=1000, n_draws=n_draws, thin=thin, plan=sampler, chain_type=PaperChain
    )
