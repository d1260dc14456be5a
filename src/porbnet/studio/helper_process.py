"""A worker process as the server sees it: questions go in, answers come back, and what it tells in between."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from porbnet.studio import wire

GONE = "the computing process has ended: its memory may have run out; the next question starts a new one"
_PATIENCE = 1.0  # seconds to end by itself


class HelperProcess:
    """One worker.

    Parameters
    ----------
    folder : Path
        Private to the page.

    Attributes
    ----------
    on_event : called with every message that is no answer
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.on_event: Callable[[dict[str, Any], bytes], None] = lambda header, body: None
        self._process: asyncio.subprocess.Process | None = None
        self._waiting: dict[int, asyncio.Future[wire.Message]] = {}
        self._next = 0
        self._reading: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int | None:
        """Of the process, if there is one."""
        return None if self._process is None else self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.returncode is None

    async def start(self) -> None:
        """Start the process."""
        environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONUNBUFFERED": "1"}
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "porbnet.studio.worker", str(self.folder),
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, env=environment, start_new_session=True,
        )  # fmt: skip
        self._reading = asyncio.create_task(self._read())

    async def ask(self, question: dict[str, Any]) -> wire.Message:
        """The answer to a question."""
        process = self._process
        if not self.alive or process is None or process.stdin is None:
            return {"error": GONE, "arrays": []}, b""
        self._next += 1
        number = self._next
        future: asyncio.Future[wire.Message] = asyncio.get_running_loop().create_future()
        self._waiting[number] = future
        try:
            process.stdin.write(wire.packed({**question, "id": number}))
            await process.stdin.drain()
            return await future
        except (BrokenPipeError, ConnectionResetError):
            return {"error": GONE, "arrays": []}, b""
        finally:
            self._waiting.pop(number, None)

    async def _read(self) -> None:
        process = self._process
        assert process is not None and process.stdout is not None
        try:
            while True:
                n_header, n_body = wire.lengths(await process.stdout.readexactly(wire.START))
                header = json.loads(await process.stdout.readexactly(n_header))
                body = await process.stdout.readexactly(n_body)
                future = self._waiting.get(header.get("id", -1))
                if future is None:
                    self.on_event(header, body)
                elif not future.done():
                    future.set_result((header, body))
        except (asyncio.IncompleteReadError, ValueError, ConnectionResetError):
            pass
        finally:
            for future in list(self._waiting.values()):
                if not future.done():
                    future.set_result(({"error": GONE, "arrays": []}, b""))
            self.on_event({"event": "gone", "error": GONE, "arrays": []}, b"")

    async def end(self) -> None:
        """End the process: it does so by itself when its input ends, else it is killed."""
        process = self._process
        if process is None:
            return
        self.on_event = lambda header, body: None
        if process.stdin is not None:
            with contextlib.suppress(Exception):
                process.stdin.close()
        try:
            await asyncio.wait_for(process.wait(), _PATIENCE)
        except TimeoutError:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()
        if self._reading is not None:
            self._reading.cancel()
