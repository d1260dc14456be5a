"""How a fit of the page is to run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Running:
    """Chains, sweeps of warm-up, draws of each chain, sweeps per draw, seed, and seconds at most."""

    n_chains: int = 2
    n_warmup: int = 500
    n_draws: int = 1000
    thin: int = 4
    seed: int = 0
    seconds: float = 300.0
