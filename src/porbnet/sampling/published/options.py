"""`PaperSampler`: what can be set about the paper's sampler."""

from __future__ import annotations

from dataclasses import dataclass

from porbnet.base import checks as _checks


@dataclass(frozen=True)
class PaperSampler:
    """The published sampler, with its settings; `sampler="paper"` takes them as they stand here.

    Parameters
    ----------
    n_leapfrog : int
        Leapfrog steps of a trajectory of the network (the paper's L). The step size is tuned in warm-up.
    target_acceptance : float
        Share of trajectories to be accepted, between 0 and 1, that the tuning aims at.
    n_birth_death : int or None
        Births and deaths proposed per sweep; None: as many as units are expected, at least 10.
    n_leapfrog_intensity : int
        Leapfrog steps of a trajectory of an unknown, varying intensity.
    plug_in : bool
        For an unknown, varying intensity only. True: network and width are updated given the average of `n_average`
        draws of the intensity, as in the paper, which is an approximation; False: given the current draw, which leaves
        the exact posterior invariant.
    n_average : int
        Draws of the intensity per sweep that `plug_in` averages (the paper's S).

    Examples
    --------
    >>> PaperSampler(n_leapfrog=50, plug_in=True).n_leapfrog
    50
    """

    n_leapfrog: int = 100
    target_acceptance: float = 0.8
    n_birth_death: int | None = None
    n_leapfrog_intensity: int = 20
    plug_in: bool = False
    n_average: int = 10

    def __post_init__(self) -> None:
        for name in ("n_leapfrog", "n_leapfrog_intensity", "n_average"):
            object.__setattr__(self, name, _checks.count(name, getattr(self, name)))
        if self.n_birth_death is not None:
            object.__setattr__(self, "n_birth_death", _checks.count("n_birth_death", self.n_birth_death))
        target = _checks.number("target_acceptance", self.target_acceptance)
        if target >= 1.0:
            raise _checks.fail("target_acceptance", self.target_acceptance, "it must lie between 0 and 1")
        object.__setattr__(self, "target_acceptance", target)
        if not isinstance(self.plug_in, bool):
            raise _checks.fail("plug_in", self.plug_in, "it must be True or False")
