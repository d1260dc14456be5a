"""Curves with the exponential kernel: values from what drives them and back, and a box of knots given the others."""

import numpy as np
import pytest

from porbnet.base.compiled import kernel
from porbnet.base.region import Region
from porbnet.base.scaling import Scaling
from porbnet.functions.grid_gp import EXPONENTIAL, GridGP
from porbnet.kernels.bridge import colour, deviations, draw_deviations, empty_box, prepare, whiten
from porbnet.kernels.curves import curve_record

BOXES = {
    1: [((2,), (7,)), ((-1,), (4,)), ((3,), (9,)), ((-1,), (9,)), ((3,), (5,))],
    2: [((0, 1), (4, 5)), ((-1, 1), (3, 6)), ((1, -1), (5, 6)), ((-1, -1), (5, 6))],
    3: [((0, 1, -1), (3, 4, 3)), ((-1, -1, -1), (4, 5, 4))],
}
SHAPES = {1: (9,), 2: (5, 6), 3: (4, 5, 4)}
CASES = [(n_dims, ends) for n_dims, boxes in BOXES.items() for ends in boxes]


@kernel
def coloured(curve, z):
    colour(curve, z, curve.table)


@kernel
def whitened(curve, out):
    return whiten(curve, curve.table, out)


@kernel
def rest(curve, box, out):
    prepare(curve, box)
    deviations(curve, curve.table, box, out)


@kernel
def drawn(curve, box, out, rng):
    prepare(curve, box)
    draw_deviations(curve, box, out, rng)


def process(n_dims):
    gp = GridGP(Region(np.zeros(n_dims), np.ones(n_dims)), 3.0, np.full(n_dims, 0.4), kernel=EXPONENTIAL)
    gp.shape = SHAPES[n_dims]
    return gp


def record(gp):
    return curve_record(gp, Scaling(gp.region.low, np.ones(gp.region.n_dims), 1.0, 1.0), expands=False)


def covariance(gp):
    axes = [np.linspace(0.0, 1.0, n) for n in gp.shape]
    knots = np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=1)
    return gp.variance * np.exp(-np.abs(knots[:, None] - knots[None]).sum(axis=2) / 0.4)


def inside(shape, low, high):
    places = np.stack([a.ravel() for a in np.meshgrid(*[np.arange(n) for n in shape], indexing="ij")], axis=1)
    return np.all((places > low) & (places < high), axis=1)


def work(gp, low, high):
    box = empty_box(gp.shape)
    box.first[:], box.last[:] = low, high
    return box, np.zeros(int(np.prod(gp.shape)))


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_the_kernel_is_exponential(n_dims):
    gp = process(n_dims)
    values = gp.expand(np.eye(gp.n_coefficients)).reshape(gp.n_coefficients, -1)
    np.testing.assert_allclose(values.T @ values, covariance(gp), atol=1e-12)


@pytest.mark.parametrize("n_dims", [1, 2, 3])
def test_values_and_back(n_dims, seed):
    gp = process(n_dims)
    curve = record(gp)
    z = np.random.default_rng(seed).standard_normal(gp.n_coefficients)
    coloured(curve, z)
    np.testing.assert_allclose(curve.table, gp.expand(z[None]).ravel(), atol=1e-12)
    back = np.zeros_like(z)
    assert whitened(curve, back) == pytest.approx(z @ z)
    np.testing.assert_allclose(back, z, atol=1e-12)


@pytest.mark.parametrize(("n_dims", "ends"), CASES)
def test_deviations_are_those_from_the_conditional_mean(n_dims, ends, seed):
    gp = process(n_dims)
    curve = record(gp)
    coloured(curve, np.random.default_rng(seed).standard_normal(gp.n_coefficients))
    low, high = (np.array(side, dtype=np.int64) for side in ends)
    box, out = work(gp, low, high)
    rest(curve, box, out)
    own, k = inside(gp.shape, low, high), covariance(gp)
    mean = k[np.ix_(own, ~own)] @ np.linalg.solve(k[np.ix_(~own, ~own)], curve.table[~own]) if not own.all() else 0.0
    np.testing.assert_allclose(out[own], curve.table[own] - mean, atol=1e-10)


@pytest.mark.parametrize(("n_dims", "ends"), CASES)
def test_draws_have_the_conditional_covariance(n_dims, ends):
    """A draw is linear in normal numbers: those that are one at one place and zero elsewhere show its matrix."""
    gp = process(n_dims)
    curve = record(gp)
    low, high = (np.array(side, dtype=np.int64) for side in ends)
    box, out = work(gp, low, high)
    own, k = inside(gp.shape, low, high), covariance(gp)
    wanted = k[np.ix_(own, own)]
    if not own.all():
        wanted = wanted - k[np.ix_(own, ~own)] @ np.linalg.solve(k[np.ix_(~own, ~own)], k[np.ix_(~own, own)])
    rng, n = np.random.default_rng(1), 4000
    draws = np.empty((n, own.sum()))
    for i in range(n):
        drawn(curve, box, out, rng)
        draws[i] = out[own]
    found, sd = draws.T @ draws / n, np.sqrt(np.diag(wanted))
    # entries of a sample covariance have an sd of at most √(2/n) of the product of the sds: 6 of these
    assert np.max(np.abs(found - wanted) / np.outer(sd, sd)) < 6.0 * np.sqrt(2.0 / n)
