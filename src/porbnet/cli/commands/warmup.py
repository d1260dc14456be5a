"""`porbnet warmup`: compile ahead of time."""

from __future__ import annotations

import time

from porbnet.cli.common import Json, Quiet, gathered_warnings, note, show


def command(quiet: Quiet = False, as_json: Json = False) -> None:
    r"""Compile for this machine ahead of time, so that no later fit waits for it.

    The first fit of each kind compiles what it needs and keeps it on disk, in NUMBA_CACHE_DIR if that is set, else
    beside the package or in the user's cache. This does it for all kinds: when an image is built, or before a job
    starts.

    \b
    Examples:
      porbnet warmup
      NUMBA_CACHE_DIR=/var/cache/porbnet porbnet warmup
    """
    from porbnet.estimators.warmup import warmup

    began, parts = time.perf_counter(), []
    with gathered_warnings() as said:
        for name, seconds in warmup():
            note(f"  {name}: {seconds:.1f} s", quiet)
            parts.append({"name": name, "cpu_seconds": seconds})
    for text in said:
        note(f"warning: {text}", quiet)
    found = {"command": "warmup", "parts": parts, "seconds": time.perf_counter() - began}
    show(found, f"compiled for this machine in {found['seconds']:.1f} s", as_json, quiet)
