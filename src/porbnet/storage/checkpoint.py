"""Checkpoints: a folder from which a fit goes on, bit for bit, after its process was killed.

    fit.npz                  what the fit started from, and its seed: written once, before sampling
    chain1-draws-00001.npz   draws of chain 1, one file per checkpoint: each is written once and never touched again
    chain1-state.npz         where chain 1 stands, and which of these files count: written last, in one go

A chain that has thinned out its draws begins anew with the next number; what came before goes when that is on disk.

Whenever the process dies, the state on disk is a whole one and every file it counts is there. A file of draws that no
state counts yet is written over by the next run.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
import warnings
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from porbnet.base import file_system
from porbnet.errors import ModelFileError, PorbnetError, PorbnetWarning, StatementError, StorageError
from porbnet.sampling.chain import BaseChain
from porbnet.sampling.draws import ChainDraws
from porbnet.sampling.driver import Chain
from porbnet.sampling.problem import Problem
from porbnet.sampling.soundness import check_snapshot
from porbnet.storage import archive
from porbnet.storage.codec import Arrays, decode_seed, encode_seed
from porbnet.storage.model import read_draws
from porbnet.storage.start import Known, Start, read_start, start_header

VERSION = 3
_FIT, _STATE, _DRAWS = "porbnet checkpoint", "porbnet chain", "porbnet draws"


class Checkpoint:
    """A folder of checkpoints; made by `begin` or `reopen`.

    Parameters
    ----------
    folder : Path
    problem : Problem
        Against which draws are checked when they are read back.
    every : float
        Seconds between checkpoints of a chain.
    """

    def __init__(self, folder: Path, problem: Problem, every: float) -> None:
        self.folder = folder
        self.problem = problem
        self.every = every

    @property
    def place(self) -> str:
        """The folder."""
        return str(self.folder)

    def recorder(self, index: int, written: Written | None = None) -> ChainFiles:
        """The files of chain number `index`."""
        return ChainFiles(self.folder, index, self.problem, self.every, written)


class Written(NamedTuple):
    """Files of draws that count: the number of the first, the draws in each, and the sweeps per draw."""

    first: int = 1
    lengths: tuple[int, ...] = ()
    thin: int = 0


class ChainFiles:
    """The checkpoint of one chain.

    failure : why the last one could not be written; empty if it was
    written : what is on disk
    """

    def __init__(
        self, folder: Path, index: int, problem: Problem, every: float, written: Written | None = None
    ) -> None:
        self.folder, self.name, self.problem, self.every = folder, f"chain{index + 1}", problem, every
        self.failure = ""
        self.written = Written() if written is None else written
        self._written = time.monotonic()

    def _state_path(self) -> Path:
        return self.folder / f"{self.name}-state.npz"

    def _draws_path(self, number: int) -> Path:
        return self.folder / f"{self.name}-draws-{number:05d}.npz"

    def restore(self, chain: Chain) -> float:
        """Put the chain where its checkpoint left it, if there is one; returns the CPU seconds spent by then."""
        path = self._state_path()
        if not path.exists():
            return 0.0
        found = archive.read(path, _STATE, VERSION)
        first, lengths, seconds = (found.header.get(name) for name in ("first", "lengths", "seconds"))
        sound = isinstance(lengths, list) and all(type(n) is int and 0 < n < 2**53 for n in lengths)
        sound = sound and type(first) is int and 0 < first < 2**53
        if not sound or not isinstance(seconds, int | float) or not 0 <= seconds < 1e15:
            raise ModelFileError(f"{str(path)!r} is refused: it does not say which draws belong to it")
        pieces = [self._piece(number, length) for number, length in enumerate(lengths or [], start=first or 1)]
        draws = ChainDraws.joined(pieces, self.problem.scaling.n_dims)
        try:
            if isinstance(chain, BaseChain):
                chain.prepare(found.arrays)
                check_snapshot(found.arrays, chain.snapshot(), chain, len(draws))
            chain.restore(found.arrays, draws)
        except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, MemoryError) as error:
            raise ModelFileError(f"{str(path)!r} is refused: it is not the state of this chain ({error})") from error
        self.written = Written(first or 1, tuple(lengths or ()), chain.thin)
        return float(seconds)

    def _piece(self, number: int, length: int) -> ChainDraws:
        path = self._draws_path(number)
        found = archive.read(path, _DRAWS, VERSION)
        try:
            draws = read_draws(found.arrays, self.problem)
            if len(draws) != length:
                raise ModelFileError(f"it has {len(draws)} draws, not {length}")
        except ModelFileError as error:
            raise ModelFileError(f"{str(path)!r} is refused: {error}") from error
        return draws

    def due(self) -> bool:
        """Whether the last checkpoint, or try at one, is long enough ago."""
        return time.monotonic() - self._written >= self.every

    def store(self, chain: Chain, seconds: float) -> None:
        """Write draws made since the last checkpoint, then the state. A failure is noted, and tried again when due."""
        old = self.written
        if chain.thin == old.thin or not old.lengths:
            first, lengths = old.first, old.lengths
        else:
            first, lengths = old.first + len(old.lengths), ()
        try:
            new = chain.draws().after(sum(lengths))
            if len(new):
                lengths = (*lengths, len(new))
                arrays = {f"draws.{name}": array for name, array in vars(new).items()}
                archive.write(self._draws_path(first + len(lengths) - 1), _DRAWS, VERSION, {}, arrays)
            header = {"first": first, "lengths": list(lengths), "seconds": float(seconds)}
            archive.write(self._state_path(), _STATE, VERSION, header, chain.snapshot())
        except StorageError as error:
            self.failure = str(error)
        else:
            self.written, self.failure = Written(first, lengths, chain.thin), ""
            for number in range(old.first, first):
                self._draws_path(number).unlink(missing_ok=True)
        self._written = time.monotonic()


def begin(
    folder: str | os.PathLike[str], start: Start, root: np.random.SeedSequence, every: float, replace: bool = False
) -> Checkpoint:
    """Make the folder and write what the fit starts from.

    Parameters
    ----------
    folder : str or path
    start : Start
    root : SeedSequence
    every : float
        Seconds between checkpoints of a chain.
    replace : bool
        Whether a checkpoint that is there gives way, unless a process works on it.

    Raises
    ------
    StatementError
        If the folder holds a checkpoint already, and that is not to be replaced.
    StorageError
        If it cannot be made or written to, or a process works on what is to be replaced.
    """
    place = Path(folder)
    occupied = require_new(place, replace)
    arrays: Arrays = {}
    header = {"start": start_header(start, arrays), "seed": encode_seed(root), "software": _software()}
    with locked(place) if occupied else contextlib.nullcontext():
        # chains of the old fit go only when the new one is on disk, and before it has the name that counts
        archive.write(place / "next-fit.npz", _FIT, VERSION, header, arrays)
        try:
            for path in place.glob("chain*.npz"):
                path.unlink(missing_ok=True)
            file_system.replace(place / "next-fit.npz", place / "fit.npz")
        except OSError as error:
            raise StorageError(f"{str(place)!r} could not be replaced: {archive.reason(error)}") from error
    return Checkpoint(place, start.problem, every)


def require_new(folder: str | os.PathLike[str], replace: bool = False) -> bool:
    """Make the folder; an error if that cannot be, or if it holds a checkpoint that is not to be replaced.

    Returns whether it holds one.
    """
    place = Path(folder)
    try:
        place.mkdir(parents=True, exist_ok=True)
        occupied = (place / "fit.npz").exists() or any(place.glob("chain*.npz"))
    except OSError as error:
        raise StorageError(f"checkpoint={str(place)!r} could not be made: {archive.reason(error)}") from error
    if occupied and not replace:
        raise StatementError(
            f"checkpoint={str(place)!r} holds a checkpoint already: it must be a new folder; "
            f"porbnet.resume({str(place)!r}) goes on with what is there"
        )
    return occupied


def discard(folder: str | os.PathLike[str]) -> None:
    """Remove a checkpoint that is not needed any more, unless a process works on it."""
    if Path(folder).is_dir():
        with contextlib.suppress(StorageError), locked(folder):
            shutil.rmtree(folder, ignore_errors=True)
        if os.name == "nt" and [path.name for path in Path(folder).glob("*")] == ["lock"]:
            shutil.rmtree(folder, ignore_errors=True)  # the lock itself could not go while it was held


def reopen(
    folder: str | os.PathLike[str], known: Known, every: float | None = None
) -> tuple[Start, np.random.SeedSequence, Checkpoint]:
    """What a fit started from, its seed, and its checkpoint; `known` are the names of each estimator's parameters."""
    place = Path(folder)
    if not (place / "fit.npz").exists():
        raise StorageError(f"{str(place)!r} holds no checkpoint: there is no fit.npz in it")
    found = archive.read(place / "fit.npz", _FIT, VERSION)
    try:
        stated = found.header.get("start")
        if not isinstance(stated, dict):
            raise ModelFileError("it does not say what the fit starts from")
        start = read_start(stated, found.arrays, known)
        root = decode_seed(found.header.get("seed"))
        then = found.header.get("software")
        if not isinstance(then, dict):
            raise ModelFileError("it does not say what wrote it")
    except PorbnetError as error:
        raise ModelFileError(f"{str(place / 'fit.npz')!r} is refused: {error}") from error
    if then != _software():
        warnings.warn(
            f"the fit in {str(place)!r} was begun with {_listed(then)} and goes on with {_listed(_software())}: "
            "its draws are as good, but may not be those of a fit that was left alone",
            PorbnetWarning,
            stacklevel=3,
        )
    seconds = start.parameters.get("checkpoint_seconds") if every is None else every
    return start, root, Checkpoint(place, start.problem, float(seconds or 0.0))


def _software() -> dict[str, str]:
    """What decides the last bits of the draws."""
    return {name: metadata.version(name) for name in ("porbnet", "numpy", "numba")}


def _listed(versions: dict[str, Any]) -> str:
    return ", ".join(f"{name} {str(version)[:20]}" for name, version in versions.items())


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str]) -> Any:
    """Hold a checkpoint folder for this process alone, where the system can; a killed process lets go of it.

    What a killed process had begun to write is swept up.
    """
    with contextlib.ExitStack() as stack:
        try:
            handle = stack.enter_context(open(Path(folder) / "lock", "ab"))
            file_system.lock(handle)
        except BlockingIOError:
            raise StorageError(f"{os.fspath(folder)!r} is in use: another process works on this fit") from None
        except OSError:
            pass  # a file system without locks, or a folder that cannot be written: the latter is noticed when it is
        for unfinished in Path(folder).glob(".*.npz.*.part"):
            with contextlib.suppress(OSError):
                unfinished.unlink()
        yield
