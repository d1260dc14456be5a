"""Damaged and hostile model files: each is refused with a reason, takes little memory, and runs nothing.

Some files are damaged at random; the others are made by someone who knows the format and computes the right check sum.
"""

import hashlib
import io
import json
import os
import pickle
import struct
import tracemalloc
import zipfile

import numpy as np
import pytest
from fit_tools import model, quiet_fit, wave

import porbnet
from porbnet.errors import ModelFileError

BILLIONS = (2**31, 10**10, 2**62, 2**63 - 1, 2**64, -1)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """The bytes of a sound file."""
    path = tmp_path_factory.mktemp("models") / "m"
    model("learned").save(path)
    return path.read_bytes()


def sealed(content):
    """The content of a zip with an empty comment, with the right check sum as its comment."""
    body = content[:-2] + struct.pack("<H", 64)
    return body + hashlib.sha256(body).hexdigest().encode()


def members(content):
    with zipfile.ZipFile(io.BytesIO(content)) as file:
        return {i.filename: file.read(i) for i in file.infolist()}


def zipped(parts, compression=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return sealed(buffer.getvalue())


def refused(path, content):
    """The reason; memory taken on the way stays of the order of the file."""
    path.write_bytes(content)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            porbnet.load(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 6 * len(content) + 4_000_000
    reason = str(caught.value)
    assert reason.startswith(repr(str(path)) + " is refused: ") and len(reason) > len(str(path)) + 20
    return reason


def test_the_tools_make_sound_files(sound, tmp_path):
    """Taken apart and put together again, a file still loads: what is refused below is refused for its change alone."""
    (tmp_path / "m").write_bytes(zipped(members(sound)))
    assert porbnet.load(tmp_path / "m").summary() == model("learned").summary()


# --- accidents -----------------------------------------------------------------------------------------------------


def test_cut_short(sound, tmp_path, seed):
    """100 lengths."""
    rng = np.random.default_rng(seed)
    for length in {0, 1, 3, 4, 63, 64, 65, len(sound) - 64, len(sound) - 1, *rng.integers(0, len(sound), 91)}:
        refused(tmp_path / "m", sound[:length])


def test_bits_flipped(sound, tmp_path, seed):
    """Any bit anywhere: 150 of them, and all of the first and last bytes."""
    rng = np.random.default_rng(seed)
    places = {*range(40), *range(len(sound) - 100, len(sound)), *rng.integers(0, len(sound), 150).tolist()}
    for place in places:
        content = bytearray(sound)
        content[place] ^= 1 << int(rng.integers(8))
        refused(tmp_path / "m", bytes(content))


def test_bytes_added_or_moved(sound, tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        a, b = sorted(rng.integers(0, len(sound), 2))
        refused(tmp_path / "m", sound[:a] + sound[b:])
        refused(tmp_path / "m", sound[:a] + rng.bytes(10) + sound[a:])
    refused(tmp_path / "m", sound + b"\0")
    refused(tmp_path / "m", sound + sound)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"PK",
        b"PK\x03\x04" * 50,
        b"time,accel\n1,2\n",
        b"\x89PNG\r\n" + bytes(500),
        pickle.dumps([1, 2]),
        bytes(10**6),
    ],
    ids=["empty", "start", "repeated", "csv", "png", "pickle", "zeros"],
)
def test_foreign_files(content, tmp_path):
    refused(tmp_path / "m", content)


def test_other_npz_files(tmp_path):
    for save in (np.savez, np.savez_compressed):
        buffer = io.BytesIO()
        save(buffer, X=np.zeros(3))
        refused(tmp_path / "m", buffer.getvalue())
        refused(tmp_path / "m", sealed(buffer.getvalue()))


# --- intent --------------------------------------------------------------------------------------------------------


class Bomb:
    """Unpickled, it leaves a trace."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (self.path,)


def test_a_pickle_inside_is_never_opened(sound, tmp_path):
    trace = str(tmp_path / "trace")
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Bomb(trace)], dtype=object), allow_pickle=True)
    parts = members(sound)
    for name in parts:
        if name != "header.json":
            for content in (buffer.getvalue(), pickle.dumps(Bomb(trace))):
                refused(tmp_path / "m", zipped(parts | {name: content}))
    refused(tmp_path / "m", zipped(parts | {"table9.npy": buffer.getvalue()}))
    refused(tmp_path / "m", zipped(parts | {"header.json": pickle.dumps(Bomb(trace))}))
    refused(tmp_path / "m", zipped(parts | {"extra.pkl": pickle.dumps(Bomb(trace))}))
    assert not os.path.exists(trace)


def npy(shape, dtype="<f8", content=b""):
    header = (repr({"descr": dtype, "fortran_order": False, "shape": shape})[:-1] + ", }").encode()
    header += b" " * (63 - (len(header) + 10) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + content


def test_sizes_in_the_billions(sound, tmp_path):
    """Arrays that claim more than there is; nothing is allocated for them."""
    parts = members(sound)
    arrays = [name for name in parts if name != "header.json"]
    for name in arrays:
        for size in BILLIONS:
            refused(tmp_path / "m", zipped(parts | {name: npy((size,))}))
        refused(tmp_path / "m", zipped(parts | {name: npy((10**6, 10**6), content=bytes(80))}))
        refused(tmp_path / "m", zipped(parts | {name: npy((0, 2**62))}))


def test_sizes_in_the_zip_directory(sound, tmp_path):
    """Sizes and offsets of the central directory, overwritten one by one."""
    plain = zipped(members(sound))[:-66] + b"\0\0"
    at = plain.index(b"PK\x01\x02")
    end = plain.rindex(b"PK\x05\x06")
    places = [at + 20, at + 24, at + 28, at + 42, end + 12, end + 16]
    for place in places:
        for value in (1, 2**31, 2**32 - 1):
            content = bytearray(plain)
            content[place : place + 4] = struct.pack("<I", value)
            if bytes(content) != plain:
                refused(tmp_path / "m", sealed(bytes(content)))


def test_sizes_of_a_member_that_agree_with_each_other(sound, tmp_path):
    plain = zipped(members(sound))[:-66] + b"\0\0"
    at = plain.index(b"PK\x01\x02")
    content = bytearray(plain)
    content[at + 20 : at + 28] = struct.pack("<II", 2**31, 2**31)
    assert "claim 2,147" in refused(tmp_path / "m", sealed(bytes(content)))


def test_a_zip_bomb(sound, tmp_path):
    parts = members(sound)
    bomb = npy((10**8,), content=bytes(8 * 10**6))
    assert "compressed" in refused(tmp_path / "m", zipped(parts | {"X.npy": bomb}, zipfile.ZIP_DEFLATED))


@pytest.mark.parametrize(
    "dtype", ["|O", ">f8", "<U8", "<c16", "<M8[s]", "|V8", [("a", "<f8")], "<f2", "<i4", "nonsense"]
)
def test_other_types(sound, tmp_path, dtype):
    for name in ("X.npy", "draws.values.npy"):
        refused(tmp_path / "m", zipped(members(sound) | {name: npy((1,), dtype, bytes(8))}))


def edited(sound, change):
    """The file with its header changed and sealed anew."""
    parts = members(sound)
    header = json.loads(parts["header.json"])
    change(header)
    return zipped(parts | {"header.json": json.dumps(header).encode()})


def paths(value, at=()):
    """Every place in the header."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*at, key))
    elif isinstance(value, list):
        for i in list(range(len(value)))[:2]:
            yield from paths(value[i], (*at, i))


def replaced(header, at, value):
    for key in at[:-1]:
        header = header[key]
    header[at[-1]] = value


FREE = (
    "offset",
    "verdict",
    "acceptance",
    "seconds",
    "drift",
    "n_forced",
    "labels",
    "features",
    "converged",
    "random_state",
)


def test_headers_edited_everywhere(sound, tmp_path):
    """Every entry of the header in turn becomes nonsense. Words and numbers that mean nothing else may stay."""
    header = json.loads(members(sound)["header.json"])
    n = 0
    for at in paths(header):
        if not at or at[:2] == ("content", "parameters") or at[1:2] == ("diagnostics",) or set(at) & set(FREE):
            continue
        for value in ({"type": "os.system", "command": "true"}, [[]], "nonsense", 1e300):
            refused(tmp_path / "m", edited(sound, lambda h, at=at, value=value: replaced(h, at, value)))
            n += 1
    assert n > 80


@pytest.mark.parametrize("variance", [1e18, 1e6, 9e3])
def test_a_variance_under_which_intensities_vanish(sound, tmp_path, variance):
    """The draws' curves times a larger standard deviation: an intensity of zero would be an endless lengthscale."""

    def change(header):
        header["content"]["prior"]["intensity"]["variance"] = variance

    path = tmp_path / "m"
    if variance > 1e4:
        refused(path, edited(sound, change))
        return
    parts = members(edited(sound, change))
    name = next(n for n in parts if n.endswith("curves.npy"))
    curves = np.load(io.BytesIO(parts[name]))
    buffer = io.BytesIO()
    np.save(buffer, np.full_like(curves, -40.0))
    assert "intensity" in refused(path, zipped(parts | {name: buffer.getvalue()}))


@pytest.mark.parametrize("name", ["parameters", "prior", "chains", "diagnostics", "offset", "features", "labels"])
def test_headers_with_parts_missing(sound, tmp_path, name):
    refused(tmp_path / "m", edited(sound, lambda h: h["content"].pop(name)))
    refused(tmp_path / "m", edited(sound, lambda h: replaced(h, ("content", name), {"a": 1})))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_jobs", 10**30),
        ("n_jobs", "all"),
        ("n_draws", -1),
        ("sampler", "os"),
        ("progress", 3),
        ("unheard_of", 1),
        ("n_chains", 1.5),
    ],
)
def test_parameters_that_matter_are_checked(sound, tmp_path, name, value):
    if (name, value) == ("n_jobs", 10**30):
        return  # joblib never starts more workers than there are tasks
    refused(tmp_path / "m", edited(sound, lambda h: replaced(h, ("content", "parameters", name), value)))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"{",
        b'{"kind": NaN}',
        b"[" * 100_000,
        b'{"a": 1, "a": 2}',
        b"\xff\xfe",
        b'{"kind": ' + b"9" * 5000 + b"}",
    ],
    ids=range(9),
)
def test_headers_that_are_no_header(sound, tmp_path, text):
    refused(tmp_path / "m", zipped(members(sound) | {"header.json": text}))


@pytest.mark.parametrize("version", [0, -1, 4, 10**20, "1", None, True, 1.5])
def test_versions(sound, tmp_path, version):
    refused(tmp_path / "m", edited(sound, lambda h: replaced(h, ("version",), version)))


@pytest.mark.parametrize("value", [np.nan, np.inf, -1.0, 1e300])
def test_numbers_that_cannot_be(sound, tmp_path, value):
    for name in ("X", "y", "draws.values", "draws.centers", "draws.relative"):
        if (name, value) in {("y", -1.0), ("X", -1.0)}:
            continue  # possible, if odd
        parts = members(sound)
        array = np.load(io.BytesIO(parts[f"{name}.npy"]))
        array.flat[array.size // 2] = value
        buffer = io.BytesIO()
        np.save(buffer, array)
        refused(tmp_path / "m", zipped(parts | {f"{name}.npy": buffer.getvalue()}))


@pytest.mark.parametrize("value", [5e-324, 1e-300, 1e300, 1e308, -1e308])
def test_numbers_that_would_end_in_none(sound, tmp_path, value):
    """Finite, of the right sign, and so small or large that predictions would be NaN."""
    parts, positive = members(sound), ("values", "relative")
    for name in (*positive, "biases", "mean_biases", "weights", "mean_weights", "curves", "log_p"):
        if abs(value) < 1.0 and name not in positive:
            continue  # as good as zero
        array = np.load(io.BytesIO(parts[f"draws.{name}.npy"]))
        for places in (slice(None), array.size // 2):
            edited = array.copy()
            edited.reshape(-1)[places] = value
            buffer = io.BytesIO()
            np.save(buffer, edited)
            reason = refused(tmp_path / "m", zipped(parts | {f"draws.{name}.npy": buffer.getvalue()}))
            assert f"it has draws of {name}" in reason


def test_a_noise_curve_that_ends_in_infinity(tmp_path):
    X, y = wave(30)
    quiet_fit(X, y, n_warmup=1, n_draws=4, noise="varying").save(tmp_path / "m")
    parts = members((tmp_path / "m").read_bytes())
    array = np.load(io.BytesIO(parts["draws.kept.npy"]))
    for value in (900.0, -900.0, 1e30):
        buffer = io.BytesIO()
        np.save(buffer, np.full_like(array, value))
        reason = refused(tmp_path / "m", zipped(parts | {"draws.kept.npy": buffer.getvalue()}))
        assert "it has draws of kept that make a noise of zero or beyond all measure" in reason


@pytest.mark.parametrize("change", ["more", "fewer", "negative", "huge"])
def test_counts_that_do_not_add_up(sound, tmp_path, change):
    parts = members(sound)
    counts = np.load(io.BytesIO(parts["draws.counts.npy"]))
    counts[0] += {"more": 1, "fewer": -1, "negative": -(10**9), "huge": 2**62}[change]
    buffer = io.BytesIO()
    np.save(buffer, counts)
    assert "add up" in refused(tmp_path / "m", zipped(parts | {"draws.counts.npy": buffer.getvalue()}))


def test_arrays_missing_cut_or_added(sound, tmp_path):
    parts = members(sound)
    for name in [n for n in parts if n != "header.json"]:
        refused(tmp_path / "m", zipped({k: v for k, v in parts.items() if k != name}))
        array = np.load(io.BytesIO(parts[name]))
        for wrong in (array[:-1], array[..., None], np.concatenate([array, array])):
            if wrong.shape == array.shape:
                continue  # of no columns
            buffer = io.BytesIO()
            np.save(buffer, np.ascontiguousarray(wrong))
            refused(tmp_path / "m", zipped(parts | {name: buffer.getvalue()}))
    for name in ("other.npy", "../X.npy", "/etc/passwd", "table0.npy.npy", "a" * 300 + ".npy", "draws.secret.npy"):
        refused(tmp_path / "m", zipped(parts | {name: parts["X.npy"]}))
