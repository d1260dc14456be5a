"""Hundreds of hostile calls of every public function and command: a result, or a refusal in the package's words.

The same cases in every run; `make validate` has ten thousand others. A case that fails is made smaller by Hypothesis.
"""

import math
import resource
from pathlib import Path

import numpy as np
import pytest
from fuzz_outcomes import Outcome, outcome_of
from fuzz_targets import TARGETS
from hypothesis import HealthCheck, Phase, given, settings

from porbnet import Prior
from porbnet.errors import PorbnetWarning, StatementError

# as many as cost about as much: fits and commands take a few hundredths of a second each
CASES = dict.fromkeys(TARGETS, 40) | {"plot": 8, "command line": 15, "posteriors": 15}
CASES |= {name: 12 for name in TARGETS if name.endswith(".fit")}


@pytest.fixture(autouse=True)
def _little_memory():
    """What asks for gigabytes is a fault, not a burden on the machine."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    taken = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + 6 * 2**30, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_but_results_and_refusals(name):
    @settings(
        max_examples=CASES[name], derandomize=True, database=None, deadline=None,
        suppress_health_check=list(HealthCheck), phases=[Phase.generate, Phase.shrink],
    )  # fmt: skip
    @given(TARGETS[name])
    def case(call):
        found = outcome_of(call.make)
        assert not found.is_fault, f"{call.what}\n{found.kind}: {found.detail}"

    case()


# --- the judge itself: each kind of fault is seen ---------------------------------------------------------------------


def refuse():
    raise StatementError("no")


def stray():
    import warnings

    warnings.warn("overflow", RuntimeWarning, stacklevel=1)


def ours():
    import warnings

    warnings.warn("few rows", PorbnetWarning, stacklevel=1)


def spin():
    while True:
        pass


def leave(code):
    raise SystemExit(code)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda: 1.0, "result"),
        (ours, "result"),
        (refuse, "refused"),
        (lambda: leave(1), "refused"),
        (lambda: leave(2), "usage"),
        (lambda: leave(3), "result"),
        (lambda: leave(134), "exit code"),
        (lambda: [1, {"a": np.array([1.0, np.nan])}], "not finite"),
        (lambda: math.inf, "not finite"),
        (lambda: [][0], "exception"),
        (lambda: float("a"), "exception"),
        (stray, "warning"),
        (spin, "too long"),
    ],
)
def test_the_judge_sees(call, kind):
    found = outcome_of(call, seconds=0.5)
    assert found.kind == kind
    assert found.is_fault == (kind not in ("result", "refused", "usage"))
    assert isinstance(found, Outcome)


def test_words_of_others_are_a_fault():
    """An error of NumPy, raised inside the package, does not count as a refusal."""
    prior = Prior(0.5, 1.0, region=(0.0, 1.0))
    prior.intensity = None
    assert outcome_of(lambda: prior.variance([0.5])).kind == "exception"
