"""Exceptions and warnings of the package; every one can be caught by its base class."""

from __future__ import annotations


class PorbnetError(Exception):
    """Base of all errors raised by porbnet itself."""


class StatementError(PorbnetError, ValueError):
    """A parameter has a value that is not allowed; the message names it, shows it and says what is."""


class StorageError(PorbnetError, OSError):
    """A file or folder could not be written or read; the message gives its name and the reason."""


class ModelFileError(PorbnetError, ValueError):
    """A file is not what porbnet wrote, or not whole, or of a newer version; the message says which."""


class PorbnetWarning(UserWarning):
    """Base of all warnings given by porbnet."""


class StatementWarning(PorbnetWarning):
    """A prior statement is allowed but probably not what was meant; the message says what to do."""


class SamplingInterrupted(PorbnetError, KeyboardInterrupt):
    """Sampling was interrupted before there was anything to keep."""


class ConvergenceWarning(PorbnetWarning):
    """The chains do not agree well enough; the message says which quantity and what to do."""


class ExtrapolationWarning(PorbnetWarning):
    """A prediction is asked for where the data say nothing; the message says where."""


class NoiseWarning(PorbnetWarning):
    """The errors plainly are not what was stated; the message says what they are like, and what to state."""
