"""How much of what a sweep of the collapsed sampler does, and how much room it has."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace

from porbnet.errors import StatementError
from porbnet.sampling.problem import Problem
from porbnet.statement.prior import Prior

_PER_ROW = 48  # of a packed Gram matrix, entries to begin with
_MOST_BYTES = 2**36  # that room for units may take
MOST_EXPECTED, MOST_EXPECTED_BEYOND = 50_000, 5_000  # units of a prior that is fitted, with one input and with several


@dataclass(frozen=True)
class Sizes:
    """Room: of units and proposed units, of their packed Gram matrices (0: a whole square), of marked points."""

    units: int
    packed: int
    trial: int
    room: int
    marks: int

    @classmethod
    def of(cls, units: int, packed: bool, marks: int, n_dims: int = 1) -> Sizes:
        """For so many units, a proposal having no fewer."""
        room = _PER_ROW * units if packed and n_dims == 1 else units * (units + 1) // 2 + 1
        return cls(units, room if packed else 0, units, room, marks)

    def are_sound(self, n_points: int) -> bool:
        """Whether numbers from a file can be sizes."""
        whole = all(0 <= n < 2**31 for n in astuple(self)) and 0 < self.units <= self.trial and self.room > 0
        square = 0 if self.packed else 3 * (self.units + 33) ** 2
        needed = 8 * (
            square + self.packed + 2 * self.room + 4 * self.marks + (self.units + self.trial) * (n_points + 20)
        )
        return whole and self.packed <= self.room and needed < _MOST_BYTES

    @property
    def numbers(self) -> tuple[int, ...]:
        """All of them, for a file."""
        return astuple(self)

    def larger(self, other: Sizes) -> Sizes:
        """The larger of both in every respect."""
        return Sizes(*(max(a, b) for a, b in zip(astuple(self), astuple(other), strict=True)))


def check_prior(prior: Prior) -> None:
    """Raise `StatementError` if a prior expects more units than a chain can hold."""
    most = MOST_EXPECTED if prior.n_dims == 1 else MOST_EXPECTED_BEYOND
    if prior.expected_units > most:
        raise StatementError(
            f"the prior expects {prior.expected_units:,.0f} units, more than a fit can hold: with {prior.n_dims} "
            f"input(s) at most {most:,}; raise the lengthscale, shrink the region or lower units_per_lengthscale"
        )


@dataclass(frozen=True)
class Plan:
    """How much of what a sweep does.

    n_birth_death, n_moves : proposals per sweep
    n_centered, n_marked, n_stretched : updates of the intensity's curve with the centers held, with units, with places
    """

    n_birth_death: int
    n_moves: int
    n_centered: int = 1
    n_marked: int = 2
    n_stretched: int = 2


def default_plan(problem: Problem) -> Plan:
    """Proposals per sweep, by the expected width E (measured in benchmarks/efficiency.py).

    With a learned level births and deaths are what lets the width follow it, and cost little beside the level's own
    updates. A learned curve takes the width along with it, and costs more. With several inputs updates with places cost
    more, as they run over whole tables of knots, than the effective draws they bring.
    """
    expected = sum(c.expected for c in problem.components)
    births, moves = (0.5, 0.06)
    if any(not problem.parameters[c.level].known for c in problem.components):
        curves = any(c.process is not None for c in problem.components)
        births, moves = (1.0, 0.12) if curves else (2.0, 0.3)
    plan = Plan(max(10, round(births * expected)), max(3, round(moves * expected)))
    return plan if problem.most_dims == 1 else replace(plan, n_stretched=0)
