"""The one place that configures Numba, and the exponential that its loops use.

`kernel` compiles with a cache on disk and releases the GIL. Numba's own `exp` is a scalar call; `fast_exp` is a
polynomial that the compiler turns into vector instructions (relative error 2e-16, arguments in [-708, 0.5]).
With NUMBA_DISABLE_JIT=1 every kernel runs as plain Python.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
from numba import types
from numba.extending import intrinsic

Function = TypeVar("Function", bound=Callable[..., Any])


_KERNEL_SOURCES = ("functions/*_kernels.py", "sampling/*/*.py")


def _package_stamp() -> str:
    """A digest of the sources that kernels are made of, for the cache of compiled kernels."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256(Path(__file__).read_bytes())
    for pattern in _KERNEL_SOURCES:
        for path in sorted(package.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


_STAMP = _package_stamp()


def _compiled(function: Function, flags: set[str], **options: Any) -> Function:
    dispatcher = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=flags, **options)(function)
    # Numba looks only at the kernel's own file to see whether its cache is stale. Kernels call kernels in other files,
    # so that a change there would go unnoticed: the stamp of all of them is added.
    cache_file = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if cache_file is not None:
        cache_file._source_stamp = (cache_file._source_stamp, _STAMP)
    return cast(Function, dispatcher)


def kernel(function: Function) -> Function:
    """Compile a kernel: cached, without the GIL, sums may be reordered, NaN and inf keep their meaning."""
    return _compiled(function, {"contract", "reassoc", "nsz"})


def lean_kernel(function: Function) -> Function:
    """Compile a kernel that makes no arrays, and so needs no counting of references to them.

    Kernels that pass many arrays to each other spend more time on that counting than on small matrices.
    """
    return _compiled(function, {"contract", "reassoc", "nsz"}, _nrt=False)


def inner_kernel(function: Function) -> Function:
    """A lean kernel that only other kernels call: without an entry from Python, it compiles in half the time."""
    return _compiled(
        function, {"contract", "reassoc", "nsz"}, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True
    )


def inlined_kernel(function: Function) -> Function:
    """A part of one larger kernel, compiled only within it."""
    return _compiled(function, {"contract", "reassoc", "nsz"}, _nrt=False, inline="always")


def exact_kernel(function: Function) -> Function:
    """Compile a kernel in which sums keep their order (bit tricks depend on it)."""
    return _compiled(function, {"contract"})


def is_cold(function: Callable[..., Any]) -> bool:
    """Whether a call of this kernel will have to compile it first: not in memory and not in the cache on disk."""
    if not hasattr(function, "signatures"):  # plain Python
        return False
    if function.signatures:
        return False
    cache_file = getattr(getattr(function, "_cache", None), "_cache_file", None)
    if cache_file is None:
        return True
    try:
        return not cache_file._load_index()
    except Exception:  # Numba's own affair; the answer is only used for a message
        return True


if getattr(numba.config, "DISABLE_JIT", False):

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


@exact_kernel
def fast_exp(x: float) -> float:
    """exp(x) for x in [-708, 0.5]: x = n ln 2 + r, Taylor polynomial of degree 13 in r, exponent bits += n."""
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
