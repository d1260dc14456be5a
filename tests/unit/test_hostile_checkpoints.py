"""Edited checkpoints with the right check sum: each is refused by name, or leads on to draws that are numbers.

What is not refused runs on in a process of its own, which is to end in time and by itself.
"""

import functools
import json
import os
import signal
import tempfile
import warnings
from pathlib import Path

import numpy as np
import pytest
from fit_tools import quiet_fit, wave

from porbnet.errors import ModelFileError
from porbnet.intensity import SigmoidGP
from porbnet.sampling.samplers import sampler_of
from porbnet.storage import archive, checkpoint

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
KINDS = {
    "stated": {"lengthscale": 0.3, "noise": 0.3},
    "learned": {},
    "smooth": {"lengthscale": SigmoidGP(20.0, 4.0, 0.3)},
    "varying": {"noise": "varying"},
    "robust": {"noise": "robust", "lengthscale": "constant"},
    "paper": {"sampler": "paper"},
}
SWEEPS = (30, 40, 2)
FLOATS = (np.nan, np.inf, -np.inf, -1.0, 0.0, 5e-324, 1e-300, 1e-30, 1e30, 1e300, 1e308, -1e308)
WHOLE = (-1, -(2**62), 10**4, 2**31, 2**40, 2**62)


@functools.cache
def problem_of(kind):
    X, y = wave(30)
    return quiet_fit(X, y, n_warmup=1, n_draws=4, **KINDS[kind]).posterior_.problem


def chain_of(kind):
    make = sampler_of(KINDS[kind].get("sampler", "collapsed")).make_chain
    return make(problem_of(kind), np.random.SeedSequence(3), *SWEEPS)


def files_of(kind, folder):
    return checkpoint.Checkpoint(folder, problem_of(kind), 0.0).recorder(0)


@functools.cache
def sound(kind):
    """Arrays and header of a chain's state after some draws, and those of the draws."""
    with tempfile.TemporaryDirectory() as name:
        folder, chain = Path(name), chain_of(kind)
        chain.advance(57)
        files_of(kind, folder).store(chain, 1.0)
        state = archive.read(folder / "chain1-state.npz", "porbnet chain", checkpoint.VERSION)
        draws = archive.read(folder / "chain1-draws-00001.npz", "porbnet draws", checkpoint.VERSION)
    return state, draws


def written(kind, folder, state=None, draws=None, header=None):
    """A checkpoint with some arrays replaced, sealed anew."""
    good, stored = sound(kind)
    archive.write(
        folder / "chain1-state.npz",
        "porbnet chain",
        checkpoint.VERSION,
        good.header | (header or {}),
        good.arrays | (state or {}),
    )
    archive.write(
        folder / "chain1-draws-00001.npz", "porbnet draws", checkpoint.VERSION, {}, stored.arrays | (draws or {})
    )


def outcome(kind, folder):
    """The reason if it is refused; "" if it leads on to numbers; how it ended otherwise."""
    chain = chain_of(kind)
    try:
        files_of(kind, folder).restore(chain)
    except ModelFileError as error:
        assert str(folder) in str(error) and " is refused: " in str(error)
        return str(error)
    child = os.fork()
    if child == 0:
        signal.alarm(30)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            chain.advance(10**6)
            fine = all(np.all(np.isfinite(v)) for v in vars(chain.draws()).values())
        os._exit(0 if fine else 1)
    status = os.waitpid(child, 0)[1]
    return "" if status == 0 else f"ended {'by signal' if os.WIFSIGNALED(status) else 'with numbers that are none'}"


def edits(array, rng):
    """The array with one number replaced, with all, and cut or enlarged."""
    numbers = FLOATS if array.dtype.kind == "f" else WHOLE if array.dtype.kind == "i" else (0, 91, 255)
    for value in numbers:
        for places in (slice(None), int(rng.integers(max(array.size, 1)))):
            edited = array.copy()
            if array.size:
                with np.errstate(over="ignore"):
                    edited.reshape(-1)[places] = value
                yield f"{value} at {places}", edited
    yield "cut", array[:-1]
    yield "doubled", np.concatenate([array, array])
    yield "flat", array.reshape(-1)[None]
    yield "of another type", array.astype("<f8" if array.dtype.kind != "f" else "<i8")


def ends(kind, folder, rng, share=1.0):
    """Every edit of every array, or a share of them, that neither is refused nor leads on."""
    bad, n = [], 0
    for where, arrays in (("state", sound(kind)[0].arrays), ("draws", sound(kind)[1].arrays)):
        for name, array in arrays.items():
            for edit, edited in edits(array, rng):
                if rng.random() > share:
                    continue
                with np.errstate(all="ignore"):
                    written(kind, folder, **{where: {name: edited}})
                found = outcome(kind, folder)
                n += 1
                if found.startswith("ended"):
                    bad.append((name, edit, found))
    return bad, n


def test_the_tools_make_sound_checkpoints(tmp_path):
    for kind in KINDS:
        written(kind, tmp_path)
        assert outcome(kind, tmp_path) == ""
        whole, again = chain_of(kind), chain_of(kind)
        whole.advance(10**6)
        files_of(kind, tmp_path).restore(again)
        again.advance(10**6)
        np.testing.assert_array_equal(again.draws().values, whole.draws().values)


@pytest.mark.parametrize("kind", KINDS)
def test_some_edits(kind, tmp_path, seed):
    """A few dozen of those below."""
    bad, n = ends(kind, tmp_path, np.random.default_rng(seed), share=0.015)
    assert not bad and n > 3


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_every_array_edited_in_every_way(kind, tmp_path, seed):
    bad, n = ends(kind, tmp_path, np.random.default_rng(seed))
    assert not bad and n > 500


def changed(array, place, value):
    edited = array.copy()
    edited.reshape(-1)[place] = value
    return edited


@pytest.mark.parametrize(
    ("kind", "name", "place", "value"),
    [
        ("learned", "units.owner", 0, 7),
        ("smooth", "units.low", 0, -(2**40)),
        ("smooth", "units.high", 0, 2**40),
        ("smooth", "units.first", 1, 2**40),
        ("smooth", "units.order", 1, 2**40),
        ("learned", "units", 0, 10**6),
        ("learned", "units", 0, -5),
        ("learned", "sizes", 0, 2**40),
        ("learned", "units.centers", 0, 1e6),
        ("learned", "units.centers", slice(0, 2), [0.9, 0.1]),
        ("learned", "units.scales", 0, 5e-324),
        ("learned", "units.relative", 0, 1e308),
        ("stated", "units.moment", slice(None), 1e30),
        ("smooth", "units.gram", slice(None), -1.0),
        ("learned", "visit.density", 0, -1.0),
        ("learned", "visit.density", slice(None), 0.0),
        ("learned", "weights", 0, np.inf),
        ("learned", "values", 0, 5e-324),
        ("learned", "values", 2, 1e30),
        ("stated", "values", 0, 0.7),
        ("learned", "components0.curve.z", slice(None), -900.0),
        ("learned", "components0.shape.values", slice(None), 1e-30),
        ("learned", "n_sweeps", 0, -(10**9)),
        ("learned", "n_sweeps", 0, 2**62),
        ("learned", "tuning.steps", 0, -1.0),
        ("learned", "tuning.accepted", 0, 2**62),
        ("stated", "rows.y", 0, 1e9),
        ("robust", "errors.kept", 0, -1.0),
        ("varying", "errors.curve.z", 0, 1e300),
        ("paper", "weights", 0, 1e308),
        ("paper", "centers", 0, -3.0),
        ("paper", "thinned", 0, 9.0),
        ("paper", "dual", 0, 1e4),
        ("paper", "plug", 0, 1e6),
        ("paper", "generator", slice(None), 91),
    ],
)
def test_refused_by_name(kind, name, place, value, tmp_path):
    written(kind, tmp_path, state={name: changed(sound(kind)[0].arrays[name], place, value)})
    with pytest.raises(
        ModelFileError, match=r"chain1-state\.npz' is refused: it is not the state of this chain"
    ) as caught:
        files_of(kind, tmp_path).restore(chain_of(kind))
    told = {"components0.shape.values": "components0", "units": "unit"}
    assert told.get(name, name) in str(caught.value)


def test_generators_that_are_none(tmp_path):
    state = json.loads(sound("stated")[0].arrays["generator"].tobytes())
    for text in (
        "[" * 9000, "{}", "[]", '{"bit_generator": "MT19937"}', json.dumps(state | {"has_uint32": -1}),
        json.dumps(state | {"state": {"state": 2**200, "inc": 1}}), json.dumps(state | {"uinteger": 0.5}),
    ):  # fmt: skip
        written("stated", tmp_path, state={"generator": np.frombuffer(text.encode(), np.uint8).copy()})
        with pytest.raises(ModelFileError, match="generator"):
            files_of("stated", tmp_path).restore(chain_of("stated"))


@pytest.mark.parametrize("lengths", [[10**18], [True], [-1], [0], "all", [13.0], [1] * 100])
def test_lengths_that_cannot_be(lengths, tmp_path):
    written("stated", tmp_path, header={"lengths": lengths})
    with pytest.raises((ModelFileError, OSError), match="chain1-"):
        files_of("stated", tmp_path).restore(chain_of("stated"))


def test_draws_of_a_checkpoint_are_named(tmp_path):
    values = sound("stated")[1].arrays["draws.values"]
    written("stated", tmp_path, draws={"draws.values": changed(values, 0, 5e-324)})
    with pytest.raises(ModelFileError, match=r"chain1-draws-00001\.npz' is refused: it has draws of values"):
        files_of("stated", tmp_path).restore(chain_of("stated"))


def test_a_state_with_the_draws_of_another_moment(tmp_path):
    """Every file is sound, but they do not belong together."""
    late = chain_of("stated")
    late.advance(65)
    written("stated", tmp_path, state=late.snapshot())
    with pytest.raises(ModelFileError, match="n_sweeps is 65, of 110 in all, and there are 13 draws"):
        files_of("stated", tmp_path).restore(chain_of("stated"))
