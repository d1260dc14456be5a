"""The algebra of birth, death and moves: pairs cancel, and what is carried along equals what is computed afresh."""

import math

import numpy as np
import pytest
from collapsed_tools import current_centers, gram_of
from importance import PriorDraws, condition

from porbnet import Prior
from porbnet.base.compiled import kernel
from porbnet.intensity import Piecewise
from porbnet.kernels import gaussian
from porbnet.kernels.factor import row_of_inverse
from porbnet.kernels.state import NOISE
from porbnet.kernels.tally import tally
from porbnet.kernels.units import REACH, draw_center, scale_at
from porbnet.sampling.collapsed import birth_death
from porbnet.sampling.collapsed.blocks import BIRTH_DEATH, MOVE
from porbnet.sampling.collapsed.chain import CollapsedChain, Plan
from porbnet.sampling.problem import Problem

BIRTH_OR_DEATH, MOVE_ONE = range(2)
N_STEPS = 2000


@kernel
def refresh(state):
    """P and m afresh; returns log p(y)."""
    return gaussian.refresh(state)


@kernel
def propose(state, skip, rng):
    """A candidate at a place from the prior; returns it with g and its scale."""
    if skip < state.units.n and gaussian.is_informed(state):
        row_of_inverse(state.units, skip + 1)
    component = state.components[0]
    g = draw_center(component.shape, rng, state.work.center)
    scale = scale_at(component, state.values[component.level] * g)
    return birth_death.fit_candidate(state, component, scale, skip), g, scale


@kernel
def insert(state, candidate, g, scale):
    """Put a candidate in as the last unit."""
    birth_death.insert(state, 0, candidate, g, scale)


@kernel
def remove(state, k):
    """Take out unit k."""
    gaussian.remove(state, k)


@kernel
def log_bayes_factor(candidate, variance):
    """log B of a candidate."""
    return birth_death.log_bayes_factor(candidate, variance)


@kernel
def log_bayes_factor_of(state, k, variance):
    """log B of a unit that is there."""
    if gaussian.is_informed(state):
        row_of_inverse(state.units, k + 1)
    return birth_death.log_bayes_factor_of(state.units, k, variance)


@kernel
def step(state, which, rng):
    """A birth or death, or a move, counted as in a sweep."""
    if which == BIRTH_OR_DEATH:
        tally(state, BIRTH_DEATH, birth_death.birth_or_death(state, rng))
    else:
        tally(state, MOVE, birth_death.move(state, rng))


@kernel
def whole_inverse(state):
    """P from the factor that is carried in its place."""
    for row in range(state.units.n + 1):
        row_of_inverse(state.units, row)


KINDS = [(1, 0.8, 0.3), (2, 0.8, 0.3), (1, 0.0, 0.3), (1, 0.8, 0.008), (2, 0.8, 0.008)]  # dimensions, bias and noise


class State:
    """A chain in a random state of about ten units, and what the kernels need of it."""

    def __init__(self, n_dims, bias, noise, seed):
        rng = np.random.default_rng(seed)
        breaks, levels = [[0.9], [0.3]][:n_dims], 4.0 + 2.0 * (np.indices([2] * n_dims).sum(axis=0) % 2)
        self.prior = Prior(
            Piecewise(breaks[0] if n_dims == 1 else breaks, levels), 1.5, region=[(0.0, 2.0), (-0.4, 0.6)][:n_dims],
            bias=bias, noise=noise,
        )  # fmt: skip
        self.X = self.prior.region.uniform(40, rng)
        self.y = 0.5 + np.sin(4.0 * self.X[:, 0]) + noise * rng.standard_normal(40)
        self.weight = rng.uniform(0.5, 2.0, 40)
        problem = Problem.of(self.prior, self.X, self.y, self.weight)
        self.chain = CollapsedChain(problem, np.random.SeedSequence(seed), 0, 1, plan=Plan(300, 3))  # with room
        self.now, self.units, self.rng = self.chain.state, self.chain.state.units, self.chain.rng
        component = self.now.components[0]
        self.weight_variance = component.weight_factor * self.now.values[component.amplitude] ** 2
        self.refresh()
        # rounding grows with what the data say
        self.informed = self.now.rows.count > gaussian.INFORMED * self.now.values[NOISE] ** 2
        self.loss = 1000.0 if self.informed else 1.0

    @property
    def n(self):
        return self.units.n

    def refresh(self):
        return refresh(self.now)

    def propose(self, skip):
        """A candidate at a place from the prior; returns it with g and its scale."""
        return propose(self.now, skip, self.rng)

    def step(self, which):
        step(self.now, which, self.rng)

    def carried(self):
        """Copies of P, m, Gram matrix and moments of the units there are."""
        if self.informed:
            whole_inverse(self.now)
        size = self.n + 1
        u = self.units
        return [a.copy() for a in (u.inverse[:size, :size], u.mean[:size], gram_of(u), u.moment[:size])]

    def afresh(self):
        """The same four in NumPy; beyond a unit's reach, where its values are below 1e-9, they are zero."""
        scaling, x, y = self.chain.problem.scaling, self.now.components[0].x, self.now.rows.y
        gaps = x.T[:, None, :] - self.units.centers[None, : self.n]
        Phi = np.ones((len(self.y), self.n + 1)) * (self.prior.bias > 0)
        level = self.prior.intensity.value(current_centers(self.chain)) * scaling.volume
        scales = self.prior.s0 * level ** (1.0 / len(x))
        Phi[:, 1:] = np.where(
            np.abs(gaps[:, :, 0]) * scales < REACH, np.exp(-0.5 * scales**2 * (gaps**2).sum(axis=2)), 0.0
        )
        Phi *= np.sqrt(self.weight)[self.chain.problem.order, None]
        noise2 = self.now.values[NOISE] ** 2
        prior_precisions = [1.0 / self.now.rows.bias_variance] + [1.0 / self.weight_variance] * self.n
        A = Phi.T @ Phi / noise2 + np.diag(prior_precisions)
        P = np.linalg.inv(A)
        return [P, P @ Phi.T @ y / noise2, Phi.T @ Phi, Phi.T @ y]

    def log_p(self):
        """log p(y) by the reference's formula."""
        centers = current_centers(self.chain)
        one = PriorDraws(
            np.array([self.n]), np.array([self.prior.noise]), np.array([self.prior.amplitude]), np.ones(1),
            centers.T[:, :, None], self.prior.intensity.value(centers)[:, None], np.ones((self.n, 1), dtype=bool),
        )  # fmt: skip
        return float(condition(self.prior, one, self.X, self.y, self.weight, self.X[:1])[0][0])


@pytest.fixture(params=KINDS, ids=["1-D", "2-D", "no bias", "1-D informed", "2-D informed"])
def state(request, seed):
    return State(*request.param, seed)


def assert_same(got, wanted, tolerance):
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance * np.abs(other).max())


def test_birth_and_death_cancel(state):
    """50 births: the death's Bayes factor is the birth's, and taking the unit out restores P, m and Gram matrix."""
    for _ in range(50):
        before = state.carried()
        candidate, g, scale = state.propose(state.n)
        gained = log_bayes_factor(candidate, state.weight_variance)
        insert(state.now, candidate, g, scale)
        lost = log_bayes_factor_of(state.now, state.n - 1, state.weight_variance)
        assert gained == pytest.approx(lost, abs=1e-9 * state.loss)
        remove(state.now, state.n - 1)
        assert_same(state.carried(), before, 1e-9 * state.loss)


def test_bayes_factors_are_ratios_of_marginal_likelihoods(state):
    """Births and deaths against log p(y) in NumPy."""
    for _ in range(10):
        before = state.log_p()
        candidate, g, scale = state.propose(state.n)
        insert(state.now, candidate, g, scale)
        after = state.log_p()
        gained = log_bayes_factor(candidate, state.weight_variance)
        assert gained == pytest.approx(after - before, abs=1e-7 * state.loss)
        k = int(state.rng.integers(state.n))
        lost = log_bayes_factor_of(state.now, k, state.weight_variance)
        remove(state.now, k)
        assert lost == pytest.approx(after - state.log_p(), abs=1e-7 * state.loss)


def test_a_move_is_a_death_and_a_birth(state):
    """The candidate fitted with unit k out equals the one fitted after k's death; repeated until no unit is left."""
    if state.informed:
        pytest.skip("made as a death and a birth there")
    while state.n > 0:
        k = int(state.rng.integers(state.n))
        generator = state.rng.bit_generator.state
        at_once, *_ = state.propose(k)
        remove(state.now, k)
        state.rng.bit_generator.state = generator
        after_death, *_ = state.propose(state.n)
        factors = [log_bayes_factor(candidate, state.weight_variance) for candidate in (at_once, after_death)]
        assert factors[0] == pytest.approx(factors[1], abs=1e-9 * state.loss)
        np.testing.assert_allclose(at_once, after_death, rtol=1e-9 * state.loss, atol=1e-9 * state.loss)


def test_many_updates_leave_the_inverse_exact(state):
    """2,000 steps of each kind (P is computed afresh after every 400 updates, as in a sweep), checked every 100."""
    for i in range(N_STEPS):
        state.step(BIRTH_OR_DEATH)
        state.step(MOVE_ONE)
        if state.units.updates > 400:
            state.refresh()
        if i % 100 == 99:
            assert_same(state.carried(), state.afresh(), 1e-8 * state.loss)
    tuning = state.chain.tuning
    assert tuning.forced == 0
    assert min(tuning.accepted[:4]) > (5 if state.informed else 100)


def test_refresh_returns_the_marginal_likelihood(state):
    scale = state.chain.problem.scaling.y_scale
    for _ in range(5):
        state.step(BIRTH_OR_DEATH)
        jacobian = -len(state.y) * math.log(scale)
        assert state.refresh() + jacobian == pytest.approx(state.log_p(), abs=1e-7 * state.loss)
        assert_same(state.carried(), state.afresh(), 1e-9 * state.loss)
