"""Places as integrals of an intensity: lines through its table, against quadrature, and there and back."""

import numpy as np
import pytest
from scipy.integrate import quad

from porbnet import Prior
from porbnet.base.compiled import kernel
from porbnet.intensity import SigmoidGP
from porbnet.kernels.units import relative_intensity, set_intensity
from porbnet.sampling.collapsed.chain import CollapsedChain, Plan
from porbnet.sampling.collapsed.stretch import accumulate, amount, arrival, draw_window, in_window, window_integral
from porbnet.sampling.problem import Problem


@kernel
def intensity_at(component, place):
    return relative_intensity(component.shape, place)


@kernel
def integrals(component, axis, at, place):
    set_intensity(component.curve, component.curve.table, component.shape)
    accumulate(component.curve, component.shape, axis)
    total = amount(component.curve, component.shape, axis, at, place)
    return total, arrival(component.curve, component.shape, axis, total, place)


@kernel
def windows(component, rng):
    axis, cut = draw_window(component.curve, component.shape, rng)
    return axis, cut, window_integral(component.curve, component.shape, axis)


@kernel
def is_in_window(component, axis, center):
    return in_window(component.curve, component.shape, axis, center)


@pytest.fixture(params=[1, 2, 3])
def component(request, seed):
    n_dims, rng = request.param, np.random.default_rng(seed)
    prior = Prior(SigmoidGP(6.0, 4.0, 0.6), 1.0, region=[(0.0, 1.0 + 0.3 * d) for d in range(n_dims)], noise=0.3)
    X = rng.random((5, n_dims))
    chain = CollapsedChain(Problem.of(prior, X, X[:, 0]), np.random.SeedSequence(seed), 0, 1, plan=Plan(1, 1))
    found = chain.state.components[0]
    process = chain.problem.components[0].process
    found.curve.table[:] = process.expand(rng.standard_normal((1, process.n_whitened))).ravel()
    return found


def test_integrals_along_a_line(component, seed):
    rng, n_dims = np.random.default_rng(seed), len(component.shape.widths)
    for _ in range(20):
        axis, place = int(rng.integers(n_dims)), rng.random(n_dims) * component.shape.widths
        at = float(place[axis])
        component.curve.window[:, 0], component.curve.window[:, 1] = 0, component.curve.sizes
        total, back = integrals(component, axis, at, place)

        def g(t, axis=axis, place=place):
            there = place.copy()
            there[axis] = t
            return intensity_at(component, there)

        knots = np.linspace(0.0, component.shape.widths[axis], component.shape.sizes[axis])
        expected = quad(g, 0.0, at, points=knots[knots < at][1:], limit=400)[0]
        assert total == pytest.approx(expected, rel=1e-8, abs=1e-12)
        assert back == pytest.approx(at, abs=1e-9)


def test_windows_add_up(component, seed):
    """What a window and the rest of the axis have of the integral is all of it; the cut lies inside."""
    rng, n_dims = np.random.default_rng(seed), len(component.shape.widths)
    integrals(component, 0, 0.1, np.zeros(n_dims))
    values = component.shape.values.reshape(tuple(component.shape.sizes))
    for _ in range(20):
        axis, cut, inside = windows(component, rng)
        first, n = component.curve.window[axis]
        step = component.shape.widths[axis] / (component.shape.sizes[axis] - 1)
        assert n >= 2 and first * step <= cut <= (first + n - 1) * step
        part = np.take(values, range(first, first + n), axis=axis)
        for d, width in enumerate(component.shape.widths):
            part = np.trapezoid(part, dx=width / (component.shape.sizes[d] - 1), axis=0)
        assert inside == pytest.approx(float(part), rel=1e-12)
        center = np.zeros(n_dims)
        center[axis] = cut
        assert is_in_window(component, axis, center)
