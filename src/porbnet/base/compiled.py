"""The one place that configures Numba: kernels, kernels as arguments, and the exponential that loops use.

- `kernel`: called from Python; compiled once and kept on disk, runs without the GIL.
- `inner`: called by kernels only. It is never machine code by itself: it goes as it is into the kernels that call it,
  and is optimised there, with everything around it, once.
- `hot`: an inner kernel in whose loops time is spent. Others are compiled to few instructions, in half the time.
- `Passed`: a kernel as an argument of a kernel (a likelihood's, a user's move); `apply` calls it.

With NUMBA_DISABLE_JIT=1 every kernel runs as plain Python.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.extending import NativeValue, intrinsic, models, overload, register_model, unbox

from porbnet.base.fingerprint import fingerprint
from porbnet.base.kernel_files import UNKEPT, KernelFiles
from porbnet.base.linked import entry, linked, mark, overload_options

Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN = bool(getattr(numba.config, "DISABLE_JIT", False))
# sums may be reordered, NaN and inf keep their meaning
_REORDERED = {"contract", "reassoc", "nsz"}
_IN_ORDER = {"contract"}


def kernel(function: Function) -> Function:
    """Compile a kernel that Python calls: kept on disk, without the GIL; it makes no arrays of its own."""
    options = {"nogil": True, "error_model": "numpy", "fastmath": _REORDERED, "_nrt": False}
    dispatcher = entry(function, **options)
    if not PLAIN:
        dispatcher._cache = KernelFiles(function)  # in place of Numba's, which can serve an old kernel for a new one
    return cast(Function, dispatcher)


def inner(function: Function) -> Function:
    """Compile a kernel that only kernels call, to few instructions."""
    return _inner(function, _REORDERED)


def hot(function: Function) -> Function:
    """Compile an inner kernel in whose loops time is spent, to fast instructions."""
    mark(function, apart=False, hot=True)
    return _inner(function, _REORDERED)


def apart(function: Function) -> Function:
    """Compile a hot inner kernel that stays a function of its own: small, and called from many places."""
    mark(function, apart=True, hot=True)
    return _inner(function, _REORDERED)


def _inner(function: Function, flags: set[str]) -> Function:
    if PLAIN:
        return function
    options = {"nogil": True, "error_model": "numpy", "fastmath": flags, "_nrt": False}
    return cast(Function, linked(function, **options))


def is_cold(function: Callable[..., Any]) -> bool:
    """Whether a call of this kernel will have to compile it first: not in memory and not in the cache on disk."""
    if not hasattr(function, "signatures"):  # plain Python
        return False
    if function.signatures:
        return False
    kept = getattr(function, "_cache", None)
    return not (isinstance(kept, KernelFiles) and kept.any())


_announced = False


def announce() -> None:
    """Tell on standard error that kernels are being compiled, once in the life of a process."""
    global _announced
    if not _announced:
        _announced = True
        print("porbnet: compiling for this machine, once (some ten seconds)", file=sys.stderr, flush=True)


# --- kernels as arguments -------------------------------------------------------------------------------------------


class PassedType(types.Type):  # type: ignore[misc]
    """Numba's type of a kernel that is an argument: every kernel has its own, named after it and its source."""


_PASSED: dict[str, Any] = {}


class Passed:
    """A kernel as an argument of another; called by `apply`.

    Parameters
    ----------
    function : an `inner` kernel that takes (state, rng) or (state,)

    The kernel it is passed to is compiled for it, and found again on disk by its name and all that it refers to.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        python = getattr(function, "py_func", function)
        made_from = fingerprint(function)
        if made_from is None:  # told apart within this process, which keeps it alive; none of it goes to disk
            made_from = f"{UNKEPT} {id(function)}"
        name = f"{python.__module__}.{python.__qualname__}:{made_from[:24]}"
        _PASSED[name] = function
        self._numba_type_ = PassedType(name)

    def __call__(self, *arguments: Any) -> Any:
        """Call it, as plain Python does."""
        return self.function(*arguments)


def apply(passed: Any, state: Any, rng: Any) -> Any:
    """Call a kernel that was passed as an argument."""
    return passed(state, rng)


def apply_to(passed: Any, state: Any) -> Any:
    """Call a kernel that was passed as an argument and draws nothing."""
    return passed(state)


@register_model(PassedType)
class _PassedModel(models.OpaqueModel):  # type: ignore[misc]
    pass


@unbox(PassedType)
def _unboxed(kind: Any, value: Any, c: Any) -> Any:
    return NativeValue(c.context.get_dummy_value())


OPTIONS: Any = overload_options(error_model="numpy", fastmath=_REORDERED, _nrt=False)


@overload(apply, jit_options=OPTIONS)  # type: ignore[untyped-decorator]
def _applied(passed, state, rng):  # type: ignore[no-untyped-def]
    function = _PASSED[passed.name]
    return lambda passed, state, rng: function(state, rng)


@overload(apply_to, jit_options=OPTIONS)  # type: ignore[untyped-decorator]
def _applied_to(passed, state):  # type: ignore[no-untyped-def]
    function = _PASSED[passed.name]
    return lambda passed, state: function(state)


# --- the exponential ------------------------------------------------------------------------------------------------

if PLAIN:

    def _bits(value: float) -> int:
        return int(struct.unpack("<q", struct.pack("<d", value))[0])

    def _from_bits(bits: int) -> float:
        wrapped = (bits + 2**63) % 2**64 - 2**63
        return float(struct.unpack("<d", struct.pack("<q", wrapped))[0])

else:
    from llvmlite import ir

    @intrinsic  # type: ignore[untyped-decorator]
    def _bits(typing_context, value):  # type: ignore[no-untyped-def]
        """The 64 bits of a double as an integer."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.bitcast(arguments[0], ir.IntType(64))

        return types.int64(types.float64), generate

    @intrinsic  # type: ignore[untyped-decorator]
    def _from_bits(typing_context, bits):  # type: ignore[no-untyped-def]
        """The double that has these 64 bits."""

        def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
            return builder.bitcast(arguments[0], ir.DoubleType())

        return types.float64(types.int64), generate


_SHIFT = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the nearest integer in the low bits
_LOG2E = 1.4426950408889634
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10


def _fast_exp(x: float) -> float:
    """exp(x) for x in [-708, 0.5], relative error 2e-16, in vector instructions; Numba's own `exp` is a scalar call.

    x = n ln 2 + r, Taylor polynomial of degree 13 in r, exponent bits += n. Sums keep their order: bit tricks depend on
    it.
    """
    shifted = x * _LOG2E + _SHIFT
    n = shifted - _SHIFT
    r = x - n * _LN2_HIGH
    r = r - n * _LN2_LOW
    p = 1.0 / 6227020800.0
    p = p * r + 1.0 / 479001600.0
    p = p * r + 1.0 / 39916800.0
    p = p * r + 1.0 / 3628800.0
    p = p * r + 1.0 / 362880.0
    p = p * r + 1.0 / 40320.0
    p = p * r + 1.0 / 5040.0
    p = p * r + 1.0 / 720.0
    p = p * r + 1.0 / 120.0
    p = p * r + 1.0 / 24.0
    p = p * r + 1.0 / 6.0
    p = p * r + 0.5
    p = p * r + 1.0
    p = p * r + 1.0
    return _from_bits(_bits(p) + (_bits(shifted) << 52))  # type: ignore[no-any-return]


mark(_fast_exp, apart=False, hot=True)
fast_exp = _inner(_fast_exp, _IN_ORDER)
