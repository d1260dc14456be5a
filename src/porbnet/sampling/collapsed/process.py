"""A Gaussian process at knots in the kernels: its values from whitened coefficients, and ellipses through these.

The coefficients z ~ N(0, I) of the curve come first. An unknown variance and lengthscale have one more each, see
`porbnet.functions.grid_gp`: together they are called the law of the curve.
"""

from __future__ import annotations

import math
from typing import Any

from porbnet.base.compiled import inner_kernel
from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.state import MOST_HELD, Field


@inner_kernel
def n_of_curve(field: Field) -> int:
    """How many coefficients are those of the curve; the others are those of its law."""
    return len(field.z) - (1 if field.log_sd > 0.0 else 0) - (1 if len(field.ranks) > 1 else 0)


@inner_kernel
def lengthscale_of(field: Field, z: Any) -> int:
    """Which of its lengthscales a curve with coefficients z has."""
    n = len(field.ranks)
    if n == 1:
        return 0
    return int(min(max(math.floor(z[len(field.z) - 1] / field.step + 0.5) + n // 2, 0), n - 1))


@inner_kernel
def first_basis(field: Field, which: int) -> int:
    """Where the bases of a lengthscale start."""
    start = 0
    for j in range(which):
        for d in range(len(field.sizes)):
            start += field.ranks[j, d] * field.sizes[d]
    return start


@kernel
def expand(field: Field, z: Any, table: Any) -> None:
    """Set table = h at the knots for coefficients z."""
    expand_given(field, z, z, table)


@inner_kernel
def expand_given(field: Field, z: Any, law: Any, table: Any) -> None:
    """Set table = h at the knots for the curve's coefficients in z and its law's in `law`: linear in the former.

    One basis after the other, axis by axis.
    """
    n_dims, which = len(field.sizes), lengthscale_of(field, law)
    ranks, start = field.ranks[which], first_basis(field, which)
    left, right = 1, 1
    for d in range(1, n_dims):
        right *= ranks[d]
    source, target = 0, 1
    for i in range(len(field.z)):
        field.buffers[source, i] = z[i]
    if which > 0 and n_dims > 1:  # fewer coefficients per dimension: those in use, brought together
        for i in range(ranks[0] * right):
            rest, place, stride = i, 0, 1
            for d in range(n_dims - 1, -1, -1):
                place += rest % ranks[d] * stride
                rest //= ranks[d]
                stride *= field.ranks[0, d]
            field.buffers[source, i] = z[place]
    for d in range(n_dims):
        rank, size = ranks[d], field.sizes[d]
        # the tensor is (left, rank, right); it becomes (left, size, right)
        for a in range(left):
            block = field.buffers[target, a * size * right : (a + 1) * size * right]
            for i in range(size * right):
                block[i] = 0.0
            for m in range(rank):
                basis = field.bases[start + m * size : start + (m + 1) * size]
                at = (a * rank + m) * right
                if right == 1:
                    f = field.buffers[source, at]
                    for g in range(size):
                        block[g] += f * basis[g]
                else:
                    old = field.buffers[source, at : at + right]
                    for g in range(size):
                        f, new = basis[g], block[g * right : (g + 1) * right]
                        for r in range(right):
                            new[r] += f * old[r]
        start += size * rank
        left *= size
        if d + 1 < n_dims:
            right //= ranks[d + 1]
        source, target = target, source
    for i in range(left):
        table[i] = field.buffers[source, i]
    if field.log_sd > 0.0:
        factor = math.exp(field.log_sd * law[n_of_curve(field)])
        for i in range(left):
            table[i] *= factor


@inner_kernel
def draw_ellipse(field: Field, of_law: bool, axes: Any, window: Any, rng: Any) -> None:
    """The half axes of an ellipse through z: of the curve, with h left where it is at a few places, or of its law.

    Of the law: one or both of the coefficients of its variance and lengthscale move (see `follow_law` for the curve).
    Of the curve: its law is held.

    h at a knot is b·z with b the basis there. With q_1, q_2, ... orthonormal and of the same span as the b of the held
    knots, the rest of z, z - Σ (q·z) q, is independent of the q·z and has the law of the rest of ν ~ N(0, I), so that
    an ellipse through these two rests leaves the prior invariant: it is the prior of the curve given its values at the
    held knots. These lie at random inside or outside a random window, whatever the state. Where the data say much about
    part of a curve, holding it there lets the rest move far.
    """
    n_dims, n, n_all = len(field.sizes), n_of_curve(field), len(field.z)
    anchor, direction = axes[0], axes[1]
    for i in range(n_all):
        anchor[i], direction[i] = 0.0, 0.0
    if of_law:
        u = rng.random()  # of two, the first alone, the second alone, or both
        for i in range(n, n_all):
            if n_all - n == 1 or (u < 2.0 / 3.0 if i == n else u > 1.0 / 3.0):
                anchor[i] = field.z[i]
                direction[i] = rng.standard_normal()
        return
    which = lengthscale_of(field, field.z)
    for d in range(n_dims):
        low, high = int(rng.random() * field.sizes[d]), int(rng.random() * field.sizes[d])
        window[d, 0], window[d, 1] = min(low, high), abs(high - low) + 1
    for i in range(n):
        anchor[i] = field.z[i]
        direction[i] = rng.standard_normal()
    used, outside = 2, int(rng.random() * 2 * n_dims)  # the dimension in which they lie outside the window, if any
    for _ in range(int(rng.random() * (MOST_HELD + 2)) - 1):  # none twice as often as any other number
        q = axes[used]
        for i in range(n):
            q[i] = 1.0
        start, inner = first_basis(field, which), n
        for d in range(n_dims):
            rank, most, size = field.ranks[which, d], field.ranks[0, d], field.sizes[d]
            knot, width = int(rng.random() * size), window[d, 1]
            if outside >= n_dims or width == size:
                knot = window[d, 0] + int(rng.random() * width)
            elif outside == d:
                knot = int(rng.random() * (size - width))
                knot += width if knot >= window[d, 0] else 0
            inner //= most
            for i in range(n):
                m = (i // inner) % most
                q[i] *= field.bases[start + m * size + knot] if m < rank else 0.0
            start += size * rank
        whole, rest = 0.0, 0.0
        for i in range(n):
            whole += q[i] * q[i]
        for _repeat in range(2):  # twice is enough for orthogonality to rounding
            for j in range(2, used):
                other, along = axes[j], 0.0
                for i in range(n):
                    along += other[i] * q[i]
                for i in range(n):
                    q[i] -= along * other[i]
        for i in range(n):
            rest += q[i] * q[i]
        if rest < 1e-6 * whole:
            continue  # as good as held already
        scale = 1.0 / math.sqrt(rest)
        used += 1
        for i in range(n):
            q[i] *= scale
        for j in range(2):
            axis, along = axes[j], 0.0
            for i in range(n):
                along += axis[i] * q[i]
            for i in range(n):
                axis[i] -= along * q[i]


@inner_kernel
def follow_law(field: Field, least: float, z: Any) -> float:
    """Let the larger parts of the curve stay where they are when the law moves to that of z: rescale them in z.

    With σ_m the spread of what coefficient m adds to h, √v times its entry in `spreads`, u_m = σ_m z_m is held in place
    of z_m wherever the spread at the median lengthscale is at least `least`. Given ζ, u ~ N(0, σ²), so that in terms
    of (u, ζ) the target is N(ζ; 0, I) L Π_m N(u_m / σ_m; 0, 1) / σ_m. Returns the logarithm of the last product over
    its current value, Σ_m ½ (z_m² - z'_m²) + log(σ_m / σ'_m) with z'_m = z_m σ_m / σ'_m.
    """
    n, total = n_of_curve(field), 0.0
    median = field.spreads[len(field.spreads) // 2]
    old, new = field.spreads[lengthscale_of(field, field.z)], field.spreads[lengthscale_of(field, z)]
    log_factor = field.log_sd * (field.z[n] - z[n]) if field.log_sd > 0.0 else 0.0
    for m in range(n):
        if median[m] >= least:
            log_ratio = log_factor + math.log(old[m] / new[m])
            z[m] = field.z[m] * math.exp(log_ratio)
            total += log_ratio + 0.5 * (field.z[m] * field.z[m] - z[m] * z[m])
    return total
