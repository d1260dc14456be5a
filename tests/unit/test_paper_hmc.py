"""Trajectories of the paper's sampler: gradients, energy, reversibility, edges, step size."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "statistical"))
from paper_tools import chain_of, evaluate_network

from porbnet import Gamma, Prior
from porbnet.base.compiled import kernel
from porbnet.base.region import Region
from porbnet.intensity import Constant, FromFunction, Piecewise, SigmoidGP
from porbnet.kernels.process import expand
from porbnet.sampling.published import curve, hmc, target
from porbnet.sampling.published.state import DUAL_NETWORK

# inner kernels, made callable from Python


@kernel
def gradient(state):
    target.gradient(state, state.network, state.motion)


@kernel
def log_density(state):
    return target.log_density(state, state.network)


@kernel
def kinetic(state):
    return hmc.kinetic(state.network, state.motion)


@kernel
def draw_momenta(state, rng):
    hmc.draw_momenta(state, state.network, rng)


@kernel
def leapfrog(state, n_steps, step):
    return hmc.leapfrog(state, state.network, n_steps, step)


@kernel
def reflect(place, width):
    return hmc.reflect(place, width)


@kernel
def dual_average(dual, row, probability, wanted):
    hmc.dual_average(dual, row, probability, wanted)


@kernel
def evaluate_curve(state):
    curve.evaluate_curve(state, state.network)


@kernel
def curve_gradient(state):
    curve.curve_gradient(state, state.network)


@kernel
def curve_log_density(state):
    return curve.curve_log_density(state, state.network)


@kernel
def curve_energy(state):
    return curve.curve_energy(state, state.network)


@kernel
def curve_leapfrog(state, n_steps, step):
    curve.curve_leapfrog(state, state.network, n_steps, step)


@kernel
def expand_and_contract(of, z, table, by_knot, by_z):
    expand(of, z, table)
    curve.contract(of, by_knot, by_z)


def bend(X):
    return 8.0 + 6.0 * np.sin(3.0 * X[:, 0])


KINDS = {
    "constant": (Constant(9.0), 1),
    "piecewise": (Piecewise([0.4], [5.0, 12.0]), 1),
    "function": (FromFunction(bend), 1),
    "sigmoid-GP": (SigmoidGP(Gamma(30.0, 2.0), 2.0, 0.4), 1),
    "2-D function": (FromFunction(lambda X: 6.0 + X[:, 0] * X[:, 1]), 2),
    "3-D constant": (Constant(5.0), 3),
}


class Fixture:
    """A chain with data, weights of observations among them, in a state from the prior."""

    def __init__(self, intensity, n_dims, seed, bias=0.7):
        rng = np.random.default_rng(seed)
        box = [(0.0, 1.0), (-0.5, 1.0), (0.0, 1.4)][:n_dims]
        self.prior = Prior(intensity, 1.2, region=box, bias=bias, noise=0.4, units_per_lengthscale=1.2)
        X = Region.of(box).uniform(25, rng)
        self.chain = chain_of(self.prior, seed, X, np.sin(5.0 * X[:, 0]), rng.uniform(0.5, 2.0, 25))
        self.state = self.chain.state
        self.network, self.motion, self.n = self.state.network, self.state.motion, self.state.network.n
        assert self.n > 1
        self.network.weights[: self.n] = 0.6 * rng.standard_normal(self.n)
        self.evaluate()
        draw_momenta(self.state, self.chain.rng)

    def evaluate(self):
        evaluate_network(self.state)

    def log_density(self):
        self.evaluate()
        return log_density(self.state)

    def leapfrog(self, n_steps, step):
        assert leapfrog(self.state, n_steps, step)

    def energy(self):
        return kinetic(self.state) - self.log_density()

    def turn_round(self):
        for momenta in (self.motion.center, self.motion.weight):
            momenta *= -1.0
        self.motion.bias *= -1.0

    def position(self):
        n = self.n
        return np.concatenate([self.network.centers[:n].ravel(), self.network.weights[:n], [self.network.bias]])

    def momenta(self):
        n = self.n
        return np.concatenate([self.motion.center[:n].ravel(), self.motion.weight[:n], [self.motion.bias]])


@pytest.fixture(params=KINDS)
def state(request, seed):
    return Fixture(*KINDS[request.param], seed)


def central_difference(function, record, name, index=None, step=1e-6):
    """Derivative of a function by a number of a record, or by an element of one of its arrays."""

    def put(value):
        if index is None:
            setattr(record, name, value)
        else:
            getattr(record, name)[index] = value
        return function()

    middle = getattr(record, name) if index is None else getattr(record, name)[index]
    difference = (put(middle + step) - put(middle - step)) / (2.0 * step)
    put(middle)
    return difference


def test_gradient_of_the_network(state):
    """Analytic against central differences, for weights, bias and every coordinate of the centers."""
    state.evaluate()
    gradient(state.state)
    for by, of in (("by_center", "centers"), ("by_weight", "weights")):
        analytic = getattr(state.motion, by)
        for index in np.ndindex(getattr(state.network, of)[: state.n].shape):
            difference = central_difference(state.log_density, state.network, of, index)
            assert analytic[index] == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(analytic).max()), (
                of,
                index,
            )
    analytic = state.motion.by_bias
    difference = central_difference(state.log_density, state.network, "bias")
    assert analytic != 0.0 and analytic == pytest.approx(difference, rel=1e-6, abs=1e-6 * abs(analytic))


def test_no_bias_no_gradient_of_it(seed):
    state = Fixture(Constant(9.0), 1, seed, bias=0.0)
    gradient(state.state)
    assert state.motion.by_bias == 0.0 and state.motion.bias == 0.0
    state.leapfrog(5, 0.05)
    assert state.network.bias == 0.0


def test_reversible_to_rounding(state):
    """Forth, momenta turned round, back: every coordinate where it was; centers have met the edge on the way."""
    before, momenta = state.position(), state.momenta()
    state.motion.center[: state.n] *= 6.0  # far enough to reach an edge
    momenta = state.momenta()
    state.leapfrog(30, 0.05)
    travelled = np.abs(state.position() - before).max()
    turned = np.sum(np.sign(state.motion.center[: state.n]) != np.sign(momenta[: state.n]).reshape(state.n, -1)[:, :1])
    assert travelled > 0.1 and turned > 0
    state.turn_round()
    state.leapfrog(30, 0.05)
    np.testing.assert_allclose(state.position(), before, rtol=0, atol=1e-10)
    np.testing.assert_allclose(-state.momenta(), momenta, rtol=0, atol=1e-10)


@pytest.mark.parametrize("kind", ["constant", "function", "3-D constant"])
def test_energy_error_falls_as_the_square_of_the_step(kind, seed):
    """Four times as many steps of a quarter of the length: the error of the energy is a sixteenth, to a tenth of it.

    Centers start slowly, so that none meets an edge.
    """
    errors = []
    for n_steps in (100, 400, 1600):
        state = Fixture(*KINDS[kind], seed)
        widths = state.state.components[0].shape.widths
        state.network.centers[: state.n] = (0.25 + 0.5 * state.network.centers[: state.n] / widths) * widths
        state.motion.center[:] *= 0.1
        start = state.energy()
        state.leapfrog(n_steps, 0.4 / n_steps)
        errors.append(abs(state.energy() - start))
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.1)


@pytest.mark.parametrize(("place", "folded", "sign"), [(0.3, 0.3, 1), (-0.2, 0.2, -1), (1.7, 1.3, -1), (3.2, 0.2, 1)])
def test_reflection(place, folded, sign):
    assert reflect(place, 1.5) == (pytest.approx(folded), sign)


def test_a_diverged_trajectory_is_rejected(seed):
    """Steps far too long leave the range of numbers; the chain stays where it is and says so."""
    state = Fixture(Constant(9.0), 1, seed)
    chain = state.chain
    chain.state.dual[DUAL_NETWORK, :2] = 200.0
    chain.state.n_birth_death = 0
    before = state.position()
    chain.advance(1)
    assert chain.state is state.state
    np.testing.assert_array_equal(state.position(), before)
    assert chain.trouble()[0] == 1 and chain.acceptance()["network"] == 0.0


def test_dual_averaging_finds_the_step():
    """Acceptance exp(-step) is 0.8 at a step of 0.223."""
    dual = chain_of(Prior(Constant(9.0), 1.2, region=(0.0, 1.0), noise=0.4), 0).state.dual
    for _ in range(2000):
        dual_average(dual, DUAL_NETWORK, np.exp(-np.exp(dual[DUAL_NETWORK, 0])), 0.8)
    assert np.exp(dual[DUAL_NETWORK, 1]) == pytest.approx(-np.log(0.8), rel=0.02)


# --- the Gaussian process of the intensity --------------------------------------------------------------------------

CURVES = {
    "1-D": (SigmoidGP(24.0, 2.0, 0.4), 1),
    "2-D": (SigmoidGP(16.0, 2.0, 0.6), 2),
    "3-D": (SigmoidGP(12.0, 2.0, 1.5), 3),
}


class CurveFixture(Fixture):
    """The same for a trajectory of the coefficients."""

    def __init__(self, kind, seed):
        super().__init__(*CURVES[kind], seed)
        self.curve, self.path = self.state.components[0].curve, self.state.path
        assert self.state.thinned.n > 1
        self.path.z[:] = self.curve.z
        self.path.momentum[:] = self.chain.rng.standard_normal(len(self.path.z))
        self.curve_log_density()

    def curve_log_density(self):
        evaluate_curve(self.state)
        return curve_log_density(self.state)

    def steps(self, n_steps, step):
        curve_leapfrog(self.state, n_steps, step)

    def curve_energy(self):
        self.curve_log_density()
        return curve_energy(self.state)


@pytest.mark.parametrize("kind", CURVES)
def test_gradient_of_the_curve(kind, seed):
    state = CurveFixture(kind, seed)
    curve_gradient(state.state)
    analytic = state.path.by_z.copy()
    for i in np.linspace(0, len(analytic) - 1, 15).astype(int):
        difference = central_difference(state.curve_log_density, state.path, "z", i, 1e-5)
        assert analytic[i] == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(analytic).max())


@pytest.mark.parametrize("kind", CURVES)
def test_contract_is_the_transpose_of_expand(kind, seed):
    state = CurveFixture(kind, seed)
    f, rng = state.curve, np.random.default_rng(seed)
    z, by_knot = rng.standard_normal(len(f.z)), rng.standard_normal(len(f.table))
    table, by_z = np.empty(len(f.table)), np.empty(len(f.z))
    expand_and_contract(f, z, table, by_knot, by_z)
    assert by_z @ z == pytest.approx(by_knot @ table, rel=1e-10)


def test_the_curve_is_reversible_and_of_second_order(seed):
    state = CurveFixture("1-D", seed)
    z, momentum = state.path.z.copy(), state.path.momentum.copy()
    errors = []
    for n_steps in (100, 400, 1600):
        state.path.z[:], state.path.momentum[:] = z, momentum
        start = state.curve_energy()
        state.steps(n_steps, 0.8 / n_steps)
        errors.append(abs(state.curve_energy() - start))
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.1)
    state.path.momentum[:] *= -1.0
    state.steps(1600, 0.8 / 1600)
    np.testing.assert_allclose(state.path.z, z, rtol=0, atol=1e-10)
    np.testing.assert_allclose(-state.path.momentum, momentum, rtol=0, atol=1e-10)
