"""Sweeps in windows: small problems against importance sampling, no data against the prior, Geweke's joint test.

As in test_curves_exact.py and test_collapsed_joint.py, for curves with the exponential kernel, whose chains go from
window to window. Each update of the curve is tried alone; windows are small beside the region and have one neighbour
whose weight is integrated out, or none, so that what is held around them matters; one input and two. With another seed
a number leaves 4 standard errors with probability 6.3e-5, some number of a case (about 30) once in 500 seeds.
"""

import numpy as np
import outcome_tools
import pytest
import test_collapsed_joint as joint
import test_outcomes_exact as outcomes
from collapsed_tools import LIMIT, estimate_mean, sample, worst, z_scores
from scipy import stats
from test_curves_exact import CurveReference, chain_estimates, comparable, observations, stated

from porbnet import Gamma, LogNormal, Prior
from porbnet.functions.grid_gp import EXPONENTIAL
from porbnet.intensity import SigmoidGP
from porbnet.likelihood import RobustNoise, VaryingNoise
from porbnet.sampling.collapsed.plan import Plan
from porbnet.sampling.collapsed.windows.chain import WindowChain


def bent(upper, variance, lengthscale, **more):
    return SigmoidGP(upper, variance, lengthscale, kernel=EXPONENTIAL, **more)


CURVE = bent(2.6, 3.0, 0.7)
LOW = bent(4.0, 2.0, 0.7, mean=-1.0)
LEARNED_CURVE = bent(Gamma(3.0, 1.2), 2.0, 0.9)
NOISE = LogNormal(0.5, 1.8)
BIRTHS = 30
ALL, ALONE, WITH_UNITS, WITH_PLACES = (Plan(BIRTHS, 20, *n) for n in ((1, 1, 1), (2, 0, 0), (0, 2, 0), (0, 0, 3)))
WIDE, NARROW, SHUT = {}, {"size": 0.1, "most_open": 1}, {"size": 0.1, "most_open": 0, "open_bias": 0}
MANY = NARROW | {"most_together": 0.0}


CASES = {
    "all updates": (stated(CURVE), ALL, WIDE),
    "all updates, narrow": (stated(CURVE), ALL, NARROW),
    "alone": (stated(CURVE), ALONE, NARROW),
    "with units": (stated(CURVE), WITH_UNITS, NARROW),
    "with places": (stated(CURVE), WITH_PLACES, NARROW),
    "many births": (stated(CURVE), Plan(200, 1, 1, 0, 0), WIDE),
    "many moves": (stated(CURVE), Plan(0, 400, 1, 0, 0), WIDE),
    "weights held": (stated(CURVE), ALL, SHUT),
    "upper learned": (stated(LEARNED_CURVE, NOISE), ALL, NARROW),
    "mean below zero": (stated(LOW, NOISE), ALL, NARROW),
    "noise curve": (stated(CURVE, VaryingNoise(0.4, 0.7, 0.8)), ALL, NARROW),
    "student-t": (stated(CURVE, RobustNoise(LogNormal(0.4, 1.5), LogNormal(4.0, 1.8))), ALL, NARROW),
}
AT_LENGTH = (  # slow
    "all updates", "many births", "many moves", "weights held", "mean below zero", "noise curve", "student-t",
)  # fmt: skip


def windowed(**settings):
    """What sets the windows of a chain, whatever room it is given later."""

    def prepare(chain):
        ordinary = chain._visit

        def settled(expected):
            visit = ordinary(expected)
            for name, value in settings.items():
                setattr(visit, name, value)
            return visit

        for name, value in settings.items():
            setattr(chain.visit, name, value)
        chain._visit = settled

    return prepare


@pytest.mark.parametrize("case", [pytest.param(c, marks=pytest.mark.slow if c in AT_LENGTH else ()) for c in CASES])
def test_importance_sampling(case, seed):
    prior, plan, windows = CASES[case]
    rng = np.random.default_rng(seed)
    X, y, X_new = observations(rng)
    exact = CurveReference(prior, X, y, X_new, rng, n=200_000)
    posterior = sample(
        prior, X, y, seed, n_warmup=500, n_draws=4000, thin=12 if windows is SHUT else 3,  # chains creep if all is held
        plan=plan, chain_type=WindowChain, prepare=windowed(**windows),
    )  # fmt: skip
    found = chain_estimates(posterior, X_new)
    keys = [k for k in found if not (k[0] == "log p" and isinstance(prior.noise, RobustNoise))]
    key, z = worst(z_scores(comparable(found, keys), comparable(exact.estimates, keys)))
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.parametrize(
    ("n_dims", "windows"), [(1, NARROW), (2, NARROW), (2, MANY), pytest.param(3, WIDE, marks=pytest.mark.slow)]
)
def test_no_data_gives_the_prior(n_dims, windows, seed):
    """Width, λ at two places and λ*; false-alarm rate 1e-4 for λ*, 6.3e-5 for each of the 8 other numbers."""
    curve = bent(Gamma(6.0, 6.0 / 4.0 * 2.0 ** (n_dims - 1)), 2.0, 1.5)
    prior = Prior(curve, 1.0, region=[(0.0, 2.0)] * n_dims, bias=0.5, noise=0.3, units_per_lengthscale=1.0)
    plan = Plan(BIRTHS, 20, 1, 1, 1 if n_dims == 1 else 0)
    posterior = sample(
        prior, np.zeros((0, n_dims)), np.zeros(0), seed, n_draws=3000, thin=3, plan=plan, chain_type=WindowChain,
        prepare=windowed(**windows),  # with three inputs small windows take too long
    )  # fmt: skip
    places, rng = np.array([[0.7] * n_dims, [1.4] + [0.2] * (n_dims - 1)]), np.random.default_rng(seed)
    tables = np.array([curve.draw(prior.region, rng).value(places) for _ in range(4000)])
    values = posterior.intensity(places)
    compared = {"λ0": (values[:, 0], tables[:, 0]), "λ1": (values[:, 1], tables[:, 1])}
    compared["λ0 λ1"] = values.prod(axis=1), tables.prod(axis=1)
    for name, (found, exact) in compared.items():
        for power in (1, 2):
            one, other = estimate_mean(posterior.by_chain(found**power)), estimate_mean(exact[None] ** power)
            assert abs(one.value - other.value) < LIMIT * np.hypot(one.error, other.error), (name, power)
    counts = estimate_mean(posterior.by_chain(posterior.n_units))
    assert abs(counts.value - prior.expected_units) < LIMIT * counts.error
    thinned = posterior.parameter("level")[::40]
    assert stats.kstest(thinned, stats.gamma(curve.upper.shape, scale=1.0 / curve.upper.rate).cdf).pvalue > 1e-4


OUTCOMES = ("labels", "counts", "outputs within limits", "Poisson")


@pytest.mark.slow
@pytest.mark.parametrize("case", OUTCOMES)
def test_outcomes_by_windows_and_as_a_whole(case, seed):
    """Two samplers, one posterior: the other one is held against importance sampling in test_outcomes_exact.py."""
    likelihood, y, _, beside = outcomes.CASES[case]
    prior = Prior(CURVE, LogNormal(1.5, 1.6), region=(-0.3, 1.9), bias=0.8, noise=likelihood, units_per_lengthscale=1.2)
    found = [
        outcome_tools.estimates(outcome_tools.chains(prior, y, seed + i, **beside, **kind))
        for i, kind in enumerate(({"chain_type": WindowChain, "prepare": windowed(**NARROW)}, {}))
    ]
    key, z = worst(z_scores(*found))
    assert abs(z) < LIMIT, (key, z)


# Geweke's test and calibration, by the tools of test_collapsed_joint.py
JOINT = {
    "windows, 1-D": Prior(
        bent(2.5, 2.0, 0.8), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5, noise=joint.LEVEL,
        units_per_lengthscale=1.2,
    ),
    "windows, 2-D": Prior(
        bent(0.08, 1.5, 5.0), LogNormal(1.2, 1.4), region=[(0.0, 10.0), (-5.0, 5.0)], bias=0.5, noise=joint.LEVEL,
        units_per_lengthscale=0.9,
    ),
    "windows, varying": Prior(
        bent(2.5, 2.0, 0.8), LogNormal(1.2, 1.4), region=(-0.5, 2.0), bias=0.5,
        noise=VaryingNoise(joint.LEVEL, 0.7, 0.8), units_per_lengthscale=1.2,
    ),
}  # fmt: skip


class Narrow(WindowChain):
    """Small windows, one open neighbour."""

    settings = NARROW

    def __init__(self, *arguments, **named):
        super().__init__(*arguments, **named)
        windowed(**self.settings)(self)


class Many(Narrow):
    """As with many units over several inputs."""

    settings = MANY


def use(chain_type, monkeypatch):
    monkeypatch.setattr(joint, "CollapsedChain", chain_type)
    monkeypatch.setattr(joint, "AT_LENGTH", JOINT)
    monkeypatch.setattr(joint, "sample", lambda *a, **named: sample(*a, chain_type=chain_type, **named))


@pytest.fixture
def in_windows(monkeypatch):
    use(Narrow, monkeypatch)


@pytest.mark.slow
def test_many_units_over_several_inputs(seed, monkeypatch):
    """Geweke's test, in which all weights are drawn jointly after each sweep; calibration, in which every eighth."""
    use(Many, monkeypatch)
    key, z = worst(joint.geweke("windows, 2-D", 40_000, 15_000, seed))
    assert abs(z) < LIMIT, (key, z)
    p = joint.p_values(joint.ranks("windows, 2-D", 300, seed), 10)
    assert min(p.values()) > 1e-4, p


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.slow if "var" in k else ()) for k in JOINT])
def test_joint_distribution(kind, seed, in_windows):
    key, z = worst(joint.geweke(kind, 40_000, 15_000, seed))
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.slow
@pytest.mark.parametrize("kind", JOINT)
def test_joint_distribution_at_length(kind, seed, in_windows):
    key, z = worst(joint.geweke(kind, 400_000, 300_000, seed))
    assert abs(z) < LIMIT, (key, z)


@pytest.mark.parametrize("kind", [pytest.param(k, marks=pytest.mark.slow if k[-3:] != "1-D" else ()) for k in JOINT])
def test_calibration(kind, seed, in_windows):
    p = joint.p_values(joint.ranks(kind, 150, seed), 10)
    assert min(p.values()) > 1e-4, p


@pytest.mark.slow
@pytest.mark.parametrize("kind", JOINT)
def test_calibration_at_length(kind, seed, in_windows):
    p = joint.p_values(joint.ranks(kind, 2000, seed, thin=25), 20)
    assert min(p.values()) > 1e-4, p
