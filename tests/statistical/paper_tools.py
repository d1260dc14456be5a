"""The paper's sampler taken apart: chains in a random state, and steps repeated alone."""

import hashlib
import importlib.util
import inspect
import sys
from pathlib import Path

import numpy as np

import porbnet
from porbnet.base.compiled import Passed, apply, inner, kernel
from porbnet.base.records import Record
from porbnet.kernels.state import FloatArray, IntArray
from porbnet.kernels.tally import IDLE, tally
from porbnet.kernels.units import relative_intensity
from porbnet.sampling.problem import Problem
from porbnet.sampling.published import sweep
from porbnet.sampling.published.chain import PaperChain
from porbnet.sampling.published.target import evaluate

FOLDER = Path(porbnet.__file__).parent / "sampling" / "published"
FIRST_KINDS = {
    "network_update": sweep.NETWORK,
    "birth_or_death": sweep.BIRTH_DEATH,
    "thinned_birth_or_death": sweep.THINNED,
    "move_thinned": sweep.THINNED_MOVE,
    "curve_update": sweep.CURVE,
    "level_update": sweep.LEVEL,
    "noise_update": sweep.NOISE_STEP,
    "amplitude_update": sweep.AMPLITUDE,
}  # where a sweep counts what comes of a step


def chain_of(prior, seed, X=None, y=None, weight=None, sampler=None):
    """A chain at its start, with data or without."""
    X = np.empty((0, prior.n_dims)) if X is None else X
    y = np.empty(0) if y is None else y
    return PaperChain(Problem.of(prior, X, y, weight), np.random.SeedSequence(seed), 0, 1, sampler=sampler)


def make_room(chain, n_units, n_thinned):
    """Room for so many units and thinned events, of which there are none now, and for the proposals of a sweep."""
    chain.state = chain._with_room(*chain._rooms(n_units, n_thinned))


def mutated(name, text=None, replaced=None, folder=None):
    """A module of the sampler by its file's name, or a copy of it with one piece of text replaced.

    The copy lies in `folder` and is compiled by itself; the kernels it calls are those of the package.
    """
    if text is None:
        return importlib.import_module(f"porbnet.sampling.published.{name}")
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert source.count(text) == 1, f"{name}.py: {text!r} is there {source.count(text)} times, must be once"
    # compiled kernels are found again by names of modules: every mutant has its own, the same in every run
    copy = f"mutated_{name}_{hashlib.sha256(repr((text, replaced)).encode()).hexdigest()[:12]}"
    path = Path(folder) / f"{copy}.py"
    path.write_text(source.replace(text, replaced), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(copy, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[copy] = module  # Numba looks a kernel's module up by its name
    spec.loader.exec_module(module)
    return module


@kernel
def evaluate_network(state):
    """Everything that follows from centers, weights and bias under the current intensity."""
    component = state.components[0]
    evaluate(state, component.shape, state.values[component.level], state.network)


@kernel
def intensity_at(shape, place):
    """Relative intensity g at a place."""
    return relative_intensity(shape, place)


def records(step, n_records, n_between, chain):
    """Repeat a step of a chain, and keep the chain's state after every `n_between` of them, as `Records`."""
    state = chain.state
    network, thinned, shape = state.network, state.thinned, state.components[0].shape
    kept = Records(
        n=np.empty(n_records, dtype=np.int64),
        centers=np.empty((n_records, *network.centers.shape)),
        weights=np.empty((n_records, *network.weights.shape)),
        bias=np.empty(n_records),
        n_thinned=np.empty(n_records, dtype=np.int64),
        thinned=np.empty((n_records, *thinned.places.shape)),
        values=np.empty((n_records, *state.values.shape)),
        intensity=np.empty((n_records, *shape.values.shape)),
    )
    passed, first = _as_argument(step)
    _repeat(passed, first, n_between, state, kept, chain.rng)
    return kept


def _as_argument(step):
    """A step as an argument of a kernel, and the first of its kinds."""
    python = getattr(step, "py_func", step)
    first = FIRST_KINDS[python.__name__]
    if len(inspect.signature(python).parameters) == 2:
        return Passed(step), first

    def alone(state, rng):  # of a step that counts by itself
        step(state, first, rng)
        return IDLE

    alone.__qualname__ = f"{python.__module__}.{python.__qualname__}"
    return Passed(inner(alone)), first


@kernel
def _repeat(step, first, n_between, state, kept, rng):
    network, thinned, values, shape = state.network, state.thinned, state.values, state.components[0].shape
    for i in range(len(kept.n)):
        for _ in range(n_between):
            tally(state, first, apply(step, state, rng))
        kept.n[i], kept.bias[i], kept.n_thinned[i] = network.n, network.bias, thinned.n
        for k in range(len(network.weights)):
            kept.weights[i, k] = network.weights[k]
            for d in range(network.centers.shape[1]):
                kept.centers[i, k, d] = network.centers[k, d]
        for m in range(thinned.places.shape[0]):
            for d in range(thinned.places.shape[1]):
                kept.thinned[i, m, d] = thinned.places[m, d]
        for j in range(len(values)):
            kept.values[i, j] = values[j]
        for j in range(len(shape.values)):
            kept.intensity[i, j] = shape.values[j]


class Records(Record):
    """States of a chain, one after the other, room beyond the counted units and events included."""

    n: IntArray
    centers: FloatArray
    weights: FloatArray
    bias: FloatArray
    n_thinned: IntArray
    thinned: FloatArray
    values: FloatArray
    intensity: FloatArray

    def of_units(self, array):
        """Rows of an array of shape (n_records, capacity) that belong to units there are."""
        return array[np.arange(array.shape[1]) < self.n[:, None]]

    def of_thinned(self, array):
        """The same for thinned events."""
        return array[np.arange(array.shape[1]) < self.n_thinned[:, None]]
