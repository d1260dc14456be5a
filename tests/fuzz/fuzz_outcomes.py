"""What came of a call: a result, a refusal in the package's words, or a fault.

A fault is anything else: an exception from inside, a result that is not finite, a warning that is not the package's, a
call that takes too long. A crash of the process is seen from outside, by `fuzz_run.py`.
"""

import contextlib
import dataclasses
import io
import math
import numbers
import signal
import traceback
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import DataConversionWarning, NotFittedError

from porbnet.errors import PorbnetError, PorbnetWarning

SECONDS = 60  # of one call, on the processor, compiling included: on a busy machine the clock says nothing
BLOCKED = 20  # times as long on the clock, for what waits without end
RESULT, REFUSED, USAGE = "result", "refused", "usage"
FAULTS = ("not finite", "exception", "warning", "too long", "exit code")
_OURS = (PorbnetError, NotFittedError)
_VALIDATORS = ("sklearn/utils/", "sklearn/base.py", "sklearn/exceptions.py")


@dataclass
class Outcome:
    """kind : one of the words above; detail : the message, or where it went wrong."""

    kind: str
    detail: str = ""

    @property
    def is_fault(self) -> bool:
        return self.kind in FAULTS


class TooLong(BaseException):
    """A call took too long; not an Exception, so that nobody swallows it."""


@contextlib.contextmanager
def time_limit(seconds):
    def ring(signum, frame):
        raise TooLong

    limits = {signal.ITIMER_PROF: (signal.SIGPROF, seconds), signal.ITIMER_REAL: (signal.SIGALRM, BLOCKED * seconds)}
    before = {name: signal.signal(name, ring) for name, _ in limits.values()}
    for timer, (_, after) in limits.items():
        signal.setitimer(timer, after)
    try:
        yield
    finally:
        for timer in limits:
            signal.setitimer(timer, 0)
        for name, handler in before.items():
            signal.signal(name, handler)


def outcome_of(call, seconds=SECONDS) -> Outcome:
    """Run a call without arguments and say what came of it."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            with time_limit(seconds):
                result = call()
        except TooLong:
            return Outcome("too long", _where(3))
        except _OURS as error:
            return Outcome(REFUSED, f"{type(error).__name__}: {error}")
        except SystemExit as left:
            return _exit(left)
        except Exception as error:
            if _by_validators(error) or _stated_absence(error):
                return Outcome(REFUSED, f"{type(error).__name__}: {error}")
            return Outcome("exception", f"{type(error).__name__}: {error}\n{_where(6)}")
    stray = next((w for w in said if not _expected(w)), None)
    if stray is not None:
        place = f"{stray.filename}:{stray.lineno}"
        return Outcome("warning", f"{stray.category.__name__}: {stray.message} ({place})")
    bad = not_finite(result)
    return Outcome("not finite", bad) if bad else Outcome(RESULT)


def _expected(warning) -> bool:
    """The package's warnings, and what scikit-learn says of inputs: of their shape, and of names that a fit had not."""
    names = "feature names" in str(warning.message) and any(part in warning.filename for part in _VALIDATORS)
    return names or issubclass(warning.category, PorbnetWarning | DataConversionWarning)


def _exit(left: SystemExit) -> Outcome:
    """What a command ended with: the codes that its help promises."""
    kind = {0: RESULT, None: RESULT, 1: REFUSED, 2: USAGE, 3: RESULT}.get(left.code)
    return Outcome("exit code", str(left.code)) if kind is None else Outcome(kind, f"exit code {left.code}")


def _where(depth: int) -> str:
    return "".join(traceback.format_exc(limit=-depth)[-1500:])


def _by_validators(error: Exception) -> bool:
    """Whether scikit-learn's own validation of inputs refused: estimators leave plain numbers to it."""
    if not isinstance(error, ValueError | TypeError):
        return False
    frames = traceback.extract_tb(error.__traceback__)
    return any(part in frames[-1].filename for part in _VALIDATORS)


def _stated_absence(error: Exception) -> bool:
    """Whether the package says that there is no such method here, which Python says by an AttributeError."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    inside = "porbnet" in frame.filename and "fuzz" not in frame.filename
    return isinstance(error, AttributeError) and inside and (frame.line or "").startswith("raise AttributeError(")


def not_finite(result, name="result", depth=0) -> str:
    """Where a result has NaN or infinity; empty if nowhere."""
    if depth > 4 or result is None or isinstance(result, str | bytes | bool):
        return ""
    if isinstance(result, numbers.Number):
        return "" if isinstance(result, numbers.Integral) or math.isfinite(abs(result)) else f"{name} is {result}"
    if isinstance(result, np.ndarray):
        if result.dtype.kind in "fc" and not np.all(np.isfinite(result)):
            bad = result[~np.isfinite(result)]
            return f"{name} has {len(bad)} of {result.size} not finite, as {bad[0]}"
        return ""
    if isinstance(result, dict):
        return next(filter(None, (not_finite(v, f"{name}[{k!r}]", depth + 1) for k, v in result.items())), "")
    if isinstance(result, list | tuple):
        return next(filter(None, (not_finite(v, f"{name}[{i}]", depth + 1) for i, v in enumerate(result))), "")
    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return not_finite(
            {f.name: getattr(result, f.name) for f in dataclasses.fields(result) if not f.name.startswith("_")},
            name,
            depth + 1,
        )
    return ""


@contextlib.contextmanager
def silence():
    """What commands print, kept back."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        yield out, err
