"""Trajectories of the paper's sampler: gradients, energy, reversibility, edges, step size."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "statistical"))
from collapsed_tools import from_python
from paper_tools import chain_of

from porbnet import Gamma, Prior
from porbnet.base.region import Region
from porbnet.intensity import Constant, FromFunction, Piecewise, SigmoidGP
from porbnet.sampling.collapsed import field
from porbnet.sampling.published import curve, hmc, target
from porbnet.sampling.published.state import DUAL_NETWORK, empty_tuning

evaluate, gradient, log_density = (
    from_python(getattr(target, name)) for name in ("evaluate", "gradient", "log_density")
)
leapfrog, kinetic, draw_momenta, reflect, dual_average = (
    from_python(getattr(hmc, name)) for name in ("leapfrog", "kinetic", "draw_momenta", "reflect", "dual_average")
)
evaluate_curve, curve_gradient, curve_log_density, curve_leapfrog, curve_energy, contract = (
    from_python(getattr(curve, name))
    for name in (
        "evaluate_curve", "curve_gradient", "curve_log_density", "curve_leapfrog", "curve_energy", "contract",
    )
)  # fmt: skip


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
        self.network, self.motion = self.chain.state.network, self.chain.state.motion
        self.hyper, self.n = self.chain.problem.hyper, int(self.network.n[0])
        assert self.n > 1
        self.network.weights[: self.n] = 0.6 * rng.standard_normal(self.n)
        self.evaluate()
        draw_momenta(self.chain.data, self.network, self.motion, self.chain.rng)

    def evaluate(self):
        c = self.chain
        evaluate(c.data, c.shape, self.hyper, c.values[2], self.network)

    def log_density(self):
        self.evaluate()
        return log_density(self.chain.data, self.hyper, self.chain.values, self.network)

    def leapfrog(self, n_steps, step):
        c = self.chain
        assert leapfrog(c.data, c.shape, self.hyper, c.values, self.network, self.motion, n_steps, step)

    def energy(self):
        return kinetic(self.network, self.motion) - self.log_density()

    def turn_round(self):
        for momenta in (self.motion.center, self.motion.weight, self.motion.bias):
            momenta *= -1.0

    def position(self):
        n = self.n
        return np.concatenate([self.network.centers[:n].ravel(), self.network.weights[:n], self.network.bias])

    def momenta(self):
        n = self.n
        return np.concatenate([self.motion.center[:n].ravel(), self.motion.weight[:n], self.motion.bias])


@pytest.fixture(params=KINDS)
def state(request, seed):
    return Fixture(*KINDS[request.param], seed)


def central_difference(function, array, index, step=1e-6):
    middle = array[index]
    array[index] = middle + step
    above = function()
    array[index] = middle - step
    below = function()
    array[index] = middle
    function()
    return (above - below) / (2.0 * step)


def test_gradient_of_the_network(state):
    """Analytic against central differences, for weights, bias and every coordinate of the centers."""
    state.evaluate()
    gradient(state.chain.data, state.hyper, state.chain.values, state.network, state.motion)
    for by, of in (("by_center", "centers"), ("by_weight", "weights"), ("by_bias", "bias")):
        analytic, array = getattr(state.motion, by), getattr(state.network, of)
        for index in np.ndindex(array[: state.n].shape if of != "bias" else array.shape):
            difference = central_difference(state.log_density, array, index)
            assert analytic[index] == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(analytic).max()), (
                of,
                index,
            )


def test_no_bias_no_gradient_of_it(seed):
    state = Fixture(Constant(9.0), 1, seed, bias=0.0)
    gradient(state.chain.data, state.hyper, state.chain.values, state.network, state.motion)
    assert state.motion.by_bias[0] == 0.0 and state.motion.bias[0] == 0.0
    state.leapfrog(5, 0.05)
    assert state.network.bias[0] == 0.0


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
        inner = 0.25 + 0.5 * state.network.centers[: state.n] / state.chain.shape.widths
        state.network.centers[: state.n] = inner * state.chain.shape.widths
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
    chain.tuning.dual[DUAL_NETWORK, :2] = 200.0
    chain.settings = chain.settings._replace(n_birth_death=0)
    before = state.position()
    chain.advance(1)
    np.testing.assert_array_equal(state.position(), before)
    assert chain.trouble()[0] == 1 and chain.acceptance()["network"] == 0.0


def test_dual_averaging_finds_the_step():
    """Acceptance exp(-step) is 0.8 at a step of 0.223."""
    tuning = empty_tuning()
    for _ in range(2000):
        dual_average(tuning, DUAL_NETWORK, np.exp(-np.exp(tuning.dual[DUAL_NETWORK, 0])), 0.8)
    assert np.exp(tuning.dual[DUAL_NETWORK, 1]) == pytest.approx(-np.log(0.8), rel=0.02)


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
        self.curve, self.thinned = self.chain.state.curve, self.chain.state.thinned
        assert self.thinned.n[0] > 1
        self.curve.z[:] = self.chain.field.z
        self.curve.momentum[:] = self.chain.rng.standard_normal(len(self.curve.z))
        self.curve_log_density()

    def curve_log_density(self):
        c = self.chain
        evaluate_curve(c.data, self.hyper, c.values, c.field, self.curve, self.network)
        return curve_log_density(c.values, self.curve, self.network, self.thinned)

    def steps(self, n_steps, step):
        c = self.chain
        curve_leapfrog(c.data, self.hyper, c.values, c.field, self.curve, self.network, self.thinned, n_steps, step)

    def curve_energy(self):
        self.curve_log_density()
        return curve_energy(self.chain.values, self.curve, self.network, self.thinned)


@pytest.mark.parametrize("kind", CURVES)
def test_gradient_of_the_curve(kind, seed):
    state = CurveFixture(kind, seed)
    c = state.chain
    curve_gradient(c.data, c.values, c.field, state.curve, state.network, state.thinned)
    analytic = state.curve.by_z.copy()
    for i in np.linspace(0, len(analytic) - 1, 15).astype(int):
        difference = central_difference(state.curve_log_density, state.curve.z, i, 1e-5)
        assert analytic[i] == pytest.approx(difference, rel=1e-6, abs=1e-6 * np.abs(analytic).max())


@pytest.mark.parametrize("kind", CURVES)
def test_contract_is_the_transpose_of_expand(kind, seed):
    state = CurveFixture(kind, seed)
    f, rng = state.chain.field, np.random.default_rng(seed)
    z, by_knot = rng.standard_normal(len(f.z)), rng.standard_normal(len(f.table))
    table, by_z = np.empty(len(f.table)), np.empty(len(f.z))
    field.expand(f, z, table)
    contract(f, by_knot, by_z)
    assert by_z @ z == pytest.approx(by_knot @ table, rel=1e-10)


def test_the_curve_is_reversible_and_of_second_order(seed):
    state = CurveFixture("1-D", seed)
    z, momentum = state.curve.z.copy(), state.curve.momentum.copy()
    errors = []
    for n_steps in (100, 400, 1600):
        state.curve.z[:], state.curve.momentum[:] = z, momentum
        start = state.curve_energy()
        state.steps(n_steps, 0.8 / n_steps)
        errors.append(abs(state.curve_energy() - start))
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.1)
    assert errors[1] / errors[2] == pytest.approx(16.0, rel=0.1)
    state.curve.momentum[:] *= -1.0
    state.steps(1600, 0.8 / 1600)
    np.testing.assert_allclose(state.curve.z, z, rtol=0, atol=1e-10)
    np.testing.assert_allclose(-state.curve.momentum, momentum, rtol=0, atol=1e-10)
