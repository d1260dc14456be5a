"""The paper's sampler taken apart: chains in a random state, and steps repeated alone."""

import importlib.util
import itertools
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np

import porbnet
from porbnet.sampling.problem import Problem
from porbnet.sampling.published.chain import PaperChain

FOLDER = Path(porbnet.__file__).parent / "inference" / "paper"
_number = itertools.count()


def chain_of(prior, seed, X=None, y=None, weight=None, sampler=None):
    """A chain at its start, with data or without."""
    X = np.empty((0, prior.n_dims)) if X is None else X
    y = np.empty(0) if y is None else y
    return PaperChain(Problem.of(prior, X, y, weight), np.random.SeedSequence(seed), 0, 1, sampler=sampler)


def mutated(name, text=None, replaced=None, folder=None):
    """A module of the sampler by its file's name, or a copy of it with one piece of text replaced.

    The copy lies in `folder` and is compiled by itself; the kernels it calls are those of the package.
    """
    if text is None:
        return importlib.import_module(f"porbnet.sampling.published.{name}")
    source = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
    assert source.count(text) == 1, f"{name}.py: {text!r} is there {source.count(text)} times, must be once"
    copy = f"mutated_{name}_{next(_number)}"
    path = Path(folder) / f"{copy}.py"
    path.write_text(source.replace(text, replaced), encoding="utf-8")
    spec = importlib.util.spec_from_file_location(copy, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[copy] = module  # Numba looks a kernel's module up by its name
    spec.loader.exec_module(module)
    return module


def once(step, *arguments):
    """Call an inner kernel from Python."""
    numba.njit(lambda *a: step(*a))(*arguments)


def records(step, n_records, n_between, chain, *arguments):
    """Repeat a step of a chain, and keep the chain's state after every `n_between` of them, as a `Record`."""
    network, thinned = chain.state.network, chain.state.thinned
    watched = (
        network.n, network.centers, network.weights, network.bias, thinned.n, thinned.places, chain.values,
        chain.shape.values,
    )  # fmt: skip

    @numba.njit
    def loop(n_between, watched, kept, arguments):
        for i in range(len(kept[0])):
            for _ in range(n_between):
                step(*arguments)
            kept[0][i], kept[1][i], kept[2][i], kept[3][i] = watched[0], watched[1], watched[2], watched[3]
            kept[4][i], kept[5][i], kept[6][i], kept[7][i] = watched[4], watched[5], watched[6], watched[7]

    kept = tuple(np.empty((n_records, *array.shape), dtype=array.dtype) for array in watched)
    loop(n_between, watched, kept, arguments)
    return Record(*kept)


class Record(NamedTuple):
    """States of a chain, one after the other, room beyond the counted units and events included."""

    n: np.ndarray
    centers: np.ndarray
    weights: np.ndarray
    bias: np.ndarray
    n_thinned: np.ndarray
    thinned: np.ndarray
    values: np.ndarray
    intensity: np.ndarray

    def of_units(self, array):
        """Rows of an array of shape (n_records, capacity) that belong to units there are."""
        return array[np.arange(array.shape[1]) < self.n]

    def of_thinned(self, array):
        """The same for thinned events."""
        return array[np.arange(array.shape[1]) < self.n_thinned]
