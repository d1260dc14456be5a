"""The standard Bayesian neural network of one hidden layer, sampled by NUTS.

    f(x) = b + Σ_k v_k σ(a_k · x + b_k),   σ(z) = exp(-½ z²) or tanh(z),   y ~ N(f(x), noise²)

with the independent normal priors of `porbnet.comparison.BNNPrior`. All weights are sampled in units of their prior sd.
"""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from porbnet.base import checks as _checks
from porbnet.base.checks import FloatArray
from porbnet.base.distributions import LogNormal
from porbnet.base.seeds import RandomState, seed_sequence
from porbnet.baselines._nuts import jax_modules, sample
from porbnet.baselines.base import Baseline, Predictive, choose
from porbnet.comparison import BNNPrior, match_upcrossings
from porbnet.errors import StatementWarning
from porbnet.statement.function_prior import FunctionPrior

N_TRIED = 25  # standard deviations of input weights, to see how many upcrossings a BNN can have


class BNNRegressor(Baseline):
    """A Bayesian neural network by NumPyro's NUTS.

    Parameters
    ----------
    prior : BNNPrior
        The network and its weights' prior; see `matched_bnn` for one that has PoRB-NET's expected upcrossings.
    noise : float or LogNormal
        Standard deviation of an observation about f, in the units of the output; or its prior.
    n_warmup, n_draws, n_chains : int
        Of NUTS; draws are per chain.
    max_depth : int
        Of NUTS's trees: at most 2 ** max_depth leapfrog steps per draw.
    random_state : int, Generator, SeedSequence, RandomState or None
    """

    def __init__(
        self, prior: BNNPrior, noise: float | LogNormal, *, n_warmup: int = 500, n_draws: int = 500, n_chains: int = 2,
        max_depth: int = 8, random_state: RandomState = 0,
    ) -> None:  # fmt: skip
        if not isinstance(prior, BNNPrior):
            raise _checks.fail("prior", prior, "it must be a BNNPrior")
        self.prior = prior
        self.noise = noise if isinstance(noise, LogNormal) else _checks.positive("noise", noise)
        self.n_warmup, self.n_draws = _checks.count("n_warmup", n_warmup), _checks.count("n_draws", n_draws)
        self.n_chains, self.max_depth = _checks.count("n_chains", n_chains), _checks.count("max_depth", max_depth)
        self.random_state = random_state

    def _fit(self, X: FloatArray, y: FloatArray) -> None:
        seed = int(seed_sequence(self.random_state).generate_state(1)[0])
        learned = isinstance(self.noise, LogNormal)
        # float() of a LogNormal is not needed: its median and factor are data of the program
        center, factor = (
            (self.noise.median, self.noise.factor) if isinstance(self.noise, LogNormal) else (self.noise, 1.0)
        )
        program = _program(self.prior.n_units, self.prior.activation, X.shape[1], learned)
        data = {"X": X, "y": y, "sds": _sds(self.prior), "noise": np.array([center, math.log(factor)])}
        self.draws_ = sample(program, data, self.n_warmup, self.n_draws, self.n_chains, self.max_depth, seed)
        n = len(self.draws_["bias"])
        level = self.draws_["log_noise"] * math.log(factor) if learned else np.zeros(n)
        self.noise_ = center * np.exp(level)

    def _values(self, X: FloatArray, rows: Any) -> FloatArray:
        """Values of some draws at points, shape (len(rows), n_points)."""
        d, prior, sds = self.draws_, self.prior, _sds(self.prior)
        z = np.einsum("skd,nd->skn", sds[0] * d["slopes"][rows], X) + sds[1] * d["shifts"][rows][:, :, None]
        hidden = np.tanh(z) if prior.activation == "tanh" else np.exp(-0.5 * z * z)
        return np.asarray(np.einsum("sk,skn->sn", sds[2] * d["weights"][rows], hidden) + sds[3] * d["bias"][rows, None])

    def _predictive(self, X: FloatArray) -> Predictive:
        n = len(self.noise_)
        parts = [self._values(X, slice(i, i + 100)) for i in range(0, n, 100)]
        mean = np.concatenate(parts)
        return Predictive(mean, np.zeros_like(mean), np.repeat(self.noise_[:, None] ** 2, len(X), axis=1))

    def _functions(self, X: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
        return self._values(X, choose(n, len(self.noise_), rng)).T


def _sds(prior: BNNPrior) -> FloatArray:
    return np.array([prior.input_weight_sd, prior.input_bias_sd, prior.output_weight_sd, prior.output_bias_sd])


@functools.cache
def _program(n_units: int, activation: str, n_dims: int, learned: bool) -> Callable[..., None]:
    """The NumPyro model; cached, so that equal networks share one compiled program."""
    jax, numpyro = jax_modules()
    dist, jnp = numpyro.distributions, jax.numpy

    def program(X: Any, y: Any, sds: Any, noise: Any) -> None:
        def normal(name: str, *shape: int) -> Any:
            return numpyro.sample(name, dist.Normal(0.0, 1.0).expand(shape).to_event(len(shape)))

        z = sds[0] * normal("slopes", n_units, n_dims) @ X.T + sds[1] * normal("shifts", n_units)[:, None]
        hidden = jnp.tanh(z) if activation == "tanh" else jnp.exp(-0.5 * z * z)
        f = sds[2] * normal("weights", n_units) @ hidden + sds[3] * normal("bias")
        sd = noise[0] * (jnp.exp(noise[1] * normal("log_noise")) if learned else 1.0)
        numpyro.sample("y", dist.Normal(f, sd), obs=y)

    return program


def matched_bnn(
    target: FunctionPrior, interval: Any, n_units: int = 50, activation: str = "rbf", variance: float | None = None
) -> BNNPrior:
    """A BNN prior with as many expected upcrossings of zero in an interval as another prior.

    Input weights and hidden biases share one standard deviation, which is what is matched. Output weights are
    scaled so that the variance of f, averaged over the interval, is that of the target there; the output bias is the
    target's, but makes at most half of that variance. Where no standard deviation has so many, the one with the most is
    taken, and a warning says so.

    Parameters
    ----------
    target : FunctionPrior
        Of one input.
    interval : (low, high)
    n_units : int
    activation : {"rbf", "tanh"}
    variance : float, optional
        Of f, averaged over the interval; the target's own if not given.

    Examples
    --------
    >>> from porbnet.statement.prior import Prior
    >>> net = Prior(lengthscale=0.2, amplitude=1.0, region=(-0.5, 1.5))
    >>> bnn = matched_bnn(net, (0.0, 1.0))
    >>> round(bnn.upcrossings((0.0, 1.0)) / net.upcrossings((0.0, 1.0)), 3)
    1.0
    """
    low, high = (float(v) for v in interval)
    grid = np.linspace(low, high, 201)
    wanted = float(np.mean(target.variance(grid))) if variance is None else _checks.positive("variance", variance)
    bias = min(float(getattr(target, "bias", 0.0)), math.sqrt(0.5 * wanted))

    def make(sd: float) -> BNNPrior:
        unit = BNNPrior(n_units, activation, input_weight_sd=sd, input_bias_sd=sd, output_weight_sd=1.0)
        output = math.sqrt((wanted - bias**2) / float(np.mean(unit.variance(grid))))
        return BNNPrior(
            n_units, activation, input_weight_sd=sd, input_bias_sd=sd, output_weight_sd=output, output_bias_sd=bias
        )

    reach = max(abs(low), abs(high))
    sds = np.geomspace(0.02 / reach, 5000.0 / reach, N_TRIED)
    made = [make(float(sd)) for sd in sds]
    counts, asked = [prior.upcrossings(interval) for prior in made], target.upcrossings(interval)
    best = int(np.argmax(counts))
    if asked >= counts[best]:
        warnings.warn(
            f"a BNN with {n_units} units has at most about {counts[best]:.3g} expected upcrossings in {(low, high)}, "
            f"the prior to be matched {asked:.3g}: the BNN with the most is taken",
            StatementWarning,
            stacklevel=2,
        )
        return made[best]
    above = max(1, next(i for i, count in enumerate(counts) if count > asked))
    return match_upcrossings(make, target, interval, (sds[above - 1], sds[above])).prior
