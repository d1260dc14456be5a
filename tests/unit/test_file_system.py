"""Locks and replaced files, on this system and as Windows has them."""

import ast
import errno
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest

import porbnet
from porbnet.base import file_system
from porbnet.errors import StorageError
from porbnet.many.series_keys import file_name
from porbnet.storage.checkpoint import discard, locked

HOLD = """
import sys, time
from porbnet.base.file_system import lock
file = open(sys.argv[1], "ab")
lock(file)
print("held", flush=True)
time.sleep(60)
"""


def test_a_lock_keeps_other_processes_out_until_they_end(tmp_path):
    path = tmp_path / "lock"
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(path)], stdout=subprocess.PIPE)
    try:
        assert holder.stdout.readline().strip() == b"held"
        with open(path, "ab") as file, pytest.raises(BlockingIOError):
            file_system.lock(file)
        with pytest.raises(StorageError, match="in use"), locked(tmp_path):
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with open(path, "ab") as file:
        file_system.lock(file)


class WindowsLocks(types.ModuleType):
    """Windows' locks on bytes of files, within this process: by name of file, held until given back."""

    LK_NBLCK = 2

    def __init__(self):
        super().__init__("msvcrt")
        self.held, self.asked = {}, 0

    def locking(self, handle, mode, n_bytes):
        assert mode == self.LK_NBLCK and n_bytes == 1
        assert os.lseek(handle, 0, os.SEEK_CUR) == 0  # Windows locks from where the file is at
        self.asked += 1
        where = os.fstat(handle).st_ino
        if self.held.get(where, 0) > 0:
            self.held[where] -= 1  # a holder that lets go after having been asked so often
            raise OSError(errno.EACCES, "Permission denied")
        self.held[where] = 10**9


@pytest.fixture
def windows(monkeypatch):
    found = WindowsLocks()
    monkeypatch.setitem(sys.modules, "msvcrt", found)
    monkeypatch.setattr(file_system, "os", types.SimpleNamespace(name="nt", replace=os.replace))
    monkeypatch.setattr(file_system, "_STEP", 0.001)
    return found


def test_windows_locks(tmp_path, windows):
    with open(tmp_path / "lock", "ab") as first, open(tmp_path / "lock", "ab") as second:
        first.write(b"words")
        file_system.lock(first)
        with pytest.raises(BlockingIOError):
            file_system.lock(second)
        windows.held[os.fstat(first.fileno()).st_ino] = 5
        file_system.lock(second, wait=True)
    assert windows.asked == 1 + 1 + 6


def test_a_folder_in_use_is_told_on_windows_too(tmp_path, windows):
    with locked(tmp_path), pytest.raises(StorageError, match="in use"), locked(tmp_path):
        pass


def test_windows_refuses_to_replace_for_a_moment(tmp_path, windows, monkeypatch):
    refused = iter([True, True, False])

    def replace(source, target):
        if next(refused):
            raise PermissionError(errno.EACCES, "Access is denied")
        os.replace(source, target)

    monkeypatch.setattr(file_system.os, "replace", replace)
    (tmp_path / "new").write_text("new")
    (tmp_path / "old").write_text("old")
    file_system.replace(tmp_path / "new", tmp_path / "old")
    assert (tmp_path / "old").read_text() == "new"
    monkeypatch.setattr(file_system, "_PATIENCE", 0.01)
    refused = iter(lambda: True, None)
    with pytest.raises(PermissionError):
        file_system.replace(tmp_path / "old", tmp_path / "new")


def test_other_systems_do_not_wait_for_a_refusal(tmp_path, monkeypatch):
    def refuse(source, target):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(file_system, "os", types.SimpleNamespace(name="posix", replace=refuse))
    monkeypatch.setattr(file_system, "_PATIENCE", 1e6)
    with pytest.raises(PermissionError):
        file_system.replace(tmp_path / "a", tmp_path / "b")


def test_a_discarded_checkpoint_leaves_nothing(tmp_path):
    folder = tmp_path / "checkpoint"
    folder.mkdir()
    (folder / "fit.npz").write_text("")
    discard(folder)
    assert not folder.exists()


@pytest.mark.parametrize("name", ["con", "nul", "aux.x", "com1", "lpt9", "CON", "Nul.txt"])
def test_names_of_devices_are_no_names_of_files(name):
    """Windows takes what stands before the first dot for the device."""
    assert file_name((name,)).split(".")[0].lower() != name.split(".")[0].lower()
    assert file_name(("console",)) == "console"


def top_level_imports(path):
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


def test_no_module_needs_what_windows_lacks():
    lacking = {"fcntl", "resource", "pwd", "grp", "termios", "tty", "pty", "syslog"}
    sources = sorted(Path(porbnet.__file__).parent.rglob("*.py"))
    assert len(sources) > 100
    assert {path.name for path in sources if lacking & set(top_level_imports(path))} == set()
