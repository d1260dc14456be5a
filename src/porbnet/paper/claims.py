"""A claim of the paper, the number it was held against, and the verdict."""

from __future__ import annotations

from typing import Any, TypeAlias

REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE = "reproduced", "not reproduced", "not testable"
VERDICTS = (REPRODUCED, NOT_REPRODUCED, NOT_TESTABLE)

Claim: TypeAlias = dict[str, Any]


def claim(name: str, paper: str, value: Any, criterion: str, holds: bool, note: str = "") -> Claim:
    """A claim that was tested.

    Parameters
    ----------
    name : str
        What is claimed, in a few words.
    paper : str
        What the paper states.
    value : number or dict of numbers
        What was found.
    criterion : str
        When the claim counts as reproduced.
    holds : bool
        Whether the value meets it.
    note : str
        What a reader should know beside the verdict.
    """
    verdict = REPRODUCED if holds else NOT_REPRODUCED
    return {"name": name, "paper": paper, "value": value, "criterion": criterion, "verdict": verdict, "note": note}


def untestable(name: str, paper: str, why: str) -> Claim:
    """A claim that this run cannot test, and why."""
    return {
        "name": name, "paper": paper, "value": None, "criterion": "", "verdict": NOT_TESTABLE, "note": why,
    }  # fmt: skip
