"""Why a peer is ahead of porbnet, problem by problem: sentences for the page, each looked into first."""

from __future__ import annotations

TIME = ""
DRAWS = ""
PUBLISHED = ""
UNKNOWN = "No reason has been looked for yet."

WHY: dict[tuple[str, str], str] = {}
"""By problem and peer; "*" as peer is for all that have no sentence of their own."""


def reason(problem: str, peer: str) -> str:
    """The sentence for a peer that is ahead on a problem."""
    return WHY.get((problem, peer)) or WHY.get((problem, "*")) or UNKNOWN
