"""What stored draws say with the weights integrated out: conditional means and the marginal likelihood.

Predictions of every sampler average Gaussians given a draw's centers and parameters (Rao-Blackwell), which is right for
draws of the exact posterior whichever sampler made them. The sampler itself never looks at these numbers, and the drawn
weights stay beside them.
"""

from __future__ import annotations

from typing import Any

from porbnet.base.compiled import kernel
from porbnet.kernels.gaussian import refit
from porbnet.sampling.draw_state import conditional_state, put_draw, put_values
from porbnet.sampling.problem import Problem
from porbnet.sampling.stored import Stored


def fill(problem: Problem, stored: Stored) -> None:
    """Set `log_p`, `mean_biases` and `mean_weights` of what is stored."""
    capacity = int(stored.counts[: stored.n].max(initial=0)) + 1
    fill_conditionals(conditional_state(problem, capacity), stored)


@kernel
def fill_conditionals(state: Any, stored: Any) -> None:
    """Set `log_p`, `mean_biases` and `mean_weights` draw by draw."""
    used, units = 0, state.units
    for draw in range(stored.n):
        n = stored.counts[draw]
        put_values(state, stored, draw)
        put_draw(state, stored, draw, used, used + n)
        stored.log_p[draw] = refit(state)
        stored.mean_biases[draw] = units.mean[0] if state.rows.has_bias == 1 else 0.0
        for k in range(n):
            stored.mean_weights[used + k] = units.mean[k + 1]
        used += n
