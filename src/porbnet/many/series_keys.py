"""What a series is called: values of its key, the name of its file, and the seed that belongs to it.

A key has the same text whatever kind of table it came from (7, 7.0 and int32 7 are one key), and seeds are made from
that text: results depend neither on the order of the series nor on who fits them where.
"""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

import numpy as np

from porbnet.base import checks as _checks

Key = tuple[str, ...]  # texts of the values, one per column that tells series apart
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")  # safe as the name of a file, whatever the system thinks of capitals
_DEVICES = re.compile(r"(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")  # no names for files on Windows, whatever follows
_ODD = re.compile(r"[^A-Za-z0-9.-]+")


def plain(value: Any) -> Any:
    """A value of a key as JSON can hold it: a whole number, a number, a truth or a text; None if it is missing."""
    value = value.item() if isinstance(value, np.generic) and value.dtype.kind in "biufUS" else value
    if value is None or value != value:
        return None
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return int(value) if value.is_integer() else value
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else str(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def key_of(values: Any) -> Key:
    """The key of a series from its values; a single value will do for one column."""
    given = values if isinstance(values, tuple | list) else (values,)
    return tuple(str(plain(v)) for v in given)


def in_words(key: Key) -> str:
    """A key for messages and titles."""
    return ", ".join(key)


def file_name(key: Key) -> str:
    """A name for files, without its suffix: the key itself where that is safe, else what is left of it and a sum."""
    text = "_".join(key)
    device = _DEVICES.fullmatch(text.lower()) is not None
    if len(key) == 1 and _PLAIN.fullmatch(text) and not device:
        return text
    start = "series_" if device else ""
    return f"{start}{_ODD.sub('_', text)[:60].strip('._') or 'series'}-{_digest(key).hex()[:16]}"


def seed_of(root: int, key: Key) -> int:
    """The seed of a series, of 52 bits: the `random_state` of its fit.

    root : the seed of all
    """
    words = np.frombuffer(_digest(key), dtype="<u4").tolist()
    state = np.random.SeedSequence(root, spawn_key=tuple(words)).generate_state(1, np.uint64)
    return int(state[0]) >> 12


def _digest(key: Key) -> bytes:
    return hashlib.sha256(json.dumps(list(key)).encode()).digest()


def columns(name: str, value: Any) -> tuple[str, ...]:
    """Names of columns, given as one or as a sequence."""
    given = (value,) if isinstance(value, str) else tuple(value) if isinstance(value, list | tuple) else ()
    if not given or not all(isinstance(v, str) and v for v in given) or len(set(given)) != len(given):
        raise _checks.fail(name, value, "it must be the name of a column, or a sequence of different names")
    return given
