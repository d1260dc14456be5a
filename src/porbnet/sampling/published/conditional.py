"""What stored draws say with the weights integrated out: conditional means and the marginal likelihood.

Predictions of every sampler average Gaussians given a draw's centers and hyper-parameters (Rao-Blackwell), which is
right for draws of the exact posterior whichever sampler made them. The sampler itself never looks at these numbers, and
the drawn weights stay beside them.
"""

from __future__ import annotations

from porbnet.base.compiled import lean_kernel as kernel
from porbnet.sampling.collapsed.gaussian import refresh
from porbnet.sampling.collapsed.state import LEVEL, Data, Hyper, Tuning, Units, Work
from porbnet.sampling.collapsed.sweep import Stored
from porbnet.sampling.collapsed.units import append, clear, scale_at


@kernel
def fill_conditionals(
    data: Data, hyper: Hyper, n_draws: int, stored: Stored, units: Units, tuning: Tuning, work: Work
) -> None:
    """Set `log_p`, `mean_biases` and `mean_weights` of the first draws of `stored`."""
    used, n_dims = 0, data.x.shape[0]
    for draw in range(n_draws):
        clear(data, units)
        n = stored.counts[draw]
        for k in range(used, used + n):
            g = stored.relative[k]
            scale = scale_at(hyper, stored.values[draw, LEVEL] * g, n_dims)
            append(data, units, stored.centers[k], g, scale, work.cross)
        stored.log_p[draw] = refresh(data, units, hyper, stored.values[draw], tuning)
        stored.mean_biases[draw] = units.mean[0] if data.has_bias == 1 else 0.0
        for k in range(n):
            stored.mean_weights[used + k] = units.mean[k + 1]
        used += n
