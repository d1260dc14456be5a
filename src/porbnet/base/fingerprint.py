"""What a kernel is made of, as one number: its code as it was loaded, and all that it refers to.

Machine code that was kept may be used again only if nothing of what it was made from has changed. `fingerprint` walks
from a function to the functions it calls, the constants it reads and the modules it looks into; of modules outside this
package it takes in the text too, where rules for the compiler may stand that the walk does not meet. (Of this package
`kernel_files` takes in all of it.) What it cannot make out has no fingerprint, and is compiled in every process.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numba.core.types import Type

PACKAGE = __name__.partition(".")[0]
# told apart by their versions, which are part of every kept kernel's name
_LIBRARIES = {"numpy", "numba", "llvmlite", "builtins", "cmath", "math", "operator", "typing"}


class _Unknown(Exception):
    """There is something that cannot be told."""


def fingerprint(function: Callable[..., Any]) -> str | None:
    """A digest of a kernel and all that it refers to; None if there is something in it that cannot be told.

    Parameters
    ----------
    function : a kernel, compiled or plain

    Examples
    --------
    >>> half, same = lambda x: 0.5 * x, lambda x: 0.5 * x
    >>> fingerprint(half) == fingerprint(same), fingerprint(half) == fingerprint(lambda x: 0.25 * x)
    (True, False)
    """
    walk = _Walk()
    try:
        walk.visit(function, ())
    except (_Unknown, RecursionError, ValueError):  # the last of a closure that is not filled yet
        return None
    return walk.digest.hexdigest()


class _Walk:
    def __init__(self) -> None:
        self.digest = hashlib.sha256()
        self._seen: dict[Any, Any] = {}  # by identity; holding them keeps their identity theirs
        self._files: set[str] = set()

    def say(self, *words: Any) -> None:
        self.digest.update(repr(words).encode())

    def visit(self, value: Any, names: Iterable[str]) -> None:
        """Take in a value; `names` are those that the code which refers to it looks up."""
        value = _plain(value)
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            self.say(type(value).__name__, value)
        elif isinstance(value, types.FunctionType):
            self._function(value)
        elif isinstance(value, types.ModuleType):
            self._module(value, names)
        elif isinstance(value, type | types.BuiltinFunctionType | np.ufunc) or _root(type(value)) == "typing":
            self._named(value)
        elif isinstance(value, Type):
            self.say("type", str(value))
        elif isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "biufc":
            self.say("array", value.dtype.str, value.shape, hashlib.sha256(value.tobytes()).hexdigest())
        elif isinstance(value, tuple):
            self.say("tuple", type(value).__qualname__, len(value))
            for part in value:
                self.visit(part, names)
        else:
            raise _Unknown

    def _function(self, function: types.FunctionType) -> None:
        self.say("function", function.__module__, function.__qualname__)
        if _root(function) in _LIBRARIES or id(function) in self._seen:
            return
        self._seen[id(function)] = function
        code = function.__code__
        self._code(code)
        names = dict.fromkeys(_names(code))
        for name in names:
            if name in function.__globals__:
                self.say("global", name)
                self.visit(function.__globals__[name], names)
        for cell in function.__closure__ or ():
            self.visit(cell.cell_contents, names)
        for default in (function.__defaults__ or (), *(function.__kwdefaults__ or {}).items()):
            self.visit(default, names)
        self._text_of(function)

    def _code(self, code: types.CodeType) -> None:
        # not where it stands: the same code elsewhere is the same
        self.say(
            code.co_code, code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars, code.co_argcount,
            code.co_kwonlyargcount, code.co_flags, getattr(code, "co_exceptiontable", b""),
        )  # fmt: skip
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                self._code(constant)
            elif isinstance(constant, frozenset):
                self.say("set", sorted(map(repr, constant)))
            else:
                self.say(constant)

    def _module(self, module: types.ModuleType, names: Iterable[str]) -> None:
        self.say("module", module.__name__)
        if _root(module) in _LIBRARIES:
            return
        for name in names:
            if name in vars(module) and (id(module), name) not in self._seen:
                self._seen[id(module), name] = module
                self.say("of module", name)
                self.visit(vars(module)[name], names)

    def _named(self, value: Any) -> None:
        self.say("named", getattr(value, "__module__", ""), getattr(value, "__qualname__", repr(value)))
        if isinstance(value, type) and _root(value) not in _LIBRARIES:
            self._text_of(value)

    def _text_of(self, value: Any) -> None:
        """The file that a function or class outside this package stands in."""
        if _root(value) == PACKAGE:
            return
        with contextlib.suppress(TypeError, OSError):  # typed at a prompt or in a notebook: its code is all there is
            name = inspect.getfile(value)
            if name not in self._files:
                self._files.add(name)
                self.say("text", hashlib.sha256(Path(name).read_bytes()).hexdigest())


def _plain(value: Any) -> Any:
    """The Python function of a kernel or of an intrinsic; anything else as it is."""
    for name in ("py_func", "_defn"):
        if not isinstance(value, type | types.ModuleType) and isinstance(
            getattr(value, name, None), types.FunctionType
        ):
            return getattr(value, name)
    return value


def _root(value: Any) -> str:
    name = value.__name__ if isinstance(value, types.ModuleType) else getattr(value, "__module__", None)
    return str(name).partition(".")[0]


def _names(code: types.CodeType) -> Iterable[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _names(constant)
