"""Files from the browser: streamed to the page's private folder, within a limit, never named by the page."""

from __future__ import annotations

import asyncio
import re
import secrets
from collections.abc import AsyncIterator
from pathlib import Path

from porbnet.errors import StatementError

MOST_BYTES = 50 * 2**20
MOST_SECONDS = 120.0
_SUFFIX = re.compile(
    r"(\.(csv|tsv|txt|dat|tab|parquet|pq|feather|arrow|xlsx|xlsm|xls|ods))?(\.(gz|bz2|xz))?$", re.IGNORECASE
)


def suffix_of(name: str) -> str:
    """What of a file's name decides how it is read: one of a few endings, or nothing."""
    found = _SUFFIX.search(name)
    return found[0].lower() if found else ""


def too_large(n_bytes: int) -> StatementError:
    """The complaint about a file that is too large."""
    return StatementError(
        f"the file has {n_bytes / 2**20:,.0f} MB or more, and the page takes up to {MOST_BYTES / 2**20:,.0f}: "
        "`porbnet fit` takes larger ones"
    )


async def receive(stream: AsyncIterator[bytes], name: str, folder: Path) -> int:
    """Write a stream to the folder's one file, in place of what was there; returns its size in bytes.

    Raises `StatementError` if it is too large, too slow or empty; nothing of it is then left.
    """
    place = folder / "upload"
    place.mkdir(mode=0o700, exist_ok=True)
    part, size = place / "part", 0
    try:
        async with asyncio.timeout(MOST_SECONDS):
            with open(part, "wb") as file:
                async for chunk in stream:
                    size += len(chunk)
                    if size > MOST_BYTES:
                        raise too_large(size)
                    file.write(chunk)
        if size == 0:
            raise StatementError("the file is empty")
        for old in place.glob("data*"):
            old.unlink()
        part.rename(place / f"data-{secrets.token_hex(4)}{suffix_of(name)}")  # a new name: readers know files by theirs
    except TimeoutError:
        raise StatementError(f"the file did not arrive within {MOST_SECONDS:.0f} seconds") from None
    finally:
        part.unlink(missing_ok=True)
    return size
