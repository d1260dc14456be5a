"""Sizes of a run: minutes or the paper's own."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from porbnet.base import checks as _checks


@dataclass(frozen=True)
class Settings:
    """How much is computed.

    Attributes
    ----------
    seed : int
        Root of all seeds but those of the splits, which are fixed.
    n_prior_draws : int
        Functions drawn from each prior (the paper: 10,000).
    n_splits : int
        Random splits of each data set (here 20).
    n_costly_splits : int
        The first so many of them for the models whose fits take long and which no claim of the tables is about.
    n_repeats : int
        Data sets drawn for each synthetic experiment (the paper shows one).
    n_chains, n_warmup, n_draws : int
        Of a PoRB-NET fit.
    nuts_warmup, nuts_draws : int
        Of each of two chains of a baseline sampled by NUTS.
    dropout_epochs : int
        Passes over the training data of MC dropout.
    largest_lgp : int
        Most training rows that the L-GP is given; its cost grows with their cube.
    """

    seed: int = 0
    n_prior_draws: int = 10_000
    n_splits: int = 20
    n_costly_splits: int = 2
    n_repeats: int = 10
    n_chains: int = 4
    n_warmup: int = 500
    n_draws: int = 1000
    nuts_warmup: int = 300
    nuts_draws: int = 300
    dropout_epochs: int = 2000
    largest_lgp: int = 200

    @classmethod
    def quick(cls, seed: int = 0) -> Settings:
        """Minutes instead of hours; the splits are the first of the full run."""
        return cls(
            seed=seed, n_prior_draws=2000, n_splits=2, n_costly_splits=1, n_repeats=3, n_chains=2, n_warmup=300,
            n_draws=500, nuts_warmup=200, nuts_draws=200, dropout_epochs=1000, largest_lgp=100,
        )  # fmt: skip

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            _checks.count(name, value, minimum=0 if name == "seed" else 1)

    @property
    def sampling(self) -> dict[str, Any]:
        """Arguments of `PoRBNetRegressor` that say how to sample."""
        return {"n_chains": self.n_chains, "n_warmup": self.n_warmup, "n_draws": self.n_draws}

    @property
    def nuts(self) -> dict[str, int]:
        """Arguments of the baselines that say how to sample."""
        return {"n_warmup": self.nuts_warmup, "n_draws": self.nuts_draws}

    @property
    def of_a_fit(self) -> dict[str, int]:
        """Those sizes that one fit of the tables depends on: more splits do not make the first ones anew."""
        kept = ("seed", "n_chains", "n_warmup", "n_draws", "nuts_warmup", "nuts_draws", "dropout_epochs")
        return {name: value for name, value in asdict(self).items() if name in kept}

    def as_dict(self) -> dict[str, int]:
        """All sizes by name."""
        return asdict(self)
