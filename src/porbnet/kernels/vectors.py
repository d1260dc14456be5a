"""Loops over vectors that many kernels make (the hottest stand written out where they are), and the greater of two."""

from __future__ import annotations

from typing import Any

from porbnet.base.compiled import apart, inner


@apart
def dot(a: Any, b: Any, n: int) -> float:
    """Σ a_i b_i over the first n."""
    total = 0.0
    for i in range(n):
        total += a[i] * b[i]
    return total


@apart
def add(a: Any, factor: float, b: Any, n: int) -> None:
    """a_i += factor b_i for the first n."""
    for i in range(n):
        a[i] += factor * b[i]


@apart
def combine(target: Any, start: Any, f: float, a: Any, g: float, b: Any) -> None:
    """target_i = start_i + f a_i + g b_i for all of the target."""
    for i in range(len(target)):
        target[i] = start[i] + f * a[i] + g * b[i]


@apart
def copy(source: Any, target: Any, n: int) -> None:
    """target_i = source_i for the first n."""
    for i in range(n):
        target[i] = source[i]


@inner
def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers: as `max`, which takes Numba ten times as long to compile."""
    return b if b > a else a


@inner
def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers."""
    return b if b < a else a
