"""A Gaussian process at knots in the kernels: its values from whitened coefficients, and ellipses through these.

The coefficients z ~ N(0, I) of the curve come first. An unknown variance and lengthscale have one more each, see
`functions.grid_gp`: together they are called the law of the curve.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import hot, inner
from porbnet.kernels.random import normal, uniform
from porbnet.kernels.state import MOST_HELD, MOST_HELD_AROUND
from porbnet.kernels.vectors import add, dot, larger, smaller
from porbnet.kernels.views import part, row_part

MOST_SHRINKS = 100
LOG_ARCS = 2.0  # arcs searched are between exp(-2) of the circle and all of it


@inner
def n_of_curve(curve: Any) -> int:
    """How many coefficients are those of the curve; the others are those of its law."""
    return len(curve.z) - (1 if curve.log_sd > 0.0 else 0) - (1 if len(curve.ranks) > 1 else 0)


@inner
def lengthscale_of(curve: Any, z: Any) -> int:
    """Which of its lengthscales a curve with coefficients z has."""
    n = len(curve.ranks)
    if n == 1:
        return 0
    return int(smaller(larger(math.floor(z[len(curve.z) - 1] / curve.step + 0.5) + n // 2, 0), n - 1))


@inner
def first_basis(curve: Any, which: int) -> int:
    """Where the bases of a lengthscale start."""
    start = 0
    for j in range(which):
        for d in range(len(curve.sizes)):
            start += curve.ranks[j, d] * curve.sizes[d]
    return start


@inner
def expand(curve: Any, z: Any, table: Any) -> None:
    """Set table = h at the knots for coefficients z."""
    expand_given(curve, z, z, table)
    for i in range(len(table)):
        table[i] += curve.mean


@hot
def expand_given(curve: Any, z: Any, law: Any, table: Any) -> None:
    """Set table = h - mean at the knots for the curve's coefficients in z and its law's in `law`: linear in the former.

    One basis after the other, axis by axis.
    """
    n_dims, which = len(curve.sizes), lengthscale_of(curve, law)
    ranks, start = curve.ranks[which], first_basis(curve, which)
    buffers, bases = curve.buffers, curve.bases
    left, right = 1, 1
    for d in range(1, n_dims):
        right *= ranks[d]
    source, target = 0, 1
    for i in range(len(curve.z)):
        buffers[source, i] = z[i]
    if which > 0 and n_dims > 1:  # fewer coefficients per dimension: those in use, brought together
        for i in range(ranks[0] * right):
            rest, place, stride = i, 0, 1
            for d in range(n_dims - 1, -1, -1):
                place += rest % ranks[d] * stride
                rest //= ranks[d]
                stride *= curve.ranks[0, d]
            buffers[source, i] = z[place]
    for d in range(n_dims):
        rank, size = ranks[d], curve.sizes[d]
        # the tensor is (left, rank, right); it becomes (left, size, right)
        for a in range(left):
            block = row_part(buffers, target, a * size * right, (a + 1) * size * right)
            for i in range(size * right):
                block[i] = 0.0
            for m in range(rank):
                basis = part(bases, start + m * size, start + (m + 1) * size)
                at = (a * rank + m) * right
                if right == 1:
                    f = buffers[source, at]
                    for g in range(size):
                        block[g] += f * basis[g]
                else:
                    old = row_part(buffers, source, at, at + right)
                    for g in range(size):
                        f, new = basis[g], part(block, g * right, (g + 1) * right)
                        for r in range(right):
                            new[r] += f * old[r]
        start += size * rank
        left *= size
        if d + 1 < n_dims:
            right //= ranks[d + 1]
        source, target = target, source
    for i in range(left):
        table[i] = buffers[source, i]
    if curve.log_sd > 0.0:
        factor = math.exp(curve.log_sd * law[n_of_curve(curve)])
        for i in range(left):
            table[i] *= factor


@inner
def draw_ellipse(curve: Any, of_law: bool, rng: Any) -> None:
    """The half axes of an ellipse through z: of the curve, with h left where it is at a few places, or of its law.

    Of the law: one or both of the coefficients of its variance and lengthscale move (see `follow_law` for the curve).
    Of the curve: its law is held.

    h at a knot is b·z with b the basis there. With q_1, q_2, ... orthonormal and of the same span as the b of the held
    knots, the rest of z, z - Σ (q·z) q, is independent of the q·z and has the law of the rest of ν ~ N(0, I), so that
    an ellipse through these two rests leaves the prior invariant: it is the prior of the curve given its values at the
    held knots. These lie at random inside or outside a random window, whatever the state. Where the data say much about
    part of a curve, holding it there lets the rest move far.
    """
    n_dims, n, n_all = len(curve.sizes), n_of_curve(curve), len(curve.z)
    axes, window = curve.axes, curve.window
    anchor, direction = axes[0], axes[1]
    for i in range(n_all):
        anchor[i], direction[i] = 0.0, 0.0
    if of_law:
        u = uniform(rng)  # of two, the first alone, the second alone, or both
        for i in range(n, n_all):
            if n_all - n == 1 or (u < 2.0 / 3.0 if i == n else u > 1.0 / 3.0):
                anchor[i] = curve.z[i]
                direction[i] = normal(rng)
        return
    for d in range(n_dims):
        low, high = int(uniform(rng) * curve.sizes[d]), int(uniform(rng) * curve.sizes[d])
        window[d, 0], window[d, 1] = smaller(low, high), abs(high - low) + 1
    anchor_and_direction(curve, rng)
    outside = int(uniform(rng) * 2 * n_dims)  # the dimension in which they lie outside the window, if any
    used = 2
    for _ in range(int(uniform(rng) * (MOST_HELD + 2)) - 1):  # none twice as often as any other number
        used = hold(curve, used, outside, rng)


@inner
def draw_ellipse_around(curve: Any, rng: Any) -> None:
    """The same with h left where it is at many places around the window that curve.window says, whatever the state."""
    n_dims, used = len(curve.sizes), 2
    anchor_and_direction(curve, rng)
    for i in range(n_of_curve(curve), len(curve.z)):
        curve.axes[0, i], curve.axes[1, i] = 0.0, 0.0
    for _ in range(int(uniform(rng) * (MOST_HELD_AROUND + 1))):
        used = hold(curve, used, smaller(int(uniform(rng) * n_dims), n_dims - 1), rng)


@inner
def anchor_and_direction(curve: Any, rng: Any) -> None:
    """The half axes with nothing held: z and a draw from its law."""
    for i in range(n_of_curve(curve)):
        curve.axes[0, i] = curve.z[i]
        curve.axes[1, i] = normal(rng)


@inner
def hold(curve: Any, used: int, outside: int, rng: Any) -> int:
    """Leave h where it is at one more place: make the half axes orthogonal to its basis there.

    outside : the dimension in which the place lies outside the window; inside if there is no such dimension
    used : of the axes; returns how many are used now
    """
    n_dims, n, which = len(curve.sizes), n_of_curve(curve), lengthscale_of(curve, curve.z)
    axes, window, bases = curve.axes, curve.window, curve.bases
    q = axes[used]
    for i in range(n):
        q[i] = 1.0
    start, inner = first_basis(curve, which), n
    for d in range(n_dims):
        rank, most, size = curve.ranks[which, d], curve.ranks[0, d], curve.sizes[d]
        knot, width = int(uniform(rng) * size), window[d, 1]
        if outside >= n_dims or width == size:
            knot = window[d, 0] + int(uniform(rng) * width)
        elif outside == d:
            knot = int(uniform(rng) * (size - width))
            knot += width if knot >= window[d, 0] else 0
        inner //= most
        for i in range(n):
            m = (i // inner) % most
            q[i] *= bases[start + m * size + knot] if m < rank else 0.0
        start += size * rank
    whole = dot(q, q, n)
    for _repeat in range(2):  # twice is enough for orthogonality to rounding
        for j in range(2, used):
            add(q, -dot(axes[j], q, n), axes[j], n)
    rest = dot(q, q, n)
    if rest < 1e-6 * whole:
        return used  # as good as held already
    scale = 1.0 / math.sqrt(rest)
    for i in range(n):
        q[i] *= scale
    for j in range(2):
        add(axes[j], -dot(axes[j], q, n), q, n)
    return used + 1


@inner
def follow_law(curve: Any, least: float, z: Any) -> float:
    """Let the larger parts of the curve stay where they are when the law moves to that of z: rescale them in z.

    With σ_m the spread of what coefficient m adds to h, √v times its entry in `spreads`, u_m = σ_m z_m is held in place
    of z_m wherever the spread at the median lengthscale is at least `least`. Given ζ, u ~ N(0, σ²), so that in terms
    of (u, ζ) the target is N(ζ; 0, I) L Π_m N(u_m / σ_m; 0, 1) / σ_m. Returns the logarithm of the last product over
    its current value, Σ_m ½ (z_m² - z'_m²) + log(σ_m / σ'_m) with z'_m = z_m σ_m / σ'_m.
    """
    n, total = n_of_curve(curve), 0.0
    median = curve.spreads[len(curve.spreads) // 2]
    old, new = curve.spreads[lengthscale_of(curve, curve.z)], curve.spreads[lengthscale_of(curve, z)]
    log_factor = curve.log_sd * (curve.z[n] - z[n]) if curve.log_sd > 0.0 else 0.0
    for m in range(n):
        if median[m] >= least:
            log_ratio = log_factor + math.log(old[m] / new[m])
            z[m] = curve.z[m] * math.exp(log_ratio)
            total += log_ratio + 0.5 * (curve.z[m] * curve.z[m] - z[m] * z[m])
    return total
