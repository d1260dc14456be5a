"""Messages between the server and a worker: a JSON header and bytes, with their lengths; nothing is unpickled."""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO

_LENGTHS = struct.Struct(">IQ")
MOST_HEADER, MOST_BODY = 2**26, 2**30

Message = tuple[dict[str, Any], bytes]


def packed(header: dict[str, Any], body: bytes = b"") -> bytes:
    """A message as bytes."""
    text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
    return _LENGTHS.pack(len(text), len(body)) + text + body


def lengths(start: bytes) -> tuple[int, int]:
    """Lengths of header and body from the first bytes of a message; `ValueError` if they are none."""
    header, body = _LENGTHS.unpack(start)
    if header > MOST_HEADER or body > MOST_BODY:
        raise ValueError(f"a message of {header} and {body} bytes")
    return header, body


START = _LENGTHS.size


def read(stream: BinaryIO) -> Message | None:
    """The next message of a stream; None at its end."""
    start = stream.read(START)
    if len(start) < START:
        return None
    n_header, n_body = lengths(start)
    text, body = stream.read(n_header), stream.read(n_body)
    if len(text) < n_header or len(body) < n_body:
        return None
    return json.loads(text), body
