"""Compiled kernels on disk: what is found there is what the sources say, whole, or it is compiled again."""

import ast
import contextlib
import importlib
import os
import shutil
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import numba
import numpy as np
import pytest

import porbnet
from porbnet.base import kernel_files
from porbnet.base.compiled import PLAIN, Passed, apply_to, inner, kernel
from porbnet.base.fingerprint import fingerprint
from porbnet.errors import PorbnetWarning

pytestmark = pytest.mark.skipif(PLAIN, reason="nothing is compiled")
PACKAGE = Path(porbnet.__file__).parent


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty folder for kernels."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files(folder):
    return sorted(folder.rglob("*.kernel"))


def triple(x):
    return 3.0 * x


def kept(function):
    """A kernel as a new process has it, with nothing in memory; whether it came from disk; and what it gives for 2."""
    made = kernel(function)
    value = made(2.0)
    return value, bool(made.stats.cache_hits)


# --- damage ----------------------------------------------------------------------------------------------------------


def test_a_kernel_is_compiled_once(cache):
    assert kept(triple) == (6.0, False)
    assert kept(triple) == (6.0, True)
    assert len(files(cache)) == 1 and not list(cache.rglob("*.part"))


def _damages(content, rng):
    yield "emptied", b""
    yield "cut short", content[: len(content) // 2]
    yield "last byte missing", content[:-1]
    yield "zeroed", bytes(len(content))
    yield "second half zeroed", content[: len(content) // 2] + bytes(len(content) - len(content) // 2)
    yield "something else", b"PK\x03\x04" * 100
    for place in [0, 20, 60, *rng.integers(0, len(content), 5)]:
        flipped = bytearray(content)
        flipped[place] ^= 1 << int(rng.integers(8))
        yield f"bit of byte {place}", bytes(flipped)


def test_a_damaged_kernel_is_dropped_and_made_again(cache, seed):
    kept(triple)
    (path,) = files(cache)
    content = path.read_bytes()
    for name, damaged in _damages(content, np.random.default_rng(seed)):
        path.write_bytes(damaged)
        assert kept(triple) == (6.0, False), name
        assert kept(triple) == (6.0, True), name


def test_a_kernel_under_the_name_of_another_is_not_taken(cache):
    def fourfold(x):
        return 4.0 * x

    kept(triple)
    (path,) = files(cache)
    kept(fourfold)
    (other,) = set(files(cache)) - {path}
    shutil.copy(other, path)
    assert kept(triple) == (6.0, False)
    assert kept(fourfold) == (8.0, True)


def test_kills_while_files_are_written_leave_whole_ones_or_none(tmp_path, seed):
    rng, path = np.random.default_rng(seed), tmp_path / "v" / "a.kernel"
    found = set()
    for _ in range(12):
        child = os.fork()
        if child == 0:
            i = 0
            while True:
                kernel_files._write(path, "key", bytes([i % 256]) * 3_000_000)
                i += 1
        time.sleep(rng.uniform(0.005, 0.05))
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        with contextlib.suppress(FileNotFoundError):
            content = kernel_files._content(path, "key")
            assert content is not None and len(content) == 3_000_000 and len(set(content)) == 1
            found.add(content[0])
    assert found
    for left in path.parent.glob("*.part"):  # as if an hour had passed
        os.utime(left, (1.0, 1.0))
    kernel_files._tidy(path.parent)
    assert not list(path.parent.glob("*.part"))


# --- whatever a kernel is made of ------------------------------------------------------------------------------------


def module(folder, name, text):
    """A module of that text, loaded as by a new process; earlier ones are forgotten."""
    (folder / f"{name}.py").write_text(textwrap.dedent(text))
    sys.modules.pop(name, None)
    importlib.invalidate_caches()
    return importlib.import_module(name)


@pytest.fixture
def outside(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield tmp_path
    for name in ("rates", "steps", "entry"):
        sys.modules.pop(name, None)


STEPS = """
from porbnet.base.compiled import inner
import rates
from rates import OFFSET

@inner
def step(x):
    return rates.scaled(x) * rates.RATE + OFFSET
"""
RATES = """
from porbnet.base.compiled import inner
RATE, OFFSET = 2.0, 1.0

@inner
def scaled(x):
    return 1.0 * x
"""


@pytest.mark.parametrize("change", [("RATE, OFFSET = 2.0", "RATE, OFFSET = 5.0"), ("= 2.0, 1.0", "= 2.0, 4.0"),
                                    ("1.0 * x", "2.5 * x")], ids=["of a module", "imported", "a function"])  # fmt: skip
def test_a_change_two_modules_away_is_seen(cache, outside, change):
    """Kernels from outside the package: an entry, what it calls, what that refers to; and as an argument."""

    def made(text):
        module(outside, "rates", text)
        steps = module(outside, "steps", STEPS)
        entry = module(outside, "entry", "from steps import step\ndef entry(x):\n    return step(x)\n")
        passed, through = Passed(steps.step), kernel(handed_on)
        return kept(entry.entry), (through(passed, 2.0), bool(through.stats.cache_hits))

    assert made(RATES) == ((5.0, False), (5.0, False))
    assert made(RATES) == ((5.0, True), (5.0, True))
    value = {"RATE, OFFSET = 2.0": 11.0, "= 2.0, 1.0": 8.0, "1.0 * x": 11.0}[change[0]]
    assert made(RATES.replace(*change)) == ((value, False), (value, False))
    assert made(RATES) == ((5.0, True), (5.0, True))


def handed_on(passed, x):
    return apply_to(passed, x)


def times(rate):
    def multiply(x):
        return rate * x

    return inner(multiply)


def test_kernels_of_one_factory_are_told_apart(cache):
    through = kernel(handed_on)
    assert [through(Passed(times(rate)), 2.0) for rate in (2.0, 3.0, 2.0)] == [4.0, 6.0, 4.0]
    assert len(files(cache)) == 2


def test_kernels_typed_at_a_prompt_are_kept(cache):
    def typed(text):
        names = {"__name__": "__main__"}
        exec(compile(text, "<stdin>", "exec"), names)
        return names["typed"]

    assert kept(typed("def typed(x):\n    return x + 1.0")) == (3.0, False)
    assert kept(typed("def typed(x):\n    return x + 2.0")) == (4.0, False)
    assert kept(typed("def typed(x):\n    return x + 1.0")) == (3.0, True)


def test_what_cannot_be_told_is_not_kept(cache):
    odd = [1.0]  # may change at any time

    def plain(x):
        return x + len(odd)

    assert fingerprint(plain) is None
    shown = {"odd": odd}

    def unknown(x):
        return x if shown is None else 2.0 * x

    assert Passed(inner(unknown))._numba_type_ != Passed(inner(unknown))._numba_type_
    assert kernel_files.UNKEPT in repr(Passed(inner(unknown))._numba_type_)


def test_settings_of_the_compiler_count(cache, monkeypatch):
    kept(triple)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", 1)
    assert kept(triple) == (6.0, False)


def test_rooms_that_are_left_out_have_no_kernels():
    assert {p.name for p in PACKAGE.iterdir()} >= kernel_files.WITHOUT_KERNELS
    for room in kernel_files.WITHOUT_KERNELS:
        for path in (PACKAGE / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
                names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
                names = [n for n in names if n != "numba.core"]  # its events, when something is compiled
                assert not any(n.startswith(("numba", "porbnet.base.compiled", "porbnet.base.records")) for n in names)


def test_every_kernel_of_the_package_can_be_kept():
    """None refers to something that cannot be told."""
    for path in PACKAGE.rglob("*.py"):
        if "@kernel" in path.read_text():
            name = ".".join(("porbnet", *path.relative_to(PACKAGE).with_suffix("").parts))
            for found in vars(importlib.import_module(name)).values():
                if isinstance(getattr(found, "_cache", None), kernel_files.KernelFiles):
                    assert fingerprint(found) is not None


# --- room ------------------------------------------------------------------------------------------------------------


def test_old_files_go(cache, monkeypatch):
    monkeypatch.setattr(kernel_files, "_MOST_VERSIONS", 3)
    monkeypatch.setattr(kernel_files, "_MOST_FILES", 2)
    kept(triple)
    folder = files(cache)[0].parent
    for i in range(5):
        (folder.parent / f"old{i}").mkdir()
        os.utime(folder.parent / f"old{i}", (i, i))
        (folder / f"old{i}.kernel").write_bytes(b"")
        os.utime(folder / f"old{i}.kernel", (i, i))
    kept(lambda x: x + 1.0)
    assert {p.name for p in folder.parent.iterdir()} == {folder.name, "old3", "old4"}
    assert len(files(folder)) == 2 and kept(triple) == (6.0, True)


# --- in processes of their own ---------------------------------------------------------------------------------------

SCRIPT = """
import os, sys, warnings
sys.path.insert(0, sys.argv[1])
import porbnet
assert porbnet.__file__.startswith(sys.argv[1])
from porbnet.base.compiled import kernel
LINKED

@kernel
def rate(x):
    return called(x)

@kernel
def other(x):
    return x

if "edit" in sys.argv:
    with open(sys.argv[1] + "/porbnet/base/records.py", "a") as file:
        file.write("# edited\\n")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    value = rate(7.0)
    other(1.0)
print(value, sum(rate.stats.cache_hits.values()), len(said), *(str(w.message) for w in said))
"""
LIGHT = SCRIPT.replace("LINKED", "from porbnet.base.compiled import inner\ncalled = inner(lambda x: x / 21.0)")
FROM_STORED = """
from porbnet.base.compiled import inner
from porbnet.sampling.stored import adaptation
called = inner(lambda x: adaptation(int(x), 1000))
"""


def copied(folder):
    """The package, in a folder of its own."""
    shutil.copytree(PACKAGE, folder / "porbnet", ignore=shutil.ignore_patterns("__pycache__", "data"))
    return folder


def process(folder, script, *words, cache=None, home="/nowhere"):
    """Value, hits, number of warnings, the warnings."""
    kept_from = {k: v for k, v in os.environ.items() if not k.startswith(("NUMBA", "XDG", "PYTHON"))}
    environment = kept_from | {"HOME": str(home), "PYTHONDONTWRITEBYTECODE": "1"}
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    command = [sys.executable, str(script), str(folder), *words]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    value, hits, n, *said = done.stdout.split(maxsplit=3)
    return float(value), int(hits), int(n), "".join(said)


def test_a_change_anywhere_in_the_package_is_seen(tmp_path):
    """In a module that is linked into a kernel of another; and no kernel of changed sources is kept."""
    package, script = copied(tmp_path / "package"), tmp_path / "script.py"
    script.write_text(SCRIPT.replace("LINKED", FROM_STORED))
    linked = package / "porbnet" / "sampling" / "stored.py"
    assert process(package, script) == (1.0 / 3.0, 0, 0, "")
    before = files(package)
    linked.write_text(linked.read_text().replace("math.sqrt(2.0 + at)", "math.sqrt(9.0 + at)"))
    assert process(package, script, "edit") == (0.25, 0, 0, "")
    assert len(before) == 2 and files(package) == before  # else under the name of sources that it was not made from


@contextlib.contextmanager
def small_disk(folder, size):
    """A disk of its own, as only root can have one."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("only root can mount a disk")
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("mounting is not allowed here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


def test_a_full_disk_leaves_no_old_kernel_under_a_new_name(tmp_path):
    """The kernel of changed sources cannot be written: it is right in that process, and in the next."""
    package, script = copied(tmp_path / "package"), tmp_path / "script.py"
    script.write_text(LIGHT)
    with small_disk(tmp_path / "disk", "200k") as disk:
        assert process(package, script, cache=disk) == (1.0 / 3.0, 0, 0, "")
        script.write_text(LIGHT.replace("21.0", "28.0"))
        room = os.statvfs(disk)
        (disk / "filler").write_bytes(bytes(room.f_bavail * room.f_frsize - 8192))  # room for a short file
        value, hits, n, said = process(package, script, cache=disk)
        assert (value, hits, n) == (0.25, 0, 1) and "No space left on device" in said
        (disk / "filler").unlink()
        assert process(package, script, cache=disk) == (0.25, 0, 0, "")


def test_a_read_only_package_without_a_home_works_and_says_so_once(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(LIGHT)

    def remount(how):
        subprocess.run(["mount", "-o", f"remount,{how}", disk], check=True)

    with small_disk(tmp_path / "disk", "20m") as disk:
        package = copied(disk / "package")
        remount("ro")
        value, hits, n, said = process(package, script, home=disk)
        assert (value, hits, n) == (1.0 / 3.0, 0, 1)
        assert "compiled code cannot be kept" in said and "Read-only file system" in said
        # a home that can be written to is the second place
        assert process(package, script, home=tmp_path) == (1.0 / 3.0, 0, 0, "")
        (made,) = (tmp_path / ".cache").iterdir()
        # kernels that were there before it was read-only are used
        remount("rw")
        shutil.copytree(made, package / "porbnet" / "__pycache__" / "kernels")
        remount("ro")
        assert process(package, script, home=disk) == (1.0 / 3.0, 1, 0, "")


def test_a_place_that_cannot_be_is_a_warning(cache, monkeypatch):
    cache.write_text("a file, where a folder should be")
    monkeypatch.setattr(kernel_files, "_told", False)
    with pytest.warns(PorbnetWarning, match="compiled code cannot be kept.*NUMBA_CACHE_DIR"):
        assert kept(triple) == (6.0, False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kept(triple) == (6.0, False)  # it was said
